"""How much speaks for a paper being about a question, in small and in large collections."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from assistant.evidence import EvidenceJudge
from assistant.evidence.coverage import weight_of_found, weight_of_named
from assistant.routing import read_question
from vectorstore.collection import CollectionReader
from vectorstore.embedding import PACKAGED_EMBEDDING, load_embedding
from vectorstore.folder import CollectionFolder
from vectorstore.keywords import KeywordIndex, build_keywords
from vectorstore.relevance import CrossEncoder
from vectorstore.retrieval import Retriever
from vectorstore.types import Chunk, Paper, Passage, Span

ABSTRACT = "Owls hunt mice at night and hear well."
PAPER = Paper(
    paper_id="owls",
    label="Owls",
    abstract=ABSTRACT,
    title=None,
    authors=(),
    venue=None,
    year=None,
    urls=(),
    source="owls.txt",
    position=1,
)
PASSAGE = Passage(
    paper=PAPER,
    text=ABSTRACT,
    span=Span(0, len(ABSTRACT)),
    similarity=None,
    dense_rank=1,
    keyword_rank=1,
    named=False,
)


class Collection:
    """Of so many papers, in which all words are equally rare and only some are known."""

    def __init__(self, papers: int, known: str = "owl hunt mice night hear well") -> None:
        self._papers = papers
        self._known = known.split()

    def paper_count(self) -> int:
        return self._papers

    def rarities(self, stems: Sequence[str]) -> dict[str, float]:
        return dict.fromkeys(stems, 1.0)

    def unknown_names(self, names: Sequence[str]) -> list[str]:
        return [name for name in names if name.lower() not in self._known]

    def unknown_stems(self, stems: Sequence[str]) -> list[str]:
        return [stem for stem in stems if stem not in self._known]


def weight(question: str, papers: int, similarities: Sequence[float] = (0.8, *[0.7] * 5)) -> float:
    passages = [replace(PASSAGE, similarity=similarity) for similarity in similarities]
    return weight_of_found(cast(Retriever, Collection(papers)), read_question(question), PAPER, 0.0, passages)


def test_more_is_asked_of_a_paper_in_a_large_collection() -> None:
    assert weight("When do owls hunt mice?", 5000) < weight("When do owls hunt mice?", 30)


def test_a_word_that_no_paper_holds_speaks_against_it_in_a_large_collection_only() -> None:
    known, unknown = "When do owls hunt mice at night?", "When do owls hunt mice at airports?"
    lost = {papers: weight(known, papers) - weight(unknown, papers) for papers in (30, 5000)}
    assert lost[5000] == pytest.approx(lost[30] + 9)


def test_a_compound_may_be_unknown() -> None:
    lost = {papers: weight("When do night-hunt owls hear?", papers) for papers in (30, 5000)}
    assert lost[30] - lost[5000] == pytest.approx(4.5)


def test_the_nearest_paper_should_stand_out_in_collections_of_any_size() -> None:
    for papers in (30, 5000):
        assert weight("When do owls hunt?", papers) > weight("When do owls hunt?", papers, [0.8, *[0.79] * 5])


def test_a_paper_that_is_named_is_not_found_by_chance() -> None:
    question = read_question("When do owls hunt?")
    of_small, of_large = (
        weight_of_named(cast(Retriever, Collection(papers)), question, PAPER, 0.0) for papers in (30, 5000)
    )
    assert of_small == of_large


@pytest.mark.parametrize(
    ("stem", "rows"), [("glucos", [0]), ("increas", [1]), ("high-fat", [1]), ("p", [0, 1]), ("owl", [])]
)
def test_a_stem_is_looked_up_as_it_is(tmp_path: Path, stem: str, rows: list[int]) -> None:
    texts = ["Glucose fell.", "Fat increases on a high-fat diet."]
    folder = tmp_path / "keywords"
    build_keywords(folder, [_chunk(str(at), text) for at, text in enumerate(texts)])
    assert KeywordIndex(folder, rebuild_command="none").rows_holding_stem(stem).tolist() == rows


def _chunk(name: str, text: str) -> Chunk:
    span = Span(0, len(text))
    return Chunk(chunk_id=f"{name}:0-{span.end}", paper_id=name, text=text, span=span, embedded_text=text)


class Sure(CrossEncoder):
    """Finds all sentences as relevant as it is told."""

    def __init__(self, relevance: float) -> None:
        self._relevance = relevance

    def relevance(self, question: str, texts: Sequence[str]) -> list[float]:
        return [self._relevance for _ in texts]


@pytest.mark.parametrize(
    ("question", "relevance", "status"),
    [
        ("Who wrote about the Olympiads in physics that are compiled?", 6.0, "not_stated"),
        ("Who wrote about the Olympiads in physics that are compiled?", 7.0, "answered"),
        ("Who wrote HiPhO on the Olympiads in physics?", 7.0, "not_stated"),
    ],
)
def test_a_sentence_that_is_surely_relevant_answers_unless_a_name_makes_it_so(
    built_in_data: Path, question: str, relevance: float, status: str
) -> None:
    embedding = load_embedding(PACKAGED_EMBEDDING)
    retriever = Retriever(CollectionReader(CollectionFolder(built_in_data, "icml2026"), embedding), embedding)
    evidence = EvidenceJudge(retriever, Sure(relevance)).weigh(read_question(question))
    assert evidence.status == status
    assert len(evidence.papers) == (2 if relevance == 6.0 else 1)  # what is not stated may be meant of another as well
