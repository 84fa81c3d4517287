"""Collections on a Chroma server, with the real `chroma run`: one machine indexes, others read.

A "machine" is a data folder of its own.
"""

import json
import logging
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import chromadb.api.client
import chromadb.utils.embedding_functions
import pytest
from langchain_core.embeddings import Embeddings

import vectorstore.copying
import vectorstore.server
from assistant import Assistant, build_assistant
from assistant.settings import load_settings
from tests.chroma_server import RunningChroma, running_chroma, silent_server, token_proxy, web_page
from tests.fakes import word_vector
from tests.test_cli import run
from vectorstore.collection import CollectionReader
from vectorstore.embedding import EmbeddingModel
from vectorstore.errors import (
    CollectionDamaged,
    CollectionElsewhere,
    CollectionMissing,
    FingerprintMismatch,
    ServerUnavailable,
    UserFacingError,
)
from vectorstore.filters import PaperFilter
from vectorstore.folder import CollectionFolder
from vectorstore.indexing import index_files, rebuild_index
from vectorstore.library import Library
from vectorstore.retrieval import Retriever
from vectorstore.server import ChromaServer, Published, checked_url
from vectorstore.types import PublishedIndex

ROOT = Path(__file__).parents[1]
CATS = "Cats chase mice at night. We propose CatNet, which sees in the dark."
DOGS = "Dogs guard houses by day. We propose DogNet, which hears steps."
BIRDS = "Birds sing at dawn. We propose BirdNet, which knows each song."
TOKEN = "canary-71c2"
WITH_CODE = PaperFilter(with_code=True)
QUESTIONS = (
    "Can I fit a 70B model on a 24GB card?",
    "diffusion language models",
    "What is LiftQuant?",
    "Welche Proteine?",
)


class Words(Embeddings):
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [word_vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return word_vector(text)


MODEL = EmbeddingModel("fake:words", "1", Words())


@pytest.fixture(scope="module")
def chroma(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningChroma]:
    with running_chroma(tmp_path_factory.mktemp("chroma") / "data") as server:
        yield server


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers ask the server at every turn and wait for what is new, so that no test depends on the clock."""
    monkeypatch.setattr(vectorstore.copying, "_ASK_AGAIN_SECONDS", 0.0)
    monkeypatch.setattr(vectorstore.copying, "_PATIENCE_SECONDS", 60.0)


@pytest.fixture
def machine(chroma: RunningChroma, tmp_path: Path) -> Callable[[str], CollectionFolder]:
    """The same collection, new on the server for each test, as one machine or another has it."""
    name = f"animals-{uuid.uuid4().hex[:8]}"
    return lambda of: CollectionFolder(tmp_path / of, name, ChromaServer(chroma.url))


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write(*abstracts: str) -> Path:
        path = tmp_path / "papers.txt"
        path.write_text("\n\n".join(abstracts), encoding="utf-8")
        return path

    return write


def labels_found(reader: CollectionReader, question: str = "animals") -> set[str]:
    return {passage.paper.label for passage in Retriever(reader, MODEL).search(question, 10)}


def on_server(folder: CollectionFolder) -> list[str]:
    assert folder.server
    return sorted(c.name for c in folder.server.client().list_collections() if folder.name in c.name)


def answers(of: Assistant) -> list[Any]:
    plain = [of.ask(question).to_dict() for question in QUESTIONS]
    for answer in plain:
        del answer["timings_ms"]
        for passage in answer["passages"]:
            passage["similarity"] = pytest.approx(passage["similarity"], abs=1e-5)
    return plain


def test_a_server_works_at_once_and_gives_the_answers_of_the_embedded_store_on_every_machine(
    chroma: RunningChroma, assistant: Assistant, data_dir: Path, tmp_path: Path
) -> None:
    first = build_assistant(data_dir=data_dir, chroma_url=chroma.url)
    second = build_assistant(data_dir=tmp_path / "second", chroma_url=chroma.url)
    expected = answers(assistant)
    assert answers(first) == expected
    assert answers(second) == expected
    assert first.papers() == second.papers() == assistant.papers()
    ids = [[(p.paper.paper_id, p.span) for p in of.search("protein design", 30)] for of in (assistant, first, second)]
    assert ids[0] == ids[1] == ids[2]
    filtered = [[p.paper for p in of.search("learning", within=WITH_CODE)] for of in (assistant, first, second)]
    assert filtered[0] == filtered[1] == filtered[2] != []
    assert not (tmp_path / "second" / "collections").exists()


def test_a_copy_is_made_once_and_then_read(
    machine: Callable[[str], CollectionFolder], write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    index_files(machine("a"), [write(CATS, DOGS)], MODEL)
    seen: list[str] = []
    CollectionReader(machine("b"), MODEL, progress=lambda what, done, total: seen.append(f"{what} {done}/{total}"))
    assert seen == ["fetching papers 2/2", "fetching vectors 2/2"]
    monkeypatch.setattr(vectorstore.copying, "_carried_papers", None)
    assert labels_found(CollectionReader(machine("b"), MODEL)) == {"CatNet", "DogNet"}


def test_assistants_that_start_together_on_one_machine_share_its_copy(
    machine: Callable[[str], CollectionFolder], write: Callable[..., Path]
) -> None:
    index_files(machine("a"), [write(CATS, DOGS)], MODEL)
    with ThreadPoolExecutor(4) as pool:
        readers = list(pool.map(lambda _: CollectionReader(machine("b"), MODEL), range(4)))
    assert all(labels_found(reader) == {"CatNet", "DogNet"} for reader in readers)
    assert len(list(machine("b").copy().index_path.iterdir())) == 1


def test_readers_on_other_machines_notice_a_new_index_and_fetch_only_what_is_new(
    machine: Callable[[str], CollectionFolder], write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = machine("a")
    index_files(writer, [write(CATS)], MODEL)
    readers = [CollectionReader(machine(of), MODEL) for of in ("a", "b", "c")]
    kept: list[int] = []
    keep = Library.keep_vectors
    monkeypatch.setattr(Library, "keep_vectors", lambda *a: (kept.append(len(a[2])), keep(*a))[1])
    for abstracts in ((CATS, DOGS), (CATS, DOGS, BIRDS)):
        index_files(writer, [write(*abstracts)], MODEL)
        for reader in readers:
            assert len(reader.current().labels) == len(abstracts)
            assert len(labels_found(reader)) == len(abstracts)
    assert kept == [1] * 6  # each time one on the writer's machine and one on each of the two others
    assert len(on_server(writer)) == 3  # the index, the one before, and the pointer
    copies = [Library(machine(of).copy().library_path).papers() for of in ("b", "c")]
    assert copies == [Library(writer.library_path).papers()] * 2


def test_a_long_copy_does_not_hold_up_questions(
    machine: Callable[[str], CollectionFolder], write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    index_files(machine("a"), [write(CATS)], MODEL)
    reader = CollectionReader(machine("b"), MODEL)
    index_files(machine("a"), [write(CATS, DOGS)], MODEL)
    monkeypatch.setattr(vectorstore.copying, "_PATIENCE_SECONDS", 0.0)
    copy = machine("b").copy()
    with copy.writing():  # as a process does that is busy copying
        assert labels_found(reader) == {"CatNet"}
    until = time.monotonic() + 30
    while labels_found(reader) != {"CatNet", "DogNet"}:
        assert time.monotonic() < until


def test_a_copy_refuses_to_be_written_to(
    machine: Callable[[str], CollectionFolder], write: Callable[..., Path]
) -> None:
    index_files(machine("a"), [write(CATS)], MODEL)
    reader = CollectionReader(machine("b"), MODEL)
    before = on_server(machine("a"))
    for use in (lambda: index_files(machine("b"), [write(DOGS)], MODEL), lambda: rebuild_index(machine("b"), MODEL)):
        with pytest.raises(CollectionElsewhere, match="another machine") as caught:
            use()
        assert "Index there" in caught.value.hint
    assert labels_found(reader) == {"CatNet"}
    assert on_server(machine("a")) == before
    assert not machine("b").exists()


def test_a_library_of_one_s_own_is_left_alone_by_a_server_that_has_another_of_that_name(
    machine: Callable[[str], CollectionFolder], write: Callable[..., Path]
) -> None:
    mine = CollectionFolder(machine("b").data_dir, machine("b").name)
    index_files(mine, [write(DOGS)], MODEL)
    index_files(machine("a"), [write(CATS)], MODEL)
    assert labels_found(CollectionReader(machine("b"), MODEL)) == {"CatNet"}
    with pytest.raises(CollectionElsewhere):
        index_files(machine("b"), [write(DOGS)], MODEL)
    assert labels_found(CollectionReader(mine, MODEL)) == {"DogNet"}


def test_a_collection_moves_to_a_server_without_embedding_anything(
    machine: Callable[[str], CollectionFolder], write: Callable[..., Path]
) -> None:
    folder = CollectionFolder(machine("a").data_dir, machine("a").name)
    path = write(CATS, DOGS)
    index_files(folder, [path], MODEL)
    with pytest.raises(CollectionDamaged, match="is missing") as caught:
        CollectionReader(machine("a"), MODEL)
    assert folder.rebuild_command in caught.value.hint
    report = index_files(machine("a"), [path], MODEL)
    assert (report.embedded, report.rebuilt, report.sources[0].unchanged) == (0, True, 2)
    for of in ("a", "b"):
        assert labels_found(CollectionReader(machine(of), MODEL)) == {"CatNet", "DogNet"}
    assert not index_files(machine("a"), [path], MODEL).rebuilt
    assert rebuild_index(folder, MODEL).embedded == 0  # and back
    assert labels_found(CollectionReader(folder, MODEL)) == {"CatNet", "DogNet"}


def test_a_copy_can_take_the_place_of_a_library_that_is_lost(
    machine: Callable[[str], CollectionFolder], write: Callable[..., Path]
) -> None:
    index_files(machine("a"), [write(CATS, DOGS)], MODEL)
    original = Library(machine("a").library_path).papers()
    copy = machine("b").copy()
    reader = CollectionReader(machine("c"), MODEL)
    CollectionReader(machine("b"), MODEL)
    shutil.rmtree(machine("a").data_dir)
    machine("b").path.parent.mkdir()
    copy.path.rename(machine("b").path)
    assert copy.server
    copy.server.client().delete_collection(f"abstract-assistant.{copy.name}.published")
    report = rebuild_index(machine("b"), MODEL)
    assert (report.papers, report.embedded) == (2, 0)
    assert Library(machine("b").library_path).papers() == original
    index_files(machine("b"), [write(CATS, DOGS, BIRDS)], MODEL)
    assert labels_found(reader) == {"CatNet", "DogNet", "BirdNet"}


def test_two_machines_that_make_the_built_in_collection_at_once_end_with_one(
    chroma: RunningChroma, built_in_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_chroma(tmp_path / "fresh") as server:
        publish = ChromaServer.publish

        def while_another_is_quicker(self: ChromaServer, name: str, published: Published) -> None:
            monkeypatch.setattr(ChromaServer, "publish", publish)
            build_assistant(data_dir=shutil.copytree(built_in_data, tmp_path / "quicker"), chroma_url=server.url)
            publish(self, name, published)

        monkeypatch.setattr(ChromaServer, "publish", while_another_is_quicker)
        slower = build_assistant(data_dir=shutil.copytree(built_in_data, tmp_path / "slower"), chroma_url=server.url)
        assert len(slower.papers()) == 34
        assert (tmp_path / "slower" / "copies" / "icml2026").exists()


def test_a_crash_before_readers_were_told_is_mended_by_the_next_run(
    machine: Callable[[str], CollectionFolder], write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    index_files(machine("a"), [write(CATS)], MODEL)
    reader = CollectionReader(machine("b"), MODEL)

    def crash(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ChromaServer, "publish", crash)
        with pytest.raises(KeyboardInterrupt):
            index_files(machine("a"), [path := write(CATS, DOGS)], MODEL)
    assert labels_found(reader) == {"CatNet"}
    assert labels_found(CollectionReader(machine("a"), MODEL)) == {"CatNet", "DogNet"}
    assert not index_files(machine("a"), [path], MODEL).rebuilt
    assert labels_found(reader) == {"CatNet", "DogNet"}


def test_a_writer_that_is_killed_at_any_time_leaves_readers_with_the_old_or_the_new(
    machine: Callable[[str], CollectionFolder], write: Callable[..., Path]
) -> None:
    writer = machine("a")
    index_files(writer, [write(CATS)], MODEL)
    reader = CollectionReader(machine("b"), MODEL)
    path = write(CATS, *[f"Animal {row} does things. We propose Net{row}X, number {row}." for row in range(600)])
    assert writer.server
    code = (
        "from tests.test_server import *;"
        f"f = CollectionFolder(Path({str(writer.data_dir)!r}), {writer.name!r}, ChromaServer({writer.server.url!r}));"
        f"print('go', flush=True); index_files(f, [Path({str(path)!r})], MODEL)"
    )
    for delay in (0.3, 1.0):
        killed = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert killed.stdout is not None
        killed.stdout.readline()
        time.sleep(delay)
        killed.kill()
        killed.communicate()
        assert len(reader.current().labels) in (1, 601)
        assert "CatNet" in labels_found(reader, "mice at night")
    assert index_files(writer, [path], MODEL).papers == 601
    assert len(reader.current().labels) == 601
    assert len(on_server(writer)) <= 3


def test_a_killed_server_loses_nothing_and_readers_go_on_when_it_is_back(
    chroma: RunningChroma, machine: Callable[[str], CollectionFolder], write: Callable[..., Path]
) -> None:
    index_files(machine("a"), [write(CATS, DOGS)], MODEL)
    readers = [CollectionReader(machine(of), MODEL) for of in ("a", "b")]
    chroma.stop(signal.SIGKILL)
    try:
        for reader in readers:
            with pytest.raises(ServerUnavailable, match="cannot be reached") as caught:
                labels_found(reader)
            assert chroma.url in caught.value.message
            assert "chroma run" in caught.value.hint
        with pytest.raises(ServerUnavailable):
            index_files(machine("a"), [write(CATS, DOGS, BIRDS)], MODEL)
    finally:
        chroma.start()
    for reader in readers:
        assert labels_found(reader) == {"CatNet", "DogNet"}
    index_files(machine("a"), [write(CATS, DOGS, BIRDS)], MODEL)
    for reader in readers:
        assert labels_found(reader) == {"CatNet", "DogNet", "BirdNet"}


def test_a_server_that_fails_while_it_is_written_to_leaves_everything_as_it_was(
    chroma: RunningChroma, machine: Callable[[str], CollectionFolder], write: Callable[..., Path]
) -> None:
    writer = machine("a")
    index_files(writer, [write(CATS)], MODEL)
    stopped: list[int] = []

    def stop_the_server(what: str, done: int, total: int) -> None:
        if what == "indexing" and not stopped:
            stopped.append(done)
            chroma.stop(signal.SIGKILL)

    path = write(CATS, *[f"Animal {row} does things. We propose Net{row}X, number {row}." for row in range(600)])
    try:
        with pytest.raises(ServerUnavailable):
            index_files(writer, [path], MODEL, progress=stop_the_server)
    finally:
        chroma.start()
    assert stopped == [500]
    assert labels_found(CollectionReader(writer, MODEL)) == {"CatNet"}
    assert labels_found(CollectionReader(machine("b"), MODEL)) == {"CatNet"}
    assert index_files(writer, [path], MODEL).papers == 601
    assert len(on_server(writer)) == 3


def test_without_its_server_a_command_ends_with_two_lines_and_exit_code_1(tmp_path: Path) -> None:
    environment = {"CHROMA_URL": "http://127.0.0.1:9", "ASSISTANT_DATA_DIR": str(tmp_path / "data")}
    done = run("ask", "What is LiftQuant?", **environment)
    assert (done.returncode, done.stdout) == (1, "")
    first, hint = done.stderr.splitlines()
    assert first == "Error: The Chroma server http://127.0.0.1:9 cannot be reached (ConnectError)."
    assert "CHROMA_URL" in hint
    as_json = run("papers", "--json", **environment)
    assert as_json.returncode == 1
    assert "cannot be reached" in json.loads(as_json.stdout)["error"]["message"]
    assert "BROKEN  chroma server" in run("doctor", **environment).stdout


def test_the_doctor_says_where_the_index_is(chroma: RunningChroma, tmp_path: Path) -> None:
    for of in ("a", "b"):
        done = run("doctor", CHROMA_URL=chroma.url, ASSISTANT_DATA_DIR=str(tmp_path / of))
        assert done.returncode == 0, done.stdout
        assert f"ok      chroma server: {chroma.url} answers" in done.stdout
        assert f"on {chroma.url}" in done.stdout
    assert f"the copy is in {tmp_path / 'b' / 'copies' / 'icml2026'}" in done.stdout


def test_a_server_that_is_none_or_says_nothing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectorstore.server, "_CONNECT_SECONDS", 0.5)
    with web_page() as url, pytest.raises(ServerUnavailable, match="does not answer as Chroma does"):
        ChromaServer(url).published("animals")
    with silent_server() as url, pytest.raises(ServerUnavailable, match="did not answer within"):
        ChromaServer(url).published("animals")


def test_a_server_that_falls_silent_is_an_error(
    chroma: RunningChroma, machine: Callable[[str], CollectionFolder], write: Callable[..., Path]
) -> None:
    index_files(machine("a"), [write(CATS)], MODEL)
    server = ChromaServer(chroma.url, "one more client")
    client: Any = server.client()
    assert client._server._session.timeout.read == 60
    client._server._session.timeout = 0.5
    chroma.pause()
    try:
        with pytest.raises(ServerUnavailable, match="did not answer"):
            server.published(machine("a").name)
    finally:
        chroma.go_on()
    assert server.published(machine("a").name)


def test_a_proxy_is_shown_the_token_and_nobody_else_is(
    chroma: RunningChroma,
    machine: Callable[[str], CollectionFolder],
    write: Callable[..., Path],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    shown: list[str] = []
    with token_proxy(chroma.url, TOKEN) as url:
        for of in ("a", "b"):
            folder = CollectionFolder(machine(of).data_dir, machine(of).name, ChromaServer(url, TOKEN))
            if of == "a":
                index_files(folder, [write(CATS)], MODEL)
            assert labels_found(CollectionReader(folder, MODEL)) == {"CatNet"}
            shown += [repr(folder), str(folder.place("1"))]
        for token in (None, f"{TOKEN}-wrong", f"{TOKEN}\n", f"{TOKEN}é"):
            with pytest.raises(ServerUnavailable) as caught:
                ChromaServer(url, token).published(machine("a").name)
            shown += [str(caught.value), caught.value.hint, repr(caught.value.__cause__)]
    assert "".join(shown).count("CHROMA_TOKEN") == 4
    assert "canary" not in "".join(shown) + caplog.text


@pytest.mark.parametrize(
    "url",
    [
        "http://me:canary@host:8000",
        "https://canary@host",
        "http://host:canary",
        "http://me:can/ary@host",
        "http://[canary",
        "host:8000",
        "ftp://canary",
        "http://",
        "http://host/?token=canary",
    ],
)
def test_an_address_with_a_password_or_none_is_refused_and_not_shown(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="CHROMA_TOKEN") as caught:
        checked_url(url)
    monkeypatch.setenv("CHROMA_URL", url)
    with pytest.raises(UserFacingError) as told:
        load_settings()
    assert "CHROMA_URL" in told.value.message
    assert "canary" not in f"{caught.value} {told.value} {told.value.hint}"


def test_a_token_is_in_no_text_of_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHROMA_URL", "https://papers.example/chroma/")
    monkeypatch.setenv("CHROMA_TOKEN", TOKEN)
    settings = load_settings()
    assert settings.chroma_url == "https://papers.example/chroma"
    assert settings.chroma_token
    assert settings.chroma_token.get_secret_value() == TOKEN
    assert "canary" not in f"{settings!r} {settings} {settings.model_dump()}"


def test_an_index_of_another_model_is_refused_before_anything_is_copied(
    machine: Callable[[str], CollectionFolder], write: Callable[..., Path]
) -> None:
    index_files(machine("a"), [write(CATS)], MODEL)
    other = EmbeddingModel("fake:other", "2", Words())
    with pytest.raises(FingerprintMismatch, match="fake:words") as caught:
        CollectionReader(machine("b"), other)
    assert "on the machine that indexes it" in caught.value.hint
    assert not machine("b").copy().exists()


def test_an_index_that_is_not_whole_is_refused(
    machine: Callable[[str], CollectionFolder], write: Callable[..., Path]
) -> None:
    writer = machine("a")
    index_files(writer, [write(CATS, DOGS)], MODEL)
    assert writer.server
    client = writer.server.client()
    index = client.get_collection(on_server(writer)[0], embedding_function=None)
    index.delete(ids=index.get(limit=1)["ids"])
    for of in ("a", "b"):
        with pytest.raises(CollectionDamaged, match=r"1 chunks instead of 2|not whole") as caught:
            CollectionReader(machine(of), MODEL)
        assert writer.rebuild_command in caught.value.hint
    client.delete_collection(index.name)
    for of in ("a", "b"):
        with pytest.raises(CollectionDamaged):
            CollectionReader(machine(of), MODEL)
    assert rebuild_index(writer, MODEL).embedded == 0
    assert labels_found(CollectionReader(machine("b"), MODEL)) == {"CatNet", "DogNet"}


@pytest.mark.parametrize("folder", ["../../../outside", "000001-0123456", ""])
def test_what_a_server_says_cannot_lead_out_of_the_folder(
    machine: Callable[[str], CollectionFolder], write: Callable[..., Path], folder: str
) -> None:
    writer = machine("a")
    index_files(writer, [write(CATS)], MODEL)
    assert writer.server
    published = writer.server.published(writer.name)
    assert published
    forged = Published(published.library, PublishedIndex(2, folder, 1, published.index.fingerprint))
    writer.server.publish(writer.name, forged)
    with pytest.raises(CollectionDamaged, match="cannot be read") as caught:
        CollectionReader(machine("b"), MODEL)
    assert not machine("b").path.exists()
    pointer = on_server(writer)[-1]
    assert f"collection {pointer}," in caught.value.hint
    writer.server.client().delete_collection(pointer)
    rebuild_index(writer, MODEL)
    assert labels_found(CollectionReader(machine("b"), MODEL)) == {"CatNet"}


def test_no_command_builds_the_embedding_function_that_a_poisoned_collection_asks_for(
    machine: Callable[[str], CollectionFolder], write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[object] = []
    known = chromadb.utils.embedding_functions.known_embedding_functions
    trap = type("Trap", (), {"build_from_config": staticmethod(built.append), "__init__": built.append})
    monkeypatch.setitem(known, "sentence_transformer", trap)
    poison = {
        "type": "known",
        "name": "sentence_transformer",
        "config": {"model_name": "evil/evil", "device": "cpu", "normalize_embeddings": False, "kwargs": {}},
    }
    server = machine("a").server
    assert server
    address = f"{server.url}/api/v2/tenants/default_tenant/databases/default_database/collections"

    def create(
        self: Any, name: str, *, embedding_function: None, configuration: Any = None, metadata: Any = None
    ) -> Any:
        body = {
            "name": name,
            "metadata": metadata,
            "configuration": {**(configuration or {}), "embedding_function": poison},
        }
        request = urllib.request.Request(address, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as reply:
            assert reply.status == 200
        return self.get_collection(name, embedding_function=embedding_function)

    monkeypatch.setattr(chromadb.api.client.Client, "create_collection", create)
    for abstracts in ((CATS,), (CATS, DOGS), (DOGS, BIRDS)):
        index_files(machine("a"), [write(*abstracts)], MODEL)
        for of in ("a", "b"):
            assert len(labels_found(CollectionReader(machine(of), MODEL))) == len(abstracts)
    configuration = server.client().get_collection(on_server(machine("a"))[0], embedding_function=None)._model
    assert "evil/evil" in str(configuration)
    assert built == []


@pytest.mark.parametrize("name", ["a", "a..b", "b.", "c-", "d._e", "x" * 63])
def test_every_name_of_a_collection_will_do(
    chroma: RunningChroma, tmp_path: Path, write: Callable[..., Path], name: str
) -> None:
    server = ChromaServer(chroma.url)
    index_files(CollectionFolder(tmp_path / "a", name, server), [write(CATS)], MODEL)
    assert labels_found(CollectionReader(CollectionFolder(tmp_path / "b", name, server), MODEL)) == {"CatNet"}


def test_the_names_of_other_collections_are_not_taken_for_old_indexes(
    chroma: RunningChroma, tmp_path: Path, write: Callable[..., Path]
) -> None:
    server = ChromaServer(chroma.url)
    longer = CollectionFolder(tmp_path / "a", "old.000001-0123abcd", server)
    index_files(longer, [write(CATS)], MODEL)
    folder = CollectionFolder(tmp_path / "a", "old", server)
    for abstracts in ((DOGS,), (DOGS, BIRDS), (BIRDS,)):
        index_files(folder, [write(*abstracts)], MODEL)
    assert labels_found(CollectionReader(longer, MODEL)) == {"CatNet"}


def test_a_collection_that_is_neither_here_nor_there_is_an_error(machine: Callable[[str], CollectionFolder]) -> None:
    with pytest.raises(CollectionMissing, match="and on http") as caught:
        CollectionReader(machine("a"), MODEL)
    assert "assistant index PATH" in caught.value.hint


def test_chroma_is_sent_no_more_at_once_than_it_takes(
    machine: Callable[[str], CollectionFolder], write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chromadb.api.client.Client, "get_max_batch_size", lambda self: 2)
    seen: list[int] = []
    for folder in (machine("a"), CollectionFolder(machine("b").data_dir, "local")):
        index_files(folder, [write(CATS, DOGS, BIRDS)], MODEL, progress=lambda what, done, of: seen.append(done))
    assert seen == [0, 3, 2, 3] * 2  # embedded, then sent
