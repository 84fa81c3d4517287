"""The JSON Schema that is shipped is what the commands really print, no more and no less."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError
from typer.testing import CliRunner

from assistant import Assistant, cli
from assistant.feedback import FeedbackStore, feedback_on
from tests.fakes import KEY, MODEL, EmbeddingServer, ModelServer
from tests.test_cli import run

ASKED = {
    "Which GPU does LiftQuant fit on?": ("fact", "answered"),
    "What learning rate does LiftQuant use?": ("fact", "not_stated"),
    "Which paper proposes AlphaFold 3?": ("fact", "not_covered"),
    "Which papers are about diffusion language models?": ("list", "answered"),
    "How many papers are about diffusion language models?": ("count", "answered"),
    "Compare LiftQuant and ProjQ in terms of bits and speed.": ("compare", "answered"),
    "Give me an overview of the papers on quantization.": ("overview", "answered"),
    "What is in this collection?": ("overview", "answered"),
    "Hello!": ("smalltalk", "answered"),
}


@pytest.fixture(autouse=True)
def data(built_in_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_DATA_DIR", str(built_in_data))


def printed(*arguments: str, exit_code: int = 0, **environment: str) -> Any:
    done = CliRunner().invoke(cli.app, [*arguments, "--json"], env=environment, catch_exceptions=False)
    assert done.exit_code == exit_code, done.output
    return json.loads(done.stdout)


def schema() -> dict[str, Any]:
    return dict(json.loads(CliRunner().invoke(cli.app, ["schema"], catch_exceptions=False).stdout))


def fails(document: Any, command: str) -> str:
    """Why the document is not what the command prints; empty when it is."""
    whole = schema()
    own = Draft202012Validator({"$ref": f"#/$defs/{command.replace(' ', '%20')}", "$defs": whole["$defs"]})
    try:
        own.validate(document)
        Draft202012Validator(whole).validate(document)
    except ValidationError as error:
        return f"{error.json_path}: {error.message[:300]}"
    return ""


def objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(child)


def test_it_is_a_schema_in_which_all_is_described_and_nothing_is_left_open() -> None:
    whole = schema()
    Draft202012Validator.check_schema(whole)
    for each in objects(whole["$defs"]):
        if "properties" in each and each.get("type") == "object":
            assert each["additionalProperties"] is False
            assert each["required"] == list(each["properties"])
            for name, about in each["properties"].items():
                assert "$ref" in about or "anyOf" in about or about["description"], name
    used = {each["$ref"] for each in objects(whole) if isinstance(each.get("$ref"), str)}
    assert used == {f"#/$defs/{name.replace(' ', '%20')}" for name in whole["$defs"]}


@pytest.mark.parametrize(("question", "kind_and_status"), ASKED.items())
def test_answers_of_every_kind_and_status(question: str, kind_and_status: tuple[str, str]) -> None:
    answer = printed("ask", question)
    assert (answer["kind"], answer["status"]) == kind_and_status
    assert fails(answer, "ask") == ""


def test_an_answer_that_a_model_wrote_and_the_check_left_out(model_server: ModelServer) -> None:
    model_server.says("LiftQuant fits a 70B LLM on a 24GB GPU [1]. It was written by Napoleon [1].")
    environment = {"ASSISTANT_MODEL": f"openai:{MODEL}", "OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": model_server.url}
    answer = printed("ask", "Which GPU does LiftQuant fit on?", **environment)
    assert {sentence["verdict"] for sentence in answer["sentences"]} >= {"supported", "unsupported", "program"}
    assert answer["usage"]["input_tokens"] == 100
    assert fails(answer, "ask") == ""


def test_a_missing_an_added_or_a_wrong_field_is_rejected_wherever_it_is() -> None:
    answer = printed("ask", "Which GPU does LiftQuant fit on?")
    places = [("sentences", 0), ("citations", 0), ("passages", 0), ()]
    for place in places:
        for name in _at(answer, place):
            short = copy.deepcopy(answer)
            del _at(short, place)[name]
            assert "required" in fails(short, "ask"), (place, name)
            wrong = copy.deepcopy(answer)
            _at(wrong, place)[name] = {"x": ["y"]}
            assert fails(wrong, "ask"), (place, name)
        longer = copy.deepcopy(answer)
        _at(longer, place)["surprise"] = 1
        assert "surprise" in fails(longer, "ask")


def _at(document: Any, place: tuple[Any, ...]) -> Any:
    for step in place:
        document = document[step]
    return document


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("search", ["search", "protein design", "-k", "5"]),
        ("search", ["search", "protein", "--year", "1990"]),
        ("papers", ["papers"]),
        ("collections list", ["collections", "list"]),
        ("collections info", ["collections", "info", "icml2026"]),
        ("doctor", ["doctor"]),
        ("feedback", ["feedback"]),
    ],
)
def test_commands_that_show_what_there_is(command: str, arguments: list[str]) -> None:
    assert fails(printed(*arguments), command) == ""


def test_reports_of_indexing(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    record = '{"title": "Owls at night", "abstract": "Owls see mice at night.", "authors": ["A B"]}'
    (tmp_path / "in" / "a.json").write_text(f"[{record}, {record}, {{}}]", "utf-8")
    (tmp_path / "in" / "b.txt").write_bytes(b"\x00\x01\x02")
    (tmp_path / "in" / "c.txt").write_text("We propose CatNet, which sees cats.", "utf-8")
    with EmbeddingServer() as server:
        environment = {
            "ASSISTANT_DATA_DIR": str(tmp_path / "data"),
            "ASSISTANT_EMBEDDING": "openai:text-embedding-3-small",
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": server.url,
        }
        report = printed("index", "in", "--collection", "ours", exit_code=1, **environment)
    assert report["unread"]
    assert report["billed"]
    assert any(source["duplicates"] and source["skipped"] for source in report["sources"])
    assert fails(report, "index") == ""
    assert fails(printed("collections", "info", "ours", **environment), "collections info") == ""


def test_a_broken_check_and_errors(tmp_path: Path) -> None:
    found = printed("doctor", exit_code=1, ASSISTANT_DATA_DIR=str(tmp_path), ASSISTANT_COLLECTION="nowhere")
    assert not found[-1]["ok"]
    assert fails(found, "doctor") == ""
    failed = run("ask", "x", "--collection", "nowhere", "--json")
    assert fails(json.loads(failed.stdout), "error") == ""
    lines = CliRunner().invoke(cli.app, ["ask", "-", "--json"], input="???\nHello!\n").stdout.splitlines()
    assert [fails(json.loads(line), command) for line, command in zip(lines, ("error", "ask"), strict=True)] == ["", ""]


def test_an_evaluation_its_comparison_its_draft_and_feedback(
    assistant: Assistant, data_dir: Path, tmp_path: Path, model_server: ModelServer
) -> None:
    model_server.says("VERDICT: right")
    (tmp_path / "set.jsonl").write_text(
        '{"id": "a", "question": "Which GPU does LiftQuant fit on?", "papers": ["LiftQuant"], "facts": ["24GB"]}\n'
        '{"id": "b", "question": "Which paper proposes AlphaFold 3?", "status": "not_covered"}\n',
        "utf-8",
    )
    environment = {"ASSISTANT_DATA_DIR": str(data_dir), "OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": model_server.url}
    first = printed("evaluate", "set.jsonl", "--output", "first", **environment)
    assert fails(first, "evaluate") == ""
    again = ["evaluate", "set.jsonl", "--output", "second", "--compare", "first/report.json"]
    second = printed(*again, "--judge", f"openai:{MODEL}", **environment)
    assert second["comparison"]
    assert second["agreement"]
    assert fails(second, "evaluate") == ""
    assert fails(printed("evaluate", "--init", "mine.jsonl", **environment), "evaluate --init") == ""
    FeedbackStore(data_dir).add(feedback_on(assistant.ask("What is LiftQuant?"), "up", collection="icml2026"))
    assert fails(printed("feedback", **environment), "feedback") == ""
    assert fails(printed("feedback", "--export", "ours.jsonl", **environment), "feedback --export") == ""
