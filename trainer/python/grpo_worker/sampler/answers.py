"""Answers in vLLM's shapes."""

import time
from typing import Any
from uuid import uuid4

from grpo_worker.sampler.bodies import CompletionBody
from grpo_worker.sampler.engine import Engine, Policy
from grpo_worker.sampler.jobs import Choice, Completed, Job, PromptToken

VERSION = "0.1.0+embedded"
# What vLLM writes for a log-prob of minus infinity, which JSON cannot carry.
IMPOSSIBLE = -9999.0


def model_list(engine: Engine) -> dict[str, Any]:
    """Answer of GET /v1/models."""
    return {"object": "list", "data": [_card(engine, policy) for policy in engine.policies()]}


class CompletionWriter:
    """Writes answers of POST /v1/completions. Keeps the text of every token it has met."""

    def __init__(self, engine: Engine) -> None:
        self._base = engine.base
        self._texts: dict[int, str] = {}

    def write(self, body: CompletionBody, request_id: str, jobs: list[Job], done: list[Completed]) -> dict[str, Any]:
        """The answer: choices of all prompts in one list, index = prompt * n + i."""
        choices = [
            self._choice(body, len(made.choices) * place + choice.index, job, choice, made)
            for place, (job, made) in enumerate(zip(jobs, done, strict=True))
            for choice in made.choices
        ]
        prompt_tokens = sum(len(job.prompt) for job in jobs)
        completion_tokens = sum(len(choice.ids) for made in done for choice in made.choices)
        return {
            "id": f"cmpl-{request_id}",
            "object": "text_completion",
            "created": int(time.time()),
            "model": body.model or self._base.served_name,
            "choices": choices,
            "service_tier": None,
            "system_fingerprint": f"drift-grpo-{VERSION}",
            "usage": {
                "prompt_tokens": prompt_tokens,
                "total_tokens": prompt_tokens + completion_tokens,
                "completion_tokens": completion_tokens,
                "prompt_tokens_details": None,
            },
            "kv_transfer_params": None,
        }

    def _choice(self, body: CompletionBody, index: int, job: Job, choice: Choice, made: Completed) -> dict[str, Any]:
        # The token that ended a completion is among its ids and never in its text.
        shown = choice.ids[:-1] if choice.finish_reason == "stop" else choice.ids
        with_ids = bool(body.return_token_ids)
        as_ids = bool(body.return_tokens_as_token_ids)
        return {
            "index": index,
            "text": self._decode(shown, skip_special_tokens=body.skip_special_tokens),
            "logprobs": None if job.params.logprobs is None else self._logprobs(choice, as_ids),
            "finish_reason": choice.finish_reason,
            "stop_reason": choice.stop_id,
            "token_ids": choice.ids if with_ids else None,
            "prompt_logprobs": None if made.prompt is None else [None, *map(self._scored, made.prompt)],
            "prompt_token_ids": job.prompt if with_ids else None,
        }

    def _logprobs(self, choice: Choice, as_ids: bool) -> dict[str, Any]:
        tokens = [self._name(token, as_ids) for token in choice.ids]
        values = [_number(value) for value in choice.logprobs]
        offsets = [0]
        for token in tokens[:-1]:
            offsets.append(offsets[-1] + len(token))
        tops = [{token: value} for token, value in zip(tokens, values, strict=True)]
        for entry, pairs in zip(tops, choice.tops, strict=False):
            for token, value in pairs:
                entry.setdefault(self._name(token, as_ids), _number(value))
        return {"text_offset": offsets, "token_logprobs": values, "tokens": tokens, "top_logprobs": tops}

    def _scored(self, token: PromptToken) -> dict[str, Any]:
        pairs = [(token.id, token.logprob, token.rank)]
        pairs += [(i, v, rank + 1) for rank, (i, v) in enumerate(token.tops) if i != token.id]
        return {str(i): {"logprob": _number(v), "rank": rank, "decoded_token": self._text(i)} for i, v, rank in pairs}

    def _name(self, token: int, as_id: bool) -> str:
        if as_id:
            return f"token_id:{token}"
        text = self._text(token)
        # A token that is only a part of a character has no text of its own.
        return "" if text.endswith("\ufffd") else text

    def _text(self, token: int) -> str:
        if token not in self._texts:
            self._texts[token] = self._decode([token], skip_special_tokens=False)
        return self._texts[token]

    def _decode(self, ids: list[int], *, skip_special_tokens: bool) -> str:
        return self._base.tokenizer.decode(
            ids, skip_special_tokens=skip_special_tokens, clean_up_tokenization_spaces=False
        )


def _number(value: float) -> float:
    return max(value, IMPOSSIBLE)


def _card(engine: Engine, policy: Policy) -> dict[str, Any]:
    return {
        "id": policy.name,
        "object": "model",
        "created": policy.created,
        "owned_by": "drift-grpo",
        "root": policy.root,
        "parent": policy.parent,
        "max_model_len": engine.base.max_context if policy.parent is None else None,
        "permission": [
            {
                "id": f"modelperm-{uuid4().hex[:16]}",
                "object": "model_permission",
                "created": policy.created,
                "allow_create_engine": False,
                "allow_sampling": True,
                "allow_logprobs": True,
                "allow_search_indices": False,
                "allow_view": True,
                "allow_fine_tuning": False,
                "organization": "*",
                "group": None,
                "is_blocking": False,
            }
        ],
    }
