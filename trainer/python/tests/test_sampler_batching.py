"""What is computed together, and that nobody can tell from the answers."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from pathlib import Path

import pytest
import torch
from sampler_kit import sample, write_adapter

from grpo_worker.policy import BaseModel, load_base
from grpo_worker.sampler import scheduler
from grpo_worker.sampler.engine import Engine
from grpo_worker.sampler.errors import ApiError
from grpo_worker.sampler.jobs import Completed
from grpo_worker.sampler.params import SamplingParams

# Prompts of many lengths, none a multiple of another.
PROMPTS = [[(31 * i + 7 * k) % 250 + 4 for i in range(9 + 17 * k)] for k in range(12)]


@pytest.fixture(scope="module")
def engine(tiny_model_dir: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    directory = tiny_model_dir("llama")
    engine = Engine(load_base(str(directory)))
    for k in (1, 2):
        engine.load(f"p{k}", str(write_adapter(directory, tmp_path_factory.mktemp("adapter") / "a", seed=k)))
    yield engine
    engine.close()


def params(seed: int, **changes: object) -> SamplingParams:
    return SamplingParams(**{"n": 4, "max_tokens": 40, "seed": seed, "logprobs": 0, **changes})


def rows_are_independent() -> bool:
    """Whether a matrix product gives a row the same bits in a block of 16 rows and in larger ones."""
    generator = torch.Generator().manual_seed(0)
    for into, out in ((64, 64), (64, 128), (64, 192), (96, 64), (64, 258)):
        x, weight = torch.randn(48, into, generator=generator), torch.randn(out, into, generator=generator)
        whole = torch.nn.functional.linear(x, weight)
        parts = [torch.nn.functional.linear(x[:rows], weight) for rows in (16, 32)]
        if not all(torch.equal(part, whole[: len(part)]) for part in parts):
            return False
    return True


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("n", [1, 6])
def test_alone_together_and_again_give_equal_answers(engine: Engine, threads: int, n: int) -> None:
    """Beside 11 other prompts and two other policies; to the last bit where this CPU's library allows it."""
    torch.set_num_threads(threads)
    names = ["base", "p1", "p2"]
    asked = [(names[k % 3], prompt, params(k, n=n)) for k, prompt in enumerate(PROMPTS)]
    with engine.base.lock:
        jobs = [engine.submit(name, [prompt], p)[0] for name, prompt, p in asked]
    together = [job.future.result(60) for job in jobs]
    alone = [sample(engine, [prompt], p, name)[0] for name, prompt, p in asked]
    exact = rows_are_independent()
    torch.set_num_threads(1)
    for ours, theirs in zip(together, alone, strict=True):
        assert [c.ids for c in ours.choices] == [c.ids for c in theirs.choices]
        for a, b in zip(ours.choices, theirs.choices, strict=True):
            assert a.logprobs == (b.logprobs if exact else pytest.approx(b.logprobs, abs=1e-5))


def test_completions_and_seeds_differ(engine: Engine) -> None:
    [first], [other] = sample(engine, PROMPTS[:1], params(1)), sample(engine, PROMPTS[:1], params(2))
    drawn = [tuple(choice.ids) for done in (first, other) for choice in done.choices]
    assert len(set(drawn)) == 8


def test_a_larger_group_begins_with_the_smaller_one(engine: Engine) -> None:
    [small], [large] = sample(engine, PROMPTS[3:4], params(9, n=2)), sample(engine, PROMPTS[3:4], params(9, n=7))
    assert [c.ids for c in small.choices] == [c.ids for c in large.choices[:2]]


def test_a_longer_limit_continues_the_same_completion(engine: Engine) -> None:
    short, long = (sample(engine, PROMPTS[4:5], params(9, max_tokens=k, ignore_eos=True))[0] for k in (10, 30))
    assert [c.ids for c in short.choices] == [c.ids[:10] for c in long.choices]


def test_a_groups_prompt_is_computed_once(engine: Engine) -> None:
    before = engine.counters.prefills, engine.counters.prompt_tokens
    sample(engine, PROMPTS[5:6], params(1, n=9))
    after = engine.counters.prefills, engine.counters.prompt_tokens
    assert after == (before[0] + 1, before[1] + len(PROMPTS[5]))


def test_requests_that_arrive_together_decode_together(engine: Engine) -> None:
    before = engine.counters.steps
    with engine.base.lock:
        jobs = [job for k in range(8) for job in engine.submit("base", [PROMPTS[k]], params(k, ignore_eos=True))]
    wait([job.future for job in jobs], 60)
    # The first token comes from the prompt; the other 39 need one step each for all 32 rows.
    assert engine.counters.steps - before == 39
    assert engine.counters.most_rows >= 32


@pytest.fixture
def end_id(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> int:
    """Makes a token that this prompt's completions contain now and then the end token."""
    [free] = sample(engine, PROMPTS[2:3], params(4, n=32, max_tokens=64, ignore_eos=True))
    having = Counter(token for choice in free.choices for token in set(choice.ids))
    token = min(having, key=lambda token: abs(having[token] - 16))
    monkeypatch.setattr(engine.base, "eos_token_ids", [token])
    return token


def test_completions_end_by_end_token_or_length(engine: Engine, end_id: int) -> None:
    [done] = sample(engine, PROMPTS[2:3], params(4, n=32, max_tokens=64))
    assert {choice.finish_reason for choice in done.choices} == {"stop", "length"}
    for choice in done.choices:
        assert len(choice.ids) == len(choice.logprobs)
        assert choice.stop_id is None
        if choice.finish_reason == "stop":
            assert choice.ids.index(end_id) == len(choice.ids) - 1
        else:
            assert end_id not in choice.ids
            assert len(choice.ids) == 64


def test_rows_that_go_on_are_not_changed_by_rows_that_ended(engine: Engine) -> None:
    """The same completions with and without their neighbours being stopped early."""
    free = sample(engine, PROMPTS[2:3], params(4, ignore_eos=True))[0]
    stop = free.choices[1].ids[5]
    stopped = sample(engine, PROMPTS[2:3], params(4, ignore_eos=True, stop_ids=(stop,)))[0]
    for whole, cut in zip(free.choices, stopped.choices, strict=True):
        end = whole.ids.index(stop) + 1 if stop in whole.ids else len(whole.ids)
        assert cut.ids == whole.ids[:end]
        assert cut.logprobs == pytest.approx(whole.logprobs[:end], abs=1e-4)
        assert (cut.finish_reason, cut.stop_id) == (("stop", stop) if stop in whole.ids else ("length", None))


@pytest.mark.usefixtures("end_id")
def test_min_tokens_holds_the_end_back(engine: Engine) -> None:
    [done] = sample(engine, PROMPTS[2:3], params(4, n=32, max_tokens=64, min_tokens=20))
    assert min(len(choice.ids) for choice in done.choices) >= 20
    assert any(choice.finish_reason == "stop" for choice in done.choices)


def test_unloading_lets_a_request_under_way_finish(
    engine: Engine, tiny_model_dir: Callable[[str], Path], tmp_path: Path
) -> None:
    engine.load("gone", str(write_adapter(tiny_model_dir("llama"), tmp_path / "a", seed=3)))
    expected = sample(engine, PROMPTS[:1], params(1), "gone")
    with engine.base.lock:
        jobs = engine.submit("gone", PROMPTS[:1], params(1))
        engine.unload("gone")
    assert [job.future.result(60) for job in jobs] == expected
    with pytest.raises(ApiError, match="The model `gone` does not exist"):
        engine.submit("gone", PROMPTS[:1], params(1))


def test_a_cancelled_request_leaves_the_batch(engine: Engine) -> None:
    with engine.base.lock:
        [doomed] = engine.submit("base", PROMPTS[:1], params(1, max_tokens=400, ignore_eos=True))
        [other] = engine.submit("base", PROMPTS[1:2], params(2))
    expected = other.future.result(60)
    doomed.cancel()
    before = engine.counters.tokens
    assert sample(engine, PROMPTS[1:2], params(2)) == [expected]
    assert engine.counters.tokens - before <= sum(len(c.ids) for c in expected.choices) + 4 * 40
    assert not doomed.future.done()


def test_requests_wait_while_the_learner_computes_and_it_gets_its_turn(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "HOLD_SECONDS", 0)
    base: BaseModel = engine.base
    order: list[str] = []
    with base.lock:
        [job] = engine.submit("base", PROMPTS[:1], params(1, max_tokens=400, ignore_eos=True))
        assert not job.future.done()
        order.append("learner")
    job.future.add_done_callback(lambda _: order.append("sampler"))

    def learner() -> None:
        with base.lock:
            order.append("learner again")

    thread = threading.Thread(target=learner)
    thread.start()
    thread.join(60)
    job.future.result(120)
    assert order == ["learner", "learner again", "sampler"]


def test_numbers_that_are_none_fail_their_request_only(
    engine: Engine, tiny_model_dir: Callable[[str], Path], tmp_path: Path
) -> None:
    from safetensors.torch import load_file, save_file

    adapter = write_adapter(tiny_model_dir("llama"), tmp_path / "a")
    weights = adapter / "adapter_model.safetensors"
    save_file({k: v * 1e30 for k, v in load_file(weights).items()}, weights)
    engine.load("huge", str(adapter))
    with engine.base.lock:
        [bad] = engine.submit("huge", PROMPTS[:1], params(1))
        [good] = engine.submit("base", PROMPTS[:1], params(1))
    with pytest.raises(ApiError, match="Out of range float values are not JSON compliant"):
        bad.future.result(60)
    assert isinstance(good.future.result(60), Completed)
    engine.unload("huge")


def test_a_broken_computation_fails_its_request_and_not_the_sampler(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(engine._backend, "step", lambda *_: 1 / 0)
        [job] = engine.submit("base", PROMPTS[:1], params(1))
        with pytest.raises(ApiError, match="EngineCore encountered an issue"):
            job.future.result(60)
    assert engine.alive
    assert sample(engine, PROMPTS[:1], params(1, n=1))


def test_closing_fails_what_is_under_way(tiny_base: Callable[[str], BaseModel]) -> None:
    engine = Engine(tiny_base("llama"))
    with engine.base.lock:
        [job] = engine.submit("base", PROMPTS[:1], params(1, max_tokens=400, ignore_eos=True))
        closer = threading.Thread(target=engine.close)
        closer.start()
    closer.join(60)
    assert not engine.alive
    with pytest.raises(ApiError):
        job.future.result(1)
    with pytest.raises(ApiError):
        engine.submit("base", PROMPTS[:1], params(1))[0].future.result(1)


def test_a_job_that_ends_with_its_first_token_disturbs_nobody(engine: Engine, caplog: pytest.LogCaptureFixture) -> None:
    """Submitted before the other, of one policy: a finished batch must not be stepped, or rows shift."""
    alone = sample(engine, [PROMPTS[3]], params(5), "p1")[0]
    with engine.base.lock:
        engine.submit("p1", [PROMPTS[1]], params(4, max_tokens=1))
        job = engine.submit("p1", [PROMPTS[3]], params(5))[0]
    beside = job.future.result(60)
    assert [c.ids for c in beside.choices] == [c.ids for c in alone.choices]
    assert "computation failed" not in caplog.text
