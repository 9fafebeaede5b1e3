"""Directories that are either wholly there or not at all."""

import errno
import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError

from grpo_worker.errors import WorkerError

# What a file system says when it does not take a file, in the words of the user.
REFUSALS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file is larger than this process may write",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EIO: "the disk reports an error",
}


@contextmanager
def new_directory(path: str) -> Iterator[Path]:
    """Yield a temporary sibling to fill; afterwards sync it and rename it to `path`.

    Raises WorkerError: Conflict when `path` exists, as what another process may be reading is never replaced;
    StorageFailed when the file system refuses. Then nothing is left of it.
    """
    try:
        with _filled(path) as directory:
            yield directory
    except (OSError, SafetensorError, RuntimeError) as error:
        reason = _refusal(error)
        if reason is None:
            raise
        raise WorkerError("StorageFailed", f"cannot write {path}: {reason}{_room(path)}") from error


def temporary_of(target: Path) -> Path:
    """Where a directory is filled before it gets its name."""
    return target.with_name(f".{target.name}.{os.getpid()}.tmp")


@contextmanager
def _filled(path: str) -> Iterator[Path]:
    target = Path(path).absolute()
    if target.exists():
        raise WorkerError("Conflict", f"{target} exists already")
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = temporary_of(target)
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    try:
        yield temporary
        for entry in sorted(temporary.rglob("*")):
            _sync(entry)
        _sync(temporary)
        temporary.rename(target)
        _sync(target.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _refusal(error: BaseException | None) -> str | None:
    """What the file system said; safetensors and torch have errors of their own for it."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in REFUSALS:
            return REFUSALS[error.errno]
        number = re.search(r"os error (\d+)", str(error))
        if number is not None and int(number[1]) in REFUSALS:
            return REFUSALS[int(number[1])]
        error = error.__cause__ or error.__context__
    return None


def _room(path: str) -> str:
    nearest = Path(path).absolute()
    while not nearest.exists():
        nearest = nearest.parent
    usage = shutil.disk_usage(nearest)
    return f" ({usage.free / 2**20:.1f} MiB of {usage.total / 2**20:.1f} MiB are free)"


def sha256_file(path: Path) -> str:
    """Hex digest of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
