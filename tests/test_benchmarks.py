"""The benchmark of the ranking takes any folder in the layout of BEIR."""

import json
import re
import sys
from pathlib import Path

import pytest

import benchmarks.retrieval

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
