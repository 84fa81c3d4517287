"""The options and arguments that several commands have, and what a shell completes them to."""

from typing import Annotated

import typer


def _collections(begun: str) -> list[str]:
    """The names that the last of several can be completed to; none when the settings cannot be read."""
    from assistant.errors import UserFacingError
    from assistant.settings import load_settings
    from vectorstore.catalogue import collection_names

    before, comma, begun = begun.rpartition(",")
    try:
        names = collection_names(load_settings().data_dir)
    except (UserFacingError, OSError):
        return []
    return [f"{before}{comma}{name}" for name in names if name.startswith(begun)]


CollectionOption = Annotated[
    str | None,
    typer.Option(
        "--collection",
        help="Name of the collection, of several to ask with commas; by default as configured.",
        autocompletion=_collections,
    ),
]
NameArgument = Annotated[str, typer.Argument(help="Name of the collection.", autocompletion=_collections)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
