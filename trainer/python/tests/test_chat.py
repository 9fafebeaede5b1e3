"""Chat messages to token ids: the template writes every special token, once."""

import pytest
from conftest import byte_tokenizer

from grpo_worker.chat import tokenize_prompt
from grpo_worker.errors import WorkerError
from grpo_worker.protocol import Message, TokenizePrompt


def prompt(*messages: tuple[str, str]) -> TokenizePrompt:
    return TokenizePrompt(id="p1", messages=[Message(role=role, content=text) for role, text in messages])


def test_the_generation_prompt_is_at_the_end() -> None:
    tokenizer = byte_tokenizer()
    ids = tokenize_prompt(tokenizer, prompt(("system", "be brief"), ("user", "hé|\n")))
    expected = "<|im_start|>system\nbe brief<|im_end|>\n<|im_start|>user\nhé|\n<|im_end|>\n<|im_start|>assistant\n"
    assert tokenizer.decode(ids) == expected
    assert ids.count(tokenizer.bos_token_id) == 3


@pytest.mark.parametrize("messages", [[("user", "hi")], [("system", "hi")], [("user", "a"), ("system", "b")]])
def test_a_system_and_a_user_message_are_demanded(messages: list[tuple[str, str]]) -> None:
    with pytest.raises(WorkerError, match="prompt p1"):
        tokenize_prompt(byte_tokenizer(), prompt(*messages))
