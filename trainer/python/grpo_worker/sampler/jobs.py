"""One prompt on its way through the sampler: what is asked, its completions as they grow, and its answer."""

from concurrent.futures import Future
from dataclasses import dataclass, field

import torch

from grpo_worker.sampler.backend import Group
from grpo_worker.sampler.draw import Draw, Rows, top_pairs, uniforms
from grpo_worker.sampler.params import SamplingParams


@dataclass
class Choice:
    """A completion. Ids and log-probs have equal length and include the token that ended it."""

    index: int
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    tops: list[list[tuple[int, float]]] = field(default_factory=list)
    finish_reason: str | None = None
    stop_id: int | None = None


@dataclass(frozen=True)
class PromptToken:
    """Log-prob and rank (1 = likeliest) of one prompt token given those before it, at temperature 1."""

    id: int
    logprob: float
    rank: int
    tops: list[tuple[int, float]]


@dataclass(frozen=True)
class Completed:
    """The answer to one prompt; `prompt` is None unless prompt log-probs were asked for."""

    choices: list[Choice]
    prompt: list[PromptToken] | None


@dataclass
class Job:
    """One prompt with its parameters. `policy` is what the backend made of the asked model's weights."""

    policy: object
    prompt: list[int]
    params: SamplingParams
    end_ids: frozenset[int]
    future: "Future[Completed]" = field(default_factory=Future)
    cancelled: bool = False
    scored: list[PromptToken] | None = None
    choices: list[Choice] = field(default_factory=list)
    open: int = 0

    def cancel(self) -> None:
        """Give the job up: it leaves the batch at the next step."""
        self.cancelled = True

    def start(self) -> None:
        """Take the job on. From here on only `cancel` can stop it, not its future."""
        self.future.set_running_or_notify_cancel()

    def finish(self) -> None:
        """Hand over the answer."""
        self.future.set_result(Completed(self.choices, self.scored))

    def fail(self, error: Exception) -> None:
        """Hand over an error, once; the job leaves the batch."""
        self.cancelled = True
        if not self.future.done():
            self.future.set_exception(error)


@dataclass
class Batch:
    """The completions of a job that share one cache: one backend group and the choices behind its rows."""

    job: Job
    group: Group
    choices: list[Choice]
    chances: list[list[float]]

    def rows(self) -> Rows:
        """What the next draw needs to know."""
        place = len(self.choices[0].ids)
        params = self.job.params
        banned = self._enders() if place < params.min_tokens else ()
        return Rows(params, [chances[place] for chances in self.chances], banned)

    def take(self, drawn: Draw) -> None:
        """Append the drawn tokens, close the completions that ended, keep the others."""
        going = []
        for row, choice in enumerate(self.choices):
            choice.ids.append(drawn.ids[row])
            choice.logprobs.append(drawn.logprobs[row])
            if drawn.tops is not None:
                choice.tops.append(drawn.tops[row])
            if self._close(choice):
                self.job.open -= 1
            else:
                going.append(row)
        if going and len(going) < len(self.choices):
            self.group.keep(going)
        self.choices = [self.choices[row] for row in going]
        self.chances = [self.chances[row] for row in going]

    def _close(self, choice: Choice) -> bool:
        job, last = self.job, choice.ids[-1]
        ended = last in job.end_ids and not job.params.ignore_eos
        if ended or last in job.params.stop_ids:
            choice.finish_reason = "stop"
            choice.stop_id = None if ended else last
        elif len(choice.ids) >= job.params.max_tokens:
            choice.finish_reason = "length"
        return choice.finish_reason is not None

    def _enders(self) -> tuple[int, ...]:
        return tuple(sorted(self.job.end_ids | set(self.job.params.stop_ids)))


def open_choices(job: Job) -> list[list[float]]:
    """Start the job's completions; return the chance behind each of their tokens."""
    p = job.params
    job.choices = [Choice(index) for index in range(p.n)]
    job.open = p.n
    if p.greedy:
        return [[0.0] * p.max_tokens for _ in job.choices]
    return [uniforms(p.seed, choice.index, p.max_tokens) for choice in job.choices]


def score_prompt(ids: list[int], logprobs: torch.Tensor, count: int) -> list[PromptToken]:
    """Score `ids` under the log-probs (len(ids), vocabulary) of the positions before each of them."""
    targets = torch.tensor(ids, device=logprobs.device)[:, None]
    own = logprobs.gather(1, targets)
    ranks = (logprobs > own).sum(-1) + 1
    tops = top_pairs(logprobs, count) if count else [[] for _ in ids]
    values = zip(ids, own[:, 0].tolist(), ranks.tolist(), tops, strict=True)
    return [PromptToken(*value) for value in values]
