"""The ranking is measured on any folder in the layout of BEIR; questions on silent abstracts are labelled rightly."""

import json
import re
import sys
from pathlib import Path

import pytest

import benchmarks.lists
import benchmarks.retrieval
import benchmarks.unstated
from benchmarks.common import PUBLIC_DATA
from benchmarks.unstated import Labelled, labelled_questions, threshold

DOCUMENTS = {
    "d1": ("Owls", "Owls hunt at night and turn their heads.\u2028They hear well."),
    "d2": ("Bees", "Bees dance to tell where flowers are."),
    "d3": ("", "Rivers carry sand to the sea."),
    "d4": ("Empty", ""),
}
QUERIES = {"q1": "Which birds hunt at night?", "q2": "dancing insects", "q3": "never judged"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "animals"
    (folder / "qrels").mkdir(parents=True)
    documents = [{"_id": key, "title": title, "text": text} for key, (title, text) in DOCUMENTS.items()]
    queries = [{"_id": key, "text": text} for key, text in QUERIES.items()]
    for name, rows in {"corpus.jsonl": documents, "queries.jsonl": queries}.items():
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td3\t0\nq2\td2\t1\nq2\tunknown\t1\n", encoding="utf-8"
    )
    return folder


def test_every_ranking_is_measured(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(benchmarks.retrieval, "DATA", tmp_path / "build")
    monkeypatch.setattr(benchmarks.retrieval.console, "file", sys.stdout)
    monkeypatch.setattr(sys, "argv", ["retrieval", str(folder)])
    benchmarks.retrieval.main()
    printed = capsys.readouterr().out
    assert "animals: 2 questions, 4 papers" in printed
    rows = re.findall(r"│ (\S.*?) +│ +([\d.]+) │ +([\d.]+) │ +([\d.]+) │ +([\d.]+) │", printed)
    assert len(rows) == 8
    assert rows[-1] == ("and names (ours)", "1.0000", "1.0000", "1.0000", "1.0000")
    assert "minus that of" in printed


def test_a_folder_without_judgements_is_an_error_that_names_the_file(folder: Path) -> None:
    (folder / "qrels" / "test.tsv").unlink()
    with pytest.raises(FileNotFoundError, match=r"qrels\.tsv"):
        benchmarks.retrieval.judged_set(folder)


@pytest.fixture
def kept_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Benchmarks write to a folder of their own, and what is public is not at hand."""
    monkeypatch.setattr(benchmarks.lists, "DATA", tmp_path / "build")
    monkeypatch.setattr(benchmarks.unstated, "DATA", tmp_path / "build")
    monkeypatch.setattr(benchmarks.unstated, "PUBLIC_DATA", tmp_path / "none")
    return tmp_path


def test_the_parts_of_the_silent_questions_share_no_paper_and_no_attribute() -> None:
    questions = labelled_questions()
    dev, test = ([each for each in questions if each.part == part] for part in ("dev", "test"))
    more = [each for each in questions if each.part == "more"]
    assert len(dev) + len(test) + len(more) == len(questions) == len({each.id for each in questions})
    assert not {each.paper for each in more} & {each.paper for each in test}
    assert len({each.question for each in questions}) == len(questions)
    assert not {(each.collection, each.paper) for each in dev if each.paper} & {
        (each.collection, each.paper) for each in test
    }
    assert not {each.attribute for each in dev} & {each.attribute for each in test}
    for part in (dev, test):
        counts = [sum(each.status == status for each in part) for status in ("not_stated", "answered", "not_covered")]
        assert counts[0] >= 80
        assert counts[1] >= 80
        assert counts[2] >= 30


def test_only_what_is_answered_has_evidence_and_only_what_is_not_covered_has_no_paper() -> None:
    for each in labelled_questions():
        assert (each.evidence is not None) == (each.status == "answered" and each.part != "more")
        assert (each.paper is None) == (each.status == "not_covered")
        assert len((each.evidence or "").split()) <= 8


def test_evidence_stands_to_the_letter_in_built_in_abstracts(kept_elsewhere: Path) -> None:
    abstracts = {paper.label: paper.abstract for paper in benchmarks.lists.development().retriever.papers()}
    _assert_evidence_in(abstracts, "icml2026")


@pytest.mark.parametrize("name", ["scifact", "pubmedqa"])
def test_evidence_stands_to_the_letter_in_public_abstracts(name: str) -> None:
    files = sorted((PUBLIC_DATA / name).glob("corpus*.jsonl"))
    if not files:
        pytest.skip(f"{name} is not at hand")
    documents = [json.loads(line) for file in files for line in file.read_text("utf-8").split("\n") if line]
    _assert_evidence_in({paper["_id"]: paper["text"] for paper in documents}, name)


def _assert_evidence_in(abstracts: dict[str, str], collection: str) -> None:
    for each in labelled_questions():
        if each.collection == collection and each.paper:
            assert (each.evidence or "") in abstracts[each.paper], each.id


def test_silent_questions_are_measured_and_missing_collections_are_named(
    kept_elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few = kept_elsewhere / "few.jsonl"
    rows = [
        _labelled("1", "HiPhO", "How many Olympiads does HiPhO compile?", "answered"),
        _labelled("2", "LiftQuant", "Which learning rate does LiftQuant use?", "not_stated"),
        _labelled("3", "LiftQuant", "To how many bits does LiftQuant compress a 70B LLM?", "answered"),
        _labelled("4", None, "How long must sourdough bread rise before it is baked?", "not_covered"),
        _labelled("5", None, "Which learning rate does LiftQuant use in training?", "not_covered"),
    ]
    few.write_text("\n".join(rows) + "\n", encoding="utf-8")
    monkeypatch.setattr(benchmarks.unstated, "QUESTIONS", few)
    monkeypatch.setattr(benchmarks.unstated.console, "file", sys.stdout)
    monkeypatch.setattr(sys, "argv", ["unstated", "--part", "dev", "--mistakes"])
    benchmarks.unstated.main()
    printed = capsys.readouterr().out
    assert "scifact is not there and is left out" in printed.replace("\n", "")
    assert "dev: 1 silent, 2 answerable, 2 on no paper" in printed
    row = next(line for line in printed.splitlines() if "all" in line and "│" in line)
    assert "1.000 (1.00–1.00)" in row
    assert "0.500" in row
    assert "not_covered -> not_stated: 5 (bread)" in printed
    assert "2 (bread)" not in printed


def _labelled(key: str, paper: str | None, question: str, status: str) -> str:
    given = {"id": key, "part": "dev", "collection": "icml2026", "paper": paper, "attribute": "bread"}
    return json.dumps({**given, "question": question, "status": status})


def test_a_threshold_refuses_no_more_answerable_questions_than_the_aim() -> None:
    answerable = [Labelled(str(at), "dev", "c", "p", "a", "q", "answered") for at in range(100)]
    silent = [Labelled("s", "dev", "c", "p", "a", "q", "not_stated")]
    least = threshold([*map(float, range(100)), -5.0], [*answerable, *silent])
    assert least == 3.0
