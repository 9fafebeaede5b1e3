"""One GRPO step of this project, without a server around it: the embedded sampler, then the worker's update."""

import json
import random
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path

from common import ALPHA, BETA, RATE, Clock, reward

from grpo_worker.policy import load_base
from grpo_worker.protocol import PathRequest, SessionRequest, UpdateBatch
from grpo_worker.sampler.engine import Engine
from grpo_worker.sampler.jobs import Completed
from grpo_worker.sampler.params import SamplingParams
from grpo_worker.worker import Worker

POLICY = "policy"
LOSS = {
    "beta": BETA,
    "clipLow": 0.2,
    "clipHigh": 0.2,
    "kl": "k3",
    "normalization": "sequence_mean",
    "fixedLength": 96,
    "importanceBounds": None,
}


def session_body(rank: int) -> dict:
    """A run as it travels on the wire."""
    optimizer = {"learningRate": RATE, "betas": [0.9, 0.999], "epsilon": 1e-8, "weightDecay": 0, "maxGradNorm": 1}
    return {
        "runId": "bench",
        "seed": 0,
        "lora": {"rank": rank, "alpha": ALPHA, "dropout": 0, "targetModules": "all-linear"},
        "optimizer": {**optimizer, "warmupSteps": 0, "decaySteps": 0},
    }


def advantages(rewards: list[float]) -> list[float]:
    """(r - mean) / (std + 1e-4) with the sample deviation."""
    mean = sum(rewards) / len(rewards)
    deviation = (sum((r - mean) ** 2 for r in rewards) / (len(rewards) - 1)) ** 0.5
    return [(r - mean) / (deviation + 1e-4) for r in rewards]


class Own:
    """A worker with an open session and a sampler that has that session's first adapter loaded."""

    def __init__(self, model: str, rank: int, dtype: str = "auto") -> None:
        self.base = load_base(model, dtype=dtype)
        self.worker, self.engine = Worker(self.base, "bench"), Engine(self.base)
        self.worker.open(SessionRequest.parse(json.dumps(session_body(rank)).encode()))
        with tempfile.TemporaryDirectory() as directory:
            path = str(Path(directory) / "adapter")
            self.worker.save_adapter(PathRequest(path=path))
            self.engine.load(POLICY, path)

    def sample(self, prompts: list[list[int]], group: int, tokens: int, seed: int) -> list[dict]:
        """Groups as an update wants them; completions have exactly `tokens` tokens."""
        jobs = []
        for i, ids in enumerate(prompts):
            params = SamplingParams(n=group, max_tokens=tokens, min_tokens=tokens, seed=seed + i, logprobs=0)
            jobs += self.engine.submit(POLICY, [ids], params)
        return [_group(ids, job.future.result()) for ids, job in zip(prompts, jobs, strict=True)]

    def update(self, groups: list[dict], budget: int) -> None:
        """One optimizer step, from the bytes of its request on."""
        step = self.worker.session.version
        body = {"runId": "bench", "step": step, "fromVersion": step, "tokenBudget": budget, "loss": LOSS}
        self.worker.update(UpdateBatch.parse(json.dumps({**body, "groups": groups}).encode()))

    def step(self, prompts: list[list[int]], group: int, tokens: int, clock: Clock, budget: int | None = None) -> None:
        """Sample and update. Without a budget a micro-batch is one group."""
        part: AbstractContextManager[None] = clock.part("sample")
        with part:
            groups = self.sample(prompts, group, tokens, self.worker.session.version * len(prompts))
        with clock.part("update"):
            self.update(groups, budget or max(map(len, prompts)) + group * tokens)

    def close(self) -> None:
        """End the sampler's thread."""
        self.engine.close()


def random_prompts(count: int, length: int, vocabulary: int) -> list[list[int]]:
    """Random token ids, away from the special ones at the start of the vocabulary."""
    rng = random.Random(length)
    return [[rng.randrange(10, vocabulary) for _ in range(length)] for _ in range(count)]


def _group(prompt: list[int], done: Completed) -> dict:
    ids = [choice.ids for choice in done.choices]
    rows = zip(done.choices, advantages([reward(one) for one in ids]), strict=True)
    completions = [{"tokenIds": c.ids, "advantage": a, "samplerLogprobs": c.logprobs} for c, a in rows]
    return {"promptTokenIds": prompt, "completions": completions}
