"""Named calls: done once however often they arrive."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from bodies import batch_body, session_body
from servers import TOKEN, served

from grpo_worker.app import create_app
from grpo_worker.errors import WorkerError
from grpo_worker.once import KEPT_ANSWERS, Once
from grpo_worker.worker import Worker


@pytest.fixture
def http(tiny_worker: Callable[[str], Worker]) -> Iterator[httpx.Client]:
    with served(create_app(tiny_worker("llama"), TOKEN)) as ready:
        yield ready


def named(key: str) -> dict[str, str]:
    return {"Idempotency-Key": key}


def test_an_adapter_is_written_once_however_often_the_call_arrives(http: httpx.Client, tmp_path: Path) -> None:
    http.post("/session", json=session_body())
    body = {"path": str(tmp_path / "adapter")}
    first = http.post("/adapters", json=body, headers=named("a"))
    assert first.status_code == 200
    assert http.post("/adapters", json=body, headers=named("a")).json() == first.json()
    # Another call for the same path is what it was before: what may be read already is never replaced.
    assert http.post("/adapters", json=body, headers=named("b")).status_code == 409
    assert http.post("/adapters", json=body).status_code == 409


def test_a_late_repetition_of_a_load_changes_nothing(http: httpx.Client, tmp_path: Path) -> None:
    http.post("/session", json=session_body())
    body = {"path": str(tmp_path / "state")}
    assert http.post("/state/save", json=body, headers=named("save")).status_code == 200
    assert http.post("/state/save", json=body, headers=named("save")).status_code == 200
    assert http.post("/state/load", json=body, headers=named("load")).json() == {"runId": "run-a", "version": 0}
    (tmp_path / "state" / "session.json").unlink()
    assert http.post("/state/load", json=body, headers=named("load")).json() == {"runId": "run-a", "version": 0}
    assert http.post("/state/load", json=body, headers=named("anew")).status_code == 404


def test_a_run_that_died_before_its_first_checkpoint_begins_again(http: httpx.Client, tmp_path: Path) -> None:
    first = http.post("/session", json=session_body(), headers=named("first")).json()
    http.post("/adapters", json={"path": str(tmp_path / "fresh")})
    done = http.post("/update", json=batch_body()).json()
    # A late repetition of the first call changes nothing; a new call goes back to the beginning.
    assert http.post("/session", json=session_body(), headers=named("first")).json() == first
    assert http.get("/info").json()["session"]["version"] == 1
    assert http.post("/session", json=session_body(), headers=named("second")).json() == first
    assert http.get("/info").json()["session"]["version"] == 0
    http.post("/adapters", json={"path": str(tmp_path / "again")})
    weights = "adapter_model.safetensors"
    assert (tmp_path / "again" / weights).read_bytes() == (tmp_path / "fresh" / weights).read_bytes()
    same = {key: value for key, value in done.items() if key not in ("seconds", "peakRssBytes")}
    assert http.post("/update", json=batch_body()).json().items() >= same.items()


def test_a_name_belongs_to_one_call(http: httpx.Client, tmp_path: Path) -> None:
    http.post("/session", json=session_body())
    http.post("/adapters", json={"path": str(tmp_path / "one")}, headers=named("k"))
    answer = http.post("/adapters", json={"path": str(tmp_path / "two")}, headers=named("k"))
    assert answer.status_code == 409
    assert "another call" in answer.json()["error"]["message"]
    assert not (tmp_path / "two").exists()


def test_a_repetition_waits_for_the_call_that_is_under_way() -> None:
    once, entered, leave = Once(), threading.Event(), threading.Event()
    done: list[int] = []

    def slow() -> dict:
        entered.set()
        assert leave.wait(30)
        done.append(1)
        return {"n": len(done)}

    answers: list[dict] = []
    threads = [threading.Thread(target=lambda: answers.append(once.answer("k", "c", slow))) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert entered.wait(30)
    leave.set()
    for thread in threads:
        thread.join()
    assert answers == [{"n": 1}] * 3


def test_what_failed_may_be_tried_again_and_old_answers_are_forgotten() -> None:
    once = Once()

    def fail() -> dict:
        raise WorkerError("Internal", "no")

    with pytest.raises(WorkerError):
        once.answer("k", "c", fail)
    assert once.answer("k", "c", lambda: {"n": 1}) == {"n": 1}
    for i in range(KEPT_ANSWERS):
        once.answer(f"k{i}", "c", dict)
    assert once.answer("k", "c", lambda: {"n": 2}) == {"n": 2}
