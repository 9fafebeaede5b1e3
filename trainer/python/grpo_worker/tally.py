"""Sums over the tokens of one optimizer step, kept on the device until the step is over."""

import torch

from grpo_worker.loss import EXPONENT_LIMIT, TokenLoss
from grpo_worker.protocol import ClipRatio, Mismatch
from grpo_worker.ranks import Ranks

NAMES = ("loss", "kl", "entropy", "low", "high", "gap", "outside", "k3")

# A sampled token counts as mismatched when π_worker/π_sampler lies outside these bounds.
RATIO_BOUNDS = (0.9, 1.1)


class Tally:
    """Collects what is reported about a step, micro-batch by micro-batch, weighted by tokens."""

    def __init__(self, device: torch.device) -> None:
        self.tokens = 0
        self._sums = {name: torch.zeros((), dtype=torch.float64, device=device) for name in NAMES}
        self._largest = torch.zeros((), device=device)

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
        self._largest = torch.maximum(self._largest, size.max())

    def add_ranks(self, ranks: Ranks) -> None:
        """Make these the sums of all ranks."""
        if ranks.size == 1:
            return
        tokens = torch.tensor(float(self.tokens), dtype=torch.float64, device=self._largest.device)
        sums = torch.stack([tokens, *(self._sums[name] for name in NAMES)])
        ranks.sum(sums)
        ranks.maximum(self._largest)
        self.tokens = int(sums[0])
        self._sums = dict(zip(NAMES, sums[1:].unbind(), strict=True))

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
        self._sums[name] = self._sums[name] + values.detach().sum(dtype=torch.float64)
