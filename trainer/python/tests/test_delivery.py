"""Learner and sampler in one process: what was trained is what is sampled, and neither disturbs the other."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import httpx
import pytest
from bodies import batch_body, session_body
from conftest import ARCHITECTURES
from servers import TOKEN, served

from grpo_worker.app import create_app
from grpo_worker.worker import Worker

PROMPT = [5, 60, 61, 62, 7]
Start = Callable[[str], AbstractContextManager[httpx.Client]]


@pytest.fixture
def start(tiny_worker: Callable[[str], Worker]) -> Start:
    """`start(arch)`: a server with a session, as a context."""

    @contextmanager
    def started(arch: str) -> Iterator[httpx.Client]:
        with served(create_app(tiny_worker(arch), TOKEN)) as http:
            http.post("/session", json=session_body()).raise_for_status()
            yield http

    return started


def update(http: httpx.Client, version: int) -> dict:
    response = http.post("/update", json=batch_body(step=version, version=version, seed=version))
    return response.raise_for_status().json()


def publish(http: httpx.Client, directory: Path, version: int) -> str:
    name, path = f"policy-run-a-{version}", str(directory / f"v{version}")
    http.post("/adapters", json={"path": path}).raise_for_status()
    http.post("/v1/load_lora_adapter", json={"lora_name": name, "lora_path": path}).raise_for_status()
    return name


def sample(http: httpx.Client, model: str) -> list[dict]:
    body = {"model": model, "prompt": PROMPT, "n": 3, "max_tokens": 12, "temperature": 1, "seed": 4}
    wanted = {"logprobs": 0, "return_token_ids": True}
    return http.post("/v1/completions", json={**body, **wanted}).raise_for_status().json()["choices"]


def gap(http: httpx.Client, choices: list[dict], version: str) -> float:
    """Largest difference between the sampler's log-probs and the learner's at a version."""
    items = [{"promptTokenIds": PROMPT, "tokenIds": choice["token_ids"]} for choice in choices]
    answer = http.post("/logprobs", json={"version": version, "items": items}).raise_for_status().json()
    pairs = zip(choices, answer["items"], strict=True)
    return max(
        abs(ours - theirs)
        for choice, item in pairs
        for ours, theirs in zip(item["logprobs"], choice["logprobs"]["token_logprobs"], strict=True)
    )


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_the_sampler_runs_the_adapter_that_was_trained(arch: str, start: Start, tmp_path: Path) -> None:
    with start(arch) as http:
        assert gap(http, sample(http, "base"), "current") < 1e-4
        update(http, 0)
        first = publish(http, tmp_path, 1)
        choices = sample(http, first)
        assert gap(http, choices, "current") < 1e-4
        assert gap(http, choices, "base") > 1e-2
        assert gap(http, sample(http, "base"), "base") < 1e-4

        update(http, 1)
        assert gap(http, sample(http, first), "current") > 1e-2
        assert gap(http, sample(http, publish(http, tmp_path, 2)), "current") < 1e-4


def test_sampling_between_updates_does_not_change_them(start: Start, tmp_path: Path) -> None:
    results, adapters = [], []
    for disturbed in (True, False):
        with start("qwen2") as http:
            update(http, 0)
            if disturbed:
                sample(http, publish(http, tmp_path, 1))
            results.append(update(http, 1))
            path = str(tmp_path / f"disturbed-{disturbed}")
            adapters.append(http.post("/adapters", json={"path": path}).json()["sha256"])
    for name in ("version", "loss", "kl", "gradNorm", "payloadHash"):
        assert results[0][name] == results[1][name]
    assert adapters[0] == adapters[1]
