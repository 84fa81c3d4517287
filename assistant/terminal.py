"""What the command line prints: answers, passages, reports, progress. Text of papers cannot steer the terminal."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vectorstore.visible import visible, visible_json

if TYPE_CHECKING:
    from assistant.types import Answer
    from vectorstore.progress import Progress
    from vectorstore.types import IndexReport, Paper, Passage

_ALWAYS_TOLD = ("added", "unchanged", "removed")
_MOST_NOTES = 20
"""Lines about single records of a file."""


@contextmanager
def progress_bars() -> Iterator["Progress"]:
    """Shows on a terminal what is being done, how much of it, how fast and for how long still; elsewhere nothing."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    class RateColumn(ProgressColumn):
        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text(f"{speed:.1f}/s" if speed else "", style="progress.data.speed")

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), RateColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        tasks: dict[str, Any] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done)

        yield show


def print_answer(answer: "Answer") -> None:
    """The answer, and below it its sources; as plain text when the output is no terminal."""
    if sys.stdout.isatty():
        from rich.console import Console

        from assistant.terminal_answer import rendered

        console = Console()
        return console.print(rendered(answer, console))
    print_text(answer.text)
    sources = {citation.number: citation.paper for citation in answer.citations}
    if sources:
        print_text("")
    for number, paper in sorted(sources.items()):
        print_text(f"[{number}] {paper_line(paper)}")


def found_by(passage: "Passage") -> str:
    """Such as "near in meaning and in words: meaning #1 (cosine 0.81), words #2 (bits, width), relevance +4.2"."""
    dense = passage.dense_rank and f"meaning #{passage.dense_rank} (cosine {passage.similarity:.2f})"
    keyword = passage.keyword_rank and f"words #{passage.keyword_rank} ({', '.join(passage.words)})"
    relevance = f"relevance {passage.relevance:+.1f}" if passage.relevance is not None else ""
    return f"{passage.why}: {', '.join(part for part in (dense, keyword, relevance) if part)}"


def paper_line(paper: "Paper") -> str:
    """Label, place and addresses."""
    return "  ".join(part for part in (paper.label, paper.place, *paper.urls) if part)


def print_report(report: "IndexReport") -> None:
    """What an index run did with each file, and with each record that is no paper of its own."""
    for change in report.sources:
        counts = {
            "added": change.added,
            "changed": change.changed,
            "unchanged": change.unchanged,
            "removed": change.removed,
            "duplicates": len(change.duplicates),
            "skipped": len(change.skipped),
            "without abstract": change.title_only,
        }
        told = ", ".join(f"{count} {name}" for name, count in counts.items() if count or name in _ALWAYS_TOLD)
        print_text(f"{Path(change.path).name} ({change.format}): {change.read} records read: {told}")
        notes = [*change.warnings, *(f"skipped {record}" for record in change.skipped)]
        notes += [f"record {record.position} is the same paper as record {record.of}" for record in change.duplicates]
        for note in notes[:_MOST_NOTES]:
            print_text(f"  {note}")
        if len(notes) > _MOST_NOTES:
            print_text(f"  ... and {len(notes) - _MOST_NOTES} more; --json shows all")
    for file in report.unread:
        print_text(f"Not read: {file.message}\n  {file.hint}")
    if report.billed:
        print_text(f"embedding cost {report.billed}; expected were {report.estimated}")
    state = "indexed" if report.rebuilt else "nothing to do"
    print_text(f"{report.collection}: {report.papers} papers, {report.embedded} texts embedded, {state}")


def print_text(text: str) -> None:
    """Text from papers and models without what could steer a terminal."""
    print(visible(text))


def print_json(value: Any, *, in_one_line: bool = False) -> None:
    """`value`, indented if not `in_one_line`, without what could steer a terminal."""
    print(visible_json(value, indent=None if in_one_line else 2))


def print_error(message: str, hint: str) -> None:
    """Two lines, beside the output."""
    print(f"Error: {visible(message)}\n{visible(hint)}", file=sys.stderr)


def unforeseen(error: Exception) -> tuple[str, str]:
    """Message and hint for an error that nobody wrote for readers, without its text, which may hold a key."""
    name = type(error).__name__
    return f"Something unforeseen went wrong ({name}).", "Run it again with: assistant --debug ..."
