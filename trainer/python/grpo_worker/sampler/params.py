"""Sampling parameters of a request, checked in vLLM's words."""

import math
import secrets
from dataclasses import dataclass

from grpo_worker.sampler.errors import ApiError, bad_request

GREEDY_BELOW = 1e-5
COLDEST = 1e-2
MAX_LOGPROBS = 20
DEFAULT_MAX_TOKENS = 16
# vLLM's own limit. Without one a single request keeps the sampler from all others.
MAX_N = 16384


@dataclass(frozen=True)
class SamplingParams:
    """How the completions of a prompt are drawn.

    `temperature` 0 takes the likeliest token. `top_k` 0 and `top_p` 1 keep the whole distribution. `logprobs`
    and `prompt_logprobs` are None for none, else how many of the likeliest tokens to list besides the real
    one. `stop_ids` end a completion like an end token, also with `ignore_eos`.
    """

    n: int = 1
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    seed: int = 0
    max_tokens: int = DEFAULT_MAX_TOKENS
    min_tokens: int = 0
    stop_ids: tuple[int, ...] = ()
    ignore_eos: bool = False
    logprobs: int | None = None
    prompt_logprobs: int | None = None

    @property
    def greedy(self) -> bool:
        """Whether no chance is involved."""
        return self.temperature < GREEDY_BELOW

    def __post_init__(self) -> None:
        """Raises ApiError 400 for a value outside its range."""
        _check_counts(self)
        _check_distribution(self)
        for name in ("logprobs", "prompt_logprobs"):
            _check_logprobs(name, getattr(self, name))
        if self.greedy and self.n > 1:
            raise bad_request(f"n must be 1 when using greedy sampling, got {self.n}.")


def warm(temperature: float) -> float:
    """Raise a temperature that is so low that its logits would overflow; 0 stays 0."""
    return max(temperature, COLDEST) if temperature > 0 else temperature


def any_seed() -> int:
    """A seed for a request that names none."""
    return secrets.randbits(63)


def _check_counts(p: SamplingParams) -> None:
    if p.n < 1:
        raise bad_request(f"n must be at least 1, got {p.n}.")
    if p.n > MAX_N:
        raise bad_request(f"n must be at most {MAX_N}, got {p.n}.")
    if p.max_tokens < 1:
        raise _named("max_tokens", f"max_tokens must be at least 1, got {p.max_tokens}.", p.max_tokens)
    if p.min_tokens < 0:
        raise bad_request(f"min_tokens must be greater than or equal to 0, got {p.min_tokens}.")
    if p.min_tokens > p.max_tokens:
        raise bad_request(f"min_tokens must be less than or equal to max_tokens={p.max_tokens}, got {p.min_tokens}.")


def _check_distribution(p: SamplingParams) -> None:
    value = p.temperature
    if not math.isfinite(value):
        raise _named("temperature", f"temperature must be a finite number, got {value}.", value)
    if value < 0:
        raise _named("temperature", f"temperature must be non-negative, got {value}.", value)
    if value > 2:
        raise _named("temperature", f"temperature must be in [0, 2], got {value}.", value)
    if not 0 < p.top_p <= 1:
        raise _named("top_p", f"top_p must be in (0, 1], got {p.top_p}.", p.top_p)
    if p.top_k < -1:
        raise bad_request(f"top_k must be 0 (disable), or at least 1, got {p.top_k}.")


def _check_logprobs(name: str, value: int | None) -> None:
    if value is None:
        return
    if value < 0:
        raise _named(name, f"{name} must be non-negative, got {value}.", value)
    if value > MAX_LOGPROBS:
        kind = "sample" if name == "logprobs" else "prompt"
        message = f"Requested {kind} logprobs of {value}, which is greater than max allowed: {MAX_LOGPROBS}"
        raise _named(name, message, value)


def _named(name: str, message: str, value: object) -> ApiError:
    return bad_request(message, param=name, value=value)
