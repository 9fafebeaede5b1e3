"""What the scheduler needs of a forward pass, and the choice between the two there are."""

import logging
from collections.abc import Sequence
from typing import Any, Protocol

import torch

from grpo_worker.base_model import BaseModel
from grpo_worker.sampler.decoder import Decoder
from grpo_worker.sampler.hf_decoder import HfDecoder, adapted
from grpo_worker.sampler.spec import UnsupportedDecoderError
from grpo_worker.sampler.weights import LoraPairs

log = logging.getLogger(__name__)

# Largest log-prob difference to the Hugging Face model that rounding explains, by number format.
TOLERANCE = {torch.float32: 1e-3, torch.bfloat16: 0.5}
PROBE_TOKENS = 12


class Group(Protocol):
    """Cache of one prompt and its active completions."""

    @property
    def rows(self) -> int:
        """Completions that are still active."""

    def keep(self, rows: list[int]) -> None:
        """Go on with these rows only, given by their place among the active ones."""


class Backend(Protocol):
    """A forward pass. `Decoder` documents the methods; what it makes of a policy's weights is its own affair."""

    def policy(self, pairs: LoraPairs | None, /) -> Any: ...  # noqa: D102

    def prefill(  # noqa: D102
        self, policy: Any, ids: list[int], counts: list[int], tokens: int, /, *, every: bool
    ) -> tuple[Sequence[Group], torch.Tensor]: ...

    def step(self, policy: Any, groups: list[Any], tokens: list[int], /) -> torch.Tensor: ...  # noqa: D102

    def logits(self, policy: Any, hidden: torch.Tensor, /) -> torch.Tensor: ...  # noqa: D102


def choose_backend(base: BaseModel) -> Backend:
    """Our own forward pass where it covers the model and agrees with it, else Hugging Face's (logged)."""
    try:
        decoder = Decoder(base)
        with base.lock:
            _compare(base, decoder)
    except UnsupportedDecoderError as reason:
        log.warning("the embedded sampler uses the Hugging Face forward pass (slower): %s", reason)
        return HfDecoder(base)
    return decoder


@torch.inference_mode()
def _compare(base: BaseModel, decoder: Decoder) -> None:
    """Score a few tokens both ways, the last one of them by a decoding step."""
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(0, base.vocab_size, (PROBE_TOKENS,), generator=generator).tolist()
    policy = decoder.policy(None)
    groups, hidden = decoder.prefill(policy, ids[:-1], [1], 2, every=True)
    hidden = torch.cat([hidden, decoder.step(policy, groups, ids[-1:])])
    with adapted(base, {}):
        expected = base.model(input_ids=torch.tensor([ids], device=base.device), use_cache=False).logits[0]
    difference = decoder.logits(policy, hidden).log_softmax(-1) - expected.float().log_softmax(-1)
    worst = float(difference.abs().max())
    if not worst <= TOLERANCE[base.dtype]:
        raise UnsupportedDecoderError(f"log-probs of {type(base.model).__name__} differ by {worst:.1e}")
