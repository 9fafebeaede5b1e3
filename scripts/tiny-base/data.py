"""From pool records to token pairs: renders prompts, invents names, tokenises, caches."""

import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from transformers import PreTrainedTokenizerFast

from completions import Record
from tokenizer import END, START

WORD = re.compile(r"[A-Za-z]+")


Pairs = list[tuple[np.ndarray, np.ndarray]]  # token ids of prompts and of completions


def read_records(path: Path, limit: int | None = None) -> list[Record]:
    """Records of a JSON lines file, at most `limit`."""
    with path.open() as file:
        return [json.loads(line) for line, _ in zip(file, range(limit or 10**9), strict=False)]


def render(messages: list[dict]) -> str:
    """The chat template with the generation prompt; the tests compare it with the tokenizer's own."""
    turns = "".join(f"{START}{m['role']}\n{m['content']}{END}\n" for m in messages)
    return f"{turns}{START}assistant\n"


class Inventor:
    """Replaces known names by invented ones, alike in prompt and completion: none can be learnt by heart."""

    ONSETS = (
        *("b", "bl", "br", "c", "ch", "cl", "cr", "d", "dr", "f", "fl", "g", "gr", "h", "j", "k", "kl", "kr", "l", "m"),
        *("n", "p", "pl", "pr", "qu", "r", "s", "sh", "sk", "sl", "st", "t", "th", "tr", "v", "w", "x", "y", "z"),
    )
    VOWELS = tuple(["a", "e", "i", "o", "u", "a", "e", "i", "o", "ai", "au", "ea", "ee", "ie", "oo", "ou", "ui"])
    CODAS = ("", "", "", "n", "r", "l", "s", "t", "k", "m", "nd", "rt", "x", "ck")

    def __init__(self, names: set[str], fixed: str) -> None:
        kept = set(WORD.findall(fixed))
        self._words = {word for name in names for word in WORD.findall(name)} - kept

    def word(self, rng: random.Random) -> str:
        """One to three syllables."""
        syllables = rng.choice((1, 2, 2, 2, 3))
        return "".join(
            rng.choice(self.ONSETS) + rng.choice(self.VOWELS) + rng.choice(self.CODAS) for _ in range(syllables)
        )

    def rename(self, texts: list[str], rng: random.Random) -> list[str]:
        """The texts with every known name's words replaced, one invented word for each."""
        found = sorted({word for text in texts for word in WORD.findall(text)} & self._words)
        invented = {word: self.word(rng) for word in found}
        return [WORD.sub(lambda match: invented.get(match[0], match[0]), text) for text in texts]


def encode(
    records: list[Record],
    complete: Callable[[Record, random.Random], str],
    tokenizer: PreTrainedTokenizerFast,
    inventor: Inventor,
    *,
    invented_share: float,
    longest: int,
    seed: int,
) -> dict[str, np.ndarray]:
    """Token ids of all pairs in one flat array, and the lengths of prompts and completions. Long ones are left out."""
    rng = random.Random(seed)
    prompts, completions = [], []
    for record in records:
        prompt, done = render(record["messages"]), complete(record, rng)
        if rng.random() < invented_share:
            prompt, done = inventor.rename([prompt, done], rng)
        prompts.append(prompt)
        completions.append(done + END)
    flat: list[np.ndarray] = []
    sizes: list[tuple[int, int]] = []
    for asked, said in zip(tokenizer(prompts).input_ids, tokenizer(completions).input_ids, strict=True):
        if len(asked) + len(said) <= longest:
            flat.append(np.array(asked + said, dtype=np.uint16))
            sizes.append((len(asked), len(said)))
    return {"tokens": np.concatenate(flat), "sizes": np.array(sizes, dtype=np.int32)}


def pairs_of(encoded: dict[str, np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Views into the flat array."""
    ends = encoded["sizes"].sum(1).cumsum()
    starts = ends - encoded["sizes"].sum(1)
    tokens = encoded["tokens"]
    return [
        (tokens[start : start + asked], tokens[start + asked : end])
        for start, end, (asked, _) in zip(starts, ends, encoded["sizes"], strict=True)
    ]


def endless(
    load: Callable[[int], list[tuple[np.ndarray, np.ndarray]]], seed: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """All pairs of shard 0, 1, 2 … in random order; `load` decides what comes after the last shard."""
    rng, shard = random.Random(seed), 0
    while True:
        pairs = load(shard)
        rng.shuffle(pairs)
        yield from pairs
        shard += 1
