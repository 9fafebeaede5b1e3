"""The learner behind the HTTP routes: one base model, at most one session, one computation at a time."""

import logging
from dataclasses import dataclass, field
from itertools import groupby

import torch

from grpo_worker import protocol
from grpo_worker.adapters import WEIGHTS, copy_weights, write_adapter
from grpo_worker.base_model import BaseModel
from grpo_worker.chat import tokenize_prompt
from grpo_worker.errors import WorkerError
from grpo_worker.files import new_directory
from grpo_worker.idempotency import payload_hash, stored_result
from grpo_worker.memory import memory_guard
from grpo_worker.prefix import Piece
from grpo_worker.ranks import Ranks
from grpo_worker.roots import Roots
from grpo_worker.scoring import micro_batches, prepare, score
from grpo_worker.session import Session, adapter_off, close_session, open_session
from grpo_worker.state import read_state, restore_session, save_state
from grpo_worker.update import run_update
from grpo_worker.validate import check_tokens

log = logging.getLogger(__name__)

# Row places of a micro-batch when tokens are only scored; no activations are kept then.
SCORING_BUDGET = 8192

# Said when the smallest micro-batch, one completion behind its prompt, is too large.
UPDATE_REMEDY = (
    "Even one completion with its prompt does not fit: raise worker.memoryFraction, "
    "or lower model.maxPromptTokens, model.maxCompletionTokens or lora.rank."
)


@dataclass
class Worker:
    """Everything the learner routes need. Methods may be called from several threads."""

    base: BaseModel
    model_hash: str
    ranks: Ranks = field(default_factory=Ranks)
    session: Session | None = None
    roots: Roots = field(default_factory=Roots)
    parameters: int = field(init=False)

    def __post_init__(self) -> None:
        self.parameters = self.base.parameters

    def open(self, request: protocol.SessionRequest) -> protocol.SessionAnswer:
        """Start a run, from the beginning where it is open already. Another run is a Conflict.

        Whoever starts a run that has gone on died before its first checkpoint, and goes back to nothing.
        """
        with self.base.lock:
            open_run = self.session
            if open_run is not None and open_run.request == request and open_run.version > 0:
                close_session(open_run)
                self.session = None
            if self.session is None:
                self.ranks.announce("open", request.to_bytes())
                self.session = self.ranks.agreed(lambda: open_session(self.base, request))
                self.ranks.copy_from_leader(self.session.parameters)
                log.info("session %s: %d adapter parameters", request.run_id, _count(self.session))
            elif self.session.request != request:
                raise WorkerError("Conflict", f"this worker already trains run {self.session.request.run_id!r}")
            return protocol.SessionAnswer(
                run_id=request.run_id, version=self.session.version, lora_parameters=_count(self.session)
            )

    def tokenize(self, request: protocol.TokenizeRequest) -> dict:
        """Token ids of each prompt."""
        prompts = [{"id": p.id, "tokenIds": tokenize_prompt(self.base.tokenizer, p)} for p in request.prompts]
        return {"prompts": prompts}

    def update(self, batch: protocol.UpdateBatch) -> protocol.UpdateResult:
        """One optimizer step, done once however often it is asked for."""
        digest = payload_hash(batch)
        with self.base.lock:
            session = self._open_session()
            done = stored_result(session, batch, digest)
            if done is not None:
                log.info("step %d repeated: stored result returned", batch.step)
                return done
            for g, group in enumerate(batch.groups):
                for c, completion in enumerate(group.completions):
                    place = f"groups.{g}.completions.{c}"
                    check_tokens(self.base, group.prompt_token_ids, completion.token_ids, place)
            log.info("step %d from version %d: %d groups", batch.step, batch.from_version, len(batch.groups))
            self.ranks.announce("update", batch.to_bytes())
            with memory_guard(UPDATE_REMEDY), self.ranks.unanimous():
                result = run_update(self.base, session, batch, digest, self.ranks)
            session.remember(result)
            return result

    def logprobs(self, request: protocol.LogprobsRequest) -> dict:
        """Log-probs of given tokens under the base or under the current adapter."""
        with self.base.lock:
            session = self._open_session() if request.version == "current" else self.session
            for i, item in enumerate(request.items):
                check_tokens(self.base, item.prompt_token_ids, item.token_ids, f"items.{i}")
            pieces = _shared_prompts(request.items)
            with memory_guard("Send fewer items at once."), torch.no_grad():
                if request.version == "current":
                    lists = self._score(pieces)
                else:
                    with adapter_off(session):
                        lists = self._score(pieces)
            version = session.version if request.version == "current" else 0
        return {"version": version, "items": [{"logprobs": lists[i]} for i in range(len(request.items))]}

    def save_adapter(self, request: protocol.PathRequest) -> dict:
        """Write the current adapter to a new directory."""
        place = self.roots.check(request.path)
        with self.base.lock:
            session = self._open_session()
            version, tensors = session.version, copy_weights(session.peft)
        # Without the lock: log-probs of the new version are computed while its files are written and synced.
        with new_directory(place) as directory:
            digest = write_adapter(session.peft, tensors, directory)
            size = (directory / WEIGHTS).stat().st_size
        return {"version": version, "path": request.path, "sha256": digest, "bytes": size}

    def save(self, request: protocol.PathRequest) -> dict:
        """Write the whole session to a new directory."""
        place = self.roots.check(request.path)
        with self.base.lock:
            session = self._open_session()
            save_state(session, self.model_hash, place)
            return {"version": session.version, "path": request.path}

    def load(self, request: protocol.PathRequest) -> dict:
        """Open a saved session, in place of an open one of the same run.

        Another run's session is never closed: that run may be training. A saved session that is not sound
        replaces nothing.
        """
        place = self.roots.check(request.path)
        with self.base.lock:
            saved, stored = read_state(place, self.model_hash)
            if self.session is not None and self.session.request.run_id != saved.request.run_id:
                raise WorkerError(
                    "Conflict",
                    f"a session of run {self.session.request.run_id} is open; one worker serves one run",
                )
            self.ranks.announce("load", request.to_bytes())
            if self.session is not None:
                close_session(self.session)
                self.session = None
            self.session = self.ranks.agreed(lambda: restore_session(self.base, saved, stored, place))
            self.ranks.copy_from_leader(self.session.parameters)
            log.info("session %s restored at version %d", saved.request.run_id, saved.version)
            return {"runId": saved.request.run_id, "version": saved.version}

    def _open_session(self) -> Session:
        if self.session is None:
            raise WorkerError("NoSession", "no session is open: send POST /session or POST /state/load first")
        return self.session

    def _score(self, pieces: list[Piece]) -> dict[int, list[float]]:
        lists: dict[int, list[float]] = {}
        for part in micro_batches(self.base, pieces, SCORING_BUDGET):
            batch = prepare(self.base, part)
            split = score(self.base, batch).logprobs.split(batch.lengths)
            lists.update((i, values.tolist()) for i, values in zip(batch.order, split, strict=True))
        return lists


def _shared_prompts(items: list[protocol.LogprobsItem]) -> list[Piece]:
    """Neighbours with the same prompt make one piece."""
    runs = groupby(enumerate(items), key=lambda pair: pair[1].prompt_token_ids)
    return [
        Piece(prompt, tuple(item.token_ids for _, item in run), tuple(i for i, _ in run))
        for prompt, run in ((prompt, list(run)) for prompt, run in runs)
    ]


def _count(session: Session) -> int:
    return sum(p.numel() for p in session.parameters)
