"""What papers are filtered by: venue, year, authors, code. One SQLite file per index, asked for rows of chunks."""

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vectorstore.code import has_code
from vectorstore.errors import CollectionDamaged
from vectorstore.exact import Rows
from vectorstore.filters import PaperFilter, author_key, is_same_author, surname_key, venue_key
from vectorstore.types import Chunk, Paper

_TABLES = """
CREATE TABLE chunks (row INTEGER PRIMARY KEY, venue TEXT, year INTEGER, has_code INTEGER NOT NULL);
CREATE TABLE venues (venue TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE authors (surname TEXT NOT NULL, author TEXT NOT NULL, row INTEGER NOT NULL);
"""
_INDEXES = """
CREATE INDEX by_venue ON chunks (venue, year);
CREATE INDEX by_year ON chunks (year);
CREATE INDEX by_author ON authors (surname, author);
"""


class Facets:
    """Which rows of an index pass a filter."""

    def __init__(self, path: Path, *, rebuild_command: str) -> None:
        """Opens a built file. Raises `CollectionDamaged` when it cannot be read."""
        self._path = path
        self._hint = f"Rebuild it from the library: {rebuild_command}"
        try:
            self._connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)
            self._connection.create_function("is_same_author", 2, is_same_author, deterministic=True)
        except sqlite3.Error as error:
            raise self._damaged(error) from error
        self._venues = dict(self._found("SELECT venue, name FROM venues"))

    def rows(self, wanted: PaperFilter) -> Rows:
        """The rows of the chunks whose papers pass, in order."""
        conditions, values = _conditions(wanted)
        found = self._found(f"SELECT row FROM chunks WHERE {' AND '.join(conditions) or '1'} ORDER BY row", *values)
        return np.fromiter((row[0] for row in found), dtype=np.intp)

    def has_author(self, name: str) -> bool:
        """Whether a paper is by `name`."""
        condition, values = _by_author(name)
        return bool(self._found(f"SELECT 1 FROM authors WHERE {condition} LIMIT 1", *values))

    def venue(self, name: str) -> str | None:
        """The venue of that name, as the collection writes it; None when no paper is from there."""
        return self._venues.get(venue_key(name))

    def _found(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise self._damaged(error) from error

    def _damaged(self, error: sqlite3.Error) -> CollectionDamaged:
        return CollectionDamaged(f"The file {self._path} cannot be read ({error}).", self._hint)


def build_facets(path: Path, papers: Iterable[Paper], chunks: Sequence[Chunk]) -> None:
    """Writes what the papers of `chunks` are filtered by into a new file."""
    rows_of: dict[str, list[int]] = {}
    for row, chunk in enumerate(chunks):
        rows_of.setdefault(chunk.paper_id, []).append(row)
    connection = sqlite3.connect(path)
    try:
        connection.executescript(_TABLES)
        for paper in papers:
            _write(connection, paper, rows_of.get(paper.paper_id, []))
        connection.executescript(_INDEXES)
        connection.commit()
    finally:
        connection.close()


def _write(connection: sqlite3.Connection, paper: Paper, rows: Sequence[int]) -> None:
    venue, code = venue_key(paper.venue or "") or None, has_code(paper)
    connection.executemany("INSERT INTO chunks VALUES (?, ?, ?, ?)", [(row, venue, paper.year, code) for row in rows])
    if venue:
        connection.execute("INSERT OR IGNORE INTO venues VALUES (?, ?)", (venue, paper.venue))
    names = {author_key(author) for author in paper.authors}
    connection.executemany(
        "INSERT INTO authors VALUES (?, ?, ?)",
        [(surname_key(name), name, row) for name in sorted(names) for row in rows],
    )


def _conditions(wanted: PaperFilter) -> tuple[list[str], list[object]]:
    conditions: list[str] = []
    values: list[object] = []
    for condition, value in (
        ("venue = ?", wanted.venue and venue_key(wanted.venue)),
        ("year >= ?", wanted.first_year),
        ("year <= ?", wanted.last_year),
    ):
        if value is not None:
            conditions.append(condition)
            values.append(value)
    if wanted.author is not None:
        condition, of_author = _by_author(wanted.author)
        conditions.append(f"row IN (SELECT row FROM authors WHERE {condition})")
        values += of_author
    if wanted.with_code:
        conditions.append("has_code")
    return conditions, values


def _by_author(name: str) -> tuple[str, list[object]]:
    return "surname = ? AND is_same_author(?, author)", [surname_key(name), name]
