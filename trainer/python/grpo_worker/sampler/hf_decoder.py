"""Forward pass for every other architecture: the Hugging Face model itself, one group at a time.

Correct for whatever transformers can run, and slower: the prompt's cache is copied for each completion and
grows by concatenation. Adapters are added by hooks on the linear layers, with the learner's own adapter off.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass

import torch
from peft.tuners.tuners_utils import BaseTunerLayer
from torch import nn
from torch.nn.functional import linear
from transformers import DynamicCache

from grpo_worker.base_model import BaseModel
from grpo_worker.logprobs import head_logits
from grpo_worker.sampler.weights import LoraPairs


@dataclass
class HfGroup:
    """Cache of one prompt and its completions that are still active."""

    cache: DynamicCache
    rows: int

    def keep(self, rows: list[int]) -> None:
        """Go on with these rows only, given by their place among the active ones."""
        self.cache.batch_select_indices(torch.tensor(rows))
        self.rows = len(rows)


class HfDecoder:
    """Same methods as Decoder. Not safe for two threads at once; the caller holds the base's lock."""

    def __init__(self, base: BaseModel) -> None:
        self._base = base

    def policy(self, pairs: LoraPairs | None) -> LoraPairs:
        """An adapter's pairs, empty for the base."""
        return pairs or {}

    def prefill(
        self, pairs: LoraPairs, ids: list[int], counts: list[int], tokens: int, *, every: bool
    ) -> tuple[list[HfGroup], torch.Tensor]:
        """See Decoder.prefill."""
        del tokens
        cache = DynamicCache(config=self._base.model.config)
        with adapted(self._base, pairs):
            hidden = self._hidden(torch.tensor([ids]), cache)[0]
        copies = [deepcopy(cache) for _ in counts[1:]]
        groups = []
        for own, rows in zip([cache, *copies], counts, strict=True):
            own.batch_repeat_interleave(rows)
            groups.append(HfGroup(own, rows))
        return groups, hidden if every else hidden[-1:]

    def step(self, pairs: LoraPairs, groups: list[HfGroup], tokens: list[int]) -> torch.Tensor:
        """See Decoder.step."""
        made, start = [], 0
        with adapted(self._base, pairs):
            for group in groups:
                ids = torch.tensor(tokens[start : start + group.rows])[:, None]
                made.append(self._hidden(ids, group.cache)[:, -1])
                start += group.rows
        return torch.cat(made)

    def logits(self, pairs: LoraPairs, hidden: torch.Tensor) -> torch.Tensor:
        """See Decoder.logits."""
        del pairs
        return head_logits(self._base, hidden)

    def _hidden(self, ids: torch.Tensor, cache: DynamicCache) -> torch.Tensor:
        decoder = self._base.model.base_model
        return decoder(input_ids=ids.to(self._base.device), past_key_values=cache).last_hidden_state


@contextmanager
def adapted(base: BaseModel, pairs: LoraPairs) -> Iterator[None]:
    """Inside, the model computes with these pairs and without any PEFT adapter that sits on it."""
    modules = dict(base.model.named_modules())
    tuned = [m for m in modules.values() if isinstance(m, BaseTunerLayer) and not m.disable_adapters]
    hooks = []
    try:
        for layer in tuned:
            layer.enable_adapters(False)
        for name, pair in pairs.items():
            module = modules.get(f"{name}.base_layer") or modules[name]
            hooks.append(module.register_forward_hook(_add(pair)))
        yield
    finally:
        for hook in hooks:
            hook.remove()
        for layer in tuned:
            layer.enable_adapters(True)


def _add(pair: tuple[torch.Tensor, torch.Tensor]) -> Callable[..., torch.Tensor]:
    def hook(_module: nn.Module, inputs: tuple[torch.Tensor, ...], output: torch.Tensor) -> torch.Tensor:
        return output + linear(linear(inputs[0], pair[0]), pair[1])

    return hook
