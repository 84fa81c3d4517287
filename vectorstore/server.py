"""A Chroma server that several assistants share: what is published there, from which library, and what goes wrong.

A collection is, on the server, one Chroma collection per index and one without records, the pointer, whose metadata
names the index to read. Like the library's own record of it, the pointer is changed in one step when an index is whole.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError

from vectorstore.errors import (
    CollectionDamaged,
    CollectionElsewhere,
    CollectionError,
    ServerUnavailable,
    UserFacingError,
)
from vectorstore.types import PublishedIndex

if TYPE_CHECKING:
    from chromadb.api.client import Client

_CONNECT_SECONDS = 5.0
_ANSWER_SECONDS = 60.0
_PREFIX = "abstract-assistant"
_POINTER = "published"
_INDEX = re.compile(r"\d{6,}-[0-9a-f]{8}")
"""The name of an index. It becomes a folder, and anybody who reaches a server may have written it."""


@dataclass(frozen=True)
class Published:
    """What a server says is to be read."""

    library: str
    """Which library it was built from; the only one that may change it."""
    index: PublishedIndex


_PUBLISHED = TypeAdapter(Published)


@dataclass(frozen=True)
class ChromaServer:
    """A server by its address; `token` is sent as a bearer token, for a proxy that asks for one."""

    url: str
    token: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", checked_url(self.url))

    def version(self) -> str:
        """What the server says its version is. Raises `ServerUnavailable` when it cannot be used, and says why."""
        import httpx  # here, like Chroma, so that commands that need neither do not wait

        try:
            response = httpx.get(f"{self.url}/api/v2/version", headers=self.headers(), timeout=_CONNECT_SECONDS)
        except httpx.TimeoutException:
            raise self._silent(_CONNECT_SECONDS) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ServerUnavailable(
                f"The Chroma server {self.url} cannot be reached ({type(error).__name__}).",
                "Start it (chroma run --host 127.0.0.1 --path FOLDER), or correct CHROMA_URL.",
            ) from error
        if response.status_code in (401, 403):
            raise ServerUnavailable(
                f"The server {self.url} refuses the request ({response.status_code}).",
                "Set CHROMA_TOKEN to what the proxy before it accepts.",
            )
        if not response.is_success or not (version := re.fullmatch(r'"([\w.+-]+)"', response.text.strip())):
            raise ServerUnavailable(
                f"The server {self.url} does not answer as Chroma does (status {response.status_code}).",
                "Correct CHROMA_URL; the server must be Chroma 1.0 or newer.",
            )
        return version[1]

    def headers(self) -> dict[str, str]:
        """What each request carries beside Chroma's own headers."""
        if not self.token:
            return {}
        if not (self.token.isascii() and self.token.isprintable()):
            raise ServerUnavailable("The token for the Chroma server cannot be sent.", "Correct CHROMA_TOKEN.")
        return {"Authorization": f"Bearer {self.token}"}

    def client(self) -> "Client":
        """The client of this process; threads may share it."""
        return _connected(self)

    def place(self, name: str, index: str) -> "ServerPlace":
        """Where the chunks of an index of the collection `name` are."""
        return ServerPlace(self, f"{_stem(name)}.{index}")

    def published(self, name: str) -> Published | None:
        """What is to be read as the collection `name`; None when there is no such collection."""
        with self.translating_errors():
            pointer = self._pointer(name)
        if pointer is None:
            return None
        try:
            published = _PUBLISHED.validate_json(str((pointer.metadata or {}).get(_POINTER)))
        except ValidationError:
            published = None
        if published is None or not _INDEX.fullmatch(published.index.folder):
            raise CollectionDamaged(
                f"What {self.url} says of the collection {name!r} cannot be read.",
                f"Delete the server's collection {_pointer_name(name)}, and where {name} is indexed run:"
                f" assistant index --rebuild --collection {name}",
            )
        return published

    def publish(self, name: str, published: Published) -> None:
        """Names what is to be read from now on. Raises `CollectionElsewhere` when another library was quicker."""
        before = self.published(name)
        if before == published:
            return
        if before and before.library != published.library:
            raise self.elsewhere(name)
        metadata = {_POINTER: _PUBLISHED.dump_json(published).decode()}
        with self.translating_errors():
            if before:
                self._pointer(name).modify(metadata=metadata)
            else:
                self.client().create_collection(_pointer_name(name), metadata=metadata, embedding_function=None)

    def elsewhere(self, name: str) -> CollectionElsewhere:
        """The error for whoever would change what belongs to another library."""
        return CollectionElsewhere(
            f"The collection {name!r} on {self.url} belongs to the library of another machine.",
            "Index there, or give your papers a name of their own: --collection NAME",
        )

    def remove_indexes(self, name: str, *, except_for: Sequence[str]) -> None:
        """Removes all indexes of the collection `name` but those named; also what a crash left behind."""
        stem = f"{_stem(name)}."
        with self.translating_errors():
            for collection in self.client().list_collections():
                index = collection.name.removeprefix(stem)
                if collection.name.startswith(stem) and _INDEX.fullmatch(index) and index not in except_for:
                    self.client().delete_collection(collection.name)

    @contextmanager
    def translating_errors(self) -> Iterator[None]:
        """Turns what Chroma and the layers below it raise into errors that a user may see."""
        try:
            yield
        except UserFacingError:
            raise
        except Exception as error:
            raise self.failure(error) from error

    def failure(self, error: Exception) -> UserFacingError:
        """What is wrong, found by asking the server for its version: Chroma tells few kinds of errors apart."""
        import httpx

        if isinstance(error, httpx.ReadTimeout):
            return self._silent(_ANSWER_SECONDS)
        try:
            self.version()
        except ServerUnavailable as found:
            return found
        return CollectionError(
            f"The Chroma server {self.url} failed ({type(error).__name__}).", "Its log says why; then try again."
        )

    def _silent(self, seconds: float) -> ServerUnavailable:
        return ServerUnavailable(
            f"The Chroma server {self.url} did not answer within {seconds:.0f} seconds.",
            "Look at its load and its log, or correct CHROMA_URL.",
        )

    def _pointer(self, name: str) -> Any:
        from chromadb.errors import NotFoundError

        try:
            return self.client().get_collection(_pointer_name(name), embedding_function=None)
        except NotFoundError:
            return None


@dataclass(frozen=True)
class ServerPlace:
    """A Chroma collection on a server."""

    server: ChromaServer
    collection: str
    largest_batch: int = 500
    """Two megabytes a request, and few enough for a slow server to index before a client loses patience."""

    def __str__(self) -> str:
        return f"{self.collection!r} on {self.server.url}"

    def exists(self) -> bool:
        """Whether the server has a collection of that name."""
        from chromadb.errors import NotFoundError

        with self.server.translating_errors():
            try:
                self.client().get_collection(self.collection, embedding_function=None)
            except NotFoundError:
                return False
        return True

    def client(self) -> "Client":
        """The client that the whole process uses."""
        return self.server.client()

    def release(self, client: "Client") -> None:
        """It stays open for others."""

    def unreadable(self, error: Exception, hint: str) -> UserFacingError:
        """Damaged if the server does answer, but not for this collection."""
        from chromadb.errors import ChromaError

        if isinstance(error, ChromaError):
            return CollectionDamaged(f"The index {self} cannot be read ({type(error).__name__}).", hint)
        return self.server.failure(error)

    def unwritable(self, error: Exception) -> UserFacingError:
        """The server's own words, if it has any."""
        from chromadb.errors import ChromaError

        if isinstance(error, ChromaError):
            return CollectionError(
                f"The index {self} cannot be written ({type(error).__name__}: {error}).",
                "Check the server's disk and its log; the collection is as it was before.",
            )
        return self.server.failure(error)


def checked_url(url: str) -> str:
    """`url` without a slash at its end. Raises `ValueError`, which does not show it, for one that cannot be used."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and (parts.port or True)
    except ValueError:
        usable = False
    if not usable or parts.username is not None or parts.query or parts.fragment:
        raise ValueError("give it as http://host:port, without a password; a token is the setting CHROMA_TOKEN")
    return url.rstrip("/")


@lru_cache(maxsize=8)
def _connected(server: ChromaServer) -> "Client":
    """A client is made once: making one asks the server three things, and it keeps its connections."""
    server.version()  # has a time limit, which making a client has not
    import chromadb
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False, chroma_otel_granularity="none")
    client = cast("Client", chromadb.HttpClient(host=server.url, headers=server.headers(), settings=settings))
    cast("Any", client)._server._session.timeout = _ANSWER_SECONDS  # Chroma sets none and has no setting for it
    return client


def _stem(name: str) -> str:
    """How the names of a collection's Chroma collections begin; two dots in a row are not allowed in these."""
    return f"{_PREFIX}.{name.replace('.', '._')}"


def _pointer_name(name: str) -> str:
    return f"{_stem(name)}.{_POINTER}"
