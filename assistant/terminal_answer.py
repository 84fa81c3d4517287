"""An answer on a terminal, by rich: quotations in italics, source numbers dim, tables, sources with links.

What others wrote is never read as markup of rich and never steers the terminal: all of it becomes `Text`. There are no
colours, so that nothing is lost where there can be none.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.style import Style
from rich.table import Table
from rich.text import Text

from assistant.blocks import Block, blocks_of
from vectorstore.addresses import escaped_address
from vectorstore.visible import visible

if TYPE_CHECKING:
    from assistant.types import Answer, Sentence
    from vectorstore.types import Paper

_LEAST_COLUMN = 18
"""Characters that each column of a table must have; on a narrower terminal its cells stand below each other."""


def rendered(answer: "Answer", console: Console) -> RenderableType:
    """The sentences, and below them the sources."""
    papers = {citation.number: citation.paper for citation in answer.citations}
    sources = [Text(""), *(_source(number, papers[number]) for number in sorted(papers))] if papers else []
    return Group(rendered_sentences(answer.sentences, console), *sources)


def rendered_sentences(sentences: Sequence["Sentence"], console: Console) -> RenderableType:
    """The shown ones of these in the paragraphs, lists and tables that they make up."""
    shown = [sentence for sentence in sentences if sentence.shown]
    leads = {f"{citation.paper.label}:" for sentence in shown for citation in sentence.citations}
    parts = [part for block in blocks_of(shown) for part in (Text(""), *_block(block, leads, console.width))]
    return Group(*parts[1:])


def _block(block: "Block[Sentence]", leads: set[str], width: int) -> Iterator[RenderableType]:
    rows = [[Text(" ").join(_sentence(each, leads) for each in cell) for cell in row] for row in block.rows]
    if block.shape == "list":
        for row in rows:
            yield _indented(Text("- ").append_text(row[0]))
    elif block.shape == "paragraph":
        yield rows[0][0]
    elif width < _LEAST_COLUMN * len(rows[0]):
        yield from _below_each_other(rows)
    else:
        yield _table(rows)


def _indented(item: Text) -> RenderableType:
    """An item of a list, whose lines after the first begin below its text."""
    grid = Table.grid()
    grid.add_column(width=2)
    grid.add_column(overflow="fold")
    grid.add_row(item[:2], item[2:])
    return grid


def _table(rows: Sequence[Sequence[Text]]) -> Table:
    heading, *others = rows
    table = Table(show_lines=True)
    for name in heading:
        table.add_column(name, overflow="fold")
    for row in others:
        table.add_row(*row)
    return table


def _below_each_other(rows: Sequence[Sequence[Text]]) -> Iterator[RenderableType]:
    heading, *others = rows
    for at, row in enumerate(others):
        yield from [Text("")] if at else []
        for name, cell in zip(heading, row, strict=True):
            yield Text.assemble((name.plain, "bold"), ": ", cell)


def _sentence(sentence: "Sentence", leads: set[str]) -> Text:
    style = "italic" if sentence.verdict == "quoted" else "bold" if sentence.text in leads else ""
    text = Text(visible(sentence.text), style)
    for number in dict.fromkeys(citation.number for citation in sentence.citations):
        text = Text.assemble(text, " ", (f"[{number}]", "dim"))
    return text


def _source(number: int, paper: "Paper") -> Text:
    told = Text.assemble((f"[{number}]", "dim"), " ", (visible(paper.label), "bold"))
    if paper.place:
        told.append(f"  {visible(paper.place)}")
    for url in paper.urls:
        told.append("  ").append(visible(url), _link(url))
    return told


def _link(url: str) -> Style:
    """A terminal that knows links opens them also where they are broken into lines."""
    return Style(link=escaped_address(url)) if url.startswith(("https://", "http://")) else Style()
