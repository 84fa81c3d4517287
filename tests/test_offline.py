"""Nothing asks for another machine, whoever wrote it: also not a library in C++, which no hook of Python sees."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import assistant
from tests.browser import free_ports

ALONE = ["unshare", "--map-root-user", "--net", "--mount"]
SECONDS = 15
"""The telemetry of onnxruntime, where it is not forbidden, looks its server up within ten."""
ASKS = "from assistant import build_assistant; build_assistant().ask('What is LiftQuant?'); import time; time.sleep(60)"
LOOKS_UP = "import socket, time; socket.getaddrinfo('example.org', 80)"


def names_asked_for(home: Path, *command: str) -> list[str]:
    """The names that the program asks the name server for in its first seconds, apart from this machine."""
    done = subprocess.run(
        [*ALONE, sys.executable, "-m", "tests.outside", str(SECONDS), sys.executable, *command],
        env={"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(Path(assistant.__file__).parents[1])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def can_be_alone() -> bool:
    return bool(shutil.which("unshare")) and subprocess.run([*ALONE, "true"], capture_output=True).returncode == 0


pytestmark = pytest.mark.skipif(not can_be_alone(), reason="may not make a network of its own")


def test_who_looks_up_a_name_is_noticed(tmp_path: Path) -> None:
    code = f"import contextlib\nwith contextlib.suppress(OSError):\n    {LOOKS_UP}"
    assert names_asked_for(tmp_path, "-c", code) == ["example.org"]


def test_asking_and_serving_look_no_name_up_and_keep_to_their_folder(tmp_path: Path) -> None:
    homes = [tmp_path / "asks", tmp_path / "serves"]
    for home in homes:
        home.mkdir()
    serves = f"from assistant.cli import app; app(['serve', '--port', '{free_ports(1)[0]}'])"
    with ThreadPoolExecutor() as pool:
        found = pool.map(names_asked_for, homes, ["-c", "-c"], [ASKS, serves])
    assert list(found) == [[], []]
    assert not list(tmp_path.glob("**/*icrosoft*"))
