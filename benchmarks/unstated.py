"""Questions on papers whose abstracts are silent: whether the assistant says so, beside plain refusals.

    python -m benchmarks.unstated [--part dev|more|test] [--mistakes]

benchmarks/data/unstated.jsonl holds questions on the built-in collection, SciFact and PubMedQA, labelled by hand: the
paper's abstract does not say (not_stated), it does (answered, with a few of its words), or no paper is on it
(not_covered). No paper and no kind of thing asked for is in both the development and the test part. A third part,
"more", was written in four batches on other papers of SciFact and PubMedQA to develop with, without marking kinds or
words. A silent question counts as recognised when the answer is not_stated and cites the right paper; it is refused
when the answer is not_stated or not_covered, whichever paper it cites. What is public is left out when it is not at
hand. `--mistakes` prints those of the parts to develop with.

The plain ways refuse when the best sentence of the nearest paper is less relevant, by the cross-encoder, or less
similar than a threshold: the highest at which the part of answerable development questions refused is no more than the
aim. They cannot tell which of the two lacks it is.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.progress import track

from assistant.chain import Assistant
from assistant.evaluation.resampling import estimate
from assistant.evidence import EvidenceJudge
from assistant.quoting import QuotationWriter
from assistant.types import Status
from benchmarks.common import PUBLIC_DATA, console, print_environment, print_table
from benchmarks.lists import development
from benchmarks.papers import DATA, KnownVectors
from benchmarks.retrieval import judged_set
from vectorstore.collection import CollectionReader
from vectorstore.embedding import PACKAGED_EMBEDDING, load_embedding
from vectorstore.folder import CollectionFolder
from vectorstore.identity import abstract_hash
from vectorstore.indexing import index_sources
from vectorstore.library import Library
from vectorstore.markup import readable
from vectorstore.relevance import CrossEncoder
from vectorstore.retrieval import Retriever
from vectorstore.sentences import sentence_spans

QUESTIONS = Path(__file__).parent / "data" / "unstated.jsonl"
_BUILT_IN = "icml2026"
_PUBLIC = ("scifact", "pubmedqa")
_AIM = 0.03
"""The part of answerable questions that may be refused."""


@dataclass(frozen=True)
class Labelled:
    """A question and what is right; `paper` is its paper's label or id in the collection."""

    id: str
    part: str
    collection: str
    paper: str | None
    attribute: str
    question: str
    status: Status
    evidence: str | None = None


@dataclass(frozen=True)
class Asked:
    """A collection, an assistant for it, and the library's paper ids by the names that labelled questions use."""

    retriever: Retriever
    assistant: Assistant
    paper_ids: dict[str, str]


@dataclass(frozen=True)
class Nearness:
    """How near the best sentence of the nearest paper is to a question."""

    relevance: float
    similarity: float


@dataclass(frozen=True)
class Outcome:
    """What became of a question."""

    labelled: Labelled
    status: Status
    cites_paper: bool


def labelled_questions() -> list[Labelled]:
    """All of them, in the order of the file."""
    return [Labelled(**json.loads(line)) for line in QUESTIONS.read_text("utf-8").split("\n") if line]


def collections_at_hand() -> dict[str, Asked]:
    """By name; a line is printed for each that is missing."""
    encoder = CrossEncoder()
    built_in = development().retriever
    found = {_BUILT_IN: _asked(built_in, encoder, {paper.label: paper.paper_id for paper in built_in.papers()})}
    for name in _PUBLIC:
        folder = PUBLIC_DATA / name
        if folder.is_dir():
            found[name] = _asked(_public_retriever(folder), encoder, _public_paper_ids(folder))
        else:
            console.print(f"{folder} is not there and is left out.")
    return found


def _asked(retriever: Retriever, encoder: CrossEncoder, paper_ids: dict[str, str]) -> Asked:
    judge = EvidenceJudge(retriever, encoder)
    return Asked(retriever, Assistant(retriever=retriever, judge=judge, writer=QuotationWriter()), paper_ids)


def _public_retriever(path: Path) -> Retriever:
    """Over the same collection that `benchmarks.retrieval` keeps."""
    embedding = load_embedding(PACKAGED_EMBEDDING)
    folder = CollectionFolder(DATA, f"judged-{path.name}")
    everything = Library(CollectionFolder(DATA, "vectors").library_path, create=True)
    with console.status(f"indexing {path.name}"):
        known = replace(embedding, embeddings=KnownVectors(everything, embedding))
        index_sources(folder, [judged_set(path).source], known)
    return Retriever(CollectionReader(folder, embedding), embedding)


def _public_paper_ids(path: Path) -> dict[str, str]:
    lines = [line for file in sorted(path.glob("corpus*.jsonl")) for line in file.read_text("utf-8").split("\n")]
    documents = [json.loads(line) for line in lines if line]
    return {paper["_id"]: abstract_hash(paper["text"].strip() or paper["title"])[:16] for paper in documents}


def outcomes(collections: dict[str, Asked], questions: Sequence[Labelled]) -> list[Outcome]:
    """What the assistant makes of each question."""
    return [_outcome(collections[labelled.collection], labelled) for labelled in _shown(questions, "asking")]


def _outcome(asked: Asked, labelled: Labelled) -> Outcome:
    answer = asked.assistant.ask(labelled.question)
    cited = {citation.paper.paper_id for citation in answer.citations}
    return Outcome(labelled, answer.status, asked.paper_ids.get(labelled.paper or "") in cited)


def nearnesses(collections: dict[str, Asked], questions: Sequence[Labelled]) -> list[Nearness]:
    """What the plain ways decide by, for each question."""
    encoder = CrossEncoder()
    return [_nearness(collections[each.collection].retriever, encoder, each) for each in _shown(questions, "reading")]


def _nearness(retriever: Retriever, encoder: CrossEncoder, labelled: Labelled) -> Nearness:
    abstract = retriever.search(labelled.question, 1)[0].paper.abstract
    sentences = [readable(span.of(abstract)) for span in sentence_spans(abstract)]
    return Nearness(
        relevance=max(encoder.relevance(labelled.question, sentences)),
        similarity=max(retriever.similarities(labelled.question, sentences)),
    )


def _shown(questions: Sequence[Labelled], doing: str) -> Iterator[Labelled]:
    yield from track(questions, doing, console=console, transient=True)


def threshold(values: Sequence[float], questions: Sequence[Labelled]) -> float:
    """The highest value such that no more of the answerable questions than the aim have less."""
    answerable = sorted(v for v, each in zip(values, questions, strict=True) if each.status == "answered")
    return answerable[int(_AIM * len(answerable))]


def by_assistant(found: Sequence[Outcome]) -> list[list[str]]:
    """A row of figures for each collection, and one for all."""
    names = list(dict.fromkeys(outcome.labelled.collection for outcome in found))
    rows = [[name, *_figures([each for each in found if each.labelled.collection == name])] for name in names]
    return [*rows, ["all", *_figures(found)]]


def _figures(found: Sequence[Outcome]) -> list[str]:
    silent = [each for each in found if each.labelled.status == "not_stated"]
    answerable = [each for each in found if each.labelled.status == "answered"]
    off = [each for each in found if each.labelled.status == "not_covered"]
    return [
        _share([each.status == "not_stated" and each.cites_paper for each in silent]),
        _share([each.status != "answered" for each in silent]),
        _share([each.status != "answered" for each in answerable]),
        str(sum(each.status == "not_stated" for each in answerable)),
        str(sum(each.status == "not_covered" for each in answerable)),
        _share([each.status == "not_covered" for each in off]),
        _share([each.status != "answered" for each in off]),
    ]


def by_threshold(name: str, least: float, values: Sequence[float], questions: Sequence[Labelled]) -> list[str]:
    """The row of a plain way, over all collections."""

    def refused(status: Status) -> str:
        return _share([v < least for v, each in zip(values, questions, strict=True) if each.status == status])

    nothing = "-"
    known = [nothing, refused("not_stated"), refused("answered"), nothing, nothing, nothing, refused("not_covered")]
    return [f"{name} < {least:.2f}", *known]


def _share(values: Sequence[bool]) -> str:
    share = estimate([float(value) for value in values])
    return f"{share.value:.3f} ({share.low:.2f}–{share.high:.2f})" if share else "-"


def print_mistakes(found: Sequence[Outcome]) -> None:
    """A line for each question whose answer has the wrong status, or is not_stated of another paper."""
    for each in found:
        elsewhere = each.labelled.status == "not_stated" == each.status and not each.cites_paper
        if each.status != each.labelled.status or elsewhere:
            got = f"{each.status} of another paper" if elsewhere else each.status
            about = f"{each.labelled.id} ({each.labelled.attribute})"
            console.print(f"{each.labelled.status} -> {got}: {about}: {each.labelled.question}", markup=False)


_WAYS: dict[str, Callable[[Nearness], float]] = {
    "best relevance": lambda near: near.relevance,
    "best similarity": lambda near: near.similarity,
}


def main() -> None:
    """Prints a table for each part, and with --mistakes those of the parts to develop with."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("dev", "more", "test"), help="only this one")
    parser.add_argument("--mistakes", action="store_true", help="print the mistakes of the parts to develop with")
    options = parser.parse_args()
    collections = collections_at_hand()
    asked = [labelled for labelled in labelled_questions() if labelled.collection in collections]
    dev = [labelled for labelled in asked if labelled.part == "dev"]
    near_dev = nearnesses(collections, dev)
    for part in [options.part] if options.part else ["dev", "more", "test"]:
        questions = [labelled for labelled in asked if labelled.part == part]
        near = near_dev if part == "dev" else nearnesses(collections, questions)
        found = outcomes(collections, questions)
        rows = by_assistant(found)
        for name, value in _WAYS.items():
            least = threshold([value(each) for each in near_dev], dev)
            rows.append(by_threshold(name, least, [value(each) for each in near], questions))
        counts = [sum(q.status == status for q in questions) for status in ("not_stated", "answered", "not_covered")]
        print_environment("{}: {} silent, {} answerable, {} on no paper".format(part, *counts))
        print_table(
            [
                "collection, or way",
                "silent: recognised",
                "silent: refused",
                "answerable: refused",
                "not stated",
                "not covered",
                "no paper: not covered",
                "no paper: refused",
            ],
            rows,
        )
        if options.mistakes and part != "test":
            print_mistakes(found)


if __name__ == "__main__":
    main()
