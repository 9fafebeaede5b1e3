"""The end of the parent process, seen as the end of standard input."""

import logging
import os
import threading
from collections.abc import Callable

log = logging.getLogger(__name__)

STDIN = 0


class ParentWatch:
    """Watches from the first moment: a parent that is killed while torch loads must not leave a worker behind."""

    def __init__(self) -> None:
        self._end: Callable[[], None] = _end_at_once
        # Not sys.stdin: a thread that waits in it would hold its lock when the interpreter shuts down.
        threading.Thread(target=self._wait, daemon=True).start()

    def when_gone(self, end: Callable[[], None]) -> None:
        """Do this when the parent goes, instead of ending the process at once."""
        self._end = end

    def _wait(self) -> None:
        while os.read(STDIN, 4096):
            pass
        log.info("stdin ended: the parent is gone")
        self._end()


def _end_at_once() -> None:
    os._exit(0)
