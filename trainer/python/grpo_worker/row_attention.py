"""Attention over a shared row on the CPU, without copies of the prompt and without a mask.

Completions attend to two things: the prompt, all of it, and their own past. Each is a call of torch's flash
attention; the two results are joined by their log-sum-exp. The same kernel's backward pass, given the joined
output and the joined log-sum-exp, yields each part's exact share of the gradient.
"""

import torch
from torch import Tensor

from grpo_worker.attention import GroupSlice

_flash = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
_flash_backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward


def row_attention(q: Tensor, k: Tensor, v: Tensor, layout: list[GroupSlice], scale: float, *, last: bool) -> Tensor:
    """q (rows, heads, size), k and v (row, kv heads, size) to (rows, heads, size).

    With `last` the queries are those of the prompt's last place and of the completions only.
    """
    return _RowAttention.apply(q, k, v, layout, scale, last)


class _RowAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, layout, scale, last):
        out = torch.empty_like(q)
        sums = q.new_empty(q.shape[:2], dtype=torch.float32)
        for part in _parts(layout, last):
            part.forward(q, k, v, out, sums, scale)
        ctx.layout, ctx.scale, ctx.last = layout, scale, last
        ctx.save_for_backward(q, k, v, out, sums)
        return out

    @staticmethod
    def backward(ctx, gradient):
        q, k, v, out, sums = ctx.saved_tensors
        # Every place is written by the part that owns it before another part adds to it.
        into = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
        gradient = gradient.contiguous()
        for part in _parts(ctx.layout, ctx.last):
            part.backward(q, k, v, out, sums, gradient, into, ctx.scale)
        return *into, None, None, None


class _Part:
    """One group: where its prompt and its completions lie among the queries and among the keys."""

    def __init__(self, group: GroupSlice, query_start: int, key_start: int, last: bool) -> None:
        self.inputs = group.inputs
        self.prompt = slice(key_start, key_start + group.prompt)
        self.keys = slice(self.prompt.stop, self.prompt.stop + sum(group.inputs))
        asking = 1 if last else group.prompt
        self.causal = None if last else slice(query_start, query_start + group.prompt)
        self.queries = slice(query_start + asking, query_start + asking + sum(group.inputs))
        self.reading = slice(query_start if last else self.queries.start, self.queries.stop)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, out: Tensor, sums: Tensor, scale: float) -> None:
        repeats = q.shape[1] // k.shape[1]
        keys, values = _heads(k[self.prompt], repeats), _heads(v[self.prompt], repeats)
        if self.causal is not None:
            _store(out, sums, self.causal, _flash(_heads(q[self.causal]), keys, values, 0.0, True, scale=scale))
        if self.reading.stop == self.reading.start:
            return
        _store(out, sums, self.reading, _flash(_heads(q[self.reading]), keys, values, 0.0, False, scale=scale))
        if self.queries.stop == self.queries.start:
            return
        own = (
            self._padded(x) for x in (q[self.queries], _repeat(k[self.keys], repeats), _repeat(v[self.keys], repeats))
        )
        near, near_sums = _flash(*own, 0.0, True, scale=scale)
        near, near_sums = self._flat(near.transpose(1, 2)), self._flat(near_sums.transpose(1, 2))
        far, far_sums = out[self.queries], sums[self.queries]
        joined = torch.logaddexp(far_sums, near_sums)
        far.mul_((far_sums - joined).exp_().to(far.dtype)[..., None])
        far.addcmul_(near, (near_sums - joined).exp_().to(far.dtype)[..., None])
        far_sums.copy_(joined)

    def backward(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        out: Tensor,
        sums: Tensor,
        gradient: Tensor,
        into: tuple[Tensor, Tensor, Tensor],
        scale: float,
    ) -> None:
        repeats = q.shape[1] // k.shape[1]
        to_q, to_k, to_v = into
        keys, values = _heads(k[self.prompt], repeats), _heads(v[self.prompt], repeats)
        prompt_k, prompt_v = to_k[self.prompt], to_v[self.prompt]
        calls = [(self.causal, True), (self.reading, False)]
        calls = [(s, causal) for s, causal in calls if s is not None and s.stop > s.start]
        for i, (span, causal) in enumerate(calls):
            given = (_heads(x[span]) for x in (gradient, q))
            known = _heads(out[span]), sums[span].t()[None]
            dq, dk, dv = _flash_backward(*given, keys, values, *known, 0.0, causal, scale=scale)
            to_q[span] = dq[0].transpose(0, 1)
            for target, made in ((prompt_k, dk), (prompt_v, dv)):
                flat = _fold(made[0].transpose(0, 1), repeats)
                target.copy_(flat) if i == 0 else target.add_(flat)
        if self.queries.stop == self.queries.start:
            return
        asked = [self._padded(x[self.queries]) for x in (gradient, q)]
        own = [self._padded(_repeat(x[self.keys], repeats)) for x in (k, v)]
        known = self._padded(out[self.queries]), self._padded(sums[self.queries][..., None])[..., 0]
        dq, dk, dv = _flash_backward(*asked, *own, *known, 0.0, True, scale=scale)
        to_q[self.queries] += self._flat(dq.transpose(1, 2))
        to_k[self.keys] = _fold(self._flat(dk.transpose(1, 2)), repeats)
        to_v[self.keys] = _fold(self._flat(dv.transpose(1, 2)), repeats)

    def _padded(self, x: Tensor) -> Tensor:
        """(sum of inputs, heads, size) to (count, heads, longest, size), zeros behind the shorter ones.

        A padded place comes after every real one, so causality alone hides it.
        """
        longest, count = max(self.inputs), len(self.inputs)
        if min(self.inputs) == longest:
            return x.view(count, longest, *x.shape[1:]).transpose(1, 2)
        padded = x.new_zeros(count, longest, *x.shape[1:])
        for place, piece in zip(padded, x.split(self.inputs), strict=True):
            place[: len(piece)] = piece
        return padded.transpose(1, 2)

    def _flat(self, padded: Tensor) -> Tensor:
        """(count, longest, …) back to (sum of inputs, …)."""
        if min(self.inputs) == max(self.inputs):
            return padded.reshape(-1, *padded.shape[2:])
        return torch.cat([one[:length] for one, length in zip(padded, self.inputs, strict=True)])


def _parts(layout: list[GroupSlice], last: bool) -> list[_Part]:
    parts: list[_Part] = []
    queries = keys = 0
    for group in layout:
        parts.append(_Part(group, queries, keys, last))
        tail = sum(group.inputs)
        queries += tail + (1 if last else group.prompt)
        keys += tail + group.prompt
    return parts


def _repeat(x: Tensor, repeats: int) -> Tensor:
    """(places, kv heads, size) to (places, heads, size)."""
    return x if repeats == 1 else x.repeat_interleave(repeats, dim=1)


def _fold(x: Tensor, repeats: int) -> Tensor:
    """Gradient of `_repeat`."""
    return x if repeats == 1 else x.unflatten(1, (-1, repeats)).sum(2)


def _heads(x: Tensor, repeats: int = 1) -> Tensor:
    """(places, heads, size) to the kernel's (1, heads, places, size)."""
    return _repeat(x, repeats).transpose(0, 1)[None]


def _store(out: Tensor, sums: Tensor, span: slice, made: tuple[Tensor, Tensor]) -> None:
    out[span] = made[0][0].transpose(0, 1)
    sums[span] = made[1][0].t()
