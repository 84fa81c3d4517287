"""Sentences -> the paragraphs, lists and tables they make up, for whoever shows them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

Opens = Literal["", "paragraph", "item", "row", "cell"]
"""What begins with a sentence: nothing, when it goes on after the one before; a row is one of a table."""
Shape = Literal["paragraph", "list", "table"]
_SHAPES: dict[Opens, Shape] = {"paragraph": "paragraph", "item": "list", "row": "table"}


class Piece(Protocol):
    """A sentence, as far as it matters here."""

    @property
    def opens(self) -> Opens:
        """What begins with it."""
        ...


P = TypeVar("P", bound=Piece)


@dataclass(frozen=True)
class Block(Generic[P]):
    """A paragraph is one row of one cell, a list one cell a row; the first row of a table is its heading."""

    shape: Shape
    rows: list[list[list[P]]]
    """Rows of cells of sentences."""


def blocks_of(pieces: Iterable[P]) -> list[Block[P]]:
    """The blocks in order. Rows and items that follow each other are of one table or list."""
    blocks: list[Block[P]] = []
    for piece in pieces:
        shape = _SHAPES.get(piece.opens, "paragraph")
        if piece.opens == "cell" and blocks:
            blocks[-1].rows[-1].append([piece])
        elif piece.opens == "" and blocks:
            blocks[-1].rows[-1][-1].append(piece)
        elif blocks and blocks[-1].shape == shape != "paragraph":
            blocks[-1].rows.append([[piece]])
        else:
            blocks.append(Block(shape, [[[piece]]]))
    return blocks


def markdown_of(pieces: Iterable[P], text_of: Callable[[P], str]) -> str:
    """The blocks as Markdown; `text_of` gives the Markdown of one sentence."""

    def cell(sentences: Iterable[P]) -> str:
        return " ".join(map(text_of, sentences))

    def block(found: Block[P]) -> str:
        rows = [[cell(sentences) for sentences in row] for row in found.rows]
        if found.shape == "list":
            return "\n".join(f"- {row[0]}" for row in rows)
        return _table(rows) if found.shape == "table" else rows[0][0]

    return "\n\n".join(map(block, blocks_of(pieces)))


def _table(rows: list[list[str]]) -> str:
    heading, *others = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([heading, "|" + " --- |" * len(rows[0]), *others])
