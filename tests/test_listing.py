import pytest

from assistant.evidence.listing import in_full, listed, rarity_shared, telling_span, topic_stems
from vectorstore.types import Paper


def paper(abstract: str) -> Paper:
    return Paper(
        paper_id="p",
        label="P",
        abstract=abstract,
        title=None,
        authors=(),
        venue=None,
        year=None,
        urls=(),
        source="f",
        position=1,
    )


@pytest.mark.parametrize(
    ("question", "abstract", "told"),
    [
        ("Which papers have public code?", "We solve it. Code: https://github.com/a/b", "Code: https://github.com/a/b"),
        ("Which papers release their code?", "We solve it. The code will be released.", "The code will be released."),
        ("papers with public code", "We decode. Data are at https://example.org.", None),
        (
            "Which papers introduce a new benchmark?",
            "We present X, a benchmark of Y. It wins.",
            "We present X, a benchmark of Y.",
        ),
        ("Which papers introduce a new benchmark?", "We present X. It wins on each benchmark.", None),
    ],
)
def test_code_and_new_things_are_told_by_the_form_of_a_sentence(question: str, abstract: str, told: str | None) -> None:
    find = telling_span(question)
    assert find is not None
    span = find(paper(abstract))
    assert (span.of(abstract) if span else None) == told


def test_other_lists_are_not_told_by_form() -> None:
    assert telling_span("Which papers are about agents?") is None
    assert telling_span("Which papers evaluate on a coding benchmark?") is None


def test_abbreviations_and_versions_are_the_same_words() -> None:
    rarities = {stem: 1.0 for stem in topic_stems("reinforcement learning with Llama")}
    assert rarity_shared(rarities, "RL of LLaMA3.1-8B") == 3.0
    assert rarity_shared({"rl": 1.0}, "by reinforcement learning") == 1.0


def test_a_list_ends_where_papers_are_far_below_the_best() -> None:
    relevance = {"a": 4.0, "b": 2.0, "c": -11.0}
    similarity = {"a": 0.75, "b": 0.72, "c": 0.5}
    assert listed(relevance, similarity, {"a": 4.0, "b": 4.0, "c": 0.0}) == ["a", "b"]
    assert listed({"a": -11.0}, {"a": 0.4}, {"a": 0.0}) == ["a"]


def test_a_topic_that_is_an_abbreviation_is_read_in_full() -> None:
    assert in_full("RL") == "reinforcement learning"
    assert in_full("RL for games") == "RL for games"
