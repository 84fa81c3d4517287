"""Answers written by a chat model, checked sentence by sentence.

The protocol with the model is plain text: any structure is recovered here, so that a model may ignore the format
it is asked for, think aloud first, or invent source numbers, and no unchecked sentence gets through.
"""

import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from threading import Event
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from assistant.budget import count_tokens, sources_that_fit
from assistant.conversation import SourceNumbers
from assistant.errors import ModelCutOff, ModelError
from assistant.model_client import ModelClient, usage_in
from assistant.models import without_thoughts
from assistant.types import Declined, Evidence, Question, Sentence, Usage
from assistant.verification import Verifier
from assistant.wording import any_of, pattern
from prompts import load_prompt
from vectorstore.markup import readable
from vectorstore.sentences import sentence_spans
from vectorstore.types import Paper

_RULES = load_prompt("answer_rules", "boundary")
_QUESTION = load_prompt("answer_question", "sources", "question")
_CHECK = load_prompt("check_sentence", "boundary", "quotation", "sentence")
_NO = pattern(r"\W*no\b")
_MOST_SOURCES = 6
_LEAST_RELEVANCE = -6.5
"""Of a source that is given to the model, apart from the first."""
_NOT_STATED = "NOT STATED"
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


class ModelWriter:
    """Lets a chat model write, and checks what it writes."""

    def __init__(self, client: ModelClient, *, verifier: Verifier, context_tokens: int, asks_model: bool) -> None:
        """With `asks_model`, the model is asked about each paraphrase of its own that the code lets pass."""
        self.name = client.name
        self._client = client
        self._verifier = verifier
        self._room = context_tokens - client.answer_tokens
        self._asks_model = asks_model

    def write(
        self, question: Question, evidence: Evidence, numbers: SourceNumbers, stop: Event
    ) -> Iterator[Sentence | Usage | Declined]:
        """The sentences in order, each as soon as the model has written it and it is checked.

        Raises `ModelError` when there are none, and `ModelCutOff` behind the last one when more was to come.
        """
        wanted = _sources_for(evidence)
        papers = wanted[: self._fitting(question, wanted)]
        reply = ModelReply()
        with closing(self._client.stream(_messages(question, papers), stop)) as chunks:
            for piece in reply.read(chunks):
                sentence, usage = self._confirmed(self._checked(piece, papers, numbers), stop)
                declines = not sentence.shown and _DECLINING.match(piece) and not _MARKS.search(piece)
                yield Declined() if declines else sentence
                if usage:
                    yield usage
        if reply.usage:
            yield reply.usage
        if not reply.finished and not stop.is_set():
            raise ModelCutOff(f"The answer of {self.name} broke off.", "Ask again, or raise ASSISTANT_ANSWER_TOKENS.")
        if len(papers) < len(wanted):
            yield _used(len(papers), len(wanted))

    def _fitting(self, question: Question, papers: Sequence[Paper]) -> int:
        """How many of `papers`, from the first, fit into the model's context; one is always given."""
        fixed = sum(count_tokens(str(message.content)) for message in _messages(question, []))
        return max(1, sources_that_fit([_source(1, paper, _boundary()) for paper in papers], self._room - fixed))

    def _confirmed(self, sentence: Sentence, stop: Event) -> tuple[Sentence, Usage | None]:
        """A paraphrase that the model itself, shown the quotation, takes back; all others as the code judged them."""
        if not self._asks_model or sentence.verdict != "supported":
            return sentence, None
        quotations = "\n".join(readable(citation.quote) for citation in sentence.citations)
        prompt = _CHECK.render(boundary=_boundary(), quotation=quotations, sentence=sentence.text)
        try:
            said = self._client.said([HumanMessage(prompt)], stop)
        except ModelError:
            return sentence, None
        if not _NO.match(said.text):
            return sentence, said.usage
        reasons = (*sentence.reasons, "the model does not find it in the quotation")
        return replace(sentence, verdict="unsupported", citations=(), reasons=reasons, shown=False), said.usage

    def _checked(self, piece: str, papers: Sequence[Paper], numbers: SourceNumbers) -> Sentence:
        marked = [int(number) for marks in _MARKS.findall(piece) for number in re.findall(r"\d+", marks)]
        cited = [papers[number - 1] for number in dict.fromkeys(marked) if 1 <= number <= len(papers)]
        invented = [number for number in dict.fromkeys(marked) if not 1 <= number <= len(papers)]
        text = re.sub(r"\s+([.,;:!?])", r"\1", " ".join(_MARKS.sub("", piece).split()))
        return self._verifier.check(text, cited, papers, numbers, invented=invented)


class ModelReply:
    """Reads a model's chunks and gives out its sentences, whole, without thoughts and markup."""

    def __init__(self) -> None:
        self.finished = False
        self.usage: Usage | None = None
        self._text = ""

    def read(self, chunks: Iterable[Any]) -> Iterator[str]:
        """Each sentence once the next one has begun; the last one when the reply is finished."""
        given = 0
        for chunk in chunks:
            self._take(chunk)
            *whole, last = _pieces(self._text) or [""]
            if _BEGUN.match(last):
                yield from whole[given:]
                given = max(given, len(whole))
        yield from _pieces(self._text)[given:] if self.finished else []

    def _take(self, chunk: Any) -> None:
        self._text += chunk.text
        reasons = {str(chunk.response_metadata.get(key)).lower() for key in _REASON_KEYS}
        self.finished = self.finished or bool(reasons & _WHOLE)
        self.usage = usage_in(chunk) or self.usage


def _pieces(reply: str) -> list[str]:
    """The sentences of a reply so far; a source number after the full stop goes with the sentence before it."""
    pieces: list[str] = []
    for line in without_thoughts(reply).splitlines():
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


def _claims_something(piece: str) -> bool:
    is_phrase = len(piece.split()) <= _LONGEST_EMPTY_PHRASE or piece.endswith(":")
    return not is_phrase or _DECLINING.match(piece) is not None


def _sources_for(evidence: Evidence) -> list[Paper]:
    """The papers that a model should be given, best first."""
    others = [
        passage.paper
        for passage in evidence.passages
        if passage.relevance is not None and passage.relevance >= _LEAST_RELEVANCE
    ]
    return list({paper.paper_id: paper for paper in [*evidence.papers, *others]}.values())[:_MOST_SOURCES]


def _used(used: int, found: int) -> Sentence:
    text = f"(The model was given the {used} most relevant of {found} papers; more do not fit into its context.)"
    return Sentence(text=text, verdict="program", opens="paragraph")


def _messages(question: Question, papers: Sequence[Paper]) -> list[BaseMessage]:
    boundary = _boundary()
    sources = "\n\n".join(_source(number, paper, boundary) for number, paper in enumerate(papers, start=1))
    return [
        SystemMessage(_RULES.render(boundary=boundary)),
        HumanMessage(_QUESTION.render(sources=sources, question=question.foreign or question.text)),
    ]


def _boundary() -> str:
    """A new one each time, so that no abstract can hold it."""
    return f"==== {secrets.token_hex(6)} ===="


def _source(number: int, paper: Paper, boundary: str) -> str:
    """A paper as the model sees it; what looks like a source number in its text is not left to look like one."""
    text = re.sub(r"\[(\d+)\]", r"(\1)", readable(paper.abstract))
    return f"[{number}] {paper.label}\n{boundary}\n{text}\n{boundary}"
