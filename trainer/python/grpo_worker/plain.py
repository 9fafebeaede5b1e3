"""The ordinary batch: one padded row a completion, the prompt computed for each of them.

Used for models whose attention cannot share a prefix (sliding windows, linear attention), and by the tests
as the yardstick for prefix sharing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from grpo_worker.prefix import Piece


@dataclass(frozen=True)
class PaddedBatch:
    """B rows padded on the right to length L; N sampled tokens in completion order."""

    input_ids: torch.Tensor  # (B, L)
    attention_mask: torch.Tensor  # (B, L), 1 at real tokens, made from lengths
    predict: torch.Tensor  # (N,) places in the flattened batch


def build_batch(pieces: Sequence[Piece], device: torch.device) -> PaddedBatch:
    """One row for each completion of each piece."""
    rows = [(list(piece.prompt), completion) for piece in pieces for completion in piece.completions]
    longest = max(len(prompt) + len(completion) - 1 for prompt, completion in rows)
    ids = torch.zeros(len(rows), longest, dtype=torch.long)
    mask = torch.zeros(len(rows), longest, dtype=torch.long)
    predict: list[int] = []
    for i, (prompt, completion) in enumerate(rows):
        row = [*prompt, *completion[:-1]]
        ids[i, : len(row)] = torch.tensor(row)
        mask[i, : len(row)] = 1
        predict.extend(range(i * longest + len(prompt) - 1, i * longest + len(row)))
    return PaddedBatch(ids.to(device), mask.to(device), torch.tensor(predict, device=device))


def batch_hidden(decoder: torch.nn.Module, batch: PaddedBatch) -> torch.Tensor:
    """Last hidden states (N, width) of the places that predict a sampled token."""
    out = decoder(input_ids=batch.input_ids, attention_mask=batch.attention_mask, use_cache=False)
    return out.last_hidden_state.flatten(0, 1).index_select(0, batch.predict)
