"""Random tiny models with a byte-level tokenizer, made once a session, and the workers that load them."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import settings
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    GraniteConfig,
    GraniteForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
)

from grpo_worker.policy import BaseModel, load_base
from grpo_worker.worker import Worker

# A shared machine may stall any single example.
settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")

ARCHITECTURES = ["llama", "qwen2", "granite"]
CHAT_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SPECIAL = ["<|im_start|>", "<|im_end|>"]


def byte_tokenizer() -> PreTrainedTokenizerFast:
    """One token a byte and two special tokens: 258 ids, the end token is 1 and is the padding token too."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {token: i for i, token in enumerate(SPECIAL + alphabet)}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(SPECIAL)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=SPECIAL[0],
        eos_token=SPECIAL[1],
        pad_token=SPECIAL[1],
        chat_template=CHAT_TEMPLATE,
    )


def tiny_model(arch: str, **changes: object) -> PreTrainedModel:
    """Random model of two layers whose predictions are peaky enough to tell adapters apart.

    `changes` are other values of the config.
    """
    common = {
        "vocab_size": 258,
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 512,
        "bos_token_id": 0,
        "eos_token_id": 1,
        "pad_token_id": 1,
        "initializer_range": 0.1,
        **changes,
    }
    torch.manual_seed(7)
    if arch == "llama":
        return _peaky(LlamaForCausalLM(LlamaConfig(**common, tie_word_embeddings=True)))
    if arch == "qwen2":
        return _peaky(Qwen2ForCausalLM(Qwen2Config(**common, tie_word_embeddings=False)))
    granite = GraniteConfig(
        **common, logits_scaling=2.0, embedding_multiplier=3.0, residual_multiplier=0.5, attention_multiplier=0.2
    )
    return _peaky(GraniteForCausalLM(granite))


def _peaky(model: PreTrainedModel) -> PreTrainedModel:
    """A random model is close to uniform; a larger last norm makes it prefer some tokens."""
    torch.nn.init.constant_(model.model.norm.weight, 4.0)
    return model


@pytest.fixture(scope="session")
def tiny_model_dir(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`tiny_model_dir(arch)`: directory of a random tiny model, arch one of ARCHITECTURES."""
    made: dict[str, Path] = {}

    def directory(arch: str) -> Path:
        if arch not in made:
            path = tmp_path_factory.mktemp(f"tiny-{arch}")
            tiny_model(arch).save_pretrained(path)
            byte_tokenizer().save_pretrained(path)
            made[arch] = path
        return made[arch]

    return directory


@pytest.fixture
def tiny_base(tiny_model_dir: Callable[[str], Path]) -> Callable[[str], BaseModel]:
    """`tiny_base(arch)`: a freshly loaded BaseModel, no adapter on it."""
    return lambda arch: load_base(str(tiny_model_dir(arch)))


@pytest.fixture
def tiny_worker(tiny_base: Callable[[str], BaseModel]) -> Callable[[str], Worker]:
    """`tiny_worker(arch)`: a worker around a freshly loaded model, no session open."""
    return lambda arch: Worker(tiny_base(arch), "hash-of-the-tiny-model")


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    """Tiny models are faster on one thread, and equal sums need an equal order."""
    torch.set_num_threads(1)
