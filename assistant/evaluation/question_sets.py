"""Question sets: JSON Lines files, one `GoldQuestion` a line."""

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path

from pydantic import ValidationError

from assistant.errors import QuestionSetError
from assistant.evaluation.types import GoldQuestion, QuestionSet
from vectorstore.types import Paper
from vectorstore.visible import visible_json

_FORMAT_HINT = "The format of question sets: docs/evaluation.md."
_SETS = files("assistant.evaluation") / "sets"


def built_in_sets() -> list[str]:
    """Names of the question sets that come with the program."""
    return sorted(path.name.removesuffix(".jsonl") for path in _SETS.iterdir() if path.name.endswith(".jsonl"))


def read_question_set(name: str) -> QuestionSet:
    """The built-in question set of that name, or the one in that file.

    Raises `QuestionSetError`, naming file and line, when a line is not a question of the documented format.
    """
    if name in built_in_sets():
        with as_file(_SETS / f"{name}.jsonl") as path:
            return replace(_read(path), name=name)
    return _read(Path(name))


def _read(path: Path) -> QuestionSet:
    try:
        content = path.read_bytes()
        lines = content.decode("utf-8-sig").split("\n")  # JSON may hold other characters that end a line
    except (OSError, UnicodeDecodeError) as error:
        raise QuestionSetError(
            f"The question set {path} cannot be read ({type(error).__name__}).",
            f"Give a file in UTF-8, or one of the built-in sets: {', '.join(built_in_sets())}.",
        ) from error
    questions: dict[str, GoldQuestion] = {}
    places: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        if line.strip():
            question = _question(line, f"{path}, line {number}")
            if question.id in questions:
                raise QuestionSetError(
                    f"{path}, line {number}: the id {question.id!r} is taken by an earlier line.",
                    "Give each question an id of its own.",
                )
            questions[question.id] = question
            places[question.id] = number
    if not questions:
        raise QuestionSetError(f"The question set {path} holds no question.", _FORMAT_HINT)
    return QuestionSet(path.stem, tuple(questions.values()), hashlib.sha256(content).hexdigest(), places)


def _question(line: str, place: str) -> GoldQuestion:
    try:
        return GoldQuestion.model_validate_json(line)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in problem["loc"])
        message = problem["msg"].removeprefix("Value error, ")
        raise QuestionSetError(f"{place}: {f'{field}: ' if field else ''}{message}.", _FORMAT_HINT) from error


def resolved(questions: QuestionSet, papers: Sequence[Paper]) -> QuestionSet:
    """The same questions with the ids of their papers instead of labels.

    Raises `QuestionSetError`, naming the line, when the collection has no such paper.
    """
    ids = {name: paper.paper_id for paper in papers for name in (paper.paper_id, paper.label)}
    for question in questions.questions:
        place = f"{questions.name}, line {questions.lines[question.id]}"
        for name in question.papers:
            if name not in ids:
                raise QuestionSetError(
                    f"{place}: the collection does not hold the paper {name!r}.",
                    "Name papers by label or id; `assistant papers --json` lists both.",
                )
        if question.kind == "compare" and len({ids[name] for name in question.papers}) == 1:
            raise QuestionSetError(f"{place}: a comparison needs two papers.", _FORMAT_HINT)
    return replace(questions, questions=tuple(_with_ids(question, ids) for question in questions.questions))


def _with_ids(question: GoldQuestion, ids: Mapping[str, str]) -> GoldQuestion:
    return question.model_copy(update={"papers": tuple(dict.fromkeys(ids[name] for name in question.papers))})


def sampled(questions: QuestionSet, count: int, seed: int) -> QuestionSet:
    """`count` of the questions, drawn at random by `seed`, in the order of the set; all when it has no more."""
    rows = range(len(questions.questions))
    chosen = sorted(random.Random(seed).sample(rows, min(count, len(rows))))
    return replace(questions, questions=tuple(questions.questions[row] for row in chosen))


def question_set_text(questions: Sequence[GoldQuestion]) -> str:
    """What `read_question_set` reads: a line for each question."""
    lines = (visible_json(question.model_dump(exclude_defaults=True), indent=None) for question in questions)
    return "".join(f"{line}\n" for line in lines)


def write_question_set(path: Path, questions: Sequence[GoldQuestion]) -> None:
    """Writes a new question set. Raises `QuestionSetError` when the file exists: it may hold somebody's work."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(question_set_text(questions))
    except FileExistsError as error:
        raise QuestionSetError(f"The file {path} exists.", "Give another name, or move it away.") from error
    except OSError as error:
        raise QuestionSetError(
            f"The file {path} cannot be written: {error.strerror}.", "Give a file in a folder that you may write to."
        ) from error
