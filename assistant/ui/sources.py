"""The sources as HTML: one card per cited paper with its quotations marked, and what was found but not cited."""

from collections.abc import Sequence, Set
from datetime import datetime
from itertools import pairwise

from assistant.html import button, counted, escaped, link, rich, shortened
from assistant.ui.session import Conversation, Source
from vectorstore.markup import readable
from vectorstore.sentences import sentence_spans
from vectorstore.types import Paper, Passage, Span

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
        facts_html(paper),
        f'<p class="abstract">{abstract_html(source)}</p>',
        f'<p class="why">Found: {escaped(source.why)}</p>' if source.why else "",
        links_html(paper),
        f'<p class="doings">{button("Ask about it", "scope", "quiet", paper_ids=paper.paper_id, named=paper.label)}'
        f"{button('Open its page', 'paper', 'quiet', paper_id=paper.paper_id)}{star_html(paper)}"
        f'<a class="back" href="#conversation" data-source="{source.number}">↩ back to the answer</a></p>',
    ]
    return (
        f'<details class="card" id="source-{source.number}"{state}><summary><span class="number">{source.number}</span>'
        f'<span class="label">{escaped(paper.label)}</span><span class="place">{escaped(paper.place)}</span></summary>'
        f"{''.join(details)}</details>"
    )


def facts_html(paper: Paper) -> str:
    """What is known of a paper beside its label, its abstract and its links."""
    when = [
        escaped(fact)
        for fact in (paper.track, paper.session, paper.room, paper.starts_at and spoken(paper.starts_at))
        if fact
    ]
    return "".join(
        [
            f'<p class="title">{rich(paper.title)}</p>' if paper.title and paper.title != paper.label else "",
            f'<p class="authors">{escaped(_authors(paper.authors))}</p>' if paper.authors else "",
            f'<p class="when">{" · ".join(when)}</p>' if when else "",
            '<p class="when">Its source has no abstract: only the title is known.</p>' if paper.is_title_only else "",
        ]
    )


def _authors(authors: Sequence[str]) -> str:
    return ", ".join([*authors[:_AUTHORS], *(["…"] if len(authors) > _AUTHORS else [])])


def links_html(paper: Paper) -> str:
    """Where to read more: its full text, its pages, its DOI."""
    doi = f"https://doi.org/{paper.doi}" if paper.doi else None
    addresses = dict.fromkeys(filter(None, [paper.full_text_url, *paper.urls, doi]))
    return f'<p class="links">{"".join(map(link, addresses))}</p>' if addresses else ""


def star_html(paper: Paper) -> str:
    """The star that puts a paper on the reading list; the script of the page fills it in."""
    return star_of(paper.paper_id, paper.label)


def star_of(paper_id: str, label: str) -> str:
    """The same for a paper of which no more is known."""
    return (
        f'<button type="button" class="star" data-star="{escaped(paper_id)}" data-label="{escaped(label)}" '
        f'aria-pressed="false" aria-label="{escaped(f"Keep {label} on the reading list")}" title="Reading list">'
        "☆</button>"
    )


def spoken(moment: str) -> str:
    """A time in ISO 8601 as one reads it: "Tue 14 July 2026, 10:30"; as it is when it is none."""
    try:
        time = datetime.fromisoformat(moment)
    except ValueError:
        return moment
    day = f"{time:%a} {time.day} {time:%B %Y}"
    return day if len(moment) == len("2026-07-14") else f"{day}, {time:%H:%M}"


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
    text = rich(raw)
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
