"""What papers are filtered by: venue, year, authors, code ... One SQLite file per index, asked for rows of chunks."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vectorstore.code import has_code
from vectorstore.errors import CollectionDamaged
from vectorstore.exact import Rows
from vectorstore.filters import PaperFilter, author_key, is_same_author, surname_key, venue_key
from vectorstore.types import Chunk, Paper

_TABLES = """
CREATE TABLE chunks (
    row INTEGER PRIMARY KEY, paper TEXT NOT NULL, venue TEXT, year INTEGER, has_code INTEGER NOT NULL, track TEXT,
    session TEXT
);
CREATE TABLE venues (venue TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE authors (surname TEXT NOT NULL, author TEXT NOT NULL, row INTEGER NOT NULL);
"""
_INDEXES = """
CREATE INDEX by_paper ON chunks (paper);
CREATE INDEX by_venue ON chunks (venue, year);
CREATE INDEX by_year ON chunks (year);
CREATE INDEX by_author ON authors (surname, author);
"""


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What papers can be filtered by, each value with the number of papers that have it."""

    venues: Mapping[str, int]
    """The most frequent first."""
    years: Mapping[int, int]
    """The latest first."""
    tracks: Mapping[str, int]
    sessions: Mapping[str, int]
    with_code: int


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

    def paper_ids(self, wanted: PaperFilter) -> list[str]:
        """The ids of the papers that pass, in the order in which they were first read."""
        conditions, values = _conditions(wanted)
        where = " AND ".join(conditions) or "1"
        found = self._found(f"SELECT paper FROM chunks WHERE {where} GROUP BY paper ORDER BY min(row)", *values)
        return [row[0] for row in found]

    def choices(self) -> Choices:
        """What there is to choose from."""
        venues = {self._venues[key]: count for key, count in self._counted("venue", "2 DESC, 1")}
        (with_code,) = self._found("SELECT count(DISTINCT paper) FROM chunks WHERE has_code")[0]
        return Choices(
            venues=venues,
            years=dict(self._counted("year", "1 DESC")),
            tracks=dict(self._counted("track", "1")),
            sessions=dict(self._counted("session", "1")),
            with_code=with_code,
        )

    def _counted(self, column: str, order: str) -> list[tuple[Any, ...]]:
        """The values of a column, each with its number of papers."""
        query = f"SELECT {column}, count(DISTINCT paper) FROM chunks WHERE {column} IS NOT NULL"
        return self._found(f"{query} GROUP BY {column} ORDER BY {order}")

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
    facts = (paper.paper_id, venue, paper.year, code, paper.track, paper.session)
    connection.executemany("INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?)", [(row, *facts) for row in rows])
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
        ("track = ?", wanted.track),
        ("session = ?", wanted.session),
        ("paper IN (SELECT value FROM json_each(?))", _as_json(wanted.paper_ids)),
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


def _as_json(values: Sequence[str] | None) -> str | None:
    return None if values is None else json.dumps(values)


def _by_author(name: str) -> tuple[str, list[object]]:
    return "surname = ? AND is_same_author(?, author)", [surname_key(name), name]
