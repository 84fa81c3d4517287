"""What readers think of answers: kept as JSON Lines beside the collections, and made into a question set."""

import hashlib
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from assistant.errors import FeedbackError
from assistant.evaluation.question_sets import question_set_text
from assistant.evaluation.types import GoldQuestion
from assistant.types import Answer, Kind, Status
from vectorstore.visible import visible, visible_json

Thumb = Literal["up", "down"]
_LOG = logging.getLogger(__name__)
_TO_DO = "Somebody found this answer wrong: put right status, papers and facts, and take out the tag draft."


@dataclass(frozen=True, kw_only=True)
class Feedback:
    """A reader's opinion of one answer, with what the answer was."""

    question: str
    standalone_question: str
    kind: Kind
    status: Status
    verdict: Thumb
    note: str = ""
    """In the reader's words."""
    answer: str
    """As Markdown."""
    labels: tuple[str, ...] = ()
    """Of the cited papers, in the order in which they were cited."""
    paper_ids: tuple[str, ...] = ()
    """Of the same papers."""
    quotations: tuple[str, ...] = ()
    """To the letter, in order."""
    writer: str
    fingerprint: str
    collection: str
    """The collection that was asked; several with commas between."""
    given_at: str
    """In ISO 8601, with a zone."""

    @property
    def subject(self) -> "Feedback":
        """What it is about: the same for two opinions of the same answer."""
        return replace(self, verdict="up", note="", given_at="")


def feedback_on(answer: Answer, verdict: Thumb, note: str = "", *, collection: str) -> Feedback:
    """A reader's opinion, given now."""
    papers = {citation.paper.paper_id: citation.paper for citation in answer.citations}
    return Feedback(
        question=answer.question,
        standalone_question=answer.standalone_question,
        kind=answer.kind,
        status=answer.status,
        verdict=verdict,
        note=visible(note).strip(),
        answer=answer.text,
        labels=tuple(paper.label for paper in papers.values()),
        paper_ids=tuple(papers),
        quotations=tuple(dict.fromkeys(citation.quote for citation in answer.citations)),
        writer=answer.writer,
        fingerprint=answer.fingerprint,
        collection=collection,
        given_at=datetime.now().astimezone().isoformat(timespec="seconds"),
    )


class FeedbackStore:
    """The file `feedback.jsonl` in the data folder. Any number of processes may add to it at once."""

    def __init__(self, data_dir: Path) -> None:
        self.path = data_dir / "feedback.jsonl"

    def add(self, feedback: Feedback) -> None:
        """Keeps it. Raises `FeedbackError` when it cannot be written.

        A line is written at once, with a line end before it as well: what a crash has left of another ends there.
        """
        line = f"\n{visible_json(asdict(feedback), indent=None)}\n".encode()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                written = os.write(file, line)
            finally:
                os.close(file)
        except OSError as error:
            raise self._error("written", error.strerror or type(error).__name__) from error
        if written < len(line):
            raise self._error("written", "the disk is full")

    def all(self) -> list[Feedback]:
        """In the order in which they were given; of several on one answer only the last.

        Lines that a crash has left incomplete are logged and passed over. Raises `FeedbackError` when the file cannot
        be read.
        """
        latest: dict[Feedback, Feedback] = {}
        for feedback in self._lines():
            latest.pop(feedback.subject, None)
            latest[feedback.subject] = feedback
        return list(latest.values())

    def _lines(self) -> Iterator[Feedback]:
        try:
            lines = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._error("read", error.strerror or type(error).__name__) from error
        reader = TypeAdapter(Feedback)
        for number, line in enumerate(lines, start=1):
            if line.strip():
                try:
                    yield reader.validate_json(line)
                except ValidationError:
                    _LOG.warning("%s, line %d is no feedback and is passed over", self.path, number)

    def _error(self, done: str, why: str) -> FeedbackError:
        return FeedbackError(f"The feedback in {self.path} cannot be {done}: {why}.", "Check the folder and the disk.")


def gold_questions(feedback: Iterable[Feedback]) -> list[GoldQuestion]:
    """A question for each that was asked, by the last opinion of an answer to it; they are given in the order of time.

    An answer that was found right says what is expected. Of one that was found wrong only the question is known: what
    it said is kept as a draft, for a person to put right.
    """
    latest = {one.standalone_question.casefold(): one for one in feedback}
    return [_gold(one) for one in latest.values()]


def question_set(feedback: Sequence[Feedback]) -> str:
    """`gold_questions` as a file for `assistant evaluate`, of one collection; empty when there is no feedback."""
    return question_set_text(gold_questions(feedback))


def _gold(feedback: Feedback) -> GoldQuestion:
    question = feedback.standalone_question
    asked = f"Asked as: {feedback.question}" if feedback.question != question else ""
    cited = f"Cited: {', '.join(feedback.labels)}" if feedback.labels else ""
    is_wrong = feedback.verdict == "down"
    return GoldQuestion(
        id=f"feedback-{hashlib.sha256(question.casefold().encode()).hexdigest()[:12]}",
        question=question,
        kind=_kind(feedback),
        papers=feedback.paper_ids if feedback.status != "not_covered" else (),
        status=feedback.status,
        tags=("feedback", feedback.verdict, *(["draft"] if is_wrong else [])),
        note=" | ".join(filter(None, [_TO_DO if is_wrong else "", feedback.note, asked, cited])),
    )


def _kind(feedback: Feedback) -> Kind:
    """The answer's, unless a question set asks more of that kind than the answer has."""
    if feedback.status == "not_covered" or feedback.kind == "smalltalk":
        return feedback.kind
    if not feedback.paper_ids:
        return "overview"
    return "fact" if feedback.kind == "compare" and len(feedback.paper_ids) == 1 else feedback.kind
