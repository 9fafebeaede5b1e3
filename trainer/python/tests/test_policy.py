"""Loading a base: what is refused, and which models may share a prefix."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from bodies import session_request, update_batch
from conftest import byte_tokenizer
from transformers import (
    CohereConfig,
    CohereForCausalLM,
    Gemma2Config,
    Gemma2ForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    PreTrainedModel,
)

from grpo_worker.errors import WorkerError
from grpo_worker.policy import BaseModel, base_weights, load_base
from grpo_worker.prefix import Piece
from grpo_worker.scoring import prepare, score
from grpo_worker.worker import Worker

SIZES = {
    "vocab_size": 258,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "max_position_embeddings": 128,
    "pad_token_id": 1,
    "bos_token_id": 0,
    "eos_token_id": 1,
}


def saved(model: PreTrainedModel, path: Path) -> str:
    model.save_pretrained(path)
    byte_tokenizer().save_pretrained(path)
    return str(path)


def own_logprobs(base: BaseModel, piece: Piece) -> torch.Tensor:
    ids = torch.tensor([[*piece.prompt, *piece.completions[0]]])
    rows = base.model(input_ids=ids).logits[0, len(piece.prompt) - 1 : -1].float().log_softmax(-1)
    return rows.gather(-1, torch.tensor(piece.completions[0])[:, None]).squeeze(-1)


def test_a_sliding_window_turns_sharing_off_and_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    torch.manual_seed(0)
    path = saved(MistralForCausalLM(MistralConfig(**SIZES, sliding_window=8)), tmp_path)
    base = load_base(path)
    assert not base.prefix_sharing
    assert "sliding window of 8 tokens" in caplog.text
    worker = Worker(base, "h")
    worker.open(session_request())
    assert worker.update(update_batch()).kl == 0


def test_a_window_longer_than_the_context_does_no_harm(tmp_path: Path) -> None:
    path = saved(MistralForCausalLM(MistralConfig(**SIZES, sliding_window=64)), tmp_path)
    assert load_base(path, max_context=64).prefix_sharing
    assert not load_base(path, max_context=65).prefix_sharing


@pytest.mark.parametrize(
    ("model", "shares"),
    [
        (lambda: CohereForCausalLM(CohereConfig(**SIZES, logit_scale=0.25)), True),
        (lambda: Gemma2ForCausalLM(Gemma2Config(**SIZES, head_dim=16, sliding_window=4096)), False),
    ],
    ids=["cohere scales its logits", "gemma2 caps logits and attention"],
)
def test_other_heads_and_attentions_are_computed_as_the_model_does(
    model: Callable[[], PreTrainedModel], shares: bool, tmp_path: Path
) -> None:
    torch.manual_seed(0)
    base = load_base(saved(model(), tmp_path))
    assert base.prefix_sharing == shares
    piece = Piece([5, 6, 7, 8], ([9, 10, 11],), (0,))
    with torch.no_grad():
        assert torch.allclose(score(base, prepare(base, [piece])).logprobs, own_logprobs(base, piece), atol=1e-5)


def test_a_context_beyond_the_model_is_refused(tiny_model_dir: Callable[[str], Path]) -> None:
    with pytest.raises(WorkerError, match="max-context 513 is above the model's 512"):
        load_base(str(tiny_model_dir("llama")), max_context=513)


def test_a_directory_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WorkerError, match="cannot load a causal language model"):
        load_base(str(tmp_path))


def test_base_weights_keep_their_checkpoint_names_under_an_adapter(tiny_base: Callable[[str], BaseModel]) -> None:
    base = tiny_base("qwen2")
    before = {name: tensor.data_ptr() for name, tensor in base_weights(base).items()}
    Worker(base, "h").open(session_request())
    assert {name: tensor.data_ptr() for name, tensor in base_weights(base).items()} == before
    assert "model.layers.1.mlp.down_proj.weight" in before
    assert "lm_head.weight" in before


def test_bfloat16_trains_with_float32_adapters(tiny_model_dir: Callable[[str], Path]) -> None:
    base = load_base(str(tiny_model_dir("granite")), dtype="bfloat16")
    assert base.prefix_sharing
    worker = Worker(base, "h")
    worker.open(session_request())
    first = worker.update(update_batch())
    assert first.kl == 0
    assert all(p.dtype == torch.float32 for p in worker.session.parameters)
    assert worker.update(update_batch(step=1, version=1)).kl > 0
