"""Which groups share a micro-batch: first fit under a budget of row places."""

from collections.abc import Sequence

from grpo_worker.prefix import Piece


def pack(pieces: Sequence[Piece], budget: int) -> list[list[Piece]]:
    """Micro-batches of at most `budget` places each, in a fixed order.

    A group above the budget is cut into pieces that each repeat the prompt; only a single completion that
    is too long by itself exceeds the budget. Gradients are sums over completions, so the cut costs time
    but changes nothing.
    """
    bins: list[list[Piece]] = []
    used: list[int] = []
    for piece in (part for whole in pieces for part in split(whole, budget)):
        place = next((i for i, n in enumerate(used) if n + piece.tokens <= budget), None)
        if place is None:
            bins.append([piece])
            used.append(piece.tokens)
        else:
            bins[place].append(piece)
            used[place] += piece.tokens
    return bins


def split(piece: Piece, budget: int) -> list[Piece]:
    """The piece itself when it fits, otherwise consecutive parts of its completions that do."""
    if piece.tokens <= budget:
        return [piece]
    parts: list[Piece] = []
    start, used = 0, len(piece.prompt)
    for i, completion in enumerate(piece.completions):
        need = len(completion) - 1
        if i > start and used + need > budget:
            parts.append(_part(piece, start, i))
            start, used = i, len(piece.prompt)
        used += need
    parts.append(_part(piece, start, len(piece.completions)))
    return parts


def _part(piece: Piece, start: int, end: int) -> Piece:
    return Piece(piece.prompt, piece.completions[start:end], piece.indexes[start:end])
