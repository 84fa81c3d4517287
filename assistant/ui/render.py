"""The conversation as HTML: questions, checked sentences with their source numbers, refusals and notices.

`html.escaped` guards every text; the tags, and nothing else, are written here.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any

from assistant.blocks import blocks_of
from assistant.html import button, counted, escaped, link, rich, shortened
from assistant.takeaway import TAKEN_AS, Format
from assistant.types import Answer, Citation, Sentence, Status
from assistant.ui.session import Conversation, Exchange, Notice, Scope
from vectorstore.facets import Choices
from vectorstore.markup import readable, unmarked
from vectorstore.types import Paper

NAME = "Abstract Assistant"
_LONGEST_QUESTION = 600
"""Characters of a question shown; it is sent whole."""
_LONGEST_NAME = 80
"""Characters of what the chosen papers are called."""
_LONGEST_VENUE = 30
"""Characters of a venue in the header."""
_NEAREST = 3
"""Papers that a refusal offers."""
_WORTH_A_TABLE = 3
"""Items of a list."""
_PLACES = 2
"""Conferences or journals named in the header."""
_OUTCOMES: dict[Status, str] = {
    "not_stated": "Not stated in the abstract",
    "not_covered": "Not covered by these papers",
}
_CHECKED = "Checked paraphrase: every number and name is in the cited abstract."
_SEARCHING = "Searching the papers"
_WRITING = "Writing, and checking each sentence against its abstract"


def header_html(collections: Sequence[str], papers: int, choices: Choices | None, writer: str) -> str:
    """The name of the chat, and the status: what is asked, how much of it there is, and who writes."""
    by = "answers in the papers’ own words" if writer == "quotation" else f"written by {escaped(writer)}, then checked"
    named = escaped(shortened(" + ".join(collections), _LONGEST_NAME))
    facts = [named, *(_places(choices) if choices else []), counted(papers, "paper"), by]
    return f'<h1>{NAME}</h1><p class="facts">{"".join(f"<span>{fact}</span>" for fact in facts)}</p>'


def _places(choices: Choices) -> list[str]:
    """Such as "ICML 2026", or "ICML, NeurIPS and 3 more, 2013–2026"."""
    venues = [escaped(shortened(venue, _LONGEST_VENUE)) for venue in choices.venues]
    years = [*choices.years]
    more = f" and {len(venues) - _PLACES} more" if len(venues) > _PLACES else ""
    named = ", ".join(venues[:_PLACES]) + more
    span = "" if not years else f"{years[-1]}–{years[0]}" if len(years) > 1 else str(years[0])
    joined = f"{named}, {span}" if len(years) > 1 and named else f"{named} {span}".strip()
    return [joined] if joined else []


def conversation_html(conversation: Conversation, examples: Sequence[str] = ()) -> str:
    """The whole conversation; what could be asked, when it is empty."""
    last = len(conversation.exchanges)
    turns = (
        exchange_html(exchange, number, is_last=number == last)
        for number, exchange in enumerate(conversation.exchanges, start=1)
    )
    content = "".join(turns) or welcome_html(examples)
    return (
        f'<div class="log" role="log" aria-label="Conversation" tabindex="0"><div class="measure">{content}</div></div>'
    )


def note_html(scope: Scope, *, is_editing: bool = False) -> str:
    """Above the question box: which papers are asked, and whether the question replaces an earlier one."""
    notes = []
    if scope.within is not None:
        named = escaped(shortened(scope.named or str(scope.within), _LONGEST_NAME))
        notes.append(f"Asking only <b>{named}</b>{button('Ask all papers', 'unscope', 'quiet')}")
    if is_editing:
        notes.append(f"Replaces an earlier question{button('Leave it as it was', 'unedit', 'quiet')}")
    return "".join(f"<p>{note}</p>" for note in notes)


def welcome_html(examples: Sequence[str]) -> str:
    """What this is, and questions to begin with."""
    buttons = "".join(f"<li>{button(text, 'ask', 'example', question=text)}</li>" for text in examples)
    return (
        '<div class="welcome"><h2>What do these papers say?</h2>'
        "<p>Each sentence of an answer rests on a quotation that was checked against its abstract: "
        "select a source number to see it there. What the abstracts do not say, you are told.</p>"
        f"<ul>{buttons}</ul></div>"
    )


def exchange_html(exchange: Exchange, number: int, *, is_last: bool = False) -> str:
    """A question with what has come of it; `number` counts the exchanges of the conversation."""
    parts = [
        _read_as(exchange),
        _body(exchange, number),
        _progress(exchange),
        left_out_html([sentence for sentence in exchange.sentences if not sentence.shown]),
        notice_html(exchange.notice) if exchange.notice else "",
        _footnote(exchange, number, is_last=is_last) if not exchange.is_live else "",
        _suggestions(exchange) if is_last else "",
    ]
    live = " live" if exchange.is_live else ""
    return (
        f'<article class="turn{live}">{_question(exchange, number)}<div class="answer">{"".join(parts)}</div></article>'
    )


def _question(exchange: Exchange, number: int) -> str:
    asked = escaped(shortened(exchange.question, _LONGEST_QUESTION))
    if not asked.strip():
        return ""
    edit = button("Edit", "edit", "edit", number=str(number), label="Edit this question")
    return f'<div class="asked">{edit}<p class="question"><span class="unseen">You asked: </span>{asked}</p></div>'


def _suggestions(exchange: Exchange) -> str:
    """What could be asked next."""
    items = "".join(f"<li>{button(text, 'ask', 'suggestion', question=text)}</li>" for text in exchange.suggestions)
    return f'<ul class="suggestions" aria-label="You could ask next">{items}</ul>' if items else ""


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
    helps = _nearest(exchange) if exchange.status == "not_covered" else _full_texts(exchange)
    return f'<section class="refusal" aria-label="{outcome}"><p class="outcome">{outcome}</p>{text}{helps}</section>'


def _nearest(exchange: Exchange) -> str:
    """The papers that come nearest to a question that none of them is about."""
    papers = {passage.paper.paper_id: passage.paper for passage in exchange.passages[:_NEAREST]}
    items = "".join(f"<li>{paper_button(paper)} {_about(paper)}</li>" for paper in papers.values())
    return f'<p class="help">The nearest papers here:</p><ul class="nearest">{items}</ul>' if items else ""


def _full_texts(exchange: Exchange) -> str:
    """Where the full text is that may say what the abstract does not."""
    papers = {citation.paper.paper_id: citation.paper for citation in exchange.citations}
    links = [f"{escaped(paper.label)}: {link(paper.full_text_url)}" for paper in papers.values() if paper.full_text_url]
    return f'<p class="help">The full text may say. {" · ".join(links)}</p>' if links else ""


def paper_button(paper: Paper) -> str:
    """The label of a paper; it opens the paper's page."""
    return button(paper.label, "paper", "paper-link", paper_id=paper.paper_id)


def _about(paper: Paper) -> str:
    named = {"paper_ids": paper.paper_id, "named": paper.label}
    return button("Ask about it", "scope", "quiet", label=f"Ask about {paper.label}", **named)


def _progress(exchange: Exchange) -> str:
    if exchange.phase == "stopped":
        return '<p class="progress">Stopped.</p>'
    if not exchange.is_live:
        return ""
    text = _SEARCHING if exchange.phase == "searching" else _WRITING
    if exchange.ahead:
        text = f"Waiting: {counted(exchange.ahead, 'question')} of others before yours"
    dots = '<span class="dots" aria-hidden="true"><i></i><i></i><i></i></span>'
    return f'<p class="progress">{text}{dots}</p>'


def sentences_html(sentences: Sequence[Sentence], turn: int) -> str:
    """The sentences in the paragraphs, lists and tables that they make up."""
    chips = count(1)
    labels = {citation.paper.label for sentence in sentences for citation in sentence.citations}

    def cell_html(cell: Iterable[Sentence]) -> str:
        return " ".join(sentence_html(each, labels, (f"cite-{turn}-{chip}" for chip in chips)) for each in cell)

    parts = []
    for block in blocks_of(sentences):
        if block.shape == "table":
            heading, *rows = [[cell_html(cell) for cell in row] for row in block.rows]
            parts.append(_table_html("Comparison", heading, rows))
        elif block.shape == "list" and _is_of_papers(block.rows, labels):
            papers = [_paper_of(row[0]) for row in block.rows]
            quotes = [cell_html(row[0][1:]) for row in block.rows]
            places = [escaped(paper.place) for paper in papers] if len({paper.place for paper in papers}) > 1 else []
            columns = [[paper_button(paper) for paper in papers], quotes, *([places] if places else [])]
            heading = ["Paper", "What its abstract says", "Where"][: len(columns)]
            parts.append(_table_html("Papers", heading, [*zip(*columns, strict=True)]))
        elif block.shape == "list":
            parts.append(f"<ul>{''.join(f'<li>{cell_html(row[0])}</li>' for row in block.rows)}</ul>")
        else:
            parts.append(f"<p>{cell_html(block.rows[0][0])}</p>")
    return "".join(parts)


def _is_of_papers(rows: Sequence[Sequence[Sequence[Sentence]]], labels: Iterable[str]) -> bool:
    """Whether each item of a list names a paper and then quotes it, and there are enough for a table."""
    return len(rows) >= _WORTH_A_TABLE and all(
        _names_paper(row[0][0], labels) and any(sentence.citations for sentence in row[0]) for row in rows
    )


def _names_paper(sentence: Sentence, labels: Iterable[str]) -> bool:
    return sentence.verdict == "program" and sentence.text.removesuffix(":") in labels


def _paper_of(item: Iterable[Sentence]) -> Paper:
    return next(citation.paper for sentence in item for citation in sentence.citations)


def _table_html(named: str, heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table that scrolls in a frame of its own where it is too wide."""
    head = "".join(f'<th scope="col" data-act="sort" aria-sort="none" tabindex="0">{cell}</th>' for cell in heading)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="table {named.lower()}" role="region" aria-label="{named}" tabindex="0">{table}</div>'


def sentence_html(sentence: Sentence, labels: Iterable[str], ids: Iterable[str]) -> str:
    """One sentence in the look of its verdict, with its source numbers; `ids` are for these."""
    chips = "".join(map(chip_html, _first_of_each_number(sentence.citations), ids))
    text = escaped(sentence.text)
    if sentence.verdict == "quoted":
        return f'<q class="quoted">“{_quotation(sentence)}”</q>{chips}'
    if sentence.verdict == "supported":
        return f'<span class="supported">{text}</span>{_check_html(sentence)}{chips}'
    if _names_paper(sentence, labels):
        return f'<b class="lead">{text}</b>'
    return f'<span class="program">{text}</span>'


def _quotation(sentence: Sentence) -> str:
    """What a quoted sentence says, with the formulas of the abstract where it is quoted whole."""
    text = sentence.text.removeprefix("“").removesuffix("”")
    if len(sentence.citations) == 1 and text == unmarked(readable(quote := sentence.citations[0].quote)):
        return rich(unmarked(quote))
    return escaped(text)


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


def _footnote(exchange: Exchange, number: int, *, is_last: bool) -> str:
    """What the answer rests on, and what can be done with it."""
    at = {"number": str(number)}
    answer = exchange.answer
    tools = [
        *([button("Copy", "copy", "quiet", text=plain_text(answer))] if answer and answer.citations else []),
        *([saves_html("take", TAKEN_AS, number=str(number))] if answer and answer.citations else []),
        *([button("Link", "link", "quiet", question=exchange.question)] if exchange.question.strip() else []),
        *([button("Ask again", "retry", "quiet", **at), button("Undo", "undo", "quiet")] if is_last else []),
        *([_thumbs(exchange, number)] if answer else []),
    ]
    rests_on = f"<span>{_rests_on(answer)}</span>" if answer and answer.citations else ""
    return f'<div class="footnote">{rests_on}{"".join(tools)}</div>{_thanks(exchange, number)}' if tools else ""


def _rests_on(answer: Answer) -> str:
    """Such as "3 quotations from 1 paper"."""
    verdicts = [sentence.verdict for sentence in answer.sentences if sentence.shown]
    kinds = {"quotation": verdicts.count("quoted"), "checked paraphrase": verdicts.count("supported")}
    pieces = " and ".join(counted(number, noun) for noun, number in kinds.items() if number)
    papers = len({citation.number for citation in answer.citations})
    return f"{pieces} from {counted(papers, 'paper')}"


def saves_html(act: str, formats: Mapping[str, Format[Any]], **data: str) -> str:
    """The menu of the formats in which something can be saved."""
    items = "".join(f"<li>{button(form.title, act, 'save', form=name, **data)}</li>" for name, form in formats.items())
    return f'<details class="menu"><summary>Save as</summary><ul>{items}</ul></details>'


def _thumbs(exchange: Exchange, number: int) -> str:
    """Whether the answer was good, as the reader sees it."""
    thumbs: tuple[tuple[str, str], ...] = (("up", "Good"), ("down", "Not good"))
    return "".join(
        button(
            text,
            "judge",
            "quiet chosen" if exchange.judged == verdict else "quiet",
            label=f"This answer is {text.lower()}",
            number=str(number),
            verdict=verdict,
        )
        for verdict, text in thumbs
    )


def _thanks(exchange: Exchange, number: int) -> str:
    """After a thumb: thanks, and room for a note."""
    if not exchange.judged:
        return ""
    if exchange.judged_note:
        return '<p class="thanks">Kept on this machine, with your note.</p>'
    return (
        f'<form class="thanks" data-act="judge" data-number="{number}" data-verdict="{exchange.judged}">'
        f'<label>Kept on this machine. <span class="unseen">A note on it</span>'
        '<input name="note" maxlength="2000" placeholder="Add a note: what was good, or what is missing?"></label>'
        "<button>Save</button></form>"
    )


def plain_text(answer: Answer) -> str:
    """The answer with its sources below, to be pasted elsewhere."""
    papers = {citation.number: citation.paper for citation in answer.citations}
    sources = [
        f"[{number}] " + ", ".join(filter(None, [paper.label, paper.place, *paper.urls[:1]]))
        for number, paper in sorted(papers.items())
    ]
    return "\n".join([answer.text, "", *sources])
