"""Runs the server: where it may listen, and how it ends."""

import logging
import signal
import socket

import uvicorn
from fastapi import FastAPI

from assistant.access import Users
from assistant.app import Assistants
from assistant.errors import SettingsError
from assistant.server.application import build_application, is_loopback
from assistant.settings import Settings
from vectorstore.progress import Progress, silent

_SECONDS_TO_FINISH = 20
"""What answers that are being written get when the server is told to end."""


def serve(settings: Settings, *, host: str, open_to_all: bool = False, progress: Progress = silent) -> None:
    """Serves until the program is interrupted or told to end; answers that are being written are finished first.

    Raises `SettingsError` when it may not, or cannot, listen there.
    """
    users = Users(settings.auth_file) if settings.auth_file else None
    if users is not None and not users.all():
        raise SettingsError(
            f"The file of users {users.path} has none.", "Add one: assistant user add NAME, or assistant user key NAME."
        )
    if users is None and not open_to_all and not is_loopback(host):
        raise SettingsError(
            f"Whoever reaches {host} could ask and add papers: nobody has to log in.",
            "Set ASSISTANT_AUTH_FILE (see assistant user --help), or give --open-to-all.",
        )
    with _listening(host, settings.port) as listener:
        assistants = Assistants(settings, questions_per_minute=settings.questions_per_minute)
        assistants.of(progress=progress)
        server = _Server(build_application(assistants, host=host, users=users))
        address = f"http://{f'[{host}]' if ':' in host else host}:{settings.port}"
        print(f"The chat is at {address}, the API at {address}/v1, MCP at {address}/mcp - Ctrl+C ends it.", flush=True)
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # to be told to end is no failure either
        try:
            server.run([listener])
        except KeyboardInterrupt:  # uvicorn raises the signal again when all is finished
            print()


class _Server(uvicorn.Server):
    def __init__(self, app: FastAPI) -> None:
        self._ending = app.state.ending
        super().__init__(
            uvicorn.Config(
                app,
                log_level=logging.WARNING,
                timeout_graceful_shutdown=_SECONDS_TO_FINISH,
                server_header=False,
            )
        )

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._ending.set()
        await super().shutdown(sockets)


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(1024)
    except OSError as error:
        listener.close()
        reason = error.strerror or str(error)
        raise SettingsError(
            f"Port {port} of {host} cannot be used: {reason}.", "Give another one with --port, such as 7861."
        ) from error
    return listener
