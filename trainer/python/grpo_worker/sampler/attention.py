"""Attention of the sampler: a whole prompt at once, or one new token of each active completion."""

import torch
from torch.nn.functional import scaled_dot_product_attention

from grpo_worker.sampler.cache import GroupCache
from grpo_worker.sampler.spec import DecoderSpec


class Rotary:
    """Table of rotary angles for all positions that the model may see.

    `cos` and `sin` are (positions, head size); the sign of the rotated half is already in `sin`.
    """

    def __init__(self, cos: torch.Tensor, sin: torch.Tensor) -> None:
        half = sin.shape[-1] // 2
        self.cos = cos
        self.sin = torch.cat([-sin[:, :half], sin[:, half:]], dim=-1)

    def at(self, positions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Angles of these positions, shaped to be applied to (rows, heads, head size)."""
        return self.cos[positions][:, None], self.sin[positions][:, None]


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Apply rotary angles to (rows, heads, head size)."""
    half = x.shape[-1] // 2
    swapped = torch.cat([x[..., half:], x[..., :half]], dim=-1)
    return torch.addcmul(x * cos, swapped, sin)


class PromptAttention:
    """Causal attention of one prompt; fills the prompt's places of a cache.

    With `last_only` the last layer answers for the last position alone: nothing reads the others.
    """

    def __init__(self, spec: DecoderSpec, rotary: Rotary, cache: GroupCache, length: int, *, last_only: bool) -> None:
        self.spec = spec
        self.cache = cache
        self.last_only = last_only
        self.angles = rotary.at(torch.arange(length, device=cache.block.device))

    def __call__(self, layer: int, qkv: torch.Tensor) -> torch.Tensor:
        """(places, heads + 2 kv heads, head size) to (places or 1, heads * head size)."""
        spec, length = self.spec, qkv.shape[0]
        turned = rotate(qkv[:, : spec.heads + spec.kv_heads], *self.angles)
        keys = turned[:, spec.heads :].transpose(0, 1)
        values = qkv[:, spec.heads + spec.kv_heads :].transpose(0, 1)
        self.cache.block[layer, 0, :, :length] = keys
        self.cache.block[layer, 1, :, :length] = values
        final = self.last_only and layer == spec.layers - 1
        queries = turned[length - 1 if final else 0 :, : spec.heads].transpose(0, 1)
        out = scaled_dot_product_attention(
            queries[None],
            keys[None],
            values[None],
            is_causal=not final,
            scale=spec.attention_scale,
            enable_gqa=spec.repeats > 1,
        )[0]
        return out.transpose(0, 1).reshape(queries.shape[1], -1)


class StepAttention:
    """Attention of one new token a row. Rows lie group after group, then padding that is not looked at.

    Each group is computed by itself: all its rows stand at the same position, no prompt is padded, and its
    numbers do not depend on which other groups run beside it.
    """

    def __init__(self, spec: DecoderSpec, rotary: Rotary, groups: list[GroupCache], rows: int) -> None:
        self.spec = spec
        self.rows = rows
        self.counts = [cache.rows for cache in groups]
        self.spans = [_Span(cache) for cache in groups]
        positions = [span.position for span in self.spans for _ in range(span.rows)]
        self.active = len(positions)
        block = groups[0].block
        self.angles = rotary.at(torch.tensor(positions, device=block.device))
        self.padding = block.new_zeros(spec.kv_heads, (rows - self.active) * spec.repeats, spec.head_size)

    def __call__(self, layer: int, qkv: torch.Tensor) -> torch.Tensor:
        """(rows, heads + 2 kv heads, head size) to (rows, heads * head size)."""
        spec = self.spec
        qkv = qkv[: self.active]
        turned = qkv[:, : spec.heads + spec.kv_heads]
        turned.copy_(rotate(turned, *self.angles))
        queries = self._by_head(turned[:, : spec.heads])
        added = qkv[:, spec.heads :].view(self.active, 2, spec.kv_heads, spec.head_size).permute(1, 2, 0, 3)
        mixed = [
            span.attend(layer, new, query, spec.attention_scale)
            for span, new, query in zip(
                self.spans,
                added.split(self.counts, dim=2),
                queries.split([count * spec.repeats for count in self.counts], dim=1),
                strict=True,
            )
        ]
        out = torch.cat([*mixed, self.padding], dim=1)
        shape = (spec.kv_heads, self.rows, spec.repeats, spec.head_size)
        return out.view(shape).transpose(0, 1).reshape(self.rows, -1)

    def _by_head(self, queries: torch.Tensor) -> torch.Tensor:
        """(rows, heads, size) to (kv heads, rows * repeats, size)."""
        spec = self.spec
        split = queries.view(self.active, spec.kv_heads, spec.repeats, spec.head_size)
        return split.transpose(0, 1).reshape(spec.kv_heads, -1, spec.head_size)


class _Span:
    """One group during one step: its views into the cache, made once for all layers."""

    def __init__(self, cache: GroupCache) -> None:
        self.rows = cache.rows
        self.position = cache.position
        start = cache.used
        cache.open_places()
        used = cache.block[:, :, :, : cache.used]
        self.places = used[:, :, :, start:].unbind()
        keys, values = used.unbind(1)
        self.keys = keys.transpose(2, 3).unbind()
        self.values = values.unbind()
        self.bias = cache.bias[:, : cache.used]

    def attend(self, layer: int, new: torch.Tensor, queries: torch.Tensor, scale: float) -> torch.Tensor:
        """Store new keys and values (2, kv heads, rows, size), then attend.

        Queries and result are (kv heads, rows * repeats, size).
        """
        self.places[layer].copy_(new)
        scores = torch.baddbmm(self.bias, queries, self.keys[layer], alpha=scale)
        values = self.values[layer]
        if values.dtype == torch.float32:
            return torch.bmm(scores.softmax(-1), values)
        return torch.bmm(scores.softmax(-1, dtype=torch.float32).to(values.dtype), values)
