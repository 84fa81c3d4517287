"""What a request must pass before anything is done for it: its size, who sends it, how often."""

from urllib.parse import parse_qs, urlencode

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.access import Users
from assistant.errors import NotLoggedIn, UserFacingError
from assistant.server.errors import ApiError, error_of
from assistant.server.login import COOKIE, Logins
from assistant.ui import ASSETS
from assistant.visitors import RateLimit
from vectorstore.loading.document import LARGEST

_PROGRAMS = ("/v1", "/mcp")
"""The doors for programs, which show a key; people log in to the page."""
_LARGEST_BODY = 1_000_000
_LARGEST_OF_PAGE = 8_000_000
"""Bytes: a conversation that the browser has kept comes back whole."""
_LARGEST_UPLOAD = 2 * LARGEST
"""Of several files together; Gradio sees to each one."""
_UPLOAD = "/gradio_api/upload"
_LOGINS_PER_MINUTE = 10
_PUBLIC = ("/health", "/ready", f"{ASSETS}/")
"""What is told to everybody."""


def is_for_programs(path: str) -> bool:
    """Whether the path is of a door for programs."""
    return path.startswith(tuple(f"{door}/" for door in _PROGRAMS)) or path in _PROGRAMS


class SmallBodies:
    """Refuses bodies that are larger than anything this server is asked for; others are read before they are passed on.

    An upload is not: it must say how large it is.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, as ASGI has it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        largest = _largest(scope["path"])
        told = Headers(scope=scope).get("content-length")
        if told is None and scope["path"] == _UPLOAD:
            await ApiError(411, "An upload must say how large it is.").response()(scope, receive, send)
        elif told is not None and not (told.isdecimal() and int(told) <= largest):
            await _too_large(largest)(scope, receive, send)
        elif scope["path"] == _UPLOAD:
            await self._app(scope, receive, send)
        elif (body := await _body(receive, largest)) is None:
            await _too_large(largest)(scope, receive, send)
        else:
            await self._app(scope, _again(body, receive), send)


def _largest(path: str) -> int:
    if path == _UPLOAD:
        return _LARGEST_UPLOAD
    return _LARGEST_BODY if is_for_programs(path) else _LARGEST_OF_PAGE


async def _body(receive: Receive, largest: int) -> list[Message] | None:
    """The messages that make up the body, unless it is too large."""
    messages, size = list[Message](), 0
    while not messages or messages[-1].get("more_body"):
        messages.append(await receive())
        size += len(messages[-1].get("body", b""))
        if size > largest:
            return None
    return messages


def _again(messages: list[Message], receive: Receive) -> Receive:
    async def next_message() -> Message:
        return messages.pop(0) if messages else await receive()

    return next_message


class KnownVisitors:
    """Lets in, where there are users, programs by their key and people by their login; and nobody too often.

    Who comes in is left at "visitor" of the scope: the name of a user, or else the address.
    """

    def __init__(self, app: ASGIApp, *, users: Users | None, logins: Logins | None, requests: RateLimit) -> None:
        self._app = app
        self._users = users
        self._logins = logins
        self._requests = requests
        self._attempts = RateLimit(_LOGINS_PER_MINUTE, "logins")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, as ASGI has it."""
        try:
            if scope["type"] != "lifespan":
                self._check(scope)
        except NotLoggedIn as error:
            is_page = scope["type"] == "http" and scope["path"] == "/"
            refused = _to_login(scope) if is_page else error_of(error).response()
            await refused(scope, receive, send)
        except UserFacingError as error:
            await error_of(error).response()(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _check(self, scope: Scope) -> None:
        """Raises `AccessRefused` or `TooManyQuestions`."""
        address, path, is_post = scope["client"][0] if scope.get("client") else "", scope["path"], _is_post(scope)
        if is_for_programs(path):
            scope["visitor"] = self._users.owner_of(_key(scope)) if self._users else address
            self._requests.count(scope["visitor"])
        elif path.rstrip("/") == "/login":
            if is_post:
                self._attempts.count(address)
        elif self._logins and not path.startswith(_PUBLIC):
            scope["visitor"] = self._logins.user_of(cookies(scope).get(COOKIE, ""))


def _is_post(scope: Scope) -> bool:
    return scope.get("method") == "POST"


def _to_login(scope: Scope) -> RedirectResponse:
    """To the form, which keeps the question of a link."""
    question = parse_qs(scope["query_string"].decode("latin-1")).get("q", [""])[0]
    return RedirectResponse(f"/login?{urlencode({'q': question})}" if question else "/login", status_code=303)


def cookies(scope: Scope) -> dict[str, str]:
    """The cookies that the browser sends, by name."""
    return HTTPConnection(scope).cookies


def _key(scope: Scope) -> str:
    scheme, _, key = Headers(scope=scope).get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else ""


def _too_large(largest: int) -> JSONResponse:
    return ApiError(413, f"The request is too large; at most {largest:,} bytes are read.").response()
