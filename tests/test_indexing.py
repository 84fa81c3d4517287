import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from langchain_core.embeddings import Embeddings

import vectorstore.folder
from tests.fakes import word_vector
from vectorstore.collection import CollectionReader
from vectorstore.embedding import EmbeddingModel
from vectorstore.errors import (
    CollectionBusy,
    CollectionDamaged,
    CollectionError,
    CollectionMissing,
    FingerprintMismatch,
    SourceError,
)
from vectorstore.folder import CollectionFolder
from vectorstore.indexing import index_files, index_sources, rebuild_index
from vectorstore.library import Library
from vectorstore.retrieval import Retriever
from vectorstore.types import Duplicate, PaperRecord, ReadingRules, Source

ROOT = Path(__file__).parents[1]
CATS = "Cats chase mice at night. We propose CatNet, which sees in the dark."
DOGS = "Dogs guard houses by day. We propose DogNet, which hears steps."
LONG = "Cats chase mice at night"
BIRDS = "Birds sing at dawn. We propose BirdNet, which knows each song."


class CountingEmbeddings(Embeddings):
    """Cheap vectors that depend on the words, and a count of what was embedded."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.texts += texts
        return [word_vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return word_vector(text)


@pytest.fixture
def embeddings() -> CountingEmbeddings:
    return CountingEmbeddings()


@pytest.fixture
def model(embeddings: CountingEmbeddings) -> EmbeddingModel:
    return EmbeddingModel("fake:words", "1", embeddings)


@pytest.fixture
def folder(tmp_path: Path) -> CollectionFolder:
    return CollectionFolder(tmp_path / "data", "animals")


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write(*abstracts: str, name: str = "papers.txt") -> Path:
        path = tmp_path / name
        path.write_text("\n\n".join(abstracts), encoding="utf-8")
        return path

    return write


def labels_found(folder: CollectionFolder, model: EmbeddingModel, question: str) -> list[str]:
    return [p.paper.label for p in Retriever(CollectionReader(folder, model), model).search(question, 10)]


def test_indexing_the_same_files_again_changes_nothing_and_embeds_nothing(
    folder: CollectionFolder, model: EmbeddingModel, embeddings: CountingEmbeddings, write: Callable[..., Path]
) -> None:
    path = write(CATS, DOGS)
    first = index_files(folder, [path], model)
    before = {file: file.stat().st_mtime_ns for file in folder.index_path.rglob("*")}
    second = index_files(folder, [path], model)
    assert (first.papers, first.embedded, first.rebuilt) == (2, 2, True)
    assert (second.papers, second.embedded, second.rebuilt) == (2, 0, False)
    assert second.sources[0].unchanged == 2
    assert len(embeddings.texts) == 2
    assert {file: file.stat().st_mtime_ns for file in folder.index_path.rglob("*")} == before


def test_an_edited_abstract_is_one_paper_removed_and_one_added(
    folder: CollectionFolder, model: EmbeddingModel, embeddings: CountingEmbeddings, write: Callable[..., Path]
) -> None:
    index_files(folder, [write(CATS, DOGS)], model)
    (change,) = index_files(folder, [write(CATS, DOGS.replace("steps", "doorbells"))], model).sources
    assert (change.added, change.removed, change.unchanged) == (1, 1, 1)
    assert len(embeddings.texts) == 3
    texts = [paper.abstract for paper in Library(folder.library_path).papers()]
    assert len(texts) == 2
    assert not any("steps" in text for text in texts)
    assert labels_found(folder, model, "doorbells")[0] == "DogNet"


def test_a_changed_case_or_line_break_is_the_same_paper(
    folder: CollectionFolder, model: EmbeddingModel, write: Callable[..., Path]
) -> None:
    index_files(folder, [write(CATS)], model)
    (change,) = index_files(folder, [write(new := CATS.replace("at night", "at\nnight").upper())], model).sources
    assert (change.added, change.removed, change.changed) == (0, 0, 1)
    assert [paper.abstract for paper in Library(folder.library_path).papers()] == [new]


def test_a_title_that_is_added_is_a_change_of_the_same_paper(
    folder: CollectionFolder, model: EmbeddingModel, write: Callable[..., Path]
) -> None:
    index_files(folder, [write(CATS, DOGS)], model)
    ids = Library(folder.library_path).labels()
    report = index_files(folder, [write("ICML 2026 Papers", "CatSight: seeing cats", CATS, DOGS)], model)
    (change,) = report.sources
    assert (change.added, change.removed, change.changed, change.unchanged) == (0, 0, 2, 0)
    assert report.rebuilt
    first = Library(folder.library_path).papers()[0]
    assert (first.label, first.title, first.place) == ("CatSight", "CatSight: seeing cats", "ICML 2026")
    assert first.paper_id == ids["CatNet"]
    assert not index_files(folder, [write("ICML 2026 Papers", "CatSight: seeing cats", CATS, DOGS)], model).rebuilt


def test_files_that_differ_about_a_paper_do_not_take_turns(
    folder: CollectionFolder, model: EmbeddingModel, write: Callable[..., Path]
) -> None:
    files = [write("CatSight: seeing cats", CATS, name="a.txt"), write(CATS, name="b.txt")]
    index_files(folder, files, model)
    assert not index_files(folder, files, model).rebuilt
    assert [paper.label for paper in Library(folder.library_path).papers()] == ["CatSight"]


def test_a_paper_in_two_files_is_one_paper_until_it_is_in_neither(
    folder: CollectionFolder, model: EmbeddingModel, write: Callable[..., Path]
) -> None:
    index_files(folder, [write(CATS, DOGS, name="a.txt"), write(DOGS, name="b.txt")], model)
    assert len(Library(folder.library_path).papers()) == 2
    index_files(folder, [write(CATS, name="a.txt")], model)
    assert len(Library(folder.library_path).papers()) == 2
    report = index_files(folder, [write(BIRDS, name="b.txt")], model)
    assert {paper.label for paper in Library(folder.library_path).papers()} == {"CatNet", "BirdNet"}
    assert report.papers == 2


def test_a_record_that_stands_twice_in_a_file_is_counted_and_kept_once(
    folder: CollectionFolder, model: EmbeddingModel, write: Callable[..., Path]
) -> None:
    report = index_files(folder, [write(CATS, DOGS, CATS)], model)
    assert report.papers == 2
    assert report.sources[0].duplicates == (Duplicate(position=3, of=1),)


def record(abstract: str, position: int = 1, **known: object) -> PaperRecord:
    return PaperRecord(abstract=abstract, position=position, **known)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"doi": "10.1000/1"}, {"doi": "10.1000/1", "abstract": "Other words are here."}),
        (
            {"arxiv_id": "2401.00001"},
            {"arxiv_id": "2401.00001", "abstract": "Other words are here.", "doi": "10.1000/2"},
        ),
        ({"openreview_id": "abc"}, {"openreview_id": "abc", "title": "Cats"}),
        ({"doi": "10.1000/1"}, {"doi": "10.1000/2"}),
        ({"title": "Cats at night"}, {"title": "CATS at Night!", "abstract": CATS.replace("mice", "rats")}),
        ({"title": LONG, "year": 2024}, {"title": LONG, "abstract": None}),
    ],
)
def test_the_same_paper_from_two_sources_is_one_with_both(
    folder: CollectionFolder, model: EmbeddingModel, first: dict[str, str], second: dict[str, str | None]
) -> None:
    sources = [
        Source(path=f"/{name}", papers=(record(**{"abstract": CATS, **known, **_titled(known)}),))
        for name, known in (("a", first), ("b", second))
    ]
    for order in (sources, sources[::-1]):
        report = index_sources(folder, order, model)
        assert report.papers == 1
        assert len(Library(folder.library_path).papers()) == 1


def _titled(known: dict[str, str | None]) -> dict[str, str | None]:
    return {"abstract": known["title"]} if known.get("abstract", "") is None else {}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"doi": "10.1000/1", "title": "Cats at"}, {"doi": "10.1000/2", "title": "Cats at", "abstract": CATS + " So."}),
        ({"title": "Cats at night"}, {"title": "Cats at night", "abstract": DOGS}),
        ({"title": "Editorial", "abstract": "Editorial", "year": 2020}, {"title": "Editorial"}),
        ({"title": LONG, "year": 2020}, {"title": LONG, "abstract": None, "year": 2024}),
    ],
)
def test_papers_that_only_look_alike_stay_two(
    folder: CollectionFolder, model: EmbeddingModel, first: dict[str, str], second: dict[str, str | None]
) -> None:
    records = [
        record(**{"abstract": CATS, "position": at, **known, **_titled(known)})
        for at, known in enumerate((first, second), start=1)
    ]
    assert index_sources(folder, [Source(path="/a", papers=tuple(records))], model).papers == 2


def test_of_two_sources_the_first_has_the_say_and_the_other_fills_gaps_as_long_as_it_is_there(
    folder: CollectionFolder, model: EmbeddingModel, embeddings: CountingEmbeddings
) -> None:
    title_only = record("Seeing cats", title="Seeing cats", doi="10.1000/1", year=2024, urls=("https://a.org",))
    described = record(
        CATS, title="Of cats", doi="10.1000/1", authors=("Ada Byron",), year=2023, urls=("https://b.org",)
    )
    index_sources(folder, [Source(path="/a", papers=(title_only,)), Source(path="/b", papers=(described,))], model)
    (paper,) = Library(folder.library_path).papers()
    assert (paper.title, paper.year, paper.abstract, paper.authors) == ("Seeing cats", 2024, CATS, ("Ada Byron",))
    assert paper.urls == ("https://a.org", "https://b.org")
    assert f"Seeing cats. {CATS}" in embeddings.texts
    (change,) = index_sources(folder, [Source(path="/b", papers=(record(DOGS),))], model).sources
    assert (change.added, change.removed) == (1, 1)
    left = Library(folder.library_path).papers([paper.paper_id])[0]
    assert (left.abstract, left.is_title_only, left.authors) == ("Seeing cats", True, ())


def test_an_edited_abstract_of_a_paper_with_an_identifier_is_a_change(
    folder: CollectionFolder, model: EmbeddingModel
) -> None:
    index_sources(folder, [Source(path="/a", papers=(record(CATS, doi="10.1000/1"),))], model)
    (before,) = Library(folder.library_path).papers()
    edited = Source(path="/a", papers=(record(DOGS, doi="10.1000/1"),))
    (change,) = index_sources(folder, [edited], model).sources
    assert (change.added, change.removed, change.changed) == (0, 0, 1)
    (after,) = Library(folder.library_path).papers()
    assert (after.paper_id, after.abstract) == (before.paper_id, DOGS)
    other = Source(path="/b", papers=(record(CATS),))
    assert index_sources(folder, [other], model).papers == 2  # the old abstract is no longer that paper's
    assert index_sources(folder, [edited, other], model).rebuilt is False


def test_all_that_is_known_of_a_paper_is_kept(folder: CollectionFolder, model: EmbeddingModel) -> None:
    known = record(
        CATS, 7, title="Cats", authors=("Ada Byron",), venue="ICML", year=2026, urls=("https://a.org",),
        pdf_url="https://a.org/1.pdf", doi="10.1000/1", arxiv_id="2401.00001", openreview_id="abc", pubmed_id="7",
        keywords=("cats", "mice"), track="Oral", session="S1", room="Hall A", starts_at="2026-07-15T11:00:00-07:00",
    )  # fmt: skip
    index_sources(folder, [Source(path="/a", papers=(known,))], model)
    (paper,) = Library(folder.library_path).papers()
    assert {name: getattr(paper, name) for name in vars(known)} == vars(known)


def test_a_library_of_the_schema_before_is_taken_over(
    folder: CollectionFolder, model: EmbeddingModel, embeddings: CountingEmbeddings, write: Callable[..., Path]
) -> None:
    path = write("ICML 2026 Papers", "Seeing cats", CATS, DOGS)
    index_files(folder, [path], model)
    papers = Library(folder.library_path).papers()
    _downgrade(folder.library_path)
    assert Library(folder.library_path).papers() == papers
    report = index_files(folder, [path], model)
    assert (report.rebuilt, report.sources[0].unchanged, len(embeddings.texts)) == (False, 2, 2)
    assert labels_found(folder, model, "mice at night")[0] == "Seeing cats"


def _downgrade(path: Path) -> None:
    """To the tables of schema 1."""
    papers = Library(path).papers()
    connection = sqlite3.connect(path)
    connection.executescript(
        """
        DROP TABLE appearances; DROP TABLE identifiers; DROP TABLE papers;
        CREATE TABLE papers (
            paper_id TEXT PRIMARY KEY, label TEXT NOT NULL UNIQUE, abstract TEXT NOT NULL, title TEXT,
            authors TEXT NOT NULL, venue TEXT, year INTEGER, urls TEXT NOT NULL
        );
        CREATE TABLE identifiers (
            scheme TEXT NOT NULL, value TEXT NOT NULL, paper_id TEXT NOT NULL REFERENCES papers ON DELETE CASCADE,
            PRIMARY KEY (scheme, value)
        );
        CREATE TABLE appearances (
            source TEXT NOT NULL, position INTEGER NOT NULL, paper_id TEXT NOT NULL REFERENCES papers ON DELETE CASCADE,
            PRIMARY KEY (source, paper_id)
        );
        CREATE INDEX appearances_of_paper ON appearances (paper_id);
        PRAGMA user_version = 1;
        """
    )
    for paper in papers:
        row = (paper.paper_id, paper.label, paper.abstract, paper.title, "[]", paper.venue, paper.year, "[]")
        connection.execute("INSERT INTO papers VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        connection.execute("INSERT INTO appearances VALUES (?, ?, ?)", (paper.source, paper.position, paper.paper_id))
    connection.commit()
    connection.close()


def test_of_several_files_those_that_cannot_be_read_are_told_and_the_others_indexed(
    folder: CollectionFolder, model: EmbeddingModel, write: Callable[..., Path]
) -> None:
    (bad := write(CATS, name="b.json")).write_text('{"title": "Cut sh')
    report = index_files(folder, [write(CATS, name="a.txt"), bad], model)
    assert (report.papers, [Path(file.path).name for file in report.unread]) == (1, ["b.json"])
    with pytest.raises(SourceError, match="not valid JSON"):
        index_files(folder, [bad], model)
    with pytest.raises(SourceError, match="not valid JSON"):
        index_files(folder, [write(DOGS, name="a.txt"), bad], model, rules=ReadingRules(strict=True))
    assert [paper.label for paper in Library(folder.library_path).papers()] == ["CatNet"]


def test_an_empty_file_removes_nothing_unless_it_is_forced(
    folder: CollectionFolder, model: EmbeddingModel, write: Callable[..., Path]
) -> None:
    index_files(folder, [write(CATS, name="a.txt"), write(DOGS, name="b.txt")], model)
    empty = write("", name="a.txt")
    with pytest.raises(SourceError, match="holds no paper"):
        index_files(folder, [empty], model)
    assert len(Library(folder.library_path).papers()) == 2
    report = index_files(folder, [empty], model, rules=ReadingRules(allow_empty=True))
    assert (report.papers, report.sources[0].removed) == (1, 1)


def test_a_strict_reading_stops_at_the_first_record_that_is_none(
    folder: CollectionFolder, model: EmbeddingModel, write: Callable[..., Path]
) -> None:
    (path := write(CATS, name="a.jsonl")).write_text('{"title": "A", "abstract": "We see."}\n{"x": 1}\n{"y": 2}\n')
    with pytest.raises(SourceError, match="record 2, line 2"):
        index_files(folder, [path], model, rules=ReadingRules(strict=True))
    report = index_files(folder, [path], model)
    assert (report.papers, report.sources[0].read, len(report.sources[0].skipped)) == (1, 3, 2)


def test_papers_of_one_label_are_told_apart(
    folder: CollectionFolder, model: EmbeddingModel, write: Callable[..., Path]
) -> None:
    index_files(folder, [write(CATS, CATS.replace("mice", "rats"))], model)
    assert [paper.label for paper in Library(folder.library_path).papers()] == ["CatNet", "CatNet (2)"]


def test_a_paper_keeps_its_id_when_others_come_and_go(
    folder: CollectionFolder, model: EmbeddingModel, write: Callable[..., Path]
) -> None:
    index_files(folder, [write(CATS, DOGS)], model)
    ids = Library(folder.library_path).labels()
    index_files(folder, [write(BIRDS, DOGS)], model)
    assert Library(folder.library_path).labels()["DogNet"] == ids["DogNet"]


def test_the_index_is_rebuilt_from_the_library_without_embedding(
    folder: CollectionFolder, model: EmbeddingModel, embeddings: CountingEmbeddings, write: Callable[..., Path]
) -> None:
    write(CATS, DOGS).rename(path := write(CATS, DOGS, name="gone.txt"))
    index_files(folder, [path], model)
    path.unlink()
    shutil.rmtree(folder.index_path)
    with pytest.raises(CollectionDamaged) as caught:
        CollectionReader(folder, model)
    assert folder.rebuild_command in caught.value.hint
    report = rebuild_index(folder, model)
    assert (report.papers, report.embedded, report.rebuilt) == (2, 0, True)
    assert labels_found(folder, model, "mice at night")[0] == "CatNet"


def test_an_index_built_by_another_model_is_refused_with_the_command_that_rebuilds(
    folder: CollectionFolder, model: EmbeddingModel, write: Callable[..., Path]
) -> None:
    path = write(CATS)
    index_files(folder, [path], model)
    other = EmbeddingModel("fake:other", "2", CountingEmbeddings())
    for use in (lambda: CollectionReader(folder, other), lambda: index_files(folder, [path], other)):
        with pytest.raises(FingerprintMismatch) as caught:
            use()
        assert "fake:words" in caught.value.message
        assert "fake:other" in caught.value.message
        assert "assistant index --rebuild --collection animals" in caught.value.hint
    assert rebuild_index(folder, other).embedded == 1
    CollectionReader(folder, other)


@pytest.mark.parametrize(
    "broken",
    [
        "chroma.sqlite3",
        "index_metadata.pickle",
        "header.bin",
        "chunk_ids.json",
        "data.csc.index.npy",
        "facets.sqlite",
        "vectors.npy",
        "vocabulary.json",
    ],
)
def test_a_broken_index_file_is_an_error_that_says_how_to_mend(
    folder: CollectionFolder, model: EmbeddingModel, write: Callable[..., Path], broken: str
) -> None:
    # Chroma writes its vectors to files of their own from a thousand on.
    index_files(folder, [write(CATS, *[f"Animal {row} moves. We propose Net{row}X." for row in range(1100)])], model)
    (file,) = folder.index_path.rglob(broken)
    file.write_bytes(b"rubbish" * 20)
    code = (
        "import sys; from pathlib import Path; from tests.test_indexing import *;"
        "m = EmbeddingModel('fake:words', '1', CountingEmbeddings());"
        f"f = CollectionFolder(Path({str(folder.data_dir)!r}), 'animals');"
        "r = Retriever(CollectionReader(f, m), m); r.search(r.respelled('cats'), 3)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert "CollectionDamaged" in done.stderr.splitlines()[-1]
    assert rebuild_index(folder, model).embedded == 0
    assert labels_found(folder, model, "What is CatNet?")[0] == "CatNet"


def test_a_file_that_is_no_library_is_an_error_and_is_left_as_it_is(
    folder: CollectionFolder, model: EmbeddingModel, write: Callable[..., Path]
) -> None:
    folder.path.mkdir(parents=True)
    folder.library_path.write_bytes(b"this is no database at all, only text" * 100)
    for use in (lambda: CollectionReader(folder, model), lambda: index_files(folder, [write(CATS)], model)):
        with pytest.raises(CollectionDamaged):
            use()
    assert folder.library_path.read_bytes().startswith(b"this is no database")


def test_a_library_of_another_schema_is_refused(
    folder: CollectionFolder, model: EmbeddingModel, write: Callable[..., Path]
) -> None:
    index_files(folder, [write(CATS)], model)
    with sqlite3.connect(folder.library_path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(CollectionDamaged, match="schema 99"):
        CollectionReader(folder, model)


def test_a_failure_while_the_index_is_built_leaves_papers_and_index_as_they_were(
    folder: CollectionFolder, model: EmbeddingModel, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    index_files(folder, [write(CATS)], model)
    reader = CollectionReader(folder, model)

    def full_disk(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(vectorstore.folder, "build_keywords", full_disk)
        with pytest.raises(CollectionError):
            index_files(folder, [write(CATS, DOGS)], model)
    assert [paper.label for paper in Library(folder.library_path).papers()] == ["CatNet"]
    assert list(reader.current().labels) == ["CatNet"]
    assert index_files(folder, [write(CATS, DOGS)], model).papers == 2
    assert len(list(folder.index_path.iterdir())) <= 2


def test_a_full_disk_is_an_error_and_loses_nothing(
    folder: CollectionFolder, model: EmbeddingModel, write: Callable[..., Path]
) -> None:
    """Files that may not grow are, for a program, a disk that is full."""
    index_files(folder, [write(CATS)], model)
    path = write(CATS, *[f"Animal {row} does things. We propose Net{row}X, number {row}." for row in range(1500)])
    code = (
        "import resource; from tests.test_indexing import *;"
        f"f = CollectionFolder(Path({str(folder.data_dir)!r}), 'animals');"
        "m = EmbeddingModel('fake:words', '1', CountingEmbeddings());"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (limit := int(sys.argv[1]), limit));"
        f"index_files(f, [Path({str(path)!r})], m)"
    )
    for limit in (20_000, 300_000, 1_500_000):
        command = [sys.executable, "-c", code, str(limit)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
        assert "vectorstore.errors.CollectionError" in done.stderr.splitlines()[-1], (limit, done.stderr[-500:])
        assert labels_found(folder, model, "mice at night") == ["CatNet"]
    assert index_files(folder, [path], model).papers == 1501


def test_a_reader_notices_a_new_index_and_reopens(
    folder: CollectionFolder, model: EmbeddingModel, write: Callable[..., Path]
) -> None:
    index_files(folder, [write(CATS)], model)
    retriever = Retriever(CollectionReader(folder, model), model)
    assert [p.paper.label for p in retriever.search("songs at dawn", 5)] == ["CatNet"]
    for extra in (DOGS, BIRDS):
        index_files(folder, [write(CATS, extra)], model)
    assert [p.paper.label for p in retriever.search("each song at dawn", 1)] == ["BirdNet"]


def test_a_second_writer_is_turned_away_with_the_first_one_s_process_id(
    folder: CollectionFolder, model: EmbeddingModel, write: Callable[..., Path]
) -> None:
    code = (
        "import time; from pathlib import Path; from vectorstore.folder import CollectionFolder;"
        f"f = CollectionFolder(Path({str(folder.data_dir)!r}), 'animals')\n"
        "with f.writing(): print('locked', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "locked\n"
        with pytest.raises(CollectionBusy, match=str(holder.pid)):
            index_files(folder, [write(CATS)], model)
    finally:
        holder.kill()
        holder.communicate()
    assert index_files(folder, [write(CATS)], model).papers == 1


def test_a_writer_that_is_killed_at_any_time_leaves_a_collection_that_can_be_used(
    folder: CollectionFolder, model: EmbeddingModel, write: Callable[..., Path]
) -> None:
    index_files(folder, [write(CATS)], model)
    path = write(CATS, *[f"Animal {row} does things. We propose Net{row}X, number {row}." for row in range(40)])
    code = (
        "from tests.test_indexing import *;"
        f"f = CollectionFolder(Path({str(folder.data_dir)!r}), 'animals');"
        "m = EmbeddingModel('fake:words', '1', CountingEmbeddings());"
        f"print('go', flush=True); index_files(f, [Path({str(path)!r})], m)"
    )
    for delay in (0.0, 0.15, 0.3, 0.45):
        writer = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(delay)
        os.kill(writer.pid, signal.SIGKILL)
        writer.communicate()
        found = len(CollectionReader(folder, model).current().labels)
        assert found in (1, 41)
        assert labels_found(folder, model, "mice at night")[0] == "CatNet"
    assert index_files(folder, [path], model).papers == 41


def test_every_chunk_is_found_by_its_own_vector_after_many_updates(
    folder: CollectionFolder, model: EmbeddingModel, embeddings: CountingEmbeddings, write: Callable[..., Path]
) -> None:
    for turn in range(3):
        abstracts = [
            f"Topic {(row * 7 + turn) % 90} meets method {row}. We propose Sys{row}V{turn}." for row in range(80)
        ]
        index_files(folder, [write(*abstracts)], model)
    collection = CollectionReader(folder, model).current()
    vectors = collection.library.vectors(model.key, [paper.abstract for paper in collection.library.papers()])
    for paper in collection.library.papers():
        nearest = collection.store.nearest(vectors[paper.abstract], 3)
        assert any(chunk_id.startswith(paper.paper_id) for chunk_id in nearest)


@pytest.mark.parametrize("name", ["", "A", "a b", "../x", "a/b", ".hidden", "x" * 64])
def test_a_name_that_could_leave_its_folder_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(CollectionError, match="cannot be the name"):
        CollectionFolder(tmp_path, name)


def test_a_collection_that_is_not_there_is_an_error(folder: CollectionFolder, model: EmbeddingModel) -> None:
    with pytest.raises(CollectionMissing) as caught:
        CollectionReader(folder, model)
    assert "assistant index" in caught.value.hint
    with pytest.raises(CollectionMissing):
        rebuild_index(folder, model)
