"""Keys and values of a prompt and of the completions that grow from it, in one preallocated block."""

from dataclasses import dataclass

import torch

from grpo_worker.sampler.spec import DecoderSpec

# Completions that share one block. Each looks at all keys of its block and masks the others' away, so the
# work grows with this number while the prompt is read once for all of them.
ROWS = 4


@dataclass
class GroupCache:
    """Cache of one prompt and up to ROWS completions.

    `block` is (layers, 2, kv heads, places, head size): first the prompt, then for each step one place a
    row that is still active. `bias` is (rows * repeats, places): 0 where a row may look, else -inf.
    `used` counts the places, `position` the tokens that each row has behind it.
    """

    block: torch.Tensor
    bias: torch.Tensor
    repeats: int
    used: int
    position: int

    @property
    def rows(self) -> int:
        """Completions that are still active."""
        return self.bias.shape[0] // self.repeats

    def open_places(self) -> None:
        """Take one new place for each active row, visible to that row only."""
        rows, start = self.rows, self.used
        self.used += rows
        self.position += 1
        own = self.bias.view(rows, self.repeats, -1)[:, :, start : self.used]
        own.diagonal(dim1=0, dim2=2).zero_()

    def keep(self, rows: list[int]) -> None:
        """Go on with these rows only, given by their place among the active ones."""
        bias = self.bias.view(self.rows, self.repeats, -1)[rows]
        self.bias = bias.reshape(len(rows) * self.repeats, -1)


def new_cache(spec: DecoderSpec, like: torch.Tensor, prompt: int, rows: int, tokens: int) -> GroupCache:
    """Room for a prompt and for `rows` completions of at most `tokens` tokens; dtype and device as `like`.

    The last token of a completion is never fed back and needs no place.
    """
    places = prompt + rows * max(0, tokens - 1)
    bias = like.new_full((rows * spec.repeats, places), -torch.inf)
    bias[:, :prompt] = 0
    return GroupCache(
        block=like.new_empty(spec.layers, 2, spec.kv_heads, places, spec.head_size),
        bias=bias,
        repeats=spec.repeats,
        used=prompt,
        position=prompt,
    )
