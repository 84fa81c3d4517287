"""Zip archives: the files in them, one after another in memory. Nothing is unpacked to a folder."""

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from vectorstore.loading.document import LARGEST, Document
from vectorstore.visible import visible

_MOST_MEMBERS = 10_000
_LARGEST_IN_ALL = 4 * 1024 * 1024 * 1024
"""Bytes, unpacked, of all members, those of archives in the archive included."""
_LARGEST_DIRECTORY = 16 * 1024 * 1024
_DIRECTORY_END, _DIRECTORY_END_SIZE = b"PK\x05\x06", 22
_LONGEST_COMMENT = 64 * 1024
_CHUNK = 64 * 1024
_BEGINNINGS = (b"PK\x03\x04", _DIRECTORY_END)
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""The others unpack a few bytes to any number at once."""
_OFFICE = frozenset(("[Content_Types].xml", "mimetype"))
"""What is in the documents of office programs and in e-books."""
_FAILURES = (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, OSError, EOFError, zlib.error)


class _CannotUnpack(Exception):
    """Why an archive or a member is left out."""


@dataclass
class _Allowance:
    """What may still be unpacked."""

    members: int = _MOST_MEMBERS
    size: int = _LARGEST_IN_ALL


def recognises(document: Document) -> bool:
    """By its first bytes."""
    return document.head.startswith(_BEGINNINGS)


def members(document: Document) -> Iterator[Document]:
    """Its files and those of archives in it, without hidden ones. Warnings say what else is left out.

    Raises `SourceError` when it is broken, an office document, or holds too much.
    """
    with document.reading() as stream:
        try:
            yield from _members(document, document.name, stream, _Allowance())
        except _CannotUnpack as error:
            raise document.error(
                f"is not unpacked: {error}", "Unpack it, and give the files or their folder."
            ) from error


def _members(document: Document, name: str, stream: BinaryIO, allowance: _Allowance) -> Iterator[Document]:
    archive, found = _opened(stream, allowance)
    names: set[str] = set()
    for member in found:
        path = f"{name}!{visible(member.filename)}"
        try:
            if path in names:
                raise _CannotUnpack("another member has the same name")
            names.add(path)
            inner = Document.of(path, _data(archive, member))
            if not recognises(inner):
                yield inner
            elif name == document.name:
                yield from _members(document, path, io.BytesIO(inner.data()), allowance)
            else:
                raise _CannotUnpack("it is an archive in an archive in an archive")
        except _CannotUnpack as error:
            document.warnings.append(f"{path} is left out: {error}")


def _opened(stream: BinaryIO, allowance: _Allowance) -> tuple[zipfile.ZipFile, list[zipfile.ZipInfo]]:
    """An archive with those of its members that are files to be read."""
    try:
        _refuse_large_directory(stream)
        archive = zipfile.ZipFile(stream)
    except _FAILURES as error:
        raise _CannotUnpack(f"it is broken ({error})") from error
    infos = archive.infolist()
    if any(info.filename in _OFFICE for info in infos):
        raise _CannotUnpack("it is a document of an office program or an e-book, and no archive of papers")
    found = [info for info in infos if not info.is_dir() and not _is_hidden(info.filename)]
    allowance.members -= len(found)
    allowance.size -= sum(info.file_size for info in found if info.file_size <= LARGEST)
    if allowance.members < 0:
        raise _CannotUnpack(f"it holds more than {_MOST_MEMBERS:,} files")
    if allowance.size < 0:
        raise _CannotUnpack(f"it holds more than {_LARGEST_IN_ALL >> 30} GB")
    return archive, found


def _refuse_large_directory(stream: BinaryIO) -> None:
    """Refuse what only `zipfile` itself could read to find that there are too many members."""
    size = stream.seek(0, io.SEEK_END)
    stream.seek(max(0, size - _LONGEST_COMMENT - _DIRECTORY_END_SIZE))
    end = stream.read()
    at = end.rfind(_DIRECTORY_END)
    if at >= 0 and int.from_bytes(end[at + 12 : at + 16], "little") > _LARGEST_DIRECTORY:
        raise _CannotUnpack(f"it holds more than {_MOST_MEMBERS:,} files")


def _data(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """A member unpacked, by chunks: `zipfile` gives no more than the size that the archive says."""
    if member.flag_bits & 0x1:
        raise _CannotUnpack("it is locked by a password")
    if member.compress_type not in _METHODS:
        raise _CannotUnpack("it is packed by a method that is not read; pack it by the usual one, deflate")
    if member.file_size > LARGEST:
        raise _CannotUnpack(f"it has more than {LARGEST >> 20} MB")
    try:
        with archive.open(member) as stream:
            return b"".join(iter(lambda: stream.read(_CHUNK), b""))
    except _FAILURES as error:
        raise _CannotUnpack(f"it is broken ({error})") from error


def _is_hidden(path: str) -> bool:
    parts = [part for part in re.split(r"[/\\]", path) if part not in (".", "..")]
    return any(part.startswith(".") or part == "__MACOSX" for part in parts)
