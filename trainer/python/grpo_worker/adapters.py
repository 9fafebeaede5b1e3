"""Adapter directories in PEFT's format, as PEFT and vLLM load them."""

from pathlib import Path

import torch
from peft import PeftModel, get_peft_model_state_dict, set_peft_model_state_dict
from safetensors.torch import load_file, save_file

from grpo_worker.errors import WorkerError
from grpo_worker.files import sha256_file

WEIGHTS = "adapter_model.safetensors"


def write_adapter(peft: PeftModel, directory: Path) -> str:
    """Write config and weights into an existing directory; returns the sha256 of the weights file.

    Equal weights give equal bytes in both files.
    """
    state = get_peft_model_state_dict(peft, save_embedding_layers=False)
    tensors = {name: tensor.detach().contiguous().cpu() for name, tensor in state.items()}
    save_file(tensors, directory / WEIGHTS, metadata={"format": "pt"})
    _write_config(peft, directory)
    return sha256_file(directory / WEIGHTS)


def read_adapter(peft: PeftModel, directory: Path) -> None:
    """Load weights into a model that has an adapter of the same shape."""
    tensors = load_file(directory / WEIGHTS)
    expected = get_peft_model_state_dict(peft, save_embedding_layers=False)
    if _shapes(tensors) != _shapes(expected):
        raise WorkerError("Conflict", f"the adapter in {directory} has other modules or shapes than this session's")
    set_peft_model_state_dict(peft, tensors)


def _shapes(tensors: dict[str, torch.Tensor]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(tensor.shape) for name, tensor in tensors.items()}


def _write_config(peft: PeftModel, directory: Path) -> None:
    config = peft.active_peft_config
    targets, inference = config.target_modules, config.inference_mode
    # A set is written in an order that changes from process to process.
    config.target_modules = sorted(targets) if isinstance(targets, set) else targets
    config.inference_mode = True
    try:
        config.save_pretrained(directory)
    finally:
        config.target_modules, config.inference_mode = targets, inference
