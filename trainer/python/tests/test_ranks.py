"""Data parallel: several ranks under torchrun do what one process does, or nothing."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import torch
from bodies import batch_body, session_body, update_batch
from safetensors.torch import load_file
from servers import PACKAGE_ROOT, TOKEN, client, served

from grpo_worker.app import create_app
from grpo_worker.errors import WorkerError
from grpo_worker.prefix import Piece
from grpo_worker.ranks import Ranks
from grpo_worker.tally import Tally
from grpo_worker.update import pieces_of
from grpo_worker.worker import Worker

Dir = Callable[[str], Path]
Ending = Callable[[subprocess.Popen, httpx.Client, int], None]


def test_every_group_belongs_to_one_rank_and_none_has_much_more_than_its_share() -> None:
    pieces = [Piece(tuple(range(n)), ((1, 2),), (i,)) for i, n in enumerate([5, 90, 30, 30, 7, 61])]
    shares = [Ranks(rank, 3).share(pieces) for rank in range(3)]
    assert sorted(p.indexes for share in shares for p in share) == [p.indexes for p in pieces]
    sizes = [sum(p.tokens for p in share) for share in shares]
    assert max(sizes) - min(sizes) <= max(p.tokens for p in pieces)


def test_a_rank_may_get_nothing() -> None:
    shares = [Ranks(rank, 3).share(pieces_of(update_batch())[:1]) for rank in range(3)]
    assert [len(share) for share in shares] == [1, 0, 0]


def test_alone_nothing_is_sent() -> None:
    alone = Ranks()
    tally = Tally(torch.device("cpu"))
    tally.add_ranks(alone)
    assert alone.agreed(lambda: 7) == 7
    assert (tally.tokens, tally.loss()) == (0, 0)


def test_what_one_rank_fails_at_alone_ends_it() -> None:
    program = "from grpo_worker.ranks import Ranks\nwith Ranks(1, 2).unanimous():\n    raise MemoryError"
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE_ROOT)}
    ended = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=False)
    assert ended.returncode == 1


def test_what_all_ranks_fail_at_is_an_error_and_no_end() -> None:
    shared = WorkerError("NonFiniteUpdate", "no finite loss")
    with pytest.raises(WorkerError, match="no finite loss"), Ranks(1, 2).unanimous():
        raise shared


@contextmanager
def ranks(count: int, model: Path, log: Path) -> Iterator[tuple[subprocess.Popen, httpx.Client, int]]:
    """A worker of `count` ranks, as the trainer starts it (stdin ends with the parent), and the pid of rank 0."""
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(count)]
    command = [sys.executable, *launcher, "-m", "grpo_worker", "--model", str(model), "--watch-stdin"]
    environment = {**os.environ, "DRIFT_GRPO_TOKEN": TOKEN, "PYTHONPATH": str(PACKAGE_ROOT), "PYTHONUNBUFFERED": "1"}
    with log.open("wb") as stderr:
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, env=environment)
    try:
        line = child.stdout.readline()
        assert line, log.read_text()
        ready = json.loads(line)
        with client(ready["port"]) as http:
            yield child, http, ready["pid"]
    finally:
        # The end of stdin ends every rank, and that ends the launcher.
        child.stdin.close()
        try:
            child.wait(60)
        finally:
            child.kill()
            child.stdout.close()


def train(http: httpx.Client, path: Path) -> tuple[list[dict], dict[str, torch.Tensor]]:
    """Three steps, a checkpoint behind the second and a return to it; the results and the adapter."""
    http.post("/session", json=session_body()).raise_for_status()
    results = [http.post("/update", json=batch_body(step=k, version=k)).raise_for_status().json() for k in range(2)]
    http.post("/state/save", json={"path": str(path / "state")}).raise_for_status()
    last = batch_body(step=2, version=2)
    # Fewer groups than ranks: somebody has nothing to do.
    last["groups"] = last["groups"][:1]
    http.post("/update", json=last).raise_for_status()
    http.post("/state/load", json={"path": str(path / "state")}).raise_for_status()
    results.append(http.post("/update", json=last).raise_for_status().json())
    http.post("/adapters", json={"path": str(path / "adapter")}).raise_for_status()
    return results, load_file(path / "adapter" / "adapter_model.safetensors")


def fails_when_a_rank_dies(child: subprocess.Popen, http: httpx.Client, lead: int) -> None:
    """The next step is an error, and no process is left."""
    os.kill(next(pid for pid in children_of(child.pid) if pid != lead), signal.SIGKILL)
    with pytest.raises((httpx.HTTPStatusError, httpx.TransportError)):
        http.post("/update", json=batch_body(step=3, version=3)).raise_for_status()
    assert child.wait(60) != 0
    with pytest.raises(ProcessLookupError):
        os.kill(lead, 0)


def ends_with_its_parent(child: subprocess.Popen, http: httpx.Client, lead: int) -> None:
    """The end of stdin ends every rank, quietly."""
    http.close()
    child.stdin.close()
    assert child.wait(60) == 0
    with pytest.raises(ProcessLookupError):
        os.kill(lead, 0)


@pytest.mark.parametrize(("count", "end"), [(2, fails_when_a_rank_dies), (3, ends_with_its_parent)])
def test_ranks_make_the_update_of_one_process(
    count: int, end: Ending, tiny_model_dir: Dir, tiny_worker: Callable[[str], Worker], tmp_path: Path
) -> None:
    (tmp_path / "alone").mkdir()
    with served(create_app(tiny_worker("llama"), TOKEN)) as http:
        results, adapter = train(http, tmp_path / "alone")
    log = tmp_path / "ranks.log"
    with ranks(count, tiny_model_dir("llama"), log) as (child, http, lead):
        other_results, other = train(http, tmp_path)
        end(child, http, lead)
    assert end is fails_when_a_rank_dies or "Traceback" not in log.read_text()

    size = torch.cat([t.flatten() for t in adapter.values()]).norm()
    gap = torch.cat([(other[k] - adapter[k]).flatten() for k in adapter]).norm()
    assert float(gap / size) < 1e-5
    for one, many in zip(results, other_results, strict=True):
        for key in ("loss", "kl", "entropy", "gradNorm"):
            assert many[key] == pytest.approx(one[key], rel=1e-4, abs=1e-7), key
        assert many["tokens"] == one["tokens"]
        assert many["mismatch"] == pytest.approx(one["mismatch"], rel=1e-5, abs=1e-7)


def children_of(pid: int) -> list[int]:
    """Processes that torchrun has started."""
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=True)
    return [int(line) for line in found.stdout.split()]
