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
)
from vectorstore.folder import CollectionFolder
from vectorstore.indexing import index_files, rebuild_index
from vectorstore.library import Library
from vectorstore.retrieval import Retriever

ROOT = Path(__file__).parents[1]
CATS = "Cats chase mice at night. We propose CatNet, which sees in the dark."
DOGS = "Dogs guard houses by day. We propose DogNet, which hears steps."
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
    (change,) = index_files(folder, [write(CATS.replace("at night", "at\nnight").upper())], model).sources
    assert (change.added, change.removed, change.unchanged) == (0, 0, 1)


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
    assert report.sources[0].duplicates == 1


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
