"""The right completions that the tiny base is taught, made from a prompt's record: facts, target and shown text.

Where any order would do, things come in alphabetical order: "the first that was not named yet" is easier to learn than
"the one after this".
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

Record = dict
APPS = ("mail", "calendar", "payments", "splits", "music", "notes", "files", "shop", "chat")
CALL_LINE = re.compile(r"^(?P<call>\S+\(.*?\)) -> (?P<status>ok|error): ?(?P<result>.*)$", re.MULTILINE)
CONTENT = "Content of that step, one call a line:\n"
MOST_NOTES = 5


@dataclass(frozen=True)
class Call:
    """One line of a step: the call as written, whether it succeeded, what came back."""

    text: str
    ok: bool
    result: str

    @property
    def name(self) -> str:
        """`app.endpoint`."""
        return name_of(self.text)


def name_of(operation: str) -> str:
    """`app.endpoint` of a written operation."""
    return operation.split("(", 1)[0]


def app_of(operation: str) -> str:
    """The app of a written operation."""
    return operation.split(".", 1)[0]


def unique(items: Iterable[str]) -> list[str]:
    """Each item once, in order of first appearance."""
    return list(dict.fromkeys(items))


def listed(operations: list[str]) -> str:
    """A list as answers write it."""
    return " | ".join(operations) or "None"


def calls_of(record: Record) -> list[Call]:
    """The calls that an n1 or n2 prompt shows, in order."""
    shown = record["messages"][-1]["content"].split(CONTENT, 1)[1]
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


def classify(record: Record, says: dict, subjects: Subjects) -> tuple[str, dict]:
    """n1: whom each call is about, whether the task names them, and the verdict."""
    step, verdict, task = record["facts"]["step"], says["isAligned"], record["facts"]["task"]
    about = [(call, *subjects.of(call, task)) for call in calls_of(record)]
    notes = unique(_note(call, name, known) for call, name, known in about)
    serves = "serves the task" if verdict == "Y" else "does not serve the task"
    reasoning = f"Step {step}: {'; '.join(notes[:MOST_NOTES]) or 'no call'}. The step {serves}."
    telling = [(call, name) for call, name, known in about if name and known == (verdict == "Y")]
    call, name = (telling or [(call, name) for call, name, _ in about] or [(None, None)])[0]
    subject = "The step" if call is None else call.name if name is None else f"{call.name} for {name}"
    return reasoning, {"step": step, "is_aligned": verdict, "why": f"{subject} {serves}."}


def _note(call: Call, name: str | None, known: bool) -> str:
    if name is None:
        return f"{call.name}, no name"
    return f"{call.name}, {name}, {'in' if known else 'not in'} the task"


def detect(record: Record, says: dict, subjects: Subjects) -> tuple[str, dict]:
    """n2: what each call did, then the two lists."""
    writes, reads = says["writeOperations"], says["readOperations"]
    notes = unique(_deed(call, says, subjects.of(call, record["facts"]["task"])[0]) for call in calls_of(record))
    reasoning = f"Step {record['facts']['step']}: {'; '.join(notes[:MOST_NOTES]) or 'no call'}."
    if not writes and not reads:
        reasoning += " Nothing to list."
    return reasoning, {"write_operations": listed(writes), "read_operations": listed(reads)}


def _deed(call: Call, says: dict, name: str | None) -> str:
    about = f" {name}" if name else ""
    if not call.ok:
        return f"{call.name} failed"
    if call.text in says["writeOperations"]:
        return f"{call.name} wrote"
    whose = "not in the task" if call.text in says["readOperations"] else "for the task"
    return f"{call.name} read{about}, {whose}"


def search(record: Record, says: dict, _: Subjects) -> tuple[str, dict]:
    """n3: the apps, twice."""
    apps = sorted({app_of(write) for write in record["facts"]["writes"]})
    return f"The writes use {', '.join(apps) or 'no app'}.", {"apps_name": listed(says["apps"])}


def evaluate(record: Record, says: dict, _: Subjects) -> tuple[str, dict]:
    """n4: the call that undoes each write, or that there is none, then the two lists."""
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
    """n5: the earliest step marked N, what lines marked N wrote, then action and report."""
    onset, back, writes = says["onset"], says["rollbackToStep"], sorted(set(map(name_of, says["driftedWrites"])))
    lines = f"Lines marked N write {', '.join(writes)}." if writes else "Lines marked N write nothing."
    written = f"Writes: {', '.join(writes)}." if writes else "No drifted writes."
    advice = "Escalate to a human." if says["action"] == "escalate_human" else f"Roll back to step {back}."
    task = record["facts"]["task"].rstrip(".?! \n")
    report = f"Goal: {task}. First drifted step: step {onset}. {written} {advice}"
    reasoning = f"The earliest step marked N is step {onset}. {lines}"
    return reasoning, {"action": says["action"], "arguments": {"rollback_to_step": back, "report": report}}


Answer = Callable[[Record, dict, Subjects], tuple[str, dict]]
NODES: dict[str, Answer] = {"n1": classify, "n2": detect, "n3": search, "n4": evaluate, "n5": decide}


def envelope(reasoning: str, answer: str) -> str:
    """The strict form."""
    return f"<reasoning>\n{reasoning}\n</reasoning>\n<answer>\n{answer}\n</answer>"


def to_json(value: object) -> str:
    """JSON as answers write it."""
    return json.dumps(value, ensure_ascii=False)


def right(record: Record, subjects: Subjects) -> str:
    """The completion that the reference judge and all structural rewards like best."""
    reasoning, answer = NODES[record["node"]](record, record["target"], subjects)
    return envelope(reasoning, to_json(answer))
