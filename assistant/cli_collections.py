"""`assistant collections ...`: what is there, and renaming, deleting, exporting and importing it."""

import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assistant.cli_options import JsonOption, NameArgument
from assistant.terminal import print_json, print_report, print_text, progress_bars

if TYPE_CHECKING:
    from vectorstore.catalogue import CollectionInfo
    from vectorstore.folder import CollectionFolder

app = typer.Typer(help="List collections, and rename, delete, export and import them.", no_args_is_help=True)


@app.command("list")
def list_collections(as_json: JsonOption = False) -> None:
    """List the collections on this machine."""
    from assistant.settings import load_settings
    from vectorstore.catalogue import collection_names

    names = collection_names(load_settings().data_dir)
    found = [_info(name) for name in names]
    if as_json:
        return print_json([asdict(info) for info in found])
    if not found:
        print_text("There is no collection yet; the built-in one is made when it is first asked.")
    for info in found:
        print_text(f"{info.name}  {_papers(info)}, {len(info.sources)} files, {_size(info.disk_bytes)}")


@app.command()
def info(name: NameArgument, as_json: JsonOption = False) -> None:
    """Show size, files, embedding model and disk space of a collection."""
    found = _info(name)
    if as_json:
        return print_json(asdict(found))
    print_text(f"{found.name}  {_papers(found)}, {found.chunks} chunks, {_size(found.disk_bytes)} in {found.path}")
    print_text(
        f"index {found.generation}, fingerprint {found.fingerprint or '-'}, embedded by {found.embedding or '-'}"
    )
    for source in found.sources:
        print_text(f"  {source.path}: {source.papers} papers")


@app.command()
def rename(name: NameArgument, new_name: Annotated[str, typer.Argument(help="Its new name.")]) -> None:
    """Give a collection another name."""
    from vectorstore.catalogue import rename_collection

    rename_collection(_folder(name), new_name)
    print_text(f"{name} is now {new_name}")


@app.command()
def delete(
    name: NameArgument, yes: Annotated[bool, typer.Option("--yes", help="Do not ask whether it is meant.")] = False
) -> None:
    """Delete a collection; the files that it was read from stay."""
    from vectorstore.catalogue import delete_collection

    folder = _folder(name)
    found = _info(name)
    if not yes:
        typer.confirm(f"Delete {name} with {_papers(found)}?", abort=True)
    delete_collection(folder)
    print_text(f"{name} is deleted")


@app.command()
def export(
    name: NameArgument,
    kind: Annotated[str, typer.Option("--format", help="jsonl, which holds everything, bibtex, ris or csv.")] = "jsonl",
    output: Annotated[Path | None, typer.Option(help="A new file; by default the terminal.")] = None,
) -> None:
    """Write the papers of a collection as JSON Lines, BibTeX, RIS or CSV."""
    from vectorstore.errors import CollectionError
    from vectorstore.exporting import EXPORTS
    from vectorstore.library import Library

    if kind not in EXPORTS:
        raise typer.BadParameter(f"There is no format {kind!r}; known are {', '.join(EXPORTS)}.")
    folder = _folder(name)
    folder.require()
    library = Library(folder.library_path)
    try:
        papers = library.papers()
    finally:
        library.close()
    pieces = EXPORTS[kind](papers)
    if output is None:
        return _write_to_terminal(pieces)
    try:
        with output.open("x", encoding="utf-8", newline="") as file:
            file.writelines(pieces)
    except OSError as error:
        raise CollectionError(f"{output} cannot be written: {error.strerror}.", "Name a new file.") from error
    print_text(f"{output}: {len(papers)} papers")


@app.command("import")
def import_collection(
    file: Annotated[Path, typer.Argument(help="What `export` wrote as JSON Lines.")],
    name: NameArgument,
    as_json: JsonOption = False,
) -> None:
    """Make a new collection of an exported one."""
    from assistant.app import index_papers
    from vectorstore.errors import CollectionError

    if _folder(name).exists():
        raise CollectionError(
            f"There is a collection {name!r} already.", f"To add to it: assistant index {file} --collection {name}"
        )
    with progress_bars() as progress:
        report = index_papers([file], collection=name, progress=progress)
    print_json(asdict(report)) if as_json else print_report(report)


def _folder(name: str) -> "CollectionFolder":
    from assistant.app import folder_from
    from assistant.settings import load_settings

    return folder_from(load_settings(collection=name))


def _info(name: str) -> "CollectionInfo":
    from vectorstore.catalogue import collection_info

    return collection_info(_folder(name))


def _papers(info: "CollectionInfo") -> str:
    without = f" ({info.title_only} without abstract)" if info.title_only else ""
    return f"{info.papers} papers{without}"


def _size(count: int) -> str:
    return f"{count / 1_000_000:.1f} MB"


def _write_to_terminal(pieces: Iterable[str]) -> None:
    for piece in pieces:
        sys.stdout.write(piece)
