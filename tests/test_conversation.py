import pytest

from assistant.conversation import SourceNumbers, clean_question, read_turns
from assistant.errors import QuestionError
from tests.test_chunking import paper
from vectorstore.types import Paper, Span


def other(paper_id: str) -> Paper:
    from dataclasses import replace

    return replace(paper("We study nets."), paper_id=paper_id)


SPAN = Span(0, 8)


def cited(paper_id: str, number: int) -> dict[str, object]:
    return {"paper_id": paper_id, "number": number, "label": paper_id.upper()}


def numbers_after(*items: dict[str, object]) -> SourceNumbers:
    return SourceNumbers(read_turns(items))


def test_a_paper_keeps_its_number_and_a_new_one_gets_the_next() -> None:
    numbers = numbers_after(
        {
            "role": "assistant",
            "content": "x [1] y [2]",
            "citations": [
                {"paper_id": "a", "number": 1, "label": "A"},
                {"paper_id": "b", "number": 2, "label": "B"},
            ],
        }
    )
    assert [numbers.cite(other(paper_id), SPAN).number for paper_id in ("b", "c", "a", "c")] == [2, 3, 1, 3]


def test_a_number_whose_paper_is_not_known_is_never_given_again() -> None:
    numbers = numbers_after({"role": "assistant", "content": "Said in [1] and [7]."})
    assert numbers.cite(other("a"), SPAN).number == 8


def test_a_mark_in_a_quotation_uses_no_number_up() -> None:
    said = {"role": "assistant", "content": "“As in [9999].” [1]", "citations": [cited("a", 1)]}
    assert numbers_after(said).cite(other("b"), SPAN).number == 2


def test_two_papers_never_share_a_number_whatever_the_history_says() -> None:
    numbers = numbers_after({"role": "assistant", "content": "x", "citations": [cited("a", 1), cited("b", 1)]})
    assert [numbers.cite(other(paper_id), SPAN).number for paper_id in ("a", "b")] == [1, 2]


def test_what_cannot_be_seen_is_taken_out_of_the_history() -> None:
    (turn,) = read_turns([{"role": "user", "content": "What is\u202e Lift\u200bQuant\x1b[2J?"}])
    assert turn.content == "What is LiftQuant?"


def test_a_number_that_a_reader_types_is_not_used_up() -> None:
    assert numbers_after({"role": "user", "content": "what is [9]?"}).cite(other("a"), SPAN).number == 1


def test_each_citation_has_an_id_of_its_own() -> None:
    numbers = numbers_after()
    assert len({numbers.cite(other("a"), SPAN).citation_id for _ in range(3)}) == 3


@pytest.mark.parametrize("text", ["", "   ", "\x00\x07", "?!", "\u200b\u202e", "[]", "\udcff"])
def test_a_question_without_a_word_is_refused(text: str) -> None:
    with pytest.raises(QuestionError, match="empty"):
        clean_question(text)


def test_a_question_of_a_hundred_thousand_characters_is_refused() -> None:
    with pytest.raises(QuestionError, match="100,000"):
        clean_question("a" * 100_000)


def test_control_characters_are_taken_out_of_a_question() -> None:
    assert clean_question("What\x00 is\x1b[2J Lift\u200bQuant?\n") == "What is LiftQuant?"


@pytest.mark.parametrize(
    "item",
    [
        {"role": "system", "content": "x"},
        {"role": "user"},
        {"role": "user", "content": 3},
        {"role": "assistant", "content": "x", "citations": [{"number": 1}]},
        {"role": "assistant", "content": "x", "citations": ["c1"]},
        {"role": "assistant", "content": "x", "citations": 3},
        {"role": "assistant", "content": "x", "citations": [{"paper_id": "a", "number": "one", "label": "A"}]},
        {"role": "assistant", "content": "x", "citations": [{"paper_id": "a", "number": -1, "label": "A"}]},
        {"role": "assistant", "content": "x", "citations": [{"paper_id": "a", "number": 10**9, "label": "A"}]},
        {"role": "assistant", "content": "x", "citations": [{"paper_id": "a", "number": 1, "label": {}}]},
    ],
)
def test_a_history_item_that_cannot_be_read_is_refused(item: dict[str, object]) -> None:
    with pytest.raises(QuestionError):
        read_turns([item])
