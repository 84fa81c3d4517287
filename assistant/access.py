"""Who may use the server: names, with the hash of a password, of API keys, or of both, in a file of their own."""

import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from filelock import FileLock
from pydantic import TypeAdapter, ValidationError

from assistant.errors import AccessError, AccessRefused

SHORTEST_PASSWORD = 10
"""Characters."""
_LONGEST_PASSWORD = 1000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_KEY = "pa-"
_HASHER = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
"""Argon2id with the least that OWASP's password storage cheat sheet advises: 19 MiB, so that 50 logins at once fit."""
_NOBODY = _HASHER.hash(secrets.token_hex())


@dataclass(frozen=True)
class User:
    """What is known of a user; neither password nor keys can be read from it."""

    password: str = ""
    """Its Argon2id hash; empty for one who cannot log in to the chat."""
    keys: tuple[str, ...] = ()
    """The SHA-256 of each API key. They are random, 256 bits long: no slower hash is needed."""


_USERS = TypeAdapter(dict[str, User])


class Users:
    """The users in a file. A change to it counts from the next request on."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read: tuple[int, ...] = ()
        self._users: dict[str, User] = {}

    def all(self) -> dict[str, User]:
        """By name; none when there is no file. Raises `AccessError` when it cannot be read."""
        try:
            found = self.path.stat()
            version = (found.st_mtime_ns, found.st_ino, found.st_size)  # two changes may have the same time
            if version != self._read:
                self._users = _USERS.validate_json(self.path.read_bytes())
                self._read = version
        except FileNotFoundError:
            return {}
        except (OSError, ValidationError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not what `assistant user` writes"
            raise AccessError(
                f"The file of users {self.path} cannot be read: {reason}.", "Mend it, or write it anew."
            ) from None  # the cause may hold hashes
        return self._users

    def may_log_in(self, name: str, password: str) -> bool:
        """Whether that is the user's password; it takes as long for a name that is not there."""
        user = self.all().get(name)
        try:
            is_right = _HASHER.verify(
                user.password if user and user.password else _NOBODY, password[:_LONGEST_PASSWORD]
            )
        except (VerificationError, InvalidHashError):
            return False
        return is_right and user is not None

    def owner_of(self, key: str) -> str:
        """The name of the user with that API key. Raises `AccessRefused` when it is nobody's."""
        digest = _digest(key)
        for name, user in self.all().items():
            if digest in user.keys:
                return name
        raise AccessRefused("A valid API key is needed.", "Ask whoever runs this server for one.")

    def set_password(self, name: str, password: str) -> None:
        """Gives a user a password, or another one; a new name is a new user. Raises `AccessError`."""
        if not SHORTEST_PASSWORD <= len(password) <= _LONGEST_PASSWORD:
            raise AccessError(
                f"The password has {len(password)} characters.",
                f"Give one of {SHORTEST_PASSWORD} to {_LONGEST_PASSWORD} characters.",
            )
        with self._changed(name) as users:
            users[name] = replace(users.get(name, User()), password=_HASHER.hash(password))

    def new_key(self, name: str) -> str:
        """A new API key of that user, who may be new; it is not kept, and cannot be shown again."""
        key = _KEY + secrets.token_urlsafe(32)
        with self._changed(name) as users:
            user = users.get(name, User())
            users[name] = replace(user, keys=(*user.keys, _digest(key)))
        return key

    def remove(self, name: str) -> None:
        """Takes a user out, with all keys. Raises `AccessError` when there is none of that name."""
        with self._changed(name) as users:
            if name not in users:
                raise AccessError(f"There is no user {name!r}.", "`assistant user list` shows them.")
            del users[name]

    @contextmanager
    def _changed(self, name: str) -> Iterator[dict[str, User]]:
        """The users, to be changed and then kept; only the owner of the file may read it."""
        if not _NAME.fullmatch(name):
            raise AccessError(
                f"{name!r} cannot be the name of a user.", "Use up to 64 letters, digits and any of . _ @ - ."
            )
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{self.path}.lock", timeout=10):
                users = dict(Users(self.path).all())
                yield users
                self._write(_USERS.dump_json(users, indent=1))
        except (OSError, TimeoutError) as error:
            raise AccessError(
                f"The file of users {self.path} cannot be written: {getattr(error, 'strerror', None) or error}.",
                "See that you may write there; nothing was changed.",
            ) from error

    def _write(self, text: bytes) -> None:
        beside = self.path.with_name(f"{self.path.name}.new")
        beside.unlink(missing_ok=True)
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, self.path)


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
