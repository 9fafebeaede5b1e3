"""The tiny base's tokenizer: any text comes back, and a name is cut the same way wherever it stands."""

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer, PreTrainedTokenizerFast

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "scripts/tiny-base"))

from data import render  # noqa: E402
from tokenizer import ANSWER_PIECES, template_segments, train_tokenizer  # noqa: E402

SEGMENTS = template_segments(ROOT / "data/nodes/templates")
SAMPLE = ["mail.send(to=ana, text=winter budget) -> ok: sent to ana", "Mail ana about the winter budget."] * 20
TRAINED = train_tokenizer(SAMPLE, [*SEGMENTS, *ANSWER_PIECES], 400)


def committed() -> PreTrainedTokenizerFast | None:
    folder = ROOT / "data/tiny-base"
    return AutoTokenizer.from_pretrained(folder) if (folder / "tokenizer.json").exists() else None


TOKENIZERS = [TRAINED] + [tokenizer for tokenizer in [committed()] if tokenizer]


def piece(tokenizer: PreTrainedTokenizerFast, text: str) -> list[str]:
    return tokenizer.convert_ids_to_tokens(tokenizer(text).input_ids)


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@given(text=st.text())
def test_any_text_comes_back(tokenizer: PreTrainedTokenizerFast, text: str) -> None:
    assert tokenizer.decode(tokenizer(text).input_ids) == text


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@given(name=st.from_regex(r"[a-z]{1,12}[0-9]{0,2}", fullmatch=True))
def test_a_name_has_the_same_pieces_in_an_argument_and_in_a_sentence(
    tokenizer: PreTrainedTokenizerFast, name: str
) -> None:
    # A bar never joins a letter or digit in one piece, so what stands between two bars is the name alone.
    alone = piece(tokenizer, f"|{name}|")[1:-1]
    for before, after in (("=", ")"), ("=", ","), (" ", "."), (" ", " |")):
        cut = piece(tokenizer, f"|{before}{name}{after}|")
        assert any(cut[i : i + len(alone)] == alone for i in range(len(cut))), cut


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_each_fixed_text_of_the_templates_is_one_token(tokenizer: PreTrainedTokenizerFast) -> None:
    for segment in SEGMENTS:
        assert len(tokenizer(segment).input_ids) == 1, segment


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_the_chat_template_is_the_one_of_the_training_data(tokenizer: PreTrainedTokenizerFast) -> None:
    messages = [{"role": "system", "content": "a"}, {"role": "user", "content": "b\n"}]
    assert tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True) == render(messages)


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_the_end_of_a_turn_ends_a_completion(tokenizer: PreTrainedTokenizerFast) -> None:
    assert tokenizer.eos_token == "<|im_end|>"
    assert tokenizer("</answer><|im_end|>").input_ids[-1] == tokenizer.eos_token_id
