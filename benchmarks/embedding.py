"""How fast abstracts are embedded and indexed, beside the bare ONNX loop that this rests on and plain LangChain.

    python -m benchmarks.embedding [--papers FILE.jsonl.gz] [--sample N]

The bare loop runs the model over token ids that are there already and keeps nothing. The share of the int8 peak counts
every multiply-add of the model's matrix products (those of attention, which this model does in float, too), against
what a large square product of int8 matrices reaches in the same run. All rows are measured in turn, three times over,
and the best time of each counts: on a shared machine one row is else slowed down and the next is not.
"""

import argparse
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from langchain_chroma import Chroma
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray
from tokenizers import Tokenizer

from assistant.app import built_in_files
from benchmarks.common import PUBLIC_DATA, console, print_environment, print_table
from benchmarks.indexing import public_papers, seconds
from vectorstore.chunking import embedded_texts
from vectorstore.embedding import PACKAGED_EMBEDDING, load_embedding
from vectorstore.folder import CollectionFolder
from vectorstore.indexing import index_files
from vectorstore.loading import load_source, source_files
from vectorstore.packaged import BGE_SMALL, model_folder

_CORES = os.cpu_count() or 1
_LAYERS, _HIDDEN, _INTERMEDIATE = 12, 384, 1536
_PEAK_SIZE, _PEAK_RUNS = 1024, 100
_PLAIN_BATCH = 32
_ROUNDS = 3
_TOKENS = Tokenizer.from_file(str(model_folder(BGE_SMALL) / "tokenizer.json"))
_TOKENS.no_padding()
_TOKENS.enable_truncation(512)


@dataclass(frozen=True)
class Way:
    """A way to embed all texts; it is given a folder that is empty."""

    name: str
    embed: Callable[[Path], object]


@dataclass(frozen=True)
class Row:
    """What was measured, and how long it took for all texts."""

    name: str
    seconds: float


def session(threads: int) -> Any:
    """The packaged model."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = threads
    path = str(model_folder(BGE_SMALL) / "model.onnx")
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def tokens_of(texts: Iterable[str]) -> list[list[int]]:
    """The token ids of each text."""
    return [encoding.ids for encoding in _TOKENS.encode_batch(list(texts))]


def batches(ids: Sequence[list[int]], size: int) -> list[dict[str, NDArray[np.int64]]]:
    """What the model is given, `size` texts at once, padded to the longest of them."""
    return [_padded(ids[start : start + size]) for start in range(0, len(ids), size)]


def _padded(rows: Sequence[list[int]]) -> dict[str, NDArray[np.int64]]:
    longest = max(map(len, rows))
    ids = np.array([row + [0] * (longest - len(row)) for row in rows], dtype=np.int64)
    mask = np.array([[1] * len(row) + [0] * (longest - len(row)) for row in rows], dtype=np.int64)
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}


def share_out(run: Callable[[Any, Any], object], sessions: Sequence[Any], work: Iterable[Any]) -> None:
    """Each session in a thread of its own; all take from the same work until none is left."""
    remaining = iter(list(work))  # next() on a list's iterator is safe between threads

    def until_none_is_left(own: Any) -> None:
        for item in remaining:
            run(own, item)

    with ThreadPoolExecutor(len(sessions)) as pool:
        list(pool.map(until_none_is_left, sessions))


def bare_loops(texts: Sequence[str]) -> list[Way]:
    """The model alone, the longest texts first."""
    ids = sorted(tokens_of(texts), key=len, reverse=True)
    on_all_cores, one_each, shared = [session(_CORES)], [session(1) for _ in range(_CORES)], [session(1)] * _CORES
    ways = [_bare_loop(f"one session, {_CORES} threads", on_all_cores, ids, size) for size in (1, 4, 8, 32)]
    ways += [_bare_loop(f"{_CORES} sessions, a thread each", one_each, ids, size) for size in (1, 4, 8)]
    return [*ways, _bare_loop(f"one session of one thread, called by {_CORES} threads", shared, ids, 1)]


def _bare_loop(name: str, sessions: Sequence[Any], ids: Sequence[list[int]], size: int) -> Way:
    return Way(f"bare: {name}, batches of {size}", lambda _folder: share_out(_infer, sessions, batches(ids, size)))


def _infer(own: Any, feed: dict[str, NDArray[np.int64]]) -> None:
    own.run(None, feed)


def openvino_loop(texts: Sequence[str]) -> Way:
    """The model alone in OpenVINO, as many texts at once as it likes best."""
    import openvino

    ids = sorted(tokens_of(texts), key=len, reverse=True)
    path = model_folder(BGE_SMALL) / "model.onnx"
    compiled = openvino.Core().compile_model(str(path), "CPU", {"PERFORMANCE_HINT": "THROUGHPUT"})
    queue = openvino.AsyncInferQueue(compiled)

    def loop(_folder: Path) -> None:
        for feed in batches(ids, 1):
            queue.start_async(feed)
        queue.wait_all()

    return Way(f"bare: OpenVINO {version('openvino')}, batches of 1", loop)


class PaddedEmbeddings(Embeddings):
    """The same model as it is ordinarily run: batches of 32, padded, on all cores."""

    def __init__(self, *, by_length: bool) -> None:
        self._session = session(_CORES)
        self._by_length = by_length

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector per text."""
        ids = tokens_of(texts)
        order = sorted(range(len(ids)), key=lambda row: len(ids[row])) if self._by_length else list(range(len(ids)))
        outputs = [self._session.run(None, feed)[0][:, 0] for feed in batches([ids[at] for at in order], _PLAIN_BATCH)]
        vectors = np.concatenate(outputs)[np.argsort(order)]
        return [[float(value) for value in vector / np.linalg.norm(vector)] for vector in vectors]

    def embed_query(self, text: str) -> list[float]:
        """The vector of one text."""
        return self.embed_documents([text])[0]


def plain(texts: Sequence[str], *, by_length: bool) -> Way:
    """LangChain's Chroma, given all texts at once."""
    embeddings = PaddedEmbeddings(by_length=by_length)
    documents = [Document(text) for text in texts]
    order = "sorted by length" if by_length else "in their order"

    def add(folder: Path) -> None:
        Chroma("plain", embeddings, persist_directory=str(folder)).add_documents(documents)

    return Way(f"langchain_chroma add_documents, padded batches of {_PLAIN_BATCH}, {order}", add)


def multiply_adds(length: int) -> int:
    """Of all matrix products of the model for a text of `length` tokens."""
    linear = 4 * _HIDDEN * _HIDDEN + 2 * _HIDDEN * _INTERMEDIATE
    attention = 2 * length * _HIDDEN
    return _LAYERS * length * (linear + attention)


def int8_peak() -> float:
    """Multiply-adds per second that all cores together reach in large products of int8 matrices."""
    weights = np.random.default_rng(0).integers(-127, 127, (_PEAK_SIZE, _PEAK_SIZE), dtype=np.int8)
    square = [_PEAK_SIZE, _PEAK_SIZE]
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("MatMulInteger", ["a", "b"], ["c"])],
        "product",
        [onnx.helper.make_tensor_value_info("a", onnx.TensorProto.UINT8, square)],
        [onnx.helper.make_tensor_value_info("c", onnx.TensorProto.INT32, square)],
        [onnx.numpy_helper.from_array(weights, "b")],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    own = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    feeds = [{"a": weights.view(np.uint8)}] * (_PEAK_RUNS * _CORES)
    share_out(_infer, [own] * _CORES, feeds[:_CORES])
    return len(feeds) * _PEAK_SIZE**3 / seconds(lambda: share_out(_infer, [own] * _CORES, feeds))


def ways(path: Path, texts: Sequence[str]) -> list[Way]:
    """All that is measured, for the papers below `path`, whose texts to embed are `texts`."""
    embedding = load_embedding(PACKAGED_EMBEDDING)
    found = [
        *bare_loops(texts),
        Way("ours: EmbeddingModel.vectors", lambda _folder: embedding.vectors(list(texts))),
        Way(
            "ours: index, from the file on",
            lambda folder: index_files(CollectionFolder(folder, "measured"), [path], embedding),
        ),
        *(plain(texts, by_length=by_length) for by_length in (False, True)),
    ]
    if find_spec("openvino"):
        return [*found, openvino_loop(texts)]
    console.print("OpenVINO is not installed and not measured.")
    return found


def measured(found: Sequence[Way], folder: Path) -> list[Row]:
    """The best time of each."""
    rounds = []
    for at in range(_ROUNDS):
        folders = [folder / f"{at}-{row}" for row in range(len(found))]
        rounds.append([seconds(partial(way.embed, own)) for way, own in zip(found, folders, strict=True)])
    return [Row(way.name, min(times)) for way, times in zip(found, zip(*rounds, strict=True), strict=True)]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--papers", type=Path, default=PUBLIC_DATA / "papers" / "conferences.jsonl.gz")
    parser.add_argument("--sample", type=int, default=150)
    options = parser.parse_args()
    print_environment("Embedding and indexing, beside the bare ONNX loop and plain LangChain + Chroma")
    with tempfile.TemporaryDirectory() as temporary, built_in_files() as path:
        folder = Path(temporary)
        if options.papers.is_file():
            path = public_papers(options.papers, options.sample, folder)
        else:
            console.print(f"{options.papers} is not there: measured with the built-in abstracts.")
        records = [record for file in source_files([path]) for record in load_source(file).papers]
        texts = [text for record in records for text in embedded_texts(record)]
        peak = int8_peak()
        rows = measured(ways(path, texts), folder)
    print_rows(rows, [len(ids) for ids in tokens_of(texts)], peak)


def print_rows(rows: Sequence[Row], lengths: Sequence[int], peak: float) -> None:
    """The table, for texts of so many tokens and so many multiply-adds per second at best."""
    best = min(row.seconds for row in rows if row.name.startswith("bare"))
    work = sum(map(multiply_adds, lengths))
    texts, tokens = len(lengths), sum(lengths)
    console.print(
        f"{texts} texts, on average {tokens / texts:.0f} tokens, {work / texts / 1e9:.2f} billion multiply-adds."
    )
    console.print(
        f"int8 peak: {peak / 1e9:.0f} billion/s, measured with a MatMulInteger of {_PEAK_SIZE} x {_PEAK_SIZE}."
    )
    print_table(
        ["", "texts/s", "tokens/s", "of the best bare loop", "of the int8 peak"],
        [
            [
                row.name,
                f"{texts / row.seconds:.1f}",
                f"{tokens / row.seconds:.0f}",
                f"{best / row.seconds:.2f}",
                f"{work / row.seconds / peak:.2f}",
            ]
            for row in rows
        ],
    )


if __name__ == "__main__":
    main()
