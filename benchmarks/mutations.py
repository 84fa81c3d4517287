"""The check of sentences on true sentences as they stand, a little reworded, and made false by program.

python -m benchmarks.mutations [--split dev|test] [--each 80] [--mistakes]

No paper of the development part is in the other. Some patterns are known to who writes the rules, others held out, and
others were written later than the rules: of these two the mistakes are never printed. Beside each share is that of the
plain alternative, a similarity of at least .63 to the best sentence of the abstract.
"""

import argparse
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Literal, get_args

import numpy as np

from assistant.conversation import SourceNumbers
from assistant.evaluation.resampling import estimate
from assistant.verification import Verifier
from benchmarks import later_patterns, mutation_patterns, paraphrase_patterns
from benchmarks.common import console, print_environment, print_table
from benchmarks.similarities import Similarities
from benchmarks.truths import Statement, papers_of, statements_of
from vectorstore.markup import readable
from vectorstore.relevance import CrossEncoder
from vectorstore.sentences import sentence_spans
from vectorstore.types import Paper

Part = Literal["known", "held out", "later"]
_PARTS: tuple[Part, ...] = get_args(Part)
_SPLITS = ("dev", "test")


@dataclass(frozen=True)
class Case:
    """A statement, whether it is true, and what was done to it."""

    statement: Statement
    is_true: bool
    group: str
    pattern: str
    part: Part


@dataclass(frozen=True)
class Outcome:
    """What the check, and the similarity alone, said of a case."""

    case: Case
    is_shown: bool
    is_similar: bool
    milliseconds: float
    reasons: tuple[str, ...]


def cases_of(papers: Sequence[Paper], each: int) -> list[Case]:
    """At most `each` cases of each pattern, and three times as many as they stand; the same for the same papers."""
    statements = [statement for paper in papers for statement in statements_of(paper)]
    cases = []
    for group, pattern, part in _mutations():
        made = _made(partial(_mutated, pattern, papers), statements, each, pattern.__name__)
        cases += [Case(statement, False, group, _spoken(pattern.__name__), part) for statement in made]
    for paraphrase, part in _paraphrases():
        made = _made(partial(_reworded, paraphrase), statements, each, paraphrase.__name__)
        cases += [Case(statement, True, "reworded", _spoken(paraphrase.__name__), part) for statement in made]
    for make in (_as_read, _as_written):
        made = _made(make, statements, 3 * each, make.__name__)
        cases += [Case(statement, True, "verbatim", _spoken(make.__name__), "known") for statement in made]
    return cases


def _mutated(
    pattern: mutation_patterns.Pattern, papers: Sequence[Paper], true: Statement, random: Random
) -> Statement | None:
    return pattern(true, papers, random)


def _reworded(paraphrase: paraphrase_patterns.Paraphrase, true: Statement, random: Random) -> Statement | None:
    sentence = paraphrase(true, random)
    return Statement(true.paper, sentence) if sentence else None


def _as_read(true: Statement, random: Random) -> Statement:
    return true


def _as_written(true: Statement, random: Random) -> Statement | None:
    """With its markup, if it has any."""
    raw = [span.of(true.paper.abstract) for span in sentence_spans(true.paper.abstract)]
    return next((Statement(true.paper, text) for text in raw if text != true.sentence == readable(text)), None)


def _mutations() -> Iterable[tuple[str, mutation_patterns.Pattern, Part]]:
    sources: list[tuple[Part, dict[str, tuple[mutation_patterns.Pattern, ...]]]] = [
        ("known", mutation_patterns.KNOWN),
        ("known", later_patterns.NOW_KNOWN),
        ("held out", mutation_patterns.HELD_OUT),
        ("later", later_patterns.MUTATIONS),
    ]
    for part, groups in sources:
        yield from ((group, pattern, part) for group, members in groups.items() for pattern in members)


def _paraphrases() -> Iterable[tuple[paraphrase_patterns.Paraphrase, Part]]:
    known, held_out = paraphrase_patterns.KNOWN, paraphrase_patterns.HELD_OUT
    groups = {"known": known, "held out": held_out, "later": later_patterns.PARAPHRASES}
    for part in _PARTS:
        yield from ((paraphrase, part) for paraphrase in groups[part])


def _made(
    make: Callable[[Statement, Random], Statement | None], statements: Sequence[Statement], each: int, seed: str
) -> list[Statement]:
    random = Random(seed)
    made: list[Statement] = []
    for true in random.sample(statements, len(statements)):
        if len(made) < each and (statement := make(true, random)):
            made.append(statement)
    return made


def _spoken(name: str) -> str:
    return name.strip("_").replace("_", " ")


def outcomes_of(cases: Sequence[Case], similarities: Similarities) -> list[Outcome]:
    """Each case checked with its paper as the only source."""
    verifier = Verifier(CrossEncoder())
    outcomes = []
    for case in cases:
        paper = case.statement.paper
        started = time.perf_counter()
        checked = verifier.check(case.statement.sentence, [paper], [paper], SourceNumbers([]))
        taken = 1000 * (time.perf_counter() - started)
        is_similar = similarities.is_similar(case.statement.sentence, paper)
        outcomes.append(Outcome(case, checked.shown, is_similar, taken, checked.reasons))
    return outcomes


def print_shares(outcomes: Sequence[Outcome]) -> None:
    """A row for each pattern, and one for each group and part of the patterns."""
    rows = []
    for group in dict.fromkeys(outcome.case.group for outcome in outcomes):
        for part in _PARTS:
            members = [o for o in outcomes if o.case.group == group and o.case.part == part]
            for pattern in dict.fromkeys(outcome.case.pattern for outcome in members):
                rows.append([f"  {pattern}", part, *_shares([o for o in members if o.case.pattern == pattern])])
            if members:
                rows.append([f"{group.upper()}", part, *_shares(members)])
    print_table(["pattern", "part", "right", "right by similarity"], rows)


def print_times(outcomes: Sequence[Outcome]) -> None:
    """Milliseconds for one sentence and one abstract."""
    median, late = np.percentile([outcome.milliseconds for outcome in outcomes], [50, 95])
    false = [outcome for outcome in outcomes if not outcome.case.is_true]
    console.print(f"{len(false)} false sentences; p50 {median:.0f} ms, p95 {late:.0f} ms a sentence")


def _shares(outcomes: Sequence[Outcome]) -> list[str]:
    """Of false sentences those not shown, of true ones those shown: by the check, and by similarity alone."""
    share = estimate([float(outcome.is_shown == outcome.case.is_true) for outcome in outcomes])
    plain = estimate([float(outcome.is_similar == outcome.case.is_true) for outcome in outcomes])
    assert share is not None
    assert plain is not None
    return [f"{share.value:.3f} ({share.low:.3f}–{share.high:.3f}) of {share.n}", f"{plain.value:.3f}"]


def print_mistakes(outcomes: Sequence[Outcome]) -> None:
    """The sentences of known patterns that are judged wrongly, with the reasons."""
    for outcome in outcomes:
        if outcome.case.part == "known" and outcome.is_shown != outcome.case.is_true:
            why = "; ".join(outcome.reasons)
            console.print(f"  {outcome.case.pattern}: {outcome.case.statement.sentence} [{why}]", markup=False)


def main() -> None:
    """Prints the shares of each split, and with --mistakes what is judged wrongly in the dev split."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", choices=_SPLITS, help="only this one")
    parser.add_argument("--each", type=int, default=80, help="cases of each pattern, at most")
    parser.add_argument("--mistakes", action="store_true", help="print mistakes on known patterns of the dev split")
    options = parser.parse_args()
    for split in [options.split] if options.split else _SPLITS:
        cases = cases_of(papers_of(split), options.each)
        print_environment(f"Check of {len(cases)} sentences made by program, {split}")
        outcomes = outcomes_of(cases, Similarities())
        print_shares(outcomes)
        print_times(outcomes)
        if options.mistakes and split == "dev":
            print_mistakes(outcomes)


if __name__ == "__main__":
    main()
