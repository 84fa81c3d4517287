import json
import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_core.embeddings import Embeddings

import vectorstore.openai_embeddings
from assistant.app import index_papers
from tests.fakes import KEY, EmbeddingServer, ModelServer, word_vector
from vectorstore.embedding import EmbeddingModel, load_embedding
from vectorstore.errors import EmbeddingError
from vectorstore.indexing import EMBEDDING_BATCH
from vectorstore.types import Bill

ROOT = Path(__file__).parents[1]


def test_a_compatible_server_is_sent_texts_and_its_vectors_are_used(model_server: ModelServer) -> None:
    embedding = load_embedding("openai:any:model", api_key=KEY, base_url=model_server.url)
    vectors = embedding.vectors(["two words", "three words here"])
    assert model_server.requests[0]["input"] == ["two words", "three words here"]
    assert model_server.requests[0]["model"] == "any:model"
    assert np.allclose(vectors[0], word_vector("two words"), atol=1e-6)


def test_a_wrong_key_is_an_error_that_shows_no_key(model_server: ModelServer) -> None:
    embedding = load_embedding("openai:any", api_key="sk-wrong-canary", base_url=model_server.url)
    with pytest.raises(EmbeddingError) as caught:
        embedding.vectors(["x"])
    assert "canary" not in caught.value.message + caught.value.hint
    assert "key" in caught.value.hint


class Wrong(Embeddings):
    def __init__(self, vectors: list[list[float]]) -> None:
        self._vectors = vectors

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._vectors

    def embed_query(self, text: str) -> list[float]:
        return self._vectors[0]


@pytest.mark.parametrize(
    "vectors", [[[1.0, 0.0]], [[1.0, 0.0], [1.0]], [[1.0, float("nan")], [0.0, 1.0]], [[1.0], [2.0], [3.0]]]
)
def test_anything_but_one_finite_vector_per_text_is_refused(vectors: list[list[float]]) -> None:
    with pytest.raises(EmbeddingError, match="one valid vector"):
        EmbeddingModel("fake:wrong", "", Wrong(vectors)).vectors(["a", "b"])


@pytest.mark.parametrize("name", ["bge", "packaged:other", "openai:", "nobody:model"])
def test_an_unknown_embedding_model_is_named(name: str) -> None:
    with pytest.raises(EmbeddingError) as caught:
        load_embedding(name, api_key="k")
    assert name.split(":")[0] in caught.value.message


def test_an_openai_embedding_without_a_key_says_which_variable_to_set() -> None:
    with pytest.raises(EmbeddingError) as caught:
        load_embedding("openai:text-embedding-3-small")
    assert "OPENAI_API_KEY" in caught.value.hint


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as server:
        yield server


@pytest.fixture
def small(server: EmbeddingServer) -> EmbeddingModel:
    return load_embedding("openai:text-embedding-3-small", api_key=KEY, base_url=server.url)


def test_vectors_are_put_in_the_order_of_the_texts(server: EmbeddingServer, small: EmbeddingModel) -> None:
    server.faults.append(lambda reply: {**reply, "data": reply["data"][::-1]})
    texts = ["owls see", "cats chase mice", "dogs"]
    assert np.allclose(small.vectors(texts), [word_vector(text) for text in texts], atol=1e-6)


@pytest.mark.parametrize("trouble", [429, 500, 503, 1.0])
def test_what_passes_is_tried_again(server: EmbeddingServer, trouble: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectorstore.openai_embeddings, "_TIMEOUT_SECONDS", 0.5)
    small = load_embedding("openai:text-embedding-3-small", api_key=KEY, base_url=server.url)
    server.faults += [lambda reply: trouble, lambda reply: trouble]
    assert np.allclose(small.vectors(["owls see"]), [word_vector("owls see")], atol=1e-6)
    assert server.asked == 3


def test_what_does_not_pass_is_an_error_and_is_not_tried_for_ever(
    server: EmbeddingServer, small: EmbeddingModel
) -> None:
    server.faults += [lambda reply: 429] * 100
    with pytest.raises(EmbeddingError, match="RateLimitError"):
        small.vectors(["owls see"])
    assert server.asked == 6
    with pytest.raises(EmbeddingError, match="RateLimitError"):
        small.query_vector("owls see")
    assert server.asked == 8


def _with_vectors(change: Callable[[list[dict[str, Any]]], object]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda reply: {**reply, "data": change(reply["data"])}


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[:-1],
        lambda data: [*data, {**data[0], "index": 2}],
        lambda data: [data[0], data[0]],
        lambda data: [{**vector, "index": vector["index"] + 1} for vector in data],
        lambda data: [data[0], {**data[1], "embedding": [0.5]}],
        lambda data: [data[0], {**data[1], "embedding": [float("nan"), *[0.1] * 63]}],
        lambda data: [{**vector, "embedding": []} for vector in data],
    ],
    ids=["too few", "too many", "one twice", "wrong numbers", "one too short", "not a number", "empty"],
)
def test_a_reply_that_is_not_one_vector_for_each_text_is_refused_and_nothing_of_it_kept(
    server: EmbeddingServer, tmp_path: Path, change: Callable[[list[dict[str, Any]]], object]
) -> None:
    (tmp_path / "papers.txt").write_text("Owls see mice at night.\n\nBats hear moths at night.", "utf-8")
    settings = _settings(server, tmp_path)
    server.faults.append(_with_vectors(change))
    with pytest.raises(EmbeddingError, match=r"openai:text-embedding-3-small.* 2 texts"):
        index_papers([tmp_path / "papers.txt"], **settings)
    report = index_papers([tmp_path / "papers.txt"], **settings)
    assert (report.papers, report.embedded) == (2, 2)


def test_an_empty_reply_is_an_error(server: EmbeddingServer, small: EmbeddingModel) -> None:
    server.faults.append(_with_vectors(lambda data: []))
    with pytest.raises(EmbeddingError, match="openai:text-embedding-3-small"):
        small.vectors(["owls see"])


def _settings(server: EmbeddingServer, folder: Path) -> dict[str, Any]:
    return {
        "embedding": "openai:text-embedding-3-small",
        "openai_api_key": KEY,
        "openai_base_url": server.url,
        "data_dir": folder / "data",
        "collection": "paid",
    }


def _abstracts(folder: Path, count: int) -> Path:
    path = folder / "papers.txt"
    path.write_text("\n\n".join(f"We propose Net{row}X, which does task {row} well." for row in range(count)), "utf-8")
    return path


def test_vectors_of_another_length_than_before_are_refused_and_those_before_kept(
    server: EmbeddingServer, tmp_path: Path
) -> None:
    path, settings = _abstracts(tmp_path, EMBEDDING_BATCH + 10), _settings(server, tmp_path)
    shorter = _with_vectors(lambda data: [{**vector, "embedding": [1.0, 2.0]} for vector in data])
    server.faults += [lambda reply: reply, shorter]
    with pytest.raises(EmbeddingError, match="of another length than before"):
        index_papers([path], **settings)
    server.texts.clear()
    assert index_papers([path], **settings).embedded == len(server.texts) == 10


def test_cost_is_told_before_anything_is_sent_and_counted_by_the_server_after(
    server: EmbeddingServer, tmp_path: Path
) -> None:
    path, settings = _abstracts(tmp_path, EMBEDDING_BATCH + 10), _settings(server, tmp_path)
    told: list[tuple[str, int, int]] = []
    report = index_papers(
        [path], **settings, progress=lambda what, done, total: told.append((what, server.asked, total))
    )
    sent = "".join(server.texts)
    expected = round(len(sent) / 5)
    assert report.estimated == Bill(tokens=expected, dollars=pytest.approx(expected * 0.02e-6))
    words = sum(len(text.split()) for text in server.texts)
    assert report.billed == Bill(tokens=words, dollars=pytest.approx(words * 0.02e-6))
    assert told[0] == (f"embedding, about {report.estimated}", 0, EMBEDDING_BATCH + 10)
    assert "tokens, $0.0000" in told[0][0]
    assert server.asked == 2
    again = index_papers([path], **settings)
    assert (again.billed, server.asked) == (Bill(tokens=0, dollars=0.0), 2)


@pytest.mark.parametrize(
    ("model", "dollars"), [("text-embedding-3-small", 0.02), ("text-embedding-3-large", 0.13), ("nomic", None)]
)
def test_the_price_is_that_of_the_model(model: str, dollars: float | None) -> None:
    billing = load_embedding(f"openai:{model}", api_key=KEY).billing
    assert billing is not None
    assert billing.bill(1_000_000).dollars == dollars
    assert load_embedding("packaged:bge-small-en-v1.5").billing is None


def test_the_command_line_shows_cost_rate_and_time_left_on_a_terminal_and_the_cost_in_json(
    server: EmbeddingServer, tmp_path: Path
) -> None:
    path, settings = _abstracts(tmp_path, 3 * EMBEDDING_BATCH), _settings(server, tmp_path)
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "TERM": "xterm",
        "COLUMNS": "150",
        "ASSISTANT_EMBEDDING": settings["embedding"],
        "ASSISTANT_DATA_DIR": str(settings["data_dir"]),
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": server.url,
    }
    program = "from assistant.cli import main; main()"
    command = [sys.executable, "-c", program, "index", "--collection", "paid", str(path)]
    server.faults += [lambda reply: time.sleep(0.3) or reply] * 3  # so that there is something to see
    terminal, its_end = pty.openpty()
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=its_end, text=True) as process:
        os.close(its_end)
        shown = b""
        while piece := _read(terminal):
            shown += piece
        printed, _ = process.communicate()
    plain = re.sub(r"\x1b\[[0-9;?]*\w", "", shown.decode())
    expected = f"{sum(map(len, server.texts)) / 5:,.0f} tokens, $0.0000"
    steps = re.findall(rf"embedding, about {re.escape(expected)} \S+ +(\d+)/192 *(\S*/s)? *(\d:\d\d:\d\d)?", plain)
    assert steps[0] == ("0", "", "")
    assert any(float(rate[:-2]) > 0 and left for done, rate, left in steps if done == "128")
    words = sum(len(text.split()) for text in server.texts)
    assert f"embedding cost {words:,} tokens, $0.0000; expected were {expected}\n" in printed
    path.write_text("We propose OwlNet, which sees at night.", "utf-8")
    report = json.loads(subprocess.run([*command, "--json"], env=environment, stdout=subprocess.PIPE).stdout)
    assert report["billed"] == {"tokens": 7, "dollars": 7 * 0.02e-6}
    assert report["estimated"]["tokens"] == 8


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 10_000)
    except OSError:  # its other end is closed
        return b""


def test_a_provider_whose_package_is_missing_is_named_with_what_to_install() -> None:
    if any((Path(folder) / "langchain_huggingface").exists() for folder in sys.path):
        pytest.skip("it is installed")
    with pytest.raises(EmbeddingError) as caught:
        load_embedding("huggingface:BAAI/bge-m3")
    assert "'huggingface'" in caught.value.message
    assert "langchain-huggingface" in caught.value.hint
