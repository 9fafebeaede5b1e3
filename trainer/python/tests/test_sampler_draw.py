"""From logits to tokens: the distribution, its log-probs, and reproducible chance."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_worker.sampler.draw import BELOW_ONE, Rows, draw, uniforms
from grpo_worker.sampler.params import SamplingParams

LOGITS = torch.tensor([2.0, 1.5, 0.0, -1.0, 1.0, -torch.inf, 0.5, -3.0])
COUNT = 20_000


def drawn_ids(params: SamplingParams, count: int = COUNT) -> list[int]:
    """Many independent draws from the same logits."""
    chances = uniforms(11, 0, count)
    [made] = draw(LOGITS.expand(count, -1), [Rows(params, chances, ())])
    return made.ids


def chi_square(ids: list[int], expected: torch.Tensor) -> float:
    counts = torch.bincount(torch.tensor(ids), minlength=len(expected)).double()
    assert float(counts[expected == 0].sum()) == 0
    want = expected[expected > 0].double() * len(ids)
    return float(((counts[expected > 0] - want) ** 2 / want).sum())


# 99.9 % quantiles of the chi-square distribution by degrees of freedom.
QUANTILE = {2: 13.8, 3: 16.3, 4: 18.5, 6: 22.5}


@pytest.mark.parametrize(
    "params",
    [
        SamplingParams(),
        SamplingParams(temperature=0.5),
        SamplingParams(temperature=2.0),
        SamplingParams(top_k=3),
        SamplingParams(top_p=0.8),
        SamplingParams(temperature=1.5, top_k=5, top_p=0.9),
    ],
    ids=str,
)
def test_frequencies_follow_the_processed_distribution(params: SamplingParams) -> None:
    expected = processed(LOGITS, params).exp()
    freedom = int((expected > 0).sum()) - 1
    assert chi_square(drawn_ids(params), expected) < QUANTILE[freedom]


def processed(logits: torch.Tensor, params: SamplingParams) -> torch.Tensor:
    """The distribution by its definition, token by token."""
    order = sorted(range(len(logits)), key=lambda i: -float(logits[i]))
    if params.top_k:
        order = order[: params.top_k]
    chances = torch.softmax(logits[order] / params.temperature, 0)
    kept, mass = [], 0.0
    for token, chance in zip(order, chances.tolist(), strict=True):
        if mass < params.top_p:
            kept.append(token)
        mass += chance
    result = torch.full_like(logits, -torch.inf)
    result[kept] = (logits[kept] / params.temperature).log_softmax(0)
    return result


@pytest.mark.parametrize(
    "params",
    [SamplingParams(temperature=0.7), SamplingParams(top_k=2), SamplingParams(top_p=0.6, temperature=1.3)],
    ids=str,
)
def test_logprobs_are_of_the_processed_distribution(params: SamplingParams) -> None:
    [made] = draw(LOGITS.expand(50, -1), [Rows(params, uniforms(3, 0, 50), ())])
    expected = processed(LOGITS, params)
    assert made.logprobs == pytest.approx([float(expected[i]) for i in made.ids], abs=1e-5)


def test_greedy_takes_the_likeliest_and_reports_temperature_one() -> None:
    [made] = draw(LOGITS[None], [Rows(SamplingParams(temperature=0), [0.99], ())])
    assert made.ids == [0]
    assert made.logprobs == pytest.approx([float(LOGITS.log_softmax(0)[0])])


def test_banned_tokens_never_come_and_take_no_mass() -> None:
    [made] = draw(LOGITS.expand(500, -1), [Rows(SamplingParams(), uniforms(1, 0, 500), (0, 1))])
    assert not {0, 1} & set(made.ids)
    rest = LOGITS.index_fill(0, torch.tensor([0, 1]), -torch.inf).log_softmax(0)
    assert made.logprobs == pytest.approx([float(rest[i]) for i in made.ids], abs=1e-5)


def test_groups_of_different_parameters_do_not_touch_each_other() -> None:
    chances = uniforms(5, 0, 4)
    kinds = [SamplingParams(temperature=0.5), SamplingParams(top_k=1), SamplingParams(logprobs=3)]
    alone = [draw(LOGITS.expand(4, -1), [Rows(p, chances, ())])[0] for p in kinds]
    assert draw(LOGITS.expand(12, -1), [Rows(p, chances, ()) for p in kinds]) == alone
    assert alone[1].ids == [0] * 4
    assert [len(pairs) for pairs in alone[2].tops or []] == [3] * 4


def test_rows_that_are_no_numbers_are_marked() -> None:
    logits = torch.stack([LOGITS, LOGITS.index_fill(0, torch.tensor([2]), torch.nan)])
    [made] = draw(logits, [Rows(SamplingParams(), [0.5, 0.5], ())])
    assert made.finite == [True, False]


@given(st.lists(st.floats(-30, 30), min_size=2, max_size=40), st.floats(0, BELOW_ONE))
@settings(max_examples=200, deadline=None)
def test_every_chance_gives_a_possible_token(values: list[float], chance: float) -> None:
    logits = torch.tensor([values])
    [made] = draw(logits, [Rows(SamplingParams(), [chance], ())])
    assert math.isfinite(made.logprobs[0])
    assert made.logprobs[0] == pytest.approx(float(logits.double().log_softmax(-1)[0, made.ids[0]]), abs=1e-4)


@given(st.integers(-(2**63), 2**64 - 1), st.integers(0, 1000))
@settings(max_examples=50, deadline=None)
def test_chance_depends_on_seed_index_and_place_only(seed: int, index: int) -> None:
    long = uniforms(seed, index, 40)
    assert long[:7] == uniforms(seed, index, 7)
    assert all(0 <= value < 1 for value in long)
    assert long != uniforms(seed + 1, index, 40)
    assert long != uniforms(seed, index + 1, 40)
