"""The library: papers, the sources they came from and their vectors, in one SQLite file per collection.

It is the truth that the index is rebuilt from. Everything is written in transactions; a paper's id is minted
here once, and identifiers (so far the hash of the normalised abstract) lead to it.
"""

import hashlib
import json
import sqlite3
import unicodedata
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vectorstore.errors import CollectionBusy, CollectionDamaged, CollectionError, CollectionMissing
from vectorstore.labels import label_of
from vectorstore.types import Fingerprint, Paper, PaperRecord, PublishedIndex, Source, SourceChange

Row = tuple[Any, ...]

SCHEMA = 1
"""Of the library and the index; part of the fingerprint."""

_TABLES = """
CREATE TABLE papers (
    paper_id TEXT PRIMARY KEY, label TEXT NOT NULL UNIQUE, abstract TEXT NOT NULL, title TEXT,
    authors TEXT NOT NULL, venue TEXT, year INTEGER, urls TEXT NOT NULL
);
CREATE TABLE identifiers (
    scheme TEXT NOT NULL, value TEXT NOT NULL, paper_id TEXT NOT NULL REFERENCES papers ON DELETE CASCADE,
    PRIMARY KEY (scheme, value)
);
CREATE TABLE appearances (
    source TEXT NOT NULL, position INTEGER NOT NULL, paper_id TEXT NOT NULL REFERENCES papers ON DELETE CASCADE,
    PRIMARY KEY (source, paper_id)
);
CREATE INDEX appearances_of_paper ON appearances (paper_id);
CREATE TABLE vectors (
    model TEXT NOT NULL, text_hash TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (model, text_hash)
) WITHOUT ROWID;
CREATE TABLE published (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1), generation INTEGER NOT NULL, folder TEXT NOT NULL,
    chunks INTEGER NOT NULL, fingerprint TEXT NOT NULL
);
"""
_PAPER_COLUMNS = "p.paper_id, label, abstract, title, authors, venue, year, urls, source, position"
_FIRST_APPEARANCE = "(SELECT min(rowid) FROM appearances WHERE paper_id = p.paper_id)"
_BATCH = 500  # host parameters per statement, well under SQLite's limit


class Library:
    """One open library. Raises `CollectionDamaged` when its file is not a library of this schema."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        if not create and not path.is_file():
            raise CollectionMissing(f"There is no library {path}.", "Run: assistant index PATH --collection NAME")
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        with self._translating_errors():
            self._prepare()

    def close(self) -> None:
        """Ends the connection; the library cannot be used after it."""
        self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All writes inside happen together or not at all."""
        with self._translating_errors():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def replace_source(self, source: Source) -> SourceChange:
        """Makes the library hold just the papers of `source` for its path; papers of other sources stay."""
        before = {row[0] for row in self._rows("SELECT paper_id FROM appearances WHERE source = ?", source.path)}
        identifiers = {abstract_hash(record.abstract): record for record in reversed(source.papers)}
        known = {identifier: self._known_paper_id(identifier) for identifier in identifiers}
        gone = before - set(known.values())
        self._remove_appearances(source.path, gone)  # before new papers come, so that these can have their labels
        in_order = sorted(identifiers.items(), key=lambda item: item[1].position)
        changed = {
            paper_id
            for identifier, record in in_order
            if (paper_id := known[identifier])
            and self._is_first_source(source.path, paper_id)
            and self._renew(paper_id, record)
        }
        positions = {
            known[identifier] or self._mint(identifier, record): record.position for identifier, record in in_order
        }
        self._connection.executemany(
            "INSERT INTO appearances VALUES (?, ?, ?)"
            " ON CONFLICT (source, paper_id) DO UPDATE SET position = excluded.position",
            [(source.path, position, paper_id) for paper_id, position in positions.items()],
        )
        return SourceChange(
            path=source.path,
            added=len(positions.keys() - before),
            removed=len(gone),
            changed=len(changed),
            unchanged=len((positions.keys() & before) - changed),
            duplicates=len(source.papers) - len(positions),
        )

    def papers(self, paper_ids: Sequence[str] | None = None) -> list[Paper]:
        """All papers in the order they were first read, or those with the given ids, in that order."""
        query = f"SELECT {_PAPER_COLUMNS} FROM papers p JOIN appearances a ON a.rowid = {_FIRST_APPEARANCE}"
        with self._translating_errors():
            if paper_ids is None:
                return [_paper(row) for row in self._rows(f"{query} ORDER BY a.rowid")]
            found = {row[0]: _paper(row) for row in self._rows_in(f"{query} WHERE p.paper_id IN", paper_ids)}
        return [found[paper_id] for paper_id in paper_ids if paper_id in found]

    def labels(self) -> dict[str, str]:
        """paper_id by label."""
        with self._translating_errors():
            return dict(self._rows("SELECT label, paper_id FROM papers"))

    def vectors(self, model: str, texts: Iterable[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors held for those of `texts` that `model` has embedded before, by text."""
        texts_by_hash = {text_hash(text): text for text in texts}
        query = "SELECT text_hash, vector FROM vectors WHERE model = ? AND text_hash IN"
        with self._translating_errors():
            rows = list(self._rows_in(query, list(texts_by_hash), model))
        return {texts_by_hash[row[0]]: np.frombuffer(row[1], dtype=np.float32) for row in rows}

    def keep_vectors(self, model: str, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Stores one vector per text, so that it need not be embedded again; call it outside a transaction."""
        rows = [(model, text_hash(text), vector.tobytes()) for text, vector in zip(texts, vectors, strict=True)]
        with self.transaction():  # one for all: each waits for the disk
            self._connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

    def vector_rows(self, model: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of `texts`, one row each; the library must hold them all."""
        held = self.vectors(model, texts)
        return np.stack([held[text] for text in texts])

    def replace_papers(self, papers: Sequence[Paper]) -> None:
        """Makes the library hold just these papers, as another library has them; call it inside a transaction."""
        self._connection.execute("DELETE FROM papers")
        for paper in papers:
            self._add(paper.paper_id, paper.label, abstract_hash(paper.abstract), paper)
            row = (paper.source, paper.position, paper.paper_id)
            self._connection.execute("INSERT INTO appearances VALUES (?, ?, ?)", row)

    def identity(self) -> str | None:
        """What tells this library from any other; None before it is first needed."""
        with self._translating_errors():
            if not list(self._rows("SELECT 1 FROM sqlite_master WHERE name = 'identity'")):
                return None
            return next((str(row[0]) for row in self._rows("SELECT library_id FROM identity")), None)

    def ensure_identity(self) -> str:
        """The same, drawn at random now if need be."""
        known = self.identity()
        if known is None:
            known = uuid.uuid4().hex
            with self.transaction():
                self._connection.execute("CREATE TABLE identity (library_id TEXT NOT NULL)")
                self._connection.execute("INSERT INTO identity VALUES (?)", (known,))
        return known

    def published(self) -> PublishedIndex | None:
        """The index that belongs to this state of the library; None before the first one."""
        with self._translating_errors():
            rows = list(self._rows("SELECT generation, folder, chunks, fingerprint FROM published"))
        if not rows:
            return None
        generation, folder, chunks, fingerprint = rows[0]
        return PublishedIndex(generation, folder, chunks, Fingerprint(**json.loads(fingerprint)))

    def publish(self, index: PublishedIndex) -> None:
        """Names the index that readers are to open from now on."""
        row = (1, index.generation, index.folder, index.chunks, json.dumps(vars(index.fingerprint)))
        self._connection.execute("INSERT OR REPLACE INTO published VALUES (?, ?, ?, ?, ?)", row)

    def _prepare(self) -> None:
        self._connection.execute("PRAGMA foreign_keys = ON")
        (version,) = next(self._rows("PRAGMA user_version"))
        if version == 0 and not list(self._rows("SELECT 1 FROM sqlite_master LIMIT 1")):
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.executescript(f"BEGIN; {_TABLES} PRAGMA user_version = {SCHEMA}; COMMIT;")
        elif version != SCHEMA:
            raise CollectionDamaged(
                f"The library {self.path} has schema {version}; this version of the program reads schema {SCHEMA}.",
                "Index the files again into a new collection: assistant index PATH --collection NEW_NAME",
            )

    def _known_paper_id(self, identifier: str) -> str | None:
        query = "SELECT paper_id FROM identifiers WHERE scheme = 'abstract' AND value = ?"
        return next((str(row[0]) for row in self._rows(query, identifier)), None)

    def _remove_appearances(self, source: str, paper_ids: Iterable[str]) -> None:
        """Papers that appear in no other source go with them."""
        rows = [(source, paper_id) for paper_id in paper_ids]
        self._connection.executemany("DELETE FROM appearances WHERE source = ? AND paper_id = ?", rows)
        self._connection.execute("DELETE FROM papers WHERE paper_id NOT IN (SELECT paper_id FROM appearances)")

    def _mint(self, identifier: str, record: PaperRecord) -> str:
        """Adds a paper that the library does not know, and returns the id it has from now on."""
        paper_id = identifier[:16]
        self._add(paper_id, self._free_label(label_of(record)), identifier, record)
        return paper_id

    def _add(self, paper_id: str, label: str, identifier: str, record: PaperRecord | Paper) -> None:
        self._connection.execute(
            "INSERT INTO papers VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                paper_id,
                label,
                record.abstract,
                record.title,
                json.dumps(record.authors),
                record.venue,
                record.year,
                json.dumps(record.urls),
            ),
        )
        self._connection.execute("INSERT INTO identifiers VALUES ('abstract', ?, ?)", (identifier, paper_id))

    def _is_first_source(self, source: str, paper_id: str) -> bool:
        """Whether a paper's title and the like are taken from `source`: of several, the first read has the say."""
        query = "SELECT source FROM appearances WHERE paper_id = ? ORDER BY rowid LIMIT 1"
        return any(row[0] == source for row in self._rows(query, paper_id))

    def _renew(self, paper_id: str, record: PaperRecord) -> bool:
        """Brings what is known of a paper, beside its abstract, up to date; whether that changed anything."""
        new = (record.title, json.dumps(record.authors), record.venue, record.year, json.dumps(record.urls))
        query = "SELECT title, authors, venue, year, urls FROM papers WHERE paper_id = ?"
        (old,) = self._rows(query, paper_id)
        if old == new:
            return False
        if old[0] != record.title:
            self._connection.execute("UPDATE papers SET label = paper_id WHERE paper_id = ?", (paper_id,))
            label = self._free_label(label_of(record))
            self._connection.execute("UPDATE papers SET label = ? WHERE paper_id = ?", (label, paper_id))
        update = "UPDATE papers SET title = ?, authors = ?, venue = ?, year = ?, urls = ? WHERE paper_id = ?"
        self._connection.execute(update, (*new, paper_id))
        return True

    def _free_label(self, label: str) -> str:
        """`label`, or with a number after it when another paper has it already."""
        candidate, number = label, 1
        while list(self._rows("SELECT 1 FROM papers WHERE label = ?", candidate)):
            number += 1
            candidate = f"{label} ({number})"
        return candidate

    def _rows(self, query: str, *values: object) -> Iterator[Row]:
        return iter(self._connection.execute(query, values).fetchall())

    def _rows_in(self, query: str, members: Sequence[str], *values: object) -> Iterator[Row]:
        """The rows of `query IN (members)`, asked for in batches."""
        for start in range(0, len(members), _BATCH):
            batch = members[start : start + _BATCH]
            yield from self._rows(f"{query} ({','.join('?' * len(batch))})", *values, *batch)

    @contextmanager
    def _translating_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise CollectionBusy(
                    f"The library {self.path} is in use.", "Try again when the other command is done."
                ) from error
            raise CollectionError(
                f"The library {self.path} cannot be used: {error}.", "Check disk space and permissions."
            ) from error
        except sqlite3.DatabaseError as error:
            raise CollectionDamaged(
                f"The library {self.path} cannot be read: {error}.",
                "Move the file away and index the papers again: assistant index PATH --collection NAME",
            ) from error


def abstract_hash(abstract: str) -> str:
    """SHA-256 of an abstract without regard to case, spacing and compatible characters."""
    return text_hash(" ".join(unicodedata.normalize("NFKC", abstract).casefold().split()))


def text_hash(text: str) -> str:
    """SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def _paper(row: Row) -> Paper:
    paper_id, label, abstract, title, authors, venue, year, urls, source, position = row
    return Paper(
        paper_id=paper_id,
        label=label,
        abstract=abstract,
        title=title,
        authors=tuple(json.loads(authors)),
        venue=venue,
        year=year,
        urls=tuple(json.loads(urls)),
        source=source,
        position=position,
    )
