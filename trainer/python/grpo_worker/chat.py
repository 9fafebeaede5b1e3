"""Chat messages to prompt token ids."""

from datetime import datetime

from jinja2 import TemplateError
from transformers import PreTrainedTokenizerBase

from grpo_worker.errors import WorkerError
from grpo_worker.protocol import TokenizePrompt

# What "today" is in templates that write the date beside a given system message too, as those of Llama 3 do (which
# name this day where they know no other).
TODAY = datetime(2024, 7, 26)


def tokenize_prompt(tokenizer: PreTrainedTokenizerBase, prompt: TokenizePrompt) -> list[int]:
    """Token ids of the chat template with the generation prompt at its end.

    A system message is demanded, because templates fill in one of their own (with today's date, say) when
    it is missing, and prompts would then differ from day to day.
    """
    roles = [message.role for message in prompt.messages]
    if roles[0] != "system" or "user" not in roles:
        raise WorkerError("InvalidRequest", f"prompt {prompt.id}: messages must hold a system, then a user message")
    messages = [message.model_dump() for message in prompt.messages]
    try:
        text = tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, tokenize=False, strftime_now=TODAY.strftime
        )
    except TemplateError as error:
        # A template may insist on an order of roles, and says so.
        raise WorkerError("InvalidRequest", f"prompt {prompt.id}: the chat template refuses it: {error}") from error
    # The template has written all special tokens itself: a second start token would change the prompt.
    return tokenizer(text, add_special_tokens=False, return_attention_mask=False)["input_ids"]
