"""The weights of one policy in the order in which the forward pass uses them.

Small float32 models get copies with the adapter merged in and neighbouring projections put together: fewer and
larger products. Where such a copy does not fit in the cache it lies in the order that its products read (`packed`).
Large models keep the live base weights and add the low-rank product, so that an adapter costs no second copy of
the base.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import torch
from torch.nn.functional import linear

from grpo_worker.base_model import HEAD, BaseModel
from grpo_worker.packed import PackedLayer, PackedWeight
from grpo_worker.sampler.spec import ATTENTION, MLP, DecoderSpec

# Low-rank pairs by module name: A (rank, in) and B (out, rank), the scale already in B.
LoraPairs = dict[str, tuple[torch.Tensor, torch.Tensor]]
# Parameters up to which copies fit in a cache, more or less.
MERGE_LIMIT = 50_000_000


class Layout(Enum):
    """What the weights of a policy are: the live ones, merged copies, or merged copies in packed order."""

    LIVE = "live"
    MERGED = "merged"
    PACKED = "packed"


def choose_layout(base: BaseModel) -> Layout:
    """The fastest one for a model of this size."""
    if base.packed:
        return Layout.PACKED
    return Layout.MERGED if base.dtype == torch.float32 and base.parameters <= MERGE_LIMIT else Layout.LIVE


@dataclass(frozen=True)
class Part:
    """One linear layer: weight (out, in), bias (out) or None, and the adapter's pair or None."""

    weight: torch.Tensor
    bias: torch.Tensor | None = None
    pair: tuple[torch.Tensor, torch.Tensor] | None = None

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
        return Part(torch.addmm(self.weight, self.pair[1], self.pair[0]), self.bias)


@dataclass(frozen=True)
class PackedPart:
    """One linear layer with its weight in packed order."""

    weight: PackedWeight
    bias: torch.Tensor | None

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """(rows, in) to (rows, out)."""
        return self.weight.product(x, self.bias)


def _fused(layers: list[Part]) -> Part:
    """Layers of one input as one merged layer."""
    parts = [part.merged() for part in layers]
    if len(parts) == 1:
        return parts[0]
    biases = [p.bias if p.bias is not None else p.weight.new_zeros(p.weight.shape[0]) for p in parts]
    bias = torch.cat(biases) if any(p.bias is not None for p in parts) else None
    return Part(torch.cat([p.weight for p in parts]), bias)


# (rows, in) to (rows, out).
Projection = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class SideBySide:
    """Linear layers of one input whose outputs are laid side by side."""

    parts: Sequence[Projection]

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """(rows, in) to (rows, sum of outs)."""
        return torch.cat([part(x) for part in self.parts], dim=-1)


def _beside(parts: Sequence[Projection]) -> Projection:
    return parts[0] if len(parts) == 1 else SideBySide(parts)


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
    """All a forward pass reads: embedding (vocabulary, hidden), layers, final norm, head (hidden to vocabulary)."""

    embedding: torch.Tensor
    layers: tuple[LayerWeights, ...]
    norm: torch.Tensor
    head: Projection


def build_head(base: dict[str, torch.Tensor], packed: Mapping[str, PackedLayer]) -> Projection:
    """The head, which no adapter changes: one for all policies."""
    if HEAD in packed:
        return packed[HEAD]
    return Part(base.get(f"{HEAD}.weight", base["model.embed_tokens.weight"]))


@torch.no_grad()
def build_weights(
    spec: DecoderSpec,
    base: dict[str, torch.Tensor],
    packed: Mapping[str, PackedLayer],
    pairs: LoraPairs,
    head: Projection,
    layout: Layout,
) -> DecoderWeights:
    """Arrange the base weights, with the pairs of an adapter. Layers without one share what there is of the base."""

    def project(prefix: str, names: Sequence[str]) -> Projection:
        modules = [f"{prefix}.{name}" for name in names]
        parts = [Part(base[f"{m}.weight"], base.get(f"{m}.bias"), pairs.get(m)) for m in modules]
        if layout is Layout.MERGED:
            return _fused(parts)
        if layout is Layout.LIVE:
            return _beside(parts)
        if any(m in pairs for m in modules):
            merged = _fused(parts)
            return PackedPart(PackedWeight(merged.weight), merged.bias)
        return _beside([PackedPart(packed[m].ahead, part.bias) for m, part in zip(modules, parts, strict=True)])

    def layer(prefix: str) -> LayerWeights:
        return LayerWeights(
            attention_norm=base[f"{prefix}.input_layernorm.weight"],
            qkv=project(f"{prefix}.self_attn", ATTENTION),
            output=project(f"{prefix}.self_attn", ["o_proj"]),
            mlp_norm=base[f"{prefix}.post_attention_layernorm.weight"],
            gate_up=project(f"{prefix}.mlp", MLP),
            down=project(f"{prefix}.mlp", ["down_proj"]),
        )

    return DecoderWeights(
        embedding=base["model.embed_tokens.weight"],
        layers=tuple(layer(f"model.layers.{i}") for i in range(spec.layers)),
        norm=base["model.norm.weight"],
        head=head,
    )
