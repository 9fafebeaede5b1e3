"""One training run inside the worker: adapter, optimizer, version, results of the steps done."""

from collections import OrderedDict
from contextlib import nullcontext
from dataclasses import dataclass, field

import torch
from peft import LoraConfig, PeftModel, TaskType, get_peft_model

from grpo_worker.base_model import BaseModel, linear_modules
from grpo_worker.errors import WorkerError
from grpo_worker.protocol import OptimizerSettings, SessionRequest, UpdateResult

# Results kept for repeated requests. A loop repeats its last step, never one that lies this far back.
KEPT_RESULTS = 64


@dataclass
class Session:
    """A live run. `version` counts optimizer steps; version 0 computes exactly what the base computes.

    `fitting_budget` is the token budget that memory was found to allow, None while every budget has fitted.
    """

    request: SessionRequest
    peft: PeftModel
    parameters: list[torch.nn.Parameter]
    optimizer: torch.optim.Optimizer
    version: int = 0
    results: OrderedDict[int, UpdateResult] = field(default_factory=OrderedDict)
    fitting_budget: int | None = None

    def remember(self, result: UpdateResult) -> None:
        """Store the result of a step that is done."""
        self.results[result.step] = result
        while len(self.results) > KEPT_RESULTS:
            self.results.popitem(last=False)


def open_session(base: BaseModel, request: SessionRequest) -> Session:
    """Put a fresh adapter on the base (B = 0, A drawn from the seed) and make its optimizer.

    The adapter weights are float32 whatever the base is. Raises WorkerError for module names that the model
    does not have: an adapter that matches nothing would train without effect.
    """
    _check_targets(base, request.lora.target_modules)
    config = LoraConfig(
        r=request.lora.rank,
        lora_alpha=request.lora.alpha,
        lora_dropout=0.0,
        target_modules=request.lora.target_modules,
        bias="none",
        task_type=TaskType.CAUSAL_LM,
    )
    devices = [base.device] if base.device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(request.seed)
        peft = get_peft_model(base.model, config)
    peft.eval()
    parameters = [p for p in peft.parameters() if p.requires_grad]
    return Session(request, peft, parameters, _adamw(parameters, request.optimizer))


def close_session(session: Session) -> None:
    """Take the adapter off; the base model is as it was loaded."""
    session.peft.unload()


def adapter_off(session: Session | None):
    """Context in which the model computes as the reference: same weights, adapter off, nothing merged."""
    return session.peft.disable_adapter() if session is not None else nullcontext()


def learning_rate(settings: OptimizerSettings, version: int) -> float:
    """The rate of the update from version k.

    Warm-up: (k + 1) / warmupSteps of the full rate, at most all of it. Then it stays, or falls linearly over
    decaySteps updates; updates beyond those keep the rate of the last one.
    """
    warmup, decay = settings.warmup_steps, settings.decay_steps
    rise = min(1.0, (version + 1) / warmup) if warmup else 1.0
    fall = min(1.0, max(1, warmup + decay - version) / decay) if decay else 1.0
    return settings.learning_rate * min(rise, fall)


def _adamw(parameters: list[torch.nn.Parameter], settings: OptimizerSettings) -> torch.optim.AdamW:
    return torch.optim.AdamW(
        parameters,
        lr=settings.learning_rate,
        betas=settings.betas,
        eps=settings.epsilon,
        weight_decay=settings.weight_decay,
        fused=True,
    )


def _check_targets(base: BaseModel, targets: str | list[str]) -> None:
    if isinstance(targets, str):
        return
    known = linear_modules(base)
    unknown = sorted(set(targets) - known)
    if unknown:
        raise WorkerError(
            "InvalidRequest",
            f"lora.targetModules: the model has no {', '.join(unknown)}; it has {', '.join(sorted(known))}",
        )
