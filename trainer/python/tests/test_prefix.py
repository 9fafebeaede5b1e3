"""Prefix sharing against the plain computation, on three families of models."""

import random
from collections.abc import Callable

import pytest
import torch
from bodies import session_request, update_batch
from conftest import ARCHITECTURES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grpo_worker.base_model import BaseModel
from grpo_worker.logprobs import token_logprobs
from grpo_worker.prefix import Piece, build_row, row_hidden
from grpo_worker.scoring import prepare, score
from grpo_worker.session import Session, open_session
from grpo_worker.update import gradient_of, pieces_of


def _with_adapter(base: BaseModel) -> Session:
    """A session whose adapter does something."""
    session = open_session(base, session_request())
    generator = torch.Generator().manual_seed(5)
    for name, parameter in session.peft.named_parameters():
        if "lora_B" in name:
            parameter.data.normal_(0, 0.1, generator=generator)
    return session


def _full_forward(base: BaseModel, piece: Piece) -> torch.Tensor:
    """Log-probs by the model's whole forward pass, one unpadded sequence at a time."""
    parts = []
    for completion in piece.completions:
        ids = torch.tensor([[*piece.prompt, *completion]])
        logits = base.model(input_ids=ids, use_cache=False).logits[0].float()
        rows = logits[len(piece.prompt) - 1 : -1].log_softmax(-1)
        parts.append(rows.gather(-1, torch.tensor(completion)[:, None]).squeeze(-1))
    return torch.cat(parts)


def _gradient(base: BaseModel, session: Session, **options: object) -> torch.Tensor:
    batch = update_batch(**options)
    gradient_of(base, session, batch, pieces_of(batch))
    return torch.cat([p.grad.flatten().double() for p in session.parameters])


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_logprobs_equal_the_full_forward(arch: str, tiny_base: Callable[[str], BaseModel]) -> None:
    base = tiny_base(arch)
    _with_adapter(base)
    pieces = pieces_of(update_batch())
    assert base.prefix_sharing
    with torch.no_grad():
        shared = score(base, prepare(base, pieces))
        expected = torch.cat([_full_forward(base, piece) for piece in pieces])
    assert torch.allclose(shared.logprobs, expected, atol=2e-5)
    assert expected.std() > 1


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_gradients_equal_the_plain_ones(arch: str, tiny_base: Callable[[str], BaseModel]) -> None:
    base = tiny_base(arch)
    session = _with_adapter(base)
    shared = _gradient(base, session)
    base.prefix_sharing = False
    plain = _gradient(base, session)
    assert float(plain.norm()) > 1e-3
    assert float((shared - plain).norm() / plain.norm()) < 1e-5


@pytest.mark.parametrize("budget", [1, 30, 64, 100])
def test_the_gradient_does_not_depend_on_micro_batches(budget: int, tiny_base: Callable[[str], BaseModel]) -> None:
    base = tiny_base("llama")
    session = _with_adapter(base)
    whole = _gradient(base, session)
    assert float((_gradient(base, session, budget=budget) - whole).norm() / whole.norm()) < 2e-6


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.integers(1, 12), st.lists(st.integers(1, 6), min_size=1, max_size=4)), max_size=3, min_size=1)
)
def test_any_shape_of_groups(shared_llama: BaseModel, shapes: list[tuple[int, list[int]]]) -> None:
    rng = random.Random(str(shapes))
    pieces = [
        Piece([rng.randrange(258) for _ in range(p)], tuple([rng.randrange(258) for _ in range(n)] for n in sizes), ())
        for p, sizes in shapes
    ]
    with torch.no_grad():
        got = score(shared_llama, prepare(shared_llama, pieces)).logprobs
        expected = torch.cat([_full_forward(shared_llama, piece) for piece in pieces])
    assert torch.allclose(got, expected, atol=2e-5)


@pytest.fixture(scope="module")
def shared_llama(tiny_model_dir: Callable) -> BaseModel:
    from grpo_worker.policy import load_base

    return load_base(str(tiny_model_dir("llama")))


def test_tokens_of_one_completion_do_not_reach_another(shared_llama: BaseModel) -> None:
    prompt = [5, 6, 7]
    with torch.no_grad():
        one = score(shared_llama, prepare(shared_llama, [Piece(prompt, ([9, 8, 7], [1, 1, 1]), ())])).logprobs
        two = score(shared_llama, prepare(shared_llama, [Piece(prompt, ([9, 8, 7], [40, 50, 60]), ())])).logprobs
    assert torch.equal(one[:3], two[:3])
    assert not torch.equal(one[4:], two[4:])


def test_chunked_logits_give_the_same_values_and_gradients(tiny_base: Callable[[str], BaseModel]) -> None:
    base = tiny_base("granite")
    session = _with_adapter(base)
    pieces = pieces_of(update_batch())
    batch = prepare(base, pieces)

    def run(chunk: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        hidden = row_hidden(base.model.base_model, build_row(pieces, base.device))
        out = token_logprobs(base, hidden, batch.targets, chunk)
        gradients = torch.autograd.grad(out.logprobs.sum(), session.parameters)
        return out.logprobs, out.entropy, torch.cat([g.flatten() for g in gradients])

    for whole, cut in zip(run(1 << 24), run(258 * 5), strict=True):
        assert torch.allclose(whole, cut, rtol=1e-4, atol=1e-5)


def test_entropy_is_that_of_the_distribution_sampled_from(shared_llama: BaseModel) -> None:
    piece = Piece([5, 6, 7], ([9, 8],), (0,))
    with torch.no_grad():
        out = score(shared_llama, prepare(shared_llama, [piece]))
        logits = shared_llama.model(input_ids=torch.tensor([[5, 6, 7, 9]])).logits[0, -2:]
    expected = torch.distributions.Categorical(logits=logits).entropy()
    assert torch.allclose(out.entropy, expected, atol=1e-5)
