"""What the worker says about itself."""

import platform
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import torch

from grpo_worker.base_model import BaseModel
from grpo_worker.files import sha256_file
from grpo_worker.memory import peak_rss_bytes
from grpo_worker.worker import Worker

HASHED = ("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja")


def worker_info(worker: Worker) -> dict:
    """Answer of GET /info. Takes no lock, so it answers during an update."""
    base, session = worker.base, worker.session
    return {
        "model": base.path,
        "modelHash": worker.model_hash,
        "architecture": type(base.model).__name__,
        "parameters": worker.parameters,
        "vocabSize": base.vocab_size,
        "dtype": str(base.dtype).removeprefix("torch."),
        "device": str(base.device),
        "threads": torch.get_num_threads(),
        "maxContext": base.max_context,
        "eosTokenIds": base.eos_token_ids,
        "prefixSharing": base.prefix_sharing,
        "session": None if session is None else {"runId": session.request.run_id, "version": session.version},
        "versions": {"python": platform.python_version(), **{n: version(n) for n in ("torch", "transformers", "peft")}},
        "peakRssBytes": peak_rss_bytes(),
    }


def hash_model(base: BaseModel) -> str:
    """sha256 over names and contents of the files that decide what the model computes.

    For a model that is no local directory: its name, revision unknown.
    """
    directory = Path(base.path)
    digest = sha256()
    if not directory.is_dir():
        digest.update(base.path.encode())
        return digest.hexdigest()
    files = [directory / name for name in HASHED] + sorted(directory.glob("*.safetensors"))
    for file in files:
        if file.is_file():
            digest.update(f"{file.name} {sha256_file(file)}\n".encode())
    return digest.hexdigest()
