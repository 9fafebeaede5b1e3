"""vLLM's routes over a real socket: what is answered, and when."""

import json
import shutil
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest
from sampler_kit import PROMPT, ask, choices, reference, reference_logprobs, refusal, running, worst, write_adapter

from grpo_worker.policy import load_base
from grpo_worker.sampler.engine import Engine
from grpo_worker.sampler.jobs import Job


@pytest.fixture(scope="module")
def engine(tiny_model_dir: Callable[[str], Path]) -> Iterator[Engine]:
    engine = Engine(load_base(str(tiny_model_dir("llama"))), max_rank=16)
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def client(engine: Engine) -> Iterator[httpx.Client]:
    with running(engine) as client:
        yield client


def test_health_version_models(client: httpx.Client, engine: Engine) -> None:
    health = client.get("/health")
    assert (health.status_code, health.content) == (200, b"")
    assert client.get("/version").json() == {"version": "0.1.0+embedded"}
    listed = client.get("/v1/models").json()
    assert listed["object"] == "list"
    [card] = listed["data"]
    assert (card["id"], card["object"], card["parent"], card["max_model_len"]) == ("base", "model", None, 512)
    assert card["root"] == engine.base.path


def test_the_answers_shape(client: httpx.Client) -> None:
    answer = ask(client, n=2)
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert body["id"].startswith("cmpl-")
    assert (body["object"], body["model"]) == ("text_completion", "base")
    assert body["usage"] == {
        "prompt_tokens": 4,
        "completion_tokens": 10,
        "total_tokens": 14,
        "prompt_tokens_details": None,
    }
    assert [choice["index"] for choice in body["choices"]] == [0, 1]
    for choice in body["choices"]:
        assert (choice["finish_reason"], choice["stop_reason"]) == ("length", None)
        assert choice["prompt_token_ids"] == PROMPT
        assert choice["prompt_logprobs"] is None
        logprobs = choice["logprobs"]
        assert len(choice["token_ids"]) == len(logprobs["token_logprobs"]) == len(logprobs["tokens"]) == 5
        ends = [o + len(t) for o, t in zip(logprobs["text_offset"], logprobs["tokens"], strict=True)]
        assert logprobs["text_offset"] == [0, *ends[:-1]]
        assert [list(top.values()) for top in logprobs["top_logprobs"]] == [[v] for v in logprobs["token_logprobs"]]


def test_what_is_not_asked_for_is_null(client: httpx.Client) -> None:
    [choice] = choices(client, return_token_ids=None, logprobs=None)
    assert (choice["token_ids"], choice["prompt_token_ids"], choice["logprobs"]) == (None, None, None)


def test_defaults_and_unknown_fields(client: httpx.Client) -> None:
    body = {"prompt": PROMPT, "return_token_ids": True, "nonsense": 1, "user": "me", "ignore_eos": True}
    answer = client.post("/v1/completions", json=body, headers={"X-Request-Id": "my-req-7"})
    assert answer.json()["id"] == "cmpl-my-req-7"
    assert len(answer.json()["choices"][0]["token_ids"]) == 16


def test_neutral_values_of_fields_that_are_not_offered(client: httpx.Client) -> None:
    neutral = {
        "top_k": -1,
        "min_p": 0,
        "repetition_penalty": 1.0,
        "presence_penalty": 0,
        "frequency_penalty": 0,
        "stream": False,
        "echo": False,
        "stop": [],
        "suffix": None,
        "logit_bias": None,
    }
    assert choices(client, **neutral) == choices(client)


def test_several_prompts_and_texts(client: httpx.Client) -> None:
    both = choices(client, prompt=[[10, 20], [30, 40, 50]], n=2)
    assert [choice["index"] for choice in both] == [0, 1, 2, 3]
    assert [choice["prompt_token_ids"] for choice in both] == [[10, 20]] * 2 + [[30, 40, 50]] * 2
    assert [c["token_ids"] for c in both[2:]] == [c["token_ids"] for c in choices(client, prompt=[30, 40, 50], n=2)]
    [text] = choices(client, prompt="ab")
    assert [text] == choices(client, prompt=["ab"])
    assert len(text["prompt_token_ids"]) == 2


def test_equal_seeds_give_equal_answers(client: httpx.Client) -> None:
    first = choices(client, n=4, max_tokens=16)
    assert first == choices(client, n=4, max_tokens=16)
    assert len({tuple(choice["token_ids"]) for choice in first}) == 4
    assert choices(client, seed=None, max_tokens=16) != choices(client, seed=None, max_tokens=16)
    assert choices(client, temperature=0) == choices(client, temperature=0, seed=99)


def test_end_token_and_stop_ids(client: httpx.Client, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    [free] = choices(client, max_tokens=12)
    stop = free["token_ids"][3]
    end = free["token_ids"].index(stop)
    [stopped] = choices(client, max_tokens=12, stop_token_ids=[stop])
    assert (stopped["finish_reason"], stopped["stop_reason"]) == ("stop", stop)
    assert stopped["token_ids"] == free["token_ids"][: end + 1]
    monkeypatch.setattr(engine.base, "eos_token_ids", [stop])
    [ended] = choices(client, max_tokens=12)
    assert (ended["finish_reason"], ended["stop_reason"]) == ("stop", None)
    assert ended["token_ids"] == free["token_ids"][: end + 1]
    assert ended["text"] == engine.base.tokenizer.decode(free["token_ids"][:end])
    assert len(ended["logprobs"]["token_logprobs"]) == end + 1


def test_top_logprobs_and_token_ids_as_names(client: httpx.Client) -> None:
    [choice] = choices(client, logprobs=3, return_tokens_as_token_ids=True)
    assert choice["logprobs"]["tokens"] == [f"token_id:{token}" for token in choice["token_ids"]]
    for top, own in zip(choice["logprobs"]["top_logprobs"], choice["logprobs"]["token_logprobs"], strict=True):
        assert len(top) in (3, 4)
        assert own in top.values()
        assert max(top.values()) >= own


def test_prompt_logprobs_score_the_prompt_at_temperature_one(
    client: httpx.Client, tiny_model_dir: Callable[[str], Path]
) -> None:
    prompt = [(13 * i) % 250 + 4 for i in range(60)]
    [choice] = choices(client, prompt=prompt, max_tokens=1, prompt_logprobs=0, logprobs=None, temperature=0.5)
    first, *rest = choice["prompt_logprobs"]
    assert first is None
    assert [list(entry) for entry in rest] == [[str(token)] for token in prompt[1:]]
    scores = [entry[str(token)]["logprob"] for entry, token in zip(rest, prompt[1:], strict=True)]
    assert worst(scores, reference_logprobs(reference(tiny_model_dir("llama")), prompt[:1], prompt[1:])) < 1e-4
    [more] = choices(client, prompt=prompt, max_tokens=1, prompt_logprobs=2)
    for entry in more["prompt_logprobs"][1:]:
        assert {1, 2} <= {value["rank"] for value in entry.values()}


def test_adapters_over_http(client: httpx.Client, tiny_model_dir: Callable[[str], Path], tmp_path: Path) -> None:
    directory = tiny_model_dir("llama")
    adapter = write_adapter(directory, tmp_path / "a")
    loaded = client.post("/v1/load_lora_adapter", json={"lora_name": "m1", "lora_path": str(adapter)})
    assert (loaded.status_code, loaded.text) == (200, "Success: LoRA adapter 'm1' added successfully.")
    assert "content-type" not in loaded.headers
    card = client.get("/v1/models").json()["data"][1]
    assert (card["id"], card["root"], card["parent"], card["max_model_len"]) == ("m1", str(adapter), "base", None)
    model = reference(directory, adapter)
    shutil.rmtree(adapter)
    for choice in choices(client, model="m1", n=3, max_tokens=20):
        assert (
            worst(choice["logprobs"]["token_logprobs"], reference_logprobs(model, PROMPT, choice["token_ids"])) < 1e-4
        )
    gone = client.post("/v1/unload_lora_adapter", json={"lora_name": "m1"})
    assert (gone.status_code, gone.text) == (200, "Success: LoRA adapter 'm1' removed successfully.")
    unknown = (404, "NotFoundError", "The model `m1` does not exist.", "model")
    assert refusal(ask(client, model="m1")) == unknown


def test_a_prompt_may_fill_the_context(client: httpx.Client) -> None:
    [choice] = choices(client, prompt=[5] * 500, max_tokens=12, ignore_eos=True)
    assert len(choice["token_ids"]) == 12


def test_health_and_models_answer_while_the_learner_computes(client: httpx.Client, engine: Engine) -> None:
    with ThreadPoolExecutor(1) as pool:
        with engine.base.lock:
            waiting = pool.submit(ask, client)
            assert client.get("/health").status_code == 200
            assert client.get("/v1/models").status_code == 200
            assert not waiting.done()
        assert waiting.result(60).status_code == 200


def test_eight_requests_at_once_decode_together(client: httpx.Client, engine: Engine) -> None:
    asked = [{"prompt": [4 + k] * (30 + k), "n": 4, "max_tokens": 30, "ignore_eos": True, "seed": k} for k in range(8)]
    alone = [choices(client, **fields) for fields in asked]
    before = engine.counters.steps
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda fields: choices(client, **fields), asked))
    assert together == alone
    assert engine.counters.steps - before < 8 * 29


def test_closing_the_connection_aborts_the_request(
    client: httpx.Client, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = json.dumps({"prompt": PROMPT, "n": 4, "max_tokens": 500, "ignore_eos": True, "model": "base"}).encode()
    head = f"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    submit, submitted, jobs = engine.submit, Event(), []

    def watched(*args: Any) -> list[Job]:
        jobs.extend(submit(*args))
        submitted.set()
        return jobs

    with engine.base.lock:
        with monkeypatch.context() as patch, socket.create_connection(("127.0.0.1", client.base_url.port)) as raw:
            patch.setattr(engine, "submit", watched)
            raw.sendall(head.encode() + b"\r\n\r\n" + body)
            assert submitted.wait(30)
            assert not jobs[0].cancelled
        # The server's loop sees the closed connection between two other requests.
        assert any(client.get("/health") and jobs[0].cancelled for _ in range(1000))
        before = engine.counters.prefills
    choices(client)
    assert engine.counters.prefills == before + 1
    assert not jobs[0].future.done()
