"""A decoder layer's projections as autograd functions that know that the base weights are frozen.

Each keeps its input for the backward pass and nothing else: norms, activations and low-rank products are
made again there, which costs a small part of the matrix products. No weight gradient of the base is ever
computed. `Projection` is a linear layer with or without an adapter.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from peft.tuners.tuners_utils import BaseTunerLayer
from torch import Tensor, nn
from torch.nn.functional import linear, silu

from grpo_worker.packed import PackedLayer


@dataclass(frozen=True)
class Projection:
    """A frozen layer, its packed weight or None, and the adapter: A (rank, in), B (out, rank) or None, its scale."""

    layer: nn.Linear
    packed: PackedLayer | None
    a: Tensor | None = None
    b: Tensor | None = None
    scale: float = 0.0


def projection(module: nn.Module, packed: Mapping[nn.Module, PackedLayer]) -> Projection:
    """What a linear layer computes with at this moment, whether PEFT is around it or not, switched on or off."""
    if not isinstance(module, BaseTunerLayer):
        return Projection(module, packed.get(module))
    layer = module.get_base_layer()
    if module.disable_adapters:
        return Projection(layer, packed.get(layer))
    (name,) = module.active_adapters
    pair = module.lora_A[name].weight, module.lora_B[name].weight
    return Projection(layer, packed.get(layer), *pair, module.scaling[name])


def project(x: Tensor, layers: Sequence[Projection], norm: Tensor | None = None, epsilon: float = 0.0) -> tuple:
    """Outputs of several linear layers of one input (rows, in); with `norm` the input goes through RMS norm first."""
    return _Project.apply(x, norm, epsilon, layers, *(t for p in layers for t in (p.a, p.b)))


def gated(gate: Tensor, up: Tensor, down: Projection) -> Tensor:
    """down(silu(gate) · up)."""
    return _Gated.apply(gate, up, down, down.a, down.b)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary embedding of (rows, heads, size) by tables (rows, size)."""
    return _Rotate.apply(x, cos[:, None], sin[:, None])


class _Project(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, norm, epsilon, layers, *_adapters):
        root = None
        inner = x
        if norm is not None:
            root = (x.float().square().mean(-1, keepdim=True) + epsilon).rsqrt()
            inner = _normed(x, root, norm)
        ctx.layers, ctx.norm = layers, norm
        ctx.save_for_backward(x, root)
        return tuple(_forward(inner, layer) for layer in layers)

    @staticmethod
    def backward(ctx, *gradients):
        x, root = ctx.saved_tensors
        inner = x if root is None else _normed(x, root, ctx.norm)
        wanted, adapters = _backward(inner, gradients, ctx.layers, ctx.needs_input_grad[0])
        if wanted is not None and root is not None:
            wanted = _norm_backward(x, root, ctx.norm, wanted)
        return wanted, None, None, None, *adapters


class _Gated(torch.autograd.Function):
    @staticmethod
    def forward(ctx, gate, up, down, _a, _b):
        ctx.down = down
        ctx.save_for_backward(gate, up)
        return _forward(silu(gate).mul_(up), down)

    @staticmethod
    def backward(ctx, gradient):
        gate, up = ctx.saved_tensors
        open_gate = silu(gate)
        inner, adapters = _backward(open_gate * up, (gradient,), (ctx.down,), True)
        to_up = open_gate.mul_(inner)
        return torch.ops.aten.silu_backward(inner.mul_(up), gate), to_up, None, *adapters


class _Rotate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, cos, sin):
        ctx.tables = cos, sin
        return torch.addcmul(x * cos, _turned(x, -1), sin)

    @staticmethod
    def backward(ctx, gradient):
        cos, sin = ctx.tables
        return (gradient * cos).add_(_turned(gradient * sin, 1)), None, None


def _turned(x: Tensor, sign: int) -> Tensor:
    """(first half, second half) to (−second, first), or with sign 1 its transpose (second, −first)."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat([-second, first] if sign < 0 else [second, -first], dim=-1)


def _normed(x: Tensor, root: Tensor, norm: Tensor) -> Tensor:
    return (x.float() * root).to(x.dtype) * norm


def _norm_backward(x: Tensor, root: Tensor, norm: Tensor, gradient: Tensor) -> Tensor:
    unit = x.float() * root
    scaled = gradient.float() * norm.float()
    along = (scaled * unit).mean(-1, keepdim=True)
    return scaled.addcmul_(unit, along, value=-1).mul_(root).to(x.dtype)


def _forward(x: Tensor, p: Projection) -> Tensor:
    weight, bias = p.layer.weight, p.layer.bias
    if p.a is not None and p.packed is None and _merging_pays(x, weight):
        return linear(x, torch.addmm(weight, p.b, p.a, alpha=p.scale), bias)
    y = linear(x, weight, bias) if p.packed is None else p.packed.ahead.product(x, bias)
    if p.a is None:
        return y
    low = linear(x.to(p.a.dtype), p.a)
    if y.dtype == low.dtype:
        return y.addmm_(low, p.b.t(), alpha=p.scale)
    return y.add_(linear(low, p.b), alpha=p.scale)


def _merging_pays(x: Tensor, weight: Tensor) -> bool:
    """Whether adding an adapter to a copy of the weight is less work than adding it to so many rows."""
    outs, ins = weight.shape
    return weight.dtype == torch.float32 and x.shape[0] * (outs + ins) > outs * ins


def _backward(
    x: Tensor, gradients: Sequence[Tensor], layers: Sequence[Projection], wanted: bool
) -> tuple[Tensor | None, list[Tensor | None]]:
    """Gradient of the input, if wanted, and those of A and B of each layer."""
    total: Tensor | None = None
    adapters: list[Tensor | None] = []
    wide: Tensor | None = None
    for gradient, layer in zip(gradients, layers, strict=True):
        if wanted:
            total = _back(gradient, layer, total)
        if layer.a is None:
            adapters += [None, None]
            continue
        wide = x.to(layer.a.dtype) if wide is None else wide
        own = gradient.to(layer.a.dtype)
        back = (own @ layer.b).mul_(layer.scale)
        adapters += [back.t() @ wide, (own.t() @ linear(wide, layer.a)).mul_(layer.scale)]
        if wanted:
            total = total.addmm_(back, layer.a) if total.dtype == back.dtype else total.add_(back @ layer.a)
    return total, adapters


def _back(gradient: Tensor, p: Projection, total: Tensor | None) -> Tensor:
    """Gradient (rows, out) times weight, added to a total if there is one."""
    if p.packed is not None:
        made = p.packed.back.product(gradient)
        return made if total is None else total.add_(made)
    return gradient @ p.layer.weight if total is None else total.addmm_(gradient, p.layer.weight)
