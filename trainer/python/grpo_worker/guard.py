"""The bearer token: an ASGI middleware in front of every route."""

import hmac
import json

from starlette.types import ASGIApp, Receive, Scope, Send

from grpo_worker.errors import WorkerError

OPEN_PATHS = {"/health"}


class TokenGuard:
    """Answer 401 unless the request carries `Authorization: Bearer <token>`; /health stays open."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self.app = app
        self.expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on or refuse it."""
        if scope["type"] != "http" or scope["path"] in OPEN_PATHS or self._allowed(scope):
            await self.app(scope, receive, send)
            return
        await _refuse(scope["path"], send)

    def _allowed(self, scope: Scope) -> bool:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        return len(given) == 1 and hmac.compare_digest(given[0], self.expected)


async def _refuse(path: str, send: Send) -> None:
    error = WorkerError("Unauthorized", "the Authorization header must be 'Bearer <token>' with this worker's token")
    # vLLM answers with a bare string on its routes, and its clients look for that.
    content = {"error": "Unauthorized"} if path.startswith("/v1/") else error.body()
    body = json.dumps(content).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
