"""One optimizer step: reference and policy pass of each micro-batch, backward, clip, AdamW.

Old log-probs are the worker's own at the version that sampled. As that is the version the step starts
from, and there is one step a batch, they equal the policy's: the ratio is exactly 1 and only its gradient
matters.
"""

import logging
import time

import torch
from pydantic import ValidationError
from pydantic.alias_generators import to_camel

from grpo_worker.base_model import BaseModel
from grpo_worker.errors import WorkerError
from grpo_worker.loss import importance_weights, token_loss, token_weights
from grpo_worker.memory import is_out_of_memory, peak_rss_bytes, release_cached_memory
from grpo_worker.prefix import Piece
from grpo_worker.protocol import TokenCounts, UpdateBatch, UpdateCompletion, UpdateResult
from grpo_worker.ranks import Ranks
from grpo_worker.scoring import MicroBatch, micro_batches, prepare, score
from grpo_worker.session import Session, adapter_off, learning_rate
from grpo_worker.tally import Tally

log = logging.getLogger(__name__)


def run_update(base: BaseModel, session: Session, batch: UpdateBatch, payload_hash: str, ranks: Ranks) -> UpdateResult:
    """Do the step and advance the session by one version. All ranks get here with the same batch.

    Raises WorkerError NonFiniteUpdate when loss or gradient is not a finite number; adapter, optimizer and
    version are then what they were before.
    """
    started = time.perf_counter()
    rate = learning_rate(session.request.optimizer, session.version)
    try:
        pieces = ranks.share(pieces_of(batch))
        tally = ranks.agreed(lambda: gradient_of(base, session, batch, pieces))
        ranks.sum_gradients(session.parameters)
        tally.add_ranks(ranks)
        result = _report(session, batch, tally, _clipped_norm(session), rate, payload_hash)
        for group in session.optimizer.param_groups:
            group["lr"] = rate
        session.optimizer.step()
    finally:
        session.optimizer.zero_grad(set_to_none=True)
    session.version += 1
    return result.model_copy(
        update={"seconds": time.perf_counter() - started, "peak_rss_bytes": peak_rss_bytes()},
    )


def _report(
    session: Session, batch: UpdateBatch, tally: Tally, norm: float, rate: float, payload_hash: str
) -> UpdateResult:
    """The result as it will be, made before the optimizer moves: a number that is not finite stops the step."""
    try:
        return UpdateResult(
            run_id=batch.run_id,
            step=batch.step,
            from_version=batch.from_version,
            version=session.version + 1,
            payload_hash=payload_hash,
            loss=tally.loss(),
            kl=tally.mean("kl"),
            entropy=tally.mean("entropy"),
            grad_norm=norm,
            clip_ratio=tally.clip_ratio(),
            learning_rate=rate,
            mismatch=tally.mismatch(),
            tokens=TokenCounts(prompt=sum(len(g.prompt_token_ids) for g in batch.groups), completion=tally.tokens),
            seconds=0,
            peak_rss_bytes=0,
        )
    except ValidationError as error:
        fields = ", ".join(sorted({to_camel(str(e["loc"][0])) for e in error.errors()}))
        raise WorkerError(
            "NonFiniteUpdate",
            f"the update has no finite {fields} (loss {tally.loss()}, gradient norm {norm}); nothing was changed. "
            "Lower optimizer.learningRate, or look at this step's advantages and log-probs",
        ) from error


def gradient_of(base: BaseModel, session: Session, batch: UpdateBatch, pieces: list[Piece]) -> Tally:
    """Leave the gradient of these pieces of the step on the adapter, in micro-batches that fit in memory.

    When memory runs out the budget is halved and the step begun anew. The result depends on the budget only by
    rounding; the budget that was found is part of the saved session, so that a resumed run rounds alike.
    """
    least = max((len(piece.prompt) + len(c) - 1 for piece in pieces for c in piece.completions), default=1)
    budget = min(batch.token_budget, session.fitting_budget or batch.token_budget)
    while True:
        session.optimizer.zero_grad(set_to_none=True)
        try:
            return accumulate(base, session, batch, micro_batches(base, pieces, budget))
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error) or budget <= least:
                raise
        # Outside of the handler: the error's frames hold the tensors that have to go.
        release_cached_memory()
        budget = max(budget // 2, least)
        session.fitting_budget = budget
        log.warning("out of memory: going on with micro-batches of %d tokens, from now on", budget)


def accumulate(base: BaseModel, session: Session, batch: UpdateBatch, cut: list[list[Piece]]) -> Tally:
    """Add up the gradient, one micro-batch after the other."""
    completions = [completion for group in batch.groups for completion in group.completions]
    weights = token_weights([len(c.token_ids) for c in completions], batch.loss)
    tally = Tally(base.device)
    for pieces in cut:
        _micro_step(base, session, batch, prepare(base, pieces), completions, weights, tally)
    return tally


def pieces_of(batch: UpdateBatch) -> list[Piece]:
    """The groups as pieces; completions are numbered through the step."""
    pieces: list[Piece] = []
    first = 0
    for group in batch.groups:
        tokens = tuple(c.token_ids for c in group.completions)
        pieces.append(Piece(group.prompt_token_ids, tokens, tuple(range(first, first + len(tokens)))))
        first += len(tokens)
    return pieces


def _micro_step(
    base: BaseModel,
    session: Session,
    batch: UpdateBatch,
    micro: MicroBatch,
    completions: list[UpdateCompletion],
    weights: list[float],
    tally: Tally,
) -> None:
    config, order = batch.loss, micro.order
    repeats = torch.tensor(micro.lengths)

    def spread(values: list[float]) -> torch.Tensor:
        per_completion = torch.tensor([values[i] for i in order], dtype=torch.float32)
        return per_completion.repeat_interleave(repeats).to(base.device)

    sampler = torch.tensor([x for i in order for x in completions[i].sampler_logprobs], device=base.device)
    reference = _reference(base, session, micro) if config.beta > 0 else None
    scored = score(base, micro)
    old = scored.logprobs.detach()
    bounds = config.importance_bounds
    losses = token_loss(
        scored.logprobs,
        old,
        reference,
        spread([c.advantage for c in completions]),
        config,
        None if bounds is None else importance_weights(old, sampler, bounds),
    )
    token_weight = spread(weights)
    (losses.loss * token_weight).sum().backward()
    tally.add(losses, token_weight, scored.entropy, old, sampler)


def _reference(base: BaseModel, session: Session, micro: MicroBatch) -> torch.Tensor:
    with torch.no_grad(), adapter_off(session):
        return score(base, micro).logprobs


def _clipped_norm(session: Session) -> float:
    return float(torch.nn.utils.clip_grad_norm_(session.parameters, session.request.optimizer.max_grad_norm))
