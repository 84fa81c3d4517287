"""BM25 over the same chunks as the vectors (Robertson and Zaragoza 2009; k1 and b as usual for abstracts)."""

import json
import re
from functools import reduce
from pathlib import Path

import bm25s
import numpy as np
import Stemmer
from bm25s.stopwords import STOPWORDS_EN, STOPWORDS_EN_PLUS
from numpy.typing import NDArray

from vectorstore.errors import CollectionDamaged
from vectorstore.exact import Rows
from vectorstore.names import TOKEN
from vectorstore.types import Chunk

_K1, _B = 0.9, 0.4
_MIXED = re.compile(r"\b(?=\w*[^\W\d_]\d|\w*\d[^\W\d_])\w+\b")
_RUNS = re.compile(r"[^\W\d_]+|\d+")
_CHUNK_IDS = "chunk_ids.json"


class KeywordIndex:
    """The keyword index of one collection; a row is a chunk. Its arrays are read from disk as they are needed."""

    chunk_ids: list[str]
    """By row."""

    def __init__(self, folder: Path, *, rebuild_command: str) -> None:
        """Opens a built index. Raises `CollectionDamaged` when it cannot be read."""
        try:
            self.chunk_ids = json.loads((folder / _CHUNK_IDS).read_text("utf-8"))
            self._bm25 = bm25s.BM25.load(folder, mmap=True, show_progress=False)
            self._starts = np.asarray(self._bm25.scores["indptr"])
        except Exception as error:  # missing, truncated and malformed files each raise errors of their own
            raise CollectionDamaged(
                f"The keyword index {folder} cannot be read ({type(error).__name__}).",
                f"Rebuild it from the library: {rebuild_command}",
            ) from error

    def weights(self, question: str) -> NDArray[np.float32]:
        """The BM25 weight of each row; 0 where it shares no word with `question`."""
        stems = _stems([question])[0]
        if not stems:
            return np.zeros(len(self.chunk_ids), dtype=np.float32)
        return np.asarray(self._bm25.get_scores(stems), dtype=np.float32)

    def rows_holding(self, name: str) -> Rows:
        """The rows of the chunks that hold every word of `name`, in whatever form and order."""
        of_stems = [self._rows_of(stem) for stem in _stems([name])[0]]
        return reduce(np.intersect1d, of_stems) if of_stems else np.zeros(0, dtype=np.intp)

    def rows_holding_stem(self, stem: str) -> Rows:
        """The rows of the chunks that hold a word with that stem; all of them for a word too common to be indexed.

        A stem is looked up as it is, since stemming "glucos" or "increas" once more gives another.
        """
        parts = [part for part in re.split(r"\W+", stem) if len(part) > 1 and part not in STOPWORDS_EN]
        every = np.arange(len(self.chunk_ids), dtype=np.intp)
        return reduce(np.intersect1d, [self._rows_of(part) for part in parts], every)

    def _rows_of(self, stem: str) -> Rows:
        token = self._bm25.vocab_dict.get(stem)
        if token is None:
            return np.zeros(0, dtype=np.intp)
        return np.asarray(self._bm25.scores["indices"][self._starts[token] : self._starts[token + 1]], dtype=np.intp)


def words_shared(question: str, text: str) -> tuple[str, ...]:
    """The words of `question` that `text` holds in any form, in their order, common ones left out."""
    held = set(_stems([text])[0])
    words = dict.fromkeys(word for word in TOKEN.findall(question) if word.lower() not in STOPWORDS_EN_PLUS)
    return tuple(word for word, stems in zip(words, _stems(list(words)), strict=True) if held.intersection(stems))


def build_keywords(folder: Path, chunks: list[Chunk]) -> None:
    """Writes the keyword index of `chunks` into a new `folder`."""
    index = bm25s.BM25(k1=_K1, b=_B)
    index.index(_stems([chunk.embedded_text for chunk in chunks]), show_progress=False)
    index.save(folder, show_progress=False)
    (folder / _CHUNK_IDS).write_text(json.dumps([chunk.chunk_id for chunk in chunks]), "utf-8")


def _stems(texts: list[str]) -> list[list[str]]:
    """The stems of the words of each text; of a word of letters and digits ("il2") also those of its parts."""
    texts = [_MIXED.sub(lambda word: f"{word.group()} {' '.join(_RUNS.findall(word.group()))}", text) for text in texts]
    stems: list[list[str]] = bm25s.tokenize(
        texts, stopwords="en", stemmer=Stemmer.Stemmer("english"), return_ids=False, show_progress=False
    )
    return stems
