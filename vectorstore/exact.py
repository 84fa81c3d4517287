"""The vectors of a collection's chunks in one file, for exact search among the papers that pass a filter.

Chroma's graph is faster over a whole large collection; under a filter it is slower than a product with all vectors that
pass, and that product misses nothing.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vectorstore.errors import CollectionDamaged

Rows = NDArray[np.intp]
"""Rows of an index; a row is a chunk."""
_WORTH_ALL = 0.25
"""Share of the rows at which a product with all vectors is faster than copying those of the rows first."""


class VectorFile:
    """The unit vectors of an index, one row per chunk; read from disk as they are needed."""

    def __init__(self, path: Path, *, expected_rows: int, rebuild_command: str) -> None:
        """Opens a built file. Raises `CollectionDamaged` unless it holds one vector per chunk."""
        hint = f"Rebuild it from the library: {rebuild_command}"
        try:
            self._vectors = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise CollectionDamaged(f"The vectors {path} cannot be read ({type(error).__name__}).", hint) from error
        if self._vectors.ndim != 2 or len(self._vectors) != expected_rows:
            raise CollectionDamaged(
                f"The file {path} holds {len(self._vectors)} vectors instead of {expected_rows}.", hint
            )

    def products(self, vector: NDArray[np.float32], rows: Rows) -> NDArray[np.float32]:
        """The inner product of `vector` and the vector of each row: the cosine, for a unit vector."""
        if len(rows) > len(self._vectors) * _WORTH_ALL:
            return np.asarray((self._vectors @ vector)[rows], dtype=np.float32)
        return np.asarray(self._vectors[rows] @ vector, dtype=np.float32)

    def of(self, rows: Rows) -> NDArray[np.float32]:
        """The vectors of `rows`, in their order."""
        return np.asarray(self._vectors[rows], dtype=np.float32)


def build_vectors(path: Path, vectors: NDArray[np.float32]) -> None:
    """Writes the vectors, one row per chunk, into a new file."""
    np.save(path, _unit(vectors), allow_pickle=False)


def unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """`vector` with length 1."""
    return np.asarray(_unit(vector[np.newaxis])[0])


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)
