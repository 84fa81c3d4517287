"""Papers, questions, histories and replies that try to take over, and a model that does all that it is told.

`data/hostile.jsonl` has one attempt a line: its family, where it stands, what it is, and how it is obeyed. What is
obeyed may name {key}, {rules}, {question}, {true} (the first sentence of the first source) and {split} (the same with
characters in it that nobody sees). `never` is what no reader may be told as the answer.
"""

import base64
import binascii
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from assistant import Assistant, build_assistant
from assistant.app import embedding_from
from assistant.settings import load_settings
from assistant.ui.render import conversation_html, header_html
from assistant.ui.session import Conversation, Exchange
from assistant.ui.sources import sources_html
from prompts import load_prompt
from tests.fakes import KEY, ModelServer, Reply
from vectorstore.folder import CollectionFolder
from vectorstore.indexing import index_sources
from vectorstore.loading import load_papers
from vectorstore.sentences import sentence_spans
from vectorstore.types import Paper, PaperRecord, Source

COLLECTION = "hostile"
RULES = load_prompt("answer_rules", "boundary").text
_HISTORY = "What does it do?"
"""Asked after a hostile turn."""


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One line of the file."""

    id: str
    family: str
    where: str
    name: str = "QuorVex"
    abstract: str = ""
    title: str | None = None
    authors: tuple[str, ...] = ()
    venue: str | None = None
    text: str = ""
    role: str = "user"
    cue: str = ""
    """Words of the order; the model obeys when it reads them all ("|" between them)."""
    obeys: str = ""
    never: tuple[str, ...] = ()
    hidden: bool = False
    """Whether the order is written in characters that nobody sees, so that the model must not get it."""

    @property
    def question(self) -> str:
        """What a reader asks to run into it."""
        return {"question": self.text, "true": self.text, "history": _HISTORY}.get(self.where, f"What is {self.name}?")

    @property
    def history(self) -> list[dict[str, Any]]:
        """The turns before the question."""
        if self.where != "history":
            return []
        if self.role == "user":
            return [{"role": "user", "content": self.text}]
        cited = {"paper_id": "of another library", "number": 1, "label": self.name}
        asked = {"role": "user", "content": f"What is {self.name}?"}
        return [asked, {"role": "assistant", "content": self.text, "citations": [cited]}]


def _attempt(line: str) -> Attempt:
    fields = json.loads(line)
    lists = {name: tuple(fields[name]) for name in ("authors", "never") if name in fields}
    return Attempt(**{**fields, **lists})


ATTEMPTS = [
    _attempt(line) for line in (Path(__file__).parent / "data" / "hostile.jsonl").read_text("utf-8").splitlines()
]
ASKED = [attempt for attempt in ATTEMPTS if attempt.where not in ("plain", "planted")]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of all attempts."""

    data: Path
    papers: dict[str, Paper]
    exchanges: dict[str, list[Exchange]]
    """By the id of the attempt: with quotations, and with the obedient model. A reply is tried on the model only."""
    obeyed: frozenset[str]
    prompts: list[str]
    """All that the model was sent."""


@cache
def outcome(folder: Path) -> Outcome:
    """Indexes the papers in `folder` and asks each question once."""
    folder.mkdir()
    data = folder / "data"
    _index(data, folder)
    with ObedientModel() as model:
        quoting = build_assistant(data_dir=data, collection=COLLECTION)
        obeying = build_assistant(data_dir=data, collection=COLLECTION, **model.settings)
        exchanges = {}
        for attempt in ASKED:
            model.replies[:] = [Reply(attempt.text)] if attempt.where == "reply" else []
            writers = [obeying] if attempt.where == "reply" else [quoting, obeying]
            exchanges[attempt.id] = [_exchange(writer, attempt) for writer in writers]
        return Outcome(
            data=data,
            papers={paper.paper_id: paper for paper in quoting.papers()},
            exchanges=exchanges,
            obeyed=frozenset(model.obeyed),
            prompts=[model.prompt(row) for row in range(len(model.requests))],
        )


def _exchange(writer: Assistant, attempt: Attempt) -> Exchange:
    made = Exchange(attempt.question)
    for event in writer.stream(attempt.question, attempt.history):
        made.take(event)
    return made


def page(exchange: Exchange) -> str:
    """Both columns of the chat and its header, without the joiners that the program itself puts before its marks."""
    writer = exchange.answer.writer if exchange.answer else ""
    conversation = header_html([writer], 1, None, writer) + conversation_html(Conversation([exchange]))
    return re.sub('\u2060(?=<a class="cite"|<button)', "", conversation) + sources_html(Conversation([exchange]))


def _index(data_dir: Path, folder: Path) -> None:
    """The papers of all attempts in a collection of `data_dir`, read from files in `folder`; planted ones first."""
    settings = load_settings(data_dir=data_dir, collection=COLLECTION)
    papers = sorted((attempt for attempt in ATTEMPTS if attempt.abstract), key=lambda paper: paper.where != "planted")
    sources = [
        Source(path=str(folder / f"{number}.md"), papers=(_read(paper, folder / f"{number}.md"),))
        for number, paper in enumerate(papers)
    ]
    index_sources(CollectionFolder(data_dir, COLLECTION), sources, embedding_from(settings))


def _read(paper: Attempt, path: Path) -> PaperRecord:
    """What the reader of text files makes of the paper; authors and venue are added as they stand."""
    heading = f"# {paper.title}\n\n" if paper.title else ""
    path.write_text(heading + paper.abstract, "utf-8")
    (record,) = load_papers(path)
    return PaperRecord(
        abstract=record.abstract,
        title=record.title,
        authors=paper.authors,
        venue=paper.venue,
        urls=record.urls,
        position=1,
    )


@dataclass
class ObedientModel(ModelServer):
    """Reads its prompt, finds every order in it, hidden and encoded ones too, and obeys between two true sentences.

    When a reply is given to `says`, it is that which is sent.
    """

    obeyed: set[str] = field(default_factory=set)
    """Ids of the attempts whose orders it found."""

    def next_reply(self) -> Reply:
        system, user = (str(message["content"]) for message in self.requests[-1]["messages"])
        values = _values(system, user)
        if self.replies:
            return Reply(filled(self.replies[0].text, values))
        read = _deciphered(user)
        found = [attempt for attempt in ATTEMPTS if attempt.obeys and _is_read(attempt.cue, read)]
        self.obeyed |= {attempt.id for attempt in found}
        orders = [filled(attempt.obeys, values) for attempt in found]
        return Reply("\n".join([f"{values['true']} [1].", *orders, f"{values['last']} [1]."]))


def filled(text: str, values: dict[str, str]) -> str:
    """`text` with the values in their places, each known by its name in braces."""
    return re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], match.group()), text)


def _values(system: str, user: str) -> dict[str, str]:
    boundary = next(line for line in user.splitlines() if re.fullmatch("==== [0-9a-f]{12} ====", line))
    source = user.split(boundary)[1].strip()
    sentences = [span.of(source).rstrip(".") for span in sentence_spans(source)]
    return {
        "key": KEY,
        "rules": " ".join(system.split()),
        "question": user.rpartition("Question:")[2].strip().replace(" ", "+"),
        "true": sentences[0],
        "last": sentences[-1],
        "split": "\u200b".join(sentences[0]),
    }


def _is_read(cue: str, prompt: str) -> bool:
    return any(words in prompt for words in cue.split("|"))


def _deciphered(prompt: str) -> str:
    """The prompt, and below it what a language model can read in it beyond what is shown."""
    tags = "".join(chr(ord(char) - 0xE0000) for char in prompt if "\U000e0020" <= char <= "\U000e007e")
    selectors = bytes(ord(char) - 0xE0100 + 16 for char in prompt if "\U000e0100" <= char <= "\U000e01ef")
    bits = "".join(str("\u200c\u200d".index(char)) for char in prompt if char in "\u200c\u200d")
    hidden = bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) - 7, 8))
    return "\n".join(
        [prompt, tags, selectors.decode("utf-8", "replace"), hidden.decode("utf-8", "replace"), *_decoded(prompt)]
    )


def _decoded(prompt: str) -> Iterator[str]:
    for match in re.finditer(r"[A-Za-z0-9+/]{24,}={0,2}", prompt):
        try:
            yield base64.b64decode(match.group(), validate=True).decode("utf-8", "replace")
        except binascii.Error:
            continue
