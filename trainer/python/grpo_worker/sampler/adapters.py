"""Read PEFT adapter directories and check them against the base, refusing what would sample from another policy."""

import json
import math
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from grpo_worker.sampler.errors import ApiError, load_failed, not_found
from grpo_worker.sampler.weights import LoraPairs

CONFIG = "adapter_config.json"
WEIGHTS = "adapter_model.safetensors"
_KEY = re.compile(r"base_model\.model\.(?P<module>.+)\.lora_(?P<side>[AB])\.weight")


class UnusableAdapterError(ValueError):
    """The directory holds no adapter that can be used here. The message says why."""


@dataclass(frozen=True)
class BaseShapes:
    """What adapters may sit on: (out, in) of every linear layer by its module name; number format and device."""

    linear: dict[str, tuple[int, int]]
    dtype: torch.dtype
    device: torch.device


def read_adapter(name: str, given: str, shapes: BaseShapes, max_rank: int) -> LoraPairs:
    """Load an adapter's low-rank pairs into memory; the directory is not needed afterwards.

    Raises ApiError 404 when there is no adapter at the path, 500 when it is one that cannot be used.
    """
    path = Path(os.path.expanduser(given))
    shown = "<path>" if path.is_absolute() else given
    if not (path / CONFIG).is_file():
        raise not_found(f"Loading lora {name} failed: No adapter found for {shown}")
    try:
        scale, rank = _read_config(path / CONFIG, max_rank)
        return _pairs(_read_tensors(path / WEIGHTS, shown), scale, rank, shapes, shown)
    except UnusableAdapterError as error:
        raise _refused(error) from error


def _refused(error: UnusableAdapterError) -> ApiError:
    return load_failed(str(error))


def _read_config(path: Path, max_rank: int) -> tuple[float, int]:
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UnusableAdapterError(f"{CONFIG} is not readable JSON: {error}") from error
    if not isinstance(config, dict):
        raise UnusableAdapterError(f"{CONFIG} is not an object")
    rank, alpha = config.get("r"), config.get("lora_alpha")
    if not isinstance(rank, int) or rank < 1 or not isinstance(alpha, int | float):
        raise UnusableAdapterError(f"{CONFIG} needs a positive integer 'r' and a number 'lora_alpha'")
    faults = _unsupported(config)
    if rank > max_rank:
        faults.insert(0, f"LoRA rank {rank} is greater than max_lora_rank {max_rank}.")
    if faults:
        raise UnusableAdapterError(" ".join(faults))
    return alpha / (math.sqrt(rank) if config.get("use_rslora") else rank), rank


def _unsupported(config: dict[str, Any]) -> list[str]:
    rules = (
        (config.get("peft_type", "LORA") != "LORA", f"Adapters of type {config.get('peft_type')} are not supported."),
        (config.get("modules_to_save") is not None, "vLLM only supports modules_to_save being None."),
        (bool(config.get("use_dora")), "vLLM does not yet support DoRA."),
        (config.get("bias", "none") != "none" or bool(config.get("lora_bias")), "Adapter bias is not supported."),
        # vLLM takes these two in silence and then applies one rank and one scale to all modules.
        (bool(config.get("rank_pattern")), "rank_pattern is not supported."),
        (bool(config.get("alpha_pattern")), "alpha_pattern is not supported."),
        (bool(config.get("fan_in_fan_out")), "fan_in_fan_out is not supported."),
    )
    return [message for broken, message in rules if broken]


def _read_tensors(path: Path, shown: str) -> dict[str, torch.Tensor]:
    if not path.is_file():
        raise UnusableAdapterError(f"{shown} doesn't contain tensors")
    try:
        tensors = load_file(path)
    except (SafetensorError, OSError) as error:
        raise UnusableAdapterError(str(error)) from error
    if not tensors:
        raise UnusableAdapterError(f"{shown} doesn't contain tensors")
    return tensors


def _pairs(tensors: dict[str, torch.Tensor], scale: float, rank: int, shapes: BaseShapes, shown: str) -> LoraPairs:
    sides: dict[str, dict[str, torch.Tensor]] = {}
    alien = []
    for key, tensor in tensors.items():
        match = _KEY.fullmatch(key)
        if match is None or match["module"] not in shapes.linear:
            alien.append(match["module"] if match else key)
        else:
            sides.setdefault(match["module"], {})[match["side"]] = tensor
    if alien:
        expected = ", ".join(sorted({repr(module.rsplit(".", 1)[-1]) for module in shapes.linear}))
        raise UnusableAdapterError(
            f"While loading {shown}, expected target modules in {{{expected}}} but received {sorted(set(alien))}. "
            "Please verify that the loaded LoRA module is correct"
        )
    return {module: _pair(module, pair, scale, rank, shapes) for module, pair in sides.items()}


def _pair(
    module: str, pair: dict[str, torch.Tensor], scale: float, rank: int, shapes: BaseShapes
) -> tuple[torch.Tensor, torch.Tensor]:
    if set(pair) != {"A", "B"}:
        raise UnusableAdapterError(f"{module} has only lora_{'/'.join(pair)}")
    out, into = shapes.linear[module]
    for tensor, expected in ((pair["A"], (rank, into)), (pair["B"], (out, rank))):
        _check_shape(tensor, expected)
        if not bool(tensor.isfinite().all()):
            raise UnusableAdapterError(f"{module} has weights that are not finite")
    # Copies: tensors may be a window on the file, and the file may be overwritten.
    down = pair["A"].to(shapes.device, shapes.dtype, copy=True)
    up = (pair["B"].float() * scale).to(shapes.device, shapes.dtype)
    return down, up


def _check_shape(tensor: torch.Tensor, expected: tuple[int, int]) -> None:
    if tensor.dim() != 2:
        raise UnusableAdapterError(f"The number of dimensions is {tensor.dim()} and must be 2")
    for dim, (want, got) in enumerate(zip(expected, tensor.shape, strict=True)):
        if want != got:
            raise UnusableAdapterError(
                f"The size of tensor a ({want}) must match the size of tensor b ({got}) "
                f"at non-singleton dimension {dim}"
            )
