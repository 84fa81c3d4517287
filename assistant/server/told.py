"""Which papers the source numbers of earlier answers stand for: most clients send back an answer's text alone."""

import hashlib
from collections import OrderedDict
from typing import Any

from assistant.types import Answer

_REMEMBERED = 20_000


class ToldAnswers:
    """The citations of the last answers, by the text that was answered: only who has that text gets at them.

    What is forgotten, such as by a new start, does no harm: its numbers are not given to other papers.
    """

    def __init__(self) -> None:
        self._citations: OrderedDict[bytes, list[dict[str, Any]]] = OrderedDict()

    def keep(self, model: str, answer: Answer) -> None:
        """Remembers an answer."""
        cited = {citation.number: citation.paper for citation in answer.citations}
        self._citations[_digest(model, answer.text)] = [
            {"number": number, "label": paper.label, "paper_id": paper.paper_id} for number, paper in cited.items()
        ]
        while len(self._citations) > _REMEMBERED:
            self._citations.popitem(last=False)

    def citations(self, model: str, text: str) -> list[dict[str, Any]]:
        """Those of the answer with this text; none when it is not known."""
        return self._citations.get(_digest(model, text), [])


def _digest(model: str, text: str) -> bytes:
    """Clients trim texts; the white space does not count."""
    collections = model.partition("/")[0]
    return hashlib.sha256("\n".join([collections, " ".join(text.split())]).encode()).digest()
