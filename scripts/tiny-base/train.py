"""Supervised training of the tiny base on token pairs (prompt, completion), one CPU thread, float32."""

import json
import math
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from transformers import LlamaForCausalLM

Pair = tuple[np.ndarray, np.ndarray]  # token ids of a prompt and of its completion with the end token


@dataclass(frozen=True)
class Phase:
    """One stretch of training. `floor` is the share of the rate that is left at its end."""

    name: str
    steps: int
    rate: float
    warmup: int
    floor: float
    drills: float  # share of batches that are pure copy drills

    def rate_at(self, step: int) -> float:
        """Linear warm-up, then half a cosine."""
        if step < self.warmup:
            return self.rate * (step + 1) / self.warmup
        done = (step - self.warmup) / max(1, self.steps - self.warmup)
        left = 0.5 * (1 + math.cos(math.pi * done))
        return self.rate * (self.floor + (1 - self.floor) * left)


def batches(pairs: Iterator[Pair], budget: int, rng: random.Random) -> Iterator[list[Pair]]:
    """Batches of pairs of like length whose padded size stays near `budget` tokens."""
    while True:
        window = sorted((next(pairs) for _ in range(1024)), key=lambda pair: len(pair[0]) + len(pair[1]))
        cut: list[list[Pair]] = [[]]
        for pair in window:
            if (len(cut[-1]) + 1) * (len(pair[0]) + len(pair[1])) > budget and cut[-1]:
                cut.append([])
            cut[-1].append(pair)
        rng.shuffle(cut)
        yield from cut


def drill(vocab_size: int, rng: random.Random) -> Pair:
    """Random tokens that come again after some others: can only be copied."""

    def draw(low, high):
        return [rng.randrange(2, vocab_size) for _ in range(rng.randint(low, high))]

    shown = draw(8, 30)
    prompt = draw(0, 60) + shown + draw(0, 60) + shown[:1]
    return np.array(prompt), np.array([*shown[1:], 1])


def completion_loss(model: LlamaForCausalLM, batch: list[Pair]) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean cross-entropy of the completions' tokens, and the share of them that are the model's first choice."""
    rows = [np.concatenate(pair) for pair in batch]
    longest = max(map(len, rows)) - 1
    ids = np.ones((len(rows), longest), dtype=np.int64)
    for i, row in enumerate(rows):
        ids[i, : len(row) - 1] = row[:-1]
    # Padding stands behind the text, so causal attention never sees it.
    hidden = model.model(input_ids=torch.from_numpy(ids), use_cache=False).last_hidden_state
    where = [
        (i, t) for i, (prompt, done) in enumerate(batch) for t in range(len(prompt) - 1, len(prompt) + len(done) - 1)
    ]
    at = torch.tensor(where)
    logits = model.lm_head(hidden[at[:, 0], at[:, 1]])
    wanted = torch.from_numpy(np.concatenate([done for _, done in batch]).astype(np.int64))
    return cross_entropy(logits, wanted), (logits.argmax(-1) == wanted).float().mean()


def make_optimizer(model: LlamaForCausalLM) -> torch.optim.AdamW:
    """AdamW; norms are not decayed. The rate is set at each step."""
    matrices = [p for p in model.parameters() if p.dim() > 1]
    scales = [p for p in model.parameters() if p.dim() == 1]
    groups = [{"params": matrices, "weight_decay": 0.05}, {"params": scales, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=0.0, betas=(0.9, 0.98))


def run_phase(
    model: LlamaForCausalLM, phase: Phase, pairs: Iterator[Pair], *, budget: int, seed: int, log: Path
) -> None:
    """Trains through one phase; every 50 steps a line of JSON goes to stdout and to the log."""
    rng = random.Random(seed)
    optimizer, source = make_optimizer(model), batches(pairs, budget, rng)
    started, tokens = time.process_time(), 0
    recent: list[tuple[float, float]] = []
    for step in range(phase.steps):
        is_drill = rng.random() < phase.drills
        batch = [drill(model.config.vocab_size, rng) for _ in range(budget // 110)] if is_drill else next(source)
        for group in optimizer.param_groups:
            group["lr"] = phase.rate_at(step)
        loss, hit = completion_loss(model, batch)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        tokens += sum(len(prompt) + len(done) for prompt, done in batch)
        if not is_drill:
            recent = [*recent, (loss.item(), hit.item())][-50:]
        if (step + 1) % 50 == 0:
            means = [round(mean(values), 4) for values in zip(*recent, strict=True)]
            cpu = round(time.process_time() - started)
            _report({"phase": phase.name, "step": step + 1, "cpu_s": cpu, "tokens": tokens, "loss_hit": means}, log)


def _report(line: dict[str, object], log: Path) -> None:
    text = json.dumps(line)
    print(text, flush=True)
    with log.open("a") as file:
        file.write(text + "\n")
