"""How long each door takes to open, and the memory it holds then.

    python -m benchmarks.startup [--runs 5]

Every run is a process of its own, on the built-in collection, indexed before. The comparison is what the libraries
under it take to be imported: a program that uses them cannot be quicker.
"""

import argparse
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks.common import print_environment, print_table

ASK = ("ask", "What is LiftQuant?")
_PROGRAM = "from assistant.cli import main; main()"
_IDLE_SECONDS = 5
_PATIENCE_SECONDS = 60


def seconds_of(code: str, *arguments: str, data: Path) -> float:
    """How long Python takes for `code`, from its start to its end."""
    start = time.perf_counter()
    subprocess.run(_python(code, arguments), env=_environment(data), check=True, capture_output=True)
    return time.perf_counter() - start


def opened(command: str, data: Path) -> tuple[float, float]:
    """Seconds until the page of `assistant COMMAND` is sent, and megabytes held when it has been idle for a while."""
    port, start = _free_port(), time.perf_counter()
    with _running(_python(_PROGRAM, (command, "--port", str(port))), data) as program:
        address = f"http://127.0.0.1:{port}/"
        while not _answers(address):
            if time.perf_counter() - start > _PATIENCE_SECONDS or program.poll() is not None:
                raise SystemExit(f"`assistant {command}` does not open.")
            time.sleep(0.02)
        ready = time.perf_counter() - start
        time.sleep(_IDLE_SECONDS)
        return ready, _megabytes(program.pid)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _python(code: str, arguments: Sequence[str]) -> list[str]:
    return [sys.executable, "-c", code, *arguments]


def _environment(data: Path) -> dict[str, str]:
    return {"ASSISTANT_DATA_DIR": str(data), "HOME": str(data), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path.cwd())}


@contextmanager
def _running(command: list[str], data: Path) -> Iterator["subprocess.Popen[bytes]"]:
    program = subprocess.Popen(command, env=_environment(data), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield program
    finally:
        program.terminate()
        program.wait()


def _answers(address: str) -> bool:
    with suppress(OSError), urllib.request.urlopen(address) as reply:
        return bool(reply.status == 200)
    return False


def _megabytes(pid: int) -> float:
    """What the process holds in memory."""
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1e3  # type: ignore[index]


def main() -> None:
    """Prints a table of times and one of memory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    runs = range(parser.parse_args().runs)
    print_environment("Start and footprint")
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        seconds_of(_PROGRAM, *ASK, data=data)  # makes the collection

        def median_of(code: str, *arguments: str) -> float:
            return statistics.median(seconds_of(code, *arguments, data=data) for _ in runs)

        core, page = median_of("import chromadb, langchain_core.runnables"), median_of("import gradio, chromadb")
        times = [
            ("importing Chroma and LangChain's core", core, core),
            ("assistant --help", median_of(_PROGRAM, "--help"), core),
            ("assistant ask", median_of(_PROGRAM, *ASK), core),
            ("importing Gradio and Chroma", page, page),
        ]
        memory = []
        for command in ("chat", "serve"):
            found = [opened(command, data) for _ in runs]
            times.append((f"assistant {command}, until its page is sent", statistics.median(s for s, _ in found), page))
            memory.append((f"assistant {command}, idle", max(megabytes for _, megabytes in found)))
    print_table(
        ["", "seconds, median", "times the imports"], [(name, f"{s:.2f}", f"{s / base:.1f}") for name, s, base in times]
    )
    print_table(["", "MB, highest"], [(name, f"{megabytes:.0f}") for name, megabytes in memory])


if __name__ == "__main__":
    main()
