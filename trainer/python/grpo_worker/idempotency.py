"""Exactly-once updates: what to do with an update request, given what is already done."""

import hashlib
import json

from grpo_worker.errors import WorkerError
from grpo_worker.protocol import UpdateBatch, UpdateResult
from grpo_worker.session import Session


def payload_hash(batch: UpdateBatch) -> str:
    """sha256 of the request's canonical JSON: sorted keys, no spaces, shortest round-trip numbers."""
    text = json.dumps(batch.wire(), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def stored_result(session: Session, batch: UpdateBatch, digest: str) -> UpdateResult | None:
    """The result when this very step is done already, None when it is to be done now.

    Raises WorkerError: StaleVersion for another run or a version the session is not at, Conflict for a done
    step with another payload.
    """
    if batch.run_id != session.request.run_id:
        raise WorkerError("StaleVersion", f"runId: this worker trains {session.request.run_id!r}, not {batch.run_id!r}")
    done = session.results.get(batch.step)
    if done is not None:
        if done.payload_hash == digest:
            return done
        raise WorkerError("Conflict", f"step {batch.step} is done already with another payload ({done.payload_hash})")
    if batch.from_version != session.version:
        raise WorkerError(
            "StaleVersion", f"fromVersion: the worker is at version {session.version}, not {batch.from_version}"
        )
    return None
