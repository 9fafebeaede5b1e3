"""Saved sessions go on bit for bit; what is damaged or foreign is refused and replaces nothing."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from bodies import session_request, update_batch
from peft import PeftModel
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

from grpo_worker import update
from grpo_worker.adapters import WEIGHTS
from grpo_worker.base_model import base_weights
from grpo_worker.errors import WorkerError
from grpo_worker.files import sha256_file
from grpo_worker.protocol import LogprobsItem, LogprobsRequest, PathRequest
from grpo_worker.scoring import MicroBatch
from grpo_worker.worker import Worker

Make = Callable[[str], Worker]
SCORED = [LogprobsItem(prompt_token_ids=[4, 5, 6], token_ids=[9, 8, 7, 1])]


def trained(make: Make, arch: str = "llama", steps: int = 2) -> Worker:
    worker = make(arch)
    worker.open(session_request())
    for k in range(steps):
        worker.update(update_batch(step=k, version=k, seed=k))
    return worker


def scores(worker: Worker, version: str) -> list[float]:
    return worker.logprobs(LogprobsRequest(version=version, items=SCORED))["items"][0]["logprobs"]


def at(path: Path) -> PathRequest:
    return PathRequest(path=str(path))


def test_a_restored_session_goes_on_bit_for_bit(tiny_worker: Make, tmp_path: Path) -> None:
    straight = trained(tiny_worker)
    straight.save(at(tmp_path / "state"))
    straight.update(update_batch(step=2, version=2, seed=2))
    resumed = tiny_worker("llama")
    assert resumed.load(at(tmp_path / "state")) == {"runId": "run-a", "version": 2}
    resumed.update(update_batch(step=2, version=2, seed=2))
    answers = [w.save_adapter(at(tmp_path / name)) for name, w in (("a", straight), ("b", resumed))]
    assert answers[0]["sha256"] == answers[1]["sha256"]
    assert sha256_file(tmp_path / "a/adapter_config.json") == sha256_file(tmp_path / "b/adapter_config.json")


def test_a_budget_that_memory_forced_is_kept(
    tiny_worker: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, tried = update.score, []

    def limited(base: object, micro: MicroBatch) -> object:
        tried.append(micro.inputs.input_ids.numel())
        if limit is not None and tried[-1] > limit:
            raise MemoryError
        return real(base, micro)

    monkeypatch.setattr(update, "score", limited)
    limit = 40
    straight = tiny_worker("llama")
    straight.open(session_request())
    straight.update(update_batch(budget=100))
    straight.save(at(tmp_path / "state"))
    straight.update(update_batch(step=1, version=1, budget=100))
    limit = None
    resumed = tiny_worker("llama")
    resumed.load(at(tmp_path / "state"))
    tried.clear()
    resumed.update(update_batch(step=1, version=1, budget=100))
    assert max(tried) <= 40
    answers = [w.save_adapter(at(tmp_path / name)) for name, w in (("a", straight), ("b", resumed))]
    assert answers[0]["sha256"] == answers[1]["sha256"]


def test_a_state_from_before_budgets_were_kept_is_read(tiny_worker: Make, tmp_path: Path) -> None:
    trained(tiny_worker).save(at(tmp_path / "state"))
    file = tmp_path / "state" / "session.json"
    saved = json.loads(file.read_text())
    del saved["fittingBudget"]
    file.write_text(json.dumps(saved))
    resumed = tiny_worker("llama")
    resumed.load(at(tmp_path / "state"))
    assert resumed.session.fitting_budget is None


def test_stored_results_survive_a_restart(tiny_worker: Make, tmp_path: Path) -> None:
    worker = trained(tiny_worker)
    last = worker.session.results[1]
    worker.save(at(tmp_path / "state"))
    resumed = tiny_worker("llama")
    resumed.load(at(tmp_path / "state"))
    assert resumed.update(update_batch(step=1, version=1, seed=1)) == last
    assert resumed.session.version == 2


def test_loading_replaces_the_session(tiny_worker: Make, tmp_path: Path) -> None:
    worker = trained(tiny_worker)
    before = scores(worker, "current")
    worker.save(at(tmp_path / "state"))
    worker.update(update_batch(step=2, version=2))
    assert scores(worker, "current") != before
    worker.load(at(tmp_path / "state"))
    assert scores(worker, "current") == before
    assert worker.session.version == 2


def test_the_base_is_never_changed_by_training(tiny_worker: Make, tmp_path: Path) -> None:
    worker = tiny_worker("llama")
    untouched = {name: tensor.clone() for name, tensor in base_weights(worker.base).items()}
    plain = scores(worker, "base")
    worker.open(session_request())
    assert scores(worker, "current") == plain
    worker.update(update_batch())
    assert scores(worker, "base") == plain
    assert scores(worker, "current") != plain
    worker.save(at(tmp_path / "state"))
    worker.load(at(tmp_path / "state"))
    now = base_weights(worker.base)
    assert now.keys() == untouched.keys()
    assert all(torch.equal(now[name], tensor) for name, tensor in untouched.items())


@pytest.mark.parametrize("arch", ["llama", "qwen2", "granite"])
def test_peft_loads_the_saved_adapter_and_agrees(
    arch: str, tiny_worker: Make, tiny_model_dir: Callable[[str], Path], tmp_path: Path
) -> None:
    worker = trained(tiny_worker, arch)
    answer = worker.save_adapter(at(tmp_path / "adapter"))
    assert answer["bytes"] == (tmp_path / "adapter" / WEIGHTS).stat().st_size
    assert answer["sha256"] == sha256_file(tmp_path / "adapter" / WEIGHTS)
    model = PeftModel.from_pretrained(
        AutoModelForCausalLM.from_pretrained(tiny_model_dir(arch), dtype=torch.float32), tmp_path / "adapter"
    ).eval()
    item = SCORED[0]
    ids = torch.tensor([item.prompt_token_ids + item.token_ids])
    with torch.no_grad():
        rows = model(input_ids=ids).logits[0, len(item.prompt_token_ids) - 1 : -1].log_softmax(-1)
    expected = rows.gather(-1, torch.tensor(item.token_ids)[:, None]).squeeze(-1)
    assert scores(worker, "current") == pytest.approx(expected.tolist(), abs=2e-5)


def test_adapter_weights_are_float32_with_peft_names(tiny_worker: Make, tmp_path: Path) -> None:
    trained(tiny_worker, steps=1).save_adapter(at(tmp_path / "adapter"))
    tensors = load_file(tmp_path / "adapter" / WEIGHTS)
    assert len(tensors) == 2 * 7 * 2
    assert "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight" in tensors
    assert all(t.dtype == torch.float32 for t in tensors.values())


def test_nothing_that_exists_is_overwritten(tiny_worker: Make, tmp_path: Path) -> None:
    worker = trained(tiny_worker, steps=1)
    for write in (worker.save_adapter, worker.save):
        with pytest.raises(WorkerError) as caught:
            write(at(tmp_path))
        assert caught.value.kind == "Conflict"
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_no_trace(tiny_worker: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = trained(tiny_worker, steps=1)

    def full_disk(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(torch, "save", full_disk)
    with pytest.raises(WorkerError, match=r"cannot write .*/state: the disk is full \(.* are free\)"):
        worker.save(at(tmp_path / "state"))
    assert list(tmp_path.iterdir()) == []


def _flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


@pytest.mark.parametrize("name", ["optimizer.pt", f"adapter/{WEIGHTS}"])
def test_a_damaged_state_is_refused_and_replaces_nothing(name: str, tiny_worker: Make, tmp_path: Path) -> None:
    worker = trained(tiny_worker)
    worker.save(at(tmp_path / "state"))
    _flip(tmp_path / "state" / name)
    before = scores(worker, "current")
    with pytest.raises(WorkerError, match="missing or damaged"):
        worker.load(at(tmp_path / "state"))
    assert scores(worker, "current") == before


def test_a_state_of_another_base_is_refused(tiny_worker: Make, tmp_path: Path) -> None:
    trained(tiny_worker).save(at(tmp_path / "state"))
    other = tiny_worker("llama")
    other.model_hash = "another"
    with pytest.raises(WorkerError) as caught:
        other.load(at(tmp_path / "state"))
    assert caught.value.kind == "Conflict"


def test_a_missing_state_is_not_found(tiny_worker: Make, tmp_path: Path) -> None:
    with pytest.raises(WorkerError) as caught:
        tiny_worker("llama").load(at(tmp_path / "nowhere"))
    assert caught.value.kind == "NotFound"
