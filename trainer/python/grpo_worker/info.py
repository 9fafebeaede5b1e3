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

# What decides the prompts' tokens and what the model computes from them. Cards, licences and the leftovers of a
# training (optimizer states, logs) change nothing and are not hashed.
HASHED = (
    "*.safetensors",
    "pytorch_model*.bin",
    "*.index.json",
    "config.json",
    "generation_config.json",
    "*.py",
    "tokenizer*",
    "*.model",
    "*.tiktoken",
    "vocab.*",
    "merges.txt",
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template*",
    "additional_chat_templates/*",
)


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
    """sha256 over names and contents of the files that decide what the model computes, in the order of their names.

    For a model that is no local directory: its name, and the commit that was loaded where that is known.
    """
    directory = Path(base.path)
    digest = sha256()
    if not directory.is_dir():
        digest.update(f"{base.path} {getattr(base.model.config, '_commit_hash', None) or ''}".encode())
        return digest.hexdigest()
    found = {file for pattern in HASHED for file in directory.glob(pattern) if file.is_file()}
    names = sorted(file.relative_to(directory).as_posix() for file in found)
    for name in names:
        digest.update(f"{name} {sha256_file(directory / name)}\n".encode())
    return digest.hexdigest()
