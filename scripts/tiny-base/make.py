"""Makes data/tiny-base from the simulated world: prompts, tokenizer, clean training, unfinished mixture.

    .venv/bin/python scripts/tiny-base/make.py --work DIR [--out data/tiny-base]

Stages leave their results in DIR and are skipped when those exist, so that a part can be redone by deleting its
results. The same seeds are used throughout; floating-point sums differ between machines, so weights do, too.
"""

import argparse
import json
import os
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import numpy as np
import torch
from transformers import AutoTokenizer, LlamaForCausalLM, PreTrainedTokenizerFast

import completions
import faults
from completions import APPS, NODES, Record, Subjects, right
from data import Inventor, Pairs, encode, endless, pairs_of, read_records
from faults import Mixture, spoiled
from init import ROPE_THETA, make_model
from tokenizer import ANSWER_PIECES, CHAT_TEMPLATE, common_lines, common_phrases, template_segments, train_tokenizer
from train import Phase, run_phase

ROOT = Path(__file__).resolve().parents[2]
SHARDS, SHARD_SIZE, FIRST_SEED = 4, 20_000, 1000
VOCABULARY = 900
BUDGET = 2560  # padded tokens a batch
LONGEST = 900
DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
WHOLE_WORDS = [*APPS, *DAYS, "system", "user", "assistant", "aligned"]

CLEAN = Phase("clean", steps=5600, rate=1.5e-3, warmup=100, floor=0.05, drills=0.03)
SPOIL = Phase("mixture", steps=280, rate=6e-4, warmup=10, floor=0.1, drills=0.0)
MIXTURE = Mixture(
    form=dict.fromkeys(NODES, 0.25),
    wrong={"n1": 0.15, "n2": 0.2, "n3": 0.12, "n4": 0.1, "n5": 0.2},
)
# Clean training sees more of what takes longer to learn.
CLEAN_SHARES = {"n1": 1.0, "n2": 0.7, "n3": 0.8, "n4": 1.0, "n5": 0.5}


def dump(path: Path, split: str, count: int, seed: int) -> Path:
    """Prompts of the simulated world, as JSON lines."""
    if not path.exists():
        part = path.with_suffix(".part")
        command = ["node", "--import", "tsx", "scripts/tiny-base/dump.ts", "--out", str(part)]
        options = ["--split", split, "--count", str(count), "--seed", str(seed)]
        subprocess.run([*command, *options], cwd=ROOT, check=True)
        part.rename(path)
    return path


def names_of(work: Path) -> set[str]:
    """The names of the training split: what a value of a prompt can be."""
    path = work / "names.json"
    if not path.exists():
        command = ["node", "--import", "tsx", "scripts/tiny-base/names.ts"]
        path.write_text(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    return set(json.loads(path.read_text()))


def make_tokenizer(work: Path, records: list[Record], names: set[str]) -> PreTrainedTokenizerFast:
    """Learns the tokenizer from prompts and completions of one shard, and from invented words."""
    folder = work / "tokenizer"
    if not folder.exists():
        subjects, rng = Subjects(names), random.Random(1)
        said = [right(record, subjects) for record in records]
        said += [spoiled(record, subjects, MIXTURE, rng) for record in records[::4]]
        shown = [record["messages"][-1]["content"] for record in records]
        segments = template_segments(ROOT / "data/nodes/templates")
        fixed = [*segments, *common_lines(_without(shown, segments), 0.002), *ANSWER_PIECES]
        fixed += common_phrases(_without(shown, fixed) + said, names | set(WHOLE_WORDS), 0.003)
        invented = invented_words(Inventor(names, ""), 4000)
        texts = shown + said + [f"={word}, {word}." for word in invented] + WHOLE_WORDS * len(records)
        train_tokenizer(texts, sorted(set(fixed)), VOCABULARY).save_pretrained(folder)
    return AutoTokenizer.from_pretrained(folder)


def _without(texts: list[str], fixed: list[str]) -> list[str]:
    """The texts with every fixed part taken out."""
    for part in sorted(fixed, key=len, reverse=True):
        texts = [text.replace(part, "\n") for text in texts]
    return texts


def invented_words(inventor: Inventor, count: int) -> list[str]:
    """Words that no list holds."""
    rng = random.Random(2)
    return [inventor.word(rng) for _ in range(count)]


def wording() -> str:
    """Every fixed word of templates, answers, apps and documentation: never replaced by an invented one."""
    files = [*(ROOT / "data/nodes/templates").glob("*.txt"), *(ROOT / "data/world").glob("*/*.ts")]
    kept = [file.read_text() for file in files if file.parent.name != "values"]
    kept += [Path(module.__file__).read_text() for module in (completions, faults)]
    return " ".join([*kept, *ANSWER_PIECES, *WHOLE_WORDS])


def thinned(records: list[Record], shares: dict[str, float], seed: int) -> list[Record]:
    """A random share of each node's records."""
    rng = random.Random(seed)
    return [record for record in records if rng.random() < shares[record["node"]]]


def make_shard(work: Path, kind: str, shard: int, names: set[str], tokenizer: PreTrainedTokenizerFast) -> Path:
    """Token pairs of one shard, cached. `kind` is clean or mixture."""
    path = work / f"{kind}-{shard}.npz"
    if not path.exists():
        records = read_records(dump(work / f"prompts-{shard}.jsonl", "train", SHARD_SIZE, FIRST_SEED + shard))
        if kind == "clean":
            records = thinned(records, CLEAN_SHARES, seed=shard)
        subjects = Subjects(names)
        says = {
            "clean": lambda record, rng: right(record, subjects),
            "mixture": lambda record, rng: spoiled(record, subjects, MIXTURE, rng),
        }[kind]
        encoded = encode(
            records, says, tokenizer, Inventor(names, wording()), invented_share=0.4, longest=LONGEST, seed=shard
        )
        part = path.with_suffix(".part.npz")
        np.savez(part, **encoded)
        part.rename(path)
    return path


def shards(work: Path, kind: str, names: set[str], tokenizer: PreTrainedTokenizerFast) -> Callable[[int], Pairs]:
    """Loads shard after shard, round and round."""
    return lambda shard: pairs_of(dict(np.load(make_shard(work, kind, shard % SHARDS, names, tokenizer))))


def train_base(work: Path, log: Path) -> Path:
    """Clean training, then the mixture; each leaves a checkpoint."""
    names = names_of(work)
    first = dump(work / "prompts-0.jsonl", "train", SHARD_SIZE, FIRST_SEED)
    tokenizer = make_tokenizer(work, read_records(first), names)
    model = make_model(len(tokenizer), tokenizer.eos_token_id, tokenizer.bos_token_id)
    for phase, kind in ((CLEAN, "clean"), (SPOIL, "mixture")):
        folder = work / phase.name
        if folder.exists():
            model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32)
            continue
        pairs = endless(shards(work, kind, names, tokenizer), seed=7)
        run_phase(model, phase, pairs, budget=BUDGET, seed=11, log=log)
        _save(model, tokenizer, folder)
    return work / SPOIL.name


def _save(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def export(trained: Path, out: Path) -> None:
    """Writes the base as it is committed, in a form that older readers of both configs understand, too."""
    model = LlamaForCausalLM.from_pretrained(trained, dtype=torch.float32)
    _save(model, AutoTokenizer.from_pretrained(trained), out)
    _edit(out / "config.json", {"rope_theta": ROPE_THETA})
    _edit(out / "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", "chat_template": CHAT_TEMPLATE})
    for file in out.iterdir():
        file.chmod(0o644)


def _edit(file: Path, changes: dict[str, object]) -> None:
    kept = {key: value for key, value in json.loads(file.read_text()).items() if "local" not in key}
    file.write_text(json.dumps(kept | changes, indent=2) + "\n")


def main() -> None:
    """Reads the arguments and makes the base."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="folder for prompts, token caches and checkpoints")
    parser.add_argument("--out", type=Path, default=ROOT / "data/tiny-base")
    given = parser.parse_args()
    torch.set_num_threads(1)
    given.work.mkdir(parents=True, exist_ok=True)
    export(train_base(given.work, given.work / "log.jsonl"), given.out)


if __name__ == "__main__":
    main()
