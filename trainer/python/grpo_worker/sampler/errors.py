"""Errors in the shape and the words of vLLM's HTTP server, so that one client serves both."""

from typing import Any

LONGEST = 10_000


class ApiError(Exception):
    """An error answer: HTTP status, message, vLLM's type name and the field that is to blame, or None."""

    def __init__(self, status: int, message: str, kind: str, param: str | None = None) -> None:
        # It may repeat what was sent: much of it, or half of a character pair, which no answer can hold.
        super().__init__(message[:LONGEST].encode("utf-8", "replace").decode())
        self.status = status
        self.kind = kind
        self.param = param

    def body(self) -> dict[str, Any]:
        """The JSON body of the answer."""
        return {"error": {"message": str(self), "type": self.kind, "param": self.param, "code": self.status}}


def bad_request(message: str, *, param: str | None = None, value: object = None) -> ApiError:
    """400; a named parameter is repeated in the message with its value."""
    if param is not None:
        message = f"{message} (parameter={param}, value={value})"
    return ApiError(400, message, "BadRequestError", param)


def user_input(message: str) -> ApiError:
    """400 of the adapter routes."""
    return ApiError(400, message, "InvalidUserInput")


def not_found(message: str, param: str | None = None) -> ApiError:
    """404 of a model, an adapter or a path."""
    return ApiError(404, message, "NotFoundError", param)


def load_failed(reason: str) -> ApiError:
    """500: the adapter was found and is none that can be used."""
    message = (
        f"Call to add_lora method failed: Worker failed with error '{reason}', "
        "please check the stack trace above for the root cause"
    )
    return ApiError(500, message, "InternalServerError")


def engine_failed() -> ApiError:
    """500: a computation broke for a reason of its own; the log has the stack trace."""
    message = "EngineCore encountered an issue. See stack trace (above) for the root cause."
    return ApiError(500, message, "InternalServerError")


def not_finite() -> ApiError:
    """400: the policy gives numbers that JSON cannot carry."""
    return bad_request("Out of range float values are not JSON compliant")
