"""The command line. Each command imports what it needs, so that `assistant --help` comes at once."""

import logging
import math
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from assistant.cli_ask import ask
from assistant.cli_collections import app as collections
from assistant.cli_feedback import feedback
from assistant.cli_options import CollectionOption, JsonOption
from assistant.cli_users import app as users
from assistant.errors import UserFacingError
from assistant.terminal import (
    found_by,
    paper_line,
    print_error,
    print_json,
    print_report,
    print_text,
    progress_bars,
    unforeseen,
)
from vectorstore.visible import visible

if TYPE_CHECKING:
    from vectorstore.filters import PaperFilter

_LOG = logging.getLogger(__name__)

app = typer.Typer(
    help="Ask questions about research-paper abstracts; every sentence of an answer rests on a checked quotation.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(collections, name="collections")
app.add_typer(users, name="user")
app.command()(ask)
app.command()(feedback)
VenueOption = Annotated[str | None, typer.Option("--venue", help="Only papers from there, such as ICML.")]
YearOption = Annotated[str | None, typer.Option("--year", metavar="YEAR[-YEAR]", help="Only papers of that time.")]
AuthorOption = Annotated[str | None, typer.Option("--author", help="Only papers by that person; a surname is enough.")]
CodeOption = Annotated[bool, typer.Option("--with-code", help="Only papers that say where their code is.")]
_OF_OLD_TRACING = ("LANGCHAIN_TRACING", "LANGCHAIN_HANDLER")
"""With one of these LangChain refuses to ask a model, unless it traces."""
_YEARS = re.compile(r"(?P<first>\d{4})?(?P<to>-)?(?P<last>\d{4})?")


def main() -> None:
    """Runs the command line; a known error is two lines, or JSON with `--json`, and exit code 1."""
    for name in _OF_OLD_TRACING:
        os.environ.pop(name, None)
    try:
        app()
    except UserFacingError as error:
        _LOG.debug("the error came from here", exc_info=True)
        _fail(error.message, error.hint)
    except Exception as error:
        _LOG.debug("the error came from here", exc_info=True)
        _fail(*unforeseen(error))


class _WithoutSecrets(logging.Formatter):
    """Leaves keys out of the log: where an error came from may be a provider's message, which repeats the key."""

    def format(self, record: logging.LogRecord) -> str:
        text = visible(super().format(record))
        for secret in _secrets():
            text = text.replace(secret, "***")
        return text


def _secrets() -> set[str]:
    """The values of the environment and of `.env` whose names say that they are keys."""
    from dotenv import dotenv_values

    given = {**dotenv_values(".env", encoding="utf-8"), **os.environ}
    return {value for name, value in given.items() if value and name.upper().endswith(("KEY", "TOKEN", "SECRET"))}


@app.callback()
def options(debug: Annotated[bool, typer.Option("--debug", help="Show where errors come from.")] = False) -> None:
    """Options of all commands."""
    if debug:
        handler = logging.StreamHandler()
        handler.setFormatter(_WithoutSecrets(logging.BASIC_FORMAT))
        logging.basicConfig(handlers=[handler])
        logging.getLogger("assistant").setLevel(logging.DEBUG)
        logging.getLogger("vectorstore").setLevel(logging.DEBUG)


@app.command()
def index(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Files of papers, or folders of them; their kind is told by what they hold."),
    ] = None,
    collection: CollectionOption = None,
    column: Annotated[
        list[str] | None, typer.Option("--column", metavar="FIELD=NAME", help="The column of a table that has a field.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first record that cannot be read.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Let an empty file remove the papers it held before.")] = False,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Build the index anew from the library.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Read papers into a collection and index them."""
    from assistant.app import index_papers, rebuild_collection
    from vectorstore.types import ReadingRules

    if bool(paths) == rebuild:
        raise typer.BadParameter("Give PATHs to read, or --rebuild to build the index anew.")
    rules = ReadingRules(columns=_columns(column or []), strict=strict, allow_empty=force)
    with progress_bars() as progress, _saying_that_it_goes_on("embedded"):
        if rebuild:
            report = rebuild_collection(collection=collection, progress=progress)
        else:
            report = index_papers(paths or [], rules=rules, collection=collection, progress=progress)
    print_json(asdict(report)) if as_json else print_report(report)
    if report.unread:
        raise typer.Exit(1)


def _columns(given: list[str]) -> dict[str, str]:
    pairs = [item.partition("=") for item in given]
    if not all(name and equals and column for name, equals, column in pairs):
        raise typer.BadParameter("--column takes FIELD=NAME, such as abstract=Summary.")
    return {name.strip(): column for name, _, column in pairs}


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    k: Annotated[int, typer.Option("-k", min=1, max=1000, help="How many passages.")] = 10,
    venue: VenueOption = None,
    year: YearOption = None,
    author: AuthorOption = None,
    with_code: CodeOption = False,
    collection: CollectionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the passages nearest to a query, one per paper, and why each was found."""
    from assistant.app import build_assistant
    from assistant.types import passage_dict
    from vectorstore.markup import readable

    within = _within(venue, year, author, with_code)
    with progress_bars() as progress:
        passages = build_assistant(collection=collection, progress=progress).search(query, k, within=within)
    if as_json:
        return print_json([{"label": p.paper.label, **passage_dict(p, None)} for p in passages])
    if not passages:
        print_text("No paper passes the filter.")
    for rank, passage in enumerate(passages, start=1):
        print_text(f"{rank:3}. {passage.paper.label}\n     {found_by(passage)}\n     {readable(passage.text)[:150]} …")


@app.command()
def papers(
    venue: VenueOption = None,
    year: YearOption = None,
    author: AuthorOption = None,
    with_code: CodeOption = False,
    collection: CollectionOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the papers of a collection."""
    from assistant.app import build_assistant

    within = _within(venue, year, author, with_code)
    with progress_bars() as progress:
        found = build_assistant(collection=collection, progress=progress).papers(within)
    if as_json:
        return print_json([asdict(paper) for paper in found])
    for paper in found:
        print_text(paper_line(paper))


@app.command()
def chat(
    collection: CollectionOption = None,
    port: Annotated[int | None, typer.Option(help="Port on this machine.")] = None,
) -> None:
    """Open the chat in the browser."""
    from assistant.app import Assistants
    from assistant.settings import load_settings
    from assistant.ui import launch_chat

    settings = load_settings(collection=collection, port=port)
    assistants = Assistants(settings)
    with progress_bars() as progress:
        assistants.of(progress=progress)
    launch_chat(assistants, port=settings.port)


@app.command()
def mcp(collection: CollectionOption = None) -> None:
    """Serve the papers to the model of another program, which starts this: MCP on standard input and output."""
    from assistant.app import Assistants
    from assistant.mcp_server import serve_stdio
    from assistant.settings import load_settings

    serve_stdio(Assistants(load_settings(collection=collection)))


@app.command()
def serve(
    collection: CollectionOption = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(help="Port to listen on.")] = None,
    open_to_all: Annotated[
        bool, typer.Option("--open-to-all", help="Listen on a public address though nobody has to log in.")
    ] = False,
) -> None:
    """Serve the chat, the OpenAI-compatible API (/v1) and the MCP server (/mcp)."""
    from assistant.server import serve
    from assistant.settings import load_settings

    settings = load_settings(collection=collection, port=port)
    with progress_bars() as progress:
        serve(settings, host=host, open_to_all=open_to_all, progress=progress)


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

    with progress_bars() as progress, _saying_that_it_goes_on("asked"):
        if init:
            drafted = wiring.draft_question_set(init, seed=seed, collection=collection, progress=progress)
            return print_json({"questions": drafted}) if as_json else print_text(f"{init}: {drafted} drafts to edit.")
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
    print_json(report.to_dict()) if as_json else terminal.print_report(report)
    unmet = report.evaluation.unmet(thresholds)
    for phrase in unmet:
        print(f"Not met: {phrase}.", file=sys.stderr)
    if unmet:
        raise typer.Exit(3)


@contextmanager
def _saying_that_it_goes_on(what: str) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        print(f"Stopped. What was {what} is kept; the same command goes on from there.", file=sys.stderr)
        raise


def _within(venue: str | None, year: str | None, author: str | None, with_code: bool) -> "PaperFilter | None":
    from vectorstore.filters import PaperFilter

    first, last = _years(year) if year else (None, None)
    within = PaperFilter(venue=venue, first_year=first, last_year=last, author=author, with_code=with_code)
    return within if within != PaperFilter() else None


def _years(given: str) -> tuple[int | None, int | None]:
    """The first and the last year of "2024", "2020-2024", "2020-" or "-2024"."""
    match = _YEARS.fullmatch(given.strip())
    if not match or not (match["first"] or match["last"]) or (match["first"] and match["last"] and not match["to"]):
        raise typer.BadParameter(f"The year {given!r} is not of the form 2024, 2020-2024, 2020- or -2024.")
    first, last = (int(match[name]) if match[name] else None for name in ("first", "last"))
    return (first, last) if match["to"] else (first or last, first or last)


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
def doctor(
    repair: Annotated[bool, typer.Option("--repair", help="Build a damaged index anew from the library.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Check models, index, settings and the chat model's server; say how to mend what is broken."""
    from assistant.doctor import checks

    found = checks(repair=repair)
    if as_json:
        print_json([asdict(check) for check in found])
    else:
        for check in found:
            print_text(f"{'ok' if check.ok else 'BROKEN':7} {check.name}: {check.detail}")
            if not check.ok:
                print_text(f"        {check.hint}")
    if not all(check.ok for check in found):
        raise typer.Exit(1)


@app.command()
def schema() -> None:
    """Print the JSON Schema of what the commands print with --json."""
    from importlib.resources import files

    print_text((files("assistant") / "schemas" / "output.json").read_text("utf-8").strip())


def _fail(message: str, hint: str) -> NoReturn:
    if "--json" in sys.argv[1:]:
        print_json({"error": {"message": message, "hint": hint}})
    else:
        print_error(message, hint)
    raise SystemExit(1)
