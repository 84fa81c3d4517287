"""True sentences to measure with: what abstracts say, of the built-in collection, conference papers and SciFact."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.claims import claims_of
from benchmarks.common import PUBLIC_DATA
from benchmarks.papers import PAPERS, conference_papers
from vectorstore.labels import label_of
from vectorstore.markup import readable
from vectorstore.sentences import sentence_spans
from vectorstore.types import Paper, PaperRecord

SCIFACT = PUBLIC_DATA / "scifact"
_CONFERENCE_PAPERS = 3000
_SCIFACT_PAPERS = 600
_FEWEST_WORDS = 8
_MOST_WORDS = 45


@dataclass(frozen=True)
class Statement:
    """A sentence, and the paper it is said to rest on."""

    paper: Paper
    sentence: str


def papers_of(split: str) -> list[Paper]:
    """The papers of "dev" or "test": half of each source, the built-in ones as the labelled claims; none is in both."""
    wanted = ("dev", "test").index(split)
    public = [paper for at, paper in enumerate(_public_papers()) if at % 2 == wanted]
    built_in = {claim.paper.paper_id: claim.paper for claim in claims_of(split)}
    return [*built_in.values(), *public]


def statements_of(paper: Paper) -> list[Statement]:
    """The sentences of its abstract as a reader sees them, apart from very short and very long ones."""
    sentences = [readable(span.of(paper.abstract)) for span in sentence_spans(paper.abstract)]
    return [Statement(paper, text) for text in sentences if _FEWEST_WORDS <= len(text.split()) <= _MOST_WORDS]


def paper_of(record: PaperRecord, source: str) -> Paper:
    """The paper that a library would make of `record`."""
    return Paper(
        paper_id=f"{source}-{record.position}",
        label=label_of(record),
        abstract=record.abstract,
        title=record.title,
        authors=record.authors,
        venue=record.venue,
        year=record.year,
        urls=record.urls,
        source=source,
        position=record.position,
    )


def _public_papers() -> Iterator[Paper]:
    for record in conference_papers(PAPERS, _CONFERENCE_PAPERS).papers:
        yield paper_of(record, "conferences")
    for position, line in enumerate((SCIFACT / "corpus-01.jsonl").read_text("utf-8").split("\n")[:_SCIFACT_PAPERS], 1):
        row = json.loads(line)
        yield paper_of(PaperRecord(abstract=row["text"], title=row["title"], position=position), "scifact")
