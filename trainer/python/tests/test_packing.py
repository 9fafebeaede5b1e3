"""Micro-batches: nothing lost, nothing doubled, the budget kept where it can be."""

from hypothesis import given
from hypothesis import strategies as st

from grpo_worker.packing import pack, split
from grpo_worker.prefix import Piece

GROUP = st.tuples(st.integers(1, 30), st.lists(st.integers(1, 20), min_size=1, max_size=6))


def _pieces(shapes: list[tuple[int, list[int]]]) -> list[Piece]:
    pieces, first = [], 0
    for prompt, lengths in shapes:
        completions = tuple([7] * n for n in lengths)
        pieces.append(Piece([3] * prompt, completions, tuple(range(first, first + len(lengths)))))
        first += len(lengths)
    return pieces


@given(st.lists(GROUP, min_size=1, max_size=8), st.integers(1, 120))
def test_every_completion_is_in_exactly_one_micro_batch(shapes: list, budget: int) -> None:
    pieces = _pieces(shapes)
    packed = [piece for batch in pack(pieces, budget) for piece in batch]
    lengths = {i: len(c) for piece in pieces for i, c in zip(piece.indexes, piece.completions, strict=True)}
    found = [(i, len(c)) for piece in packed for i, c in zip(piece.indexes, piece.completions, strict=True)]
    assert sorted(found) == sorted(lengths.items())


@given(st.lists(GROUP, min_size=1, max_size=8), st.integers(1, 120))
def test_only_a_single_completion_may_exceed_the_budget(shapes: list, budget: int) -> None:
    for batch in pack(_pieces(shapes), budget):
        if sum(piece.tokens for piece in batch) > budget:
            assert len(batch) == 1
            assert len(batch[0].completions) == 1


def test_a_group_within_the_budget_stays_whole() -> None:
    (piece,) = _pieces([(10, [5, 5])])
    assert split(piece, piece.tokens) == [piece]


def test_a_large_group_is_cut_and_repeats_its_prompt() -> None:
    (piece,) = _pieces([(10, [6, 6, 6])])
    parts = split(piece, 20)
    assert [part.indexes for part in parts] == [(0, 1), (2,)]
    assert all(part.prompt == piece.prompt for part in parts)


def test_first_fit_fills_gaps_left_by_earlier_groups() -> None:
    batches = pack(_pieces([(8, [1]), (7, [1]), (2, [1])]), 10)
    assert [[len(p.prompt) for p in batch] for batch in batches] == [[8, 2], [7]]
