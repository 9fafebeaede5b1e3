"""The loss against numbers that were worked out by hand or by exact enumeration."""

import json
from pathlib import Path

import pytest
import torch
from bodies import loss_config
from hypothesis import given
from hypothesis import strategies as st

from grpo_worker.loss import importance_weights, kl_estimate, token_loss, token_weights

CASES = json.loads((Path(__file__).parents[3] / "test/cases/grpo.json").read_text())


def test_kl_estimators_have_the_known_values() -> None:
    for case in CASES["kl"]:
        d = torch.tensor([case["ref_minus_policy_logp"]], dtype=torch.float64)
        for kind in ("k2", "k3"):
            assert float(kl_estimate(d, torch.ones(1), kind)) == pytest.approx(case[kind], abs=1e-12)


def test_k3_stays_finite_for_a_token_the_reference_excludes() -> None:
    d = torch.tensor([200.0, -200.0])
    assert torch.isfinite(kl_estimate(d, torch.ones(2), "k3")).all()


@pytest.mark.parametrize("case", CASES["clip"], ids=lambda c: f"A={c['advantage']} ratio={c['ratio']}")
def test_clipping_limits_the_gain_but_never_the_correction(case: dict) -> None:
    logprob = torch.tensor([0.0], dtype=torch.float64, requires_grad=True)
    old = -torch.tensor([case["ratio"]], dtype=torch.float64).log()
    advantage = torch.tensor([case["advantage"]], dtype=torch.float64)
    config = loss_config(clipLow=case["epsilon"], clipHigh=case["epsilon"], beta=0)
    out = token_loss(logprob, old, None, advantage, config)
    out.loss.sum().backward()
    assert float(out.loss.detach()) == pytest.approx(case["loss"], abs=1e-12)
    assert (float(logprob.grad) != 0) == case["gradient_flows"]
    assert bool(out.clipped_low | out.clipped_high) == (not case["gradient_flows"])


@pytest.mark.parametrize("name", ["sequence_mean", "token_mean", "fixed_length"])
def test_normalisation_over_the_whole_step(name: str) -> None:
    case = CASES["aggregation"]
    weights = token_weights(case["lengths"], loss_config(normalization=name, fixedLength=4))
    total = sum(w * sum(tokens) for w, tokens in zip(weights, case["per_token_loss"], strict=True))
    assert total == pytest.approx(case["fixed_length_4" if name == "fixed_length" else name])


def _enumerated(kind: str) -> torch.Tensor:
    """Gradient with respect to the logits of the expected KL term, all three outcomes drawn with their odds."""
    case = CASES["enumeration"]
    policy = torch.tensor(case["policy"], dtype=torch.float64)
    logits = policy.log().requires_grad_(True)
    logprobs = logits.log_softmax(-1)
    reference = torch.tensor(case["reference"], dtype=torch.float64).log()
    config = loss_config(kl=kind, beta=1)
    out = token_loss(logprobs, logprobs.detach(), reference, torch.zeros(3, dtype=torch.float64), config)
    (policy * out.loss).sum().backward()
    return logits.grad


@pytest.mark.parametrize(("kind", "name"), [("k2", "k2"), ("k3", "k3"), ("ratio_k3", "ratio_times_k3")])
def test_expected_gradient_of_each_kl_estimator(kind: str, name: str) -> None:
    expected = torch.tensor(CASES["enumeration"]["gradient_wrt_logits"][name], dtype=torch.float64)
    assert torch.allclose(_enumerated(kind), expected, atol=1e-9)


def test_expected_k3_is_the_divergence() -> None:
    case = CASES["enumeration"]
    policy, reference = (torch.tensor(case[k], dtype=torch.float64) for k in ("policy", "reference"))
    k3 = kl_estimate((reference / policy).log(), torch.ones(3), "k3")
    assert float((policy * k3).sum()) == pytest.approx(case["kl_policy_reference"], abs=1e-12)


def test_importance_weights_are_truncated() -> None:
    case = CASES["importance_weights"]
    old = torch.tensor(case["weights"], dtype=torch.float64).log()
    cut = importance_weights(old, torch.zeros(3, dtype=torch.float64), tuple(case["bounds"]))
    assert cut.tolist() == pytest.approx(case["truncate"])


def test_importance_weights_touch_the_policy_term_only_and_carry_no_gradient() -> None:
    logprobs = torch.tensor([-1.0, -2.0], requires_grad=True)
    old, reference, advantage = logprobs.detach(), torch.tensor([-1.5, -1.0]), torch.tensor([1.0, -1.0])
    weights = torch.tensor([0.5, 2.0])

    def gradient(beta: float, importance: torch.Tensor | None) -> torch.Tensor:
        loss = token_loss(logprobs, old, reference, advantage, loss_config(beta=beta), importance).loss
        return torch.autograd.grad(loss.sum(), logprobs)[0]

    policy_part, kl_part = gradient(0, None), gradient(1, None) - gradient(0, None)
    assert torch.allclose(gradient(1, weights), weights * policy_part + kl_part)


@given(st.lists(st.integers(1, 50), min_size=1, max_size=12), st.sampled_from(["sequence_mean", "token_mean"]))
def test_weights_of_all_tokens_sum_to_one(lengths: list[int], name: str) -> None:
    weights = token_weights(lengths, loss_config(normalization=name))
    assert sum(w * n for w, n in zip(weights, lengths, strict=True)) == pytest.approx(1)


def test_ratio_is_one_when_nothing_was_updated_since_sampling() -> None:
    logprobs = torch.tensor([-0.3, -7.1], requires_grad=True)
    out = token_loss(logprobs, logprobs.detach(), None, torch.tensor([1.5, -1.5]), loss_config(beta=0))
    assert out.loss.tolist() == [-1.5, 1.5]
    assert not (out.clipped_low | out.clipped_high).any()
