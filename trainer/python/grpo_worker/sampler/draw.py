"""From logits to tokens: the processed distribution, reproducible chance, and log-probs.

The chance behind a token depends on (seed, index of the completion, place of the token) and on nothing else,
and it is used by inversion of the cumulative distribution: equal logits give equal tokens, whatever is
computed beside them.
"""

from dataclasses import dataclass

import numpy as np
import torch

from grpo_worker.sampler.params import SamplingParams

# Largest value below 1 whose product with a sum stays below that sum.
BELOW_ONE = 1 - 2**-52
_MASK = (1 << 64) - 1


def uniforms(seed: int, index: int, count: int) -> list[float]:
    """Numbers in [0, 1) for the tokens of one completion, by a counter-based generator keyed (seed, index)."""
    # A list would be turned into floats when one of its numbers needs the 64th bit.
    key = np.array([seed & _MASK, index], dtype=np.uint64)
    generator = np.random.Generator(np.random.Philox(key=key))
    return np.minimum(generator.random(count), BELOW_ONE).tolist()


@dataclass(frozen=True)
class Draw:
    """Drawn tokens of the rows of one group: ids, log-probs, and the likeliest (id, log-prob) pairs if asked for.

    `finite` is false for a row whose logits were no numbers; its other fields mean nothing.
    """

    ids: list[int]
    logprobs: list[float]
    tops: list[list[tuple[int, float]]] | None
    finite: list[bool]


@dataclass(frozen=True)
class Rows:
    """Rows of one group: parameters, one uniform number a row, and token ids that may not come yet."""

    params: SamplingParams
    uniforms: list[float]
    banned: tuple[int, ...]


def draw(logits: torch.Tensor, groups: list[Rows]) -> list[Draw]:
    """Draw one token for every row of `logits`, float32 (rows, vocabulary), rows lying group after group.

    Log-probs are those of the distribution that was drawn from: after bans, temperature, top_k and top_p.
    Greedy rows report temperature 1, as vLLM does.
    """
    counts = [len(rows.uniforms) for rows in groups]
    if any(_shapes(rows) for rows in groups):
        pieces = [_shape(piece, rows) for piece, rows in zip(logits.split(counts), groups, strict=True)]
        logits = torch.cat(pieces)
    logprobs = logits.log_softmax(-1)
    ids = _invert(logits, [u for rows in groups for u in rows.uniforms])
    for rows, piece, place in zip(groups, logits.split(counts), ids.split(counts), strict=True):
        if rows.params.greedy:
            place.copy_(piece.argmax(-1))
    chosen = logprobs.gather(1, ids[:, None])[:, 0]
    finite = chosen.isfinite().tolist()
    flat_ids, flat_logprobs = ids.tolist(), chosen.tolist()
    made, start = [], 0
    for rows, count in zip(groups, counts, strict=True):
        span = slice(start, start + count)
        tops = top_pairs(logprobs[span], rows.params.logprobs) if rows.params.logprobs else None
        made.append(Draw(flat_ids[span], flat_logprobs[span], tops, finite[span]))
        start += count
    return made


def top_pairs(logprobs: torch.Tensor, count: int) -> list[list[tuple[int, float]]]:
    """The `count` likeliest (id, log-prob) pairs of each row, likeliest first."""
    values, ids = logprobs.topk(min(count, logprobs.shape[-1]), dim=-1)
    return [list(zip(i, v, strict=True)) for i, v in zip(ids.tolist(), values.tolist(), strict=True)]


def _shapes(rows: Rows) -> bool:
    p = rows.params
    return bool(rows.banned) or (not p.greedy and (p.temperature != 1 or p.top_k > 0 or p.top_p < 1))


def _shape(logits: torch.Tensor, rows: Rows) -> torch.Tensor:
    """Bans, temperature, top_k, top_p, in this order."""
    p = rows.params
    if rows.banned:
        logits = logits.index_fill(1, torch.tensor(rows.banned, device=logits.device), -torch.inf)
    if p.greedy:
        return logits
    logits = logits / p.temperature
    if 0 < p.top_k < logits.shape[-1]:
        least = logits.topk(p.top_k, dim=-1).values[:, -1:]
        logits = logits.masked_fill(logits < least, -torch.inf)
    if p.top_p < 1:
        ordered, places = logits.sort(dim=-1)
        drop = ordered.softmax(-1).cumsum(-1, dtype=torch.float64) <= 1 - p.top_p
        drop[:, -1] = False
        logits = logits.masked_fill(torch.zeros_like(drop).scatter(1, places, drop), -torch.inf)
    return logits


def _invert(logits: torch.Tensor, chances: list[float]) -> torch.Tensor:
    """First token whose cumulative probability exceeds the row's number; never one of probability 0."""
    cumulative = logits.softmax(-1).cumsum(-1, dtype=torch.float64)
    targets = torch.tensor(chances, dtype=torch.float64, device=logits.device)[:, None] * cumulative[:, -1:]
    found = torch.searchsorted(cumulative, targets, right=True)[:, 0]
    return found.clamp_(max=logits.shape[-1] - 1)
