"""Supervised training of the tiny base on token pairs (prompt, completion), one CPU thread, float32."""

import json
import math
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
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
    shape: str = "cosine"

    def rate_at(self, step: int) -> float:
        if step < self.warmup:
            return self.rate * (step + 1) / self.warmup
        done = (step - self.warmup) / max(1, self.steps - self.warmup)
        left = 0.5 * (1 + math.cos(math.pi * done)) if self.shape == "cosine" else 1 - done
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
    return F.cross_entropy(logits, wanted), (logits.argmax(-1) == wanted).float().mean()


def make_optimizer(model: LlamaForCausalLM) -> torch.optim.AdamW:
    matrices = [p for p in model.parameters() if p.dim() > 1]
    scales = [p for p in model.parameters() if p.dim() == 1]
    groups = [{"params": matrices, "weight_decay": 0.05}, {"params": scales, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=0.0, betas=(0.9, 0.98))


def run_phase(
    model: LlamaForCausalLM,
    phase: Phase,
    pairs: Iterator[Pair],
    *,
    budget: int,
    seed: int,
    check: Callable[[int], dict[str, object]] | None = None,
    check_every: int = 500,
    save: Callable[[int], None] | None = None,
    save_every: int = 500,
    log: Path | None = None,
) -> dict[str, float]:
    """Trains through one phase; returns tokens, CPU seconds and the last loss."""
    rng = random.Random(seed)
    optimizer, source = make_optimizer(model), batches(pairs, budget, rng)
    started, tokens, losses, hits = time.process_time(), 0, [], []
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
            losses.append(loss.item())
            hits.append(hit.item())
        last = step + 1 == phase.steps
        if (step + 1) % 50 == 0 or last:
            line: dict[str, object] = {
                "phase": phase.name,
                "step": step + 1,
                "cpu_s": round(time.process_time() - started),
                "ktok": tokens // 1000,
                "loss": round(float(np.mean(losses[-50:])), 4),
                "hit": round(float(np.mean(hits[-50:])), 4),
            }
            if check and ((step + 1) % check_every == 0 or last):
                line |= check(step + 1)
            _report(line, log)
        if save and ((step + 1) % save_every == 0 or last):
            save(step + 1)
    return {"tokens": tokens, "cpu_s": round(time.process_time() - started), "loss": float(np.mean(losses[-50:]))}


def _report(line: dict[str, object], log: Path | None) -> None:
    text = json.dumps(line)
    print(text, flush=True)
    if log:
        with log.open("a") as file:
            file.write(text + "\n")
