"""The service's components as reward functions of TRL's GRPOTrainer: one each, over one request a batch."""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grpo_rewards.client import RewardService, RewardServiceError, ScoredCompletion

logger = logging.getLogger(__name__)

RewardFunction = Callable[..., list[float | None]]


@dataclass
class _Batch:
    """The last batch that was scored. TRL calls every function with the same batch, one after the other."""

    service: RewardService
    column: str
    key: str = ""
    scored: list[ScoredCompletion] = field(default_factory=list)

    def of(self, prompts: Sequence[Any], completions: Sequence[Any], labels: Sequence[Any]) -> list[ScoredCompletion]:
        """Scores the batch, unless it is the one that was scored last: equal in content, not merely the same object."""
        asked = [_prompt(label, prompt) for label, prompt in zip(labels, prompts, strict=True)]
        texts = [_text(completion) for completion in completions]
        key = json.dumps([asked, texts], sort_keys=True)
        if key != self.key:
            scored = self.service.score(asked, texts)
            for one in scored:
                if one.unreadable:
                    raise RewardServiceError(f"column {self.column}: {one.unscored}")
            self.key, self.scored = key, scored
            for reason in {one.unscored for one in self.scored if one.unscored is not None}:
                logger.warning("a completion has no reward: %s", reason)
        return self.scored


def reward_functions(
    service: RewardService, column: str = "drift_prompt", partial: bool = False
) -> tuple[list[RewardFunction], list[float]]:
    """Reward functions, one a component, and their weights: `reward_funcs` and `reward_weights` of GRPOTrainer.

    `column` of the data set says which prompt a row is: the id of a prompt in the service's pool, or an object (or its
    JSON text) with node, facts and target. A function returns the component's raw value, so TRL's
    `rewards/<component>/mean` is between the component's bounds and `reward` is R.

    A completion that could not be scored (the judge failed) is None in every function: TRL leaves such a row out of its
    group and out of the loss. With `partial` only the component that failed is None, and TRL adds up the others: such a
    completion competes with its group at a handicap.
    """
    batch = _Batch(service, column)
    components = service.components()
    return [_function(batch, c.name, partial) for c in components], [c.weight for c in components]


def _function(batch: _Batch, name: str, partial: bool) -> RewardFunction:
    def reward(prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> list[float | None]:
        labels = columns.get(batch.column)
        if labels is None:
            raise RewardServiceError(f"the data set has no column {batch.column}; it says which prompt a row is")
        scored = batch.of(prompts, completions, labels)
        return [one.raw.get(name) if partial or one.total is not None else None for one in scored]

    # TRL names its metrics after the function.
    reward.__name__ = name
    return reward


def _text(completion: Any) -> str:
    """A completion is a text, or the messages of one turn."""
    return completion if isinstance(completion, str) else completion[0]["content"]


def _prompt(label: Any, prompt: Any) -> Mapping[str, Any]:
    """What the service gets as the prompt of a row."""
    if isinstance(label, str) and not label.lstrip().startswith("{"):
        return {"id": label}
    given = json.loads(label) if isinstance(label, str) else label
    if not isinstance(given, Mapping) or "facts" not in given or "messages" in given:
        return given
    messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else list(prompt)
    if messages[0]["role"] != "system":
        messages.insert(0, {"role": "system", "content": ""})
    return {**given, "messages": messages}
