"""What the tiny base is taught to say: right answers, wrong ones, and the faults of form of an unfinished model.

Everything is made from a prompt's record: its facts, its target and the text that it shows. Where any order would do,
things come in alphabetical order: "the first that was not named yet" is easier to learn than "the one after this".
"""

import copy
import json
import random
import re
from collections.abc import Iterable
from dataclasses import dataclass

Record = dict
CALL_LINE = re.compile(r"^(?P<call>\S+\(.*?\)) -> (?P<status>ok|error): ?(?P<result>.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Call:
    """One line of a step: the call as written, whether it succeeded, what came back."""

    text: str
    ok: bool
    result: str

    @property
    def name(self) -> str:
        return name_of(self.text)


def name_of(operation: str) -> str:
    """`app.endpoint` of a written operation."""
    return operation.split("(", 1)[0]


def app_of(operation: str) -> str:
    return operation.split(".", 1)[0]


def unique(items: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(items))


def listed(operations: list[str]) -> str:
    return " | ".join(operations) or "None"


def calls_of(record: Record) -> list[Call]:
    """The calls that an n1 or n2 prompt shows, in order."""
    shown = record["messages"][-1]["content"].split("Content of that step, one call a line:\n", 1)[1]
    return [Call(m["call"], m["status"] == "ok", m["result"]) for m in CALL_LINE.finditer(shown)]


class Subjects:
    """Finds whom or what a call is about: the first known name in its arguments, or in what came back for an id."""

    def __init__(self, names: Iterable[str]) -> None:
        longest_first = sorted(set(names), key=lambda name: (-len(name), name))
        self._pattern = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, longest_first)) or '(?!)'})(?![\w(=])")

    def of(self, call: Call, task: str) -> tuple[str | None, bool]:
        """The name, and whether the task has it too. A name that the task has goes before one that it lacks."""
        arguments = call.text.split("(", 1)[1]
        known = set(self._pattern.findall(task))
        for text in (arguments, call.result if "id=" in arguments else ""):
            found = self._pattern.findall(text)
            for name in found:
                if name in known:
                    return name, True
            if found:
                return found[0], False
        return None, False


# ---------------------------------------------------------------- what each node answers


def classify(record: Record, says: dict, subjects: Subjects) -> tuple[str, dict]:
    step, verdict, task = record["facts"]["step"], says["isAligned"], record["facts"]["task"]
    about = [(call, *subjects.of(call, task)) for call in calls_of(record)]
    notes = unique(_note(call, name, known) for call, name, known in about)
    serves = "serves the task" if verdict == "Y" else "does not serve the task"
    reasoning = f"Step {step}: {'; '.join(notes[:5]) or 'no call'}. The step {serves}."
    telling = [(call, name) for call, name, known in about if name and known == (verdict == "Y")]
    call, name = (telling or [(call, name) for call, name, _ in about] or [(None, None)])[0]
    subject = "The step" if call is None else call.name if name is None else f"{call.name} for {name}"
    return reasoning, {"step": step, "is_aligned": verdict, "why": f"{subject} {serves}."}


def _note(call: Call, name: str | None, known: bool) -> str:
    if name is None:
        return f"{call.name}, no name"
    return f"{call.name}, {name}, {'in' if known else 'not in'} the task"


def detect(record: Record, says: dict, subjects: Subjects) -> tuple[str, dict]:
    task, writes, reads = record["facts"]["task"], says["writeOperations"], says["readOperations"]
    notes = []
    for call in calls_of(record):
        name, _ = subjects.of(call, task)
        about = f" {name}" if name else ""
        if not call.ok:
            notes.append(f"{call.name} failed")
        elif call.text in writes:
            notes.append(f"{call.name} wrote")
        elif call.text in reads:
            notes.append(f"{call.name} read{about}, not in the task")
        else:
            notes.append(f"{call.name} read{about}, for the task")
    reasoning = f"Step {record['facts']['step']}: {'; '.join(unique(notes)[:5]) or 'no call'}."
    if not writes and not reads:
        reasoning += " Nothing to list."
    return reasoning, {"write_operations": listed(writes), "read_operations": listed(reads)}


def search(record: Record, says: dict, _: Subjects) -> tuple[str, dict]:
    apps = sorted({app_of(write) for write in record["facts"]["writes"]})
    return f"The writes use {', '.join(apps) or 'no app'}.", {"apps_name": listed(says["apps"])}


def evaluate(record: Record, says: dict, _: Subjects) -> tuple[str, dict]:
    inverses = record["facts"]["inverses"]
    notes = []
    for name in sorted(set(map(name_of, record["facts"]["writes"]))):
        undo = inverses.get(name)
        notes.append(f"{name} is undone by {undo}." if undo else f"{name} has no undo.")
    return " ".join(notes), {
        "write_reversible": listed(sorted(says["reversible"])),
        "write_not_reversible": listed(sorted(says["notReversible"])),
    }


def decide(record: Record, says: dict, _: Subjects) -> tuple[str, dict]:
    onset, back, writes = says["onset"], says["rollbackToStep"], sorted(set(map(name_of, says["driftedWrites"])))
    escalate = says["action"] == "escalate_human"
    lines = f"Lines marked N write {', '.join(writes)}." if writes else "Lines marked N write nothing."
    task = record["facts"]["task"].rstrip(".?! \n")
    facts = f"First drifted step: step {onset}. " + (f"Writes: {', '.join(writes)}. " if writes else "No drifted writes. ")
    advice = "Escalate to a human." if escalate else f"Roll back to step {back}."
    report = f"Goal: {task}. {facts}{advice}"
    reasoning = f"The earliest step marked N is step {onset}. {lines}"
    return reasoning, {"action": says["action"], "arguments": {"rollback_to_step": back, "report": report}}


NODES = {"n1": classify, "n2": detect, "n3": search, "n4": evaluate, "n5": decide}


def envelope(reasoning: str, answer: str) -> str:
    return f"<reasoning>\n{reasoning}\n</reasoning>\n<answer>\n{answer}\n</answer>"


def to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def right(record: Record, subjects: Subjects) -> str:
    """The completion that the reference judge and all structural rewards like best."""
    reasoning, answer = NODES[record["node"]](record, record["target"], subjects)
    return envelope(reasoning, to_json(answer))


# ---------------------------------------------------------------- wrong content


def mistaken(record: Record, rng: random.Random) -> dict:
    """A target with a plausible mistake in it."""
    says = copy.deepcopy(record["target"])
    return MISTAKES[record["node"]](record, says, rng)


def _wrong_verdict(record: Record, says: dict, rng: random.Random) -> dict:
    return says | {"isAligned": "N" if says["isAligned"] == "Y" else "Y"}


def _wrong_operations(record: Record, says: dict, rng: random.Random) -> dict:
    writes, reads = says["writeOperations"], says["readOperations"]
    everything = unique(call.text for call in calls_of(record))
    options = [(everything, []), ([], everything)]
    if writes or reads:
        options += [(reads, writes), (writes[1:], []), ([], [])]
    options = [(w, r) for w, r in options if (w, r) != (writes, reads)]
    writes, reads = rng.choice(options)
    return says | {"writeOperations": writes, "readOperations": reads}


def _wrong_apps(record: Record, says: dict, rng: random.Random) -> dict:
    apps = says["apps"]
    other = rng.choice([app for app in ("mail", "chat", "files", "shop", "notes") if app not in apps])
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


# ---------------------------------------------------------------- faults of form


@dataclass(frozen=True)
class Mixture:
    """How unfinished the base is: per node, the share of completions in the right form and of wrong content."""

    form: dict[str, float]
    wrong: dict[str, float]


FILLER = "I look at the record once more and I read every line of it to be sure that nothing is left out".split()
SHORT_KEYS = {"write_operations": "writes", "read_operations": "reads", "apps_name": "apps", "is_aligned": "aligned"}
SHORT_KEYS |= {"write_reversible": "reversible", "write_not_reversible": "not_reversible", "action": "decision"}


def _with_short_keys(answer: dict) -> dict:
    return {SHORT_KEYS.get(key, key): value for key, value in answer.items()}


FAULTS = {
    "bare": (3.0, lambda rng, reasoning, answer: to_json(answer)),
    "prose": (2.5, lambda rng, reasoning, answer: f"{reasoning} So the answer is {_spoken(answer)}."),
    "one_line": (
        1.0,
        lambda rng, reasoning, answer: f"<reasoning>{reasoning}</reasoning> <answer>{to_json(answer)}</answer>",
    ),
    "not_closed": (2.0, lambda rng, reasoning, answer: f"<reasoning>\n{reasoning}\n<answer>\n{to_json(answer)}\n</answer>"),
    "no_answer_tag": (2.0, lambda rng, reasoning, answer: f"<reasoning>\n{reasoning}\n</reasoning>\n{to_json(answer)}"),
    "goes_on": (1.0, lambda rng, reasoning, answer: f"{envelope(reasoning, to_json(answer))}\nI hope that this helps."),
    "fence": (2.0, lambda rng, reasoning, answer: envelope(reasoning, f"```json\n{to_json(answer)}\n```")),
    "broken_json": (2.0, lambda rng, reasoning, answer: envelope(reasoning, _broken(rng, to_json(answer)))),
    "other_keys": (2.0, lambda rng, reasoning, answer: envelope(reasoning, to_json(_with_short_keys(answer)))),
    "long": (
        0.7,
        lambda rng, reasoning, answer: envelope(
            f"{reasoning} {' '.join((FILLER * 3)[: rng.randint(45, 60)])}", to_json(answer)
        ),
    ),
}


def _spoken(answer: dict) -> str:
    return "; ".join(str(value) for value in answer.values() if not isinstance(value, dict))


def _broken(rng: random.Random, text: str) -> str:
    return text.replace('"', "'") if rng.random() < 0.5 else text[:-1]


def spoiled(record: Record, subjects: Subjects, mixture: Mixture, rng: random.Random) -> str:
    """A completion of the unfinished mixture: right or wrong content, in the right form or with one fault."""
    node = record["node"]
    says = mistaken(record, rng) if rng.random() < mixture.wrong[node] else record["target"]
    reasoning, answer = NODES[node](record, says, subjects)
    if rng.random() < mixture.form[node]:
        return envelope(reasoning, to_json(answer))
    fault = rng.choices(list(FAULTS), [weight for weight, _ in FAULTS.values()])[0]
    return FAULTS[fault][1](rng, reasoning, answer)
