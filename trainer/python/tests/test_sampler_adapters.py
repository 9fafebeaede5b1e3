"""Adapter directories: names, what is refused and in which words, and what may happen to the files."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from sampler_kit import edit_config, sample, write_adapter

from grpo_worker.policy import load_base
from grpo_worker.sampler.engine import Engine
from grpo_worker.sampler.errors import ApiError
from grpo_worker.sampler.params import SamplingParams

WEIGHTS = "adapter_model.safetensors"
PARAMS = SamplingParams(n=2, max_tokens=12, seed=1, logprobs=0)
PROMPT = list(range(10, 40))


@pytest.fixture(scope="module")
def engine(tiny_model_dir: Callable[[str], Path]) -> Iterator[Engine]:
    engine = Engine(load_base(str(tiny_model_dir("llama"))), max_rank=16)
    yield engine
    engine.close()


@pytest.fixture
def adapter(tiny_model_dir: Callable[[str], Path], tmp_path: Path) -> Path:
    return write_adapter(tiny_model_dir("llama"), tmp_path / "adapter")


def failure(engine: Engine, name: str, path: object) -> tuple[int, str, str]:
    with pytest.raises(ApiError) as caught:
        engine.load(name, str(path))
    assert name not in [policy.name for policy in engine.policies()] or name in ("base", "twice")
    error = caught.value.body()["error"]
    assert error["code"] == caught.value.status
    return caught.value.status, error["type"], error["message"]


def framed(reason: str) -> tuple[int, str, str]:
    message = (
        f"Call to add_lora method failed: Worker failed with error '{reason}', "
        "please check the stack trace above for the root cause"
    )
    return 500, "InternalServerError", message


def rewrite(adapter: Path, change: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]) -> Path:
    save_file(change(load_file(adapter / WEIGHTS)), adapter / WEIGHTS)
    return adapter


def test_names_come_and_go(engine: Engine, adapter: Path) -> None:
    engine.load("comes", str(adapter))
    listed = {policy.name: policy for policy in engine.policies()}
    assert listed["comes"].root == str(adapter)
    assert (listed["base"].parent, listed["comes"].parent) == (None, "base")
    engine.unload("comes")
    assert "comes" not in [policy.name for policy in engine.policies()]
    with pytest.raises(ApiError, match=r"The lora adapter 'comes' cannot be found\.") as caught:
        engine.unload("comes")
    assert caught.value.status == 404


def test_the_folder_may_be_deleted_or_replaced_after_loading(
    engine: Engine, adapter: Path, tiny_model_dir: Callable[[str], Path]
) -> None:
    engine.load("kept", str(adapter))
    before = sample(engine, [PROMPT], PARAMS, "kept")
    shutil.rmtree(adapter)
    assert sample(engine, [PROMPT], PARAMS, "kept") == before
    write_adapter(tiny_model_dir("llama"), adapter, seed=2)
    assert sample(engine, [PROMPT], PARAMS, "kept") == before
    engine.unload("kept")
    engine.load("kept", str(adapter))
    assert sample(engine, [PROMPT], PARAMS, "kept") != before
    engine.unload("kept")


def test_replacing_under_the_same_name_takes_effect_at_once(
    engine: Engine, adapter: Path, tiny_model_dir: Callable[[str], Path], tmp_path: Path
) -> None:
    engine.load("same", str(adapter))
    before = sample(engine, [PROMPT], PARAMS, "same")
    engine.load("same", str(write_adapter(tiny_model_dir("llama"), tmp_path / "other", seed=2)), replace=True)
    assert sample(engine, [PROMPT], PARAMS, "same") != before
    engine.unload("same")


def test_a_name_in_use_is_refused(engine: Engine, adapter: Path) -> None:
    engine.load("twice", str(adapter))
    message = (
        "The lora adapter 'twice' has already been loaded. "
        "If you want to load the adapter in place, set 'load_inplace' to True."
    )
    assert failure(engine, "twice", adapter) == (400, "InvalidUserInput", message)
    engine.unload("twice")


def test_the_bases_name_is_refused(engine: Engine, adapter: Path) -> None:
    message = "The lora adapter 'base' conflicts with a served base model."
    assert failure(engine, "base", adapter) == (400, "InvalidUserInput", message)
    with pytest.raises(ApiError, match=r"The lora adapter 'base' cannot be found\."):
        engine.unload("base")


@pytest.mark.parametrize(("name", "path"), [("", "somewhere"), ("x", "")])
def test_empty_name_or_path(engine: Engine, name: str, path: str) -> None:
    with pytest.raises(ApiError, match="Both 'lora_name' and 'lora_path' must be provided") as caught:
        engine.load(name, path)
    assert (caught.value.status, caught.value.kind) == (400, "InvalidUserInput")


def test_nothing_at_the_path(engine: Engine, tmp_path: Path) -> None:
    for path, shown in ((tmp_path / "nowhere", "<path>"), (tmp_path, "<path>"), ("not/there", "not/there")):
        message = f"Loading lora x failed: No adapter found for {shown}"
        assert failure(engine, "x", path) == (404, "NotFoundError", message)


def test_rank_above_the_limit(engine: Engine, tiny_model_dir: Callable[[str], Path], tmp_path: Path) -> None:
    large = write_adapter(tiny_model_dir("llama"), tmp_path / "large", rank=32)
    assert failure(engine, "x", large) == framed("LoRA rank 32 is greater than max_lora_rank 16.")


CONFIG_FAULTS = {
    "vLLM does not yet support DoRA.": {"use_dora": True},
    "vLLM only supports modules_to_save being None.": {"modules_to_save": ["lm_head"]},
    "Adapter bias is not supported.": {"bias": "all"},
    "rank_pattern is not supported.": {"rank_pattern": {"q_proj": 4}},
    "alpha_pattern is not supported.": {"alpha_pattern": {"q_proj": 4}},
    "Adapters of type IA3 are not supported.": {"peft_type": "IA3"},
    "adapter_config.json needs a positive integer 'r' and a number 'lora_alpha'": {"r": None},
}


@pytest.mark.parametrize(("reason", "changes"), CONFIG_FAULTS.items(), ids=CONFIG_FAULTS)
def test_kinds_of_adapter_that_would_be_another_policy(
    engine: Engine, adapter: Path, reason: str, changes: dict[str, object]
) -> None:
    assert failure(engine, "x", edit_config(adapter, **changes)) == framed(reason)


def test_files_that_are_damaged(engine: Engine, adapter: Path) -> None:
    whole = (adapter / WEIGHTS).read_bytes()
    (adapter / WEIGHTS).write_bytes(b"x" * 100)
    assert failure(engine, "x", adapter) == framed("Error while deserializing header: header too large")
    (adapter / WEIGHTS).write_bytes(whole[: len(whole) // 2])
    reason = "Error while deserializing header: incomplete metadata, file not fully covered"
    assert failure(engine, "x", adapter) == framed(reason)
    (adapter / WEIGHTS).unlink()
    assert failure(engine, "x", adapter) == framed("<path> doesn't contain tensors")
    (adapter / "adapter_config.json").write_text("{")
    assert "is not readable JSON" in failure(engine, "x", adapter)[2]


def test_weights_of_another_model(engine: Engine, adapter: Path) -> None:
    def widen(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        return {k: torch.cat([v, v], 1) if "q_proj.lora_A" in k else v for k, v in tensors.items()}

    reason = "The size of tensor a (64) must match the size of tensor b (128) at non-singleton dimension 1"
    assert failure(engine, "x", rewrite(adapter, widen)) == framed(reason)


def test_modules_that_the_base_does_not_have(engine: Engine, adapter: Path) -> None:
    rewrite(adapter, lambda tensors: {k.replace("q_proj", "zz_proj"): v for k, v in tensors.items()})
    expected = "{'down_proj', 'gate_proj', 'k_proj', 'o_proj', 'q_proj', 'up_proj', 'v_proj'}"
    received = "['model.layers.0.self_attn.zz_proj', 'model.layers.1.self_attn.zz_proj']"
    reason = (
        f"While loading <path>, expected target modules in {expected} but received {received}. "
        "Please verify that the loaded LoRA module is correct"
    )
    assert failure(engine, "x", adapter) == framed(reason)


def test_half_a_pair_and_weights_that_are_no_numbers(engine: Engine, adapter: Path) -> None:
    whole = load_file(adapter / WEIGHTS)
    first = sorted(whole)[0]
    rewrite(adapter, lambda _: {k: v for k, v in whole.items() if k != first})
    assert "has only lora_B" in failure(engine, "x", adapter)[2]
    rewrite(adapter, lambda _: {k: v * torch.nan if k == first else v for k, v in whole.items()})
    assert "has weights that are not finite" in failure(engine, "x", adapter)[2]
