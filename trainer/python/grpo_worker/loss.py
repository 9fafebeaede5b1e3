"""The GRPO loss: tensors in, tensors out. It knows no model, no batch layout and no file.

N is the number of sampled tokens of a micro-batch. Every function works token by token; what makes the
sum over all micro-batches of a step independent of how they were cut are the weights of `token_weights`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from grpo_worker.protocol import LossConfig

# Bound on |log π_ref − log π| before an exponential, so that one odd token cannot make the sum infinite.
EXPONENT_LIMIT = 20.0


@dataclass(frozen=True)
class TokenLoss:
    """Loss of each token with gradient (N,), and what is reported about it without."""

    loss: torch.Tensor
    kl: torch.Tensor
    clipped_low: torch.Tensor
    clipped_high: torch.Tensor


def token_loss(
    logprobs: torch.Tensor,
    old: torch.Tensor,
    reference: torch.Tensor | None,
    advantages: torch.Tensor,
    config: LossConfig,
    importance: torch.Tensor | None = None,
) -> TokenLoss:
    """−min(ρÂ, clip(ρ, 1−ε_low, 1+ε_high)Â)·w + β·KL with ρ = exp(logprobs − old), for each token.

    `advantages` (N,) repeats a completion's advantage. `importance` w corrects for the sampler and touches
    the policy term only. `reference` may be None when β is 0.
    """
    ratio = (logprobs - old).exp()
    low, high = 1 - config.clip_low, 1 + config.clip_high
    policy = -torch.min(ratio * advantages, ratio.clamp(low, high) * advantages)
    if importance is not None:
        policy = policy * importance
    if reference is None:
        kl = torch.zeros_like(logprobs)
        loss = policy
    else:
        kl = kl_estimate(reference - logprobs, ratio, config.kl)
        loss = policy + config.beta * kl
    return TokenLoss(
        loss=loss,
        kl=kl.detach(),
        clipped_low=(ratio.detach() < low) & (advantages < 0),
        clipped_high=(ratio.detach() > high) & (advantages > 0),
    )


def kl_estimate(difference: torch.Tensor, ratio: torch.Tensor, kind: str) -> torch.Tensor:
    """Estimate of KL(π‖π_ref) for each token from d = log π_ref − log π (Schulman's k2 and k3).

    The gradients differ: that of k3 is KL(π_ref‖π)'s in expectation, those of k2 and ρ·k3 are KL(π‖π_ref)'s.
    """
    if kind == "k2":
        return difference.square() / 2
    bounded = difference.clamp(-EXPONENT_LIMIT, EXPONENT_LIMIT)
    k3 = bounded.exp() - bounded - 1
    return ratio * k3 if kind == "ratio_k3" else k3


def token_weights(lengths: Sequence[int], config: LossConfig) -> list[float]:
    """Weight of every token of each completion, given the lengths of all completions of the step.

    sequence_mean: mean over completions of their token means. token_mean: mean over all tokens.
    fixed_length: token sums divided by a constant length, mean over completions.
    """
    count = len(lengths)
    if config.normalization == "token_mean":
        return [1 / sum(lengths)] * count
    if config.normalization == "fixed_length":
        return [1 / (count * config.fixed_length)] * count
    return [1 / (count * length) for length in lengths]


def importance_weights(old: torch.Tensor, sampler: torch.Tensor, bounds: tuple[float, float]) -> torch.Tensor:
    """π_worker/π_sampler of each token, cut to the bounds, without gradient."""
    return (old - sampler).detach().exp().clamp(*bounds)
