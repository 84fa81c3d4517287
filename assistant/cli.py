"""The command line. Each command imports what it needs, so that `assistant --help` comes at once."""

import json
import logging
import math
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from assistant.errors import UserFacingError

if TYPE_CHECKING:
    from assistant.types import Answer
    from vectorstore.indexing import Progress
    from vectorstore.types import IndexReport, Paper

_LOG = logging.getLogger(__name__)
_TERMINAL_ESCAPES = re.compile(
    r"\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)?|\[[0-?]*[ -/]*[@-~]|.)?|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)

app = typer.Typer(
    help="Ask questions about research-paper abstracts; every sentence of an answer rests on a checked quotation.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
CollectionOption = Annotated[
    str | None, typer.Option("--collection", help="Name of the collection; by default the configured one.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def main() -> None:
    """Runs the command line; a known error is two lines, or JSON with `--json`, and exit code 1."""
    try:
        app()
    except UserFacingError as error:
        _LOG.debug("the error came from here", exc_info=True)
        _fail(error.message, error.hint)
    except Exception as error:
        _LOG.debug("the error came from here", exc_info=True)
        _fail(f"Something unforeseen went wrong ({type(error).__name__}).", "Run it again with: assistant --debug ...")


@app.callback()
def options(debug: Annotated[bool, typer.Option("--debug", help="Show where errors come from.")] = False) -> None:
    """Options of all commands."""
    if debug:
        logging.basicConfig()
        logging.getLogger("assistant").setLevel(logging.DEBUG)
        logging.getLogger("vectorstore").setLevel(logging.DEBUG)


@app.command()
def index(
    paths: Annotated[list[Path] | None, typer.Argument(help="Text files of abstracts, or folders of them.")] = None,
    collection: CollectionOption = None,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Build the index anew from the library.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Read papers into a collection and index them."""
    from assistant.app import index_papers, rebuild_collection

    if bool(paths) == rebuild:
        raise typer.BadParameter("Give PATHs to read, or --rebuild to build the index anew.")
    with _progress() as progress:
        if rebuild:
            report = rebuild_collection(collection=collection, progress=progress)
        else:
            report = index_papers(paths or [], collection=collection, progress=progress)
    _print_json(asdict(report)) if as_json else _print_report(report)


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="The question, in plain language.")],
    collection: CollectionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer a question from the papers."""
    from assistant.app import build_assistant
    from assistant.conversation import clean_question

    clean_question(question)  # before anything is loaded for it
    with _progress() as progress:
        assistant = build_assistant(collection=collection, progress=progress)
    answer = assistant.ask(question)
    _print_json(answer.to_dict()) if as_json else _print_answer(answer)


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    k: Annotated[int, typer.Option("-k", min=1, max=1000, help="How many passages.")] = 10,
    collection: CollectionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the passages nearest to a query, one per paper."""
    from assistant.app import build_assistant
    from assistant.types import passage_dict
    from vectorstore.markup import readable

    with _progress() as progress:
        passages = build_assistant(collection=collection, progress=progress).search(query, k)
    if as_json:
        return _print_json([{"label": p.paper.label, **passage_dict(p, None)} for p in passages])
    for rank, passage in enumerate(passages, start=1):
        _print(f"{rank:3}. {passage.paper.label}\n     {readable(passage.text)[:150]} …")


@app.command()
def papers(collection: CollectionOption = None, as_json: JsonOption = False) -> None:
    """List the papers of a collection."""
    from assistant.app import build_assistant

    with _progress() as progress:
        found = build_assistant(collection=collection, progress=progress).papers()
    if as_json:
        return _print_json([asdict(paper) for paper in found])
    for paper in found:
        _print(_paper_line(paper))


@app.command()
def chat(
    collection: CollectionOption = None,
    port: Annotated[int | None, typer.Option(help="Port on this machine.")] = None,
) -> None:
    """Open the chat in the browser."""
    from assistant.app import assistant_from
    from assistant.settings import load_settings
    from assistant.ui import launch_chat

    settings = load_settings(collection=collection, port=port)
    with _progress() as progress:
        assistant = assistant_from(settings, progress=progress)
    launch_chat(assistant, port=settings.port)


@app.command()
def evaluate(
    questions: Annotated[
        str | None, typer.Argument(help="A question set: a JSON Lines file, or the name of a built-in one.")
    ] = None,
    init: Annotated[Path | None, typer.Option("--init", help="Draft a question set into this new file.")] = None,
    output: Annotated[Path | None, typer.Option(help="Folder for the reports; by default evaluation-NAME.")] = None,
    compare: Annotated[Path | None, typer.Option(help="The report.json of an earlier run.")] = None,
    fail_under: Annotated[
        list[str] | None, typer.Option("--fail-under", metavar="MEASURE=VALUE", help="Exit with 3 if it is not met.")
    ] = None,
    sample: Annotated[int | None, typer.Option(min=1, help="Ask only so many questions, drawn at random.")] = None,
    seed: Annotated[int, typer.Option(help="Of the sample and the draft.")] = 0,
    judge: Annotated[str | None, typer.Option(help="A chat model for a second opinion, as provider:model.")] = None,
    prices: Annotated[
        str | None, typer.Option(metavar="IN,OUT", help="Dollars per million tokens that the model reads, writes.")
    ] = None,
    collection: CollectionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run a question set and report how good the answers are, beside plain retrieval."""
    if (questions is None) == (init is None):
        raise typer.BadParameter("Give a question set to run, or --init FILE to draft one.")
    thresholds, dollars = _thresholds(fail_under or []), _prices(prices)
    from assistant.evaluation import terminal, wiring

    with _progress() as progress, _saying_how_to_go_on():
        if init:
            drafted = wiring.draft_question_set(init, seed=seed, collection=collection, progress=progress)
            return _print_json({"questions": drafted}) if as_json else _print(f"{init}: {drafted} drafts to edit.")
        report = wiring.evaluate(
            str(questions),
            output=output,
            compare=compare,
            sample=sample,
            seed=seed,
            judge=judge,
            prices=dollars,
            collection=collection,
            progress=progress,
        )
    _print_json(report.to_dict()) if as_json else terminal.print_report(report)
    unmet = report.evaluation.unmet(thresholds)
    for phrase in unmet:
        print(f"Not met: {phrase}.", file=sys.stderr)
    if unmet:
        raise typer.Exit(3)


@contextmanager
def _saying_how_to_go_on() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        print("Stopped. What was asked is kept; the same command goes on from there.", file=sys.stderr)
        raise


def _thresholds(given: list[str]) -> dict[str, float]:
    from assistant.evaluation.measures import measures

    names = [measure.name for measure in measures()]
    found = {}
    for text in given:
        name, _, value = text.partition("=")
        if name not in names:
            raise typer.BadParameter(f"There is no measure {name!r}; known are {', '.join(names)}.")
        found[name] = _number(value, f"The threshold {text!r} is not of the form MEASURE=VALUE.")
    return found


def _prices(given: str | None) -> tuple[float, float] | None:
    if given is None:
        return None
    problem = f"The prices {given!r} are not two numbers such as 0.25,2."
    read, comma, written = given.partition(",")
    return (_number(read, problem), _number(written if comma else "", problem))


def _number(text: str, problem: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise typer.BadParameter(problem)
    return number


@app.command()
def doctor(as_json: JsonOption = False) -> None:
    """Check models, index, settings and the chat model's server; say how to mend what is broken."""
    from assistant.doctor import checks

    found = checks()
    if as_json:
        _print_json([asdict(check) for check in found])
    else:
        for check in found:
            _print(f"{'ok' if check.ok else 'BROKEN':7} {check.name}: {check.detail}")
            if not check.ok:
                _print(f"        {check.hint}")
    if not all(check.ok for check in found):
        raise typer.Exit(1)


@contextmanager
def _progress() -> Iterator["Progress"]:
    """Shows progress on a terminal, and nothing elsewhere."""
    from rich.console import Console
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    with Bar(console=console, transient=True, disable=not console.is_terminal) as bar:
        tasks: dict[str, Any] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done)

        yield show


def _print_answer(answer: "Answer") -> None:
    _print(answer.text)
    sources = {citation.number: citation.paper for citation in answer.citations}
    if sources:
        _print("")
    for number, paper in sorted(sources.items()):
        _print(f"[{number}] {_paper_line(paper)}")


def _paper_line(paper: "Paper") -> str:
    return "  ".join(part for part in (paper.label, paper.place, *paper.urls) if part)


def _print_report(report: "IndexReport") -> None:
    for change in report.sources:
        _print(
            f"{Path(change.path).name}: {change.added} added, {change.removed} removed, {change.unchanged} unchanged"
            + (f", {change.changed} changed" if change.changed else "")
            + (f", {change.duplicates} duplicates" if change.duplicates else "")
        )
    state = "indexed" if report.rebuilt else "nothing to do"
    _print(f"{report.collection}: {report.papers} papers, {report.embedded} texts embedded, {state}")


def _print(text: str) -> None:
    """Text from papers and models without what could steer a terminal."""
    print(_TERMINAL_ESCAPES.sub("", text))


def _print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2))


def _fail(message: str, hint: str) -> NoReturn:
    if "--json" in sys.argv[1:]:
        _print_json({"error": {"message": message, "hint": hint}})
    else:
        print(f"Error: {_TERMINAL_ESCAPES.sub('', message)}\n{hint}", file=sys.stderr)
    raise SystemExit(1)
