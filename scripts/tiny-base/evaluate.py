"""Samples a model on pool records and scores the samples with the project's own rewards."""

import argparse
import json
import random
from collections import defaultdict
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerFast

from completions import Record
from data import read_records, render
from sample import sample
from scorer import Scorer


def text_of(tokenizer: PreTrainedTokenizerFast, ids: list[int]) -> str:
    """Decoded completion without the end token that the sampler stopped on."""
    return tokenizer.decode(ids[:-1] if ids and ids[-1] == tokenizer.eos_token_id else ids)


def evaluate(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    records: list[Record],
    scorer: Scorer,
    *,
    samples: int = 4,
    temperature: float = 1.0,
    seed: int = 123,
    max_new: int = 220,
) -> tuple[dict[str, object], list[float]]:
    """Means over all samples and for each node, and the mean R of each prompt."""
    state = torch.get_rng_state()
    torch.manual_seed(seed)
    prompts = [tokenizer(render(record["messages"])).input_ids for record in records]
    order = sorted(range(len(records)), key=lambda i: len(prompts[i]))
    scores: list[list[dict]] = [[] for _ in records]
    lengths: list[int] = []
    for start in range(0, len(order), 20):
        chunk = order[start : start + 20]
        groups = sample(model, [prompts[i] for i in chunk], samples, max_new, temperature)
        for i, group in zip(chunk, groups, strict=True):
            scores[i] = scorer(records[i], [text_of(tokenizer, ids) for ids in group])
            lengths += map(len, group)
    torch.set_rng_state(state)
    return summarise(records, scores, lengths), [_mean(s["total"] for s in group) for group in scores]


def summarise(records: list[Record], scores: list[list[dict]], lengths: list[int]) -> dict[str, object]:
    """Means of rewards, of exactly right answers and of lengths."""
    by_node: dict[str, list[dict]] = defaultdict(list)
    for record, group in zip(records, scores, strict=True):
        by_node[record["node"]] += group
    everything = [score for group in by_node.values() for score in group]
    return {
        "R": _mean(s["total"] for s in everything),
        "right": _mean(float(s["right"]) for s in everything),
        "strict": _mean(float(s["parts"]["strict_format"] > 0) for s in everything),
        "judge": _mean(s["parts"].get("judge", 0.0) for s in everything),
        "tokens": _mean(lengths),
        "R_node": {node: _mean(s["total"] for s in found) for node, found in sorted(by_node.items())},
        "right_node": {node: _mean(float(s["right"]) for s in found) for node, found in sorted(by_node.items())},
    }


def _mean(values) -> float:
    values = list(values)
    return round(sum(values) / max(1, len(values)), 4)


def main() -> None:
    """Prints one JSON object of means; with --show, completions first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("pool", type=Path)
    parser.add_argument("--samples", type=int, default=4)
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--limit", type=int, default=None)
    parser.add_argument("--show", type=int, default=0, help="print that many completions of each node")
    given = parser.parse_args()
    torch.set_num_threads(1)
    tokenizer = AutoTokenizer.from_pretrained(given.model)
    model = AutoModelForCausalLM.from_pretrained(given.model, dtype=torch.float32).eval()
    records, scorer = read_records(given.pool, given.limit), Scorer()
    if given.show:
        show(model, tokenizer, records, scorer, given.show, given.temperature)
    result, _ = evaluate(model, tokenizer, records, scorer, samples=given.samples, temperature=given.temperature)
    print(json.dumps(result))
    scorer.close()


def show(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    records: list[Record],
    scorer: Scorer,
    count: int,
    temperature: float,
) -> None:
    """Prints completions of each node with their R and target."""
    shuffled = random.Random(0).sample(records, len(records))
    for node in ("n1", "n2", "n3", "n4", "n5"):
        for record in [record for record in shuffled if record["node"] == node][:count]:
            prompt = render(record["messages"])
            (ids,) = sample(model, [tokenizer(prompt).input_ids], 1, 220, temperature)[0]
            text = text_of(tokenizer, ids)
            (score,) = scorer(record, [text])
            print(f"--- {node} R {score['total']:.2f} right {score['right']} target {json.dumps(record['target'])}")
            print(text)


if __name__ == "__main__":
    main()
