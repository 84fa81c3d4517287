"""A file, or a member of an archive, as bytes, lines and text, whatever its compression and encoding."""

import codecs
import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, cast

from charset_normalizer import from_bytes

from vectorstore.errors import SourceError
from vectorstore.visible import visible

LARGEST = 256 * 1024 * 1024
"""Bytes, unpacked, of a file or of a line that is read as one; lines are read one by one from files of any size."""
_HEAD = 64 * 1024
_GUESSED_FROM = 256 * 1024
"""Bytes that tell which encoding a text is in that is none of Unicode's."""
_MARKS = [
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
]
_WESTERN = "cp1252"
"""What a text in an older encoding is most likely in, when it may be at all."""
_LEGACY = ["cp1252", "cp1250", "cp1251", "mac_roman", "cp932", "gb18030", "big5", "euc_kr"]
_GZIP = b"\x1f\x8b"


class Document:
    """What a reader reads. Its methods raise `SourceError` when it cannot be read or is too large."""

    def __init__(self, name: str, opened: Callable[[], BinaryIO]) -> None:
        self.name = name
        """Its path; of a member of an archive "archive.zip!member"."""
        self.warnings: list[str] = []
        """What its reader wants to be known about it as a whole."""
        self._opened = opened

    @classmethod
    def at(cls, path: Path) -> "Document":
        """The file at `path`."""
        return cls(str(path), lambda: path.open("rb"))

    @classmethod
    def of(cls, name: str, data: bytes) -> "Document":
        """One that is in memory already."""
        return cls(name, lambda: io.BytesIO(data))

    @cached_property
    def head(self) -> bytes:
        """The first 64 KB."""
        with self.reading() as stream:
            return stream.read(_HEAD)

    @cached_property
    def head_text(self) -> str:
        """The same as text, as far as it is text."""
        return self.head.decode(self._encoding_of(self.head, is_cut=True), errors="replace").lstrip("\ufeff")

    @property
    def is_binary(self) -> bool:
        """Whether it holds what no text does."""
        return "\0" in self.head_text

    def data(self) -> bytes:
        """All of it."""
        with self.reading() as stream:
            data = stream.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise self.error(f"has more than {LARGEST >> 20} MB", "Split it, or give it as JSON Lines.")
        return data

    def text(self) -> str:
        """All of it as a reader sees it; what it was read as is a warning when it was not Unicode."""
        data = self.data()
        encoding = self._encoding_of(data)
        if not encoding.startswith("utf"):
            self.warnings.append(f"read as {encoding}, as it is not UTF-8")
        return visible(data.decode(encoding, errors="replace").lstrip("\ufeff"))

    def lines(self) -> Iterator[bytes]:
        """Its lines without their ends, one by one."""
        with self.reading() as stream:
            while line := stream.readline(LARGEST + 1):
                if len(line) > LARGEST:
                    raise self.error(f"has a line of more than {LARGEST >> 20} MB", "Give one record per line.")
                yield line.rstrip(b"\r\n")

    def error(self, what: str, hint: str) -> SourceError:
        """An error about it, to be raised."""
        return SourceError(f"{self.name} {what}.", hint)

    def reading(self) -> "_Reading":
        """It opened as bytes, unpacked: `with document.reading() as stream`."""
        return _Reading(self)

    def _encoding_of(self, data: bytes, *, is_cut: bool = False) -> str:
        for mark, encoding in _MARKS:
            if data.startswith(mark):
                return encoding
        if 2 * data[:1000:2].count(0) > len(data[:1000:2]):
            return "utf-16-be"
        if 2 * data[1:1000:2].count(0) > len(data[1:1000:2]):
            return "utf-16-le"
        try:
            codecs.getincrementaldecoder("utf-8")().decode(data, final=not is_cut)
        except UnicodeDecodeError:
            return self._guessed_encoding
        return "utf-8"

    @cached_property
    def _guessed_encoding(self) -> str:
        with self.reading() as stream:
            matches = from_bytes(stream.read(_GUESSED_FROM), cp_isolation=_LEGACY)
        best = matches.best()
        is_western = any(_WESTERN in (match.encoding, *match.could_be_from_charset) for match in matches)
        return _WESTERN if is_western or best is None else best.encoding


class _Reading:
    """An open document, unpacked; what goes wrong with it is a `SourceError`."""

    def __init__(self, document: Document) -> None:
        self._document = document

    def __enter__(self) -> BinaryIO:
        try:
            self._file = self._document._opened()
            is_packed = self._file.read(2) == _GZIP
            self._file.seek(0)
        except OSError as error:
            raise self._unreadable(error.strerror or str(error)) from error
        return cast("BinaryIO", gzip.open(self._file)) if is_packed else self._file

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._file.close()
        if isinstance(error, (OSError, EOFError, zlib.error)):
            raise self._unreadable(str(error)) from error

    def _unreadable(self, why: str) -> SourceError:
        return self._document.error(f"cannot be read: {why}", "Check that it is a whole, readable file.")
