"""A step of the reference recipes' sizes on a GPU, random weights; one JSON line a model.

python gpu.py --expect     print what is expected of an A100, from its roofline; needs no GPU
"""

import argparse
import json
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from common import answer

ROOT = Path(__file__).parents[3]
RANK, GROUP, PROMPT, COMPLETION, PROMPTS = 128, 4, 1600, 700, 4
# NVIDIA's data sheet of the A100 80 GB SXM: dense bfloat16 and memory bandwidth.
PEAK_FLOPS, BANDWIDTH = 312e12, 2.039e12
# Shares of the roofline that we expect to reach: matrix products of these sizes, and decoding in vLLM.
TRAIN_SHARE, DECODE_SHARE = 0.40, 0.60
GIB = 2**30


@dataclass(frozen=True)
class Shape:
    """Sizes of a Llama-like decoder."""

    family: str
    hidden: int
    inner: int
    layers: int
    heads: int
    kv_heads: int
    head: int
    vocabulary: int

    @property
    def body(self) -> int:
        """Parameters of the layers' matrices."""
        attention = self.hidden * self.head * (2 * self.heads + 2 * self.kv_heads)
        return self.layers * (attention + 3 * self.hidden * self.inner)

    @property
    def adapter(self) -> int:
        """Parameters of an adapter on all of them."""
        q, kv = self.heads * self.head, self.kv_heads * self.head
        sides = 2 * (self.hidden + q) + 2 * (self.hidden + kv) + 3 * (self.hidden + self.inner)
        return self.layers * RANK * sides


SHAPES = {
    "granite-2b": Shape("granite", 2048, 8192, 40, 32, 8, 64, 49159),
    "qwen-1.5b": Shape("qwen2", 1536, 8960, 28, 12, 2, 128, 151936),
}


def step_flops(s: Shape) -> float:
    """Of the update: reference and policy forward, backward without gradients of the base's weights."""
    places = PROMPT + GROUP * (COMPLETION - 1)
    pairs = PROMPT**2 / 2 + GROUP * COMPLETION * (PROMPT + COMPLETION / 2)
    attention = 4 * pairs * s.layers * s.heads * s.head
    head = 2 * GROUP * COMPLETION * s.hidden * s.vocabulary
    forward = 2 * places * s.body + attention
    adapter = 2 * places * s.adapter
    return PROMPTS * (3 * forward + attention + 4 * adapter + 3 * head)


def expectation(s: Shape) -> dict:
    """Tokens a second, seconds and memory on an A100 80 GB."""
    tokens = PROMPTS * (PROMPT + GROUP * (COMPLETION - 1))
    update = step_flops(s) / (PEAK_FLOPS * TRAIN_SHARE)
    rows = PROMPTS * GROUP
    weights = 2 * (s.body + s.hidden * s.vocabulary)
    cache = rows * 4 * s.layers * s.kv_heads * s.head * (PROMPT + COMPLETION / 2)
    decode = rows * BANDWIDTH * DECODE_SHARE / (weights + cache)
    return {
        "updateSeconds": update,
        "updateTokensPerSecond": tokens / update,
        "mfu": TRAIN_SHARE,
        "decodeTokensPerSecond": decode,
        "decodeSeconds": rows * COMPLETION / decode,
        "memoryGiB": (weights + 16 * s.adapter + _activations(s)) / GIB,
    }


def _activations(s: Shape) -> float:
    """Bytes kept for the backward pass of a micro-batch of one group, by the memory plan's figures."""
    plan = json.loads((ROOT / "trainer/memory/activation-bytes.json").read_text())
    places = PROMPT + GROUP * (COMPLETION - 1)
    seen = GROUP * (PROMPT + COMPLETION - 1) / places
    width = s.heads * s.head
    a_place = plan["perHidden"] * s.hidden + plan["perIntermediate"] * s.inner + plan["perHeadWidthSeen"] * width * seen
    small = plan["perRankAndModule"] * RANK * 7 + plan["perHead"] * s.heads + plan["fixed"]
    return s.layers * places * (a_place + small)


def measure(s: Shape) -> dict:
    """The same figures of this machine: the update with our worker, sampling with vLLM where it is installed."""
    import torch
    from own import Own, random_prompts

    with tempfile.TemporaryDirectory() as directory:
        _make(s, directory)
        own = Own(directory, RANK, "bfloat16")
        prompts = random_prompts(PROMPTS, PROMPT, s.vocabulary)
        groups = [_completions(ids, s.vocabulary) for ids in prompts]
        budget = PROMPT + GROUP * COMPLETION
        own.update(groups, budget)
        torch.cuda.reset_peak_memory_stats()
        start = time.perf_counter()
        for _ in range(3):
            own.update(groups, budget)
        torch.cuda.synchronize()
        update = (time.perf_counter() - start) / 3
        peak = torch.cuda.max_memory_allocated() / GIB
        own.close()
        del own
        torch.cuda.empty_cache()
        decode = _vllm(directory, prompts)
    tokens = PROMPTS * (PROMPT + GROUP * (COMPLETION - 1))
    return {
        "device": torch.cuda.get_device_name(),
        "updateSeconds": update,
        "updateTokensPerSecond": tokens / update,
        "mfu": step_flops(s) / update / PEAK_FLOPS,
        "decodeTokensPerSecond": decode,
        "memoryGiB": peak,
    }


def _make(s: Shape, directory: str) -> None:
    """A model of this shape with random weights; the tokenizer is only there to be loaded."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    sizes = {"hidden_size": s.hidden, "intermediate_size": s.inner, "num_hidden_layers": s.layers}
    heads = {"num_attention_heads": s.heads, "num_key_value_heads": s.kv_heads}
    config = AutoConfig.for_model(s.family, **sizes, **heads, vocab_size=s.vocabulary, max_position_embeddings=4096)
    config.tie_word_embeddings = True
    with torch.device("cuda"):
        AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16).save_pretrained(directory)
    AutoTokenizer.from_pretrained(ROOT / "data/tiny-base").save_pretrained(directory)


def _completions(prompt: list[int], vocabulary: int) -> dict:
    from own import random_prompts

    rows = random_prompts(GROUP, COMPLETION, vocabulary)
    marks = [1.0, -1.0, 0.5, -0.5]
    lps = [0.0] * COMPLETION
    completions = [
        {"tokenIds": ids, "advantage": mark, "samplerLogprobs": lps} for ids, mark in zip(rows, marks, strict=True)
    ]
    return {"promptTokenIds": prompt, "completions": completions}


def _vllm(directory: str, prompts: list[list[int]]) -> float | None:
    """Completion tokens a second of vLLM, the whole batch at once; None without vLLM."""
    try:
        from vllm import LLM, SamplingParams, TokensPrompt
    except ImportError:
        return None
    engine = LLM(model=directory, skip_tokenizer_init=True, gpu_memory_utilization=0.6, max_model_len=4096)
    params = SamplingParams(n=GROUP, max_tokens=COMPLETION, ignore_eos=True, temperature=1.0, detokenize=False)
    inputs = [TokensPrompt(prompt_token_ids=ids) for ids in prompts]
    engine.generate(inputs, params)
    start = time.perf_counter()
    engine.generate(inputs, params)
    return PROMPTS * GROUP * COMPLETION / (time.perf_counter() - start)


def main() -> None:
    """Expectation of each model, and what was measured unless only the expectation is wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--expect", action="store_true")
    work = parser.parse_args()
    for name, shape in SHAPES.items():
        answer(model=name, shape=asdict(shape), expected=expectation(shape))
    if work.expect:
        return
    import torch

    if not torch.cuda.is_available():
        raise SystemExit(3)
    for name, shape in SHAPES.items():
        answer(model=name, measured=measure(shape))


if __name__ == "__main__":
    main()
