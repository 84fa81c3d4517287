"""The command line in a real pseudo-terminal, as somebody at a keyboard has it."""

import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from fcntl import ioctl
from pathlib import Path
from types import TracebackType
from typing import Self

from vectorstore.visible import visible

ROOT = Path(__file__).parents[1]


class PseudoTerminal:
    """`with PseudoTerminal("ask", "-i") as terminal: terminal.types("..."); terminal.waits_for("...")`."""

    def __init__(self, *arguments: str, columns: int = 100, **environment: str) -> None:
        self._bytes = b""
        self._seen = 0
        inherited = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        env = {**inherited, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", **environment}
        self._screen, keyboard = pty.openpty()
        ioctl(keyboard, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        command = [sys.executable, "-c", "from assistant.cli import main; main()", *arguments]
        self._process = subprocess.Popen(
            command, stdin=keyboard, stdout=keyboard, stderr=keyboard, env=env, start_new_session=True
        )
        os.close(keyboard)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._screen)

    @property
    def raw(self) -> str:
        """All that came to the screen, with its escapes."""
        return self._bytes.decode("utf-8", "ignore")  # a character may have come but half

    @property
    def text(self) -> str:
        """What came to the screen, without escapes."""
        return visible(self.raw)

    def types(self, text: str) -> None:
        os.write(self._screen, text.encode())

    def interrupts(self) -> None:
        """What a terminal does on Ctrl+C to the program in its foreground."""
        self._process.send_signal(signal.SIGINT)

    def waits_for(self, pattern: str, seconds: float = 60) -> str:
        """What came since the last wait, up to the first match of `pattern`, which may be broken into lines."""
        until, anywhere = time.monotonic() + seconds, re.compile(pattern.replace(" ", r"\s+"), re.DOTALL)
        while not (match := anywhere.search(self.text, self._seen)):
            if time.monotonic() > until or not self._reads(until):
                raise AssertionError(f"{pattern!r} does not come in: {self.text[self._seen :]!r}")
        begun, self._seen = self._seen, match.end()
        return self.text[begun : match.end()]

    def ends(self, seconds: float = 30) -> int:
        """The exit code, and the rest of the text is read."""
        until = time.monotonic() + seconds
        while self._reads(until):
            pass
        return self._process.wait(max(0.1, until - time.monotonic()))

    def _reads(self, until: float) -> bool:
        ready, _, _ = select.select([self._screen], [], [], max(0.0, until - time.monotonic()))
        try:
            new = os.read(self._screen, 65536) if ready else b""
        except OSError:  # the program has ended
            return False
        self._bytes += new
        return bool(new)
