"""A model's chunks -> the sentences it wrote, whole, each with the source numbers it gave.

Plain text is the protocol. Whatever else a model makes of it - thoughts in tags, a preamble, Markdown, JSON, broken or
not - is taken off here, and nothing is taken on trust: each sentence is checked afterwards.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from assistant.model_client import usage_in
from assistant.models import without_thoughts
from assistant.types import Usage
from assistant.wording import any_of, pattern
from vectorstore.markup import readable
from vectorstore.sentences import sentence_spans

_MARKS = re.compile(r"[\[【]\^?(?:sources?\s*)?(\d{1,4}(?:\s*[,;]\s*(?:sources?\s*)?\d{1,4})*)[\]】]", re.IGNORECASE)
_LEADING_MARKS = re.compile(rf"^(?:\s*{_MARKS.pattern})+[.\s]*", re.IGNORECASE)
_LONGEST_EMPTY_PHRASE = 2
"""Words; so few ("Sure!", "Yes.") claim nothing, nor does a line that only leads to the next ("Here it is:")."""
_GLUED_MARKS = re.compile(r"([.!?])(?=[\[【]\^?\d)")
_LINE_MARKUP = re.compile(r"^\s*(?:#+\s+|[-*•]\s+|\d{1,2}[.)]\s+|(?:final )?answer:\s*)+", re.IGNORECASE)
_BEGUN = re.compile(r"[^\[【]*[^\W\d_]\S*\s+\S")
"""A sentence of which two words are there: what stands before it is whole, with the source numbers after it."""
_REASON_KEYS = ("finish_reason", "done_reason", "stop_reason", "stopReason")
_WHOLE = frozenset({"stop", "end_turn", "stop_sequence", "eos", "complete"})
"""How providers say that a reply ended by itself; without such a word, the stream was cut."""
_DECLINING = pattern(
    r"not stated\b|(?:i|we) (?:do not|don['’]t|cannot|can['’]t) (?:know|find|answer|say)\b"
    rf"|{any_of('the these this none_of_the no')} (?:given |provided )?{any_of('sources? abstracts? papers? texts?')}\b"
    r".{0,40}\b"
    rf"{any_of('do(?:es)?_not don.t doesn.t not no never none')} "
    rf"{any_of('mention(?:ed)? stated? say specif(?:y|ied) provided? contain give include answer report')}"
)
_THOUGHTS_END = "</think>"
"""Some servers leave out the tag that opens the thoughts."""
_JSON_BEGINS = re.compile(r"\s*(?:```(?:json)?\s*)?[\[{]\s*[\"{\[]", re.IGNORECASE)
_JSON_TOKEN = re.compile(r'"(?P<text>(?:[^"\\]|\\.)*)(?:"(?P<is_key>\s*:)?|\Z)|(?P<number>\d{1,4})')
_CITES = pattern(r"cit|source|ref")
"""How a key begins or goes on whose numbers are source numbers."""


@dataclass(frozen=True)
class Written:
    """A sentence of a model."""

    text: str
    """Without source numbers and markup."""
    numbers: tuple[int, ...]
    """The source numbers it gave, in order, invented ones among them."""

    @property
    def declines(self) -> bool:
        """Whether it says that the sources do not answer the question."""
        return not self.numbers and _DECLINING.match(self.text) is not None


class ModelReply:
    """Reads a model's chunks."""

    def __init__(self) -> None:
        self.finished = False
        """Whether the model ended by itself."""
        self.usage: Usage | None = None
        self._text = ""

    def read(self, chunks: Iterable[Any]) -> Iterator[Written]:
        """Each sentence once the next one has begun; the last one when the reply is finished."""
        given = 0
        for chunk in chunks:
            self._take(chunk)
            if _THOUGHTS_END in self._text and self._text == without_thoughts(self._text):
                self._text, given = self._text.rpartition(_THOUGHTS_END)[2], 0
            *whole, last = _pieces(self._text) or [""]
            if _BEGUN.match(last):
                yield from map(_written, whole[given:])
                given = max(given, len(whole))
        yield from map(_written, _pieces(self._text)[given:] if self.finished else [])

    def _take(self, chunk: Any) -> None:
        self._text += chunk.text
        reasons = {str(chunk.response_metadata.get(key)).lower() for key in _REASON_KEYS}
        self.finished = self.finished or bool(reasons & _WHOLE)
        self.usage = usage_in(chunk) or self.usage


def _written(piece: str) -> Written:
    marked = [int(number) for marks in _MARKS.findall(piece) for number in re.findall(r"\d+", marks)]
    text = re.sub(r"\s+([.,;:!?])", r"\1", " ".join(_MARKS.sub("", piece).split()))
    return Written(text, tuple(dict.fromkeys(marked)))


def _pieces(reply: str) -> list[str]:
    """The sentences of a reply so far; a source number after the full stop goes with the sentence before it."""
    pieces: list[str] = []
    for line in _plain(without_thoughts(reply)).splitlines():
        text = readable(_GLUED_MARKS.sub(r"\1 ", _LINE_MARKUP.sub("", line)))
        for span in sentence_spans(text):
            piece = span.of(text)
            marks = _LEADING_MARKS.match(piece)
            if marks and pieces:
                pieces[-1] += f" {marks.group().strip()}"
                piece = piece[marks.end() :]
            if _claims_something(piece):
                pieces.append(piece.strip())
    return pieces


def _plain(reply: str) -> str:
    """The texts of a reply in JSON, a line each, with the source numbers that stand beside them; others as they are."""
    if not _JSON_BEGINS.match(reply):
        return reply
    plain, key = "", ""
    for token in _JSON_TOKEN.finditer(reply):
        if token["is_key"]:
            key = token["text"]
        elif token["text"] is not None:
            plain += f"\n{_unescaped(token['text'])}"
        elif _CITES.search(key):
            plain += f" [{token['number']}]"
    return plain


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:  # it ends in the middle of an escape
        return text


def _claims_something(piece: str) -> bool:
    is_phrase = len(piece.split()) <= _LONGEST_EMPTY_PHRASE or piece.endswith(":")
    return not is_phrase or _DECLINING.match(piece) is not None
