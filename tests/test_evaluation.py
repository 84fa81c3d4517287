"""Whole evaluations of the built-in collection: with and without a model, stopped and gone on, compared and gated."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assistant import cli
from assistant.errors import ReportError, UserFacingError
from assistant.evaluation.report import Report, html_report
from assistant.evaluation.wiring import evaluate
from tests.fakes import ModelServer, Reply

ROOT = Path(__file__).parents[1]

QUESTIONS: list[dict[str, Any]] = [
    {
        "id": "named",
        "question": "How much memory has the GPU that LiftQuant fits a 70B model on?",
        "papers": ["LiftQuant"],
        "facts": ["24GB"],
        "tags": ["named", "$5 & <b>"],
    },
    {
        "id": "follow",
        "question": "And how many bits does it need there?",
        "history": ["What is LiftQuant?"],
        "papers": ["LiftQuant"],
        "facts": [["2.4 bits"]],
    },
    {
        "id": "list",
        "kind": "list",
        "question": "Which papers are about quantization?",
        "papers": ["LiftQuant", "ProjQ"],
    },
    {
        "id": "open",
        "question": "Which learning rate does LiftQuant use?",
        "papers": ["LiftQuant"],
        "status": "not_stated",
    },
    {"id": "away", "question": "How do I bake sourdough bread?", "status": "not_covered"},
]


def question_file(folder: Path, *questions: dict[str, Any], name: str = "mine") -> Path:
    path = folder / f"{name}.jsonl"
    path.write_text("\n".join(json.dumps(question) for question in questions or QUESTIONS), "utf-8")
    return path


@pytest.fixture
def run(built_in_data: Path, tmp_path: Path) -> Callable[..., Report]:
    """Evaluates `questions` (ours by default) into `tmp_path/report`."""

    def evaluated(*questions: dict[str, Any], **how: Any) -> Report:
        path = question_file(tmp_path, *questions)
        return evaluate(str(path), output=how.pop("output", tmp_path / "report"), data_dir=built_in_data, **how)

    return evaluated


def outcomes(report: Report, system: str = "assistant") -> list[dict[str, Any]]:
    plain = json.loads(report.paths[0].read_text("utf-8"))
    return [question["systems"][system] for question in plain["questions"]]


def test_every_system_answers_every_question_and_ours_is_right(run: Callable[..., Report]) -> None:
    report = run()
    assert list(report.evaluation.scored) == ["assistant", "plain LangChain", "BM25 alone"]
    ours, plain, keywords = report.evaluation.scored.values()
    by_id = {one.gold.id: one for one in ours}
    assert not by_id["named"].why_wrong
    assert not by_id["follow"].why_wrong
    assert not by_id["open"].why_wrong
    assert not by_id["away"].why_wrong
    assert by_id["named"].outcome.evidence is not None
    assert by_id["named"].outcome.evidence > by_id["away"].outcome.evidence  # type: ignore[operator]
    for baseline in (plain, keywords):
        assert all(one.outcome.status == "answered" for one in baseline)
        assert baseline[0].outcome.cited[0] == by_id["named"].outcome.cited[0]
        assert all(verbatim for one in baseline for verbatim in one.verbatim)
        assert baseline[0].words > 5 * ours[0].words
    figures = report.evaluation.figures
    assert figures["verbatim"]["assistant"].value == 1  # type: ignore[union-attr]
    assert figures["dollars"]["assistant"].value == 0  # type: ignore[union-attr]


def test_the_json_report_says_what_was_measured_under_which_circumstances(run: Callable[..., Report]) -> None:
    report = run(prices=(1.0, 2.0))
    plain = json.loads(report.paths[0].read_text("utf-8"))
    assert plain["format"] == 1
    circumstances = plain["circumstances"]
    assert circumstances["papers"] == 34
    assert circumstances["settings"]["model"] is None
    for name in ("question_set_sha256", "collection_sha256", "settings_sha256", "prompts_sha256"):
        assert len(circumstances[name]) == 64
    right = next(measure for measure in plain["measures"] if measure["name"] == "right")
    assert set(right["systems"]["assistant"]) == {"value", "low", "high", "n"}
    assert right["systems"]["assistant"]["n"] == 5
    assert plain["slices"]["not_covered"]["assistant"]["value"] == 1
    question = plain["questions"][0]
    assert question["facts"] == [["24GB"]]
    assert question["systems"]["assistant"]["values"]["fact_recall"] == 1
    assert question["systems"]["assistant"]["why_wrong"] == []


def test_hashes_change_with_what_they_stand_for_only(run: Callable[..., Report]) -> None:
    first = run(QUESTIONS[0]).evaluation.circumstances
    again = run(QUESTIONS[0]).evaluation.circumstances
    assert first == again
    other = run(QUESTIONS[0], answer_tokens=100).evaluation.circumstances
    assert other.settings_sha256 != first.settings_sha256
    assert other.question_set_sha256 == first.question_set_sha256
    assert run(QUESTIONS[1]).evaluation.circumstances.question_set_sha256 != first.question_set_sha256


class Stopped(BaseException):
    """As when the process is told to end."""


def stop_after(questions: int) -> Callable[[str, int, int], None]:
    def progress(what: str, done: int, total: int) -> None:
        if what == "asking" and done == questions:
            raise Stopped

    return progress


def test_a_stopped_run_goes_on_where_it_was(run: Callable[..., Report], tmp_path: Path) -> None:
    with pytest.raises(Stopped):
        run(progress=stop_after(2))
    (journal,) = (tmp_path / "report").iterdir()
    kept = [json.loads(line)["outcome"] for line in journal.read_text("utf-8").splitlines()]
    assert len(kept) == 6
    with journal.open("ab") as file:  # what crashes leave of lines
        file.write(b'7\n{"system": "assistant"}\n{"system": "assistant", "outcome": {"question_id": "li\xe2\x80')
    report = run()
    assert [outcome["seconds"] for outcome in outcomes(report)[:2]] == [
        outcome["seconds"] for outcome in kept if outcome["question_id"] in ("named", "follow")
    ][::3]
    assert not journal.exists()

    fresh = run(output=tmp_path / "fresh")
    for resumed, new in zip(outcomes(report), outcomes(fresh), strict=True):
        untimed = [
            {key: value for key, value in one.items() if key not in ("seconds", "values")} for one in (resumed, new)
        ]
        assert untimed[0] == untimed[1]


def test_outcomes_of_another_run_are_not_used(run: Callable[..., Report], tmp_path: Path) -> None:
    with pytest.raises(Stopped):
        run(progress=stop_after(2))
    (journal,) = (tmp_path / "report").iterdir()
    before = journal.read_text("utf-8")
    seconds = json.loads(before.splitlines()[0])["outcome"]["seconds"]
    report = run(answer_tokens=123)
    assert outcomes(report)[0]["seconds"] != seconds
    assert journal.read_text("utf-8") == before  # and can still go on
    assert outcomes(run())[0]["seconds"] == seconds


def test_questions_that_failed_are_asked_anew(run: Callable[..., Report], model_server: ModelServer) -> None:
    model_server.says("", status=400)
    with pytest.raises(Stopped):
        run(*QUESTIONS[:2], progress=stop_after(1), **model_server.settings)
    model_server.replies[:] = [Reply("LiftQuant compresses a 70B LLM to 2.4 bits to fit a 24GB GPU [1].")]
    report = run(*QUESTIONS[:2], **model_server.settings)
    assert not any(one.failed for one in report.evaluation.ours)


def test_the_command_can_be_interrupted_and_killed(built_in_data: Path, tmp_path: Path) -> None:
    """A real process, a real signal, at whatever moment."""
    path = question_file(tmp_path, *({**QUESTIONS[4], "id": str(row)} for row in range(400)))
    code = "from assistant.cli import main; main()"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "ASSISTANT_DATA_DIR": str(built_in_data)}
    arguments = [sys.executable, "-c", code, "evaluate", str(path), "--output", "report"]
    asked = 0
    for kind in (signal.SIGINT, signal.SIGKILL):
        with subprocess.Popen(arguments, env=environment, stderr=subprocess.PIPE, text=True) as process:
            while not (journals := list((tmp_path / "report").glob("*.jsonl"))) or lines_in(journals[0]) <= asked + 9:
                assert process.poll() is None
                time.sleep(0.05)
            said = ended_by(process, kind)
        assert ("the same command goes on" in said) == (kind == signal.SIGINT)
        assert lines_in(journals[0]) > asked
        asked = lines_in(journals[0])


def ended_by(process: subprocess.Popen[str], kind: signal.Signals) -> str:
    """What the process says at its end. Python drops an interrupt that comes while it cleans up: it is sent again."""
    for _ in range(5):
        process.send_signal(kind)
        try:
            return process.communicate(timeout=20)[1]
        except subprocess.TimeoutExpired:
            continue
    raise AssertionError("it goes on")


def lines_in(path: Path) -> int:
    return path.read_bytes().count(b"\n")


def test_a_complete_run_is_measured_anew(run: Callable[..., Report]) -> None:
    first, second = (outcomes(run(QUESTIONS[0]))[0]["seconds"] for _ in range(2))
    assert first != second


def test_an_earlier_report_is_compared_question_by_question(run: Callable[..., Report], tmp_path: Path) -> None:
    old = run(*QUESTIONS[:4])
    worse = [dict(QUESTIONS[0], facts=["25GB"]), *QUESTIONS[1:]]
    report = run(*worse, compare=old.paths[0])
    comparison = report.comparison
    assert comparison is not None
    assert comparison.shared == 4
    assert comparison.differences["right"].value == pytest.approx(-0.25)
    assert comparison.differences["fact_recall"].value == pytest.approx(-0.5)
    assert comparison.differences["fact_recall"].n == 2
    assert comparison.differences["verbatim"].p == 1
    assert "not_stated_precision" not in comparison.differences  # looks at other answers in each run
    assert json.loads(report.paths[0].read_text("utf-8"))["comparison"]["shared"] == 4
    assert "seconds_p95" not in comparison.differences  # the same values as the median's
    assert any(change.startswith("question_set_sha256") for change in comparison.changed)
    assert "fact_recall" in report.paths[1].read_text("utf-8")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 0}', '{"format": 1, "questions": [{}]}', None])
def test_what_is_no_report_is_said_before_anything_is_asked(
    run: Callable[..., Report], tmp_path: Path, content: str | None
) -> None:
    path = tmp_path / "old.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ReportError, match=r"old\.json"):
        run(compare=path)
    assert not (tmp_path / "report").exists()


def test_a_report_that_cannot_be_written_is_a_clear_error(run: Callable[..., Report], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ReportError, match="cannot be written"):
        run(output=tmp_path / "file" / "report")


# With a model.


def test_a_model_is_evaluated_beside_one_prompt_to_the_same_model(
    run: Callable[..., Report], model_server: ModelServer
) -> None:
    model_server.says(
        "LiftQuant compresses a 70B LLM to 2.4 bits to fit a 24GB GPU [1]. It was made in Paris by 77 people [1]."
    )
    report = run(QUESTIONS[0], prices=(1.0, 10.0), **model_server.settings)
    ours, plain, _ = (scored[0] for scored in report.evaluation.scored.values())
    assert not ours.why_wrong
    assert [sentence.shown for sentence in ours.outcome.sentences if "Paris" in sentence.text] == [False]
    assert "Paris" in plain.outcome.content  # one prompt and no check lets it through
    assert ours.outcome.input_tokens == plain.outcome.input_tokens == 100
    figures = report.evaluation.figures
    words = len(model_server.replies[0].text.split())
    assert figures["dollars"]["assistant"].value == pytest.approx((100 + 10 * words) / 1e6)  # type: ignore[union-attr]
    assert "Answer the question from the passages" in model_server.prompt(1)


def test_what_no_server_says_is_unknown(run: Callable[..., Report], model_server: ModelServer) -> None:
    model_server.says("NOT STATED", finish_reason=None)  # a stream without its end has no usage
    unknown = run(*QUESTIONS[:1], QUESTIONS[4], prices=(1.0, 1.0), **model_server.settings).evaluation.figures
    assert unknown["input_tokens"]["assistant"] is None
    assert unknown["dollars"]["assistant"] is None
    model_server.replies[:] = [Reply("", status=400)]
    failed = run(*QUESTIONS[:1], QUESTIONS[4], **model_server.settings)
    assert failed.evaluation.figures["dollars"]["assistant"] is None
    assert failed.evaluation.figures["failed"]["assistant"].value == 0.5  # type: ignore[union-attr]
    assert failed.evaluation.unmet({"dollars": 1.0}) == ["dollars is unknown, to be <= 1"]


def test_the_answer_of_one_prompt_is_shown_and_not_called_an_abstract(
    run: Callable[..., Report], model_server: ModelServer
) -> None:
    model_server.says("It is a novel framework [1].")
    html = run(QUESTIONS[0], **model_server.settings).paths[1].read_text("utf-8")
    assert html.count("Shows the whole abstracts") == 1  # BM25's
    assert html.count("It is a novel framework") >= 1


def test_one_prompt_to_a_model_can_refuse(run: Callable[..., Report], model_server: ModelServer) -> None:
    model_server.says("NOT STATED")
    report = run(QUESTIONS[0], **model_server.settings)
    assert report.evaluation.scored["plain LangChain"][0].outcome.status == "not_stated"


def test_what_one_prompt_puts_in_quotation_marks_is_checked_too(
    run: Callable[..., Report], model_server: ModelServer
) -> None:
    model_server.says("It says “to precisely fit a 24GB GPU” [1] and “to run on any toaster at home” [1].")
    report = run(QUESTIONS[0], **model_server.settings)
    assert report.evaluation.scored["plain LangChain"][0].verbatim == (True, False)


def test_a_question_that_fails_is_counted_and_the_others_are_asked(
    run: Callable[..., Report], model_server: ModelServer
) -> None:
    report = run(**{**model_server.settings, "openai_api_key": "sk-wrong-key-7"})
    failed = report.evaluation.ours[0]
    assert failed.failed
    assert "does not accept the key" in failed.why_wrong[0]
    assert report.evaluation.figures["fact_recall"]["assistant"].value == 0  # type: ignore[union-attr]
    assert report.evaluation.figures["not_covered_recall"]["assistant"].value == 1  # type: ignore[union-attr]
    for path in (*report.paths, *report.folder.iterdir()):
        assert "sk-wrong-key-7" not in path.read_text("utf-8")


def test_a_second_opinion_is_reported_beside_the_rule(run: Callable[..., Report], model_server: ModelServer) -> None:
    for opinion in ("RIGHT", "<think>hm, RIGHT?</think> Wrong.", "**right**", "I cannot say", "RIGHT"):
        model_server.says(opinion)
    settings = {**model_server.settings, "model": None}
    report = run(judge=model_server.settings["model"], **settings)
    agreed = report.evaluation.agreement
    assert agreed is not None
    assert (agreed.n, agreed.unreadable) == (4, 1)
    assert [one.outcome.judged for one in report.evaluation.ours] == ["right", "wrong", "right", "unreadable", "right"]
    assert "24GB" in model_server.prompt(0)
    assert "[LiftQuant]" in model_server.prompt(0)
    assert "no paper in the collection is about this" in model_server.prompt(4)
    assert agreed.judge in report.paths[1].read_text("utf-8")
    assert report.evaluation.circumstances.judge == model_server.settings["model"]


def test_a_judge_that_cannot_be_asked_spoils_nothing(run: Callable[..., Report], model_server: ModelServer) -> None:
    model_server.says("", status=400)
    report = run(QUESTIONS[0], judge=model_server.settings["model"], **{**model_server.settings, "model": None})
    assert report.evaluation.agreement is not None
    assert report.evaluation.agreement.unreadable == 1
    assert not report.evaluation.ours[0].why_wrong


# The HTML report.

HOSTILE = "</td><script>alert(1)</script>{{ 7 * 7 }}{% raw %} $x_1$ <img src=http://evil.example/x.png>"


def test_no_text_becomes_markup_or_a_template(run: Callable[..., Report]) -> None:
    question = {**QUESTIONS[0], "question": HOSTILE, "note": HOSTILE, "tags": [HOSTILE], "facts": [[HOSTILE]]}
    html = html_report(run(question).evaluation, None)
    assert "<script" not in html
    assert "<img" not in html
    assert "{{ 7 * 7 }}" in html


def test_the_report_needs_nothing_else(run: Callable[..., Report]) -> None:
    html = run().paths[1].read_text("utf-8")
    assert html.count("<svg") == 3
    assert 'href="http' not in html.replace("http://www.w3.org", "")
    assert 'src="' not in html
    assert len(html) < 300_000


# The command.


@pytest.fixture
def command(built_in_data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Any]:
    monkeypatch.setenv("ASSISTANT_DATA_DIR", str(built_in_data))
    monkeypatch.setenv("COLUMNS", "200")

    def invoke(*arguments: str) -> Any:
        return CliRunner().invoke(cli.app, ["evaluate", *arguments])

    return invoke


def test_the_command_prints_the_measures_and_where_the_reports_are(command: Callable[..., Any], tmp_path: Path) -> None:
    done = command(str(question_file(tmp_path)))
    assert done.exit_code == 0, done.output
    assert "answerable_refused ↓" in done.output
    assert "plain LangChain" in done.output
    assert (tmp_path / "evaluation-mine" / "report.html").is_file()
    again = command(str(question_file(tmp_path)), "--compare", "evaluation-mine/report.json", "--sample", "2")
    assert "2 questions in both" in again.output


def test_as_json_it_prints_the_report_alone(command: Callable[..., Any], tmp_path: Path) -> None:
    done = command(str(question_file(tmp_path, QUESTIONS[4])), "--json")
    assert json.loads(done.stdout) == json.loads((tmp_path / "evaluation-mine" / "report.json").read_text("utf-8"))


def test_a_threshold_that_is_not_met_ends_with_3(command: Callable[..., Any], tmp_path: Path) -> None:
    path = str(question_file(tmp_path, QUESTIONS[0], QUESTIONS[4]))
    met = ("--fail-under", "right=1", "--fail-under", "answerable_refused=0", "--fail-under", "words_quoted=100")
    assert command(path, *met).exit_code == 0
    for threshold, said in [
        ("words_quoted=5", "to be <= 5"),
        ("right=1.1", "right is 1.000, to be >= 1.1"),
        ("list_recall=0", "list_recall is unknown"),
    ]:
        done = command(path, "--fail-under", threshold)
        assert done.exit_code == 3
        assert said in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("mine.jsonl", "--init", "new.jsonl"),
        ("mine.jsonl", "--fail-under", "beauty=1"),
        ("mine.jsonl", "--fail-under", "right"),
        ("mine.jsonl", "--fail-under", "right=nan"),
        ("mine.jsonl", "--prices", "cheap"),
        ("mine.jsonl", "--prices", "nan,1"),
        ("mine.jsonl", "--sample", "0"),
    ],
)
def test_wrong_usage_ends_with_2(command: Callable[..., Any], arguments: tuple[str, ...]) -> None:
    assert command(*arguments).exit_code == 2


def test_a_wrong_question_set_is_a_known_error(command: Callable[..., Any], tmp_path: Path) -> None:
    done = command(str(question_file(tmp_path, {"id": "x"})))
    assert isinstance(done.exception, UserFacingError)
    assert "line 1" in done.exception.message


def test_a_draft_is_written_and_its_report_says_that_it_is_one(command: Callable[..., Any], tmp_path: Path) -> None:
    done = command("--init", "draft.jsonl")
    assert done.exit_code == 0
    assert "drafts to edit" in done.output
    assert command("--init", "draft.jsonl").exit_code == 1
    assert command("draft.jsonl", "--sample", "3").exit_code == 0
    html = (tmp_path / "evaluation-draft" / "report.html").read_text("utf-8")
    assert "3 of the questions are drafts" in html
