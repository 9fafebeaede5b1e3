"""The frozen base model that the learner and the embedded sampler share."""

from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

import torch
from torch import nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from grpo_worker.packed import PackedLayer, pack_layer, packing_pays

if TYPE_CHECKING:
    from grpo_worker.row_decoder import RowDecoder

HEAD = "lm_head"


@dataclass
class BaseModel:
    """One copy of the base weights and all that is fixed about it.

    `lock` guards every computation on the model: whoever runs a forward pass holds it, so that a
    sampler request never sees the learner's adapter switched on or off half-way. `prefix_sharing` is false
    for architectures whose attention cannot do it; every completion then carries its own prompt. `row_decoder`
    is our own forward pass over shared rows, None for models that it does not cover. `packed` are the linear
    layers by their names in the checkpoint, and the head as HEAD; empty where packing does not pay.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    path: str
    served_name: str
    dtype: torch.dtype
    device: torch.device
    max_context: int
    eos_token_ids: list[int]
    prefix_sharing: bool = True
    row_decoder: "RowDecoder | None" = None
    packed: dict[str, PackedLayer] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    @property
    def vocab_size(self) -> int:
        """Rows of the output embedding: the number of token ids that the model accepts."""
        return int(self.model.get_output_embeddings().weight.shape[0])

    @property
    def parameters(self) -> int:
        """Number of base parameters, an adapter not counted, tied weights counted once."""
        seen = {tensor.data_ptr(): tensor.numel() for tensor in base_weights(self).values()}
        return sum(seen.values())


def base_weights(base: BaseModel) -> dict[str, torch.Tensor]:
    """Plain base weights by their names in the checkpoint, whether or not an adapter is wrapped around them.

    The tensors are the live ones, not copies. Tied weights appear under each of their names.
    """
    return {
        name.replace(".base_layer.", "."): tensor
        for name, tensor in base.model.named_parameters(remove_duplicate=False)
        if ".lora_" not in name
    }


def linear_layers(base: BaseModel) -> dict[str, nn.Linear]:
    """The linear layers that an adapter may sit on, by their names in the checkpoint (the head is left out)."""
    head = base.model.get_output_embeddings()
    return {
        name.removesuffix(".base_layer"): module
        for name, module in base.model.named_modules()
        if isinstance(module, nn.Linear) and module is not head and ".lora_" not in name
    }


def linear_modules(base: BaseModel) -> set[str]:
    """Last parts of their names."""
    return {name.rsplit(".", 1)[-1] for name in linear_layers(base)}


def pack_layers(base: BaseModel) -> dict[str, PackedLayer]:
    """Packed copies of the linear layers and the head, where that pays."""
    head = base.model.get_output_embeddings()
    if not packing_pays(head.weight, base.parameters):
        return {}
    layers = linear_layers(base) | ({HEAD: head} if head.bias is None else {})
    return {name: pack_layer(layer.weight) for name, layer in layers.items()}
