"""What the routes refuse: statuses and words are vLLM's."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from sampler_kit import ask, edit_config, refusal, running, write_adapter

from grpo_worker.policy import load_base
from grpo_worker.sampler.engine import Engine


@pytest.fixture(scope="module")
def engine(tiny_model_dir: Callable[[str], Path]) -> Iterator[Engine]:
    engine = Engine(load_base(str(tiny_model_dir("llama"))), max_rank=16)
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def client(engine: Engine) -> Iterator[httpx.Client]:
    with running(engine) as client:
        yield client


TOO_LONG = (
    "This model's maximum context length is 512 tokens. However, you requested {asked} output tokens and your "
    "prompt contains {given} input tokens, for a total of {total} tokens. Please reduce the length of the input "
    "prompt or the number of requested output tokens. (parameter=input_tokens, value={given})"
)
REFUSED: list[tuple[dict[str, object], str, str | None]] = [
    ({"prompt": [5] * 520, "max_tokens": 1}, TOO_LONG.format(asked=1, given=520, total=521), "input_tokens"),
    ({"prompt": [5] * 500, "max_tokens": 100}, TOO_LONG.format(asked=100, given=500, total=600), "input_tokens"),
    ({"prompt": [5, 99999]}, "Token id 99999 is out of vocabulary", None),
    ({"prompt": [5, -1]}, "Token id -1 is out of vocabulary", None),
    (
        {"stop_token_ids": [5, 2**53 + 1]},
        "token_id(s) [9007199254740993] in stop_token_ids contain out-of-vocab token ids. Vocabulary size: 258 "
        "(parameter=stop_token_ids, value=[9007199254740993])",
        "stop_token_ids",
    ),
    ({"prompt": []}, "You must pass at least one prompt", None),
    ({"prompt": ""}, "The decoder prompt cannot be empty", None),
    ({"n": 0}, "n must be at least 1, got 0.", None),
    ({"n": 10**30}, f"n must be at most 16384, got {10**30}.", None),
    (
        {"temperature": -1},
        "temperature must be non-negative, got -1.0. (parameter=temperature, value=-1.0)",
        "temperature",
    ),
    ({"max_tokens": 0}, "max_tokens must be at least 1, got 0. (parameter=max_tokens, value=0)", "max_tokens"),
    ({"top_p": 0}, "top_p must be in (0, 1], got 0.0. (parameter=top_p, value=0.0)", "top_p"),
    ({"top_k": -5}, "top_k must be 0 (disable), or at least 1, got -5.", None),
    (
        {"logprobs": 100},
        "Requested sample logprobs of 100, which is greater than max allowed: 20 (parameter=logprobs, value=100)",
        "logprobs",
    ),
    ({"temperature": 0, "n": 2}, "n must be 1 when using greedy sampling, got 2.", None),
    ({"min_tokens": 9}, "min_tokens must be less than or equal to max_tokens=5, got 9.", None),
    ({"stream": True}, "stream is not supported by the embedded sampler. (parameter=stream, value=True)", "stream"),
    ({"echo": True}, "echo is not supported by the embedded sampler. (parameter=echo, value=True)", "echo"),
    ({"stop": ["x"]}, "stop is not supported by the embedded sampler. (parameter=stop, value=['x'])", "stop"),
    ({"min_p": 0.1}, "min_p is not supported by the embedded sampler. (parameter=min_p, value=0.1)", "min_p"),
]


@pytest.mark.parametrize(("fields", "message", "param"), REFUSED, ids=[str(r[0])[:40] for r in REFUSED])
def test_requests_that_are_refused(
    client: httpx.Client, fields: dict[str, object], message: str, param: str | None
) -> None:
    assert refusal(ask(client, **fields)) == (400, "BadRequestError", message, param)


def test_bodies_that_are_no_requests(client: httpx.Client) -> None:
    missing = client.post("/v1/load_lora_adapter", json={"lora_name": "x"})
    message = (
        "1 validation error:\n  {'type': 'missing', 'loc': ('body', 'lora_path'), 'msg': 'Field required', "
        "'input': {'lora_name': 'x'}}"
    )
    assert refusal(missing) == (400, "Bad Request", message, "body.lora_path")
    body = json.dumps({"lora_name": "x", "lora_path": "y"})
    text = client.post("/v1/load_lora_adapter", content=body, headers={"Content-Type": "text/plain"})
    message = "1 validation error:\n  Unsupported Media Type: Only 'application/json' is allowed"
    assert refusal(text) == (400, "Bad Request", message, None)
    broken = client.post("/v1/completions", content="{", headers={"Content-Type": "application/json"})
    assert refusal(broken)[:2] == (400, "Bad Request")
    assert "JSON decode error" in refusal(broken)[2]
    for prompt in (3, [1.5], [["a"]], None):
        assert refusal(ask(client, prompt=prompt))[:2] == (400, "Bad Request")


def test_adapter_errors_over_http(client: httpx.Client, tiny_model_dir: Callable[[str], Path], tmp_path: Path) -> None:
    adapter = write_adapter(tiny_model_dir("llama"), tmp_path / "a")

    def load(name: str, path: object) -> httpx.Response:
        return client.post("/v1/load_lora_adapter", json={"lora_name": name, "lora_path": str(path)})

    assert refusal(load("", adapter))[:2] == (400, "InvalidUserInput")
    assert refusal(load("base", adapter))[:2] == (400, "InvalidUserInput")
    assert refusal(load("x", tmp_path / "nowhere"))[:2] == (404, "NotFoundError")
    assert refusal(load("x", edit_config(adapter, use_dora=True)))[:2] == (500, "InternalServerError")
    unknown = client.post("/v1/unload_lora_adapter", json={"lora_name": "nope"})
    assert refusal(unknown) == (404, "NotFoundError", "The lora adapter 'nope' cannot be found.", None)


def test_unknown_routes_and_methods(client: httpx.Client) -> None:
    nothing, wrong = client.get("/v1/nothing"), client.get("/v1/completions")
    assert (nothing.status_code, nothing.json()) == (404, {"detail": "Not Found"})
    assert (wrong.status_code, wrong.json()) == (405, {"detail": "Method Not Allowed"})
