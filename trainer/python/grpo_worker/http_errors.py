"""Errors to HTTP answers, in one place. Stack traces go to the log, never to the client."""

import logging

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from grpo_worker.errors import WorkerError

log = logging.getLogger(__name__)


def install_error_handlers(app: FastAPI) -> None:
    """Answer for WorkerError and for everything unforeseen."""
    app.add_exception_handler(WorkerError, _known)
    app.add_exception_handler(Exception, _unknown)


async def _known(request: Request, error: WorkerError) -> JSONResponse:
    log.warning("%s %s: %s: %s", request.method, request.url.path, error.kind, error)
    return JSONResponse(error.body(), status_code=error.status)


async def _unknown(request: Request, error: Exception) -> JSONResponse:
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    hidden = WorkerError("Internal", f"unexpected {type(error).__name__}; the worker's log has the details")
    return JSONResponse(hidden.body(), status_code=hidden.status)
