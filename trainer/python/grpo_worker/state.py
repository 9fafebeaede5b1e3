"""Save and restore a whole session, so that it goes on bit for bit as if it had never stopped.

session.json      format, model hash, request, version, stored results, fitting budget, checksums of the other files
adapter/          the adapter in PEFT's format
optimizer.pt      AdamW's moments and step counts, and torch's CPU random state
"""

import json
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from pydantic import ValidationError

from grpo_worker.adapters import WEIGHTS, copy_weights, read_adapter, write_adapter
from grpo_worker.base_model import BaseModel
from grpo_worker.errors import WorkerError
from grpo_worker.files import new_directory, sha256_file
from grpo_worker.protocol import SavedSession
from grpo_worker.session import Session, close_session, open_session

FORMAT = 1
SESSION, OPTIMIZER, ADAPTER = "session.json", "optimizer.pt", "adapter"


def save_state(session: Session, model_hash: str, path: str) -> None:
    """Write the session to a new directory, atomically."""
    with new_directory(path) as directory:
        (directory / ADAPTER).mkdir()
        adapter_hash = write_adapter(session.peft, copy_weights(session.peft), directory / ADAPTER)
        optimizer = {"optimizer": session.optimizer.state_dict(), "random": torch.get_rng_state()}
        # Through a file of Python's, whose errors say what the file system said; torch's own writer loses it.
        with (directory / OPTIMIZER).open("wb") as file:
            torch.save(optimizer, file)
        saved = SavedSession(
            format=FORMAT,
            model_hash=model_hash,
            request=session.request,
            version=session.version,
            results=list(session.results.values()),
            adapter_sha256=adapter_hash,
            optimizer_sha256=sha256_file(directory / OPTIMIZER),
            fitting_budget=session.fitting_budget,
        )
        (directory / SESSION).write_text(json.dumps(saved.wire(), indent=1) + "\n", encoding="utf-8")


def read_state(path: str, model_hash: str) -> tuple[SavedSession, dict[str, Any]]:
    """Read and check everything about a saved session without touching a live one; also what the optimizer held.

    Raises WorkerError: NotFound without a session there, Conflict for another base model, InvalidRequest
    when a file is damaged.
    """
    directory = Path(path)
    file = directory / SESSION
    if not file.is_file():
        raise WorkerError("NotFound", f"{directory} holds no saved session")
    try:
        saved = SavedSession.model_validate_json(file.read_bytes())
    except ValidationError as error:
        raise WorkerError("InvalidRequest", f"{file} is not a saved session: {error.errors()[0]['msg']}") from error
    if saved.model_hash != model_hash:
        raise WorkerError("Conflict", f"{directory} was saved with another base model ({saved.model_hash[:12]}…)")
    sums = {Path(ADAPTER, WEIGHTS): saved.adapter_sha256, Path(OPTIMIZER): saved.optimizer_sha256}
    for name, expected in sums.items():
        part = directory / name
        if not part.is_file() or sha256_file(part) != expected:
            raise WorkerError("InvalidRequest", f"{part} is missing or damaged")
    return saved, _read_optimizer(directory / OPTIMIZER)


def _read_optimizer(path: Path) -> dict[str, Any]:
    """Plain tensors only: a file that wants to run something when it is read is refused."""
    try:
        stored = torch.load(path, map_location="cpu", weights_only=True)
    except (UnpicklingError, RuntimeError, EOFError, ValueError) as error:
        raise WorkerError("InvalidRequest", f"{path} holds more than tensors, or is damaged") from error
    if not isinstance(stored, dict) or not {"optimizer", "random"} <= stored.keys():
        raise WorkerError("InvalidRequest", f"{path} is not what a worker saves")
    return stored


def restore_session(base: BaseModel, saved: SavedSession, stored: dict[str, Any], path: str) -> Session:
    """Open the session anew and fill in the saved tensors. The base must carry no adapter."""
    directory = Path(path)
    session = open_session(base, saved.request)
    try:
        read_adapter(session.peft, directory / ADAPTER)
        session.optimizer.load_state_dict(stored["optimizer"])
    except BaseException:
        close_session(session)
        raise
    torch.set_rng_state(stored["random"])
    session.version = saved.version
    session.fitting_budget = saved.fitting_budget
    for result in saved.results:
        session.results[result.step] = result
    return session
