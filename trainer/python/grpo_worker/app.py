"""The HTTP application: learner routes, the embedded sampler's routes, one token, one shape of errors."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from grpo_worker import learner_routes
from grpo_worker.guard import TokenGuard
from grpo_worker.http_errors import install_error_handlers
from grpo_worker.sampler.engine import Engine
from grpo_worker.sampler.routes import router as sampler_router
from grpo_worker.worker import Worker

log = logging.getLogger(__name__)

# How long the sampler's thread may go on at the end: it may be waiting for an update that cannot be interrupted.
CLOSE_SECONDS = 2.0


def create_app(worker: Worker, token: str | None) -> FastAPI:
    """Build the application around one worker.

    With a token every route but `GET /health` wants `Authorization: Bearer <token>`. Endpoints are plain
    functions and run in the thread pool, so that `/health` answers while an update computes. The sampler ends
    with the application.
    """
    engine = Engine(worker.base, roots=worker.roots)

    def end_sampler() -> None:
        engine.close(CLOSE_SECONDS)
        log.info("the sampler has stopped" if not engine.alive else "the sampler is still waiting for the learner")

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        end_sampler()

    app = FastAPI(title="grpo-worker", docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    # For a server that ends its process instead of the application.
    app.state.end_sampler = end_sampler
    install_error_handlers(app)
    app.include_router(learner_routes.router(worker))
    app.include_router(sampler_router(engine))
    if token is not None:
        app.add_middleware(TokenGuard, token=token)
    return app
