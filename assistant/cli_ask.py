"""`assistant ask`: one question, the questions of a file, or a conversation."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from assistant.cli_options import CollectionOption, JsonOption
from assistant.errors import QuestionError, UserFacingError
from assistant.terminal import print_answer, print_error, print_json, print_text, progress_bars

if TYPE_CHECKING:
    from assistant.chain import Assistant
    from assistant.types import Answer


def ask(
    question: Annotated[
        str | None, typer.Argument(help="The question, in plain language; - reads one a line from the input.")
    ] = None,
    converse: Annotated[bool, typer.Option("--interactive", "-i", help="Ask one question after the other.")] = False,
    collection: CollectionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer a question from the papers."""
    if (question is None) != converse or (converse and as_json):
        raise typer.BadParameter("Give a question, or - for questions from the input, or -i alone for a conversation.")
    from assistant.app import build_assistant
    from assistant.conversation import clean_question

    if question and question != "-":
        clean_question(question)  # before anything is loaded for it
    with progress_bars() as progress:
        assistant = build_assistant(collection=collection, progress=progress)
    if question is None:
        from assistant.cli_conversation import talk

        talk(assistant)
    elif question == "-":
        _answer_lines(assistant, as_json=as_json)
    else:
        answer = assistant.ask(question)
        print_json(answer.to_dict()) if as_json else print_answer(answer)


def _answer_lines(assistant: "Assistant", *, as_json: bool) -> None:
    """Answers each line of the input; a line that has no answer is named, the others go on, and the exit code is 1."""
    all_answered = True
    for number, line in _lines():
        try:
            question = _decoded(line)
            answer = assistant.ask(question)
        except UserFacingError as error:
            all_answered = False
            _print_error(f"Line {number}: {error.message}", error.hint, as_json=as_json)
        else:
            _print_answer(question, answer, as_json=as_json)
        sys.stdout.flush()  # for a program that reads each answer as it comes
    if not all_answered:
        raise typer.Exit(1)


def _print_error(message: str, hint: str, *, as_json: bool) -> None:
    if as_json:
        return print_json({"error": {"message": message, "hint": hint}}, in_one_line=True)
    print_error(message, hint)


def _print_answer(question: str, answer: "Answer", *, as_json: bool) -> None:
    if as_json:
        return print_json(answer.to_dict(), in_one_line=True)
    print_text(f"> {question}\n")
    print_answer(answer)
    print_text("")


def _lines() -> Iterator[tuple[int, bytes]]:
    """The lines of the input that are not blank, with their numbers from 1."""
    numbered = enumerate(sys.stdin.buffer, start=1)
    return ((number, line.strip()) for number, line in numbered if line.strip())


def _decoded(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        raise QuestionError("The question is not in UTF-8.", "Save the questions as UTF-8.") from None
