"""The checks on a converted SmolLM2, on a tokenizer of a few words: each trap is refused by name."""

import json
import sys
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "scripts/smollm2"))

from checks import ROPE_THETA, WrongModelError, check  # noqa: E402
from convert import fold_temperature, load, name_special_tokens, save  # noqa: E402

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def small_model() -> LlamaForCausalLM:
    torch.manual_seed(0)
    shape = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    rope = {"rope_type": "default", "rope_theta": ROPE_THETA}
    return LlamaForCausalLM(LlamaConfig(vocab_size=8, **shape, rope_parameters=rope))


def small_tokenizer() -> PreTrainedTokenizerFast:
    words = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "Hi", "a", "b", "\n", "?"]
    words = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="?"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    # As old converters have it: a reply ends where the next one starts.
    special = {"bos_token": "<|im_start|>", "eos_token": "<|im_start|>", "unk_token": "?"}
    special["additional_special_tokens"] = ["<|im_end|>"]
    return PreTrainedTokenizerFast(tokenizer_object=words, chat_template=TEMPLATE, **special)


@pytest.fixture
def converted(tmp_path: Path) -> Path:
    model, tokenizer = small_model(), small_tokenizer()
    name_special_tokens(model, tokenizer)
    save(model, tokenizer, tmp_path / "model")
    return tmp_path / "model"


def amend(file: Path, **fields: object) -> None:
    file.write_text(json.dumps({**json.loads(file.read_text()), **fields}))


def test_what_was_converted_passes_and_can_be_read_like_a_directory_of_the_hub(converted: Path) -> None:
    check(converted)
    _, tokenizer = load(converted)
    assert tokenizer.eos_token == "<|im_end|>"


def test_without_the_chat_formats_tokens_it_is_refused(tmp_path: Path) -> None:
    save(small_model(), small_tokenizer(), tmp_path)
    with pytest.raises(WrongModelError, match="pad_token_id"):
        check(tmp_path)


@pytest.mark.parametrize(
    ("file", "key", "value"),
    [
        ("config.json", "eos_token_id", 1),
        ("config.json", "rope_theta", 10_000.0),
        ("config.json", "quantization_config", {"bits": 4}),
        ("generation_config.json", "eos_token_id", 1),
        ("tokenizer_config.json", "tokenizer_class", "TokenizersBackend"),
        ("tokenizer_config.json", "eos_token", "<|im_start|>"),
    ],
)
def test_each_trap_is_refused_by_name(converted: Path, file: str, key: str, value: object) -> None:
    amend(converted / file, **{key: value})
    with pytest.raises(WrongModelError, match=key):
        check(converted)


def test_a_chat_template_that_adds_its_own_words_is_refused(converted: Path) -> None:
    (converted / "chat_template.jinja").write_text("Today is Monday.\n" + TEMPLATE)
    amend(converted / "tokenizer_config.json", chat_template="Today is Monday.\n" + TEMPLATE)
    with pytest.raises(WrongModelError, match="chat template"):
        check(converted)


def test_a_folded_temperature_is_the_temperature_of_sampling() -> None:
    ids = torch.tensor([[1, 3, 4, 2]])
    plain = small_model()(ids).logits / 0.7
    folded = small_model()
    fold_temperature(folded, 0.7)
    torch.testing.assert_close(folded(ids).logits, plain)
