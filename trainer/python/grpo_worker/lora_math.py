"""A decoder layer's projections as autograd functions that know that the base weights are frozen.

Each keeps its input for the backward pass and nothing else: norms, activations and low-rank products are
made again there, which costs a small part of the matrix products. No weight gradient of the base is ever
computed. `Projection` is a linear layer with or without an adapter.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from peft.tuners.tuners_utils import BaseTunerLayer
from torch import Tensor, nn
from torch.nn.functional import linear, silu


@dataclass(frozen=True)
class Projection:
    """weight (out, in), bias (out) or None, and the adapter: A (rank, in), B (out, rank) or None, its scale."""

    weight: Tensor
    bias: Tensor | None
    a: Tensor | None
    b: Tensor | None
    scale: float


def projection(module: nn.Module) -> Projection:
    """What a linear layer computes with at this moment, whether PEFT is around it or not, switched on or off."""
    if not isinstance(module, BaseTunerLayer):
        return Projection(module.weight, module.bias, None, None, 0.0)
    base = module.get_base_layer()
    if module.disable_adapters:
        return Projection(base.weight, base.bias, None, None, 0.0)
    (name,) = module.active_adapters
    return Projection(
        base.weight, base.bias, module.lora_A[name].weight, module.lora_B[name].weight, module.scaling[name]
    )


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


def _forward(x: Tensor, layer: Projection) -> Tensor:
    if layer.a is None:
        return linear(x, layer.weight, layer.bias)
    outs, ins = layer.weight.shape
    if layer.weight.dtype == torch.float32 and x.shape[0] * (outs + ins) > outs * ins:
        # Adding the adapter to a copy of the weight is less work than adding it to so many rows.
        return linear(x, torch.addmm(layer.weight, layer.b, layer.a, alpha=layer.scale), layer.bias)
    y = linear(x, layer.weight, layer.bias)
    low = linear(x.to(layer.a.dtype), layer.a)
    if y.dtype == low.dtype:
        return y.addmm_(low, layer.b.t(), alpha=layer.scale)
    return y.add_(linear(low, layer.b), alpha=layer.scale)


def _backward(
    x: Tensor, gradients: Sequence[Tensor], layers: Sequence[Projection], wanted: bool
) -> tuple[Tensor | None, list[Tensor | None]]:
    """Gradient of the input, if wanted, and those of A and B of each layer."""
    total: Tensor | None = None
    adapters: list[Tensor | None] = []
    wide: Tensor | None = None
    for gradient, layer in zip(gradients, layers, strict=True):
        if wanted:
            total = gradient @ layer.weight if total is None else total.addmm_(gradient, layer.weight)
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
