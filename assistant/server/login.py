"""The login to the page: a form, and a signed cookie that says who has filled it in."""

import hashlib
import secrets
from importlib.resources import files
from urllib.parse import urlencode

from anyio import to_thread
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from itsdangerous import BadSignature, URLSafeTimedSerializer
from markupsafe import Markup
from starlette.responses import Response

from assistant.access import Users
from assistant.errors import NotLoggedIn
from assistant.ui import ASSETS, NAME

COOKIE = "abstract-assistant-login"
_SECONDS = 14 * 24 * 3600
"""How long a login lasts."""
_LOGIN_NEEDED = NotLoggedIn("You are not logged in.", "Open the page and log in.")
_WRONG = "That is not the name and the password of a user."


class Logins:
    """Who has logged in. A login ends with its password, its user, its time, or this program."""

    def __init__(self, users: Users) -> None:
        self._users = users
        self._signer = URLSafeTimedSerializer(secrets.token_hex(32))

    def begin(self, name: str, password: str) -> str | None:
        """What the cookie is to hold; None when that is not the password."""
        return self._signer.dumps([name, self._mark(name)]) if self._users.may_log_in(name, password) else None

    def user_of(self, cookie: str) -> str:
        """Who has logged in with this cookie. Raises `NotLoggedIn` when that counts no longer, or never did."""
        try:
            name, mark = self._signer.loads(cookie, max_age=_SECONDS)
        except BadSignature:
            raise _LOGIN_NEEDED from None
        if not secrets.compare_digest(mark, self._mark(name)):
            raise _LOGIN_NEEDED
        return str(name)

    def _mark(self, name: str) -> str:
        """Another one for another password, and for a user who is gone."""
        user = self._users.all().get(name)
        return hashlib.sha256(user.password.encode() if user else secrets.token_bytes()).hexdigest()


def login_routes(logins: Logins) -> APIRouter:
    """The form, what it is sent to, and the way out."""
    routes = APIRouter()

    @routes.get("/login")
    async def form(q: str = "") -> Response:
        return HTMLResponse(_page(q))

    @routes.post("/login")
    async def log_in(request: Request) -> Response:
        async with request.form(max_files=0, max_fields=10) as given:
            name, password, question = (str(given.get(field, "")) for field in ("name", "password", "q"))
        cookie = await to_thread.run_sync(logins.begin, name, password)
        if cookie is None:
            return HTMLResponse(_page(question, name, _WRONG), status_code=401)
        reply = RedirectResponse(f"/?{urlencode({'q': question})}" if question else "/", status_code=303)
        is_secure = request.url.scheme == "https"
        reply.set_cookie(COOKIE, cookie, max_age=_SECONDS, httponly=True, samesite="lax", secure=is_secure)
        return reply

    @routes.post("/logout")
    async def log_out() -> Response:
        reply = RedirectResponse("/login", status_code=303)
        reply.delete_cookie(COOKIE, httponly=True, samesite="lax")
        return reply

    return routes


def _page(question: str, name: str = "", problem: str = "") -> str:
    """The form; whatever was sent is escaped."""
    icon = (files("assistant.ui") / "static" / "icon.svg").read_text("utf-8")
    return Markup(_PAGE).format(
        title=NAME,
        assets=ASSETS,
        icon=Markup(icon),  # our own file
        problem=Markup('<p role="alert">{}</p>').format(problem) if problem else "",
        name=name,
        first="" if name else "autofocus",
        second="autofocus" if name else "",
        question=question,
    )


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}: log in</title>
<link rel="icon" href="{assets}/icon.svg">
<link rel="stylesheet" href="{assets}/login.css">
</head>
<body>
<main>
<form method="post" action="/login">
{icon}
<h1>{title}</h1>
{problem}
<label>Name <input name="name" value="{name}" autocomplete="username" required {first}></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required {second}></label>
<input type="hidden" name="q" value="{question}">
<button>Log in</button>
</form>
</main>
</body>
</html>
"""
