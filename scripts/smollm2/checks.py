"""What a directory with SmolLM2-135M-Instruct must say about itself. Each of these was wrong once, and silently.

Older converters name `<|im_start|>` as the end of a reply: generation then never stops. A tokenizer that writes its own
start token puts two into every prompt. Servers that read `rope_theta` only at the top level take 10000 for granted.
"""

import json
from pathlib import Path

from transformers import AutoTokenizer, PreTrainedTokenizerBase

BOS, EOS = 1, 2
TOKENS = {"bos_token_id": BOS, "eos_token_id": EOS, "pad_token_id": EOS}
ROPE_THETA = 100_000.0


class WrongModelError(Exception):
    """The directory is not what the recipe was made for."""


def _expect(what: str, found: object, wanted: object) -> None:
    if found != wanted:
        raise WrongModelError(f"{what} is {found!r}, and must be {wanted!r}")


def check_config(directory: Path) -> None:
    """Special tokens and rotary base, as config.json and generation_config.json have them."""
    for name in ("config.json", "generation_config.json"):
        config = json.loads((directory / name).read_text())
        for key, wanted in TOKENS.items():
            _expect(f"{name}: {key}", config.get(key), wanted)
    config = json.loads((directory / "config.json").read_text())
    _expect("config.json: rope_theta", config.get("rope_theta"), ROPE_THETA)
    _expect("config.json: quantization_config", config.get("quantization_config"), None)
    saved = json.loads((directory / "tokenizer_config.json").read_text())
    _expect(
        "tokenizer_config.json: tokenizer_class",
        saved.get("tokenizer_class"),
        "PreTrainedTokenizerFast",
    )


def check_tokenizer(tokenizer: PreTrainedTokenizerBase) -> None:
    """Ids of the special tokens, no start token before text, and the chat template's beginning and end."""
    for token, wanted in (("<|im_start|>", BOS), ("<|im_end|>", EOS)):
        _expect(f"id of {token}", tokenizer.convert_tokens_to_ids(token), wanted)
    for name, wanted in TOKENS.items():
        _expect(f"tokenizer: {name}", getattr(tokenizer, name), wanted)
    _expect(
        "first token of plain text is the start token",
        tokenizer("Hi")["input_ids"][0] == BOS,
        False,
    )
    chat = [{"role": "system", "content": "a"}, {"role": "user", "content": "b"}]
    shown = tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)
    wanted = "<|im_start|>system\na<|im_end|>\n<|im_start|>user\nb<|im_end|>\n<|im_start|>assistant\n"
    _expect("chat template", shown, wanted)


def check(directory: Path) -> None:
    """Raises WrongModelError with the first thing that is wrong."""
    check_config(directory)
    check_tokenizer(AutoTokenizer.from_pretrained(directory))
