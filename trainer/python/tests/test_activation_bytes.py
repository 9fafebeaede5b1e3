"""What the policy pass keeps for its backward pass, against the figures that the memory plan computes with."""

import json
from pathlib import Path

import pytest
import torch
from conftest import byte_tokenizer
from portable import attend_as_on_a_gpu
from transformers import GraniteConfig, GraniteForCausalLM, Qwen2Config, Qwen2ForCausalLM

from grpo_worker.policy import load_base
from grpo_worker.prefix import Piece
from grpo_worker.protocol import SessionRequest
from grpo_worker.scoring import prepare, score
from grpo_worker.session import open_session

PLAN = json.loads((Path(__file__).parents[2] / "memory" / "activation-bytes.json").read_text())
MODULES = 7
HEADS = 4
GRANITE = {"logits_scaling": 2.0, "embedding_multiplier": 3.0, "residual_multiplier": 0.5, "attention_multiplier": 0.2}
OPTIMIZER = {"learningRate": 1e-3, "betas": (0.9, 0.999), "epsilon": 1e-8, "weightDecay": 0, "maxGradNorm": 1}


def save(directory: Path, arch: str, width: int, inner: int, layers: int) -> str:
    common = {
        "vocab_size": 258,
        "hidden_size": width,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": HEADS,
        "num_key_value_heads": 2,
        "max_position_embeddings": 512,
    }
    granite = arch == "granite"
    model = (
        GraniteForCausalLM(GraniteConfig(**common, **GRANITE)) if granite else Qwen2ForCausalLM(Qwen2Config(**common))
    )
    path = directory / f"{arch}-{width}-{inner}-{layers}"
    model.save_pretrained(path)
    byte_tokenizer().save_pretrained(path)
    return str(path)


def kept_bytes(path: str, rank: int, piece: Piece) -> int:
    """Bytes of all distinct storages that autograd keeps during the policy pass, weights left out."""
    base = load_base(path, dtype="bfloat16", device="cpu")
    lora = {"rank": rank, "alpha": 2 * rank, "targetModules": "all-linear", "dropout": 0}
    settings = {**OPTIMIZER, "warmupSteps": 0, "decaySteps": 0}
    request = SessionRequest.model_validate({"runId": "r", "seed": 0, "lora": lora, "optimizer": settings})
    session = open_session(base, request)
    weights = {p.untyped_storage().data_ptr() for p in session.peft.parameters()}
    sizes: dict[int, int] = {}
    alive = []

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            sizes[storage.data_ptr()] = storage.nbytes()
        alive.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        score(base, prepare(base, [piece]))
    return sum(sizes.values())


@pytest.mark.parametrize("arch", ["granite", "qwen2"])
@pytest.mark.parametrize(("width", "inner", "rank", "count"), [(64, 160, 8, 1), (128, 320, 16, 2), (64, 640, 8, 4)])
def test_kept_bytes_per_place_and_layer_are_those_of_the_memory_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arch: str, width: int, inner: int, rank: int, count: int
) -> None:
    # The plan is about GPUs; the CPU's own attention keeps less.
    attend_as_on_a_gpu(monkeypatch)
    prompt, length = 128, 65
    piece = Piece([5] * prompt, tuple((6,) * length for _ in range(count)), tuple(range(count)))
    two, four = (kept_bytes(save(tmp_path, arch, width, inner, layers), rank, piece) for layers in (2, 4))
    measured = (four - two) / 2 / piece.tokens
    seen = count * (prompt + length - 1) / piece.tokens
    planned = (
        PLAN["perHidden"] * width
        + PLAN["perIntermediate"] * inner
        + PLAN["perHeadWidthSeen"] * width * seen
        + PLAN["perRankAndModule"] * rank * MODULES
        + PLAN["perHead"] * HEADS
        + PLAN["fixed"]
    )
    assert measured == pytest.approx(planned, rel=0.02)
    assert measured <= planned
