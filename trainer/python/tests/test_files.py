"""Directories that are wholly there or not at all, also where the file system refuses."""

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from bodies import batch_body, session_body
from servers import TOKEN, served

from grpo_worker.app import create_app
from grpo_worker.errors import WorkerError
from grpo_worker.files import new_directory
from grpo_worker.worker import Worker


@pytest.fixture
def http(tiny_worker: Callable[[str], Worker]) -> Iterator[httpx.Client]:
    with served(create_app(tiny_worker("llama"), TOKEN)) as ready:
        yield ready


@contextmanager
def no_file_above(size: int) -> Iterator[None]:
    """Let writes fail beyond a size, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize(("route", "size"), [("/adapters", 1024), ("/state/save", 1024), ("/state/save", 40_000)])
def test_what_cannot_be_written_is_an_error_that_says_so_and_leaves_nothing(
    route: str, size: int, http: httpx.Client, tmp_path: Path
) -> None:
    http.post("/session", json=session_body())
    http.post("/update", json=batch_body())
    path = tmp_path / "stored"
    with no_file_above(size):
        answer = http.post(route, json={"path": str(path)}, headers={"Idempotency-Key": "k"})
    error = answer.json()["error"]
    assert (answer.status_code, error["type"]) == (507, "StorageFailed")
    assert error["message"].startswith(f"cannot write {path}: ")
    assert error["message"].endswith("MiB are free)")
    assert list(tmp_path.iterdir()) == []
    # The same call again, when there is room: the session is what it was.
    assert http.post(route, json={"path": str(path)}, headers={"Idempotency-Key": "k"}).json()["version"] == 1


def test_another_error_stays_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="unforeseen"), new_directory(str(tmp_path / "d")):
        raise RuntimeError("unforeseen")
    with pytest.raises(FileNotFoundError), new_directory(str(tmp_path / "d")) as directory:
        (directory / "missing").read_bytes()
    (tmp_path / "d").mkdir()
    with pytest.raises(WorkerError, match="exists already"), new_directory(str(tmp_path / "d")):
        pass
