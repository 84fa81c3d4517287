"""The README and the guide as a reader with a terminal meets them: their blocks, and a folder to run them in."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from markdown_it import MarkdownIt
from markdown_it.token import Token

from assistant import cli

ROOT = Path(__file__).parents[1]
PAGES = {
    str(path.relative_to(ROOT)): path.read_text("utf-8")
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
}
"""By their place in the repository."""
_ASSIGNMENT = re.compile(r"[A-Z][A-Z0-9_]*=")
_FOR_A_SHELL = re.compile(r"[|<>&;`]|\$\(")
_WHATEVER = "…"
"""What a page writes for something that is not always the same."""
_ROUNDED = re.compile(r"(cosine|relevance) [-+]?\d+\.\d+")
"""Figures that another processor rounds in another way."""


@dataclass(frozen=True)
class Command:
    """A line that a reader types, with those that continue it, and what the page says is printed."""

    text: str
    shown: str = ""

    @property
    def words(self) -> list[str]:
        """Without what is set for it, and without a remark."""
        words = shlex.split(self.text, comments=True)
        return words[len(self.set) :]

    @property
    def set(self) -> dict[str, str]:
        """The variables that are set for it alone."""
        given = {}
        for word in shlex.split(self.text, comments=True):
            if not _ASSIGNMENT.match(word):
                break
            name, _, value = word.partition("=")
            given[name] = value
        return given


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: str
    kind: str
    text: str

    @property
    def commands(self) -> list[Command]:
        """Of a `console` block."""
        pieces = re.split(r"^\$ ", self.text, flags=re.MULTILINE)
        assert not pieces[0].strip(), f"{self.page}: a console block begins with '$ '"
        return [_command(piece.splitlines()) for piece in pieces[1:]]


def _command(lines: list[str]) -> Command:
    end = next((at for at, line in enumerate(lines[1:], start=1) if not line.startswith("> ")), len(lines))
    typed = [lines[0], *(line.removeprefix("> ") for line in lines[1:end])]
    return Command("\n".join(typed), "\n".join(lines[end:]))


def blocks(page: str, kind: str | None = None) -> list[Block]:
    """The fenced blocks of a page, in its order; of one kind, or all."""
    found = [Block(page, token.info.strip(), token.content) for token in tokens(page) if token.type == "fence"]
    return [block for block in found if kind in (None, block.kind)]


def tokens(page: str) -> Iterator[Token]:
    """All tokens of a page, those within a line among them."""
    for token in MarkdownIt().enable("table").parse((ROOT / page).read_text("utf-8")):
        yield token
        yield from token.children or []


def links(page: str) -> list[str]:
    """Where the links and pictures of a page lead."""
    named = ((token.attrGet("href"), token.attrGet("src")) for token in tokens(page))
    return [str(target) for pair in named for target in pair if target]


def anchors(page: str) -> set[str]:
    """What GitHub makes of the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", (ROOT / page).read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def is_shown(shown: str, printed: str) -> bool:
    """Whether a page shows what is printed, but for line breaks and what it leaves open."""
    wanted, got = (_ROUNDED.sub(r"\1 N", " ".join(text.split())) for text in (shown, printed))
    return re.fullmatch(".*".join(map(re.escape, wanted.split(_WHATEVER))), got) is not None


@dataclass
class Terminal:
    """A folder in which commands are run as a reader would; the program itself is run in this process."""

    folder: Path
    variables: Mapping[str, str]
    overruling: Mapping[str, str] = field(default_factory=dict)
    """Variables that are so whatever a command sets, such as the address of a model's server."""
    instead: Mapping[str, str] = field(default_factory=dict)
    """What stands in commands and examples -> what is run in its place, such as the address of a server."""

    def __post_init__(self) -> None:
        programs = {"assistant": '-c "from assistant.cli import main; main()"', "python": ""}
        (self.folder / ".venv" / "bin").mkdir(parents=True)
        for name, start in programs.items():
            program = self.folder / ".venv" / "bin" / name
            program.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {sys.executable} {start} "$@"\n')
            program.chmod(0o755)

    def run(self, command: Command) -> str:
        """What it prints; it must end well."""
        command = Command(self._replaced(command.text))
        is_ours = command.words[0] == ".venv/bin/assistant" and not _FOR_A_SHELL.search(command.text.partition(" #")[0])
        code, printed, errors = (self._called if is_ours else self._in_a_shell)(command)
        assert code == 0, (command.text, code, printed, errors)
        return printed

    def _replaced(self, text: str) -> str:
        for written, instead in self.instead.items():
            text = text.replace(written, instead)
        return text

    def _called(self, command: Command) -> tuple[int, str, str]:
        printed, errors = io.StringIO(), io.StringIO()
        with (
            mock.patch.dict(os.environ, {**self.variables, **command.set, **self.overruling}),
            mock.patch.object(sys, "argv", ["assistant", *command.words[1:]]),
            contextlib.chdir(self.folder),
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(errors),
        ):
            try:
                cli.main()
            except SystemExit as end:
                return int(end.code or 0), printed.getvalue(), errors.getvalue()
        return 0, printed.getvalue(), errors.getvalue()

    def _in_a_shell(self, command: Command) -> tuple[int, str, str]:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command.text],
            cwd=self.folder,
            env={**os.environ, **self.variables, **self.overruling},
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout, done.stderr

    def run_python(self, block: Block, names: dict[str, object]) -> str:
        """What a block prints; it shares `names` with those before it."""
        printed = io.StringIO()
        with (
            mock.patch.dict(os.environ, {**self.variables, **self.overruling}),
            contextlib.chdir(self.folder),
            contextlib.redirect_stdout(printed),
        ):
            exec(compile(self._replaced(block.text), block.page, "exec"), names)
        return printed.getvalue()
