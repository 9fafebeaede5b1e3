"""Calls that are done once however often they arrive: each has a name, which a client that asks again repeats."""

import threading
from collections import OrderedDict
from collections.abc import Callable

from grpo_worker.errors import WorkerError

HEADER = "idempotency-key"

# Answers kept for repeated calls. A client asks again within a minute, a few calls later at most.
KEPT_ANSWERS = 256


class Once:
    """Remembers what was answered to which call. One that comes again while the first is under way waits for it."""

    def __init__(self) -> None:
        self._answers: OrderedDict[str, tuple[str, dict]] = OrderedDict()
        self._lock = threading.Lock()

    def answer(self, key: str | None, call: str, action: Callable[[], dict]) -> dict:
        """Do the action, or give its answer again.

        `call` is route and body: under a key of another call they are a Conflict. What failed is not remembered.
        """
        if key is None:
            return action()
        with self._lock:
            known = self._answers.get(key)
            if known is None:
                known = (call, action())
                self._answers[key] = known
                while len(self._answers) > KEPT_ANSWERS:
                    self._answers.popitem(last=False)
            if known[0] != call:
                raise WorkerError("Conflict", f"{HEADER} {key} was another call's")
            return known[1]
