"""The HTTP application: learner routes, the embedded sampler's routes, one token, one shape of errors."""

from fastapi import FastAPI

from grpo_worker import learner_routes
from grpo_worker.guard import TokenGuard
from grpo_worker.http_errors import install_error_handlers
from grpo_worker.sampler.engine import Engine
from grpo_worker.sampler.routes import router as sampler_router
from grpo_worker.worker import Worker


def create_app(worker: Worker, token: str | None) -> FastAPI:
    """Build the application around one worker.

    With a token every route but `GET /health` wants `Authorization: Bearer <token>`. Endpoints are plain
    functions and run in the thread pool, so that `/health` answers while an update computes.
    """
    app = FastAPI(title="grpo-worker", docs_url=None, redoc_url=None, openapi_url=None)
    install_error_handlers(app)
    app.include_router(learner_routes.router(worker))
    app.include_router(sampler_router(Engine(worker.base)))
    if token is not None:
        app.add_middleware(TokenGuard, token=token)
    return app
