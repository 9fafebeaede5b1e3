"""Request bodies: what vLLM accepts, checked in its words; what it would do and this sampler cannot is refused."""

import json
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

from grpo_worker.sampler.errors import ApiError, bad_request
from grpo_worker.sampler.params import DEFAULT_MAX_TOKENS, SamplingParams, any_seed, warm

Strict = Annotated[int, Field(strict=True)]


class LoadBody(BaseModel):
    """POST /v1/load_lora_adapter."""

    lora_name: str
    lora_path: str
    load_inplace: bool = False


class UnloadBody(BaseModel):
    """POST /v1/unload_lora_adapter."""

    lora_name: str


class CompletionBody(BaseModel):
    """POST /v1/completions, the fields that are honoured. Null means the default, as in vLLM."""

    model: str | None = None
    prompt: list[Strict] | list[list[Strict]] | str | list[str]
    n: int | None = None
    max_tokens: int | None = DEFAULT_MAX_TOKENS
    min_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    seed: int | None = None
    logprobs: int | None = None
    prompt_logprobs: int | None = None
    stop_token_ids: list[int] | None = None
    ignore_eos: bool = False
    skip_special_tokens: bool = True
    return_token_ids: bool | None = None
    return_tokens_as_token_ids: bool | None = None


# Fields of vLLM that change the answer and are not offered here, with the values that ask for nothing.
NEUTRAL: dict[str, tuple[object, ...]] = {
    "echo": (False,),
    "stream": (False,),
    "best_of": (1,),
    "suffix": ("",),
    "stop": ("", []),
    "logit_bias": ({},),
    "presence_penalty": (0,),
    "frequency_penalty": (0,),
    "repetition_penalty": (1,),
    "min_p": (0,),
    "bad_words": ([],),
    "allowed_token_ids": (),
    "use_beam_search": (False,),
    "truncate_prompt_tokens": (),
    "include_stop_str_in_output": (False,),
    "response_format": ({"type": "text"},),
    "structured_outputs": (),
    "prompt_embeds": (),
    "add_special_tokens": (True,),
}

Body = TypeVar("Body", bound=BaseModel)


def parse_body(kind: type[Body], content_type: str | None, raw: bytes) -> Body:
    """Read a JSON body. Raises ApiError 400 like the framework under vLLM does."""
    if (content_type or "").split(";")[0].strip().lower() != "application/json":
        raise _invalid(["Unsupported Media Type: Only 'application/json' is allowed"], None)
    try:
        data = json.loads(raw)
        if b"\\ud" in raw.lower():
            json.dumps(data, ensure_ascii=False).encode()  # Half a character can be escaped in JSON, but not answered.
    except (ValueError, RecursionError) as error:
        place = error.pos if isinstance(error, json.JSONDecodeError) else 0
        text = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        fault = {"type": "json_invalid", "loc": ("body", place), "msg": "JSON decode error"}
        raise _invalid([{**fault, "input": {}, "ctx": {"error": text}}], f"body.{place}") from error
    if kind is CompletionBody and isinstance(data, dict):
        refuse_unsupported(data)
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        faults = [{**e, "loc": ("body", *e["loc"])} for e in error.errors(include_url=False)]
        raise _invalid(faults, ".".join(str(part) for part in faults[0]["loc"])) from error


def refuse_unsupported(data: dict[str, Any]) -> None:
    """Raise ApiError 400 for a field of vLLM that asks for something this sampler does not do."""
    for name, neutral in NEUTRAL.items():
        value = data.get(name)
        if value is not None and value not in neutral:
            raise bad_request(f"{name} is not supported by the embedded sampler.", param=name, value=value)


def sampling_params(body: CompletionBody) -> SamplingParams:
    """Parameters of a request, defaults filled in. Raises ApiError 400 for a value outside its range."""
    top_k = _default(body.top_k, 0)
    return SamplingParams(
        n=_default(body.n, 1),
        temperature=warm(_default(body.temperature, 1.0)),
        top_p=_default(body.top_p, 1.0),
        top_k=0 if top_k == -1 else top_k,
        seed=any_seed() if body.seed in (None, -1) else body.seed,
        max_tokens=_default(body.max_tokens, DEFAULT_MAX_TOKENS),
        min_tokens=_default(body.min_tokens, 0),
        stop_ids=tuple(body.stop_token_ids or ()),
        ignore_eos=body.ignore_eos,
        logprobs=body.logprobs,
        prompt_logprobs=body.prompt_logprobs,
    )


def _default(value: Any, default: Any) -> Any:
    return default if value is None else value


def _invalid(faults: list[Any], param: str | None) -> ApiError:
    lines = "\n".join(f"  {fault}" for fault in faults)
    message = f"{len(faults)} validation error{'s' if len(faults) != 1 else ''}:\n{lines}"
    return ApiError(400, message, "Bad Request", param)
