"""HTTP routes of the learner. Each reads a body, calls one method of the worker and writes the answer."""

from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import APIRouter, Depends, Header, Request
from fastapi.responses import JSONResponse

from grpo_worker import protocol
from grpo_worker.info import worker_info
from grpo_worker.once import HEADER, Once
from grpo_worker.worker import Worker

Body = TypeVar("Body", bound=protocol.Wire)
Key = Annotated[str | None, Header(alias=HEADER)]


async def _raw(request: Request) -> bytes:
    return await request.body()


def _read(kind: type[Body]) -> Callable[..., Body]:
    """Dependency that parses a body in the thread pool: a batch of some thousand tokens takes a while."""

    def parse(raw: Annotated[bytes, Depends(_raw)]) -> Body:
        return kind.parse(raw)

    return parse


def router(worker: Worker) -> APIRouter:
    """The learner's routes around one worker. Those that would do more the second time heed the name of a call."""
    routes = APIRouter()
    once = Once()

    @routes.get("/info")
    def info() -> JSONResponse:
        return JSONResponse(worker_info(worker))

    @routes.post("/session")
    def session(
        request: Annotated[protocol.SessionRequest, Depends(_read(protocol.SessionRequest))], key: Key = None
    ) -> JSONResponse:
        return JSONResponse(once.answer(key, f"session {request!r}", lambda: worker.open(request).wire()))

    @routes.post("/tokenize")
    def tokenize(
        request: Annotated[protocol.TokenizeRequest, Depends(_read(protocol.TokenizeRequest))],
    ) -> JSONResponse:
        return JSONResponse(worker.tokenize(request))

    @routes.post("/update")
    def update(request: Annotated[protocol.UpdateBatch, Depends(_read(protocol.UpdateBatch))]) -> JSONResponse:
        return JSONResponse(worker.update(request).wire())

    @routes.post("/logprobs")
    def logprobs(
        request: Annotated[protocol.LogprobsRequest, Depends(_read(protocol.LogprobsRequest))],
    ) -> JSONResponse:
        return JSONResponse(worker.logprobs(request))

    @routes.post("/adapters")
    def adapters(
        request: Annotated[protocol.PathRequest, Depends(_read(protocol.PathRequest))], key: Key = None
    ) -> JSONResponse:
        return JSONResponse(once.answer(key, f"adapters {request!r}", lambda: worker.save_adapter(request)))

    @routes.post("/state/save")
    def save(
        request: Annotated[protocol.PathRequest, Depends(_read(protocol.PathRequest))], key: Key = None
    ) -> JSONResponse:
        return JSONResponse(once.answer(key, f"save {request!r}", lambda: worker.save(request)))

    @routes.post("/state/load")
    def load(
        request: Annotated[protocol.PathRequest, Depends(_read(protocol.PathRequest))], key: Key = None
    ) -> JSONResponse:
        return JSONResponse(once.answer(key, f"load {request!r}", lambda: worker.load(request)))

    return routes
