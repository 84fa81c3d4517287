"""What the guide says is so."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from assistant import cli
from assistant.evaluation.measures import measures
from assistant.evaluation.question_sets import read_question_set
from assistant.evaluation.types import GoldQuestion
from assistant.settings import setting_names
from vectorstore.folder import CollectionFolder

DOCS = Path(__file__).parents[1] / "docs"
GUIDE = (DOCS / "evaluation.md").read_text("utf-8")


def test_the_guide_to_evaluation_has_every_field_and_every_measure() -> None:
    assert re.findall(r"^\| `(\w+)` \|", GUIDE, re.MULTILINE) == list(GoldQuestion.model_fields)
    listed = GUIDE[GUIDE.index("- retrieval:") : GUIDE.index("`--judge")]
    assert set(re.findall(r"`([a-z_0-9]+)`", listed)) == {measure.name for measure in measures()}


def test_its_example_is_a_question_set(tmp_path: Path) -> None:
    (example,) = re.findall(r"^```json\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
    (tmp_path / "example.jsonl").write_text(example, "utf-8")
    assert len(read_question_set(str(tmp_path / "example.jsonl")).questions) == 5


def test_its_options_are_those_of_the_command() -> None:
    known = CliRunner().invoke(cli.app, ["evaluate", "--help"], env={"COLUMNS": "200"}).output
    named = set(re.findall(r"--[a-z][a-z-]+", GUIDE))
    assert named
    assert all(option in known for option in named)


def test_the_guide_to_papers_is_what_the_program_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its commands are run one after the other, on files of the names it uses."""
    (tmp_path / "my-papers").mkdir()
    (tmp_path / "my-papers" / "notes.txt").write_text("We propose CatNet, which sees cats.", "utf-8")
    (tmp_path / "conference.json").write_text('[{"name": "Owls", "abstract": "Owls see.", "authors": []}]', "utf-8")
    (tmp_path / "library.bib").write_text("@article{a, title={Dogs}, abstract={Dogs hear.}}", "utf-8")
    (tmp_path / "table.csv").write_text("Titel,Inhalt\nBirds,Birds sing.\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSISTANT_DATA_DIR", str(tmp_path / "data"))
    guide = (DOCS / "papers.md").read_text("utf-8")
    commands = re.findall(r"^\$ .venv/bin/assistant (.*)", guide, re.MULTILINE)
    for command in commands:
        if not command.startswith("chat "):
            done = CliRunner().invoke(cli.app, command.split())
            assert done.exit_code == 0, (command, done.output, done.exception)
    assert len(commands) >= 8
    assert list(CollectionFolder(tmp_path / "data", "ours").path.iterdir())


def test_the_guide_to_a_server_names_settings_and_commands_that_there_are() -> None:
    guide = (DOCS / "server.md").read_text("utf-8")
    assert set(re.findall(r"\b(?:CHROMA|ASSISTANT)_[A-Z_]+\b", guide)) <= {*setting_names()}
    known = {command.name or command.callback.__name__ for command in cli.app.registered_commands if command.callback}
    named = re.findall(r"^\$ .*bin/assistant (\w+)", guide, re.MULTILINE)
    assert named
    assert set(named) <= known
