"""Listing, renaming, deleting, exporting and importing collections, from the command line."""

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from assistant import build_assistant
from assistant.app import index_papers
from assistant.cli import main
from vectorstore.errors import CollectionMissing
from vectorstore.folder import CollectionFolder
from vectorstore.library import Library


@dataclass(frozen=True)
class Done:
    """What a command printed, and its exit code."""

    returncode: int
    stdout: str
    stderr: str


def run(*arguments: str, **environment: str) -> Done:
    """The command in this process: there are many, and each process of its own loads the models anew."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["assistant", *arguments])
        patch.setattr(sys, "stdin", io.StringIO())
        for name, value in {**environment, "COLUMNS": "200"}.items():
            patch.setenv(name, value)
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
    return Done(code, out.getvalue(), err.getvalue())


PAPERS = [
    {
        "title": "Owls & $x^2$: {They} See",
        "abstract": "We show that owls see 50\\% of \\emph{mice}; a<b & c&lt;d. They do.\nSo it is.",
        "authors": ["Ada Byron", "Carl Gauß"],
        "venue": "ICML",
        "year": 2024,
        "doi": "10.1000/owls",
        "keywords": ["owls", "mice"],
        "track": "Oral",
        "starttime": "2024-07-15T11:00:00-07:00",
    },
    {"title": "=HYPERLINK(1)", "abstract": "A formula is here.", "arxiv_id": "2401.00001"},
    {"title": "A Paper Without an Abstract", "year": 2023},
]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with the collection "owls"."""
    monkeypatch.setenv("ASSISTANT_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "papers.jsonl").write_text("".join(json.dumps(paper) + "\n" for paper in PAPERS), "utf-8")
    done = run("index", str(tmp_path / "papers.jsonl"), "--collection", "owls")
    assert done.returncode == 0, done.stderr
    assert "papers.jsonl (JSON): 3 records read: 3 added, 0 unchanged, 0 removed, 1 without abstract" in done.stdout
    return tmp_path / "data"


def test_collections_are_listed_with_what_they_hold(data: Path, tmp_path: Path) -> None:
    assert run("collections", "list").stdout.startswith("owls  3 papers (1 without abstract), 1 files, ")
    info = json.loads(run("collections", "info", "owls", "--json").stdout)
    assert (info["name"], info["papers"], info["title_only"], info["chunks"]) == ("owls", 3, 1, 3)
    assert info["sources"] == [{"path": str(tmp_path / "papers.jsonl"), "papers": 3}]
    assert info["embedding"]
    assert info["disk_bytes"] > 10_000
    assert json.loads(run("collections", "list", "--json").stdout) == [info]
    assert str(tmp_path / "papers.jsonl") in run("collections", "info", "owls").stdout


@pytest.mark.usefixtures("data")
def test_export_and_import_give_the_same_to_the_byte(tmp_path: Path) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    assert run("collections", "export", "owls", "--output", str(first)).returncode == 0
    done = run("collections", "import", str(first), "again")
    assert done.returncode == 0, done.stderr
    assert run("collections", "export", "again", "--output", str(second)).returncode == 0
    assert first.read_bytes() == second.read_bytes()
    assert run("collections", "export", "again").stdout.encode() == first.read_bytes()
    assert run("collections", "import", str(first), "owls").returncode == 1
    assert run("collections", "export", "owls", "--output", str(first)).returncode == 1  # nothing is written over


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("kind", ["bibtex", "ris", "csv"])
def test_what_other_programs_read_is_read_back_as_the_same_papers(tmp_path: Path, kind: str) -> None:
    file = tmp_path / f"papers.{kind}"
    assert run("collections", "export", "owls", "--format", kind, "--output", str(file)).returncode == 0
    done = run("index", str(file), "--collection", "again", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["papers"] == 3
    papers = json.loads(run("papers", "--collection", "again", "--json").stdout)
    assert [(paper["year"], paper["doi"], paper["arxiv_id"]) for paper in papers] == [
        (2024, "10.1000/owls", None),
        (None, None, "2401.00001"),
        (2023, None, None),
    ]
    assert papers[0]["authors"] == ["Ada Byron", "Carl Gauß"]
    assert papers[0]["venue"] == "ICML"


@pytest.mark.usefixtures("data")
def test_no_cell_of_a_table_is_a_formula() -> None:
    done = run("collections", "export", "owls", "--format", "csv")
    assert "'=HYPERLINK(1)" in done.stdout
    assert ",=" not in done.stdout
    assert "\n=" not in done.stdout


@pytest.mark.usefixtures("data")
def test_a_paper_without_an_abstract_is_found_and_quoted_by_its_title() -> None:
    hits = json.loads(run("search", "paper without abstract", "--collection", "owls", "--json").stdout)
    assert hits[0]["text"] == "A Paper Without an Abstract"
    answer = json.loads(run("ask", "Which papers are about owls?", "--collection", "owls", "--json").stdout)
    assert answer["status"] == "answered"


def test_a_collection_is_renamed_unless_the_name_is_taken(data: Path) -> None:
    assert run("collections", "rename", "owls", "birds").returncode == 0
    assert len(Library(CollectionFolder(data, "birds").library_path).papers()) == 3
    assert run("ask", "Do owls see?", "--collection", "birds").returncode == 0
    done = run("ask", "Do owls see?", "--collection", "owls")
    assert (done.returncode, done.stderr.splitlines()[0]) == (1, f"Error: There is no collection 'owls' in {data}.")
    for wrong in ("birds", "No Name"):
        assert run("collections", "rename", "birds", wrong).returncode == 1


def test_deleting_asks_first_and_the_built_in_collection_does_not_come_back(data: Path) -> None:
    assert run("collections", "delete", "owls").returncode == 1  # nobody is there to say yes
    assert CollectionFolder(data, "owls").exists()
    assert run("search", "LiftQuant").returncode == 0
    for name in ("owls", "icml2026"):
        assert run("collections", "delete", name, "--yes").returncode == 0
    assert run("collections", "list").stdout.startswith("There is no collection yet")
    assert run("search", "LiftQuant").returncode == 1
    with pytest.raises(CollectionMissing):
        CollectionFolder(data, "owls").require()


@pytest.mark.parametrize(
    "command", [["info", "none"], ["rename", "none", "other"], ["delete", "none", "--yes"], ["export", "none"]]
)
def test_what_is_not_there_is_an_error_with_a_hint(tmp_path: Path, command: list[str]) -> None:
    done = run("collections", *command, ASSISTANT_DATA_DIR=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == f"Error: There is no collection 'none' in {tmp_path}."


@pytest.mark.parametrize("file", ["vectors.npy", "facets.sqlite", "chroma/chroma.sqlite3"])
def test_doctor_builds_a_damaged_index_anew_when_it_is_told_to(data: Path, file: str) -> None:
    (index,) = CollectionFolder(data, "owls").index_path.iterdir()
    (index / file).write_bytes(b"not what it was")
    settings = {"ASSISTANT_COLLECTION": "owls"}
    assert "BROKEN  collection" in run("doctor", **settings).stdout
    done = run("doctor", "--repair", **settings)
    assert "ok      collection: rebuilt from the library; owls, 3 papers" in done.stdout
    assert done.returncode == 0
    assert "rebuilt" not in run("doctor", **settings).stdout
    assert run("ask", "Do owls see?", **settings).returncode == 0


@pytest.mark.usefixtures("data")
def test_several_collections_are_asked_as_one(tmp_path: Path) -> None:
    both = ["--collection", "owls,icml2026"]
    answer = json.loads(run("ask", "Do owls see mice?", *both, "--json").stdout)
    assert answer["citations"][0]["title"].startswith("Owls")
    assert "24GB GPU" in run("ask", "Which GPU does LiftQuant fit on?", *both).stdout
    assert len(json.loads(run("papers", *both, "--json").stdout)) == 37
    (tmp_path / "more.txt").write_text("We propose BatNet, which hears bats at night.", "utf-8")
    assert run("index", str(tmp_path / "more.txt"), "--collection", "owls").returncode == 0
    assert "BatNet" in run("ask", "Which net hears bats?", *both).stdout
    assert "ok      collection: owls, 4 papers" in run("doctor", ASSISTANT_COLLECTION="owls,icml2026").stdout
    done = run("ask", "Do owls see mice?", "--collection", "owls,none")
    assert (done.returncode, "no collection 'none'" in done.stderr) == (1, True)
    done = run("index", str(tmp_path / "more.txt"), *both)
    assert (done.returncode, "cannot be the name of a collection" in done.stderr) == (1, True)
    assert [info["name"] for info in json.loads(run("collections", "list", "--json").stdout)] == ["icml2026", "owls"]


def test_a_running_assistant_sees_what_is_added_to_one_of_several(data: Path, tmp_path: Path) -> None:
    assistant = build_assistant(data_dir=data, collections=["owls", "icml2026"])
    assert len(assistant.papers()) == 37
    (tmp_path / "more.txt").write_text("We propose BatNet, which hears bats at night.", "utf-8")
    index_papers([tmp_path / "more.txt"], data_dir=data, collection="owls")
    assert len(assistant.papers()) == 38
    assert assistant.ask("Which net hears bats?").citations[0].paper.label == "BatNet"
