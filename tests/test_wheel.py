"""What `python -m build` makes holds all that the program needs, and nothing else; installed alone, it does it all."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import urllib.request
import venv
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.parser import Parser
from pathlib import Path

import pytest

from tests.fakes import KEY, MODEL, ModelServer

ROOT = Path(__file__).parents[1]
PACKAGES = ("assistant", "prompts", "vectorstore")
README_PYTHON = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
CHAIN = """
from assistant.runnable import AssistantRunnable, PaperRetriever
print(AssistantRunnable(assistant).invoke("What is ProjQ?").text)
print(PaperRetriever(assistant=assistant, k=1).invoke("protein design")[0].metadata["label"])
"""


@dataclass(frozen=True)
class Installed:
    """An environment that has our wheel, and the other packages of the one that the tests run in."""

    environment: Path
    elsewhere: Path
    """A folder outside the repository, where everything is run."""

    def run(self, program: str, *arguments: str, **variables: str) -> str:
        """What it prints; it must end well."""
        with self.started(program, *arguments, **variables) as process:
            printed, _ = process.communicate()
        assert process.returncode == 0, (arguments, printed)
        return printed

    def started(self, program: str, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        return subprocess.Popen(
            [str(self.environment / "bin" / program), *arguments],
            cwd=self.elsewhere,
            env={**kept, "ASSISTANT_DATA_DIR": str(self.elsewhere / "data"), "COLUMNS": "200", **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built as the command builds it: from the source distribution, which is built from the tree."""
    folder = tmp_path_factory.mktemp("build")
    left_out = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "dist", "evaluation-*")
    shutil.copytree(ROOT, folder / "tree", ignore=left_out)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder / "dist"), str(folder / "tree")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert len(list((folder / "dist").glob("*.tar.gz"))) == 1
    (built,) = (folder / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """A `.pth` file lends it our dependencies; `.pth` files among them are not read, so that no link leads back."""
    environment, elsewhere = tmp_path_factory.mktemp("fresh"), tmp_path_factory.mktemp("elsewhere")
    venv.create(environment, symlinks=True)
    python = str(environment / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps", str(wheel)]
    subprocess.run(pip, check=True, cwd=elsewhere)
    (site,) = environment.glob("lib/python*/site-packages")
    lent = dict.fromkeys([sysconfig.get_path("purelib"), *(path for path in sys.path if path.endswith("-packages"))])
    (site / "dependencies.pth").write_text("\n".join(lent), "utf-8")
    return Installed(environment, elsewhere)


def test_the_wheel_holds_every_file_of_the_packages_and_nothing_else(wheel: Path) -> None:
    in_tree = {
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert in_wheel == in_tree


def test_the_wheel_says_what_a_package_index_shows(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        said = Parser().parsestr(archive.read(name).decode("utf-8"))
        licences = [name for name in archive.namelist() if name.endswith("licenses/LICENSE")]
    assert said["Name"] == "abstract-assistant"
    assert said["Requires-Python"] == ">=3.11"
    assert said["License-Expression"] == "Apache-2.0"
    assert said["Description-Content-Type"] == "text/markdown"
    assert "every sentence of an answer" in said["Summary"]
    assert "Typing :: Typed" in said.get_all("Classifier", [])
    assert said["Keywords"]
    assert len(licences) == 1


def test_it_is_the_wheel_that_is_run_and_not_the_repository(installed: Installed) -> None:
    code = "import json, assistant, prompts, vectorstore as v; "
    code += "print(json.dumps([assistant.__file__, prompts.__file__, v.__file__]))"
    homes = json.loads(installed.run("python", "-c", code))
    assert all(Path(home).is_relative_to(installed.environment) for home in homes)
    looked_in = json.loads(installed.run("python", "-c", "import sys, json; print(json.dumps(sys.path))"))
    assert str(ROOT) not in looked_in
    assert sum((Path(entry) / "assistant").exists() for entry in looked_in if entry) == 1


def test_it_does_what_the_readme_says(installed: Installed) -> None:
    assert "evaluate" in installed.run("assistant", "--help")
    assert "24GB GPU" in installed.run("assistant", "ask", "Which GPU does LiftQuant fit on?")
    assert "CoMem" in installed.run("assistant", "search", "agents at ICML since 2025", "-k", "1")
    assert len(installed.run("assistant", "papers").splitlines()) == 34
    (installed.elsewhere / "cats.bib").write_text("@article{a, title={CatNet}, abstract={CatNet sees cats.}}", "utf-8")
    assert "1 added" in installed.run("assistant", "index", "cats.bib", "--collection", "mine")
    evaluated = installed.run("assistant", "evaluate", "icml2026-test", "--sample", "2", "--json")
    assert json.loads(evaluated)
    assert "LiftQuant" in (installed.elsewhere / "evaluation-icml2026-test" / "report.html").read_text("utf-8")
    assert "BROKEN" not in installed.run("assistant", "doctor")


def test_the_examples_for_python_run(installed: Installed) -> None:
    printed = installed.run("python", "-c", f"{README_PYTHON[0]}\n{CHAIN}")
    assert "answered 2 papers on" in printed
    assert printed.splitlines()[-1] == "PAR"


def test_a_model_gets_its_prompt_from_the_wheel(installed: Installed, model_server: ModelServer) -> None:
    model_server.says("LiftQuant compresses a 70B model to 2.4 bits [1].")
    of_a_model = {"ASSISTANT_MODEL": f"openai:{MODEL}", "OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": model_server.url}
    assert "[1] LiftQuant" in installed.run("assistant", "ask", "How many bits does LiftQuant need?", **of_a_model)
    assert "LiftQuant" in model_server.prompt()


def test_the_chat_serves_its_page_and_every_file_of_it(installed: Installed) -> None:
    with _chat(installed) as address:
        assert "Abstract Assistant" in _read(address).decode("utf-8")
        static = ROOT / "assistant" / "ui" / "static"
        files = [path for path in static.rglob("*") if path.is_file()]
        assert {"page.css", "katex.min.css"} <= {path.name for path in files}
        for path in files:
            assert _read(f"{address}/page/{path.relative_to(static)}") == path.read_bytes()


@contextmanager
def _chat(installed: Installed) -> Iterator[str]:
    """The address of the chat, served for as long as the block runs."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with installed.started("assistant", "chat", "--port", str(port), PYTHONUNBUFFERED="1") as process:
        try:
            assert process.stdout
            said = next((line for line in process.stdout if "The chat is at" in line), "nothing")
            assert str(port) in said
            yield f"http://127.0.0.1:{port}"
        finally:
            process.send_signal(signal.SIGINT)


def _read(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=30) as reply:
        return bytes(reply.read())
