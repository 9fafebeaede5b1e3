"""Checks of a freshly loaded model: does our head equal its own, and can its attention share a prefix?"""

import logging
from collections.abc import Callable

import torch

from grpo_worker.base_model import BaseModel
from grpo_worker.errors import WorkerError
from grpo_worker.logprobs import head_logits
from grpo_worker.plain import batch_hidden, build_batch
from grpo_worker.prefix import Piece, Row, build_row, row_hidden
from grpo_worker.row_decoder import RowDecoder, row_decoder
from grpo_worker.sampler.spec import UnsupportedDecoderError

log = logging.getLogger(__name__)

# Largest relative difference of hidden states that rounding explains, by number format.
TOLERANCE = {torch.float32: 1e-4, torch.bfloat16: 5e-2}


def check_head(base: BaseModel) -> None:
    """Refuse a model whose logits are not what `head_logits` makes of its last hidden states."""
    ids = _probe_ids(base, 8)[None]
    with torch.no_grad():
        expected = base.model(input_ids=ids, use_cache=False).logits[0].float()
        hidden = base.model.base_model(input_ids=ids, use_cache=False).last_hidden_state[0]
        made = head_logits(base, hidden)
    if not torch.allclose(made, expected, rtol=TOLERANCE[base.dtype], atol=TOLERANCE[base.dtype]):
        raise WorkerError(
            "InvalidRequest",
            f"{type(base.model).__name__} changes its logits after the head in a way that is not supported",
        )


def sharing_obstacle(base: BaseModel) -> str | None:
    """Why completions cannot share their prompt with this model, or None when they can."""
    config = base.model.config
    kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
    window = getattr(config, "sliding_window", None) if getattr(config, "use_sliding_window", True) else None
    windowed = window is not None and window < base.max_context
    if windowed and ("sliding_attention" in kinds or not getattr(config, "layer_types", None)):
        return f"its sliding window of {window} tokens is shorter than the context of {base.max_context}"
    odd = kinds - {"full_attention", "sliding_attention"}
    if odd:
        return f"it has layers of type {', '.join(sorted(odd))}"
    return _differs(base, lambda row: row_hidden(base.model.base_model, row))


def own_row_decoder(base: BaseModel) -> RowDecoder | None:
    """Our own forward pass over shared rows where it covers the model and agrees with it (else None, logged)."""
    try:
        decoder = row_decoder(base)
        obstacle = _differs(base, decoder.hidden)
    except UnsupportedDecoderError as reason:
        obstacle = str(reason)
    if obstacle is None:
        return decoder
    log.warning("the learner uses the Hugging Face forward pass (slower): %s", obstacle)
    return None


def _differs(base: BaseModel, hidden_of: Callable[[Row], torch.Tensor]) -> str | None:
    """Compare a shared row with separate rows on random tokens."""
    ids = _probe_ids(base, 13).tolist()
    pieces = [Piece(ids[:4], (ids[4:7], ids[7:9]), (0, 1)), Piece(ids[9:11], (ids[11:13],), (2,))]
    with torch.no_grad():
        plain = batch_hidden(base.model.base_model, build_batch(pieces, base.device)).float()
        try:
            shared = hidden_of(build_row(pieces, base.device)).float()
        except (TypeError, ValueError, RuntimeError) as error:
            return f"{type(base.model).__name__} refuses a shared row: {error}"
    difference = float((shared - plain).norm() / plain.norm())
    if not difference <= TOLERANCE[base.dtype]:
        return f"{type(base.model).__name__} gives other hidden states in a shared row (relative {difference:.1e})"
    return None


def _probe_ids(base: BaseModel, count: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randint(0, base.vocab_size, (count,), generator=generator).to(base.device)
