"""Writes SmolLM2-135M-Instruct as a Hugging Face directory, from a GGUF file or from a directory of the hub.

    .venv/bin/python scripts/smollm2/convert.py SOURCE TARGET --temperature 0.7

`fetch.ts` calls this. From GGUF the weights are *dequantised from Q4_1*: close to the original ones, not equal to them.
They are written in float32, which the update worker computes in on a CPU.

The trainer samples at temperature 1 and from nothing but the model's own distribution. A model as small as this babbles
there; its makers sample at 0.2. So the temperature is made part of the model: the weight of the last norm is divided
by it, which divides every logit. Sampling the result at 1 *is* sampling the original at that temperature, and an
adapter trained on the one serves the other.
"""

import argparse
import json
from pathlib import Path

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    GgufConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from checks import BOS, EOS, check


def load(source: Path) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Model in float32, and tokenizer."""
    if source.is_dir():
        return AutoModelForCausalLM.from_pretrained(source, dtype=torch.float32), AutoTokenizer.from_pretrained(source)
    place = {"pretrained_model_name_or_path": source.parent, "gguf_file": source.name}
    # Without `dequantize` the weights stay packed, and saving them fails.
    config = GgufConfig(dequantize=True)
    model = AutoModelForCausalLM.from_pretrained(**place, dtype=torch.float32, quantization_config=config)
    return model, AutoTokenizer.from_pretrained(**place)


def name_special_tokens(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """The tokens of the chat format: a reply ends with <|im_end|>."""
    tokenizer.bos_token, tokenizer.eos_token, tokenizer.pad_token = (
        "<|im_start|>",
        "<|im_end|>",
        "<|im_end|>",
    )
    for config in (model.config, model.generation_config):
        config.bos_token_id, config.eos_token_id, config.pad_token_id = BOS, EOS, EOS


def fold_temperature(model: PreTrainedModel, temperature: float) -> None:
    """Divide all logits by the temperature, through the norm in front of the head."""
    with torch.no_grad():
        model.model.norm.weight.div_(temperature)


def save(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, target: Path) -> None:
    """Write the directory, with what servers look for under the names they look for."""
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)
    _amend(
        target / "config.json",
        {"rope_theta": model.config.rope_parameters["rope_theta"]},
    )
    template = target / "chat_template.jinja"
    known = {"chat_template": template.read_text()} if template.exists() else {}
    _amend(
        target / "tokenizer_config.json",
        {"tokenizer_class": "PreTrainedTokenizerFast", **known},
    )


def _amend(file: Path, fields: dict[str, object]) -> None:
    file.write_text(json.dumps({**json.loads(file.read_text()), **fields}, indent=2) + "\n")


def main() -> None:
    """Convert, then check what was written by reading it again."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="GGUF file, or directory of the hub's model")
    parser.add_argument("target", type=Path, help="directory to make")
    parser.add_argument(
        "--temperature",
        type=float,
        default=0.7,
        help="made part of the weights; 1 leaves them alone",
    )
    args = parser.parse_args()
    model, tokenizer = load(args.source)
    name_special_tokens(model, tokenizer)
    fold_temperature(model, args.temperature)
    save(model, tokenizer, args.target)
    check(args.target)


if __name__ == "__main__":
    main()
