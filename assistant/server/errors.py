"""Errors as the OpenAI API shapes them, so that its clients raise what they raise there."""

import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from assistant.errors import AccessRefused, ModelError, ModelRefused, QuestionError, TooManyQuestions, UserFacingError
from vectorstore.visible import visible

_LOG = logging.getLogger(__name__)
_CODES = {401: "invalid_api_key", 413: "request_too_large", 429: "rate_limit_exceeded"}
_FOR_CLIENTS = (AccessRefused, ModelError, QuestionError, TooManyQuestions)
"""Other errors are for whoever runs the server: they name files and commands of its machine."""
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
    code: str | None = None
    wait_seconds: int | None = None

    @property
    def body(self) -> dict[str, Any]:
        """As JSON."""
        code = self.code or _CODES.get(self.status)
        return {"error": {"message": visible(self.message), "type": self._type, "param": self.param, "code": code}}

    @property
    def _type(self) -> str:
        if self.status == 429:
            return "rate_limit_error"
        return "invalid_request_error" if self.status < 500 else "server_error"

    def response(self) -> JSONResponse:
        """As a response."""
        headers = {"Retry-After": str(self.wait_seconds)} if self.wait_seconds else None
        return JSONResponse(self.body, status_code=self.status, headers=headers)


_UNFORESEEN = ApiError(500, "Something unforeseen went wrong; the log of the server says what.")


def error_of(error: Exception) -> ApiError:
    """What a client is told of an error; what is not meant for clients goes to the log."""
    if isinstance(error, _FOR_CLIENTS):
        return ApiError(
            _status(error),
            f"{error.message} {error.hint}",
            code="model_not_found" if isinstance(error, UnknownModel) else None,
            wait_seconds=error.wait_seconds if isinstance(error, TooManyQuestions) else None,
        )
    if isinstance(error, UserFacingError):
        _LOG.error("%s %s", error.message, error.hint)
        return ApiError(503, f"This server cannot answer now ({type(error).__name__}); its log says why.")
    _LOG.error("An answer could not be given", exc_info=error)
    return _UNFORESEEN


def _status(error: UserFacingError) -> int:
    if isinstance(error, UnknownModel):
        return 404
    if isinstance(error, AccessRefused):
        return 401
    if isinstance(error, TooManyQuestions):
        return 429
    if isinstance(error, QuestionError):
        return 400
    return 502 if isinstance(error, ModelRefused) else 503


async def failed(request: Request, error: Exception) -> Response:
    """The reply to a request that failed."""
    return error_of(error).response()


async def unreadable(request: Request, error: Exception) -> Response:
    """The reply to a request that does not have the form it must have; what was sent is not repeated."""
    assert isinstance(error, RequestValidationError)
    problem = error.errors()[0]
    if problem["type"] == "json_invalid":
        return ApiError(400, "The request is not JSON.").response()
    place = ".".join(str(part) for part in problem["loc"] if part != "body")
    reason = str(problem["msg"]).removeprefix("Value error, ")
    return ApiError(400, f"{place or 'The request'}: {reason}", param=place or None).response()


async def refused(request: Request, error: Exception) -> Response:
    """The reply to a request that the web framework itself refuses."""
    assert isinstance(error, HTTPException)
    return ApiError(error.status_code, error.detail).response()


async def unforeseen(request: Request, error: Exception) -> Response:
    """The reply when the program fails; the web framework writes the log."""
    return _UNFORESEEN.response()


async def left(request: Request, error: Exception) -> Response:
    """For a client that left."""
    return Response(status_code=_LEFT)


Handler = Callable[[Request, Any], Coroutine[Any, Any, Response]]
HANDLERS: dict[int | type[Exception], Handler] = {
    UserFacingError: failed,
    RequestValidationError: unreadable,
    HTTPException: refused,
    ClientDisconnect: left,
    Exception: unforeseen,
}
