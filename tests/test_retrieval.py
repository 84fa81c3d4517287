import pytest

from assistant import Assistant


def labels(assistant: Assistant, query: str, k: int = 5) -> list[str]:
    return [passage.paper.label for passage in assistant.search(query, k)]


@pytest.mark.parametrize(
    ("query", "label"),
    [
        ("fractional bit widths for compressing language models", "LiftQuant"),
        ("escaping from docker containers", "SandboxEscapeBench"),
        ("protein backbone generation", "PAR"),
        ("key-value cache compression for long video", "EAKV"),
        ("physics olympiad", "HiPhO"),
        ("constrained text diffusion with regular expressions", "Diffinity"),
    ],
)
def test_a_paper_is_found_by_its_subject(assistant: Assistant, query: str, label: str) -> None:
    assert labels(assistant, query)[0] == label


def test_a_paper_that_the_question_names_comes_first_in_whatever_case(assistant: Assistant) -> None:
    assert labels(assistant, "LSFlow average improvement over the state of the art?")[0] == "LSFlow"
    assert labels(assistant, "average improvement of lsflow over the state of the art?")[0] == "LSFlow"


def test_a_word_that_is_also_a_label_does_not_mean_the_paper(assistant: Assistant) -> None:
    (named,) = [p for p in assistant.search("top restaurants at par", 34) if p.paper.label == "TOP"]
    assert not named.named
    assert assistant.search("What does TOP predict?", 1)[0].named


def test_a_passage_says_why_it_was_found(assistant: Assistant) -> None:
    first, *others = assistant.search("reward overoptimization in RLHF", 34)
    assert first.paper.label == "R2M"
    assert (first.dense_rank, first.keyword_rank) == (1, 1)
    assert first.similarity is not None
    assert 0.5 < first.similarity <= 1
    assert any(passage.keyword_rank is None for passage in others)
    assert sorted(passage.dense_rank for passage in [first, *others] if passage.dense_rank) == list(range(1, 35))


def test_passages_are_one_per_paper_and_at_most_k(assistant: Assistant) -> None:
    found = assistant.search("language models", 7)
    assert len(found) == 7
    assert len({passage.paper.paper_id for passage in found}) == 7


def test_a_passage_is_a_span_of_its_paper(assistant: Assistant) -> None:
    for passage in assistant.search("reinforcement learning", 10):
        assert passage.span.of(passage.paper.abstract) == passage.text


def test_a_label_of_several_words_names_its_paper(assistant: Assistant) -> None:
    first = assistant.search("how is template collapse found?", 1)[0]
    assert (first.paper.label, first.named) == ("Template collapse", True)


def test_words_that_say_nothing_find_something_all_the_same(assistant: Assistant) -> None:
    assert len(assistant.search("is there?", 3)) == 3


def test_a_misspelt_name_is_found(assistant: Assistant) -> None:
    for query in ("LiftQaunt", "what does liftquent do", "SandboxEscapeBnech", "Cure SFT"):
        assert assistant.search(query, 1)[0].named, query


def test_a_search_says_of_each_passage_how_it_was_found(assistant: Assistant) -> None:
    passages = assistant.search("Which quantization does LiftQuant use for fractional bits?", 12)
    first = passages[0]
    assert (first.why, first.words[0]) == ("the question names LiftQuant", "quantization")
    assert first.relevance is not None
    assert first.relevance > max(passage.relevance for passage in passages[1:10] if passage.relevance is not None)
    assert [passage.relevance is None for passage in passages] == [False] * 10 + [True] * 2
    for passage in passages[1:]:
        assert passage.similarity is not None
        assert not passage.words or passage.keyword_rank is not None, passage
        assert passage.why == ("near in meaning" if passage.keyword_rank is None else "near in meaning and in words"), (
            passage
        )
    (only,) = assistant.search("What are FlowVectors?", 1)
    assert (only.paper.label, only.why) == ("FlowGuard", "it holds the name FlowVectors")


def test_words_of_letters_and_digits_are_found_in_part(assistant: Assistant) -> None:
    """ "Qwen3" and "Qwen 3" are written by turns."""
    whole, apart = ({p.paper.label for p in assistant.search(q, 5)} for q in ("Qwen3-8B", "Qwen 3 8B"))
    assert len(whole & apart) >= 4
