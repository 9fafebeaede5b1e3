"""Directories that are either wholly there or not at all."""

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grpo_worker.errors import WorkerError


@contextmanager
def new_directory(path: str) -> Iterator[Path]:
    """Yield a temporary sibling to fill; afterwards sync it and rename it to `path`.

    Raises WorkerError Conflict when `path` exists: what another process may be reading is never replaced.
    """
    target = Path(path).absolute()
    if target.exists():
        raise WorkerError("Conflict", f"{target} exists already")
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
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
