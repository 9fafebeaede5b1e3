"""Data parallel: one update on several processes (ranks), each with a share of its groups.

`torchrun` starts the ranks. Rank 0 answers HTTP; what changes a session it announces, and the others do the same.
Gradients are sums over completions with weights that are fixed for the whole step, so that adding up the ranks'
gradients gives the gradient of one process, to rounding. Every rank then takes the same optimizer step.
"""

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

import torch
import torch.distributed as dist

from grpo_worker.errors import WorkerError
from grpo_worker.memory import is_out_of_memory
from grpo_worker.prefix import Piece

log = logging.getLogger(__name__)

T = TypeVar("T")

# Ranks wait for the next announcement while rank 0 samples, evaluates or has nothing to do.
PATIENCE = timedelta(days=30)

# Set on an exception that every rank raises, after the ranks have told each other.
AGREED = "agreed_by_ranks"


@dataclass(frozen=True)
class Ranks:
    """The ranks of this worker, seen from one of them. Alone, nothing is sent and nothing changes."""

    rank: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """Whether this one answers HTTP."""
        return self.rank == 0

    def announce(self, method: str, body: bytes) -> None:
        """Tell the other ranks which method of their worker to call."""
        if self.size > 1 and self.leads:
            with _peers():
                dist.broadcast_object_list([method, body], src=0)

    def receive(self) -> tuple[str, bytes]:
        """Wait for the next announcement."""
        box: list = [None, None]
        with _peers():
            dist.broadcast_object_list(box, src=0)
        return box[0], box[1]

    def share(self, pieces: Sequence[Piece]) -> list[Piece]:
        """This rank's groups: the largest first, each to the rank with the fewest tokens so far."""
        if self.size == 1:
            return list(pieces)
        load = [0] * self.size
        own: list[Piece] = []
        for piece in sorted(pieces, key=lambda piece: -piece.tokens):
            rank = load.index(min(load))
            load[rank] += piece.tokens
            if rank == self.rank:
                own.append(piece)
        return own

    def agreed(self, work: Callable[[], T]) -> T:
        """The result of this rank's work, once all ranks have done theirs; raises on all when one failed."""
        if self.size == 1:
            return work()
        result, failure = None, None
        try:
            result = work()
        except Exception as error:
            failure = error
        outcomes: list = [None] * self.size
        with _peers():
            dist.all_gather_object(outcomes, None if failure is None else (_kind(failure), str(failure)))
        for rank, outcome in enumerate(outcomes):
            if failure is None and outcome is not None:
                failure = WorkerError(outcome[0], f"rank {rank} of {self.size}: {outcome[1]}")
        if failure is not None:
            setattr(failure, AGREED, True)
            raise failure
        return result

    @contextmanager
    def unanimous(self) -> Iterator[None]:
        """What fails in here fails on every rank, or ends this one, and with it the others.

        A rank that failed alone is no longer where the others are: they wait for it in a sum, or go on without it.
        """
        try:
            yield
        except Exception as error:
            if self.size > 1 and not is_shared(error):
                log.exception("rank %d of %d cannot go on", self.rank, self.size)
                logging.shutdown()
                os._exit(1)
            raise

    def sum_gradients(self, parameters: Iterable[torch.nn.Parameter]) -> None:
        """Replace each gradient by its sum over the ranks; no gradient counts as zero."""
        if self.size == 1:
            return
        parameters = list(parameters)
        missing = [p for p in parameters if p.grad is None]
        for parameter in missing:
            parameter.grad = torch.zeros_like(parameter)
        flat = torch.cat([p.grad.flatten() for p in parameters])
        self.sum(flat)
        for parameter, part in zip(parameters, flat.split([p.numel() for p in parameters]), strict=True):
            parameter.grad.copy_(part.view_as(parameter.grad))

    def sum(self, values: torch.Tensor) -> None:
        """Add up over the ranks, in place."""
        self._reduce(values, dist.ReduceOp.SUM)

    def maximum(self, values: torch.Tensor) -> None:
        """Take the largest over the ranks, in place."""
        self._reduce(values, dist.ReduceOp.MAX)

    def copy_from_leader(self, parameters: Iterable[torch.nn.Parameter]) -> None:
        """Give every rank rank 0's values, whatever a rank's random numbers or disk have made of them."""
        if self.size == 1:
            return
        with _peers(), torch.no_grad():
            for parameter in parameters:
                dist.broadcast(parameter.data, src=0)

    def _reduce(self, values: torch.Tensor, operation: dist.ReduceOp.RedOpType) -> None:
        if self.size > 1:
            with _peers():
                dist.all_reduce(values, operation)


def is_shared(error: BaseException) -> bool:
    """Whether all ranks raise this: agreed on, or the sum is not finite, and every rank has the same sum."""
    if hasattr(error, AGREED) or hasattr(error.__cause__, AGREED):
        return True
    return isinstance(error, WorkerError) and error.kind == "NonFiniteUpdate"


def local_rank() -> int | None:
    """Number of this process among torchrun's on this machine; None when torchrun did not start it."""
    value = os.environ.get("LOCAL_RANK")
    return None if value is None else int(value)


def join_ranks() -> Ranks:
    """Meet the other ranks, as torchrun's environment says; alone without it."""
    if local_rank() is None or int(os.environ["WORLD_SIZE"]) == 1:
        return Ranks()
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    dist.init_process_group(backend, timeout=PATIENCE)
    ranks = Ranks(dist.get_rank(), dist.get_world_size())
    log.info("rank %d of %d, %s", ranks.rank, ranks.size, backend)
    return ranks


@contextmanager
def _peers() -> Iterator[None]:
    try:
        yield
    except (RuntimeError, ValueError) as error:
        log.error("lost another rank: %s", error)
        raise WorkerError(
            "RankLost",
            "another rank of this worker has ended, and with it the step; nothing was changed. "
            "Start the worker again and resume",
        ) from error


def _kind(failure: Exception) -> str:
    if isinstance(failure, WorkerError):
        return failure.kind
    return "OutOfMemory" if is_out_of_memory(failure) else "Internal"
