"""BM25 over the same chunks as the vectors (Robertson and Zaragoza 2009; k1 and b as usual for abstracts)."""

import json
from pathlib import Path

import bm25s
import numpy as np
import Stemmer

from vectorstore.errors import CollectionDamaged
from vectorstore.types import Chunk

_K1, _B = 0.9, 0.4
_CHUNK_IDS = "chunk_ids.json"


class KeywordIndex:
    """The keyword index of one collection."""

    def __init__(self, folder: Path, *, rebuild_command: str) -> None:
        """Opens a built index. Raises `CollectionDamaged` when it cannot be read."""
        try:
            self._chunk_ids: list[str] = json.loads((folder / _CHUNK_IDS).read_text("utf-8"))
            self._bm25 = bm25s.BM25.load(folder, show_progress=False)
        except Exception as error:  # missing, truncated and malformed files each raise errors of their own
            raise CollectionDamaged(
                f"The keyword index {folder} cannot be read ({type(error).__name__}).",
                f"Rebuild it from the library: {rebuild_command}",
            ) from error

    def best(self, question: str, k: int) -> dict[str, float]:
        """BM25 weight by chunk id of the `k` best chunks that share a word with `question`, best first."""
        stems = _stems([question])[0]
        if not stems:
            return {}
        weights = self._bm25.get_scores(stems)
        order = np.argsort(-weights, kind="stable")[:k]
        return {self._chunk_ids[row]: float(weights[row]) for row in order if weights[row] > 0}

    def holding(self, name: str) -> set[str]:
        """Ids of the chunks that hold every word of `name`, in whatever form and order."""
        stems = _stems([name])[0]
        if not stems:
            return set()
        rows = np.flatnonzero(np.all([self._bm25.get_scores([stem]) > 0 for stem in stems], axis=0))
        return {self._chunk_ids[row] for row in rows}


def build_keywords(folder: Path, chunks: list[Chunk]) -> None:
    """Writes the keyword index of `chunks` into a new `folder`."""
    index = bm25s.BM25(k1=_K1, b=_B)
    index.index(_stems([chunk.embedded_text for chunk in chunks]), show_progress=False)
    index.save(folder, show_progress=False)
    (folder / _CHUNK_IDS).write_text(json.dumps([chunk.chunk_id for chunk in chunks]), "utf-8")


def _stems(texts: list[str]) -> list[list[str]]:
    stems: list[list[str]] = bm25s.tokenize(
        texts, stopwords="en", stemmer=Stemmer.Stemmer("english"), return_ids=False, show_progress=False
    )
    return stems
