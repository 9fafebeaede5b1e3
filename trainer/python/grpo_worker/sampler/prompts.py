"""Prompts of a request: token ids or text, one or several, within the context and the vocabulary."""

from transformers import PreTrainedTokenizerBase

from grpo_worker.base_model import BaseModel
from grpo_worker.sampler.errors import bad_request
from grpo_worker.sampler.params import SamplingParams

Prompts = str | list[int] | list[str] | list[list[int]]


def prompt_ids(given: Prompts, tokenizer: PreTrainedTokenizerBase) -> list[list[int]]:
    """Token ids of every prompt of a request. Raises ApiError 400 when there is none."""
    if isinstance(given, str):
        return [tokenizer(given).input_ids]
    if not given:
        raise bad_request("You must pass at least one prompt")
    if isinstance(given[0], int):
        return [given]
    return [tokenizer(prompt).input_ids if isinstance(prompt, str) else prompt for prompt in given]


def check_stop_ids(params: SamplingParams, base: BaseModel) -> None:
    """Refuse a stop token outside the vocabulary, as vLLM does since 0.32: ApiError 400."""
    strange = [token for token in params.stop_ids if not 0 <= token < base.vocab_size]
    if strange:
        raise bad_request(
            f"token_id(s) {strange} in stop_token_ids contain out-of-vocab token ids. "
            f"Vocabulary size: {base.vocab_size}",
            param="stop_token_ids",
            value=strange,
        )


def check_prompt(prompt: list[int], params: SamplingParams, base: BaseModel) -> None:
    """Refuse a prompt that is empty, too long for the context, or outside the vocabulary: ApiError 400."""
    if not prompt:
        raise bad_request("The decoder prompt cannot be empty")
    total, limit = len(prompt) + params.max_tokens, base.max_context
    if total > limit:
        raise bad_request(
            f"This model's maximum context length is {limit} tokens. However, you requested {params.max_tokens} "
            f"output tokens and your prompt contains {len(prompt)} input tokens, for a total of {total} tokens. "
            "Please reduce the length of the input prompt or the number of requested output tokens.",
            param="input_tokens",
            value=len(prompt),
        )
    for token in (max(prompt), min(prompt)):
        if not 0 <= token < base.vocab_size:
            raise bad_request(f"Token id {token} is out of vocabulary")
