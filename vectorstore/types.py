"""What the index flow and the retriever hand to each other. Spans are code points in the abstract."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True, kw_only=True)
class Description:
    """What is known of a paper; None or empty where no source says it."""

    abstract: str
    """As in the file, LaTeX and Markdown included, without tags of HTML and invisible characters; the title where the
    file has no abstract."""
    title: str | None = None
    authors: tuple[str, ...] = ()
    """Each as "Given Family"."""
    venue: str | None = None
    year: int | None = None
    urls: tuple[str, ...] = ()
    """Its pages, then the addresses found in its abstract, in order."""
    pdf_url: str | None = None
    doi: str | None = None
    """In lower case, from "10." on."""
    arxiv_id: str | None = None
    """Without its version."""
    openreview_id: str | None = None
    pubmed_id: str | None = None
    keywords: tuple[str, ...] = ()
    track: str | None = None
    """Such as "Oral"."""
    session: str | None = None
    room: str | None = None
    starts_at: str | None = None
    """When it is presented, in ISO 8601."""

    @property
    def is_title_only(self) -> bool:
        """Whether its title stands for an abstract that no source has."""
        return self.abstract == self.title

    @property
    def full_text_url(self) -> str | None:
        """Where the full text is, if that is known."""
        return self.pdf_url or (f"https://arxiv.org/pdf/{self.arxiv_id}" if self.arxiv_id else None)

    @property
    def place(self) -> str:
        """Where it was published, such as "ICML 2026"; empty when not known."""
        return " ".join(str(part) for part in (self.venue, self.year) if part)


@dataclass(frozen=True, kw_only=True)
class PaperRecord(Description):
    """A paper as a reader found it in a file, before the library knows it."""

    position: int
    """Which record of its source file it is, from 1."""


@dataclass(frozen=True, kw_only=True)
class SkippedRecord:
    """A record that is no paper of the collection, and why."""

    position: int
    """Which record of its source file it is, from 1."""
    reason: str
    line: int | None = None
    """Where it stands in the file, from 1; None where that says nothing."""
    file: str | None = None
    """The member of an archive that it stands in."""

    def __str__(self) -> str:
        place = "".join([f" in {self.file}" if self.file else "", f", line {self.line}" if self.line else ""])
        return f"record {self.position}{place}: {self.reason}"


@dataclass(frozen=True, kw_only=True)
class Source:
    """One file and what it holds."""

    path: str
    papers: tuple[PaperRecord, ...]
    format: str = ""
    """In words, such as "BibTeX"."""
    skipped: tuple[SkippedRecord, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ReadingRules:
    """How files are to be read."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """Of tables: by field, the column that has it, where its name does not tell."""
    strict: bool = False
    """Whether a record that must be skipped is an error."""
    allow_empty: bool = False
    """Whether a file may hold no paper: then all that it held before go."""


@dataclass(frozen=True, kw_only=True)
class UnreadFile:
    """One of several files that cannot be read; the others are."""

    path: str
    message: str
    hint: str


@dataclass(frozen=True, kw_only=True)
class Paper(Description):
    """A paper of a collection."""

    paper_id: str
    label: str
    """What a reader sees: the name its authors give their system, else a short title; unique in a collection."""
    source: str
    """Path of the file it was first read from."""
    position: int
    """Which record of that file it is, from 1."""


@dataclass(frozen=True)
class Span:
    """A half-open range of code points in a text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The part of `text` that this span covers."""
        return text[self.start : self.end]


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """A stored piece of a paper: `text == abstract[span.start:span.end]`."""

    chunk_id: str
    paper_id: str
    text: str
    span: Span
    embedded_text: str
    """What the embedding model and the keyword index are given: the title, if any, and the readable text."""


@dataclass(frozen=True, kw_only=True)
class Passage:
    """A retrieved chunk, with why it was found. Ranks count from 1; None means not found that way."""

    paper: Paper
    text: str
    span: Span
    similarity: float | None
    """Cosine of question and chunk, higher is nearer."""
    dense_rank: int | None
    keyword_rank: int | None
    named: bool
    """Whether the question names this paper by its label."""
    words: tuple[str, ...] = ()
    """The words of the question that the chunk holds in any form, common ones left out."""
    rare_name: str | None = None
    """A name in the question that the chunk holds and hardly another does."""
    relevance: float | None = None
    """Cross-encoder logit of the chunk's best sentence; above 0 the model calls it relevant. None: not judged."""

    @property
    def why(self) -> str:
        """Why it was kept, in words."""
        if self.named:
            return f"the question names {self.paper.label}"
        if self.rare_name:
            return f"it holds the name {self.rare_name}"
        if self.keyword_rank is None:
            return "near in meaning"
        return "near in words" if self.dense_rank is None else "near in meaning and in words"


@dataclass(frozen=True, kw_only=True)
class Fingerprint:
    """What built an index. Two indexes may only be used alike when all four fields are equal."""

    schema: int
    embedding: str
    checksum: str
    """Of the embedding model's files; empty for a model behind an API."""
    chunking: str

    @property
    def digest(self) -> str:
        """All four in twelve hexadecimal digits."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:12]

    def differences(self, other: "Fingerprint") -> list[str]:
        """One phrase for each field that differs, this one's value first."""
        mine, theirs = asdict(self), asdict(other)
        return [f"{name} {mine[name]!r} instead of {theirs[name]!r}" for name in mine if mine[name] != theirs[name]]


@dataclass(frozen=True)
class PublishedIndex:
    """The index that belongs to a state of the library."""

    generation: int
    """Counts the indexes of a collection; readers reopen when it grows."""
    folder: str
    """Its name in the collection's index folder."""
    chunks: int
    fingerprint: Fingerprint


@dataclass(frozen=True, kw_only=True)
class Duplicate:
    """A record that is the same paper as an earlier record of its file."""

    position: int
    of: int
    """Which record it is a duplicate of."""


@dataclass(frozen=True, kw_only=True)
class SourceChange:
    """What reading one source again did to the library."""

    path: str
    format: str
    added: int
    removed: int
    changed: int
    """Papers of which something else is known than before, such as the title."""
    unchanged: int
    title_only: int
    """Papers without an abstract."""
    duplicates: tuple[Duplicate, ...]
    skipped: tuple[SkippedRecord, ...]
    warnings: tuple[str, ...]

    @property
    def read(self) -> int:
        """Records in the file."""
        return self.added + self.changed + self.unchanged + len(self.duplicates) + len(self.skipped)


@dataclass(frozen=True, kw_only=True)
class Bill:
    """What an embedding model behind an API costs."""

    tokens: int
    dollars: float | None
    """None where the price is not known."""

    def __str__(self) -> str:
        return f"{self.tokens:,} tokens{'' if self.dollars is None else f', ${self.dollars:.4f}'}"


@dataclass(frozen=True, kw_only=True)
class IndexReport:
    """What one run of the index flow did."""

    collection: str
    papers: int
    chunks: int
    embedded: int
    """Texts that were sent to the embedding model; the others were in the library already."""
    rebuilt: bool
    """False when the index was already up to date."""
    sources: tuple[SourceChange, ...]
    estimated: Bill | None = None
    """What embedding was expected to cost before it began; None for a model that runs here."""
    billed: Bill | None = None
    """What it cost, by the tokens that the server counted."""
    unread: tuple[UnreadFile, ...] = ()
