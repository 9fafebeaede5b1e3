"""Matrix products with weights that lie in oneDNN's own order.

An ordinary product brings its weight into the order that its kernel reads, in every call; for few rows that is
most of its time. A frozen weight is brought into it once. It pays for weights that do not fit in the cache:
half to three quarters of the time for the sixteen rows of a decoding step, three quarters for long rows.
"""

from dataclasses import dataclass

import torch

# Rows that the order is made for. Others are right too, and nearly as fast.
ROWS = 16
# Parameters: below, plain products are as fast; above, the copies (two, and one an adapter) are a burden.
LEAST, MOST = 50_000_000, 250_000_000


def packing_pays(like: torch.Tensor, parameters: int) -> bool:
    """Whether a model of this size, whose weights are like this tensor, should be packed."""
    able = like.device.type == "cpu" and like.dtype == torch.float32 and torch.backends.mkldnn.is_available()
    return able and LEAST < parameters <= MOST


class PackedWeight:
    """A weight (out, in), of which only the reordered copy is kept."""

    def __init__(self, weight: torch.Tensor) -> None:
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), ROWS)

    def product(self, x: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        """(rows, in) to (rows, out), as torch.nn.functional.linear. Knows no gradient."""
        return torch.ops.mkldnn._linear_pointwise(x, self._weight, bias, "none", [], "")


@dataclass(frozen=True)
class PackedLayer:
    """A frozen layer's weight in both orders: `ahead` for its outputs, `back` from their gradient to its input's."""

    ahead: PackedWeight
    back: PackedWeight

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """(rows, in) to (rows, out), with the gradient of x."""
        return _Apply.apply(x, self)


class _Apply(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, layer):
        ctx.layer = layer
        return layer.ahead.product(x)

    @staticmethod
    def backward(ctx, gradient):
        return ctx.layer.back.product(gradient), None


@torch.no_grad()
def pack_layer(weight: torch.Tensor) -> PackedLayer:
    """Of a weight (out, in)."""
    return PackedLayer(PackedWeight(weight), PackedWeight(weight.t()))
