"""Real servers on loopback: the application in a thread, and the whole worker as a process."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import uvicorn
from fastapi import FastAPI

TOKEN = "a-token-for-tests"
PACKAGE_ROOT = Path(__file__).parents[1]


@contextmanager
def served(app: FastAPI) -> Iterator[httpx.Client]:
    """Run an application under uvicorn and yield a client that carries the token."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="on"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="served", daemon=True)
    thread.start()
    try:
        with client(listener.getsockname()[1]) as ready:
            yield ready
    finally:
        server.should_exit = True
        thread.join(10)


def client(port: int, token: str | None = TOKEN) -> httpx.Client:
    """An HTTP client for a worker on loopback. A listening socket queues early connections."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    transport = httpx.HTTPTransport(retries=5)
    return httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=60, transport=transport)


@contextmanager
def process(model: Path, *options: str) -> Iterator[tuple[subprocess.Popen, dict]]:
    """Start `python -m grpo_worker` and yield it with its ready line; kill it if it outlives the test."""
    environment = {**os.environ, "DRIFT_GRPO_TOKEN": TOKEN, "PYTHONPATH": str(PACKAGE_ROOT)}
    command = [sys.executable, "-m", "grpo_worker", "--model", str(model), *options]
    child = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    try:
        line = child.stdout.readline()
        if not line:
            raise AssertionError(f"the worker did not start:\n{child.stderr.read().decode()}")
        yield child, json.loads(line)
    finally:
        if child.poll() is None:
            child.kill()
        child.wait(10)
        for stream in (child.stdin, child.stdout, child.stderr):
            stream.close()
