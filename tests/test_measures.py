"""Measures against figures worked out by hand and against ir_measures; intervals against exact answers."""

import itertools
import math
import random
from dataclasses import replace

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.evaluation.judging import agreement
from assistant.evaluation.measures import Measure, measures
from assistant.evaluation.plots import trade_off
from assistant.evaluation.ranking import ndcg_at, recall_at, reciprocal_rank
from assistant.evaluation.resampling import estimate, mean, paired_difference, percentile
from assistant.evaluation.scoring import Scored
from assistant.evaluation.types import AnswerSentence, GoldQuestion, Outcome, Quotation
from vectorstore.types import Paper

ABSTRACTS = {
    "A": r"A reaches $39.63\%$ with 2.4 bits on a 24GB GPU. It is fast.",
    "B": "B is a benchmark of 1,104 tasks. Its “best” model solves 40%.",
    "C": "C compares both.",
}
PAPERS = {
    name: Paper(
        paper_id=name,
        label=f"Net{name}",
        abstract=abstract,
        title=None,
        authors=(),
        venue=None,
        year=None,
        urls=(),
        source="x",
        position=1,
    )
    for name, abstract in ABSTRACTS.items()
}
BY_NAME = {measure.name: measure for measure in measures((1.0, 10.0))}


def gold(**fields: object) -> GoldQuestion:
    return GoldQuestion.model_validate({"id": "q", "question": "?", "papers": ["A"], **fields})


def said(*sentences: tuple[str, str], verdict: str = "quoted", **fields: object) -> Outcome:
    """An answer of (text, letters of the papers cited) pairs."""
    shown = tuple(
        AnswerSentence(text=text, verdict="program" if not cited else verdict, shown=True, paper_ids=tuple(cited))  # type: ignore[arg-type]
        for text, cited in sentences
    )
    outcome = Outcome(question_id="q", status="answered", sentences=shown, seconds=0.5)
    return replace(outcome, **fields)  # type: ignore[arg-type]


def value(name: str, question: GoldQuestion, outcome: Outcome) -> float | None:
    return BY_NAME[name].value(Scored(question, outcome, PAPERS))


# Rankings.


def test_ranking_measures_by_hand() -> None:
    ranked, relevant = ["x", "a", "y", "b", "z"], {"a", "b", "c"}
    assert recall_at(1, ranked, relevant) == 0
    assert recall_at(2, ranked, relevant) == pytest.approx(1 / 3)
    assert recall_at(5, ranked, relevant) == pytest.approx(2 / 3)
    assert reciprocal_rank(ranked, relevant) == 0.5
    assert reciprocal_rank(["x"], relevant) == 0
    best = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    assert ndcg_at(5, ranked, relevant) == pytest.approx((1 / math.log2(3) + 1 / math.log2(5)) / best)
    assert ndcg_at(5, ["a", "b", "c"], relevant) == pytest.approx(1)
    assert ndcg_at(2, ["a", "b"], relevant) == pytest.approx(1)


@settings(max_examples=50, deadline=None)
@given(st.permutations([f"p{row}" for row in range(15)]), st.sets(st.integers(0, 20), min_size=1), st.integers(1, 20))
def test_ranking_measures_agree_with_ir_measures(ranked: list[str], rows: set[int], k: int) -> None:
    relevant = {f"p{row}" for row in rows}
    qrels = [ir_measures.Qrel("q", paper, 1) for paper in relevant]
    run = [ir_measures.ScoredDoc("q", paper, -float(rank)) for rank, paper in enumerate(ranked)]
    theirs = ir_measures.calc_aggregate([ir_measures.R @ k, ir_measures.RR @ k, ir_measures.nDCG @ k], qrels, run)
    assert recall_at(k, ranked, relevant) == pytest.approx(theirs[ir_measures.R @ k])
    assert reciprocal_rank(ranked[:k], relevant) == pytest.approx(theirs[ir_measures.RR @ k])
    assert ndcg_at(k, ranked, relevant) == pytest.approx(theirs[ir_measures.nDCG @ k])


def test_the_measures_of_a_run_are_those_of_ir_measures_over_its_questions() -> None:
    draws = random.Random(5)
    names = list(PAPERS)
    scored = []
    for row in range(40):
        found = draws.sample(names, draws.randint(0, 3))
        wanted = draws.sample(names, draws.randint(1, 3))
        question = gold(id=str(row), kind="list", papers=wanted)
        scored.append(Scored(question, said(("x", "A"), retrieved=tuple(found)), PAPERS))
    qrels = [ir_measures.Qrel(one.gold.id, paper, 1) for one in scored for paper in one.gold.papers]
    run = [
        ir_measures.ScoredDoc(one.gold.id, paper, -float(rank))
        for one in scored
        for rank, paper in enumerate(one.outcome.retrieved)
    ]
    pairs = {
        "recall_at_5": ir_measures.R @ 5,
        "recall_at_10": ir_measures.R @ 10,
        "mrr": ir_measures.RR @ 10,
        "ndcg_at_10": ir_measures.nDCG @ 10,
    }
    theirs = ir_measures.calc_aggregate(list(pairs.values()), qrels, run)
    for name, measure in pairs.items():
        found = BY_NAME[name].estimate(scored)
        assert found is not None
        assert found.value == pytest.approx(theirs[measure])
        assert found.n == 40


# Answers.


def test_citations_by_hand() -> None:
    listed = gold(kind="list", papers=["A", "B"])
    answer = said(("3 papers:", ""), ("a", "A"), ("b", "B"), ("c", "C"))
    assert value("list_precision", listed, answer) == pytest.approx(2 / 3)
    assert value("list_recall", listed, answer) == 1
    assert value("citation_precision", listed, answer) == pytest.approx(2 / 3)
    assert value("exact_count", listed, answer) == 0
    assert value("list_recall", listed, said(("a", "A"))) == 0.5
    assert value("right_paper_cited", listed, answer) is None
    assert value("right_paper_cited", gold(papers=["A", "B"]), said(("b", "B"))) == 1
    assert value("citation_recall", gold(papers=["A", "B"]), said(("b", "B"))) == 1
    assert value("right_paper_cited", gold(kind="compare", papers=["A", "B"]), said(("b", "B"))) == 0
    assert value("citation_recall", gold(kind="compare", papers=["A", "B"]), said(("b", "B"))) == 0.5
    assert value("citation_precision", gold(), said(("no citation", ""))) == 0
    assert value("citation_precision", gold(), said(status="not_stated")) is None


@pytest.mark.parametrize(
    ("opening", "exact"),
    [
        ("2 papers on x:", 1),
        ("Two papers.", 1),
        ("Of the 34 papers, 2 are on it.", 1),
        ("There is no doubt: 2 papers.", 1),
        ("3 papers:", 0),
        ("Some papers:", 0),
        ("None of them:", 0),
    ],
)
def test_a_count_must_state_the_number(opening: str, exact: float) -> None:
    answer = said((opening, ""), ("a", "A"), ("b", "B"))
    assert value("exact_count", gold(kind="count", papers=["A", "B"]), answer) == exact
    assert value("exact_count", gold(kind="list", papers=["A", "B"]), answer) == 1
    assert value("exact_count", gold(kind="count", papers=["A", "B", "C"]), answer) == 0


@pytest.mark.parametrize(
    ("text", "fact", "found"),
    [
        ("reaches 39.63%", "$39.63\\%$", 1),
        ("reaches 39.63 %", "39.63%", 0),
        ("on a 24GB GPU", "24gb", 1),
        ("on a 124GB GPU", "24GB", 0),
        ("2.45 bits", "2.4", 0),
        ("12.4 bits", "2.4", 0),
        ("2.4 bits.", "2.4", 1),
        ("in 2024.", "2024", 1),
        ("1,104 tasks", "104", 0),
        ("up to 10³ times", "$10^3$", 1),
        ("up to 10³ times", "10^3", 1),
        ("up to 10³ times", "103", 0),
        ("a state‑of‑the‑art model", "state-of-the-art", 1),
        ("compresses Large   Models", "large models", 1),
        ("world models", "RL", 0),
        ("RL-based", "RL", 1),
        ("LLMs", "LLM", 1),
    ],
)
def test_a_fact_is_found_whatever_its_markup_but_not_within_another_number(text: str, fact: str, found: int) -> None:
    assert value("fact_recall", gold(facts=[["never", fact]]), said((text, "A"))) == found


def test_facts_count_in_what_is_shown_of_the_papers_only() -> None:
    question = gold(facts=["24GB", "2.4 bits"])
    assert value("fact_recall", question, said(("24GB and", "A"), ("2.4 bits", "A"))) == 1
    assert value("fact_recall", question, said(("On “24GB” and “2.4 bits”:", ""), ("none", "A"))) == 0
    hidden = replace(said(("24GB", "A")), sentences=(AnswerSentence(text="24GB", verdict="unsupported", shown=False),))
    assert value("fact_recall", question, hidden) == 0
    assert value("words_quoted", question, said(("Program words here:", ""), ("one two three", "A"))) == 3
    assert value("fact_recall", gold(), said(("24GB", "A"))) is None


def test_a_quotation_is_verbatim_to_the_letter_or_with_its_markup_removed() -> None:
    real = [
        Quotation(paper_id="A", text=r"A reaches $39.63\%$ with 2.4 bits"),
        Quotation(paper_id="A", text="A reaches 39.63% with 2.4 bits"),
    ]
    false = [Quotation(paper_id="A", text="A reaches 39.64%"), Quotation(paper_id="B", text="It is fast.")]
    assert value("verbatim", gold(), said(("x", "A"), quotations=tuple(real))) == 1
    assert value("verbatim", gold(), said(("x", "A"), quotations=(*real, *false))) == 0.5
    assert value("right", gold(), said(("x", "A"), quotations=(*real, *false))) == 0
    assert value("verbatim", gold(), said(("x", "A"))) is None


def test_refusals_by_hand() -> None:
    expected = ["answered", "answered", "not_stated", "not_stated", "not_covered"]
    given_ = ["answered", "not_stated", "not_stated", "answered", "not_stated"]
    scored = [
        Scored(
            gold(id=str(row), status=status, papers=[] if status == "not_covered" else ["A"]),
            said(("x", "A"), status=answer),
            PAPERS,
        )
        for row, (status, answer) in enumerate(zip(expected, given_, strict=True))
    ]

    def figure(name: str) -> float | None:
        found = BY_NAME[name].estimate(scored)
        return found and found.value

    assert figure("not_stated_recall") == 0.5
    assert figure("not_stated_precision") == pytest.approx(1 / 3)
    assert figure("not_covered_recall") == 0
    assert figure("not_covered_precision") is None
    assert figure("answerable_refused") == 0.5
    assert figure("right") == pytest.approx(2 / 5)


FAILED = Outcome(question_id="q", status=None, seconds=9.0, error="the server went away")


def test_a_failed_question_counts_as_failed_in_every_measure() -> None:
    questions = [
        gold(facts=["24GB"], history=["before?"]),
        gold(kind="list", papers=["A", "B"]),
        gold(kind="compare", papers=["A", "B"]),
        gold(status="not_stated"),
        gold(status="not_covered", papers=[]),
    ]
    scored = [Scored(question, FAILED, PAPERS) for question in questions]
    not_judged = {"verbatim", "words_quoted", "not_covered_precision", "not_stated_precision"}
    for measure in BY_NAME.values():
        if measure.unit == "share":
            worst = 0.0 if measure.better == "higher" else 1.0
            seen = set(measure.values(scored))
            assert seen == (set() if measure.name in not_judged else {worst}), measure.name
    assert all("the server went away" in one.why_wrong[0] for one in scored)
    assert BY_NAME["failed"].values(scored) == [1.0] * 5
    assert BY_NAME["seconds_p50"].values(scored) == []


PERFECT = said(
    ("24GB", "A"),
    quotations=(Quotation(paper_id="A", text="24GB GPU"),),
    retrieved=("A", "B", "C"),
)


def test_a_perfect_answer_is_perfect_in_every_measure() -> None:
    scored = [Scored(gold(facts=["24GB"], history=["before?"]), PERFECT, PAPERS)]
    for measure in BY_NAME.values():
        if measure.unit == "share":
            assert set(measure.values(scored)) <= {1.0 if measure.better == "higher" else 0.0}, measure.name
    assert scored[0].why_wrong == ()


def test_no_measure_depends_on_the_order_of_the_questions() -> None:
    scored = [
        Scored(gold(facts=["24GB"], id=str(row)), [PERFECT, FAILED, said(("x", "B"))][row % 3], PAPERS)
        for row in range(9)
    ]
    for measure in BY_NAME.values():
        assert sorted(measure.values(scored)) == sorted(measure.values(scored[::-1]))


def test_why_an_answer_is_wrong_is_said() -> None:
    def why(question: GoldQuestion, outcome: Outcome) -> str:
        return " | ".join(Scored(question, outcome, PAPERS).why_wrong)

    assert why(gold(status="not_stated"), said(("x", "A"))) == "answered instead of not_stated"
    assert why(gold(facts=["24GB", "39.63%"]), said(("24GB", "A"))) == "not said: 39.63%"
    assert why(gold(), said(("x", "ABC"))) == "2 other papers are cited as well"
    assert why(gold(), said(("x", "AB"))) == ""
    assert why(gold(), said(("x", "B"))) == "the right paper is not cited"
    assert why(gold(kind="list", papers=["A", "B"]), said(("x", "BC"))) == "missing: NetA | extra: NetC"
    assert why(gold(kind="count", papers=["A"]), said(("3 papers:", ""), ("x", "A"))) == "says 3, not 1"


def test_cost_is_unknown_without_prices_or_tokens_and_nothing_without_a_model() -> None:
    asked = said(("x", "A"), input_tokens=1_000_000, output_tokens=100_000)
    assert value("dollars", gold(), asked) == pytest.approx(2.0)
    assert value("dollars", gold(), replace(asked, input_tokens=None)) is None
    assert value("dollars", gold(), said(("x", "A"))) == 0
    without_prices = {measure.name: measure for measure in measures()}["dollars"]
    assert without_prices.value(Scored(gold(), asked, PAPERS)) is None
    assert without_prices.estimate([Scored(gold(), asked, PAPERS)]) is None


def test_the_trade_off_goes_from_refusing_nothing_to_refusing_all() -> None:
    answered = [Scored(gold(), said(("x", "A"), evidence=weight), PAPERS) for weight in (1.0, 2.0)]
    elsewhere = gold(status="not_covered", papers=[])
    off = [Scored(elsewhere, said(("x", "A"), evidence=weight), PAPERS) for weight in (0.0, 1.5)]
    assert trade_off([*answered, *off]) == ([0, 0, 0.5, 0.5, 1], [0, 0.5, 0.5, 1, 1])
    assert trade_off(answered) == ([], [])


def test_agreement_with_a_judge_by_hand() -> None:
    right, wrong = gold(), gold(papers=["B"])
    scored = [
        Scored(question, replace(PERFECT, judged=judged), PAPERS)
        for question, judged in [(right, "right")] * 4 + [(wrong, "wrong")] * 3 + [(right, "wrong"), (wrong, "right")]
    ]
    found = agreement("judge", [*scored, Scored(right, replace(PERFECT, judged="unreadable"), PAPERS)])
    assert (found.n, found.unreadable, found.both_right, found.both_wrong) == (9, 1, 4, 3)
    assert (found.only_rule_right, found.only_judge_right) == (1, 1)
    assert found.share == pytest.approx(7 / 9)
    assert found.kappa == pytest.approx((7 / 9 - 41 / 81) / (1 - 41 / 81))
    nothing = agreement("judge", [])
    assert (nothing.share, nothing.kappa) == (None, None)


@pytest.mark.parametrize("measure", BY_NAME.values(), ids=list(BY_NAME))
def test_every_measure_is_defined_in_words(measure: Measure) -> None:
    assert measure.definition.endswith(".")
    assert len(measure.definition.split()) > 4
    assert measure.is_met(0.5, 0.5)
    assert measure.is_met(0.6, 0.5) == (measure.better == "higher")


# Intervals and tests.


def test_an_interval_of_the_mean_is_the_one_of_the_textbook() -> None:
    values = np.random.default_rng(1).normal(10, 2, 400).tolist()
    found = estimate(values)
    assert found is not None
    error = np.std(values) / 20
    assert found.value == pytest.approx(np.mean(values))
    assert found.low == pytest.approx(np.mean(values) - 1.96 * error, abs=0.04)
    assert found.high == pytest.approx(np.mean(values) + 1.96 * error, abs=0.04)


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    random_ = np.random.default_rng(7)
    held = 0
    for _ in range(100):
        found = estimate(random_.normal(0, 1, 60).tolist())
        assert found is not None
        held += found.low <= 0 <= found.high
    assert 88 <= held <= 100


def test_an_estimate_of_a_percentile_and_of_nothing() -> None:
    found = estimate([1.0, 2.0, 3.0, 4.0, 100.0], percentile(50))
    assert found is not None
    assert (found.value, found.n) == (3.0, 5)
    assert found.low >= 1
    assert estimate([]) is None
    assert estimate([0.5, 0.5], mean) == estimate([0.5, 0.5])


def test_p_is_that_of_all_ways_to_swap() -> None:
    new, old = [3.0, 5.0, 2.0, 4.0, 6.0, 1.0], [2.0, 3.0, 2.5, 1.0, 5.0, 0.0]
    differences = np.array(new) - np.array(old)
    sums = [abs(np.dot(signs, differences)) for signs in itertools.product([-1, 1], repeat=6)]
    exact = np.mean(np.array(sums) >= abs(differences.sum()) - 1e-12)
    found = paired_difference(new, old)
    assert found is not None
    assert found.p == pytest.approx(exact, abs=0.02)
    assert found.value == pytest.approx(differences.mean())
    assert found.low <= found.value <= found.high


def test_no_difference_is_no_difference() -> None:
    found = paired_difference([1.0, 0.0, 1.0], [1.0, 0.0, 1.0])
    assert found is not None
    assert (found.value, found.p, found.n) == (0.0, 1.0, 3)
    assert paired_difference([], []) is None
