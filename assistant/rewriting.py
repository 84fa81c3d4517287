"""History -> standalone question, by a chat model, as far as code can vouch for what it gives."""

from collections.abc import Sequence
from dataclasses import replace
from threading import Event

from langchain_core.messages import HumanMessage

from assistant.errors import ModelError
from assistant.model_client import ModelClient
from assistant.types import Turn, Usage
from assistant.wording import content_stems, stems
from prompts import load_prompt

_PROMPT = load_prompt("standalone_question", "conversation", "question")
_LAST_TURNS = 6
_LONGEST_TURN = 800
"""Characters of a turn that the model is given."""
_MOST_SECONDS = 15.0
"""The answer has to be written after it, and the rules are there instead."""
_LONGEST = 400
"""Characters of a standalone question."""
_POINTING = stems(
    "one first second third last other another former latter previous same also else now next "
    "paper method model work approach system framework study authors"
)
"""Words that a name, or nothing, may stand in the place of."""


class QuestionRewriter:
    """Asks a model for the standalone form of a follow-up."""

    def __init__(self, client: ModelClient) -> None:
        self._client = replace(client, timeout_seconds=min(client.timeout_seconds, _MOST_SECONDS))

    def standalone(self, question: str, turns: Sequence[Turn], stop: Event) -> tuple[str | None, Usage | None]:
        """The standalone question, and what it cost; None when the model fails or changes what is asked."""
        conversation = "\n".join(f"{turn.role}: {turn.content[:_LONGEST_TURN]}" for turn in turns[-_LAST_TURNS:])
        try:
            said = self._client.said([HumanMessage(_PROMPT.render(conversation=conversation, question=question))], stop)
        except ModelError:
            return None, None
        first_line = next(iter(said.text.splitlines()), "").strip(" \"“”'*")
        return (first_line if _asks_the_same(first_line, question, turns) else None), said.usage


def _asks_the_same(rewritten: str, question: str, turns: Sequence[Turn]) -> bool:
    """Whether it keeps every word of the question that says something, and adds none but from the conversation."""
    spoken = " ".join([question, *(turn.content for turn in turns)])
    added = content_stems(rewritten) - content_stems(spoken)
    kept = content_stems(question) - _POINTING <= content_stems(rewritten)
    return 0 < len(rewritten) <= _LONGEST and kept and not added
