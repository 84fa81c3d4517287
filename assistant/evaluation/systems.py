"""What is evaluated: a `System` answers questions; `AssistantSystem` is ours, `baselines.py` has the others."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from assistant.chain import Assistant
from assistant.errors import ModelError, UserFacingError
from assistant.evaluation.types import AnswerSentence, GoldQuestion, Outcome, Quotation
from assistant.types import Answer

RETRIEVED = 10
"""Papers of a ranking that are kept."""


class System(Protocol):
    """Something that answers questions."""

    name: str

    def answer(self, gold: GoldQuestion) -> Outcome:
        """What it makes of the question. Raises what goes wrong."""
        ...


def outcome_of(system: System, gold: GoldQuestion) -> Outcome:
    """What `system` makes of the question; an error is an outcome too."""
    start = time.perf_counter()
    try:
        return system.answer(gold)
    except UserFacingError as error:
        problem = error.message
    except Exception as error:  # anything: one broken question must not cost the others; its text may hold a key
        problem = f"unforeseen {type(error).__name__}"
    seconds = time.perf_counter() - start
    return Outcome(
        question_id=gold.id, status=None, seconds=seconds, input_tokens=None, output_tokens=None, error=problem
    )


class AssistantSystem:
    """The assistant as it is used: a question is asked after the turns before it."""

    name = "assistant"

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant

    def answer(self, gold: GoldQuestion) -> Outcome:
        """The outcome of the last question of the conversation."""
        history: list[Mapping[str, object]] = []
        for question in gold.history:
            before = self._assistant.ask(question, history)
            history += [{"role": "user", "content": question}, _turn(before)]
        start = time.perf_counter()
        answer = self._assistant.ask(gold.question, history)
        if answer.model_failure:
            raise ModelError(answer.model_failure, "Ask again.")  # the quotations are not what is to be measured
        seconds = time.perf_counter() - start
        found = self._assistant.search(answer.standalone_question, RETRIEVED)
        return replace(
            _assistant_outcome(gold, answer), seconds=seconds, retrieved=tuple(p.paper.paper_id for p in found)
        )


def _turn(answer: Answer) -> dict[str, object]:
    return {"role": "assistant", "content": answer.text, "citations": answer.to_dict()["citations"]}


def _assistant_outcome(gold: GoldQuestion, answer: Answer) -> Outcome:
    tokens = _tokens(answer)
    return Outcome(
        question_id=gold.id,
        status=answer.status,
        sentences=tuple(
            AnswerSentence(
                text=sentence.text,
                verdict=sentence.verdict,
                shown=sentence.shown,
                paper_ids=tuple(citation.paper.paper_id for citation in sentence.citations),
                reasons=sentence.reasons,
            )
            for sentence in answer.sentences
        ),
        quotations=tuple(_quotations(answer)),
        evidence=answer.evidence,
        seconds=0.0,
        input_tokens=tokens[0] if tokens else None,
        output_tokens=tokens[1] if tokens else None,
    )


def _tokens(answer: Answer) -> tuple[int, int] | None:
    """Read and written by the chat model; none at all when it was not asked."""
    if answer.usage:
        return answer.usage.input_tokens, answer.usage.output_tokens
    return None if answer.model_asked else (0, 0)


def _quotations(answer: Answer) -> list[Quotation]:
    """What is stored as a quotation, and what is shown as one."""
    stored = [Quotation(paper_id=citation.paper.paper_id, text=citation.quote) for citation in answer.citations]
    shown = [
        Quotation(paper_id=sentence.citations[0].paper.paper_id, text=sentence.text.strip("“”"))
        for sentence in answer.sentences
        if sentence.shown and sentence.verdict == "quoted"
    ]
    return [*stored, *shown]
