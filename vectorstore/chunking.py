"""From papers to chunks: an abstract is one chunk, unless it is longer than the embedding model reads."""

from collections.abc import Iterable

from vectorstore.markup import readable
from vectorstore.sentences import sentence_spans
from vectorstore.types import Chunk, Paper, PaperRecord, Span

CHUNKING = "whole abstract, else whole sentences up to 1800 characters, one shared; with title"
"""Part of the fingerprint: change it whenever this module cuts or embeds text in another way."""

_LONGEST_CHUNK = 1800  # characters; about 400 tokens, of which the packaged model reads 512
_WHOLE_ABSTRACT = 2200  # characters; a little more is read better whole than cut in two


def chunk_papers(papers: Iterable[Paper]) -> list[Chunk]:
    """All chunks of `papers`, in order. Chunk ids depend on the paper and the span only."""
    return [
        Chunk(
            chunk_id=f"{paper.paper_id}:{span.start}-{span.end}",
            paper_id=paper.paper_id,
            text=span.of(paper.abstract),
            span=span,
            embedded_text=_embedded_text(paper.title, span.of(paper.abstract)),
        )
        for paper in papers
        for span in chunk_spans(paper.abstract)
    ]


def embedded_texts(record: PaperRecord) -> list[str]:
    """What will be embedded for a paper that the library does not hold yet."""
    return [_embedded_text(record.title, span.of(record.abstract)) for span in chunk_spans(record.abstract)]


def chunk_spans(abstract: str) -> list[Span]:
    """Where an abstract is cut; together the spans cover every sentence."""
    if len(abstract) <= _WHOLE_ABSTRACT:
        return [Span(0, len(abstract))]
    spans: list[Span] = []
    members: list[Span] = []
    for sentence in sentence_spans(abstract):
        if members and sentence.end - members[0].start > _LONGEST_CHUNK:
            spans.append(Span(members[0].start, members[-1].end))
            members = members[-1:] if sentence.end - members[-1].start <= _LONGEST_CHUNK else []
        members.append(sentence)
    return [*spans, Span(members[0].start, members[-1].end)]


def _embedded_text(title: str | None, text: str) -> str:
    return readable(text if not title or title == text else f"{title}. {text}")


def span_of_chunk(chunk_id: str) -> tuple[str, Span]:
    """The paper and the span that a chunk id names."""
    paper_id, _, span = chunk_id.rpartition(":")
    start, _, end = span.partition("-")
    return paper_id, Span(int(start), int(end))
