"""Where a worker may read and write: below the directories that it was started with, whatever a request names."""

from collections.abc import Sequence
from pathlib import Path

from grpo_worker.errors import WorkerError


class Roots:
    """Directories that the paths of requests must lie below. Without any, every path is allowed."""

    def __init__(self, directories: Sequence[str] = ()) -> None:
        self._directories = tuple(directories)

    def check(self, path: str) -> None:
        """Refuse a path that no file can have, or that leads out of the directories, by links or by `..`.

        Raises WorkerError InvalidRequest.
        """
        try:
            place = Path(path).expanduser().resolve()
            place.exists()
            allowed = [Path(directory).resolve() for directory in self._directories]
        except (OSError, RuntimeError, ValueError) as error:
            # A NUL, a name that is too long, links in a circle, the home directory of nobody.
            raise WorkerError("InvalidRequest", f"path: {path[:200]!r} cannot be the path of a file") from error
        if allowed and not any(directory in place.parents for directory in allowed):
            raise WorkerError("InvalidRequest", f"path: {path[:200]!r} is not below a --root of this worker")
