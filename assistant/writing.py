"""Answers written by a chat model, checked sentence by sentence.

A model may ignore the format it is asked for, think aloud first, or invent source numbers: what it wrote is recovered
by `model_reply`, and no unchecked sentence gets through.
"""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from threading import Event

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from pydantic import SecretStr

from assistant.budget import count_tokens, sources_that_fit
from assistant.conversation import SourceNumbers
from assistant.errors import ModelCutOff, ModelError
from assistant.model_client import ModelClient
from assistant.model_reply import ModelReply, Written
from assistant.types import Declined, Evidence, Question, Sentence, Usage
from assistant.verification import Verifier
from assistant.wording import pattern
from prompts import load_prompt
from vectorstore.markup import readable, unmarked
from vectorstore.types import Paper

_RULES = load_prompt("answer_rules", "boundary")
_QUESTION = load_prompt("answer_question", "sources", "question")
_CHECK = load_prompt("check_sentence", "boundary", "quotation", "sentence")
_RULES_TEXT = " ".join(_RULES.text.split())
_RUN = 6
"""Words of the rules in a row that tell that they are repeated."""
_CONFIDED = "(The model repeated what it was told in confidence.)"
_NO = pattern(r"\W*no\b")
_MOST_SOURCES = 6
_LEAST_RELEVANCE = -6.5
"""Of a source that is given to the model, apart from the first."""


class ModelWriter:
    """Lets a chat model write, and checks what it writes."""

    def __init__(
        self, client: ModelClient, *, verifier: Verifier, context_tokens: int, asks_model: bool, key: SecretStr | None
    ) -> None:
        """With `asks_model`, the model is asked about each paraphrase of its own that the code lets pass.

        `key` is what the model's server was given, which it must not bring before a reader.
        """
        self.name = client.name
        self._client = client
        self._verifier = verifier
        self._room = context_tokens - client.answer_tokens
        self._asks_model = asks_model
        self._key = key

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
            for written in reply.read(chunks):
                sentence, usage = self._confirmed(self._checked(written, papers, numbers), stop)
                yield Declined() if written.declines and not sentence.shown else sentence
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

    def _checked(self, written: Written, papers: Sequence[Paper], numbers: SourceNumbers) -> Sentence:
        cited = [papers[number - 1] for number in written.numbers if 1 <= number <= len(papers)]
        invented = [number for number in written.numbers if not 1 <= number <= len(papers)]
        sentence = self._verifier.check(written.text, cited, papers, numbers, invented=invented)
        is_told = not sentence.shown and self._was_confided(written.text)
        return replace(sentence, text=_CONFIDED, reasons=()) if is_told else sentence

    def _was_confided(self, text: str) -> bool:
        """Whether `text`, which is not shown but kept, holds the key or a piece of the rules."""
        words = text.split()
        runs = (" ".join(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1))
        holds_key = self._key is not None and self._key.get_secret_value() in text
        return holds_key or any(run in _RULES_TEXT for run in runs)


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
    return f"[{number}]\n{boundary}\n{unmarked(paper.label)}\n{unmarked(readable(paper.abstract))}\n{boundary}"
