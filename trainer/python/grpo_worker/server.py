"""The process: load the model, open a socket, say that it is ready, stop cleanly."""

import argparse
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from types import FrameType

import torch
import uvicorn

from grpo_worker.app import create_app
from grpo_worker.errors import WorkerError
from grpo_worker.follow import follow
from grpo_worker.info import hash_model
from grpo_worker.memory import limit_cuda_memory
from grpo_worker.parent import ParentWatch
from grpo_worker.policy import load_base
from grpo_worker.ranks import join_ranks
from grpo_worker.roots import Roots
from grpo_worker.worker import Worker

log = logging.getLogger(__name__)

# How long a request that is under way may go on after the worker was told to stop.
GRACE_SECONDS = 2


class Server(uvicorn.Server):
    """uvicorn that prints the ready line and, with a parent that watches over it, ignores Ctrl-C.

    A terminal sends Ctrl-C to parent and child alike; the parent wants to finish its step first.
    """

    def __init__(
        self, config: uvicorn.Config, port: int, ignore_interrupt: bool, before_end: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self.before_end = before_end
        self.port = port
        self.ignore_interrupt = ignore_interrupt

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening, then tell the parent."""
        await super().startup(sockets=sockets)
        print(json.dumps({"ready": True, "port": self.port, "pid": os.getpid()}), flush=True)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening, give requests under way their grace, and end the process.

        Here and not after the event loop: an update that still computes holds a thread that cannot be
        interrupted, and the loop would wait for it. Its result is lost either way. The loop gets no turn any more:
        requests that were given up would only log that they were.
        """
        await super().shutdown(sockets=sockets)
        self.before_end()
        log.info("stopped")
        logging.shutdown()
        sys.stdout.flush()
        os._exit(0)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """First signal: stop after the requests under way."""
        if sig == signal.SIGINT and self.ignore_interrupt:
            return
        # Not passed on to the parent class, which would raise the signal again after a clean stop.
        self.finish()

    def finish(self) -> None:
        """Stop after the requests under way."""
        self.should_exit = True


def serve(options: argparse.Namespace, token: str | None, parent: ParentWatch | None) -> int:
    """Serve until a signal or the end of stdin, which end the process; returns only when serving fails.

    Of several ranks only the first serves; the others follow it.
    """
    ranks = join_ranks()
    base = load_base(
        options.model,
        served_name=options.served_name,
        dtype=options.dtype,
        device=options.device,
        max_context=options.max_context,
    )
    limit_cuda_memory(base.device, options.memory_fraction)
    log.info(
        "%s: %s, %d parameters, %s on %s, %d threads, context %d",
        base.path,
        type(base.model).__name__,
        base.parameters,
        base.dtype,
        base.device,
        torch.get_num_threads(),
        base.max_context,
    )
    worker = Worker(base, hash_model(base), ranks, roots=Roots(options.root))
    if not ranks.leads:
        return follow(worker)
    app = create_app(worker, token)
    listener = _listen(options.host, options.port)
    config = uvicorn.Config(
        app, log_config=None, access_log=False, timeout_graceful_shutdown=GRACE_SECONDS, lifespan="off"
    )
    server = Server(config, listener.getsockname()[1], parent is not None, app.state.end_sampler)
    if parent is not None:
        parent.when_gone(server.finish)
    server.run(sockets=[listener])
    return 1  # Not reached by a server that was up: that one ends in its shutdown.


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        raise WorkerError("InvalidRequest", f"cannot listen on {host} port {port}: {error.strerror}") from error
    return listener
