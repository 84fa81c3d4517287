"""The conversation as HTML: questions, checked sentences with their source numbers, refusals and notices.

`html.escaped` guards every text; the tags, and nothing else, are written here.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import count

from assistant.blocks import Shape, blocks_of
from assistant.types import Answer, Citation, Sentence, Status
from assistant.ui.html import counted, escaped, shortened
from assistant.ui.session import Exchange, Notice
from vectorstore.markup import readable
from vectorstore.types import Paper

NAME = "Abstract Assistant"
_LONGEST_QUESTION = 600
"""Characters of a question shown; it is sent whole."""
_PLACES = 2
"""Conferences or journals named in the header."""
_OUTCOMES: dict[Status, str] = {
    "not_stated": "Not stated in the abstract",
    "not_covered": "Not covered by these papers",
}
_CHECKED = "Checked paraphrase: every number and name is in the cited abstract."
_SEARCHING = "Searching the papers"
_WRITING = "Writing, and checking each sentence against its abstract"


def header_html(papers: Sequence[Paper], writer: str) -> str:
    """The name of the chat, what is asked, and who writes."""
    by = "answers in the papers’ own words" if writer == "quotation" else f"written by {escaped(writer)}, then checked"
    facts = [*_places(papers), counted(len(papers), "paper"), by]
    return f'<h1>{NAME}</h1><p class="facts">{"".join(f"<span>{fact}</span>" for fact in facts)}</p>'


def _places(papers: Iterable[Paper]) -> list[str]:
    places = list(dict.fromkeys(paper.place for paper in papers if paper.place))
    more = [f"and {len(places) - _PLACES} more"] if len(places) > _PLACES else []
    return [", ".join([*map(escaped, places[:_PLACES]), *more])] if places else []


def conversation_html(exchanges: Sequence[Exchange], examples: Sequence[str] = ()) -> str:
    """The whole conversation; what could be asked, when it is empty."""
    content = "".join(map(exchange_html, exchanges, count(1))) or welcome_html(examples)
    return (
        f'<div class="log" role="log" aria-label="Conversation" tabindex="0"><div class="measure">{content}</div></div>'
    )


def welcome_html(examples: Sequence[str]) -> str:
    """What this is, and questions to begin with."""
    buttons = "".join(f'<li><button type="button" class="example">{escaped(text)}</button></li>' for text in examples)
    return (
        '<div class="welcome"><h2>What do these papers say?</h2>'
        "<p>Each sentence of an answer rests on a quotation that was checked against its abstract: "
        "select a source number to see it there. What the abstracts do not say, you are told.</p>"
        f"<ul>{buttons}</ul></div>"
    )


def exchange_html(exchange: Exchange, number: int) -> str:
    """A question with what has come of it; `number` counts the exchanges of the conversation."""
    asked = escaped(shortened(exchange.question, _LONGEST_QUESTION))
    question = f'<p class="question"><span class="unseen">You asked: </span>{asked}</p>' if asked.strip() else ""
    parts = [
        _read_as(exchange),
        _body(exchange, number),
        _progress(exchange),
        left_out_html([sentence for sentence in exchange.sentences if not sentence.shown]),
        notice_html(exchange.notice) if exchange.notice else "",
        _footnote(exchange.answer) if exchange.answer else "",
    ]
    live = " live" if exchange.is_live else ""
    return f'<article class="turn{live}">{question}<div class="answer">{"".join(parts)}</div></article>'


def _read_as(exchange: Exchange) -> str:
    """How a follow-up was understood, when it was not taken as it stands."""
    if not exchange.answer or exchange.answer.standalone_question.casefold() == exchange.question.strip().casefold():
        return ""
    return f'<p class="read-as">Read as: {escaped(exchange.answer.standalone_question)}</p>'


def _body(exchange: Exchange, number: int) -> str:
    text = sentences_html(exchange.shown, number)
    outcome = _OUTCOMES.get(exchange.status)
    if not outcome:
        return text
    return f'<section class="refusal" aria-label="{outcome}"><p class="outcome">{outcome}</p>{text}</section>'


def _progress(exchange: Exchange) -> str:
    if exchange.phase == "stopped":
        return '<p class="progress">Stopped.</p>'
    if not exchange.is_live:
        return ""
    text = _SEARCHING if exchange.phase == "searching" else _WRITING
    dots = '<span class="dots" aria-hidden="true"><i></i><i></i><i></i></span>'
    return f'<p class="progress">{text}{dots}</p>'


def sentences_html(sentences: Sequence[Sentence], turn: int) -> str:
    """The sentences in the paragraphs, lists and tables that they make up."""
    chips = count(1)
    labels = {citation.paper.label for sentence in sentences for citation in sentence.citations}

    def cell_html(cell: Iterable[Sentence]) -> str:
        return " ".join(sentence_html(each, labels, (f"cite-{turn}-{chip}" for chip in chips)) for each in cell)

    return "".join(
        _SHAPED[block.shape]([[cell_html(cell) for cell in row] for row in block.rows])
        for block in blocks_of(sentences)
    )


def _paragraph_html(rows: Sequence[Sequence[str]]) -> str:
    return f"<p>{rows[0][0]}</p>"


def _list_html(rows: Sequence[Sequence[str]]) -> str:
    return f"<ul>{''.join(f'<li>{row[0]}</li>' for row in rows)}</ul>"


def _table_html(rows: Sequence[Sequence[str]]) -> str:
    """A table that scrolls in a frame of its own where it is too wide."""
    heading = "".join(f'<th scope="col">{cell}</th>' for cell in rows[0])
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows[1:])
    table = f"<table><thead><tr>{heading}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="table" role="region" aria-label="Comparison" tabindex="0">{table}</div>'


_SHAPED: dict[Shape, Callable[[Sequence[Sequence[str]]], str]] = {
    "paragraph": _paragraph_html,
    "list": _list_html,
    "table": _table_html,
}


def sentence_html(sentence: Sentence, labels: Iterable[str], ids: Iterable[str]) -> str:
    """One sentence in the look of its verdict, with its source numbers; `ids` are for these."""
    chips = "".join(map(chip_html, _first_of_each_number(sentence.citations), ids))
    text = escaped(sentence.text)
    if sentence.verdict == "quoted":
        marked = text if text.startswith("“") else f"“{text}”"
        return f'<q class="quoted">{marked}</q>{chips}'
    if sentence.verdict == "supported":
        return f'<span class="supported">{text}</span>{_check_html(sentence)}{chips}'
    if sentence.text.removesuffix(":") in labels:
        return f'<b class="lead">{text}</b>'
    return f'<span class="program">{text}</span>'


def _first_of_each_number(citations: Iterable[Citation]) -> list[Citation]:
    first: dict[int, Citation] = {}
    for citation in citations:
        first.setdefault(citation.number, citation)
    return list(first.values())


def chip_html(citation: Citation, element_id: str) -> str:
    """The source number of a citation; it leads to the quotation in the source card."""
    label = escaped(f"Source {citation.number}: {citation.paper.label}")
    return (
        f'\u2060<a class="cite" id="{element_id}" href="#source-{citation.number}" title="{label}" '
        f'aria-label="{label}" data-quote="quote-{citation.number}-{citation.span.start}">'
        f"<i>[</i>{citation.number}<i>]</i></a>"
    )


def _check_html(sentence: Sentence) -> str:
    """The check mark of a paraphrase, and what it says: the quotation that supports it."""
    quotes = "".join(
        f'<span class="quote">[{citation.number}] “{escaped(readable(citation.quote))}”</span>'
        for citation in sentence.citations
    )
    reasons = "".join(f"<span>{escaped(reason)}</span>" for reason in sentence.reasons)
    return (
        f'\u2060<button type="button" class="check" aria-label="{_CHECKED}">✓</button>'
        f'<span class="tip" role="tooltip"><strong>{_CHECKED}</strong>{quotes}{reasons}</span>'
    )


def left_out_html(sentences: Sequence[Sentence]) -> str:
    """The sentences that no abstract supports, folded away, each with its reasons."""
    if not sentences:
        return ""
    items = "".join(
        f"<li>{escaped(sentence.text)}<small>{escaped('; '.join(sentence.reasons))}</small></li>"
        for sentence in sentences
    )
    return f'<details class="left-out"><summary>left out ({len(sentences)})</summary><ul>{items}</ul></details>'


def notice_html(notice: Notice) -> str:
    """Why there is no answer, in two lines."""
    return f'<div class="notice"><p>{escaped(notice.message)}</p><p class="hint">{escaped(notice.hint)}</p></div>'


def _footnote(answer: Answer) -> str:
    """What the answer rests on, and the button that copies it."""
    if not answer.citations:
        return ""
    verdicts = [sentence.verdict for sentence in answer.sentences if sentence.shown]
    kinds = {"quotation": verdicts.count("quoted"), "checked paraphrase": verdicts.count("supported")}
    rests_on = " and ".join(counted(number, noun) for noun, number in kinds.items() if number)
    papers = len({citation.number for citation in answer.citations})
    return (
        f'<p class="footnote">{rests_on} from {counted(papers, "paper")}'
        f'<button type="button" class="copy" data-text="{escaped(plain_text(answer))}">Copy</button></p>'
    )


def plain_text(answer: Answer) -> str:
    """The answer with its sources below, to be pasted elsewhere."""
    papers = {citation.number: citation.paper for citation in answer.citations}
    sources = [
        f"[{number}] " + ", ".join(filter(None, [paper.label, paper.place, *paper.urls[:1]]))
        for number, paper in sorted(papers.items())
    ]
    return "\n".join([answer.text, "", *sources])
