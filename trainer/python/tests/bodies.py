"""Session requests and update batches for the tests."""

import json
import random

from grpo_worker.protocol import LossConfig, SessionRequest, UpdateBatch

RUN = "run-a"


def session_body(**lora: object) -> dict:
    """A session as it travels on the wire."""
    return {
        "runId": RUN,
        "seed": 3,
        "lora": {"rank": 4, "alpha": 8, "dropout": 0, "targetModules": "all-linear", **lora},
        "optimizer": {
            "learningRate": 1e-2,
            "betas": [0.9, 0.999],
            "epsilon": 1e-8,
            "weightDecay": 0,
            "warmupSteps": 2,
            "decaySteps": 0,
            "maxGradNorm": 1,
        },
    }


def loss_body(**changes: object) -> dict:
    """A loss configuration as it travels on the wire."""
    return {
        "beta": 0.04,
        "clipLow": 0.2,
        "clipHigh": 0.2,
        "kl": "k3",
        "normalization": "sequence_mean",
        "fixedLength": 16,
        "importanceBounds": None,
        **changes,
    }


def loss_config(**changes: object) -> LossConfig:
    """The same, parsed."""
    return LossConfig.model_validate_json(_json(loss_body(**changes)))


def batch_body(step: int = 0, version: int = 0, budget: int = 4096, seed: int = 0, **loss: object) -> dict:
    """Three groups of uneven prompts and completions, among them completions of a single token."""
    rng = random.Random(seed)

    def tokens(count: int) -> list[int]:
        return [rng.randrange(258) for _ in range(count)]

    def completion(length: int) -> dict:
        lps = [-5 * rng.random() for _ in range(length)]
        return {"tokenIds": tokens(length), "advantage": rng.gauss(0, 1), "samplerLogprobs": lps}

    shapes = [(21, [9, 1, 14, 5]), (6, [3, 11]), (13, [1, 1, 1])]
    groups = [{"promptTokenIds": tokens(p), "completions": [completion(n) for n in sizes]} for p, sizes in shapes]
    return {
        "runId": RUN,
        "step": step,
        "fromVersion": version,
        "tokenBudget": budget,
        "loss": loss_body(**loss),
        "groups": groups,
    }


def session_request(**lora: object) -> SessionRequest:
    """A parsed session."""
    return SessionRequest.parse(_json(session_body(**lora)))


def update_batch(**options: object) -> UpdateBatch:
    """A parsed update."""
    return parsed(batch_body(**options))


def parsed(body: dict) -> UpdateBatch:
    """An update body as the worker reads it."""
    return UpdateBatch.parse(_json(body))


def _json(body: dict) -> bytes:

    return json.dumps(body).encode()
