"""The project's own rewards, asked from Python: one process of score.ts, one JSON line to and fro."""

import json
import subprocess
from pathlib import Path

from completions import Record

ROOT = Path(__file__).resolve().parents[2]


class Scorer:
    """Scores completions under the hardened profile with the reference judge."""

    def __init__(self) -> None:
        command = ["node", "--import", "tsx", "scripts/tiny-base/score.ts"]
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, record: Record, completions: list[str]) -> list[dict]:
        """For each completion: total (R), right (exactly the target), parts (weighted components)."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps({"prompt": record, "completions": completions}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("score.ts ended; its error is above")
        return json.loads(line)

    def close(self) -> None:
        """Ends the process."""
        self._process.communicate()
