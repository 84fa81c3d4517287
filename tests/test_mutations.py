"""The sentences made by program say what they are meant to say: reworded ones the same, mutated ones something else."""

from dataclasses import replace
from random import Random

import pytest

from assistant import Assistant
from benchmarks import later_patterns as later
from benchmarks import mutation_patterns as mutate
from benchmarks import paraphrase_patterns as reword
from benchmarks.mutations import cases_of
from benchmarks.truths import Statement
from vectorstore.types import Paper

ABSTRACT = (
    "We propose Fobar, which cuts memory by 41% on GPT-4. Fobar outperforms Quxal on 2,400 noisy inputs. "
    "It is stable without restarts. Most grids increase accuracy from 5 to 10 points."
)
OTHER = "Frogs sing in ponds at night, as recordings with BatLogger show. Rain makes them sing louder and longer."


@pytest.fixture(scope="module")
def paper(assistant: Assistant) -> Paper:
    return replace(assistant.papers()[0], label="Fobar", title=None, abstract=ABSTRACT)


@pytest.fixture(scope="module")
def other(paper: Paper) -> Paper:
    return replace(paper, paper_id="other", label="Frogs", abstract=OTHER)


@pytest.mark.parametrize(
    ("pattern", "sentence", "mutated"),
    [
        (mutate.names_swapped, "On VOC12, FoBar beats QuXal.", "On VOC12, QuXal beats FoBar."),
        (mutate.names_swapped, "FoBar outperforms QuXal on grids.", "QuXal outperforms FoBar on grids."),
        (mutate.negation_added, "Fobar is stable on all grids.", "Fobar is not stable on all grids."),
        (mutate.negation_added, "Fobar may be what is stable.", None),
        (mutate.negation_removed, "It is stable without restarts.", "It is stable with restarts."),
        (mutate.direction_flipped, "Grids increase accuracy.", "Grids reduce accuracy."),
        (mutate.direction_flipped, "Grids do not increase accuracy.", None),
        (mutate.decimal_shifted, "It cuts memory by 41%.", "It cuts memory by 410%."),
        (mutate.unit_changed, "It cuts memory by 41%.", "It cuts memory by 41x."),
        (mutate.range_widened, "Accuracy rises from 5 to 10 points.", "Accuracy rises from 2 to 30 points."),
        (mutate.numbers_swapped, "It has 5, 7 and 9 layers.", None),
        (mutate.numbers_swapped, "It has 5 layers and needs 9 GB.", "It has 9 layers and needs 5 GB."),
        (mutate.comparison_turned, "The fox beats the hare on grass.", "The hare beats the fox on grass."),
        (mutate.verb_denied, "The fox outperforms the hare.", "The fox fails to outperform the hare."),
        (mutate.whole_denied, "The fox is red.", "It is not the case that the fox is red."),
        (mutate.scope_widened, "Here most grids are large.", "Here all grids are large."),
        (mutate.given_to_earlier_work, "We propose Fobar.", "Earlier methods propose Fobar."),
        (later.number_doubled, "It takes 42% of memory.", "It takes 84% of memory."),
        (later.cause_turned, "Noise causes restarts.", "Restarts causes noise."),
        (later.finding_denied, "This shows that it is red.", "This could not confirm that it is red."),
        (later.far_from, "It is stable.", "It is far from stable."),
    ],
)
def test_a_pattern_changes_what_it_says(
    paper: Paper, other: Paper, pattern: mutate.Pattern, sentence: str, mutated: str | None
) -> None:
    made = pattern(Statement(paper, sentence), [other], Random(0))
    assert (made.sentence if made else None) == mutated


@pytest.mark.parametrize(
    ("paraphrase", "sentence", "reworded"),
    [
        (reword.of_the_authors, "We show our grid.", "The authors show their grid."),
        (reword.percent_spelled, "It cuts memory by 41%.", "It cuts memory by 41 percent."),
        (reword.with_synonyms, "It reduces memory.", "It lowers memory."),
        (reword.without_opening, "Moreover, the grid is small.", "The grid is small."),
        (reword.with_its_phrase_moved, "On ice, they say, it is.", None),
        (reword.with_its_phrase_moved, "On thin ice, white foxes beat hares.", "White foxes beat hares on thin ice."),
        (
            reword.with_numbers_written_otherwise,
            "It has 2,400 inputs in three kinds.",
            "It has 2400 inputs in 3 kinds.",
        ),
        (reword.without_its_abbreviation, "Graph nets (GNNs) are fast.", "Graph nets are fast."),
        (reword.named_by_its_label, "The grid is small.", None),
        (later.proposed_by_nobody, "We propose a grid that is small.", "A grid is proposed that is small."),
        (later.without_intensifiers, "It is significantly smaller.", "It is smaller."),
        (later.without_parentheses, "Two sets (A, B) are large.", "Two sets are large."),
        (
            later.without_its_end,
            "The grid is very small indeed, while the box is large.",
            "The grid is very small indeed.",
        ),
        (later.with_contractions, "It does not fit.", "It doesn't fit."),
    ],
)
def test_a_rewording_says_the_same(
    paper: Paper, paraphrase: reword.Paraphrase, sentence: str, reworded: str | None
) -> None:
    assert paraphrase(Statement(paper, sentence), Random(0)) == reworded


def test_a_new_number_stands_nowhere_in_the_abstract(paper: Paper, other: Paper) -> None:
    for seed in range(50):
        made = mutate.number_changed(Statement(paper, "It takes 42% of memory."), [other], Random(seed))
        assert made is None or "41%" not in made.sentence


def test_a_claim_is_moved_only_where_its_words_are_unknown(paper: Paper, other: Paper) -> None:
    moved = mutate.moved_to_another_paper(Statement(paper, "Fobar beats Quxal on noisy inputs."), [other], Random(0))
    assert moved is not None
    assert moved.paper is other
    assert mutate.moved_to_another_paper(Statement(paper, "Frogs sing at night."), [other], Random(0)) is None


def test_the_same_papers_give_the_same_cases(paper: Paper, other: Paper) -> None:
    first, second = cases_of([paper, other], 3), cases_of([paper, other], 3)
    assert first == second
    assert {case.is_true for case in first} == {True, False}
