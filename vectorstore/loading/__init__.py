"""From files to papers. One reader per format; `READERS` is the table of what can be read."""

from collections.abc import Callable, Iterable
from pathlib import Path

from vectorstore.errors import SourceError
from vectorstore.loading.text import read_text_papers
from vectorstore.types import PaperRecord, Source

READERS: dict[str, Callable[[Path], list[PaperRecord]]] = {
    ".txt": read_text_papers,
    ".md": read_text_papers,
}

__all__ = ["READERS", "load_papers", "load_source", "source_files"]


def load_papers(path: Path) -> list[PaperRecord]:
    """The papers in one file. Raises `SourceError` when it cannot be read or holds none."""
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise SourceError(f"{path} is not a kind of file that can be read.", f"Known are: {', '.join(READERS)}.")
    papers = reader(path)
    if not papers:
        raise SourceError(f"{path} holds no paper.", "Expected are abstracts, separated by blank lines.")
    return papers


def load_source(path: Path) -> Source:
    """One file with its papers, known by its absolute path."""
    return Source(path=str(path.resolve()), papers=tuple(load_papers(path)))


def source_files(paths: Iterable[Path]) -> list[Path]:
    """The files to read: those named, and in each folder named all of a known kind except README files."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            found = sorted(p for p in path.rglob("*") if p.suffix.lower() in READERS and p.stem.lower() != "readme")
            if not found:
                raise SourceError(f"The folder {path} holds no file to read.", f"Known are: {', '.join(READERS)}.")
            files.extend(found)
        elif path.exists():
            files.append(path)
        else:
            raise SourceError(f"There is no file {path}.", "Check the path; it is read from the current folder.")
    return list(dict.fromkeys(files))
