"""The JSON bodies of the learner routes. Field names on the wire are camelCase; unknown ones are refused.

Numbers are strict: no strings for numbers, no fractions for integers, no NaN and no infinity.
"""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from grpo_worker.errors import WorkerError

# The largest number that a JSON reader of any language takes exactly; torch takes no seed beyond 64 bits.
LARGEST = 2**53 - 1
Count = Annotated[int, Field(ge=0, le=LARGEST)]
Natural = Annotated[int, Field(ge=1, le=LARGEST)]
# No sampler loads a larger one.
Rank = Annotated[int, Field(ge=1, le=512)]
Decay = Annotated[float, Field(ge=0, lt=1)]
Positive = Annotated[float, Field(gt=0)]
NonNegative = Annotated[float, Field(ge=0)]
Text = Annotated[str, Field(min_length=1)]
TokenIds = Annotated[list[Count], Field(min_length=1)]


class Wire(BaseModel):
    """Base of all bodies."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        frozen=True,
        validate_by_name=True,
        validate_by_alias=True,
    )

    @classmethod
    def parse(cls, raw: bytes) -> Self:
        """Read a body. Raises WorkerError that names the first wrong field and says what is wrong with it."""
        try:
            return cls.model_validate_json(raw, by_alias=True, by_name=False)
        except ValidationError as error:
            first, count = error.errors(include_url=False)[0], error.error_count()
            where = ".".join(str(part) for part in first["loc"]) or "body"
            more = f" (and {count - 1} more)" if count > 1 else ""
            raise WorkerError("InvalidRequest", f"{where}: {first['msg']}{more}") from error

    def wire(self) -> dict:
        """Plain values under their names on the wire."""
        return self.model_dump(by_alias=True)

    def to_bytes(self) -> bytes:
        """The body as it is sent; `parse` reads it again."""
        return self.model_dump_json(by_alias=True).encode()


class LoraSettings(Wire):
    """Shape of the adapter."""

    rank: Rank
    alpha: Positive
    dropout: Literal[0]
    target_modules: Literal["all-linear"] | Annotated[list[str], Field(min_length=1)]


class OptimizerSettings(Wire):
    """AdamW, linear warm-up and decay (in versions), and the gradient norm to clip at."""

    learning_rate: Positive
    betas: tuple[Decay, Decay]
    epsilon: Positive
    weight_decay: NonNegative
    warmup_steps: Count
    decay_steps: Count
    max_grad_norm: Positive


class SessionRequest(Wire):
    """Everything that is fixed for a run."""

    run_id: Text
    seed: Count
    lora: LoraSettings
    optimizer: OptimizerSettings


class SessionAnswer(Wire):
    """The session as it stands."""

    run_id: str
    version: int
    lora_parameters: int


class LossConfig(Wire):
    """How advantages become a loss."""

    beta: NonNegative
    clip_low: Positive
    clip_high: Positive
    kl: Literal["k3", "k2", "ratio_k3"]
    normalization: Literal["sequence_mean", "token_mean", "fixed_length"]
    fixed_length: Natural
    importance_bounds: tuple[Positive, Positive] | None

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.importance_bounds and self.importance_bounds[0] > self.importance_bounds[1]:
            raise ValueError("importanceBounds must be [lower, upper]")
        return self


class UpdateCompletion(Wire):
    """One sampled answer: its token ids, its advantage, and what the sampler said of each token."""

    token_ids: TokenIds
    advantage: float
    sampler_logprobs: list[float]

    @model_validator(mode="after")
    def _same_length(self) -> Self:
        if len(self.sampler_logprobs) != len(self.token_ids):
            raise ValueError(
                f"samplerLogprobs has {len(self.sampler_logprobs)} entries for {len(self.token_ids)} tokenIds"
            )
        return self


class UpdateGroup(Wire):
    """The completions of one prompt."""

    prompt_token_ids: TokenIds
    completions: Annotated[list[UpdateCompletion], Field(min_length=1)]


class UpdateBatch(Wire):
    """One optimizer step."""

    run_id: Text
    step: Count
    from_version: Count
    token_budget: Natural
    loss: LossConfig
    groups: Annotated[list[UpdateGroup], Field(min_length=1)]


class ClipRatio(Wire):
    """Share of tokens clipped below, above, and either way."""

    low: float
    high: float
    region: float


class Mismatch(Wire):
    """Worker against sampler over all sampled tokens, at the version sampled from."""

    mean_abs: float
    max_abs: float
    outside_share: float
    k3: float


class TokenCounts(Wire):
    """Tokens of the step, every prompt once."""

    prompt: int
    completion: int


class UpdateResult(Wire):
    """What one optimizer step did."""

    run_id: str
    step: Count
    from_version: Count
    version: Natural
    payload_hash: str
    loss: float
    kl: float
    entropy: float
    grad_norm: float
    clip_ratio: ClipRatio
    learning_rate: float
    mismatch: Mismatch
    tokens: TokenCounts
    seconds: float
    peak_rss_bytes: int


class Message(Wire):
    """One chat message."""

    role: Text
    content: str


class TokenizePrompt(Wire):
    """A prompt to render with the chat template."""

    id: Text
    messages: Annotated[list[Message], Field(min_length=1)]


class TokenizeRequest(Wire):
    """Prompts to turn into token ids."""

    prompts: list[TokenizePrompt]


class LogprobsItem(Wire):
    """A prompt and the tokens after it that are to be scored."""

    prompt_token_ids: TokenIds
    token_ids: TokenIds


class LogprobsRequest(Wire):
    """Score tokens with the adapter off ("base") or on ("current")."""

    version: Literal["base", "current"]
    items: Annotated[list[LogprobsItem], Field(min_length=1)]


class PathRequest(Wire):
    """A directory to write or to read."""

    path: Text


class SavedSession(Wire):
    """What a state directory says about itself."""

    format: Literal[1]
    model_hash: str
    request: SessionRequest
    version: Count
    results: list[UpdateResult]
    adapter_sha256: str
    optimizer_sha256: str
    # Where micro-batches are cut decides how sums round: a resumed run has to cut as the stopped one did.
    fitting_budget: Natural | None = None
