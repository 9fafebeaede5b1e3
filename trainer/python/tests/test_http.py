"""The learner routes over a real connection: the main path, the token, and the shape of errors."""

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from bodies import batch_body, session_body
from safetensors import safe_open
from servers import TOKEN, client, served

from grpo_worker import app
from grpo_worker.app import create_app
from grpo_worker.worker import Worker

MESSAGES = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"}]


@pytest.fixture
def worker(tiny_worker: Callable[[str], Worker]) -> Worker:
    return tiny_worker("llama")


@pytest.fixture
def http(worker: Worker) -> Iterator[httpx.Client]:
    with served(create_app(worker, TOKEN)) as ready:
        yield ready


def error(response: httpx.Response) -> dict:
    body = response.json()
    assert body["error"].keys() == {"message", "type", "code"}
    assert body["error"]["code"] == response.status_code
    return body["error"]


def test_the_sampler_ends_with_the_application(worker: Worker) -> None:
    before = set(threading.enumerate())
    with served(create_app(worker, TOKEN)) as ready:
        assert ready.get("/health").status_code == 200
        own = [t for t in threading.enumerate() if t not in before and t.name == "sampler"]
        assert [t.is_alive() for t in own] == [True]
    assert [t.is_alive() for t in own] == [False]


def test_the_end_does_not_wait_for_an_update_that_holds_the_model(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "CLOSE_SECONDS", 0.05)
    application = create_app(worker, TOKEN)
    body = {"model": "base", "prompt": [5, 6], "max_tokens": 4, "temperature": 1, "seed": 1}
    with worker.base.lock:
        with served(application) as ready, pytest.raises(httpx.ReadTimeout):
            ready.post("/v1/completions", json=body, timeout=0.5)
        # The sampler's thread still waits for the model, and the application has ended all the same.
        servers = [t for t in threading.enumerate() if t.name == "served"]
        assert servers == []


def test_one_step_from_tokens_to_adapter(http: httpx.Client, tmp_path: Path) -> None:
    info = http.get("/info").json()
    assert info["session"] is None
    assert info["architecture"] == "LlamaForCausalLM"
    assert info["eosTokenIds"] == [1]

    opened = http.post("/session", json=session_body()).json()
    assert opened == {"runId": "run-a", "version": 0, "loraParameters": opened["loraParameters"]}
    assert opened["loraParameters"] > 0

    (prompt,) = http.post("/tokenize", json={"prompts": [{"id": "p", "messages": MESSAGES}]}).json()["prompts"]
    body = batch_body()
    body["groups"][0]["promptTokenIds"] = prompt["tokenIds"]
    first = http.post("/update", json=body)
    assert first.status_code == 200
    assert first.json()["version"] == 1
    assert first.json()["kl"] == 0
    assert http.post("/update", json=body).json() == first.json()
    assert http.get("/info").json()["session"] == {"runId": "run-a", "version": 1}

    items = [{"promptTokenIds": prompt["tokenIds"], "tokenIds": [40, 41, 42]}] * 2
    base, current = (http.post("/logprobs", json={"version": v, "items": items}).json() for v in ("base", "current"))
    assert (base["version"], current["version"]) == (0, 1)
    assert [len(item["logprobs"]) for item in current["items"]] == [3, 3]
    assert base["items"] != current["items"]

    path = str(tmp_path / "v000001")
    saved = http.post("/adapters", json={"path": path}).json()
    assert saved["version"] == 1
    assert saved["path"] == path
    with safe_open(f"{path}/adapter_model.safetensors", "pt") as tensors:
        assert len(list(tensors.keys())) == 28
    assert json.loads(Path(path, "adapter_config.json").read_text())["r"] == 4

    state = str(tmp_path / "state")
    assert http.post("/state/save", json={"path": state}).json() == {"version": 1, "path": state}
    assert http.post("/state/load", json={"path": state}).json() == {"runId": "run-a", "version": 1}
    assert http.post("/logprobs", json={"version": "current", "items": items}).json() == current


@pytest.mark.parametrize("header", [None, "Bearer wrong", TOKEN, f"bearer {TOKEN}"])
def test_without_the_token_nothing_but_health_answers(header: str | None, http: httpx.Client) -> None:
    headers = {} if header is None else {"Authorization": header}
    with httpx.Client(base_url=http.base_url, headers=headers) as stranger:
        assert stranger.get("/health").status_code == 200
        for method, path in (("GET", "/info"), ("POST", "/session"), ("POST", "/update"), ("GET", "/nowhere")):
            answer = stranger.request(method, path)
            assert answer.status_code == 401
            assert error(answer)["type"] == "Unauthorized"


def test_errors_have_one_shape(http: httpx.Client, tmp_path: Path) -> None:
    assert error(http.post("/update", json=batch_body())) == {
        "message": "no session is open: send POST /session or POST /state/load first",
        "type": "NoSession",
        "code": 409,
    }
    http.post("/session", json=session_body())
    assert error(http.post("/session", json=session_body(rank=8)))["type"] == "Conflict"
    assert error(http.post("/update", json={**batch_body(), "extra": 1}))["message"].startswith("extra: ")
    assert error(http.post("/update", json=batch_body(version=4)))["type"] == "StaleVersion"
    assert error(http.post("/state/load", json={"path": str(tmp_path)}))["type"] == "NotFound"
    assert error(http.post("/adapters", json={"path": str(tmp_path)}))["type"] == "Conflict"
    broken = batch_body()
    broken["groups"][0]["completions"][0]["advantage"] = 1e308
    assert error(http.post("/update", json=broken))["type"] == "NonFiniteUpdate"


def test_what_is_unforeseen_hides_its_trace(
    http: httpx.Client, worker: Worker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*args: object) -> None:
        raise KeyError("secret detail")

    monkeypatch.setattr("grpo_worker.worker.run_update", broken)
    http.post("/session", json=session_body())
    answer = http.post("/update", json=batch_body())
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert error(answer)["message"] == "unexpected KeyError; the worker's log has the details"
    assert "secret detail" in caplog.text


def test_out_of_memory_names_the_remedy(http: httpx.Client, worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*args: object) -> None:
        raise MemoryError

    monkeypatch.setattr("grpo_worker.worker.run_update", exhausted)
    http.post("/session", json=session_body())
    body = error(http.post("/update", json=batch_body()))
    assert body["type"] == "OutOfMemory"
    assert "raise worker.memoryFraction" in body["message"]


def test_health_and_info_answer_while_an_update_computes(
    http: httpx.Client, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    import grpo_worker.worker as module

    entered, leave = threading.Event(), threading.Event()
    real = module.run_update

    def held(*args: object) -> object:
        entered.set()
        assert leave.wait(30)
        return real(*args)

    monkeypatch.setattr(module, "run_update", held)
    http.post("/session", json=session_body())
    answers: list[int] = []
    with client(http.base_url.port) as other:
        thread = threading.Thread(target=lambda: answers.append(other.post("/update", json=batch_body()).status_code))
        thread.start()
        assert entered.wait(30)
        assert http.get("/health").status_code == 200
        assert http.get("/info").json()["session"] == {"runId": "run-a", "version": 0}
        leave.set()
        thread.join(60)
    assert answers == [200]


def test_two_equal_updates_at_once_make_one_step(http: httpx.Client, worker: Worker) -> None:
    http.post("/session", json=session_body())
    answers: list[dict] = []
    with client(http.base_url.port) as other:
        threads = [
            threading.Thread(target=lambda each=each: answers.append(each.post("/update", json=batch_body()).json()))
            for each in (http, other)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert answers[0] == answers[1]
    assert worker.session.version == 1
