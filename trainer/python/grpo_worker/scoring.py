"""Log-probs of the completions of some pieces under the model as it stands, adapter on or off."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch

from grpo_worker.base_model import BaseModel
from grpo_worker.logprobs import TokenLogprobs, token_logprobs
from grpo_worker.packing import pack
from grpo_worker.plain import PaddedBatch, batch_hidden, build_batch
from grpo_worker.prefix import Piece, Row, build_row, row_hidden


@dataclass(frozen=True)
class MicroBatch:
    """Model inputs of some pieces. Built once and used by the reference and by the policy pass alike."""

    pieces: list[Piece]
    inputs: Row | PaddedBatch
    targets: torch.Tensor  # (N,) the sampled token ids, completion after completion

    @property
    def order(self) -> list[int]:
        """Index in the optimizer step of each completion, in the order of the targets."""
        return [index for piece in self.pieces for index in piece.indexes]

    @property
    def lengths(self) -> list[int]:
        """Number of sampled tokens of each completion, in the same order."""
        return [len(c) for piece in self.pieces for c in piece.completions]


def micro_batches(base: BaseModel, pieces: Iterable[Piece], budget: int) -> list[list[Piece]]:
    """Cut an optimizer step by token budget. Without prefix sharing each completion counts its own prompt."""
    if base.prefix_sharing:
        return pack(list(pieces), budget)
    singles = [
        Piece(piece.prompt, (completion,), (index,))
        for piece in pieces
        for completion, index in zip(piece.completions, piece.indexes, strict=True)
    ]
    return pack(singles, budget)


def prepare(base: BaseModel, pieces: Sequence[Piece]) -> MicroBatch:
    """Make the model's inputs."""
    build = build_row if base.prefix_sharing else build_batch
    targets = [token for piece in pieces for completion in piece.completions for token in completion]
    return MicroBatch(list(pieces), build(pieces, base.device), torch.tensor(targets, device=base.device))


def score(base: BaseModel, batch: MicroBatch) -> TokenLogprobs:
    """Run the decoder and the head; N log-probs and entropies in the order of the targets."""
    return token_logprobs(base, _hidden(base, batch.inputs), batch.targets)


def _hidden(base: BaseModel, inputs: Row | PaddedBatch) -> torch.Tensor:
    if isinstance(inputs, PaddedBatch):
        return batch_hidden(base.model.base_model, inputs)
    if base.row_decoder is not None:
        return base.row_decoder.hidden(inputs)
    return row_hidden(base.model.base_model, inputs)
