"""What both sides of a comparison share: the work, the reward, the clock, and the way they are told to step."""

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

LETTERS = "abcdefghijklmnopqrstuvwxyz"
RATE, BETA, RANK, ALPHA = 1e-5, 0.04, 16, 32


def options(description: str) -> argparse.ArgumentParser:
    """The options that describe the work of one step."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--model", required=True)
    parser.add_argument("--prompt-tokens", type=int, required=True)
    parser.add_argument("--completion-tokens", type=int, default=96)
    parser.add_argument("--group", type=int, default=4)
    parser.add_argument("--prompts", type=int, default=4)
    parser.add_argument("--rank", type=int, default=RANK)
    parser.add_argument("--threads", default="auto")
    return parser


def make_prompts(tokenizer: "PreTrainedTokenizerBase", count: int, length: int) -> list[str]:
    """Texts of random words that become exactly `length` tokens."""
    rng = random.Random(length)
    texts: list[str] = []
    while len(texts) < count:
        words = " ".join("".join(rng.choices(LETTERS, k=rng.randint(2, 7))) for _ in range(length))
        text = tokenizer.decode(tokenizer(words, add_special_tokens=False).input_ids[:length])
        if len(tokenizer(text).input_ids) == length:
            texts.append(text)
    return texts


def reward(token_ids: list[int]) -> float:
    """Costs nothing and differs within a group."""
    return sum(token_ids) % 97 / 97


class Clock:
    """Wall and CPU seconds of the named parts of one step; CPU seconds count every thread of this process."""

    def __init__(self) -> None:
        self.parts: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count what runs inside towards a part."""
        start = time.process_time()
        try:
            yield
        finally:
            self.parts[name] = self.parts.get(name, 0.0) + time.process_time() - start

    def wrap(self, owner: object, attribute: str, name: str) -> None:
        """Count every call of a function towards a part."""
        inner = getattr(owner, attribute)

        def timed(*args: object, **kwargs: object) -> object:
            with self.part(name):
                return inner(*args, **kwargs)

        setattr(owner, attribute, timed)


def peak_mb() -> float:
    """Largest resident size of this process so far."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def wait_for_turn() -> bool:
    """Wait until the other side has had its turn; false when there is nothing more to do."""
    return sys.stdin.readline() != ""


def answer(**fields: object) -> None:
    """Report to the process that gives the turns."""
    print(json.dumps(fields), flush=True)


def measured(clock: Clock, work: Callable[[], None]) -> None:
    """Do one step and report what it took."""
    clock.parts.clear()
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    report_step(clock, time.perf_counter() - wall, time.process_time() - cpu)


def report_step(clock: Clock, wall: float, cpu: float) -> None:
    """One line for a step that is done."""
    answer(wall=wall, cpu=cpu, parts=clock.parts, peakMb=peak_mb())
