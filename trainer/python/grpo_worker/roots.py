"""Where a worker may read and write: below the directories that it was started with, whatever a request names."""

import errno
import os
from collections.abc import Sequence
from pathlib import Path

from grpo_worker.errors import WorkerError
from grpo_worker.files import temporary_of

# Bytes that a name and a path may have on Linux; asking the file system needs the directory to exist.
MAX_NAME = 255
MAX_PATH = 4095


class Roots:
    """Directories that the paths of requests must lie below. Without any, every path is allowed."""

    def __init__(self, directories: Sequence[str] = ()) -> None:
        self._directories = tuple(directories)

    def check(self, path: str) -> str:
        """The place that a path means: absolute, without links, `..` and `~`.

        Raises WorkerError InvalidRequest for a path that no file can have, or that leads out of the directories.
        """
        try:
            place = Path(path).expanduser().resolve()
            place.exists()
            _check_length(temporary_of(place) if place.name else place)
            allowed = [Path(directory).resolve() for directory in self._directories]
        except (OSError, RuntimeError, ValueError) as error:
            # A NUL, a name that is too long, links in a circle, the home directory of nobody.
            raise WorkerError("InvalidRequest", f"path: {path[:200]!r} cannot be the path of a file") from error
        if allowed and not any(directory in place.parents for directory in allowed):
            raise WorkerError("InvalidRequest", f"path: {path[:200]!r} is not below a --root of this worker")
        return str(place)


def _check_length(path: Path) -> None:
    if len(os.fsencode(path)) > MAX_PATH or any(len(os.fsencode(part)) > MAX_NAME for part in path.parts):
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
