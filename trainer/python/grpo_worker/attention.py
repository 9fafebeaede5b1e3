"""Attention over one flat row that holds several groups, each a prompt and the completions that share it.

Registered with transformers under the name GROUPED. A forward pass that is given `layout=` uses it;
without a layout the very same model behaves as with plain `sdpa`, masks included.

Every projection of the model sees one row without padding, so the prompt is computed once a group. Only
attention is cut up: a prompt attends to itself causally, and the completions of a group, padded to the
longest of them, attend to the prompt and to their own past. No mask of row length squared is ever made.
"""

from dataclasses import dataclass

import torch
from torch.nn.functional import pad
from torch.nn.functional import scaled_dot_product_attention as sdpa
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import repeat_kv, sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

GROUPED = "grpo_grouped"

# Extra terms that some families hand to their attention and that a shared row does not compute.
UNSUPPORTED = ("softcap", "s_aux", "position_bias")


@dataclass(frozen=True)
class GroupSlice:
    """Extent of one group in the flat row, right behind the group before it. Lengths in tokens.

    `inputs` are the lengths of the completion inputs (a completion's last token predicts nothing and is
    left out; a completion of one token has none). `mask` (longest, prompt + longest) is true where a
    completion token may look; None when no completion has an input token.
    """

    prompt: int
    inputs: tuple[int, ...]
    mask: torch.Tensor | None


def grouped_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    *,
    layout: list[GroupSlice] | None = None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **kwargs: object,
) -> tuple[torch.Tensor, None]:
    """transformers' attention signature: query (1, heads, row, size) to output (1, row, heads, size)."""
    if layout is None:
        return sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout=dropout, scaling=scaling, **kwargs
        )
    extras = [name for name in UNSUPPORTED if kwargs.get(name) is not None]
    if extras:
        raise ValueError(f"attention with {', '.join(extras)} cannot share a prefix")
    return attend_grouped(query, key, value, layout, scaling), None


def attend_grouped(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    layout: list[GroupSlice],
    scaling: float | None,
    *,
    last: bool = False,
) -> torch.Tensor:
    """(1, heads, row, size) to (1, row, heads, size); with `last` a prompt has one query, that of its last place."""
    repeats = query.shape[1] // key.shape[1]
    key, value = repeat_kv(key, repeats), repeat_kv(value, repeats)
    # One split of the row, because the backward pass of each slice would make a tensor as large as the row.
    lengths = [n for group in layout for n in (group.prompt, sum(group.inputs))]
    asking = [n for group in layout for n in (1 if last else group.prompt, sum(group.inputs))]
    cuts = (query.split(asking, dim=2), key.split(lengths, dim=2), value.split(lengths, dim=2))
    blocks = list(zip(*cuts, strict=True))
    parts: list[torch.Tensor] = []
    for group, prompt, tail in zip(layout, blocks[0::2], blocks[1::2], strict=True):
        q, k, v = prompt
        parts.append(sdpa(q, k, v, is_causal=not last, scale=scaling))
        if group.mask is not None:
            parts.append(_completions(group, k, v, tail, scaling))
    return torch.cat(parts, dim=2).transpose(1, 2).contiguous()


def _completions(
    group: GroupSlice, k: torch.Tensor, v: torch.Tensor, tail: tuple[torch.Tensor, ...], scaling: float | None
) -> torch.Tensor:
    """Outputs of all completion inputs of a group, in row order: (1, heads, sum of inputs, size)."""
    count = len(group.inputs)
    own_q, own_k, own_v = (_pad(x[0], group.inputs) for x in tail)
    k = torch.cat([k.expand(count, -1, -1, -1), own_k], dim=2)
    v = torch.cat([v.expand(count, -1, -1, -1), own_v], dim=2)
    out = sdpa(own_q, k, v, attn_mask=group.mask, scale=scaling)
    kept = [one[:, :length] for one, length in zip(out.unbind(), group.inputs, strict=True)]
    return torch.cat(kept, dim=1)[None]


def _pad(tail: torch.Tensor, lengths: tuple[int, ...]) -> torch.Tensor:
    """(heads, sum of lengths, size) to (count, heads, longest, size), zeros behind the shorter ones.

    A padded place comes after every real one, so causality alone hides it.
    """
    longest = max(lengths)
    pieces = tail.split(lengths, dim=1)
    return torch.stack([pad(piece, (0, 0, 0, longest - piece.shape[1])) for piece in pieces])


AttentionInterface.register(GROUPED, grouped_attention)
AttentionMaskInterface.register(GROUPED, sdpa_mask)
