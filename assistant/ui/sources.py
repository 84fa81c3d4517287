"""The sources as HTML: one card per cited paper with its quotations marked, and what was found but not cited."""

from collections.abc import Sequence, Set
from itertools import pairwise

from assistant.ui.html import counted, escaped, link, shortened
from assistant.ui.session import Conversation, Source
from vectorstore.markup import readable
from vectorstore.sentences import sentence_spans
from vectorstore.types import Passage, Span

_EXCERPT = 220
"""Characters shown of a passage that is not cited."""
_AUTHORS = 6


def sources_html(conversation: Conversation) -> str:
    """The cards of all sources so far; below, what the last search found besides."""
    sources = conversation.sources()
    cards = "".join(card_html(source) for source in sources) or (
        '<p class="hint">The papers that an answer cites appear here, with the quoted sentences marked.</p>'
    )
    return (
        '<section class="sources" aria-label="Sources" tabindex="0">'
        f"<h2>Sources{_count(len(sources))}</h2>{cards}{uncited_html(_uncited(conversation))}</section>"
    )


def _count(sources: int) -> str:
    return f' <span class="count">{sources}</span>' if sources else ""


def _uncited(conversation: Conversation) -> list[Passage]:
    """Of the last exchange that searched: the passages of papers that it does not cite."""
    latest = next((exchange for exchange in reversed(conversation.exchanges) if exchange.passages), None)
    if latest is None or latest.is_live:
        return []
    cited = {citation.paper.paper_id for citation in latest.citations}
    return [passage for passage in latest.passages if passage.paper.paper_id not in cited]


def card_html(source: Source) -> str:
    """A cited paper; open when the last answer cites it."""
    paper, state = source.paper, " open" if source.quoted_last else ""
    details = [
        f'<p class="title">{escaped(readable(paper.title))}</p>' if paper.title else "",
        f'<p class="authors">{escaped(_authors(paper.authors))}</p>' if paper.authors else "",
        f'<p class="abstract">{abstract_html(source)}</p>',
        f'<p class="links">{"".join(link(url) for url in paper.urls)}'
        f'<a class="back" href="#conversation" data-source="{source.number}">↩ back to the answer</a></p>',
    ]
    return (
        f'<details class="card" id="source-{source.number}"{state}><summary><span class="number">{source.number}</span>'
        f'<span class="label">{escaped(paper.label)}</span><span class="place">{escaped(paper.place)}</span></summary>'
        f"{''.join(details)}</details>"
    )


def _authors(authors: Sequence[str]) -> str:
    return ", ".join([*authors[:_AUTHORS], *(["…"] if len(authors) > _AUTHORS else [])])


def abstract_html(source: Source) -> str:
    """The abstract in readable form, with what was quoted of it marked."""
    spans = sentence_spans(source.paper.abstract)
    return " ".join(_sentence_html(source, span) for span in spans)


def _sentence_html(source: Source, sentence: Span) -> str:
    """A sentence, in pieces where a quotation begins or ends within it."""
    edges = {edge for span in source.quoted for edge in (span.start, span.end) if sentence.start < edge < sentence.end}
    pieces = [Span(start, end) for start, end in pairwise(sorted({sentence.start, *edges, sentence.end}))]
    return "".join(_piece_html(source, piece) for piece in pieces)


def _piece_html(source: Source, piece: Span) -> str:
    raw = piece.of(source.paper.abstract)
    before, after = (" " if raw[:1].isspace() else ""), (" " if raw[-1:].isspace() else "")
    text = escaped(readable(raw))
    if _covered(piece, source.quoted):
        earlier = "" if _covered(piece, source.quoted_last) else ' class="earlier"'
        text = f'<mark id="quote-{source.number}-{piece.start}"{earlier}>{text}</mark>'
    return f"{before}{text}{after}"


def _covered(piece: Span, spans: Set[Span]) -> bool:
    return any(span.start <= piece.start and piece.end <= span.end for span in spans)


def uncited_html(passages: Sequence[Passage]) -> str:
    """What was retrieved but not cited, folded, and why it was found."""
    if not passages:
        return ""
    items = "".join(
        f"<li><b>{escaped(passage.paper.label)}</b>"
        f"<span>{escaped(shortened(readable(passage.text), _EXCERPT))}</span><small>{_found_by(passage)}</small></li>"
        for passage in passages
    )
    return (
        '<details class="uncited">'
        f'<summary>Retrieved but not cited <span class="count">{len(passages)}</span></summary>'
        f"<p>{counted(len(passages), 'paper')} that the search found, but that the answer does not rest on.</p>"
        f"<ol>{items}</ol></details>"
    )


def _found_by(passage: Passage) -> str:
    facts = {
        "dense rank": passage.dense_rank,
        "keyword rank": passage.keyword_rank,
        "similarity": None if passage.similarity is None else f"{passage.similarity:.2f}",
        "relevance": None if passage.relevance is None else f"{passage.relevance:.1f}",
    }
    return " · ".join(f"{name} {value}" for name, value in facts.items() if value is not None)
