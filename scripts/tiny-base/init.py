"""The tiny base before any training: a Llama whose first two layers already copy.

A small Llama learns to copy late. Here the weights of three heads in layer 0 and three in layer 1 are written by hand:

- layer 0, head j: attends to the token j+1 places back (the rotary angle of a constant query and key peaks there) and
  writes that token's embedding, projected, into a part of the residual stream of its own;
- layer 1, heads 0 to 2: look for the place where the tokens before it equal the current token and the ones before
  it, and write the embedding of the token found there, which the tied output layer reads;
- layer 2, head 0: looks at places with the same two tokens before them, so that a name that was just written can find
  out where else it stands. What it reports from there is left to training.

Everything else starts random and small. All of it is trained afterwards like any other weight.
"""

import math

import torch
from transformers import LlamaConfig, LlamaForCausalLM

SHAPE = {"hidden_size": 160, "intermediate_size": 384, "num_hidden_layers": 4, "num_attention_heads": 5}
HEAD_SIZE = 32
ROPE_THETA = 1e6
PREVIOUS = 3  # how many places back layer 0 looks
WIDTH = 20  # residual dimensions kept for each of them
SCALE = 0.08  # deviation of an embedding's entries
COPY_GAIN = 6.0
MATCH_SHARPNESS = 24.0
OFFSET_SHARPNESS = (12.0, 10.0, 8.0, 5.0)  # for the fastest rotary pairs, in attention score
STILL = 0.0035  # rotary pairs slower than this (radians a token) hardly see the distance


def make_model(vocab_size: int, end_id: int, start_id: int, seed: int = 0) -> LlamaForCausalLM:
    """A fresh model, float32. `end_id` ends a turn and pads; `start_id` opens one."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=vocab_size,
        **SHAPE,
        num_key_value_heads=SHAPE["num_attention_heads"],
        head_dim=HEAD_SIZE,
        max_position_embeddings=2400,
        tie_word_embeddings=True,
        initializer_range=0.02,
        rope_parameters={"rope_type": "default", "rope_theta": ROPE_THETA},
        bos_token_id=start_id,
        eos_token_id=end_id,
        pad_token_id=end_id,
    )
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        layout = _Layout(config.hidden_size)
        _write_embeddings(model, layout)
        _write_previous_token_heads(model, layout)
        _write_copy_heads(model, layout)
        _write_twin_head(model, layout)
    return model


class _Layout:
    """Who uses which dimensions of the residual stream: token content, one constant, then the previous tokens."""

    def __init__(self, hidden: int) -> None:
        content = hidden - PREVIOUS * WIDTH - 1
        self.content = slice(0, content)
        self.constant = content
        self.previous = [slice(content + 1 + WIDTH * j, content + 1 + WIDTH * (j + 1)) for j in range(PREVIOUS)]
        constant_energy = 25.0  # the constant is 5 deviations high
        # What the RMS norms of layers 0 and 1 turn one deviation of content into.
        self.entry = [math.sqrt(hidden / (content + constant_energy + PREVIOUS * WIDTH * filled)) for filled in (0, 1)]
        self.projection = _orthogonal(WIDTH, content)


def _orthogonal(rows: int, columns: int) -> torch.Tensor:
    size = max(rows, columns)
    return torch.linalg.qr(torch.randn(size, size))[0][:rows, :columns]


def _frequencies() -> list[float]:
    half = HEAD_SIZE // 2
    return [ROPE_THETA ** (-i / half) for i in range(half)]


def _write_embeddings(model: LlamaForCausalLM, layout: _Layout) -> None:
    table = model.model.embed_tokens.weight
    table.zero_()
    table[:, layout.content] = torch.randn(table.shape[0], layout.constant) * SCALE
    table[:, layout.constant] = 5 * SCALE


def _clear_head(attention: torch.nn.Module, head: int) -> slice:
    rows = slice(HEAD_SIZE * head, HEAD_SIZE * (head + 1))
    for projection in (attention.q_proj, attention.k_proj, attention.v_proj):
        projection.weight[rows] = 0
    attention.o_proj.weight[:, rows] = 0
    return rows


def _write_previous_token_heads(model: LlamaForCausalLM, layout: _Layout) -> None:
    attention = model.model.layers[0].self_attn
    frequencies, half = _frequencies(), HEAD_SIZE // 2
    constant = 5 * layout.entry[0]
    for j in range(PREVIOUS):
        first = _clear_head(attention, j).start
        for i, sharpness in enumerate(OFFSET_SHARPNESS):
            size = math.sqrt(sharpness * math.sqrt(HEAD_SIZE)) / constant
            angle = (j + 1) * frequencies[i]
            attention.k_proj.weight[first + i, layout.constant] = size
            attention.q_proj.weight[first + i, layout.constant] = size * math.cos(angle)
            attention.q_proj.weight[first + i + half, layout.constant] = -size * math.sin(angle)
        used = slice(first, first + WIDTH)
        attention.v_proj.weight[used, layout.content] = layout.projection
        attention.o_proj.weight[layout.previous[j], used] = torch.eye(WIDTH) * (SCALE / layout.entry[0])


def _still_places() -> list[int]:
    """Entries of a query or key that the distance between two tokens hardly changes."""
    still = [i for i, frequency in enumerate(_frequencies()) if frequency < STILL]
    return still + [i + HEAD_SIZE // 2 for i in still]


def _write_copy_heads(model: LlamaForCausalLM, layout: _Layout) -> None:
    attention = model.model.layers[1].self_attn
    entry, places = layout.entry[1], _still_places()
    size = math.sqrt(MATCH_SHARPNESS * math.sqrt(HEAD_SIZE) / (len(places) * entry**2))
    nearest = len(places) // PREVIOUS + 2  # the current token counts most
    second = (len(places) - nearest) // 2
    shares = (nearest, second, len(places) - nearest - second)
    values = _orthogonal(layout.constant, layout.constant)
    for head in range(3):
        first, place = _clear_head(attention, head).start, 0
        for back, share in enumerate(shares):
            rows = [first + p for p in places[place : place + share]]
            place += share
            mix = _orthogonal(share, WIDTH) * size
            seen = layout.previous[back - 1] if back else layout.content
            attention.q_proj.weight[rows, seen] = mix if back else mix @ layout.projection
            attention.k_proj.weight[rows, layout.previous[back]] = mix
        part = values[HEAD_SIZE * head : HEAD_SIZE * (head + 1)]
        used = slice(first, first + part.shape[0])
        attention.v_proj.weight[used, layout.content] = part
        attention.o_proj.weight[layout.content, used] = part.T * (COPY_GAIN * SCALE / entry)


def _write_twin_head(model: LlamaForCausalLM, layout: _Layout) -> None:
    attention, places = model.model.layers[2].self_attn, _still_places()
    share = len(places) // 2
    size = math.sqrt(MATCH_SHARPNESS * math.sqrt(HEAD_SIZE) / len(places)) / layout.entry[1]
    for back, rows in enumerate((places[:share], places[share:])):
        mix = _orthogonal(len(rows), WIDTH) * size
        for projection in (attention.q_proj, attention.k_proj):
            projection.weight[rows] = 0
            projection.weight[rows, layout.previous[back]] = mix
