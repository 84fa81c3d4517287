"""The collections in a data folder: which there are, what each holds, and renaming and deleting them."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from vectorstore.errors import CollectionError
from vectorstore.folder import CollectionFolder, unwritable
from vectorstore.library import Library, SourceInfo


@dataclass(frozen=True, kw_only=True)
class CollectionInfo:
    """What a collection holds."""

    name: str
    path: str
    papers: int
    title_only: int
    """Papers without an abstract."""
    chunks: int
    embedding: str
    """The model that built its index; empty when it has none."""
    fingerprint: str
    generation: int
    """How often its index has been built."""
    disk_bytes: int
    sources: tuple[SourceInfo, ...]


def collection_names(data_dir: Path) -> list[str]:
    """The collections on this machine, sorted."""
    return sorted(path.parent.name for path in (data_dir / "collections").glob("*/library.sqlite"))


def collection_info(folder: CollectionFolder) -> CollectionInfo:
    """What the collection holds. Raises `CollectionMissing` when there is none."""
    folder.require()
    library = Library(folder.library_path)
    try:
        papers, index, sources = library.papers(), library.published(), library.sources()
    finally:
        library.close()
    return CollectionInfo(
        name=folder.name,
        path=str(folder.path),
        papers=len(papers),
        title_only=sum(paper.is_title_only for paper in papers),
        chunks=index.chunks if index else 0,
        embedding=index.fingerprint.embedding if index else "",
        fingerprint=index.fingerprint.digest if index else "",
        generation=index.generation if index else 0,
        disk_bytes=sum(file.stat().st_size for file in folder.path.rglob("*") if file.is_file()),
        sources=tuple(sources),
    )


def rename_collection(folder: CollectionFolder, name: str) -> CollectionFolder:
    """Gives the collection another name. Raises `CollectionError` when that is taken."""
    _refuse_server(folder)
    folder.require()
    renamed = CollectionFolder(folder.data_dir, name)
    if renamed.path.exists():
        raise CollectionError(f"There is a collection {name!r} already.", "Choose another name, or delete that one.")
    with folder.writing():
        try:
            folder.path.rename(renamed.path)
        except OSError as error:
            raise unwritable(folder.path.parent, error) from error
    return renamed


def delete_collection(folder: CollectionFolder) -> None:
    """Removes the collection with its papers and its index; the files they were read from stay."""
    _refuse_server(folder)
    folder.require()
    with folder.writing():
        try:
            folder.deletion_mark.touch()
            folder.library_path.unlink()  # from here on there is no collection, whatever else is left
        except OSError as error:
            raise unwritable(folder.path, error) from error
    shutil.rmtree(folder.path, ignore_errors=True)


def _refuse_server(folder: CollectionFolder) -> None:
    if folder.server:
        raise CollectionError(
            f"The collection {folder.name!r} is shared by a Chroma server.",
            "Only collections of this machine alone can be renamed or deleted: leave CHROMA_URL out.",
        )
