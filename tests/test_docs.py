"""What the guide says is so."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from assistant import Assistant, cli
from assistant.conversation import SourceNumbers
from assistant.evaluation.measures import measures
from assistant.evaluation.question_sets import read_question_set
from assistant.evaluation.types import GoldQuestion
from assistant.takeaway import READING_LIST_AS, TAKEN_AS
from assistant.verification import Verifier
from vectorstore.relevance import CrossEncoder

DOCS = Path(__file__).parents[1] / "docs"
CHECKING = (DOCS / "checking.md").read_text("utf-8")
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


def test_the_guide_to_taking_away_has_every_format_and_its_example_writes_what_it_says(
    built_in_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSISTANT_DATA_DIR", str(built_in_data))
    guide = (DOCS / "taking-away.md").read_text("utf-8")
    listed = [re.findall(r"^\| (\w+) \|", section, re.MULTILINE)[1:] for section in guide.split("\n## ")[1:3]]
    assert listed == [[each.title for each in table.values()] for table in (TAKEN_AS, READING_LIST_AS)]
    (example,) = re.findall(r"^```python\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    exec(compile(example, "taking-away.md", "exec"), {})
    assert "[1] **" in (tmp_path / "answer.md").read_text("utf-8")
    assert "N1  - for Monday" in (tmp_path / "list.ris").read_text("utf-8")


@pytest.mark.parametrize(("heading", "is_shown"), [("false, and shown", True), ("true, and left out", False)])
def test_the_examples_of_what_the_check_gets_wrong_are_real(assistant: Assistant, heading: str, is_shown: bool) -> None:
    papers, verifier = {paper.label: paper for paper in assistant.papers()}, Verifier(CrossEncoder())
    rows = re.findall(r"^\| (\w\S+) \| ([^|]+) \|", CHECKING.split(f"| {heading} |")[1].split("\n\n")[0], re.MULTILINE)
    assert len(rows) >= 5
    for label, sentence in rows:
        paper = papers[label]
        assert verifier.check(sentence, [paper], [paper], SourceNumbers([])).shown is is_shown, sentence
