"""The README shows the three outcomes, and names what there is; `test_guide.py` runs what it shows."""

import re
import tomllib

from tests.guide import PAGES, ROOT, blocks

README = PAGES["README.md"]


def test_it_shows_an_answer_and_both_refusals() -> None:
    commands = [command for block in blocks("README.md", "console") for command in block.commands]
    asked = [command for command in commands if command.words[1:2] == ["ask"]]
    outcomes = ("[1]", "does not state this", "None of the 34 papers")
    assert [outcome in command.shown for outcome, command in zip(outcomes, asked, strict=True)] == [True] * 3


def test_every_make_target_it_names_exists() -> None:
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert set(re.findall(r"(?:`|^\$ (?:\S+=\S+ )*)make (\w+)", README, re.MULTILINE)) <= set(targets)
    assert {"setup", "chat", "test", "check", "bench"} <= set(targets)


def test_the_version_is_in_the_changelog() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert f"## {version} - " in (ROOT / "CHANGELOG.md").read_text("utf-8")
