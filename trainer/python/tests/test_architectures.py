"""Llama, Qwen2 and Granite: their adapters in plain PEFT, and special tokens that share one id."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from bodies import batch_body, session_body
from conftest import ARCHITECTURES, byte_tokenizer, tiny_model
from servers import TOKEN, served

from grpo_worker.app import create_app
from grpo_worker.policy import load_base
from grpo_worker.worker import Worker

PLAIN_PEFT = Path(__file__).with_name("plain_peft.py")
ITEMS = [
    {"promptTokenIds": [5, 60, 61, 62, 7], "tokenIds": [40, 41, 0, 200, 1]},
    {"promptTokenIds": [0, 9, 1, 30], "tokenIds": [1, 0, 0, 17]},
]


def gap(ours: list[list[float]], theirs: list[list[float]]) -> float:
    pairs = zip(ours, theirs, strict=True)
    return max(abs(a - b) for x, y in pairs for a, b in zip(x, y, strict=True))


def scores(http: httpx.Client, version: str) -> list[list[float]]:
    answer = http.post("/logprobs", json={"version": version, "items": ITEMS}).raise_for_status().json()
    return [item["logprobs"] for item in answer["items"]]


def train(http: httpx.Client, steps: int = 2, **lora: object) -> list[dict]:
    http.post("/session", json=session_body(**lora)).raise_for_status()
    return [
        http.post("/update", json=batch_body(step=k, version=k, seed=k)).raise_for_status().json() for k in range(steps)
    ]


def test_adapters_are_loaded_unchanged_by_peft_in_a_bare_process(
    tiny_model_dir: Callable[[str], Path], tmp_path: Path
) -> None:
    jobs, expected = [], []
    for arch in ARCHITECTURES:
        model, adapter = str(tiny_model_dir(arch)), str(tmp_path / arch)
        with served(create_app(Worker(load_base(model), "hash"), TOKEN)) as http:
            train(http, rank=16, alpha=32)
            http.post("/adapters", json={"path": adapter}).raise_for_status()
            expected += [scores(http, "current"), scores(http, "base")]
        jobs += [{"model": model, "adapter": path, "items": ITEMS} for path in (adapter, None)]
    done = subprocess.run(
        [sys.executable, "-I", str(PLAIN_PEFT)], input=json.dumps(jobs), capture_output=True, text=True, check=True
    )
    theirs = json.loads(done.stdout)
    for k, arch in enumerate(ARCHITECTURES):
        (trained, base), (peft, plain) = expected[2 * k : 2 * k + 2], theirs[2 * k : 2 * k + 2]
        assert gap(trained, peft) < 1e-4, arch
        assert gap(base, plain) < 1e-4, arch
        assert gap(peft, plain) > 1e-2, arch


def saved(arch: str, path: Path, end: int, pad: int) -> str:
    """Always the same weights; one start and end token, and a padding token that may be the same too."""
    model, tokenizer = tiny_model(arch), byte_tokenizer()
    for config in (model.config, model.generation_config):
        config.bos_token_id = config.eos_token_id = end
        config.pad_token_id = pad
    model.save_pretrained(path)
    tokenizer.bos_token = tokenizer.eos_token = tokenizer.convert_ids_to_tokens(end)
    tokenizer.pad_token = tokenizer.convert_ids_to_tokens(pad)
    tokenizer.save_pretrained(path)
    return str(path)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_start_end_and_padding_may_be_one_token(arch: str, tmp_path: Path) -> None:
    """As in Granite, where all three are id 0. What a token means changes no sum: masks come from lengths."""
    outcomes = []
    for name, end, pad in (("equal", 0, 0), ("apart", 0, 1), ("other", 1, 1)):
        base = load_base(saved(arch, tmp_path / name, end, pad))
        assert base.eos_token_ids == [end]
        with served(create_app(Worker(base, "hash"), TOKEN)) as http:
            results = [(r["loss"], r["kl"], r["gradNorm"], r["entropy"]) for r in train(http)]
            answer = http.post("/adapters", json={"path": str(tmp_path / f"{name}-adapter")})
            outcomes.append((results, scores(http, "current"), answer.raise_for_status().json()["sha256"]))
    assert outcomes[0] == outcomes[1] == outcomes[2]


def sample(arch: str, path: Path, prompt: list[int], end: int) -> tuple[list[dict], list[list[float]]]:
    """Completions of a base whose special tokens are all `end`, and the learner's log-probs of them."""
    body = {"model": "base", "prompt": prompt, "n": 64, "max_tokens": 48, "temperature": 1, "seed": 4}
    with served(create_app(Worker(load_base(saved(arch, path, end, end)), "hash"), TOKEN)) as http:
        answer = http.post("/v1/completions", json={**body, "logprobs": 0, "return_token_ids": True})
        choices = answer.raise_for_status().json()["choices"]
        items = [{"promptTokenIds": prompt, "tokenIds": choice["token_ids"]} for choice in choices]
        scored = http.post("/logprobs", json={"version": "base", "items": items}).raise_for_status().json()
    return choices, [item["logprobs"] for item in scored["items"]]


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_a_completion_holds_its_end_token_although_that_is_the_padding_too(arch: str, tmp_path: Path) -> None:
    free, _ = sample(arch, tmp_path / "free", [60, 61, 7], 0)
    often = Counter(token for choice in free for token in choice["token_ids"]).most_common(1)[0][0]
    # The end token also begins the prompt and stands in its middle, which must end nothing.
    choices, scored = sample(arch, tmp_path / "ends", [often, 60, often, 7], often)
    ended = [choice["token_ids"] for choice in choices if choice["finish_reason"] == "stop"]
    assert len(ended) > 1
    assert all(ids.index(often) == len(ids) - 1 for ids in ended)
    assert gap([choice["logprobs"]["token_logprobs"] for choice in choices], scored) < 1e-4
