"""The conversation so far: what a caller passes as history, and the source numbers it has used."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assistant.errors import QuestionError
from assistant.types import Citation, Turn
from vectorstore.types import Paper, Span

LONGEST_QUESTION = 4000
"""Characters; more is a text, not a question."""

_NUMBER = re.compile(r"\[(\d{1,4})\]")
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)


def clean_question(text: str) -> str:
    """`text` without control and invisible characters. Raises `QuestionError` when nothing, or too much, is left."""
    if len(text) > LONGEST_QUESTION:
        raise QuestionError(
            f"The question has {len(text):,} characters; at most {LONGEST_QUESTION:,} are read.", "Ask more briefly."
        )
    cleaned = " ".join(_CONTROL.sub(" ", text).split())
    if not any(char.isalnum() for char in cleaned):
        raise QuestionError("The question is empty.", 'Ask something, such as "Which papers are about agents?"')
    return cleaned


def read_turns(history: Iterable[Mapping[str, Any] | Turn]) -> list[Turn]:
    """The turns of a history given as `{"role": ..., "content": ..., "citations": [...]}`."""
    return [item if isinstance(item, Turn) else _turn(item) for item in history]


def _turn(item: Mapping[str, Any]) -> Turn:
    role, content = item.get("role"), item.get("content")
    if role not in ("user", "assistant") or not isinstance(content, str):
        raise QuestionError(
            f"A history item with role {role!r} and content of type {type(content).__name__} cannot be read.",
            "Give items like {'role': 'user' or 'assistant', 'content': 'text'}.",
        )
    citations = tuple(item.get("citations") or ())
    if not all(isinstance(c, Mapping) and {"paper_id", "number", "label"} <= c.keys() for c in citations):
        raise QuestionError(
            "The citations of a history item cannot be read.", "Give those of `Answer.to_dict()`, or leave them out."
        )
    return Turn(role=role, content=content, citations=citations)


class SourceNumbers:
    """The source numbers of one conversation: one per paper, never changed, never given to another."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._number_by_paper: dict[str, int] = {}
        used = [0]
        for turn in turns:
            for citation in turn.citations:
                self._number_by_paper.setdefault(str(citation["paper_id"]), int(citation["number"]))
            if turn.role == "assistant":
                used += [int(number) for number in _NUMBER.findall(turn.content)]
        self._last = max([*used, *self._number_by_paper.values()])
        self._cited = 0

    def cite(self, paper: Paper, span: Span) -> Citation:
        """A citation of that span, under the paper's number; a new paper gets the next unused one."""
        if paper.paper_id not in self._number_by_paper:
            self._last += 1
            self._number_by_paper[paper.paper_id] = self._last
        self._cited += 1
        return Citation(
            citation_id=f"c{self._cited}", number=self._number_by_paper[paper.paper_id], paper=paper, span=span
        )
