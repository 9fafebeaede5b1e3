"""Which completions are computed together: one thread, one step at a time for all that are under way.

A request joins between two steps and leaves as soon as it is done, so requests that arrive together decode
together. The base's lock is held for a fraction of a second at a time; in between, the learner can have it.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import torch

from grpo_worker.base_model import BaseModel
from grpo_worker.sampler.backend import Backend
from grpo_worker.sampler.cache import ROWS
from grpo_worker.sampler.draw import draw
from grpo_worker.sampler.errors import ApiError, engine_failed, not_finite
from grpo_worker.sampler.jobs import Batch, Job, PromptToken, open_choices, score_prompt

log = logging.getLogger(__name__)

# Completions under way at once. More wait; a single job above it still runs, alone.
MAX_ROWS = 128
HOLD_SECONDS = 0.2
# A released lock goes to a waiting thread only if this one stays away for a moment.
YIELD_SECONDS = 0.0005
# Logits of one chunk when a whole prompt is scored: 64 MB.
SCORE_ELEMENTS = 1 << 24


@dataclass
class Counters:
    """What was computed since the start, for logs and tests."""

    prefills: int = 0
    prompt_tokens: int = 0
    steps: int = 0
    tokens: int = 0
    most_rows: int = 0


class Scheduler:
    """Runs jobs on a backend in a thread of its own."""

    def __init__(self, base: BaseModel, backend: Backend) -> None:
        self.counters = Counters()
        self._base = base
        self._backend = backend
        self._waiting: deque[Job] = deque()
        self._running: list[Batch] = []
        self._wake = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether jobs are still being worked on."""
        return self._thread.is_alive()

    def submit(self, jobs: list[Job]) -> None:
        """Queue jobs; each answers through its future."""
        for job in jobs:
            job.start()
        with self._wake:
            if not self._closed:
                self._waiting.extend(jobs)
                self._wake.notify()
                return
        for job in jobs:
            job.fail(engine_failed())

    def close(self, wait_seconds: float | None = None) -> None:
        """Stop the thread; jobs that are not done fail.

        Waits for the step under way, at most `wait_seconds`: the thread may be waiting for the learner.
        """
        with self._wake:
            self._closed = True
            self._wake.notify()
        self._thread.join(wait_seconds)

    def _run(self) -> None:
        while self._wait():
            with self._base.lock, torch.inference_mode():
                until = time.monotonic() + HOLD_SECONDS
                while self._tick() and time.monotonic() < until and not self._closed:
                    pass
            time.sleep(YIELD_SECONDS)
        for job in [*self._waiting, *{id(b.job): b.job for b in self._running}.values()]:
            job.fail(engine_failed())

    def _wait(self) -> bool:
        with self._wake:
            while not (self._closed or self._waiting or self._running):
                self._wake.wait()
            return not self._closed

    def _tick(self) -> bool:
        """Admit what fits, then make one step for everything under way. False when nothing is left to do."""
        while (job := self._next()) is not None:
            self._guard([job], lambda job=job: self._admit(job))
        # A completion may have ended with its first token: what is finished must not be stepped beside the others.
        self._drop_finished()
        by_policy: dict[int, list[Batch]] = {}
        for batch in self._running:
            by_policy.setdefault(id(batch.job.policy), []).append(batch)
        for batches in by_policy.values():
            self._guard([b.job for b in batches], lambda batches=batches: self._step(batches))
        self._drop_finished()
        return bool(self._running or self._waiting)

    def _drop_finished(self) -> None:
        self._running = [batch for batch in self._running if batch.choices and not batch.job.cancelled]

    def _next(self) -> Job | None:
        rows = sum(len(batch.choices) for batch in self._running)
        with self._wake:
            while self._waiting and self._waiting[0].cancelled:
                self._waiting.popleft()
            if not self._waiting or (rows and rows + self._waiting[0].params.n > MAX_ROWS):
                return None
            return self._waiting.popleft()

    def _guard(self, jobs: list[Job], work: Callable[[], None]) -> None:
        """Run a computation; if it breaks, its jobs fail and the thread lives on."""
        try:
            work()
        except ApiError as error:
            for job in jobs:
                job.fail(error)
        except Exception:
            log.exception("a sampler computation failed; %d requests are lost", len(jobs))
            for job in jobs:
                job.fail(engine_failed())

    def _admit(self, job: Job) -> None:
        """Run the prompt once, score it if asked, and draw the first token of every completion."""
        p = job.params
        counts = [min(ROWS, p.n - start) for start in range(0, p.n, ROWS)]
        groups, hidden = self._backend.prefill(
            job.policy, job.prompt, counts, p.max_tokens, every=p.prompt_logprobs is not None
        )
        self.counters.prefills += 1
        self.counters.prompt_tokens += len(job.prompt)
        if p.prompt_logprobs is not None:
            job.scored = self._score(job, hidden, p.prompt_logprobs)
        chances = open_choices(job)
        starts = range(0, p.n, ROWS)
        batches = [
            Batch(job, group, job.choices[start : start + ROWS], chances[start : start + ROWS])
            for start, group in zip(starts, groups, strict=True)
        ]
        first = self._backend.logits(job.policy, hidden[-1:])
        self._running += batches
        self._take(batches, first.expand(p.n, -1))

    def _score(self, job: Job, hidden: torch.Tensor, count: int) -> list[PromptToken]:
        size = max(1, SCORE_ELEMENTS // self._base.vocab_size)
        scored: list[PromptToken] = []
        for start in range(0, len(job.prompt) - 1, size):
            ids = job.prompt[start + 1 : start + 1 + size]
            logits = self._backend.logits(job.policy, hidden[start : start + len(ids)])
            scored += score_prompt(ids, logits.log_softmax(-1), count)
        return scored

    def _step(self, batches: list[Batch]) -> None:
        tokens = [choice.ids[-1] for batch in batches for choice in batch.choices]
        policy = batches[0].job.policy
        hidden = self._backend.step(policy, [batch.group for batch in batches], tokens)
        self.counters.steps += 1
        self.counters.most_rows = max(self.counters.most_rows, len(tokens))
        self._take(batches, self._backend.logits(policy, hidden))

    def _take(self, batches: list[Batch], logits: torch.Tensor) -> None:
        self.counters.tokens += logits.shape[0]
        for batch, drawn in zip(batches, draw(logits, [b.rows() for b in batches]), strict=True):
            if not all(drawn.finite):
                batch.job.fail(not_finite())
                continue
            batch.take(drawn)
            if batch.job.open == 0:
                batch.job.finish()
