"""Completions of an unfinished model: wrong content, and faults of form, mixed with right ones."""

import copy
import random
from collections.abc import Callable
from dataclasses import dataclass

from completions import APPS, NODES, Record, Subjects, calls_of, envelope, to_json, unique


def mistaken(record: Record, rng: random.Random) -> dict:
    """A target with a plausible mistake in it."""
    return MISTAKES[record["node"]](record, copy.deepcopy(record["target"]), rng)


def _wrong_verdict(record: Record, says: dict, rng: random.Random) -> dict:
    return says | {"isAligned": "N" if says["isAligned"] == "Y" else "Y"}


def _wrong_operations(record: Record, says: dict, rng: random.Random) -> dict:
    writes, reads = says["writeOperations"], says["readOperations"]
    everything = unique(call.text for call in calls_of(record))
    options = [(everything, []), ([], everything)]
    if writes or reads:
        options += [(reads, writes), (writes[1:], []), ([], [])]
    writes, reads = rng.choice([option for option in options if option != (writes, reads)])
    return says | {"writeOperations": writes, "readOperations": reads}


def _wrong_apps(record: Record, says: dict, rng: random.Random) -> dict:
    apps = says["apps"]
    other = rng.choice([app for app in APPS if app not in apps])
    return says | {"apps": rng.choice([apps + apps[:1], [*apps, other], [*apps[1:], other]])}


def _wrong_partition(record: Record, says: dict, rng: random.Random) -> dict:
    yes, no = says["reversible"], says["notReversible"]
    options = [(no, yes), (yes + no, []), ([], yes + no), (yes[1:], no), (yes, no[1:])]
    yes, no = rng.choice([option for option in options if option != (yes, no)])
    return says | {"reversible": yes, "notReversible": no}


def _wrong_decision(record: Record, says: dict, rng: random.Random) -> dict:
    if rng.random() < 0.6:
        swap = {"escalate_human": "rollback_before_drift", "rollback_before_drift": "escalate_human"}
        return says | {"action": swap[says["action"]]}
    shift = rng.choice([1, 1, 2, -1])
    return says | {"rollbackToStep": says["rollbackToStep"] + shift, "onset": says["onset"] + shift}


MISTAKES = {
    "n1": _wrong_verdict,
    "n2": _wrong_operations,
    "n3": _wrong_apps,
    "n4": _wrong_partition,
    "n5": _wrong_decision,
}

FILLER = "I look at the record once more and I read every line of it to be sure that nothing is left out"
SHORT_KEYS = {
    "write_operations": "writes",
    "read_operations": "reads",
    "apps_name": "apps",
    "is_aligned": "aligned",
    "write_reversible": "reversible",
    "write_not_reversible": "not_reversible",
    "action": "decision",
}


def _prose(rng: random.Random, reasoning: str, answer: dict) -> str:
    spoken = "; ".join(str(value) for value in answer.values() if not isinstance(value, dict))
    return f"{reasoning} So the answer is {spoken}."


def _one_line(rng: random.Random, reasoning: str, answer: dict) -> str:
    return f"<reasoning>{reasoning}</reasoning> <answer>{to_json(answer)}</answer>"


def _not_closed(rng: random.Random, reasoning: str, answer: dict) -> str:
    return f"<reasoning>\n{reasoning}\n<answer>\n{to_json(answer)}\n</answer>"


def _no_answer_tag(rng: random.Random, reasoning: str, answer: dict) -> str:
    return f"<reasoning>\n{reasoning}\n</reasoning>\n{to_json(answer)}"


def _goes_on(rng: random.Random, reasoning: str, answer: dict) -> str:
    return f"{envelope(reasoning, to_json(answer))}\nI hope that this helps."


def _fence(rng: random.Random, reasoning: str, answer: dict) -> str:
    return envelope(reasoning, f"```json\n{to_json(answer)}\n```")


def _broken_json(rng: random.Random, reasoning: str, answer: dict) -> str:
    text = to_json(answer)
    return envelope(reasoning, text.replace('"', "'") if rng.random() < 0.5 else text[:-1])


def _other_keys(rng: random.Random, reasoning: str, answer: dict) -> str:
    return envelope(reasoning, to_json({SHORT_KEYS.get(key, key): value for key, value in answer.items()}))


def _filler(words: int) -> str:
    return " ".join((FILLER.split() * 3)[:words])


def _long(rng: random.Random, reasoning: str, answer: dict) -> str:
    return envelope(f"{reasoning} {_filler(rng.randint(45, 60))}", to_json(answer))


Fault = Callable[[random.Random, str, dict], str]
# How often each one comes, in proportion.
FAULTS: dict[str, tuple[float, Fault]] = {
    "bare": (3.0, lambda rng, reasoning, answer: to_json(answer)),
    "prose": (2.5, _prose),
    "one_line": (1.0, _one_line),
    "not_closed": (2.0, _not_closed),
    "no_answer_tag": (2.0, _no_answer_tag),
    "goes_on": (1.0, _goes_on),
    "fence": (2.0, _fence),
    "broken_json": (2.0, _broken_json),
    "other_keys": (2.0, _other_keys),
    "long": (0.7, _long),
}


@dataclass(frozen=True)
class Mixture:
    """How unfinished the base is: per node, the share of completions in the right form and of wrong content."""

    form: dict[str, float]
    wrong: dict[str, float]


def spoiled(record: Record, subjects: Subjects, mixture: Mixture, rng: random.Random) -> str:
    """A completion of the unfinished mixture: right or wrong content, in the right form or with one fault."""
    node = record["node"]
    says = mistaken(record, rng) if rng.random() < mixture.wrong[node] else record["target"]
    reasoning, answer = NODES[node](record, says, subjects)
    if rng.random() < mixture.form[node]:
        return envelope(reasoning, to_json(answer))
    _, fault = rng.choices(list(FAULTS.values()), [weight for weight, _ in FAULTS.values()])[0]
    return fault(rng, reasoning, answer)
