"""Starts the chat on this machine, for this machine only."""

import asyncio
import errno
import hashlib
import socket
import threading
from collections.abc import Callable
from importlib.resources import files
from typing import Any
from urllib.parse import quote, urlsplit

import gradio as gr
from fastapi import FastAPI, Request
from gradio.routes import App
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.app import Assistants
from assistant.errors import SettingsError
from assistant.ui.page import build_page
from vectorstore.loading.document import LARGEST

ASSETS = "/page"
_STYLES = ("page.css", "chat.css", "papers.css", "atlas.css", "collections.css")
_SCRIPTS = ("page.js", "chat.js", "kept.js", "papers.js", "atlas.js")
_HOST = "127.0.0.1"
_POLICY = "; ".join(
    [
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",  # Gradio needs both
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'self'",
        "base-uri 'self'",
        "object-src 'none'",
    ]
)
"""The second guard after escaping: whatever gets onto the page, the browser fetches nothing from elsewhere."""

_HEADERS = [
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
]
_REFUSED = ("/gradio_api/file=http", "/gradio_api/proxy=")
"""Routes by which strangers could have this machine fetch addresses for them."""


def launch_chat(assistants: Assistants, *, port: int) -> None:
    """Serves the chat until the program is interrupted. Raises `SettingsError` when the port cannot be used."""
    chat = start_chat(assistants, port=port)
    print(f"The chat is at http://{_HOST}:{port} - Ctrl+C ends it.")
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        print()
    finally:
        chat.close(verbose=False)


def start_chat(assistants: Assistants, *, port: int) -> gr.Blocks:
    """The chat, served in the background; `close()` ends it."""
    _refuse_taken_port(port)
    chat = build_page(assistants)
    chat.launch(
        server_name=_HOST,
        server_port=port,
        share=False,
        inbrowser=False,
        quiet=True,
        prevent_thread_lock=True,
        num_workers=0,
        max_threads=chat.max_threads,
        state_session_capacity=chat.state_session_capacity,
        app_kwargs={"middleware": [*guards()], "routes": [_assets()]},
        **_page_options(),
    )
    return chat


def mount_page(
    app: FastAPI, assistants: Assistants, *, user_of: Callable[[Request], str] | None = None
) -> asyncio.Event:
    """Puts the page at "/" of the app, and its files; `user_of` says who has logged in, where users do.

    Once the event that this gives is set, pages that are open hold no connection any longer.
    """
    app.router.routes.append(_assets())
    gr.mount_gradio_app(app, build_page(assistants), path="/", auth_dependency=user_of, **_page_options())
    mounted = [route.app for route in app.routes if isinstance(route, Mount)]
    return next(page.stop_event for page in mounted if isinstance(page, App))


def _page_options() -> dict[str, Any]:
    """What holds wherever the page is served: its looks, and that Gradio offers nothing else.

    For `launch` and `gr.mount_gradio_app`; the files of the page are at `ASSETS`.
    """
    icon = quote((files("assistant.ui") / "static" / "icon.svg").read_text("utf-8"))
    styles = "".join(f'<link rel="stylesheet" href="{_versioned(name)}">' for name in _STYLES)
    scripts = "".join(f'<script defer src="{_versioned(name)}"></script>' for name in _SCRIPTS)
    return {
        "head": f'<link rel="icon" href="data:image/svg+xml,{icon}">{styles}{scripts}',
        "theme": gr.themes.Base(font=["Arial", "sans-serif"], font_mono=["monospace"]),
        "mcp_server": False,
        "ssr_mode": False,
        "pwa": False,
        "run_history": False,
        "enable_monitoring": False,
        "show_error": False,
        "footer_links": [],
        "allowed_paths": [],
        "max_file_size": LARGEST,
    }


def _versioned(name: str) -> str:
    """The address of a file, another one whenever the file has changed, so that no browser goes on with an old one."""
    text = (files("assistant.ui") / "static" / name).read_bytes()
    return f"{ASSETS}/{name}?{hashlib.sha256(text).hexdigest()[:8]}"


def _assets() -> Mount:
    """The files of the page."""
    return Mount(ASSETS, StaticFiles(packages=[("assistant.ui", "static")]))


def guards() -> list[Middleware]:
    """The middleware of the chat; the host is checked so that no other site can pose as this machine."""
    return [Middleware(TrustedHostMiddleware, allowed_hosts=[_HOST, "localhost"]), Middleware(GuardedResponses)]


class GuardedResponses:
    """Adds the headers that keep the page to itself, and refuses what Gradio offers but this chat never needs."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, as ASGI has it."""
        if any(route in str(scope.get("path")) for route in _REFUSED) or _is_from_another_site(scope):
            await PlainTextResponse("Not part of this chat.", status_code=403)(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_HEADERS]
            await send(message)

        await self._app(scope, receive, send_guarded)


def _is_from_another_site(scope: Scope) -> bool:
    """Whether a page of another site asks for something to be done: browsers let it, and name the site."""
    headers = Headers(scope=scope) if scope["type"] in ("http", "websocket") else {}
    origin = headers.get("origin")
    return origin is not None and urlsplit(origin).netloc != headers.get("host")


def _refuse_taken_port(port: int) -> None:
    """Raises `SettingsError`; Gradio would say so too, but not what to do."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_HOST, port))
        except OSError as error:
            taken = "is already in use" if error.errno == errno.EADDRINUSE else f"cannot be used: {error.strerror}"
            raise SettingsError(
                f"Port {port} {taken}.", "Set ASSISTANT_PORT to another number, such as 7861."
            ) from error
