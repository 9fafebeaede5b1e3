"""vLLM's routes over the embedded sampler."""

import asyncio
from collections.abc import Awaitable, Callable
from uuid import uuid4

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from grpo_worker.sampler.answers import VERSION, CompletionWriter, model_list
from grpo_worker.sampler.bodies import Body, CompletionBody, LoadBody, UnloadBody, parse_body, sampling_params
from grpo_worker.sampler.engine import Engine
from grpo_worker.sampler.errors import ApiError
from grpo_worker.sampler.jobs import Completed, Job
from grpo_worker.sampler.prompts import prompt_ids

Endpoint = Callable[[Request], Awaitable[Response]]


def router(engine: Engine) -> APIRouter:
    """The routes; they share nothing but the engine."""
    routes = APIRouter()
    writer = CompletionWriter(engine)

    async def health(_request: Request) -> Response:
        return Response(status_code=200 if engine.alive else 503)

    async def version(_request: Request) -> Response:
        return JSONResponse({"version": VERSION})

    async def models(_request: Request) -> Response:
        return JSONResponse(model_list(engine))

    async def load(request: Request) -> Response:
        body = await _body(LoadBody, request)
        await run_in_threadpool(engine.load, body.lora_name, body.lora_path, replace=body.load_inplace)
        return _said(f"Success: LoRA adapter '{body.lora_name}' added successfully.")

    async def unload(request: Request) -> Response:
        body = await _body(UnloadBody, request)
        engine.unload(body.lora_name)
        return _said(f"Success: LoRA adapter '{body.lora_name}' removed successfully.")

    async def completions(request: Request) -> Response:
        body = await _body(CompletionBody, request)
        return await _complete(engine, writer, body, request)

    for path, endpoint in (("/health", health), ("/version", version), ("/v1/models", models)):
        routes.add_api_route(path, _answering(endpoint), methods=["GET"])
    for path, endpoint in (
        ("/v1/completions", completions),
        ("/v1/load_lora_adapter", load),
        ("/v1/unload_lora_adapter", unload),
    ):
        routes.add_api_route(path, _answering(endpoint), methods=["POST"])
    return routes


async def _complete(engine: Engine, writer: CompletionWriter, body: CompletionBody, request: Request) -> Response:
    params = sampling_params(body)
    prompts = await run_in_threadpool(prompt_ids, body.prompt, engine.base.tokenizer)
    jobs = engine.submit(body.model or engine.base.served_name, prompts, params)
    done = await _unless_gone(jobs, request)
    if done is None:
        return Response(status_code=499)
    name = request.headers.get("x-request-id") or uuid4().hex[:16]
    return JSONResponse(await run_in_threadpool(writer.write, body, name, jobs, done))


async def _unless_gone(jobs: list[Job], request: Request) -> list[Completed] | None:
    """Wait for the jobs; None, with the jobs given up, when the client closed its connection first."""
    answers = asyncio.gather(*(asyncio.wrap_future(job.future) for job in jobs))
    gone = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({answers, gone}, return_when=asyncio.FIRST_COMPLETED)
        return answers.result() if answers.done() else None
    finally:
        gone.cancel()
        answers.cancel()
        for job in jobs:
            job.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _body(kind: type[Body], request: Request) -> Body:
    return parse_body(kind, request.headers.get("content-type"), await request.body())


def _answering(endpoint: Endpoint) -> Endpoint:
    """The endpoint with its ApiErrors turned into answers."""

    async def answer(request: Request) -> Response:
        try:
            return await endpoint(request)
        except ApiError as error:
            return JSONResponse(error.body(), status_code=error.status)

    return answer


def _said(text: str) -> Response:
    # Plain text without a Content-Type, as vLLM sends it.
    return Response(text)
