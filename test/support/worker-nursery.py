"""Workers that start in a second instead of ten: this process imports everything once and forks.

Reads one JSON object a line, `{"name", "model", "log"}`, and answers on stdout, a JSON object a line:
`{"name", "pid", "port"}` when a worker listens, `{"ended": pid}` when one is dead. What it forks dies with it, and it
dies with whoever holds its standard input.
"""

import json
import os
import sys
import threading

# Before torch is imported, which reads it.
os.environ["OMP_NUM_THREADS"] = "1"

from grpo_worker import __main__ as program
from grpo_worker import server  # noqa: F401 - the import is what takes the time

CONTEXT = "256"
write_lock = threading.Lock()
# Nobody writes into it: workers see its end when this process is gone.
alive_read, alive_write = os.pipe()


def say(**fields: object) -> None:
    """Answer with one line."""
    with write_lock:
        os.write(1, f"{json.dumps(fields)}\n".encode())


def become_worker(model: str, log: str, ready: int) -> None:
    """In the fork: take the place of a worker that was started from the command line."""
    os.setsid()
    os.close(alive_write)
    os.dup2(alive_read, 0)
    os.dup2(ready, 1)
    os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644), 2)
    arguments = [
        "--model",
        model,
        "--threads",
        "1",
        "--max-context",
        CONTEXT,
        "--watch-stdin",
    ]
    sys.argv = ["grpo_worker", *arguments]
    os._exit(program.main())


def start(name: str, model: str, log: str) -> None:
    """Fork a worker and wait for its port."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read_end)
        become_worker(model, log, write_end)
    os.close(write_end)
    with os.fdopen(read_end) as lines:
        ready = lines.readline()
    if ready:
        say(name=name, pid=pid, port=json.loads(ready)["port"])
    else:
        say(name=name, pid=pid, port=None)
    threading.Thread(
        target=lambda: (os.waitpid(pid, 0), say(ended=pid)), daemon=True
    ).start()


def main() -> None:
    """Serve until standard input ends."""
    for line in sys.stdin:
        start(**json.loads(line))


if __name__ == "__main__":
    main()
