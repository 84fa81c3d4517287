"""What readers think of answers: kept, listed, and run as a question set."""

import json
import subprocess
import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from assistant import Assistant, cli
from assistant.errors import FeedbackError, UserFacingError
from assistant.evaluation.question_sets import read_question_set
from assistant.evaluation.types import GoldQuestion
from assistant.feedback import Feedback, FeedbackStore, Thumb, feedback_on, gold_questions, question_set
from assistant.types import Kind, Status

ROOT = Path(__file__).parents[1]


def feedback(question: str = "What does OwlNet see?", **known: Any) -> Feedback:
    plain: dict[str, Any] = {
        "question": question,
        "standalone_question": question,
        "kind": "fact",
        "status": "answered",
        "verdict": "up",
        "answer": "OwlNet: “Mice.” [1]",
        "labels": ("OwlNet",),
        "paper_ids": ("id1",),
        "quotations": ("Mice.",),
        "writer": "quotation",
        "fingerprint": "f1",
        "collection": "icml2026",
        "given_at": "2026-12-02T10:00:00+01:00",
    }
    return Feedback(**{**plain, **known})


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, ["feedback", *arguments])


def gold(*given_: Feedback) -> GoldQuestion:
    (question,) = gold_questions(given_)
    return question


def test_an_opinion_knows_the_answer_and_when_it_was_given(assistant: Assistant) -> None:
    answer = assistant.ask("Compare LiftQuant and ProjQ")
    given_ = feedback_on(answer, "down", " \x1b[31mWrong <b>row</b>.\nReally. ", collection="icml2026")
    assert (given_.verdict, given_.note) == ("down", "Wrong <b>row</b>.\nReally.")
    assert (given_.question, given_.answer, given_.kind) == (answer.question, answer.text, "compare")
    assert given_.labels == ("LiftQuant", "ProjQ")
    assert given_.paper_ids == tuple(dict.fromkeys(citation.paper.paper_id for citation in answer.citations))
    assert given_.quotations == tuple(dict.fromkeys(citation.quote for citation in answer.citations))
    assert (given_.writer, given_.fingerprint, given_.collection) == ("quotation", answer.fingerprint, "icml2026")
    assert abs((datetime.now().astimezone() - datetime.fromisoformat(given_.given_at)).total_seconds()) < 60


def test_the_last_opinion_of_an_answer_counts(tmp_path: Path) -> None:
    store = FeedbackStore(tmp_path / "data")
    assert store.all() == []
    first, other, last = feedback(), feedback("Which?"), feedback(verdict="down", note="No.", given_at="2027-01-01")
    of_a_model = feedback(writer="openai:m", answer="Mice, OwlNet sees [1]")
    for one in (first, other, of_a_model, last):
        store.add(one)
    assert FeedbackStore(tmp_path / "data").all() == [other, of_a_model, last]


@given(note=st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_a_note_is_kept_to_the_letter_on_one_line(tmp_path_factory: pytest.TempPathFactory, note: str) -> None:
    store = FeedbackStore(tmp_path_factory.mktemp("notes"))
    store.add(feedback(note=note))
    assert store.all() == [feedback(note=note)]
    assert len(store.path.read_text("utf-8").splitlines()) == 2
    (question,) = gold_questions(store.all())
    assert question.note.startswith(note)


@pytest.mark.parametrize("torn", [b'{"question": "Wha', b"\xff\xfe", b'{"question": "no more"}', b"[]", b"\x00" * 50])
def test_what_a_crash_has_left_is_passed_over(tmp_path: Path, torn: bytes, caplog: pytest.LogCaptureFixture) -> None:
    store = FeedbackStore(tmp_path)
    store.add(feedback("First?"))
    with store.path.open("ab") as file:
        file.write(torn)
    store.add(feedback("Second?"))
    assert [one.question for one in store.all()] == ["First?", "Second?"]
    assert "line 3 is no feedback" in caplog.text


def test_processes_that_add_at_once_lose_nothing(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from tests.test_feedback import *\n"
        "store = FeedbackStore(Path(sys.argv[1]))\n"
        "sys.stdin.readline()\n"
        "for at in range(300): store.add(feedback(f'{sys.argv[2]} {at}', note='long ' * 2000))"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path), name], cwd=ROOT, stdin=subprocess.PIPE, text=True)
        for name in ("first", "second")
    ]
    for process in started:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.close()
    assert [process.wait(120) for process in started] == [0, 0]
    asked = [one.question for one in FeedbackStore(tmp_path).all()]
    assert sorted(asked) == sorted(f"{name} {at}" for name in ("first", "second") for at in range(300))
    assert [one for one in asked if one.startswith("first")] == [f"first {at}" for at in range(300)]


def test_a_folder_that_cannot_be_written_or_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(FeedbackError, match="cannot be written"):
        FeedbackStore(tmp_path / "file").add(feedback())
    (tmp_path / "data" / "feedback.jsonl").mkdir(parents=True)
    with pytest.raises(FeedbackError, match="cannot be read"):
        FeedbackStore(tmp_path / "data").all()


def test_a_right_answer_is_what_is_expected() -> None:
    question = gold(feedback("And mice?", standalone_question="Does OwlNet see mice?", note="Good."))
    assert (question.question, question.papers, question.status) == ("Does OwlNet see mice?", ("id1",), "answered")
    assert question.tags == ("feedback", "up")
    assert question.note == "Good. | Asked as: And mice? | Cited: OwlNet"


def test_a_wrong_answer_is_a_draft_with_the_note_of_who_found_it_wrong() -> None:
    question = gold(feedback(verdict="down", note="It is EagleNet."))
    assert question.tags == ("feedback", "down", "draft")
    assert "put right" in question.note
    assert "It is EagleNet." in question.note


def test_a_question_is_asked_once_by_the_last_opinion() -> None:
    wrong, right = feedback(verdict="down"), feedback("what does owlnet see?", paper_ids=("id2",))
    assert gold(wrong, right).papers == ("id2",)
    assert gold(right, wrong).tags == ("feedback", "down", "draft")
    assert gold(wrong, right).id == gold(wrong).id
    assert len({question.id for question in gold_questions([wrong, feedback("Other?")])}) == 2


@pytest.mark.parametrize("verdict", ["up", "down"])
@pytest.mark.parametrize("status", ["answered", "not_stated", "not_covered"])
@pytest.mark.parametrize("kind", ["fact", "list", "count", "compare", "overview", "smalltalk"])
@pytest.mark.parametrize("paper_ids", [(), ("id1",), ("id1", "id2")])
def test_any_feedback_makes_a_question_set(
    tmp_path: Path, paper_ids: tuple[str, ...], kind: Kind, status: Status, verdict: Thumb
) -> None:
    one = feedback(paper_ids=paper_ids, kind=kind, status=status, verdict=verdict)
    (tmp_path / "set.jsonl").write_text(question_set([one]), "utf-8")
    (question,) = read_question_set(str(tmp_path / "set.jsonl")).questions
    assert question == gold(one)
    assert question.status == status
    assert not (question.kind == "compare" and len(question.papers) == 1)


@pytest.fixture
def judged(assistant: Assistant, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder in which three answers were judged, and one of another collection."""
    monkeypatch.setenv("ASSISTANT_DATA_DIR", str(data_dir))
    store = FeedbackStore(data_dir)
    comparison = assistant.ask("Compare LiftQuant and ProjQ")
    store.add(feedback_on(comparison, "up", collection="icml2026"))
    unknown = assistant.ask("Which paper proposes AlphaFold 3?")
    store.add(feedback_on(unknown, "down", "There is \x1b]0;x\x07one.", collection="icml2026"))
    rate = assistant.ask("What learning rate does LiftQuant use?")
    store.add(feedback_on(rate, "up", collection="icml2026"))
    store.add(replace(feedback("Elsewhere?"), collection="other", note="raw \x1b[31m\u202e<b>note</b>"))
    return data_dir


@pytest.mark.usefixtures("judged")
def test_the_export_is_evaluated_as_it_is(tmp_path: Path) -> None:
    done = run("--export", "asked.jsonl")
    assert done.exit_code == 0, done.output
    assert done.output == "asked.jsonl: 3 questions on icml2026, 1 of them drafts to edit\n"
    done = CliRunner().invoke(cli.app, ["evaluate", "asked.jsonl", "--output", "report", "--json"])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "report" / "report.json").is_file()
    report = json.loads((tmp_path / "report" / "report.json").read_text("utf-8"))
    assert {question["status"] for question in report["questions"]} == {"answered", "not_covered", "not_stated"}


@pytest.mark.usefixtures("judged")
def test_feedback_is_listed_without_what_steers_a_terminal() -> None:
    printed = run().output
    assert "Compare LiftQuant and ProjQ\n      answered (LiftQuant, ProjQ)\n" in printed
    assert "down" in printed
    assert "There is one." in printed
    assert "raw <b>note</b>" in printed
    assert not {"\x1b", "\x07", "\u202e"} & set(printed)
    as_json = run("--json").output
    assert [one["verdict"] for one in json.loads(as_json)] == ["up", "down", "up", "up"]
    assert json.loads(as_json)[3]["note"] == "raw \x1b[31m\u202e<b>note</b>"
    assert not {"\x1b", "\u202e"} & set(as_json)


@pytest.mark.usefixtures("judged")
def test_nothing_is_written_over_and_an_empty_set_is_not_written(tmp_path: Path) -> None:
    assert json.loads(run("--export", "a.jsonl", "--json").output) == {"questions": 3, "drafts": 1}
    assert json.loads(run("--export", "b.jsonl", "--collection", "other", "--json").output)["questions"] == 1
    again, none = run("--export", "a.jsonl"), run("--export", "c.jsonl", "--collection", "none")
    assert isinstance(again.exception, UserFacingError)
    assert isinstance(none.exception, FeedbackError)
    assert not (tmp_path / "c.jsonl").exists()


def test_without_feedback_the_list_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_DATA_DIR", str(tmp_path))
    assert "Nobody has judged an answer yet" in run().output
    assert run("--json").output == "[]\n"
