"""Sums over the tokens of one optimizer step, kept on the device until the step is over."""

import torch

from grpo_worker.loss import EXPONENT_LIMIT, TokenLoss
from grpo_worker.protocol import ClipRatio, Mismatch

# A sampled token counts as mismatched when π_worker/π_sampler lies outside these bounds.
RATIO_BOUNDS = (0.9, 1.1)


class Tally:
    """Collects what is reported about a step, micro-batch by micro-batch, weighted by tokens."""

    def __init__(self) -> None:
        self.tokens = 0
        self._sums: dict[str, torch.Tensor] = {}
        self._largest: torch.Tensor | None = None

    def add(
        self, losses: TokenLoss, weights: torch.Tensor, entropy: torch.Tensor, old: torch.Tensor, sampler: torch.Tensor
    ) -> None:
        """Add a micro-batch. All tensors are (N,); `old` and `sampler` are log-probs."""
        gap = old - sampler
        bounded = gap.clamp(-EXPONENT_LIMIT, EXPONENT_LIMIT)
        ratio = bounded.exp()
        size = gap.abs()
        self.tokens += len(old)
        self._sum("loss", losses.loss.detach() * weights)
        self._sum("kl", losses.kl)
        self._sum("entropy", entropy)
        self._sum("low", losses.clipped_low)
        self._sum("high", losses.clipped_high)
        self._sum("gap", size)
        self._sum("outside", (ratio < RATIO_BOUNDS[0]) | (ratio > RATIO_BOUNDS[1]))
        self._sum("k3", ratio - bounded - 1)
        largest = size.max()
        self._largest = largest if self._largest is None else torch.maximum(self._largest, largest)

    def loss(self) -> float:
        """Loss of the whole step."""
        return float(self._sums["loss"])

    def mean(self, name: str) -> float:
        """Mean over tokens of `kl` or `entropy`, in nats."""
        return float(self._sums[name]) / self.tokens

    def clip_ratio(self) -> ClipRatio:
        """Shares of clipped tokens."""
        low, high = self.mean("low"), self.mean("high")
        return ClipRatio(low=low, high=high, region=low + high)

    def mismatch(self) -> Mismatch:
        """Sampler against worker: k3 estimates KL(sampler‖worker)."""
        return Mismatch(
            mean_abs=self.mean("gap"),
            max_abs=float(self._largest),
            outside_share=self.mean("outside"),
            k3=self.mean("k3"),
        )

    def _sum(self, name: str, values: torch.Tensor) -> None:
        total = values.detach().sum(dtype=torch.float64)
        self._sums[name] = self._sums[name] + total if name in self._sums else total
