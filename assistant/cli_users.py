"""`assistant user`: who may log in to the chat of a server, and who has an API key."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assistant.terminal import print_json, print_text

if TYPE_CHECKING:
    from assistant.access import Users

app = typer.Typer(help="Add, list and remove the users of a server.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="Name of the user.")]
File = Annotated[Path | None, typer.Option("--file", help="The file of users; by default ASSISTANT_AUTH_FILE.")]


@app.command()
def add(name: Name, file: File = None) -> None:
    """Let somebody log in to the chat, or change the password, which is asked for (or read from standard input)."""
    users = _users(file)
    if sys.stdin.isatty():
        password = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    users.set_password(name, password)
    print_text(f"{name} can log in to the chat.")


@app.command()
def key(name: Name, file: File = None) -> None:
    """Make an API key for somebody and show it, this once."""
    print_text(_users(file).new_key(name))


@app.command("list")
def list_users(file: File = None, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List who there is."""
    users = _users(file).all()
    rows = [{"name": name, "password": bool(user.password), "keys": len(user.keys)} for name, user in users.items()]
    if as_json:
        return print_json(rows)
    for row in rows:
        print_text(f"{row['name']}: {'a password' if row['password'] else 'no password'}, {row['keys']} API keys")


@app.command()
def remove(name: Name, file: File = None) -> None:
    """Take somebody out, with all API keys."""
    _users(file).remove(name)
    print_text(f"{name} is removed.")


def _users(file: Path | None) -> "Users":
    from assistant.access import Users
    from assistant.errors import SettingsError
    from assistant.settings import load_settings

    path = file or load_settings().auth_file
    if path is None:
        raise SettingsError("No file of users is configured.", "Set ASSISTANT_AUTH_FILE to its path, or give --file.")
    return Users(path)
