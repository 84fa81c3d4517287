"""The web application: health, the API, MCP, and the page at "/"; what comes in passes the guards first."""

import ipaddress
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from anyio import to_thread
from fastapi import FastAPI
from fastapi.responses import JSONResponse
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

from assistant.access import Users
from assistant.app import Assistants
from assistant.mcp_server import build_mcp, http_route
from assistant.server.completions import completions
from assistant.server.errors import HANDLERS, error_of
from assistant.server.guards import KnownVisitors, SmallBodies
from assistant.server.login import Logins, login_routes
from assistant.ui.launch import GuardedResponses, mount_page

_LOG = logging.getLogger(__name__)
_OWN_NAMES = ["127.0.0.1", "localhost", "[::1]"]
"""Of the machine itself."""


def build_application(assistants: Assistants, *, host: str = "127.0.0.1", users: Users | None = None) -> FastAPI:
    """Everything that `assistant serve` offers. With `users`, only they may use it, but for /health and /ready.

    `state.ending` is to be set when the server begins to end, or it waits for the pages that are open.
    """
    logins = Logins(users) if users else None
    hosts = [*_OWN_NAMES, host] if is_loopback(host) and users is None else None
    route, mcp_running = http_route(build_mcp(assistants), hosts=hosts)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with mcp_running():
            yield

    app = FastAPI(
        lifespan=lifespan,
        docs_url=None,  # they fetch scripts from elsewhere
        redoc_url=None,
        openapi_url=None,
        exception_handlers=HANDLERS,
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=hosts or ["*"], www_redirect=False),
            Middleware(GuardedResponses),
            Middleware(KnownVisitors, users=users, logins=logins, requests=assistants.visitors.requests),
            Middleware(SmallBodies),
        ],
    )

    @app.get("/health")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/ready")
    async def ready() -> JSONResponse:
        try:
            papers = await to_thread.run_sync(lambda: assistants.of().paper_count())
        except Exception as error:
            return JSONResponse({"status": "not ready", "error": error_of(error).message}, status_code=503)
        return JSONResponse({"status": "ready", "papers": papers})

    app.include_router(completions(assistants))
    app.router.routes.append(route)
    if logins:
        app.include_router(login_routes(logins))
    user_of = (lambda request: request.scope["visitor"]) if logins else None
    app.state.ending = mount_page(app, assistants, user_of=user_of)
    return app


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what listens there."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
