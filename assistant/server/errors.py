"""Errors as the OpenAI API shapes them, so that its clients raise what they raise there."""

import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from assistant.errors import AccessRefused, ModelError, ModelRefused, QuestionError, TooManyQuestions, UserFacingError
from vectorstore.visible import visible

_LOG = logging.getLogger(__name__)
_TYPES = {
    400: "invalid_request_error",
    401: "invalid_request_error",
    404: "invalid_request_error",
    429: "rate_limit_error",
}
_CODES = {401: "invalid_api_key", 404: "model_not_found", 413: "request_too_large", 429: "rate_limit_exceeded"}
_LEFT = 499
"""What nginx logs for a client that did not wait; nobody receives it."""


class UnknownModel(QuestionError):
    """No collection or no writer goes by the name of that model."""


@dataclass(frozen=True)
class ApiError:
    """What a client is told."""

    status: int
    message: str
    param: str | None = None
    wait_seconds: int | None = None

    @property
    def body(self) -> dict[str, Any]:
        """As JSON."""
        kind, code = _TYPES.get(self.status, "server_error"), _CODES.get(self.status)
        return {"error": {"message": visible(self.message), "type": kind, "param": self.param, "code": code}}

    def response(self) -> JSONResponse:
        """As a response."""
        headers = {"Retry-After": str(self.wait_seconds)} if self.wait_seconds else None
        return JSONResponse(self.body, status_code=self.status, headers=headers)


def error_of(error: Exception) -> ApiError:
    """What a client is told of an error; what is not meant for clients goes to the log."""
    if isinstance(error, UserFacingError):
        wait_seconds = error.wait_seconds if isinstance(error, TooManyQuestions) else None
        return ApiError(_status(error), f"{error.message} {error.hint}", wait_seconds=wait_seconds)
    _LOG.error("An answer could not be given", exc_info=error)
    return ApiError(500, "Something unforeseen went wrong; the log of the server says what.")


def _status(error: UserFacingError) -> int:
    if isinstance(error, UnknownModel):
        return 404
    if isinstance(error, AccessRefused):
        return 401
    if isinstance(error, TooManyQuestions):
        return 429
    if isinstance(error, QuestionError):
        return 400
    if isinstance(error, ModelRefused):
        return 502
    return 503 if isinstance(error, ModelError) else 500


async def failed(request: Request, error: Exception) -> Response:
    """The reply to a request that failed."""
    return error_of(error).response()


async def unreadable(request: Request, error: Exception) -> Response:
    """The reply to a request that does not have the form it must have; what was sent is not repeated."""
    assert isinstance(error, RequestValidationError)
    problem = error.errors()[0]
    place = ".".join(str(part) for part in problem["loc"] if part != "body")
    return ApiError(400, f"{place or 'The request'}: {problem['msg']}", param=place or None).response()


async def left(request: Request, error: Exception) -> Response:
    """For a client that left."""
    return Response(status_code=_LEFT)


Handler = Callable[[Request, Any], Coroutine[Any, Any, Response]]
HANDLERS: dict[int | type[Exception], Handler] = {
    UserFacingError: failed,
    RequestValidationError: unreadable,
    ClientDisconnect: left,
    Exception: failed,
}
