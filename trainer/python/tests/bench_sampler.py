"""Decoding speed beside transformers, in one run, as a ratio of CPU seconds; prints one JSON line.

    PYTHONPATH=trainer/python OMP_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE python trainer/python/tests/bench_sampler.py

Without --model a random Llama of 2M parameters is used. `cache` prefills each prompt once and copies its
DynamicCache for the group; `generate` is `model.generate(num_return_sequences=n)`.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable

import torch
from transformers import AutoModelForCausalLM, DynamicCache, LlamaConfig, LlamaForCausalLM, PreTrainedModel

from grpo_worker.base_model import BaseModel
from grpo_worker.sampler.engine import Engine
from grpo_worker.sampler.params import SamplingParams


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model")
    parser.add_argument("--prompts", type=int, default=8)
    parser.add_argument("--prompt-tokens", type=int, default=250)
    parser.add_argument("--group", type=int, default=4)
    parser.add_argument("--tokens", type=int, default=70)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


def tiny() -> PreTrainedModel:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=1024,
        hidden_size=192,
        intermediate_size=512,
        num_hidden_layers=4,
        num_attention_heads=6,
        num_key_value_heads=6,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
    )
    return LlamaForCausalLM(config)


@torch.inference_mode()
def by_cache(model: PreTrainedModel, prompts: torch.Tensor, group: int, tokens: int) -> None:
    cache = DynamicCache(config=model.config)
    hidden = model.base_model(input_ids=prompts, past_key_values=cache).last_hidden_state[:, -1]
    cache.batch_repeat_interleave(group)
    logits = model.lm_head(hidden).repeat_interleave(group, 0)
    for step in range(tokens):
        ids = torch.multinomial(logits.float().softmax(-1), 1)
        logits.float().log_softmax(-1).gather(1, ids)
        if step < tokens - 1:
            logits = model.lm_head(model.base_model(input_ids=ids, past_key_values=cache).last_hidden_state[:, -1])


@torch.inference_mode()
def by_generate(model: PreTrainedModel, prompts: torch.Tensor, group: int, tokens: int) -> None:
    model.generate(
        input_ids=prompts,
        attention_mask=torch.ones_like(prompts),
        do_sample=True,
        top_k=0,
        max_new_tokens=tokens,
        min_new_tokens=tokens,
        num_return_sequences=group,
        pad_token_id=0,
        output_logits=True,
        return_dict_in_generate=True,
    )


def by_engine(engine: Engine, prompts: torch.Tensor, group: int, tokens: int) -> None:
    params = [
        SamplingParams(n=group, max_tokens=tokens, seed=i, logprobs=0, ignore_eos=True) for i in range(len(prompts))
    ]
    jobs = [engine.submit("base", [ids], p)[0] for ids, p in zip(prompts.tolist(), params, strict=True)]
    for job in jobs:
        job.future.result()


def cpu_seconds(work: Callable[[], None]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    options = parse()
    torch.set_num_threads(options.threads)
    model = (AutoModelForCausalLM.from_pretrained(options.model) if options.model else tiny()).eval()
    model.requires_grad_(False)
    limit = options.prompt_tokens + options.tokens
    base = BaseModel(model, None, "", "base", torch.float32, torch.device("cpu"), limit, [])
    engine = Engine(base)
    generator = torch.Generator().manual_seed(1)
    prompts = torch.randint(0, base.vocab_size, (options.prompts, options.prompt_tokens), generator=generator)
    shape = (prompts, options.group, options.tokens)
    ways = {
        "engine": lambda: by_engine(engine, *shape),
        "cache": lambda: by_cache(model, *shape),
        "generate": lambda: by_generate(model, *shape),
    }
    rounds = [{name: cpu_seconds(way) for name, way in ways.items()} for _ in range(options.rounds + 1)][1:]
    seconds = {name: round(statistics.median(r[name] for r in rounds), 3) for name in ways}
    best = {name: round(min(r[name] for r in rounds), 3) for name in ways}
    ratio = {name: round(statistics.median(r[name] / r["engine"] for r in rounds), 2) for name in ("cache", "generate")}
    print(json.dumps({"parameters": base.parameters, **vars(options), "median": seconds, "best": best, "ratio": ratio}))


if __name__ == "__main__":
    main()
