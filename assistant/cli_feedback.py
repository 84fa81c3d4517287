"""`assistant feedback`: what readers thought of answers, and the question set that is made of it."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assistant.cli_options import JsonOption
from assistant.terminal import print_json, print_text

if TYPE_CHECKING:
    from assistant.feedback import Feedback


def feedback(
    export: Annotated[
        Path | None, typer.Option("--export", help="Write a question set for `evaluate` into this new file.")
    ] = None,
    collection: Annotated[
        str | None, typer.Option("--collection", help="Whose questions to export; by default as configured.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List what readers thought of answers, or make a question set of it."""
    from assistant.errors import FeedbackError
    from assistant.evaluation.question_sets import write_question_set
    from assistant.feedback import FeedbackStore, gold_questions
    from assistant.settings import load_settings

    settings = load_settings(collection=collection)
    given = FeedbackStore(settings.data_dir).all()
    if export is None:
        return print_json([asdict(one) for one in given]) if as_json else _print(given)
    questions = gold_questions(one for one in given if one.collection == settings.collection)
    if not questions:
        raise FeedbackError(
            f"There is no feedback on {settings.collection!r}.", "`assistant feedback` lists what there is."
        )
    write_question_set(export, questions)
    drafts = sum("draft" in question.tags for question in questions)
    if as_json:
        return print_json({"questions": len(questions), "drafts": drafts})
    print_text(f"{export}: {len(questions)} questions on {settings.collection}, {drafts} of them drafts to edit")


def _print(given: "list[Feedback]") -> None:
    if not given:
        print_text("Nobody has judged an answer yet; the chat has a thumb up and a thumb down for each.")
    for one in given:
        cited = f" ({', '.join(one.labels)})" if one.labels else ""
        print_text(f"{one.verdict:4}  {one.given_at}  {one.collection}  {one.question}\n      {one.status}{cited}")
        for line in one.note.splitlines():
            print_text(f"      {line}")
