"""Load the base model: where, in which number format, and what it can do."""

import logging
from pathlib import Path

import torch
from safetensors import SafetensorError
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils.logging import disable_progress_bar

from grpo_worker.attention import GROUPED
from grpo_worker.base_model import BaseModel, base_weights, linear_modules, pack_layers
from grpo_worker.errors import WorkerError
from grpo_worker.probe import check_head, own_row_decoder, sharing_obstacle
from grpo_worker.ranks import local_rank

__all__ = ["BaseModel", "base_weights", "linear_modules", "load_base"]

log = logging.getLogger(__name__)


def load_base(
    path: str,
    *,
    served_name: str = "base",
    dtype: str = "auto",
    device: str = "auto",
    max_context: int | None = None,
) -> BaseModel:
    """Load model and tokenizer, frozen and in eval mode.

    `auto` means CUDA where there is one, and bfloat16 there but float32 on a CPU.
    Raises WorkerError when the path holds no causal language model or no chat template, or when the model's
    head does something that this package cannot reproduce.
    """
    disable_progress_bar()
    target = _device(device)
    kind = _dtype(dtype, target)
    try:
        tokenizer = AutoTokenizer.from_pretrained(path, trust_remote_code=False)
        model = AutoModelForCausalLM.from_pretrained(
            path, dtype=kind, attn_implementation="sdpa", trust_remote_code=False
        )
    except (OSError, ValueError, SafetensorError) as error:
        raise WorkerError("InvalidRequest", _why_not_loaded(path, error)) from error
    if not tokenizer.chat_template:
        raise WorkerError("InvalidRequest", f"the tokenizer of {path!r} has no chat template")
    model.set_attn_implementation(GROUPED)
    model.requires_grad_(False).eval().to(target)
    limit = int(getattr(model.config, "max_position_embeddings", 0)) or 1 << 20
    if max_context is not None and max_context > limit:
        raise WorkerError("InvalidRequest", f"max-context {max_context} is above the model's {limit} positions")
    base = BaseModel(
        model=model,
        tokenizer=tokenizer,
        path=str(Path(path).resolve()) if Path(path).exists() else path,
        served_name=served_name,
        dtype=kind,
        device=target,
        max_context=max_context or limit,
        eos_token_ids=_eos_ids(model, tokenizer),
    )
    base.packed = pack_layers(base)
    check_head(base)
    obstacle = sharing_obstacle(base)
    if obstacle is not None:
        base.prefix_sharing = False
        log.warning("prefix sharing is off, every completion carries its own prompt (slower): %s", obstacle)
    else:
        base.row_decoder = own_row_decoder(base)
    return base


def _why_not_loaded(path: str, error: Exception) -> str:
    if Path(path).is_dir():
        return f"cannot load a causal language model from {path!r}: {error}"
    return f"there is no directory {path!r}, and the hub gave no model of that name: {error}"


def _device(device: str) -> torch.device:
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    rank = local_rank()
    return torch.device(device if device != "cuda" or rank is None else f"cuda:{rank}")


def _dtype(dtype: str, device: torch.device) -> torch.dtype:
    if dtype == "auto":
        return torch.bfloat16 if device.type == "cuda" else torch.float32
    return {"float32": torch.float32, "bfloat16": torch.bfloat16}[dtype]


def _eos_ids(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> list[int]:
    for owner in (model.generation_config, model.config, tokenizer):
        ids = getattr(owner, "eos_token_id", None)
        if ids is not None:
            return sorted({int(i) for i in (ids if isinstance(ids, list) else [ids])})
    log.warning("the model names no end token: completions end by length only")
    return []
