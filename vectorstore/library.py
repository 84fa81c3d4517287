"""The library: papers, the sources they came from and their vectors, in one SQLite file per collection.

It is the truth that the index is rebuilt from. Everything is written in transactions; a paper's id is minted
here once, and identifiers lead to it: DOI, the numbers of arXiv, OpenReview and PubMed, the hash of the normalised
abstract, or a title with nearly the same abstract. What each source says of a paper is kept; of several, the first read
has the say, and the others fill its gaps.
"""

import json
import os
import sqlite3
import uuid
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vectorstore.errors import CollectionBusy, CollectionDamaged, CollectionError, CollectionMissing, EmbeddingError
from vectorstore.identity import identifiers_of, is_same_but_for_wording, merged, paper_id_of, text_hash, title_key
from vectorstore.labels import label_of
from vectorstore.types import (
    Description,
    Duplicate,
    Fingerprint,
    Paper,
    PaperRecord,
    PublishedIndex,
    Source,
    SourceChange,
)

Row = tuple[Any, ...]

SCHEMA = 2
"""Of the tables below; the number of their last change."""

_PAPER_TABLES = """
CREATE TABLE papers (
    paper_id TEXT PRIMARY KEY, label TEXT NOT NULL UNIQUE, abstract TEXT NOT NULL, title_key TEXT, known TEXT NOT NULL
);
CREATE INDEX papers_of_title ON papers (title_key);
CREATE TABLE identifiers (
    scheme TEXT NOT NULL, value TEXT NOT NULL, paper_id TEXT NOT NULL REFERENCES papers ON DELETE CASCADE,
    PRIMARY KEY (scheme, value)
);
CREATE TABLE appearances (
    source TEXT NOT NULL, position INTEGER NOT NULL, paper_id TEXT NOT NULL REFERENCES papers ON DELETE CASCADE,
    record BLOB NOT NULL, PRIMARY KEY (source, paper_id)
);
CREATE INDEX identifiers_of_paper ON identifiers (paper_id);
CREATE INDEX appearances_of_paper ON appearances (paper_id)
"""
_TABLES = f"""{_PAPER_TABLES};
CREATE TABLE vectors (
    model TEXT NOT NULL, text_hash TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (model, text_hash)
) WITHOUT ROWID;
CREATE TABLE published (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1), generation INTEGER NOT NULL, folder TEXT NOT NULL,
    chunks INTEGER NOT NULL, fingerprint TEXT NOT NULL
);
"""
_PAPER_COLUMNS = "p.paper_id, label, abstract, known, source, position"
_FIRST_APPEARANCE = "(SELECT min(rowid) FROM appearances WHERE paper_id = p.paper_id)"
_KEEP_APPEARANCE = (
    "INSERT INTO appearances VALUES (?, ?, ?, ?)"
    " ON CONFLICT (source, paper_id) DO UPDATE SET position = excluded.position, record = excluded.record"
)
_DESCRIBED = [field.name for field in fields(Description)]
_BATCH = 500  # host parameters per statement, well under SQLite's limit


@dataclass(frozen=True, kw_only=True)
class SourceInfo:
    """A file that papers were read from."""

    path: str
    papers: int


class Library:
    """One open library. Raises `CollectionDamaged` when its file is not a library of this schema."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        if not create and not path.is_file():
            raise CollectionMissing(f"There is no library {path}.", "Run: assistant index PATH --collection NAME")
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._is_read_only = is_read_only(path)
        with self._translating_errors():
            self._connection = _connection(path)
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
        known = [self._paper_id_of(record) for record in source.papers]
        gone = before - set(known)
        self._remove_appearances(source.path, gone)  # before new papers come, so that these can have their labels
        placed: dict[str, int] = {}
        changed: set[str] = set()
        duplicates = []
        for record, known_id in zip(source.papers, known, strict=True):
            met_before = known_id or self._paper_id_of(record)
            paper_id = met_before or self._mint(record)
            if paper_id in placed:
                duplicates.append(Duplicate(position=record.position, of=placed[paper_id]))
                continue
            placed[paper_id] = record.position
            self._connection.execute(_KEEP_APPEARANCE, (source.path, record.position, paper_id, _packed(record)))
            if met_before and self._settle(paper_id):
                changed.add(paper_id)
        for paper_id in gone:
            self._settle(paper_id)
        return SourceChange(
            path=source.path,
            format=source.format,
            added=len(placed.keys() - before),
            removed=len(gone),
            changed=len(changed & before),
            unchanged=len((placed.keys() & before) - changed),
            title_only=sum(record.is_title_only for record in source.papers),
            duplicates=tuple(duplicates),
            skipped=source.skipped,
            warnings=source.warnings,
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

    def sources(self) -> list[SourceInfo]:
        """The files that papers were read from, in the order they were first read."""
        query = "SELECT source, count(*) FROM appearances GROUP BY source ORDER BY min(rowid)"
        with self._translating_errors():
            return [SourceInfo(path=path, papers=count) for path, count in self._rows(query)]

    def vectors(self, model: str, texts: Iterable[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors held for those of `texts` that `model` has embedded before, by text."""
        texts_by_hash = {text_hash(text): text for text in texts}
        query = "SELECT text_hash, vector FROM vectors WHERE model = ? AND text_hash IN"
        with self._translating_errors():
            rows = list(self._rows_in(query, list(texts_by_hash), model))
        return {texts_by_hash[row[0]]: np.frombuffer(row[1], dtype=np.float32) for row in rows}

    def without_vector(self, model: str, texts: Iterable[str]) -> list[str]:
        """Those of `texts` that `model` has not embedded before, each once."""
        texts_by_hash = {text_hash(text): text for text in texts}
        query = "SELECT text_hash FROM vectors WHERE model = ? AND text_hash IN"
        with self._translating_errors():
            for row in self._rows_in(query, list(texts_by_hash), model):
                del texts_by_hash[row[0]]
        return list(texts_by_hash.values())

    def keep_vectors(self, model: str, texts: Iterable[str], vectors: Iterable[NDArray[np.float32]]) -> None:
        """Stores one vector per text, so that it need not be embedded again.

        Raises `EmbeddingError` unless it has as many dimensions as those that are held of this model.
        """
        rows = [(model, text_hash(text), vector.tobytes()) for text, vector in zip(texts, vectors, strict=True)]
        self._refuse_other_dimensions(model, {len(vector) for _, _, vector in rows})
        with nullcontext() if self._connection.in_transaction else self.transaction():
            self._connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

    def _refuse_other_dimensions(self, model: str, lengths: set[int]) -> None:
        held = self._rows("SELECT length(vector) FROM vectors WHERE model = ? LIMIT 1", model)
        if len(lengths.union(row[0] for row in held)) > 1:
            raise EmbeddingError(
                f"The embedding model {model!r} gives vectors of another length than before.",
                "Check its server: another model may answer by that name.",
            )

    def vector_rows(self, model: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of `texts`, one row each; the library must hold them all."""
        parts = []
        for start in range(0, len(texts), _BATCH):
            held = self.vectors(model, texts[start : start + _BATCH])
            parts.append(np.stack([held[text] for text in texts[start : start + _BATCH]]))
        return np.concatenate(parts)

    def replace_papers(self, papers: Sequence[Paper]) -> None:
        """Makes the library hold just these papers, as another library has them; call it inside a transaction."""
        self._connection.execute("DELETE FROM papers")
        for paper in papers:
            record = record_of(paper, paper.position)
            self._add(paper.paper_id, paper.label, record)
            row = (paper.source, paper.position, paper.paper_id, _packed(record))
            self._connection.execute(_KEEP_APPEARANCE, row)

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
        elif version == 1:
            self._upgrade()
        elif version != SCHEMA:
            raise CollectionDamaged(
                f"The library {self.path} has schema {version}; this version of the program reads schema {SCHEMA}.",
                "Index the files again into a new collection: assistant index PATH --collection NEW_NAME",
            )

    def _upgrade(self) -> None:
        """From schema 1, which had less of a paper and not what each source said of it."""
        columns = "p.paper_id, label, abstract, title, authors, venue, year, urls, source, position"
        query = f"SELECT {columns} FROM papers p JOIN appearances a USING (paper_id) ORDER BY a.rowid"
        rows = list(self._rows(query))
        with self.transaction():
            for statement in ("DROP TABLE appearances", "DROP TABLE identifiers", "DROP TABLE papers"):
                self._connection.execute(statement)
            for statement in _PAPER_TABLES.split(";"):
                self._connection.execute(statement)
            for paper_id, label, abstract, title, authors, venue, year, urls, source, position in rows:
                known = {"title": title, "authors": json.loads(authors), "venue": venue, "year": year}
                record = _record({**known, "urls": json.loads(urls), "abstract": abstract, "position": position})
                self._add(paper_id, label, record)
                self._connection.execute(_KEEP_APPEARANCE, (source, position, paper_id, _packed(record)))
            self._connection.execute(f"PRAGMA user_version = {SCHEMA}")

    def _paper_id_of(self, record: PaperRecord) -> str | None:
        """The paper that the library has for a record, by the first of its identifiers that leads to one."""
        query = "SELECT paper_id FROM identifiers WHERE scheme = ? AND value = ?"
        for identifier in identifiers_of(record):
            if rows := list(self._rows(query, *identifier)):
                return str(rows[0][0])
        return self._paper_id_by_title(record)

    def _paper_id_by_title(self, record: PaperRecord) -> str | None:
        key = title_key(record.title)
        rows = self._rows("SELECT paper_id, abstract, known FROM papers WHERE title_key = ?", key) if key else iter(())
        for paper_id, abstract, known in rows:
            other = _record({**json.loads(known), "abstract": abstract, "position": 0})
            if is_same_but_for_wording(record, other):
                return str(paper_id)
        return None

    def _remove_appearances(self, source: str, paper_ids: Iterable[str]) -> None:
        """Papers that appear in no other source go with them."""
        rows = [(source, paper_id) for paper_id in paper_ids]
        self._connection.executemany("DELETE FROM appearances WHERE source = ? AND paper_id = ?", rows)
        self._connection.execute("DELETE FROM papers WHERE paper_id NOT IN (SELECT paper_id FROM appearances)")

    def _mint(self, record: PaperRecord) -> str:
        """Adds a paper that the library does not know, and returns the id it has from now on."""
        paper_id = paper_id_of(record)
        while list(self._rows("SELECT 1 FROM papers WHERE paper_id = ?", paper_id)):
            paper_id = text_hash(paper_id)[: len(paper_id)]  # that paper had this abstract once
        self._add(paper_id, self._free_label(label_of(record)), record)
        return paper_id

    def _add(self, paper_id: str, label: str, record: PaperRecord) -> None:
        row = (paper_id, label, record.abstract, title_key(record.title), _dumped(record))
        self._connection.execute("INSERT INTO papers VALUES (?, ?, ?, ?, ?)", row)
        self._identify(paper_id, [record])

    def _identify(self, paper_id: str, records: Iterable[PaperRecord]) -> None:
        """Lets what identifies these records lead to the paper, unless it leads to another one."""
        self._connection.executemany(
            "INSERT OR IGNORE INTO identifiers VALUES (?, ?, ?)",
            [(*identifier, paper_id) for record in records for identifier in identifiers_of(record)],
        )

    def _settle(self, paper_id: str) -> bool:
        """Makes a paper what its sources say together; whether that changed anything."""
        query = "SELECT record FROM appearances WHERE paper_id = ? ORDER BY rowid"
        records = [_unpacked(row[0]) for row in self._rows(query, paper_id)]
        if not records:
            return False
        whole = merged(records)
        new = (whole.abstract, title_key(whole.title), _dumped(whole))
        (old,) = self._rows("SELECT abstract, title_key, known, label FROM papers WHERE paper_id = ?", paper_id)
        if old[:3] == new:
            return False
        if old[1] != new[1]:
            self._connection.execute("UPDATE papers SET label = paper_id WHERE paper_id = ?", (paper_id,))
            label = self._free_label(label_of(whole))
            self._connection.execute("UPDATE papers SET label = ? WHERE paper_id = ?", (label, paper_id))
        update = "UPDATE papers SET abstract = ?, title_key = ?, known = ? WHERE paper_id = ?"
        self._connection.execute(update, (*new, paper_id))
        self._connection.execute("DELETE FROM identifiers WHERE paper_id = ?", (paper_id,))
        self._identify(paper_id, records)
        return True

    def _free_label(self, label: str) -> str:
        """`label`, or with a number after it when another paper has it already."""
        candidate, number = label, 1
        while list(self._rows("SELECT 1 FROM papers WHERE label = ?", candidate)):
            number += 1
            candidate = f"{label} ({number})"
        return candidate

    def _rows(self, query: str, *values: object) -> Iterator[Row]:
        if not self._is_read_only:
            return iter(self._connection.execute(query, values).fetchall())
        with closing(_connection(self.path)) as connection:  # a new one sees what others write
            return iter(connection.execute(query, values).fetchall())

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


def is_read_only(path: Path) -> bool:
    """Whether there is a library that may be read and not written to."""
    return path.is_file() and not all(os.access(place, os.W_OK) for place in (path, path.parent))


def _connection(path: Path) -> sqlite3.Connection:
    """SQLite reads a library with files beside it; where it may not make them and no writer has, it reads without."""
    how = ""
    if is_read_only(path):
        how = "?mode=ro" if path.with_name(f"{path.name}-wal").exists() else "?immutable=1"
    return sqlite3.connect(
        f"{path.absolute().as_uri()}{how}", uri=True, timeout=30, isolation_level=None, check_same_thread=False
    )


def record_of(paper: Paper, position: int) -> PaperRecord:
    """What is known of a paper, as a record of another source."""
    return PaperRecord(**_described(paper), position=position)


def _paper(row: Row) -> Paper:
    paper_id, label, abstract, known, source, position = row
    record = _record({**json.loads(known), "abstract": abstract, "position": position})
    return Paper(**_described(record), paper_id=paper_id, label=label, source=source, position=position)


def _record(values: dict[str, Any]) -> PaperRecord:
    given: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    return PaperRecord(**given)


def _described(paper: Description) -> dict[str, Any]:
    return {name: getattr(paper, name) for name in _DESCRIBED}


def _dumped(record: PaperRecord) -> str:
    """What is known of a paper beside its abstract, as JSON."""
    known = {name: value for name, value in _described(record).items() if value and name != "abstract"}
    return json.dumps(known, ensure_ascii=False)


def _packed(record: PaperRecord) -> bytes:
    values = {name: value for name, value in vars(record).items() if value}
    return zlib.compress(json.dumps(values, ensure_ascii=False).encode(), level=1)


def _unpacked(data: bytes) -> PaperRecord:
    return _record(json.loads(zlib.decompress(data)))
