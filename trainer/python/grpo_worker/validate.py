"""Checks of token ids that need to know the model."""

from collections.abc import Sequence

from grpo_worker.base_model import BaseModel
from grpo_worker.errors import WorkerError


def check_tokens(base: BaseModel, prompt: Sequence[int], completion: Sequence[int], place: str) -> None:
    """Refuse ids outside the vocabulary and sequences longer than the context; `place` names the item."""
    largest = max(max(prompt), max(completion))
    if largest >= base.vocab_size:
        raise WorkerError(
            "InvalidRequest", f"{place}: token id {largest}, but the vocabulary ends at {base.vocab_size - 1}"
        )
    length = len(prompt) + len(completion)
    if length > base.max_context:
        raise WorkerError("InvalidRequest", f"{place}: {length} tokens do not fit in a context of {base.max_context}")
