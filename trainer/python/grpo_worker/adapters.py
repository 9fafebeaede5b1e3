"""Adapter directories in PEFT's format, as PEFT and vLLM load them."""

import copy
from pathlib import Path

import torch
from peft import PeftModel, set_peft_model_state_dict
from safetensors.torch import load_file, save_file

from grpo_worker.errors import WorkerError
from grpo_worker.files import sha256_file

WEIGHTS = "adapter_model.safetensors"


def copy_weights(peft: PeftModel) -> dict[str, torch.Tensor]:
    """The adapter's tensors as they are now, on the CPU: later updates do not change them."""
    return {name: tensor.detach().to("cpu", copy=True).contiguous() for name, tensor in _weights(peft).items()}


def write_adapter(peft: PeftModel, tensors: dict[str, torch.Tensor], directory: Path) -> str:
    """Write config and weights into an existing directory; returns the sha256 of the weights file.

    Equal weights give equal bytes in both files.
    """
    save_file(tensors, directory / WEIGHTS, metadata={"format": "pt"})
    _write_config(peft, directory)
    return sha256_file(directory / WEIGHTS)


def read_adapter(peft: PeftModel, directory: Path) -> None:
    """Load weights into a model that has an adapter of the same shape."""
    tensors = load_file(directory / WEIGHTS)
    if _shapes(tensors) != _shapes(_weights(peft)):
        raise WorkerError("Conflict", f"the adapter in {directory} has other modules or shapes than this session's")
    set_peft_model_state_dict(peft, tensors)


def _weights(peft: PeftModel) -> dict[str, torch.Tensor]:
    """The adapter's tensors under the names that PEFT saves them with: without the adapter's own name.

    PEFT's function walks the whole model several times to come to the same; this runs at every step.
    """
    part = f".{peft.active_adapter}."
    return {name.replace(part, "."): p for name, p in peft.named_parameters() if p.requires_grad}


def _shapes(tensors: dict[str, torch.Tensor]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(tensor.shape) for name, tensor in tensors.items()}


def _write_config(peft: PeftModel, directory: Path) -> None:
    config = copy.copy(peft.active_peft_config)
    if isinstance(config.target_modules, set):
        # A set is written in an order that changes from process to process.
        config.target_modules = sorted(config.target_modules)
    config.inference_mode = True
    config.save_pretrained(directory)
