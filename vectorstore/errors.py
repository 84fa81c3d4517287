"""The errors a user may see. Each says what happened (`message`) and what to do about it (`hint`).

    UserFacingError
    ├── SourceError              a file or folder cannot be read as papers
    ├── ModelFilesError          a packaged model is missing or altered
    ├── EmbeddingError           an embedding model cannot be used, or answered wrongly
    └── CollectionError
        ├── CollectionMissing    no collection of that name
        ├── CollectionBusy       another process is writing to it
        ├── CollectionDamaged    its library or its index cannot be read
        ├── CollectionElsewhere  another machine's library is what the server has by its name
        ├── FingerprintMismatch  its index was built by other settings
        └── ServerUnavailable    the Chroma server is not there, does not let us in or is none

The `assistant` package adds its own branches in `assistant/errors.py`.
"""


class UserFacingError(Exception):
    """Base of all known errors: `except UserFacingError as error: print(error.message, error.hint)`."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class SourceError(UserFacingError):
    """A file or folder cannot be read as papers."""


class ModelFilesError(UserFacingError):
    """A packaged model is missing or is not the one this version was measured with."""


class EmbeddingError(UserFacingError):
    """An embedding model cannot be used, or gave back something other than one vector per text."""


class CollectionError(UserFacingError):
    """Something is wrong with a collection."""


class CollectionMissing(CollectionError):
    """There is no collection of that name."""


class CollectionBusy(CollectionError):
    """Another process is writing to the collection."""


class CollectionDamaged(CollectionError):
    """The library or the index of a collection cannot be read."""


class CollectionElsewhere(CollectionError):
    """What the server has by this name was built from another library, and only from there may it be changed."""


class FingerprintMismatch(CollectionError):
    """The index of a collection was built by another schema, embedding model or chunking."""


class ServerUnavailable(CollectionError):
    """The Chroma server cannot be reached, refuses the request, or is no Chroma server."""
