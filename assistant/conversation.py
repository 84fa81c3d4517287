"""The conversation so far: what a caller passes as history, and the source numbers it has used."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assistant.errors import QuestionError
from assistant.types import Citation, Turn
from vectorstore.types import Paper, Span
from vectorstore.visible import visible

LONGEST_QUESTION = 4000
"""Characters; more is a text, not a question."""

_LARGEST_NUMBER = 9999
_NUMBER = re.compile(r"\[(\d{1,4})\]")


def clean_question(text: str) -> str:
    """`text` as a reader sees it, on one line. Raises `QuestionError` when nothing, or too much, is left."""
    if len(text) > LONGEST_QUESTION:
        raise QuestionError(
            f"The question has {len(text):,} characters; at most {LONGEST_QUESTION:,} are read.", "Ask more briefly."
        )
    cleaned = " ".join(visible(text).split())
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
    citations = item.get("citations") or ()
    if not isinstance(citations, Sequence) or not all(_is_citation(citation) for citation in citations):
        raise QuestionError(
            "The citations of a history item cannot be read.", "Give those of `Answer.to_dict()`, or leave them out."
        )
    return Turn(role=role, content=visible(content), citations=tuple(citations))


def _is_citation(item: Any) -> bool:
    if not isinstance(item, Mapping):
        return False
    number, label, paper_id = (item.get(name) for name in ("number", "label", "paper_id"))
    is_number = isinstance(number, int) and 0 < number <= _LARGEST_NUMBER
    return is_number and isinstance(label, str) and isinstance(paper_id, str)


class SourceNumbers:
    """The source numbers of one conversation: one per paper, never changed, never given to another."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._number_by_paper: dict[str, int] = {}
        used = [0]
        for turn in turns:
            for citation in turn.citations:
                if citation["number"] not in self._number_by_paper.values():
                    self._number_by_paper.setdefault(citation["paper_id"], citation["number"])
            if turn.role == "assistant" and not turn.citations:  # else a quotation may hold such marks of its own
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
