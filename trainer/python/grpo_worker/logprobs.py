"""Log-probabilities of sampled tokens from hidden states, through the model's own head."""

from dataclasses import dataclass

import torch

from grpo_worker.base_model import HEAD, BaseModel

# Logits of one chunk: 32 MB in float32, and as much again while it is worked on.
CHUNK_ELEMENTS = 1 << 23


@dataclass(frozen=True)
class TokenLogprobs:
    """Natural-log probabilities of N sampled tokens and the entropy of the distribution they came from."""

    logprobs: torch.Tensor  # (N,)
    entropy: torch.Tensor  # (N,), carries no gradient


def head_logits(base: BaseModel, hidden: torch.Tensor) -> torch.Tensor:
    """Logits (N, vocabulary) in float32 as the model's own forward pass makes them after its last layer.

    Some families scale the logits (Granite divides, Cohere multiplies) or cap them (Gemma 2);
    `probe.check_head` compares this function with the model before it is used.
    """
    logits = (base.packed.get(HEAD) or base.model.get_output_embeddings())(hidden)
    config = base.model.config
    if getattr(config, "logits_scaling", None):
        logits = logits / config.logits_scaling
    if getattr(config, "logit_scale", None):
        logits = logits * config.logit_scale
    cap = getattr(config, "final_logit_softcapping", None)
    if cap:
        logits = torch.tanh(logits / cap) * cap
    return logits.float()


def token_logprobs(
    base: BaseModel, hidden: torch.Tensor, targets: torch.Tensor, chunk_elements: int = CHUNK_ELEMENTS
) -> TokenLogprobs:
    """Log-probs of `targets` (N,) given `hidden` (N, width), a chunk of rows at a time.

    Memory is bounded by the chunk, not by N times the vocabulary: nothing of the logits is kept. The head is
    frozen, so a token's gradient is one direction, (onehot − softmax)·W, times a number that the loss decides:
    the direction is made along with the log-prob, and no logits are computed twice.
    """
    return TokenLogprobs(*_Picked.apply(hidden, targets, base, chunk_elements))


class _Picked(torch.autograd.Function):
    @staticmethod
    def forward(ctx, hidden, targets, base, chunk_elements):
        rows = max(1, chunk_elements // base.vocab_size)
        wanted = ctx.needs_input_grad[0]
        parts = [_chunk(base, h, t, wanted) for h, t in zip(hidden.split(rows), targets.split(rows), strict=True)]
        logprobs, entropy, directions = (torch.cat(column) for column in zip(*parts, strict=True))
        ctx.save_for_backward(directions)
        ctx.mark_non_differentiable(entropy)
        return logprobs, entropy

    @staticmethod
    def backward(ctx, gradient, _entropy):
        (directions,) = ctx.saved_tensors
        return (directions * gradient[:, None]).to(directions.dtype), None, None, None


def _chunk(
    base: BaseModel, hidden: torch.Tensor, targets: torch.Tensor, wanted: bool
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Log-probs (n,), entropies (n,) and, if wanted, the gradient of each log-prob by its hidden state (n, width)."""
    with torch.set_grad_enabled(wanted):
        leaf = hidden.detach().requires_grad_(wanted)
        logits = head_logits(base, leaf)
    shares = logits.detach().log_softmax(-1)
    picked = shares.gather(-1, targets[:, None])[:, 0]
    plain = shares.exp()
    entropy = -torch.linalg.vecdot(plain, shares)
    if not wanted:
        return picked, entropy, hidden[:0]
    del shares
    steps = plain.neg_()
    steps.scatter_add_(-1, targets[:, None], torch.ones_like(picked)[:, None])
    (direction,) = torch.autograd.grad(logits, leaf, steps)
    return picked, entropy, direction
