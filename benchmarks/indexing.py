"""How long it takes to index and to search, for the built-in collection and for public papers.

    python -m benchmarks.indexing [--papers FILE.jsonl.gz] [--sample N]

The comparison in the same run is plain LangChain with Chroma and the same embeddings.
"""

import argparse
import gzip
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from langchain_chroma import Chroma

from assistant.app import built_in_files
from assistant.evaluation.question_sets import read_question_set
from benchmarks.common import PUBLIC_DATA, console, print_environment, print_table
from vectorstore.collection import CollectionReader
from vectorstore.embedding import PACKAGED_EMBEDDING, EmbeddingModel, load_embedding
from vectorstore.folder import CollectionFolder
from vectorstore.indexing import index_files
from vectorstore.retrieval import Retriever


def seconds(action: Callable[[], object]) -> float:
    """How long `action` takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def measured(name: str, path: Path, folder: Path, embedding: EmbeddingModel) -> list[str]:
    """One row of the table, for the papers below `path`."""
    collection = CollectionFolder(folder, name)
    first = seconds(lambda: index_files(collection, [path], embedding))
    again = seconds(lambda: index_files(collection, [path], embedding))
    retriever = Retriever(CollectionReader(collection, embedding), embedding)
    papers = retriever.papers()
    store = Chroma(name, embedding.embeddings, persist_directory=str(folder / "plain"))
    plain = seconds(lambda: store.add_texts([paper.abstract for paper in papers]))
    questions = [asked.question for asked in read_question_set("icml2026-dev").questions]
    ours = np.median([seconds(lambda q=question: retriever.search(q, 10)) for question in questions])  # type: ignore[misc]
    theirs = np.median([seconds(lambda q=question: store.similarity_search(q, k=10)) for question in questions])  # type: ignore[misc]
    return [
        f"{len(papers)} {name}",
        f"{first:.1f}",
        f"{first / plain:.2f}",
        f"{again:.2f}",
        f"{ours * 1000:.0f}",
        f"{ours / theirs:.2f}",
    ]


def public_papers(path: Path, sample: int, folder: Path) -> Path:
    """A text file of abstracts, one paragraph each."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        abstracts = [json.loads(line)["abstract"] or "" for line, _ in zip(file, range(sample), strict=False)]
    target = folder / "public.txt"
    target.write_text("\n\n".join(" ".join(text.split()) for text in abstracts if len(text) > 200), encoding="utf-8")
    return target


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--papers", type=Path, default=PUBLIC_DATA / "papers" / "conferences.jsonl.gz")
    parser.add_argument("--sample", type=int, default=1000)
    options = parser.parse_args()
    print_environment("Indexing and searching, beside plain LangChain + Chroma")
    embedding = load_embedding(PACKAGED_EMBEDDING)
    embedding.query_vector("The first text of a process also loads things.")
    with tempfile.TemporaryDirectory() as temporary, built_in_files() as built_in:
        folder = Path(temporary)
        rows = [measured("built-in", built_in, folder, embedding)]
        if options.papers.is_file():
            rows.append(measured("public", public_papers(options.papers, options.sample, folder), folder, embedding))
        else:
            console.print(f"{options.papers} is not there; give a file with --papers to measure more papers.")
    print_table(
        ["papers", "index, s", "ratio to plain", "again, s", "search, ms (p50)", "ratio to plain"],
        rows,
    )


if __name__ == "__main__":
    main()
