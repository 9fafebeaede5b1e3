"""One flat row of groups for prefix sharing: each prompt once, then the inputs of its completions.

    row        p0 p1 p2 | a0 a1 | b0 b1 b2 | next group …        (completions a0 a1 a2 and b0 b1 b2 b3)
    positions   0  1  2 |  3  4 |  3  4  5 |
    predicts         a0 | a1 a2 | b1 b2 b3 |   (p2 predicts b0 as well)

A completion's positions restart behind the prompt, and it sees the prompt and its own past only, so what
comes out is what a batch of separate prompt + completion rows gives, up to rounding.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from grpo_worker.attention import GroupSlice

Tokens = Sequence[int]


@dataclass(frozen=True)
class Piece:
    """A prompt and some of its completions, given by their index in the optimizer step."""

    prompt: Tokens
    completions: tuple[Tokens, ...]
    indexes: tuple[int, ...]

    @property
    def tokens(self) -> int:
        """Places that the piece takes in a row."""
        return len(self.prompt) + sum(len(c) - 1 for c in self.completions)


@dataclass(frozen=True)
class Row:
    """A micro-batch ready for the model. T places in the row, N sampled tokens in completion order."""

    input_ids: torch.Tensor  # (1, T)
    position_ids: torch.Tensor  # (1, T)
    layout: list[GroupSlice]
    predict: torch.Tensor  # (N,) places whose output predicts a sampled token
    reading: torch.Tensor  # (M,) the same places, each once and in the row's order
    predict_reading: torch.Tensor  # (N,) where in `reading` each of `predict` is found


def build_row(pieces: Sequence[Piece], device: torch.device) -> Row:
    """Lay the pieces one behind the other."""
    ids: list[int] = []
    positions: list[int] = []
    predict: list[int] = []
    layout: list[GroupSlice] = []
    reading: list[int] = []
    predict_reading: list[int] = []
    for piece in pieces:
        start, length = len(ids), len(piece.prompt)
        inputs = tuple(len(c) - 1 for c in piece.completions)
        ids.extend(piece.prompt)
        positions.extend(range(length))
        first = len(reading) - len(ids) + 1  # from a place in the row to one in `reading`
        for completion in piece.completions:
            predict.append(start + length - 1)
            predict_reading.append(start + length - 1 + first)
            predict_reading.extend(range(len(ids) + first, len(ids) + len(completion) - 1 + first))
            predict.extend(range(len(ids), len(ids) + len(completion) - 1))
            ids.extend(completion[:-1])
            positions.extend(range(length, length + len(completion) - 1))
        reading.extend(range(start + length - 1, len(ids)))
        layout.append(GroupSlice(length, inputs, _mask(length, max(inputs), device)))
    return Row(
        input_ids=torch.tensor([ids], device=device),
        position_ids=torch.tensor([positions], device=device),
        layout=layout,
        predict=torch.tensor(predict, device=device),
        reading=torch.tensor(reading, device=device),
        predict_reading=torch.tensor(predict_reading, device=device),
    )


def row_hidden(decoder: torch.nn.Module, row: Row) -> torch.Tensor:
    """Last hidden states (N, width) of the places that predict a sampled token."""
    # A mask of four dimensions is passed on as it is, which stops transformers from building one of its own.
    no_mask = torch.zeros(1, 1, 1, 1, device=row.input_ids.device)
    out = decoder(
        input_ids=row.input_ids,
        position_ids=row.position_ids,
        attention_mask=no_mask,
        use_cache=False,
        layout=row.layout,
    )
    return out.last_hidden_state[0].index_select(0, row.predict)


def _mask(prompt: int, longest: int, device: torch.device) -> torch.Tensor | None:
    if longest == 0:
        return None
    return torch.ones(longest, prompt + longest, dtype=torch.bool, device=device).tril(prompt)
