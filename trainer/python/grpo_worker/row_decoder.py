"""The learner's own forward pass over a shared row, for Llama-like decoders, adapter on or off.

It computes what the model's own forward pass computes, with less: projections of one input share their work
(`lora_math`), attention makes no copies (`row_attention`), and the last layer answers only for the places
that predict a sampled token; of the prompt it makes keys and values there and nothing more. `probe` compares
it with the model before it is used.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

from grpo_worker.attention import attend_grouped
from grpo_worker.base_model import BaseModel, base_weights, linear_layers
from grpo_worker.lora_math import Projection, gated, project, projection, rotate
from grpo_worker.packed import PackedLayer
from grpo_worker.prefix import Row
from grpo_worker.row_attention import row_attention
from grpo_worker.sampler.spec import DecoderSpec, read_spec


@dataclass(frozen=True)
class RowDecoder:
    """Runs the layers of `decoder` as they stand: an adapter on them counts when it is switched on."""

    decoder: nn.Module
    spec: DecoderSpec
    packed: Mapping[nn.Module, PackedLayer]

    def hidden(self, row: Row) -> Tensor:
        """Last hidden states (N, width) of the places that predict a sampled token."""
        ids, positions = row.input_ids[0], row.position_ids
        x = embedding(ids, self.decoder.embed_tokens.weight)
        if self.spec.embedding_multiplier != 1:
            x = x * self.spec.embedding_multiplier
        cos, sin = (table[0] for table in self.decoder.rotary_emb(x[None], position_ids=positions))
        layers = self.decoder.layers
        for layer in layers[:-1]:
            x = self._layer(layer, x, row, cos, sin, None)
        x = self._layer(layers[-1], x, row, cos, sin, row.reading)
        return self.decoder.norm(x).index_select(0, row.predict_reading)

    def _layer(self, layer: nn.Module, x: Tensor, row: Row, cos: Tensor, sin: Tensor, reading: Tensor | None) -> Tensor:
        attention, mlp, spec = layer.self_attn, layer.mlp, self.spec
        norm, epsilon = layer.input_layernorm.weight, spec.epsilon
        query, key, value = (self._projection(m) for m in (attention.q_proj, attention.k_proj, attention.v_proj))
        if reading is None:
            q, k, v = project(x, (query, key, value), norm, epsilon)
            turn = cos, sin
        else:
            k, v = project(x, (key, value), norm, epsilon)
            x = x.index_select(0, reading)
            (q,) = project(x, (query,), norm, epsilon)
            turn = cos.index_select(0, reading), sin.index_select(0, reading)
        q, k, v = (t.view(t.shape[0], -1, spec.head_size) for t in (q, k, v))
        q, k = rotate(q, *turn), rotate(k, cos, sin)
        mixed = self._attend(q, k, v, row, last=reading is not None).flatten(1)
        (out,) = project(mixed, (self._projection(attention.o_proj),))
        x = torch.add(x, out, alpha=spec.residual_multiplier)
        opened = self._projection(mlp.gate_proj), self._projection(mlp.up_proj)
        gate, up = project(x, opened, layer.post_attention_layernorm.weight, epsilon)
        return torch.add(x, gated(gate, up, self._projection(mlp.down_proj)), alpha=spec.residual_multiplier)

    def _projection(self, module: nn.Module) -> Projection:
        return projection(module, self.packed)

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, row: Row, *, last: bool) -> Tensor:
        scale = self.spec.attention_scale
        if q.device.type == "cpu":
            return row_attention(q, k, v, row.layout, scale, last=last)
        heads = (x.transpose(0, 1)[None] for x in (q, k, v))
        return attend_grouped(*heads, row.layout, scale, last=last)[0]


def row_decoder(base: BaseModel) -> RowDecoder:
    """Raises UnsupportedDecoderError for a model that this forward pass does not cover."""
    layers = linear_layers(base)
    packed = {layers[name]: layer for name, layer in base.packed.items() if name in layers}
    return RowDecoder(base.model.base_model, read_spec(base, base_weights(base)), packed)
