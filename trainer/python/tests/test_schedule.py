"""The learning rate of each update."""

import json

import pytest
from bodies import session_body

from grpo_worker.protocol import SessionRequest
from grpo_worker.session import learning_rate


def rates(count: int, **optimizer: int) -> list[float]:
    body = session_body()
    body["optimizer"] |= {"learningRate": 1.0, **optimizer}
    settings = SessionRequest.model_validate_json(json.dumps(body)).optimizer
    return [learning_rate(settings, version) for version in range(count)]


def test_it_rises_linearly_and_stays() -> None:
    assert rates(6, warmupSteps=4, decaySteps=0) == [0.25, 0.5, 0.75, 1, 1, 1]


def test_it_falls_linearly_after_the_warm_up_and_never_to_nothing() -> None:
    assert rates(8, warmupSteps=2, decaySteps=4) == [0.5, 1, 1, 0.75, 0.5, 0.25, 0.25, 0.25]


def test_without_warm_up_it_starts_at_the_full_rate() -> None:
    assert rates(3, warmupSteps=0, decaySteps=2) == pytest.approx([1, 0.5, 0.5])
