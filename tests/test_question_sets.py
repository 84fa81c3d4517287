"""Question sets: the format, our own two, and drafts."""

import json
from collections import Counter
from pathlib import Path

import pytest

from assistant import Assistant
from assistant.errors import QuestionSetError
from assistant.evaluation.drafting import drafted_questions
from assistant.evaluation.question_sets import (
    built_in_sets,
    read_question_set,
    resolved,
    sampled,
    write_question_set,
)
from assistant.evaluation.scoring import comparable, holds
from assistant.evaluation.types import GoldQuestion
from vectorstore.types import Paper

GOOD = {"id": "a", "question": "What is LiftQuant?", "papers": ["LiftQuant"], "facts": ["1-bit", ["24GB", "24 GB"]]}


def written(folder: Path, *rows: object) -> str:
    path = folder / "mine.jsonl"
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), "utf-8")
    return str(path)


def test_a_line_holds_what_the_format_says(tmp_path: Path) -> None:
    questions = read_question_set(written(tmp_path, GOOD, "", {"id": "b", "question": "x?", "status": "not_covered"}))
    assert [question.id for question in questions.questions] == ["a", "b"]
    assert questions.questions[0].facts == (("1-bit",), ("24GB", "24 GB"))
    assert questions.questions[1].status == "not_covered"
    assert questions.name == "mine"
    assert len(questions.sha256) == 64


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("{", "line 2: Invalid JSON"),
        ("[]", "line 2"),
        ({"id": "b"}, "line 2: question: Field required"),
        ({**GOOD, "id": "b", "question": "  "}, "line 2: question: String should have at least 1 character"),
        ({**GOOD, "id": "b", "kind": "essay"}, "line 2: kind: Input should be 'fact'"),
        ({**GOOD, "id": "b", "status": "unknown"}, "line 2: status: Input should be 'answered'"),
        ({**GOOD, "id": "b", "paper": ["x"]}, "line 2: paper: Extra inputs are not permitted"),
        ({**GOOD, "id": "b", "facts": [[]]}, "line 2: facts.0: Tuple should have at least 1 item"),
        ({**GOOD, "id": "b", "facts": [""]}, "line 2: facts.0.0: String should have at least 1 character"),
        ({**GOOD, "id": "b", "papers": []}, "line 2: papers must not be empty when the status is answered"),
        ({**GOOD, "id": "b", "status": "not_covered"}, "line 2: papers must be empty when the status is not_covered"),
        ({**GOOD, "id": "b", "status": "not_stated"}, "line 2: facts must be empty when the status is not_stated"),
        ({**GOOD, "id": "b", "kind": "compare"}, "line 2: a comparison needs two papers"),
        (GOOD, "line 2: the id 'a' is taken by an earlier line"),
    ],
)
def test_a_wrong_line_is_named_with_what_is_wrong(tmp_path: Path, row: object, said: str) -> None:
    with pytest.raises(QuestionSetError) as error:
        read_question_set(written(tmp_path, GOOD, row))
    assert said in error.value.message
    assert error.value.hint


def test_a_line_ends_where_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "odd.jsonl"
    question = GoldQuestion(id="a", question="What\u2028is\x85this?", status="not_covered")
    write_question_set(path, [question, question.model_copy(update={"id": "b"})])
    assert [read.question for read in read_question_set(str(path)).questions] == [question.question] * 2


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xff\xfe{}", None])
def test_a_file_without_questions_is_an_error(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "mine.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(QuestionSetError, match=r"mine\.jsonl"):
        read_question_set(str(path))


def test_papers_are_found_by_label_and_by_id_and_a_missing_one_is_named(tmp_path: Path, assistant: Assistant) -> None:
    papers = assistant.papers()
    by_id = {**GOOD, "id": "b", "papers": [papers[0].paper_id]}
    found = resolved(read_question_set(written(tmp_path, GOOD, by_id)), papers)
    assert found.questions[0].papers == found.questions[1].papers == (papers[0].paper_id,)
    with pytest.raises(QuestionSetError, match=r"line 2.*'NoSuchNet'"):
        resolved(read_question_set(written(tmp_path, GOOD, {**GOOD, "id": "b", "papers": ["NoSuchNet"]})), papers)
    twice = {**GOOD, "kind": "compare", "papers": ["LiftQuant", papers[0].paper_id]}
    with pytest.raises(QuestionSetError, match=r"line 1: a comparison needs two papers"):
        resolved(read_question_set(written(tmp_path, twice)), papers)


def test_a_sample_is_the_same_for_the_same_seed_and_keeps_the_order() -> None:
    questions = read_question_set("icml2026-dev")
    ids = [question.id for question in questions.questions]
    one, same, other = (sampled(questions, 20, seed).questions for seed in (3, 3, 4))
    assert one == same != other
    assert [ids.index(question.id) for question in one] == sorted(ids.index(question.id) for question in one)
    assert sampled(questions, 10_000, 0) == questions


# Our own sets, as promised in docs/evaluation.md.

HALVES = {name: read_question_set(name).questions for name in ("icml2026-dev", "icml2026-test")}
OURS = [question for half in HALVES.values() for question in half]


def test_our_sets_have_what_they_promise(assistant: Assistant) -> None:
    assert built_in_sets() == sorted(HALVES)
    assert len(OURS) >= 260
    assert len({question.id for question in OURS}) == len(OURS)
    answered = [question for question in OURS if question.status == "answered"]
    for tag in ("named", "described"):
        per_paper = Counter(
            label
            for question in answered
            if tag in question.tags and question.kind == "fact" and not question.history
            for label in question.papers
        )
        assert all(per_paper[paper.label] >= 2 for paper in assistant.papers()), tag
    assert sum(question.kind in ("list", "count") for question in answered) >= 30
    assert sum(question.kind == "compare" for question in OURS) >= 15
    assert sum(len(question.history) in (1, 2, 3) for question in OURS) >= 20
    assert sum(len(question.history) == 3 for question in OURS) >= 5
    assert sum(question.status == "not_covered" for question in OURS) >= 40
    assert sum(question.status == "not_stated" for question in OURS) >= 60
    for tag in ("spelling", "language"):
        assert sum(tag in question.tags for question in OURS) >= 10, tag
    assert any("near_miss" in question.tags for question in HALVES["icml2026-test"])


def test_the_halves_share_no_question() -> None:
    dev, test = ({comparable(q.question).strip(" ?.!") for q in half if not q.history} for half in HALVES.values())
    assert not dev & test


@pytest.mark.parametrize("name", HALVES)
def test_every_fact_of_ours_stands_in_its_paper_and_every_paper_exists(name: str, assistant: Assistant) -> None:
    papers = {paper.paper_id: paper for paper in assistant.papers()}
    for question in resolved(read_question_set(name), list(papers.values())).questions:
        abstracts = [comparable(papers[paper_id].abstract) for paper_id in question.papers]
        for fact in question.facts:
            assert any(holds(abstract, variant) for abstract in abstracts for variant in fact), (question.id, fact)


# Drafts.


def test_a_draft_can_be_read_back_and_run_as_it_is(tmp_path: Path, assistant: Assistant) -> None:
    papers = assistant.papers()
    drafts = drafted_questions(papers)
    path = tmp_path / "draft.jsonl"
    write_question_set(path, drafts)
    assert resolved(read_question_set(str(path)), papers).questions
    assert read_question_set(str(path)).questions == tuple(drafts)
    assert all("draft" in draft.tags and draft.note for draft in drafts)
    assert {draft.status for draft in drafts} == {"answered", "not_stated", "not_covered"}
    assert {"fact", "list", "count"} <= {draft.kind for draft in drafts}
    assert {label for draft in drafts for label in draft.papers} == {paper.label for paper in papers}
    assert drafted_questions(papers) == drafts


def test_a_drafted_figure_stands_in_its_abstract_and_not_in_its_question(assistant: Assistant) -> None:
    abstracts = {paper.label: comparable(paper.abstract) for paper in assistant.papers()}
    with_facts = [draft for draft in drafted_questions(assistant.papers()) if draft.facts]
    assert len(with_facts) > 10
    for draft in with_facts:
        assert holds(abstracts[draft.papers[0]], draft.facts[0][0]), draft
        assert "___" in draft.question


def test_a_draft_of_a_large_collection_stays_small_enough_to_check(assistant: Assistant) -> None:
    (paper, *_) = assistant.papers()
    many = [Paper(**{**vars(paper), "paper_id": str(row), "label": f"Net{row}"}) for row in range(5000)]
    drafts = drafted_questions(many, seed=1)
    assert 40 <= len(drafts) <= 150
    assert drafts != drafted_questions(many, seed=2)


def test_a_draft_overwrites_nothing(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text("my work")
    question = GoldQuestion(id="a", question="x?", status="not_covered")
    with pytest.raises(QuestionSetError, match="exists"):
        write_question_set(path, [question])
    assert path.read_text() == "my work"
    with pytest.raises(QuestionSetError, match="cannot be written"):
        write_question_set(tmp_path / "no" / "such.jsonl", [question])
