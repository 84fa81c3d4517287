"""What the README shows is what happens."""

import re
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from assistant import cli
from assistant.settings import setting_names

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```console\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
ASKED = re.findall(
    r'^\$ \.venv/bin/assistant ask "([^"]+)"\n(.*?)(?=^\$|\Z)', "".join(BLOCKS), re.MULTILINE | re.DOTALL
)


def test_it_shows_an_answer_and_both_refusals() -> None:
    assert len(ASKED) == 3


@pytest.mark.parametrize(("question", "shown"), ASKED)
def test_each_example_answer_is_the_real_one(
    question: str, shown: str, built_in_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSISTANT_DATA_DIR", str(built_in_data))
    printed = CliRunner().invoke(cli.app, ["ask", question], catch_exceptions=False).stdout
    assert " ".join(shown.split()) == " ".join(printed.split())


def test_its_example_search_is_the_real_one(built_in_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_DATA_DIR", str(built_in_data))
    ((query, shown),) = re.findall(r'^\$ \S+ search "([^"]+)" -k 1\n(.*?)^\$', README, re.MULTILINE | re.DOTALL)
    printed = CliRunner().invoke(cli.app, ["search", query, "-k", "1"], catch_exceptions=False).stdout
    numbers = re.compile(r"[-+]?\d+\.\d+")  # which another processor rounds in another way
    assert numbers.sub("", shown) == numbers.sub("", printed)


def test_every_make_target_it_names_exists() -> None:
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert set(re.findall(r"(?:`|^\$ (?:\S+=\S+ )*)make (\w+)", README, re.MULTILINE)) <= set(targets)
    assert {"setup", "chat", "test", "check", "bench"} <= set(targets)


def test_its_table_of_settings_is_complete() -> None:
    assert re.findall(r"^\| `(\w+)` \|", README, re.MULTILINE) == setting_names()


def test_every_file_it_points_to_exists() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


@pytest.mark.usefixtures("built_in_data")
def test_its_python_example_runs(
    built_in_data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASSISTANT_DATA_DIR", str(built_in_data))
    (example,) = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    exec(compile(example, "README.md", "exec"), {})
    assert "answered 2 papers on “diffusion language models”" in capsys.readouterr().out


def test_the_version_is_in_the_changelog() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert f"## {version} - " in (ROOT / "CHANGELOG.md").read_text("utf-8")
