"""Log-probabilities of sampled tokens from hidden states, through the model's own head."""

from dataclasses import dataclass

import torch
from torch.utils.checkpoint import checkpoint
from transformers import PreTrainedModel

# Logits of one chunk: 64 MB in float32. Above it the logits are computed again in the backward pass.
CHUNK_ELEMENTS = 1 << 24


@dataclass(frozen=True)
class TokenLogprobs:
    """Natural-log probabilities of N sampled tokens and the entropy of the distribution they came from."""

    logprobs: torch.Tensor  # (N,)
    entropy: torch.Tensor  # (N,), carries no gradient


def head_logits(model: PreTrainedModel, hidden: torch.Tensor) -> torch.Tensor:
    """Logits (N, vocabulary) in float32 as the model's own forward pass makes them after its last layer.

    Some families scale the logits (Granite divides, Cohere multiplies) or cap them (Gemma 2);
    `probe.check_head` compares this function with the model before it is used.
    """
    logits = model.get_output_embeddings()(hidden)
    config = model.config
    if getattr(config, "logits_scaling", None):
        logits = logits / config.logits_scaling
    if getattr(config, "logit_scale", None):
        logits = logits * config.logit_scale
    cap = getattr(config, "final_logit_softcapping", None)
    if cap:
        logits = torch.tanh(logits / cap) * cap
    return logits.float()


def token_logprobs(
    model: PreTrainedModel, hidden: torch.Tensor, targets: torch.Tensor, chunk_elements: int = CHUNK_ELEMENTS
) -> TokenLogprobs:
    """Log-probs of `targets` (N,) given `hidden` (N, width), a chunk of rows at a time.

    Memory is bounded by the chunk, not by N times the vocabulary: with more than one chunk nothing of the
    logits is kept for the backward pass.
    """
    rows = max(1, chunk_elements // model.get_output_embeddings().weight.shape[0])
    if len(targets) <= rows:
        return TokenLogprobs(*_chunk(model, hidden, targets))
    parts = [
        checkpoint(_chunk, model, h, t, use_reentrant=False, preserve_rng_state=False)
        if torch.is_grad_enabled()
        else _chunk(model, h, t)
        for h, t in zip(hidden.split(rows), targets.split(rows), strict=True)
    ]
    return TokenLogprobs(torch.cat([p[0] for p in parts]), torch.cat([p[1] for p in parts]))


def _chunk(model: PreTrainedModel, hidden: torch.Tensor, targets: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    log_softmax = head_logits(model, hidden).log_softmax(-1)
    picked = log_softmax.gather(-1, targets[:, None]).squeeze(-1)
    with torch.no_grad():
        plain = log_softmax.detach()
        entropy = -(plain.exp() * plain).sum(-1)
    return picked, entropy
