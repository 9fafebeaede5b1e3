"""What the sampler's own forward pass must know about a decoder, and which decoders it can run."""

import re
from dataclasses import dataclass

from grpo_worker.base_model import BaseModel

# Families whose layers are: RMS norm, rotary attention, residual, RMS norm, gated SiLU, residual.
FAMILIES = ("llama", "qwen2", "granite")
# Rotary kinds whose angles depend on the length of the sequence at hand: no table can be made ahead.
MOVING_ROTARY = ("dynamic", "longrope")

ATTENTION = ("q_proj", "k_proj", "v_proj")
MLP = ("gate_proj", "up_proj")


class UnsupportedDecoderError(ValueError):
    """The model is none that the sampler's own forward pass can run. The message says why."""


@dataclass(frozen=True)
class DecoderSpec:
    """Sizes and constants of a Llama-like decoder.

    `attention_scale` multiplies query-key products; the multipliers are 1 except in Granite.
    """

    layers: int
    heads: int
    kv_heads: int
    head_size: int
    epsilon: float
    attention_scale: float
    embedding_multiplier: float
    residual_multiplier: float
    logits_divisor: float

    @property
    def repeats(self) -> int:
        """Query heads that share one key-value head."""
        return self.heads // self.kv_heads


def read_spec(base: BaseModel, weights: dict[str, object]) -> DecoderSpec:
    """Read the sizes from the model's configuration.

    Raises UnsupportedDecoderError for every other family and for options that the forward pass does not have.
    A weight that it would not use is taken as such an option.
    """
    config = base.model.config
    if config.model_type not in FAMILIES:
        raise UnsupportedDecoderError(f"its family is {config.model_type}, not one of {', '.join(FAMILIES)}")
    if config.hidden_act != "silu":
        raise UnsupportedDecoderError(f"its activation is {config.hidden_act}")
    if getattr(config, "quantization_config", None) is not None:
        raise UnsupportedDecoderError("its weights are quantized")
    rotary = config.rope_parameters or {}
    if rotary.get("rope_type", "default") in MOVING_ROTARY or rotary.get("partial_rotary_factor", 1.0) != 1.0:
        raise UnsupportedDecoderError(f"its rotary embedding is {rotary}")
    if getattr(config, "sliding_window", None) is not None:
        raise UnsupportedDecoderError(f"it has a sliding window of {config.sliding_window} tokens")
    unused = sorted(name for name in weights if not _known(name))
    if unused:
        raise UnsupportedDecoderError(f"it has weights of an unknown purpose: {', '.join(unused[:4])}")
    head_size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    return DecoderSpec(
        layers=config.num_hidden_layers,
        heads=config.num_attention_heads,
        kv_heads=config.num_key_value_heads,
        head_size=head_size,
        epsilon=config.rms_norm_eps,
        attention_scale=getattr(config, "attention_multiplier", head_size**-0.5),
        embedding_multiplier=getattr(config, "embedding_multiplier", 1.0),
        residual_multiplier=getattr(config, "residual_multiplier", 1.0),
        logits_divisor=getattr(config, "logits_scaling", 1.0),
    )


_LAYER = re.compile(
    r"model\.layers\.\d+\."
    r"((self_attn\.[qkvo]_proj|mlp\.(gate|up|down)_proj)\.(weight|bias)|(input|post_attention)_layernorm\.weight)"
)
_OUTER = ("model.embed_tokens.weight", "model.norm.weight", "lm_head.weight")


def _known(name: str) -> bool:
    return name in _OUTER or _LAYER.fullmatch(name) is not None
