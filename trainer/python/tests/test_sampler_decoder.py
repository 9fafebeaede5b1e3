"""The sampler's forward pass against transformers and PEFT."""

import logging
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from conftest import ARCHITECTURES, byte_tokenizer
from packing import needs_packing, pack_from
from peft import LoraConfig, get_peft_model
from sampler_kit import reference, reference_logprobs, sample, worst, write_adapter
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from grpo_worker.policy import BaseModel, load_base
from grpo_worker.sampler import weights as weights_module
from grpo_worker.sampler.backend import choose_backend
from grpo_worker.sampler.decoder import Decoder
from grpo_worker.sampler.engine import Engine
from grpo_worker.sampler.hf_decoder import HfDecoder, adapted
from grpo_worker.sampler.params import SamplingParams
from grpo_worker.sampler.weights import Layout

PROMPT = [7 * i % 250 + 4 for i in range(37)]
TOLERANCE = 1e-4


def save_model(model: torch.nn.Module, path: Path) -> Path:
    model.save_pretrained(path)
    byte_tokenizer().save_pretrained(path)
    return path


def check_against(engine: Engine, name: str, model: torch.nn.Module, prompt: list[int] = PROMPT) -> list[list[int]]:
    """Sample a group of six and compare every log-prob, sampled and of the prompt."""
    params = SamplingParams(n=6, max_tokens=24, seed=5, logprobs=0, prompt_logprobs=0, ignore_eos=True)
    [done] = sample(engine, [prompt], params, name)
    for choice in done.choices:
        assert worst(choice.logprobs, reference_logprobs(model, prompt, choice.ids)) < TOLERANCE
    assert done.prompt is not None
    scored = [token.logprob for token in done.prompt]
    assert worst(scored, reference_logprobs(model, prompt[:1], prompt[1:])) < TOLERANCE
    return [choice.ids for choice in done.choices]


@pytest.mark.parametrize(
    "layout",
    [Layout.LIVE, Layout.MERGED, pytest.param(Layout.PACKED, marks=needs_packing)],
    ids=lambda layout: layout.value,
)
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_equals_transformers_and_peft(
    arch: str, layout: Layout, tiny_model_dir: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack_from(monkeypatch, 0 if layout is Layout.PACKED else 10**9)
    monkeypatch.setattr(weights_module, "MERGE_LIMIT", 10**9 if layout is Layout.MERGED else 0)
    directory = tiny_model_dir(arch)
    adapter = write_adapter(directory, tmp_path / "a")
    engine = Engine(load_base(str(directory)))
    assert isinstance(engine._backend, Decoder)
    assert engine._backend._layout is layout
    engine.load("adapted", str(adapter))
    plain = check_against(engine, "base", reference(directory))
    changed = check_against(engine, "adapted", reference(directory, adapter))
    assert plain != changed
    engine.close()


@pytest.mark.parametrize("targets", [["q_proj", "v_proj"], ["down_proj"]], ids="+".join)
def test_adapter_on_some_layers_only(targets: list[str], tiny_model_dir: Callable[[str], Path], tmp_path: Path) -> None:
    directory = tiny_model_dir("llama")
    adapter = write_adapter(directory, tmp_path / "a", targets=targets, rslora=True)
    engine = Engine(load_base(str(directory)))
    engine.load("adapted", str(adapter))
    check_against(engine, "adapted", reference(directory, adapter))
    engine.close()


LLAMAS = {
    "every head its own keys": {"num_attention_heads": 4, "num_key_value_heads": 4},
    "one key-value head": {"num_attention_heads": 4, "num_key_value_heads": 1},
    "untied, biases, wide heads": {
        "tie_word_embeddings": False,
        "attention_bias": True,
        "mlp_bias": True,
        "head_dim": 24,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
    },
    "llama3 rotary scaling": {
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "rope_parameters": {
            "rope_type": "llama3",
            "rope_theta": 10000.0,
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 64,
        },
    },
}


@pytest.mark.parametrize("options", LLAMAS.values(), ids=LLAMAS.keys())
def test_llama_variants(options: dict[str, object], tmp_path: Path) -> None:
    torch.manual_seed(3)
    defaults = {"tie_word_embeddings": True, "initializer_range": 0.1, "eos_token_id": 1, "bos_token_id": 0}
    config = LlamaConfig(
        vocab_size=258, hidden_size=64, intermediate_size=96, num_hidden_layers=2, **{**defaults, **options}
    )
    model = LlamaForCausalLM(config).eval()
    for name, tensor in model.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.normal_(tensor, std=0.1)
    engine = Engine(load_base(str(save_model(model, tmp_path))))
    assert isinstance(engine._backend, Decoder)
    check_against(engine, "base", model)
    engine.close()


def test_bfloat16_stays_near_transformers(tiny_model_dir: Callable[[str], Path], tmp_path: Path) -> None:
    directory = tiny_model_dir("llama")
    adapter = write_adapter(directory, tmp_path / "a")
    engine = Engine(load_base(str(directory), dtype="bfloat16"))
    assert isinstance(engine._backend, Decoder)
    engine.load("adapted", str(adapter))
    params = SamplingParams(n=4, max_tokens=24, seed=5, logprobs=0)
    [done] = sample(engine, [PROMPT], params, "adapted")
    exact = reference(directory, adapter)
    ours = [value for choice in done.choices for value in choice.logprobs]
    theirs = [v for choice in done.choices for v in reference_logprobs(exact, PROMPT, choice.ids)]
    assert sum(abs(a - b) for a, b in zip(ours, theirs, strict=True)) / len(ours) < 0.1
    engine.close()


def test_other_architectures_run_on_transformers(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    torch.manual_seed(3)
    config = GPT2Config(
        vocab_size=258, n_embd=64, n_layer=2, n_head=4, n_positions=256, initializer_range=0.3, eos_token_id=1
    )
    model = GPT2LMHeadModel(config).eval()
    with caplog.at_level(logging.WARNING):
        engine = Engine(load_base(str(save_model(model, tmp_path))))
    assert isinstance(engine._backend, HfDecoder)
    assert "its family is gpt2" in caplog.text
    check_against(engine, "base", model)
    engine.close()


def test_a_forward_pass_that_disagrees_is_not_used(
    tiny_base: Callable[[str], BaseModel], caplog: pytest.LogCaptureFixture
) -> None:
    base = tiny_base("granite")
    base.model.config.residual_multiplier = 0.7
    with caplog.at_level(logging.WARNING):
        assert isinstance(choose_backend(base), HfDecoder)
    assert "differ by" in caplog.text


@pytest.mark.parametrize("kind", [Decoder, HfDecoder])
def test_learners_adapter_is_neither_used_nor_disturbed(
    kind: type, tiny_model_dir: Callable[[str], Path], tmp_path: Path
) -> None:
    directory = tiny_model_dir("qwen2")
    base = load_base(str(directory))
    engine = Engine(base, backend=kind(base))
    peft = get_peft_model(base.model, LoraConfig(r=4, target_modules="all-linear", init_lora_weights=False))
    before = {name: tensor.clone() for name, tensor in peft.state_dict().items()}
    wants = {name for name, tensor in peft.named_parameters() if tensor.requires_grad}
    engine.load("adapted", str(write_adapter(directory, tmp_path / "a")))
    check_against(engine, "base", reference(directory))
    check_against(engine, "adapted", reference(directory, tmp_path / "a"))
    assert wants == {name for name, tensor in peft.named_parameters() if tensor.requires_grad}
    assert all(torch.equal(before[name], tensor) for name, tensor in peft.state_dict().items())
    engine.close()


def test_hooks_are_gone_after_an_error(tiny_base: Callable[[str], BaseModel]) -> None:
    base = tiny_base("llama")
    ids = torch.tensor([PROMPT])
    with torch.no_grad():
        expected = base.model(input_ids=ids).logits
        pair = (torch.ones(1, 64), torch.ones(64, 1))
        with pytest.raises(KeyError), adapted(base, {"model.layers.0.self_attn.q_proj": pair, "nowhere": pair}):
            pass
        assert torch.equal(base.model(input_ids=ids).logits, expected)
