"""Many visitors at once: 50 who are answered with quotations, then 20 with a slow model, by every door.

    python -m benchmarks.visitors [--minutes 10]

The real server runs as a program of its own. Each visitor holds conversations with questions of its own, one after the
other, by the OpenAI API (streamed or whole), by MCP or by the page's own protocol. Each answer is compared with the one
that `Assistant.ask` gives to that question alone: text, source numbers, papers and quotations. The same questions are
also asked by one visitor alone, for comparison.
"""

import argparse
import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from assistant import Assistant, build_assistant
from assistant.evaluation.question_sets import read_question_set
from benchmarks.common import ROOT, console, print_environment, print_table
from benchmarks.doors import Doors, Told, doors
from benchmarks.papers import DATA
from benchmarks.slow_model import NAME, slow_model

_COLLECTION = "icml2026"
_TURNS = 2
_SECONDS_BETWEEN_WORDS = 0.05
_SECONDS_BETWEEN_READINGS = 1.0
_SECONDS_TO_START = 60.0
_KEY = "none"
_ALONE = 12
"""Conversations that are also held by one visitor alone."""


@dataclass(frozen=True)
class Conversation:
    """Questions, and what is to be told."""

    questions: tuple[str, ...]
    expected: tuple[Told, ...]


@dataclass(frozen=True)
class Reply:
    """To one question."""

    door: str
    seconds: float
    problem: str = ""
    """Empty when the answer was the right one."""


@dataclass
class Measured:
    """What came of some visitors."""

    name: str
    replies: list[Reply] = field(default_factory=list)
    seconds: float = 0.0
    memory: list[float] = field(default_factory=list)
    """Megabytes of the server, a reading every second."""

    @property
    def problems(self) -> list[str]:
        """All that went wrong."""
        return [f"{reply.door}: {reply.problem}" for reply in self.replies if reply.problem]

    @property
    def per_second(self) -> float:
        """Answers in a second."""
        return len(self.replies) / self.seconds

    def latency(self, share: float) -> float:
        """Seconds within which this share of answers, in percent, were whole."""
        return float(np.percentile([reply.seconds for reply in self.replies], share))


def conversations(assistant: Assistant, visitors: int, turns: int = _TURNS) -> list[Conversation]:
    """One for each visitor, no question twice, with the answers that are given to them alone."""
    questions = [each.question for each in read_question_set("icml2026-dev").questions if not each.history]
    apart = questions[:: len(questions) // (visitors * turns)]
    return [_conversation(assistant, apart[at * turns : (at + 1) * turns]) for at in range(visitors)]


def _conversation(assistant: Assistant, questions: Sequence[str]) -> Conversation:
    history: list[dict[str, Any]] = []
    told = []
    for question in questions:
        answer = assistant.ask(question, history)
        told.append(Told.by(answer))
        citations = [citation.to_dict() for citation in answer.citations]
        history.append({"role": "user", "content": question})
        history.append({"role": "assistant", "content": answer.text, "citations": citations})
    return Conversation(tuple(questions), tuple(told))


@dataclass(frozen=True)
class Server:
    """The program."""

    address: str
    process_id: int

    @property
    def memory(self) -> float:
        """Megabytes that it holds."""
        status = Path(f"/proc/{self.process_id}/status").read_text("ascii")
        lines = dict(line.split(":", 1) for line in status.splitlines())
        return int(lines["VmRSS"].split()[0]) * 1024 / 1e6


@contextmanager
def serving(data_dir: Path, **settings: str) -> Iterator[Server]:
    """`assistant serve` with the built-in papers; `settings` are variables of its environment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ASSISTANT_", "OPENAI_"))}
    with tempfile.TemporaryDirectory() as home:
        environment = {
            **kept,
            "PYTHONPATH": str(ROOT),
            "HOME": home,
            "ASSISTANT_DATA_DIR": str(data_dir),
            "ASSISTANT_QUESTIONS_PER_MINUTE": "1000000",
            **settings,
        }
        command = [sys.executable, "-c", "from assistant.cli import main; main()", "serve", "--port", str(port)]
        program = subprocess.Popen(command, cwd=home, env=environment)
        try:
            _wait_for(port, program)
            yield Server(f"http://127.0.0.1:{port}", program.pid)
        finally:
            program.terminate()
            program.wait(30)


def _wait_for(port: int, program: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < deadline and program.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError("the server has not started")


async def crowd(name: str, server: Server, model: str, each: Sequence[Conversation], seconds: float) -> Measured:
    """One visitor for each conversation, all at once; each holds it again and again for so long, but at least once."""
    measured = Measured(name)
    async with doors(server.address, model) as found:
        start = time.perf_counter()
        reading = asyncio.create_task(_read_memory(server, measured))
        visitors = (
            _visitor(found, Doors.NAMES[at % len(Doors.NAMES)], conversation, start + seconds, measured)
            for at, conversation in enumerate(each)
        )
        await asyncio.gather(*visitors)
        measured.seconds = time.perf_counter() - start
        reading.cancel()
        measured.memory.append(server.memory)
    return measured


async def one_by_one(name: str, server: Server, model: str, each: Sequence[Conversation]) -> Measured:
    """The same questions by the same doors, one after the other."""
    measured = Measured(name)
    async with doors(server.address, model) as found:
        start = time.perf_counter()
        for at, conversation in enumerate(each):
            await _hold(found, Doors.NAMES[at % len(Doors.NAMES)], conversation, measured)
        measured.seconds = time.perf_counter() - start
        measured.memory.append(server.memory)
    return measured


async def _visitor(found: Doors, door: str, conversation: Conversation, until: float, measured: Measured) -> None:
    await _hold(found, door, conversation, measured)
    while time.perf_counter() < until:
        await _hold(found, door, conversation, measured)


async def _hold(found: Doors, door: str, conversation: Conversation, measured: Measured) -> None:
    """Holds the conversation once."""
    asked, start = 0, time.perf_counter()
    try:
        async with found.visit(door) as visit:
            for question, expected in zip(conversation.questions, conversation.expected, strict=True):
                start = time.perf_counter()
                told = await visit.ask(question)
                problem = "" if told == expected else f"{question} -> {told.text[:200]}"
                measured.replies.append(Reply(door, time.perf_counter() - start, problem))
                asked += 1
    except Exception as error:
        problem = f"{type(error).__name__} {error}"[:300]
        measured.replies += [Reply(door, time.perf_counter() - start, problem) for _ in conversation.questions[asked:]]


async def _read_memory(server: Server, measured: Measured) -> None:
    while True:
        measured.memory.append(server.memory)
        await asyncio.sleep(_SECONDS_BETWEEN_READINGS)


def quoting(
    data_dir: Path, visitors: int, seconds: float, *, turns: int = _TURNS, alone: int = _ALONE
) -> tuple[Measured, Measured]:
    """One visitor alone, who holds so many of the conversations, then all at once, answered with quotations."""
    asked = conversations(build_assistant(data_dir=data_dir), visitors, turns)
    with serving(data_dir) as server:
        return asyncio.run(_alone_then_all(server, f"{_COLLECTION}/quotation", asked, seconds, alone))


def with_model(
    data_dir: Path, visitors: int, seconds: float, *, turns: int = _TURNS, alone: int = _ALONE
) -> tuple[Measured, Measured]:
    """The same with a slow model."""
    with ExitStack() as stack:
        fast, slow = (stack.enter_context(slow_model(pause)) for pause in (0, _SECONDS_BETWEEN_WORDS))
        settings: dict[str, Any] = {"model": f"openai:{NAME}", "openai_api_key": _KEY}
        assistant = build_assistant(data_dir=data_dir, openai_base_url=fast, **settings)
        asked = conversations(assistant, visitors, turns)
        variables = {"ASSISTANT_MODEL": f"openai:{NAME}", "OPENAI_API_KEY": _KEY, "OPENAI_BASE_URL": slow}
        server = stack.enter_context(serving(data_dir, **variables))
        return asyncio.run(_alone_then_all(server, f"{_COLLECTION}/openai:{NAME}", asked, seconds, alone))


async def _alone_then_all(
    server: Server, model: str, each: Sequence[Conversation], seconds: float, alone: int
) -> tuple[Measured, Measured]:
    first = await one_by_one("one alone", server, model, each[:alone])
    return first, await crowd(f"{len(each)} at once", server, model, each, seconds)


def print_measured(what: str, one: Measured, many: Measured) -> None:
    """The figures of both, and how they compare."""
    console.print(f"\n{what}")
    rows = [[each.name, *_figures(each)] for each in (one, many)]
    ratios = [many.latency(share) / one.latency(share) for share in (50, 95, 100)]
    ratio = ["ratio", "", *(f"{each:.1f}" for each in ratios), f"{many.per_second / one.per_second:.2f}", ""]
    print_table(["", "answers", "p50, s", "p95, s", "longest, s", "answers a second", "wrong or lost"], [*rows, ratio])
    by_door = [
        [door, *_figures(Measured(door, [reply for reply in many.replies if reply.door == door], many.seconds))]
        for door in Doors.NAMES
    ]
    print_table(["door", "answers", "p50, s", "p95, s", "longest, s", "answers a second", "wrong or lost"], by_door)
    memory = many.memory
    marks = {"after one alone": one.memory[-1], "a quarter": memory[len(memory) // 4]}
    marks |= {"half": memory[len(memory) // 2], "end": memory[-1], "most": max(memory)}
    console.print("Memory of the server, MB: " + ", ".join(f"{name} {value:.0f}" for name, value in marks.items()))
    for problem in many.problems[:10] + one.problems[:10]:
        console.print(f"  {problem}", markup=False)


def _figures(measured: Measured) -> list[str]:
    latencies = [f"{measured.latency(share):.2f}" for share in (50, 95, 100)]
    return [str(len(measured.replies)), *latencies, f"{measured.per_second:.2f}", str(len(measured.problems))]


def main() -> None:
    """Prints both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    options = parser.parse_args()
    seconds = options.minutes * 60 / 2
    print_environment("Many visitors: every answer beside the one that is given to the question alone")
    data = DATA / "visitors"
    print_measured("Quotations", *quoting(data, 50, seconds))
    print_measured(f"A model, a word every {_SECONDS_BETWEEN_WORDS * 1000:.0f} ms", *with_model(data, 20, seconds))


if __name__ == "__main__":
    main()
