"""The sampler's own forward pass for Llama-like decoders, on plain base weights with an adapter added."""

from collections.abc import Callable

import torch
from torch.nn.functional import embedding, pad, silu

from grpo_worker.base_model import BaseModel, base_weights
from grpo_worker.sampler.attention import PromptAttention, Rotary, StepAttention
from grpo_worker.sampler.cache import GroupCache, new_cache
from grpo_worker.sampler.spec import DecoderSpec, read_spec
from grpo_worker.sampler.weights import (
    DecoderWeights,
    LayerWeights,
    LoraPairs,
    build_head,
    build_weights,
    choose_layout,
)

# Matrix products run on a multiple of this many rows. CPU libraries switch kernels for fewer rows and then
# sum in another order; with whole blocks the numbers of a row do not depend on how many rows are beside it
# (measured with MKL on x86, one and two threads). Where a library does not keep to that, log-probs differ in
# their last digits, and a token only if its chance falls into the gap.
ROW_BLOCK = 16

Attend = Callable[[int, torch.Tensor], torch.Tensor]


class Decoder:
    """Runs prompts and single steps. Not safe for two threads at once; the caller holds the base's lock."""

    def __init__(self, base: BaseModel) -> None:
        """Raises UnsupportedDecoderError for a model that this forward pass does not cover."""
        self._base = base_weights(base)
        self.spec: DecoderSpec = read_spec(base, self._base)
        embeddings = self._base["model.embed_tokens.weight"]
        self._packed, self._layout = base.packed, choose_layout(base)
        self._head = build_head(self._base, base.packed)
        probe = embeddings.new_zeros(1)
        positions = torch.arange(base.max_context, device=base.device)[None]
        cos, sin = base.model.base_model.rotary_emb(probe, positions)
        self._rotary = Rotary(cos[0], sin[0])

    def policy(self, pairs: LoraPairs | None) -> DecoderWeights:
        """Weights of the base (None) or of the base with an adapter's pairs."""
        return build_weights(self.spec, self._base, self._packed, pairs or {}, self._head, self._layout)

    def prefill(
        self, weights: DecoderWeights, ids: list[int], counts: list[int], tokens: int, *, every: bool
    ) -> tuple[list[GroupCache], torch.Tensor]:
        """Run a prompt once; return a cache for each of `counts` rows, and hidden states.

        `tokens` is the most that a row will have. Hidden states are (1, hidden) for the last position, or
        (prompt, hidden) with `every`.
        """
        like = weights.embedding
        caches = [new_cache(self.spec, like, len(ids), rows, tokens) for rows in counts]
        attend = PromptAttention(self.spec, self._rotary, caches[0], len(ids), last_only=not every)
        hidden = self._run(weights, torch.tensor(ids, device=like.device), attend)
        for other in caches[1:]:
            other.block[..., : len(ids), :] = caches[0].block[..., : len(ids), :]
        return caches, hidden

    def step(self, weights: DecoderWeights, groups: list[GroupCache], tokens: list[int]) -> torch.Tensor:
        """Feed one token to each active row, group after group; return hidden states (rows, hidden)."""
        rows = _blocks(len(tokens))
        ids = torch.tensor(tokens + [0] * (rows - len(tokens)), device=weights.embedding.device)
        attend = StepAttention(self.spec, self._rotary, groups, rows)
        return self._run(weights, ids, attend)[: len(tokens)]

    def logits(self, weights: DecoderWeights, hidden: torch.Tensor) -> torch.Tensor:
        """(rows, hidden) to float32 (rows, vocabulary)."""
        rows = hidden.shape[0]
        made = weights.head(pad(hidden, (0, 0, 0, _blocks(rows) - rows)))[:rows].float()
        return made if self.spec.logits_divisor == 1 else made / self.spec.logits_divisor

    def _run(self, weights: DecoderWeights, ids: torch.Tensor, attend: Attend) -> torch.Tensor:
        x = embedding(ids, weights.embedding)
        if self.spec.embedding_multiplier != 1:
            x = x * self.spec.embedding_multiplier
        for index, layer in enumerate(weights.layers):
            x = self._layer(index, layer, x, attend)
        return self._norm(x, weights.norm)

    def _layer(self, index: int, weights: LayerWeights, x: torch.Tensor, attend: Attend) -> torch.Tensor:
        share = self.spec.residual_multiplier
        qkv = weights.qkv(self._norm(x, weights.attention_norm)).view(x.shape[0], -1, self.spec.head_size)
        attended = attend(index, qkv)
        x = torch.add(x[x.shape[0] - attended.shape[0] :], weights.output(attended), alpha=share)
        gate, up = weights.gate_up(self._norm(x, weights.mlp_norm)).chunk(2, dim=-1)
        return torch.add(x, weights.down(silu(gate) * up), alpha=share)

    def _norm(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        wide = x.float()
        scale = torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.spec.epsilon)
        return (wide * scale).to(x.dtype) * weight


def _blocks(rows: int) -> int:
    return -(-rows // ROW_BLOCK) * ROW_BLOCK
