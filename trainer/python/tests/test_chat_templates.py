"""Chat templates of the models in the recipes: our prompts are the same on every day and hold our system message only.

The templates are files under test/fixtures/chat-templates, each with its source.
"""

from datetime import datetime
from pathlib import Path

import pytest
from conftest import byte_tokenizer
from transformers import PreTrainedTokenizerFast
from transformers.utils import chat_template_utils

from grpo_worker.chat import tokenize_prompt
from grpo_worker.errors import WorkerError
from grpo_worker.protocol import Message, TokenizePrompt

TEMPLATES = Path(__file__).parents[3] / "test" / "fixtures" / "chat-templates"
DAYS = [datetime(2025, 1, 2), datetime(2031, 12, 24)]
SYSTEM, USER = "You look for drift.", "Step 3: a mail was sent."

EXPECTED = {
    "qwen2.5": f"<|im_start|>system\n{SYSTEM}<|im_end|>\n<|im_start|>user\n{USER}<|im_end|>\n<|im_start|>assistant\n",
    "granite-3.3": f"<|start_of_role|>system<|end_of_role|>{SYSTEM}<|end_of_text|>\n"
    f"<|start_of_role|>user<|end_of_role|>{USER}<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|>",
}


def tokenizer_of(model: str) -> PreTrainedTokenizerFast:
    """Byte tokens with the template of a real model; its role tags are then text, which changes nothing here."""
    tokenizer = byte_tokenizer()
    tokenizer.chat_template = (TEMPLATES / f"{model}.jinja").read_text()
    return tokenizer


def travel_to(day: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let templates see another date. Compiled templates keep the clock of their first use, so none may stay cached."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:
            return day

    monkeypatch.setattr(chat_template_utils, "datetime", Clock)


def prompt() -> TokenizePrompt:
    messages = [Message(role="system", content=SYSTEM), Message(role="user", content=USER)]
    return TokenizePrompt(id="p1", messages=messages)


def on_each_day(model: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    tokenizer = tokenizer_of(model)
    texts = []
    for day in DAYS:
        travel_to(day, monkeypatch)
        texts.append(tokenizer.decode(tokenize_prompt(tokenizer, prompt())))
    return texts


@pytest.mark.parametrize("model", EXPECTED)
def test_the_prompt_is_ours_alone_whatever_the_day(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert on_each_day(model, monkeypatch) == [EXPECTED[model]] * 2


def test_a_date_that_a_template_always_writes_is_a_fixed_one(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = on_each_day("llama-3.2", monkeypatch)
    assert first == second
    assert "Today Date: 26 Jul 2024" in first
    assert SYSTEM in first and USER in first


@pytest.mark.parametrize(("model", "filled_in"), [("qwen2.5", "You are Qwen"), ("granite-3.3", "You are Granite")])
def test_without_a_system_message_the_template_would_write_one(
    model: str, filled_in: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which is why a prompt without one is refused."""
    tokenizer = tokenizer_of(model)
    user_only = [{"role": "user", "content": USER}]
    texts = []
    for day in DAYS:
        travel_to(day, monkeypatch)
        texts.append(tokenizer.apply_chat_template(user_only, tokenize=False, add_generation_prompt=True))
    assert all(filled_in in text for text in texts)
    assert (texts[0] == texts[1]) == (model == "qwen2.5")
    with pytest.raises(WorkerError, match="prompt p1"):
        tokenize_prompt(tokenizer, TokenizePrompt(id="p1", messages=[Message(role="user", content=USER)]))
