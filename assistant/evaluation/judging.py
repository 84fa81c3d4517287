"""An optional second opinion: a chat model judges each answer, and a report says how often it agrees with the rule."""

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from langchain_core.language_models import BaseChatModel

from assistant.evaluation.scoring import Scored
from assistant.evaluation.types import AnswerSentence, GoldQuestion, Judged, Outcome
from assistant.models import reply_of, without_thoughts
from prompts import load_prompt
from vectorstore.types import Paper

_PROMPT = load_prompt("judge_answer", "question", "expected", "boundary", "answer")
_OPINION = re.compile(r"\W*(right|wrong)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Agreement:
    """How often judge and rule say the same of an answer."""

    judge: str
    n: int
    """Answers that both judged."""
    unreadable: int
    """Answers of which the judge said neither right nor wrong, or that it could not be asked about."""
    both_right: int
    both_wrong: int
    only_rule_right: int
    only_judge_right: int

    @property
    def share(self) -> float | None:
        """The share of answers that they agree on."""
        return (self.both_right + self.both_wrong) / self.n if self.n else None

    @property
    def kappa(self) -> float | None:
        """Agreement beyond chance (Cohen 1960); None when chance alone explains all."""
        if not self.n:
            return None
        rule, judge = self.both_right + self.only_rule_right, self.both_right + self.only_judge_right
        by_chance = (rule * judge + (self.n - rule) * (self.n - judge)) / self.n**2
        observed = (self.both_right + self.both_wrong) / self.n
        return (observed - by_chance) / (1 - by_chance) if by_chance < 1 else None


@dataclass(frozen=True)
class Judge:
    """A chat model that judges answers."""

    name: str
    model: BaseChatModel

    def opinion(self, gold: GoldQuestion, outcome: Outcome, papers: Mapping[str, Paper]) -> Judged:
        """Its opinion on an answer. Raises `ModelError` when it cannot be asked."""
        answer = "\n".join(_as_read(sentence, papers) for sentence in outcome.shown)
        prompt = _PROMPT.render(
            question=" / ".join([*gold.history, gold.question]),
            expected=_expected(gold, papers),
            boundary=f"==== {secrets.token_hex(6)} ====",
            answer=answer,
        )
        reply = without_thoughts(reply_of(self.model, self.name, prompt).text)
        said = _OPINION.match(reply)
        return "unreadable" if said is None else "right" if said[1].lower() == "right" else "wrong"


def agreement(judge: str, scored: Sequence[Scored]) -> Agreement:
    """Between the rule (`Scored.why_wrong`) and the judge, over the answers that there are."""
    answers = [one for one in scored if not one.failed]
    pairs = [
        (not one.why_wrong, one.outcome.judged == "right")
        for one in answers
        if one.outcome.judged in ("right", "wrong")
    ]
    return Agreement(
        judge=judge,
        n=len(pairs),
        unreadable=len(answers) - len(pairs),
        both_right=pairs.count((True, True)),
        both_wrong=pairs.count((False, False)),
        only_rule_right=pairs.count((True, False)),
        only_judge_right=pairs.count((False, True)),
    )


def _as_read(sentence: AnswerSentence, papers: Mapping[str, Paper]) -> str:
    """A sentence with the papers that it cites, which a reader sees beside it."""
    labels = ", ".join(dict.fromkeys(papers[paper_id].label for paper_id in sentence.paper_ids))
    return f"{sentence.text} [{labels}]" if labels else sentence.text


def _expected(gold: GoldQuestion, papers: Mapping[str, Paper]) -> str:
    labels = [papers[paper_id].label for paper_id in gold.papers]
    if gold.status == "not_covered":
        return "It says that no paper in the collection is about this."
    if gold.status == "not_stated":
        return f"It says that the abstract of {' or '.join(labels)} does not state this."
    about = f"It cites {(' and ' if gold.is_set else ' or ').join(labels)} and no other paper. " if labels else ""
    facts = "; ".join(" (or: ".join(fact) + ")" * (len(fact) - 1) for fact in gold.facts)
    return about + (f"It says: {facts}." if facts else "It answers the question.")
