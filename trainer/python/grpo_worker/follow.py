"""What every rank but the first does: whatever rank 0 announces."""

import logging

from grpo_worker.errors import WorkerError
from grpo_worker.protocol import PathRequest, SessionRequest, UpdateBatch
from grpo_worker.ranks import is_shared
from grpo_worker.worker import Worker

log = logging.getLogger(__name__)


def follow(worker: Worker) -> int:
    """Follow rank 0 until it ends; returns the exit code.

    An error that rank 0 does not share ends this rank: its state would no longer be that of the others.
    """
    calls = {
        "open": (worker.open, SessionRequest),
        "update": (worker.update, UpdateBatch),
        "load": (worker.load, PathRequest),
    }
    while True:
        try:
            method, body = worker.ranks.receive()
        except WorkerError:
            log.info("rank 0 has ended")
            return 0
        call, kind = calls[method]
        try:
            call(kind.parse(body))
        except WorkerError as error:
            if not is_shared(error):
                raise
            log.warning("%s: %s", method, error)
