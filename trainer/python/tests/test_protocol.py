"""Bodies are strict, and what is wrong is named."""

import json
from collections.abc import Callable

import pytest
from bodies import batch_body, session_body

from grpo_worker.errors import WorkerError
from grpo_worker.protocol import SessionRequest, UpdateBatch


def refused(kind: type, body: object) -> str:
    with pytest.raises(WorkerError) as caught:
        kind.parse(body if isinstance(body, bytes) else json.dumps(body).encode())
    assert caught.value.kind == "InvalidRequest"
    return str(caught.value)


def changed(change: Callable[[dict], object]) -> dict:
    body = batch_body()
    change(body)
    return body


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda b: b.update(surprise=1), "surprise"),
        (lambda b: b.update(from_version=b.pop("fromVersion")), "fromVersion"),
        (lambda b: b.pop("step"), "step"),
        (lambda b: b.update(step="0"), "step"),
        (lambda b: b.update(step=0.5), "step"),
        (lambda b: b.update(step=True), "step"),
        (lambda b: b.update(groups=[]), "groups"),
        (lambda b: b["loss"].update(kl="k1"), "loss.kl"),
        (lambda b: b["loss"].update(clipLow=0), "loss.clipLow"),
        (lambda b: b["loss"].update(importanceBounds=[2, 1]), "loss"),
        (lambda b: b["groups"][1].update(promptTokenIds=[]), "groups.1.promptTokenIds"),
        (lambda b: b["groups"][1]["promptTokenIds"].__setitem__(2, -1), "groups.1.promptTokenIds.2"),
        (lambda b: b["groups"][0]["completions"][3].update(advantage=None), "groups.0.completions.3.advantage"),
        (lambda b: b["groups"][0]["completions"][3]["samplerLogprobs"].pop(), "groups.0.completions.3"),
    ],
)
def test_the_first_wrong_field_is_named(change: Callable[[dict], object], place: str) -> None:
    assert refused(UpdateBatch, changed(change)).startswith(f"{place}: ")


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_must_be_finite(literal: str) -> None:
    body = json.dumps(changed(lambda b: b["groups"][0]["completions"][0].update(advantage="HERE")))
    assert "advantage" in refused(UpdateBatch, body.replace('"HERE"', literal).encode())


def test_what_is_no_json_is_refused() -> None:
    assert refused(UpdateBatch, b"{").startswith("body: Invalid JSON")


def test_dropout_is_not_offered() -> None:
    assert refused(SessionRequest, session_body(dropout=0.1)).startswith("lora.dropout: ")


def test_whole_numbers_are_good_floats() -> None:
    assert SessionRequest.parse(json.dumps(session_body(alpha=16)).encode()).lora.alpha == 16.0


def test_the_answer_uses_the_names_of_the_wire() -> None:
    assert UpdateBatch.parse(json.dumps(batch_body()).encode()).wire().keys() == batch_body().keys()
