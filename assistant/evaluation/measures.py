"""The measures of an evaluation. Each gives one value per question it applies to, and a figure over all of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from assistant.evaluation.ranking import ndcg_at, recall_at, reciprocal_rank
from assistant.evaluation.resampling import Estimate, Summary, estimate, mean, percentile
from assistant.evaluation.scoring import Scored
from assistant.evaluation.types import GoldQuestion
from assistant.types import Status

Value = Callable[[Scored], float | None]


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A measure and its definition, as a report prints it."""

    name: str
    definition: str
    value: Value
    """None where the measure does not apply to a question, or has no value for want of data."""
    summary: Summary = mean
    better: Literal["higher", "lower"] = "higher"
    unit: Literal["share", "words", "seconds", "tokens", "dollars"] = "share"
    needs_all: bool = False
    """Whether the figure is unknown as soon as it is for one question."""
    paired: bool = True
    """Whether two runs can be compared by it question by question: not so when it only looks at certain answers."""

    def values(self, scored: Sequence[Scored]) -> list[float]:
        """One per question that it applies to."""
        return [value for one in scored if (value := self.value(one)) is not None]

    def estimate(self, scored: Sequence[Scored]) -> Estimate | None:
        """The figure over all questions; None when it applies to none, or is unknown."""
        values = self.values(scored)
        return None if self.needs_all and len(values) < len(scored) else estimate(values, self.summary)

    def is_met(self, value: float, threshold: float) -> bool:
        """Whether a figure is as good as `threshold`."""
        return value >= threshold if self.better == "higher" else value <= threshold


def measures(prices: tuple[float, float] | None = None) -> tuple[Measure, ...]:
    """All measures, in the order in which a report prints them; `prices` are dollars per million tokens in and out."""
    return (*_QUALITY, *_EFFORT, _dollars(prices))


def _where(applies: Callable[[GoldQuestion], bool], value: Callable[[Scored], float], worst: float = 0.0) -> Value:
    """`value` for the questions that it applies to; a question that failed gets the worst there is."""
    return lambda scored: None if not applies(scored.gold) else worst if scored.failed else float(value(scored))


def _has_papers(gold: GoldQuestion) -> bool:
    return bool(gold.papers)


def _answerable(gold: GoldQuestion) -> bool:
    return gold.status == "answered"


def _cites_one(gold: GoldQuestion) -> bool:
    return _answerable(gold) and _has_papers(gold) and gold.kind in ("fact", "compare")


def _is_list(gold: GoldQuestion) -> bool:
    return _answerable(gold) and gold.kind in ("list", "count")


def _citation_precision(scored: Scored) -> float | None:
    if not (_answerable(scored.gold) and scored.gold.papers):
        return None
    if scored.failed:
        return 0.0
    cited = scored.outcome.cited
    if scored.refused:  # no claim, so no citation to judge; the refusal counts elsewhere
        return None
    return scored.right_papers_cited / len(cited) if cited else 0.0


def _citation_recall(scored: Scored) -> float:
    wanted = len(scored.gold.papers) if scored.gold.is_set else 1
    return min(1.0, scored.right_papers_cited / wanted)


def _list_precision(scored: Scored) -> float:
    return scored.right_papers_cited / max(1, len(scored.outcome.cited))


def _verbatim(scored: Scored) -> float | None:
    return sum(scored.verbatim) / len(scored.verbatim) if scored.verbatim else None


def _fact_recall(scored: Scored) -> float | None:
    if not scored.gold.facts:
        return None
    return 0.0 if scored.failed else sum(scored.facts_found) / len(scored.gold.facts)


def _words(scored: Scored) -> float | None:
    is_fact = _answerable(scored.gold) and scored.gold.kind == "fact" and bool(scored.gold.facts)
    return float(scored.words) if is_fact and not scored.failed and not scored.refused else None


def _recognised(status: Status) -> Value:
    return _where(lambda gold: gold.status == status, lambda scored: scored.outcome.status == status)


def _rightly(status: Status) -> Value:
    """Of the answers that claim `status`, whether it is so."""
    return lambda scored: float(scored.gold.status == status) if scored.outcome.status == status else None


def _tokens(scored: Scored) -> tuple[int, int] | None:
    read, written = scored.outcome.input_tokens, scored.outcome.output_tokens
    return None if read is None or written is None else (read, written)


def _seconds(scored: Scored) -> float | None:
    return None if scored.failed else scored.outcome.seconds


def _dollars(prices: tuple[float, float] | None) -> Measure:
    def cost(scored: Scored) -> float | None:
        tokens = _tokens(scored)
        if tokens == (0, 0):
            return 0.0
        return (tokens[0] * prices[0] + tokens[1] * prices[1]) / 1e6 if tokens and prices else None

    return Measure(
        name="dollars",
        definition="Cost of the chat model per question, by the prices given with --prices; unknown without them or "
        "when its server does not report tokens.",
        value=cost,
        better="lower",
        unit="dollars",
        needs_all=True,
    )


_QUALITY = (
    Measure(
        name="right",
        definition="Share of questions answered right in every respect: the expected status and, when that is "
        "answered, the right papers (just these, for lists, counts and comparisons; not outnumbered by others, for a "
        "fact), every fact, no false quotation.",
        value=lambda scored: float(not scored.why_wrong),
    ),
    Measure(
        name="failed",
        definition="Share of questions that got no answer at all, for want of a server or the like. They count as "
        "wrong wherever a measure looks at questions, and are left out where it looks at answers.",
        value=lambda scored: float(scored.failed),
        better="lower",
    ),
    Measure(
        name="recall_at_5",
        definition="Share of a question's papers among the first 5 retrieved.",
        value=_where(_has_papers, lambda scored: recall_at(5, scored.outcome.retrieved, scored.gold.papers)),
    ),
    Measure(
        name="recall_at_10",
        definition="Share of a question's papers among the first 10 retrieved.",
        value=_where(_has_papers, lambda scored: recall_at(10, scored.outcome.retrieved, scored.gold.papers)),
    ),
    Measure(
        name="mrr",
        definition="Mean of 1 / rank of the first right paper among the first 10 retrieved, 0 if none is there.",
        value=_where(_has_papers, lambda scored: reciprocal_rank(scored.outcome.retrieved[:10], scored.gold.papers)),
    ),
    Measure(
        name="ndcg_at_10",
        definition="Normalised discounted cumulative gain of the first 10 papers retrieved, binary relevance.",
        value=_where(_has_papers, lambda scored: ndcg_at(10, scored.outcome.retrieved, scored.gold.papers)),
    ),
    Measure(
        name="right_paper_cited",
        definition="Share of answerable facts and comparisons whose answer cites a right paper (a comparison: all).",
        value=_where(_cites_one, lambda scored: scored.cites_right),
    ),
    Measure(
        name="citation_precision",
        definition="Share of the papers cited that are right ones, per answer to an answerable question; an answer "
        "without a citation counts 0, a refusal is left to answerable_refused.",
        value=_citation_precision,
    ),
    Measure(
        name="citation_recall",
        definition="Share of the papers to be cited that are: one for a fact, all for lists, counts and comparisons.",
        value=_where(lambda gold: _answerable(gold) and _has_papers(gold), _citation_recall),
    ),
    Measure(
        name="verbatim",
        definition="Share of an answer's quotations that stand in the cited abstract: what is stored to the letter, "
        "what is shown with LaTeX made readable.",
        value=_verbatim,
    ),
    Measure(
        name="fact_recall",
        definition="Share of a question's facts of which an accepted variant is in what is shown (ignoring case and "
        "markup, never as part of a longer number).",
        value=_fact_recall,
    ),
    Measure(
        name="words_quoted",
        definition="Median number of words shown in answer to one fact, the program's own aside.",
        value=_words,
        summary=percentile(50),
        better="lower",
        unit="words",
    ),
    Measure(
        name="list_precision",
        definition="Share of the papers listed that belong, per list or count; a refusal counts 0.",
        value=_where(_is_list, _list_precision),
    ),
    Measure(
        name="list_recall",
        definition="Share of the papers that belong that are listed, per list or count.",
        value=_where(_is_list, _citation_recall),
    ),
    Measure(
        name="exact_count",
        definition="Share of lists and counts with just as many papers as belong; a count must state that number.",
        value=_where(_is_list, lambda scored: scored.number_is_exact),
    ),
    Measure(
        name="not_covered_recall",
        definition="Share of the questions that no paper is about that are answered so.",
        value=_recognised("not_covered"),
    ),
    Measure(
        name="not_covered_precision",
        definition="Share of the answers “not covered” that are true.",
        value=_rightly("not_covered"),
        paired=False,
    ),
    Measure(
        name="not_stated_recall",
        definition="Share of the questions that the abstract leaves open that are answered so.",
        value=_recognised("not_stated"),
    ),
    Measure(
        name="not_stated_precision",
        definition="Share of the answers “not stated” that are true.",
        value=_rightly("not_stated"),
        paired=False,
    ),
    Measure(
        name="answerable_refused",
        definition="Share of answerable questions that are refused.",
        value=_where(_answerable, lambda scored: scored.refused, worst=1.0),
        better="lower",
    ),
    Measure(
        name="follow_up_right",
        definition="Share of the questions with others before them that are answered right in every respect.",
        value=_where(lambda gold: bool(gold.history), lambda scored: not scored.why_wrong),
    ),
)
_EFFORT = (
    Measure(
        name="seconds_p50",
        definition="Median time of an answer; of a follow-up, without the questions before it.",
        value=_seconds,
        summary=percentile(50),
        better="lower",
        unit="seconds",
    ),
    Measure(
        name="seconds_p95",
        definition="95th percentile of the time of an answer.",
        value=_seconds,
        summary=percentile(95),
        better="lower",
        unit="seconds",
    ),
    Measure(
        name="input_tokens",
        definition="Mean tokens that the chat model reads per question; unknown when its server does not say.",
        value=lambda scored: scored.outcome.input_tokens,
        better="lower",
        unit="tokens",
        needs_all=True,
    ),
    Measure(
        name="output_tokens",
        definition="Mean tokens that the chat model writes per question.",
        value=lambda scored: scored.outcome.output_tokens,
        better="lower",
        unit="tokens",
        needs_all=True,
    ),
)
