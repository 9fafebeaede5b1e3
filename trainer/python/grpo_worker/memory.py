"""Memory: what was used at most, and what to say when there is not enough."""

import logging
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from grpo_worker.errors import WorkerError

log = logging.getLogger(__name__)


def peak_rss_bytes() -> int:
    """Largest resident size of this process so far, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def limit_cuda_memory(device: torch.device, fraction: float | None) -> None:
    """Let this process take at most `fraction` of the GPU, so that a sampler and a judge fit beside it."""
    if device.type == "cuda" and fraction is not None:
        torch.cuda.set_per_process_memory_fraction(fraction, device)
        log.info("GPU memory limited to %.2f of the device", fraction)


@contextmanager
def memory_guard(remedy: str) -> Iterator[None]:
    """Turn torch's out-of-memory errors, on GPU or CPU, into a WorkerError that names the remedy."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        log.exception("out of memory")
        release_cached_memory()
        raise WorkerError("OutOfMemory", f"not enough memory; nothing was changed. {remedy}") from error


def release_cached_memory() -> None:
    """Give memory that torch keeps for later back to the GPU, where other processes may need it."""
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that an allocation failed, on the GPU or on the CPU."""
    kinds = (torch.OutOfMemoryError, MemoryError)
    return isinstance(error, kinds) or "DefaultCPUAllocator: can't allocate memory" in str(error)
