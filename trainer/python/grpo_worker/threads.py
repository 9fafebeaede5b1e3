"""How many threads to compute with. Imported before torch, so it must not import it."""

import json
import math
import os
from pathlib import Path

# Below this many parameters one thread is faster than two: the work of an operation is smaller than a wake-up.
SMALL_MODEL = 10_000_000


def choose_threads(wanted: str, model: str) -> int:
    """`wanted` is "auto" or a number. auto: 1 for a small model, otherwise this rank's share of the physical cores."""
    if wanted != "auto":
        return int(wanted)
    count = count_parameters(Path(model))
    return (
        1
        if count is not None and count < SMALL_MODEL
        else max(1, physical_cores() // int(os.environ.get("LOCAL_WORLD_SIZE", "1")))
    )


def export_threads(threads: int) -> dict[str, str]:
    """Set and return OpenMP's variables. They are read once, when torch loads its OpenMP library.

    Passive waiting, because spinning threads make a step many times slower when the cores are shared. A
    waiting policy set by the user is kept.
    """
    os.environ["OMP_NUM_THREADS"] = str(threads)
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    return {name: os.environ[name] for name in ("OMP_NUM_THREADS", "OMP_WAIT_POLICY")}


def count_parameters(directory: Path) -> int | None:
    """Parameters in the safetensors files of a model directory, read from their headers; None without any.

    Of a file that is none, such as what Git LFS leaves of one, nothing is known: loading the model says what is wrong.
    """
    files = sorted(directory.glob("*.safetensors"))
    try:
        return sum(_parameters_of(file) for file in files) if files else None
    except ValueError:
        return None


def physical_cores() -> int:
    """Physical cores that this process may use, at least 1: affinity and a container's CPU quota count."""
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    cores = len({_core_of(cpu) for cpu in allowed})
    return max(1, min(cores, _quota()))


def _parameters_of(file: Path) -> int:
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if length > file.stat().st_size:
            raise ValueError(f"{file} is not a safetensors file")
        header = json.loads(stream.read(length))
    return sum(math.prod(entry["shape"]) for name, entry in header.items() if name != "__metadata__")


def _core_of(cpu: int) -> str:
    """Identity of the physical core behind a logical CPU."""
    siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    try:
        return siblings.read_text().strip()
    except OSError:
        return str(cpu)


def _quota() -> int:
    try:
        limit, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return 1 << 20 if limit == "max" else math.ceil(int(limit) / int(period))
    except (OSError, ValueError):
        return 1 << 20
