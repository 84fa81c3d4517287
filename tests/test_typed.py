"""Whoever installs the package has its types."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = """
import asyncio

from assistant import Answer, UserFacingError, build_assistant
from assistant.runnable import AssistantRunnable, PaperRetriever
from assistant.types import AnswerFinished, SentenceChecked

assistant = build_assistant(collections=["icml2026"])
answer: Answer = assistant.ask("What is LiftQuant?")
labels: list[str] = [citation.paper.label for citation in answer.citations]
for event in assistant.stream("What is LiftQuant?", [{"role": "user", "content": "Hello"}]):
    if isinstance(event, SentenceChecked):
        print(event.sentence.text)


async def main() -> Answer:
    async for event in assistant.astream("What is LiftQuant?"):
        if isinstance(event, AnswerFinished):
            print(event.answer.usage)
    return await assistant.aask("What is LiftQuant?")


try:
    print(asyncio.run(main()).status)
except UserFacingError as error:
    print(error.message, error.hint)
answers: list[Answer] = AssistantRunnable(assistant).batch(["What is ProjQ?"])
titles: list[str] = [document.page_content for document in PaperRetriever(assistant=assistant).invoke("agents")]
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of an environment in which the packages are installed, with what they need."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    installed = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    (installed / "needed.pth").write_text(sysconfig.get_path("purelib"), "utf-8")
    packaged = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["package-data"]
    for package in ("assistant", "prompts", "vectorstore"):
        assert "py.typed" in packaged[package]
        shutil.copytree(ROOT / package, installed / package, ignore=shutil.ignore_patterns("corpus", "static", "sets"))
    return folder / "bin" / "python"


def test_a_script_that_uses_the_package_rightly_is_accepted_and_a_wrong_one_is_not(
    python: Path, tmp_path: Path
) -> None:
    (tmp_path / "right.py").write_text(SCRIPT, "utf-8")
    (tmp_path / "wrong.py").write_text(SCRIPT + "number: int = answer.text\nassistant.ask(3)\n", "utf-8")
    options = ["--strict", "--config-file=", "--python-executable", str(python), "--cache-dir", os.devnull]
    command = [sys.executable, "-P", "-m", "mypy", *options, "right.py", "wrong.py"]
    done = subprocess.run(command, cwd=tmp_path, env={}, capture_output=True, text=True, check=False)
    found = re.findall(r"^(\w+\.py):\d+: error: .*\[([\w-]+)\]$", done.stdout, re.MULTILINE)
    assert found == [("wrong.py", "assignment"), ("wrong.py", "arg-type")], done.stdout + done.stderr
