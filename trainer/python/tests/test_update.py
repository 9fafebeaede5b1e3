"""One optimizer step: what it reports, and that it happens exactly once or not at all."""

from collections.abc import Callable

import pytest
import torch
from bodies import batch_body, parsed, session_request, update_batch
from conftest import ARCHITECTURES

from grpo_worker.errors import WorkerError
from grpo_worker.protocol import LogprobsItem, LogprobsRequest, UpdateBatch
from grpo_worker.worker import Worker

Make = Callable[[str], Worker]


def opened(make: Make, arch: str = "llama", **lora: object) -> Worker:
    worker = make(arch)
    worker.open(session_request(**lora))
    return worker


def weights(worker: Worker) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in worker.session.parameters]).clone()


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_the_first_update_has_no_divergence_and_clips_nothing(arch: str, tiny_worker: Make) -> None:
    result = opened(tiny_worker, arch).update(update_batch())
    assert result.kl == 0
    assert result.clip_ratio.wire() == {"low": 0, "high": 0, "region": 0}
    assert result.version == 1
    assert result.grad_norm > 0


@pytest.mark.parametrize("sharing", [True, False])
def test_later_updates_diverge_but_still_clip_nothing(sharing: bool, tiny_worker: Make) -> None:
    worker = opened(tiny_worker)
    worker.base.prefix_sharing = sharing
    worker.update(update_batch())
    result = worker.update(update_batch(step=1, version=1, seed=1))
    assert result.kl > 0
    assert result.clip_ratio.region == 0
    assert result.version == 2


def test_the_loss_at_ratio_one_is_minus_the_mean_advantage(tiny_worker: Make) -> None:
    batch = update_batch()
    advantages = [c.advantage for g in batch.groups for c in g.completions]
    result = opened(tiny_worker).update(batch)
    assert result.loss == pytest.approx(-sum(advantages) / len(advantages), abs=1e-6)


@pytest.mark.parametrize("normalization", ["sequence_mean", "token_mean", "fixed_length"])
def test_the_adapter_does_not_depend_on_micro_batches(normalization: str, tiny_worker: Make) -> None:
    adapters = []
    for budget in (4096, 40):
        worker = opened(tiny_worker)
        worker.update(update_batch(budget=budget, normalization=normalization))
        worker.update(update_batch(step=1, version=1, budget=budget, normalization=normalization))
        adapters.append(weights(worker))
    # Adam divides by the gradient's size, so rounding of a tiny gradient shows in full: compare with the step.
    moved = adapters[0] - weights(opened(tiny_worker))
    assert float((adapters[0] - adapters[1]).norm() / moved.norm()) < 1e-4


def test_positive_advantage_makes_a_completion_more_likely(tiny_worker: Make) -> None:
    body = batch_body(beta=0)
    for group in body["groups"]:
        for completion in group["completions"]:
            completion["advantage"] = 1.0
    worker = opened(tiny_worker)
    batch = parsed(body)
    before = _total(worker, batch)
    worker.update(batch)
    assert _total(worker, batch) > before


def _total(worker: Worker, batch: UpdateBatch) -> float:
    items = [
        LogprobsItem(prompt_token_ids=g.prompt_token_ids, token_ids=c.token_ids)
        for g in batch.groups
        for c in g.completions
    ]
    answer = worker.logprobs(LogprobsRequest(version="current", items=items))
    return sum(sum(item["logprobs"]) for item in answer["items"])


def test_mismatch_is_zero_when_the_sampler_agrees(tiny_worker: Make) -> None:
    worker = opened(tiny_worker)
    body = batch_body()
    _agree(worker, body)
    result = worker.update(parsed(body))
    assert result.mismatch.max_abs < 1e-5
    assert result.mismatch.outside_share == 0
    assert result.mismatch.k3 == pytest.approx(0, abs=1e-9)


def test_mismatch_counts_tokens_outside_the_bounds(tiny_worker: Make) -> None:
    worker = opened(tiny_worker)
    body = batch_body()
    _agree(worker, body)
    lists = [c["samplerLogprobs"] for g in body["groups"] for c in g["completions"]]
    lists[0][0] -= 0.5
    result = worker.update(parsed(body))
    tokens = sum(len(one) for one in lists)
    assert result.tokens.completion == tokens
    assert result.mismatch.max_abs == pytest.approx(0.5, abs=1e-5)
    assert result.mismatch.mean_abs == pytest.approx(0.5 / tokens, abs=1e-5)
    assert result.mismatch.outside_share == pytest.approx(1 / tokens)


def _agree(worker: Worker, body: dict) -> None:
    """Give the batch the worker's own log-probs as the sampler's."""
    completions = [(g["promptTokenIds"], c) for g in body["groups"] for c in g["completions"]]
    items = [LogprobsItem(prompt_token_ids=p, token_ids=c["tokenIds"]) for p, c in completions]
    answer = worker.logprobs(LogprobsRequest(version="base", items=items))
    for (_, completion), item in zip(completions, answer["items"], strict=True):
        completion["samplerLogprobs"] = item["logprobs"]


def test_importance_weights_change_the_step(tiny_worker: Make) -> None:
    moved = []
    for bounds in (None, [0.5, 2.0]):
        worker = opened(tiny_worker)
        worker.update(update_batch(importanceBounds=bounds))
        moved.append(weights(worker))
    assert not torch.equal(moved[0], moved[1])


def test_without_beta_the_reference_is_not_needed(tiny_worker: Make) -> None:
    worker = opened(tiny_worker)
    worker.update(update_batch(beta=0))
    assert worker.update(update_batch(step=1, version=1, beta=0)).kl == 0


def test_warm_up_follows_the_version(tiny_worker: Make) -> None:
    worker = opened(tiny_worker)
    rates = [worker.update(update_batch(step=5 * k, version=k)).learning_rate for k in range(3)]
    assert rates == [0.005, 0.01, 0.01]


def test_a_repeated_update_is_done_once(tiny_worker: Make) -> None:
    worker = opened(tiny_worker)
    first = worker.update(update_batch())
    after = weights(worker)
    assert worker.update(update_batch()) == first
    assert torch.equal(weights(worker), after)
    assert worker.session.version == 1


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"seed": 9}, "Conflict"),
        ({"step": 1, "version": 0}, "StaleVersion"),
        ({"step": 1, "version": 2}, "StaleVersion"),
    ],
)
def test_another_payload_or_version_is_refused(options: dict, kind: str, tiny_worker: Make) -> None:
    worker = opened(tiny_worker)
    worker.update(update_batch())
    after = weights(worker)
    with pytest.raises(WorkerError) as caught:
        worker.update(update_batch(**options))
    assert caught.value.kind == kind
    assert torch.equal(weights(worker), after)


def test_another_run_is_refused(tiny_worker: Make) -> None:
    worker = opened(tiny_worker)
    with pytest.raises(WorkerError, match="runId") as caught:
        worker.update(update_batch().model_copy(update={"run_id": "run-b"}))
    assert caught.value.kind == "StaleVersion"


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [("advantage", 1e308, "gradNorm, loss"), ("samplerLogprobs", -1e308, "maxAbs")],
)
def test_what_is_not_finite_changes_nothing(field: str, value: float, named: str, tiny_worker: Make) -> None:
    worker, twin = opened(tiny_worker), opened(tiny_worker)
    for each in (worker, twin):
        each.update(update_batch())
    broken = batch_body(step=1, version=1)
    completion = broken["groups"][0]["completions"][0]
    completion[field] = value if field == "advantage" else [value] * len(completion["tokenIds"])
    with pytest.raises(WorkerError, match=f"no finite {named}") as caught:
        worker.update(parsed(broken))
    assert caught.value.kind == "NonFiniteUpdate"
    good = update_batch(step=1, version=1, seed=2)
    results = [each.update(good) for each in (worker, twin)]
    assert results[0].grad_norm == results[1].grad_norm
    assert torch.equal(weights(worker), weights(twin))


def test_token_ids_and_lengths_are_checked_against_the_model(tiny_worker: Make) -> None:
    worker = opened(tiny_worker)
    for change, message in (([300], r"groups\.1\.completions\.0: token id 300"), ([5] * 600, "do not fit")):
        body = batch_body()
        body["groups"][1]["completions"][0] = {
            "tokenIds": change,
            "advantage": 1,
            "samplerLogprobs": [-1] * len(change),
        }
        with pytest.raises(WorkerError, match=message):
            worker.update(parsed(body))


def test_a_session_that_is_opened_again_begins_again(tiny_worker: Make) -> None:
    worker = opened(tiny_worker)
    worker.update(update_batch())
    assert worker.open(session_request()).version == 0
    with pytest.raises(WorkerError) as caught:
        worker.open(session_request(rank=8))
    assert caught.value.kind == "Conflict"


def test_the_same_seed_gives_the_same_adapter(tiny_worker: Make) -> None:
    torch.manual_seed(1)
    one = weights(opened(tiny_worker))
    torch.manual_seed(2)
    assert torch.equal(one, weights(opened(tiny_worker)))


def test_module_names_the_model_lacks_are_refused(tiny_worker: Make) -> None:
    with pytest.raises(WorkerError, match=r"no c_attn; it has .*q_proj"):
        opened(tiny_worker, targetModules=["q_proj", "c_attn"])


def test_all_linear_covers_attention_and_mlp_but_not_the_head(tiny_worker: Make) -> None:
    names = {n for n, p in opened(tiny_worker, "qwen2").session.peft.named_parameters() if p.requires_grad}
    for module in ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"):
        assert sum(module in name for name in names) == 4
    assert not any("lm_head" in name for name in names)


def test_without_a_session_there_is_no_update(tiny_worker: Make) -> None:
    with pytest.raises(WorkerError) as caught:
        tiny_worker("llama").update(update_batch())
    assert caught.value.kind == "NoSession"


def _cramped(monkeypatch: pytest.MonkeyPatch, places: int) -> list[int]:
    """Let scoring fail above a number of row places, as if memory ended there; returns the sizes tried."""
    import grpo_worker.update as module

    real, tried = module.score, []

    def limited(base: object, micro: object) -> object:
        tried.append(micro.inputs.input_ids.numel())
        if tried[-1] > places:
            raise MemoryError
        return real(base, micro)

    monkeypatch.setattr(module, "score", limited)
    return tried


def test_a_step_that_does_not_fit_is_done_in_smaller_micro_batches(
    tiny_worker: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    roomy = opened(tiny_worker).update(update_batch())
    cramped = opened(tiny_worker)
    tried = _cramped(monkeypatch, 40)
    result = cramped.update(update_batch(budget=100))
    assert result.grad_norm == pytest.approx(roomy.grad_norm, rel=1e-5)
    assert result.tokens == roomy.tokens
    assert "going on with micro-batches of 50 tokens" in caplog.text
    assert cramped.session.fitting_budget <= 50
    tried.clear()
    cramped.update(update_batch(step=1, version=1, budget=100))
    assert max(tried) <= 40


def test_a_single_completion_that_does_not_fit_changes_nothing(
    tiny_worker: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = opened(tiny_worker)
    before = weights(worker)
    _cramped(monkeypatch, 20)
    with pytest.raises(WorkerError, match="nothing was changed") as caught:
        worker.update(update_batch())
    assert caught.value.kind == "OutOfMemory"
    assert worker.session.version == 0
    assert torch.equal(weights(worker), before)
    assert all(p.grad is None for p in worker.session.parameters)
