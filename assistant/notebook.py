"""An answer as HTML that needs no style sheet or script, for a notebook. `html.escaped` guards every text."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from assistant.blocks import Block, blocks_of
from assistant.html import escaped, link

if TYPE_CHECKING:
    from assistant.types import Answer, Sentence
    from vectorstore.types import Paper

_NOT_MATHS = "tex2jax_ignore mathjax_ignore"
"""A notebook would draw what stands between two dollar signs."""


def answer_html(answer: "Answer") -> str:
    """The question, the sentences in their paragraphs, lists and tables with quotations in italics, and the sources."""
    shown = (sentence for sentence in answer.sentences if sentence.shown)
    body = "".join(map(_block, blocks_of(shown)))
    return f'<div class="{_NOT_MATHS}"><p><b>{escaped(answer.question)}</b></p>{body}{_sources(answer)}</div>'


def _block(block: "Block[Sentence]") -> str:
    rows = [[" ".join(map(_sentence, cell)) for cell in row] for row in block.rows]
    if block.shape == "table":
        heading, *others = rows
        body = "".join(f"<tr>{_cells('td', row)}</tr>" for row in others)
        return f"<table><thead><tr>{_cells('th', heading)}</tr></thead><tbody>{body}</tbody></table>"
    if block.shape == "list":
        return f"<ul>{''.join(f'<li>{row[0]}</li>' for row in rows)}</ul>"
    return f"<p>{rows[0][0]}</p>"


def _cells(tag: str, cells: Iterable[str]) -> str:
    return "".join(f'<{tag} style="text-align:left;vertical-align:top">{cell}</{tag}>' for cell in cells)


def _sentence(sentence: "Sentence") -> str:
    text = escaped(sentence.text)
    numbers = dict.fromkeys(citation.number for citation in sentence.citations)
    marked = f"<i>{text}</i>" if sentence.verdict == "quoted" else text
    return marked + "".join(f"<sup>[{number}]</sup>" for number in numbers)


def _sources(answer: "Answer") -> str:
    papers = {citation.number: citation.paper for citation in answer.citations}
    items = "".join(f'<li value="{number}">{" · ".join(_paper(papers[number]))}</li>' for number in sorted(papers))
    return f"<ol>{items}</ol>" if items else ""


def _paper(paper: "Paper") -> Iterator[str]:
    yield f"<b>{escaped(paper.label)}</b>"
    if paper.place:
        yield escaped(paper.place)
    yield from map(link, paper.urls)
