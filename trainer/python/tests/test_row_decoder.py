"""The learner's own forward pass against the model's: log-probs and gradients, on the CPU's attention and the other."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from bodies import session_request, update_batch
from conftest import ARCHITECTURES
from packing import needs_packing, pack_from
from portable import attend_as_on_a_gpu

from grpo_worker.base_model import BaseModel
from grpo_worker.policy import load_base
from grpo_worker.scoring import prepare, score
from grpo_worker.session import Session, adapter_off, open_session
from grpo_worker.update import pieces_of


def _with_adapter(base: BaseModel, **lora: object) -> Session:
    session = open_session(base, session_request(**lora))
    generator = torch.Generator().manual_seed(5)
    for name, parameter in session.peft.named_parameters():
        if "lora_B" in name:
            parameter.data.normal_(0, 0.1, generator=generator)
    return session


def _pass(base: BaseModel, session: Session) -> tuple[torch.Tensor, torch.Tensor]:
    """Log-probs, and the gradient of a sum in which every token weighs differently."""
    scored = score(base, prepare(base, pieces_of(update_batch())))
    weights = torch.linspace(-1, 1, len(scored.logprobs))
    gradients = torch.autograd.grad((scored.logprobs * weights).sum(), session.parameters)
    return scored.logprobs.detach(), torch.cat([g.flatten() for g in gradients])


def _assert_equals_the_model(base: BaseModel, session: Session) -> None:
    own, own_gradient = _pass(base, session)
    base.row_decoder = None
    models, gradient = _pass(base, session)
    assert torch.allclose(own, models, atol=2e-5)
    assert float((own_gradient - gradient).norm() / gradient.norm()) < 1e-5


@pytest.mark.parametrize("way", ["plain", pytest.param("packed", marks=needs_packing), "portable attention"])
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_it_computes_what_the_model_computes(
    arch: str, way: str, tiny_base: Callable[[str], BaseModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "packed":
        pack_from(monkeypatch, 0)
    base = tiny_base(arch)
    assert bool(base.packed) is (way == "packed")
    session = _with_adapter(base)
    if way == "portable attention":
        attend_as_on_a_gpu(monkeypatch)
    assert base.row_decoder is not None
    _assert_equals_the_model(base, session)


def test_an_adapter_on_some_modules_only(tiny_base: Callable[[str], BaseModel]) -> None:
    base = tiny_base("qwen2")
    session = _with_adapter(base, targetModules=["q_proj", "v_proj", "down_proj"])
    _assert_equals_the_model(base, session)


def test_the_adapter_counts_only_while_it_is_on(tiny_base: Callable[[str], BaseModel]) -> None:
    base = tiny_base("llama")
    batch = prepare(base, pieces_of(update_batch()))
    with torch.no_grad():
        before = score(base, batch).logprobs
        session = _with_adapter(base)
        on = score(base, batch).logprobs
        with adapter_off(session):
            off = score(base, batch).logprobs
    assert torch.equal(before, off)
    assert float((on - off).abs().max()) > 1e-2


@pytest.mark.parametrize("attention", ["cpu", "portable"])
def test_bfloat16_agrees_to_its_rounding(
    attention: str, tiny_model_dir: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    base = load_base(str(tiny_model_dir("granite")), dtype="bfloat16")
    session = _with_adapter(base)
    if attention == "portable":
        attend_as_on_a_gpu(monkeypatch)
    assert base.row_decoder is not None
    own, own_gradient = _pass(base, session)
    base.row_decoder = None
    models, gradient = _pass(base, session)
    assert own_gradient.dtype == torch.float32
    assert float((own - models).norm() / models.norm()) < 2e-2
    assert float((own_gradient - gradient).norm() / gradient.norm()) < 5e-2
