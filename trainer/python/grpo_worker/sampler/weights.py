"""The weights of one policy in the order in which the forward pass uses them.

Small float32 models get copies with the adapter merged in and neighbouring projections put together:
fewer and larger products, 12 % of the decoding time. Larger models keep the live base weights and add the
low-rank product, so that an adapter costs no second copy of the base.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch.nn.functional import linear

from grpo_worker.sampler.spec import ATTENTION, MLP, DecoderSpec

# Low-rank pairs by module name: A (rank, in) and B (out, rank), the scale already in B.
LoraPairs = dict[str, tuple[torch.Tensor, torch.Tensor]]
MERGE_LIMIT = 50_000_000


@dataclass(frozen=True)
class Part:
    """One linear layer: weight (out, in), bias (out) or None, and the adapter's pair or None."""

    weight: torch.Tensor
    bias: torch.Tensor | None
    pair: tuple[torch.Tensor, torch.Tensor] | None

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """(rows, in) to (rows, out)."""
        y = linear(x, self.weight, self.bias)
        if self.pair is not None:
            y += linear(linear(x, self.pair[0]), self.pair[1])
        return y

    def merged(self) -> "Part":
        """The same layer with the adapter added to a copy of the weight."""
        if self.pair is None:
            return self
        return Part(torch.addmm(self.weight, self.pair[1], self.pair[0]), self.bias, None)


@dataclass(frozen=True)
class Projection:
    """Linear layers of one input whose outputs are laid side by side."""

    parts: tuple[Part, ...]

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """(rows, in) to (rows, sum of outs)."""
        if len(self.parts) == 1:
            return self.parts[0](x)
        return torch.cat([part(x) for part in self.parts], dim=-1)

    def fused(self) -> "Projection":
        """The same as one merged layer."""
        parts = [part.merged() for part in self.parts]
        if len(parts) == 1:
            return Projection((parts[0],))
        biases = [p.bias if p.bias is not None else p.weight.new_zeros(p.weight.shape[0]) for p in parts]
        bias = torch.cat(biases) if any(p.bias is not None for p in parts) else None
        return Projection((Part(torch.cat([p.weight for p in parts]), bias, None),))


@dataclass(frozen=True)
class LayerWeights:
    """One decoder layer."""

    attention_norm: torch.Tensor
    qkv: Projection
    output: Projection
    mlp_norm: torch.Tensor
    gate_up: Projection
    down: Projection


@dataclass(frozen=True)
class DecoderWeights:
    """All a forward pass reads: embedding and head (vocabulary, hidden), layers, final norm."""

    embedding: torch.Tensor
    layers: tuple[LayerWeights, ...]
    norm: torch.Tensor
    head: torch.Tensor


@torch.no_grad()
def build_weights(
    spec: DecoderSpec, base: dict[str, torch.Tensor], pairs: LoraPairs | None, *, fuse: bool
) -> DecoderWeights:
    """Arrange the base weights, with an adapter's pairs where there are some.

    With `fuse` every projection is a merged copy, else the tensors of `base` are used as they are.
    """

    def project(prefix: str, names: Iterable[str]) -> Projection:
        modules = [f"{prefix}.{name}" for name in names]
        parts = [Part(base[f"{m}.weight"], base.get(f"{m}.bias"), (pairs or {}).get(m)) for m in modules]
        projection = Projection(tuple(parts))
        return projection.fused() if fuse else projection

    def layer(prefix: str) -> LayerWeights:
        return LayerWeights(
            attention_norm=base[f"{prefix}.input_layernorm.weight"],
            qkv=project(f"{prefix}.self_attn", ATTENTION),
            output=project(f"{prefix}.self_attn", ["o_proj"]),
            mlp_norm=base[f"{prefix}.post_attention_layernorm.weight"],
            gate_up=project(f"{prefix}.mlp", MLP),
            down=project(f"{prefix}.mlp", ["down_proj"]),
        )

    embedding = base["model.embed_tokens.weight"]
    return DecoderWeights(
        embedding=embedding,
        layers=tuple(layer(f"model.layers.{i}") for i in range(spec.layers)),
        norm=base["model.norm.weight"],
        head=base.get("lm_head.weight", embedding),
    )
