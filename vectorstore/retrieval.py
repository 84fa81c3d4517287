"""Question -> passages: dense and keyword search, fused."""

import math
from collections.abc import Mapping, Sequence, Set
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from vectorstore.chunking import span_of_chunk
from vectorstore.collection import Collection, CollectionReader
from vectorstore.embedding import EmbeddingModel
from vectorstore.names import TOKEN, names_in
from vectorstore.spelling import Spelling
from vectorstore.types import Fingerprint, Paper, Passage, PublishedIndex

_DEPTH = 100
"""Chunks taken from each of the two searches."""
_DENSE_WEIGHT = 0.7
"""Measured on SciFact's development questions, where it beats either search alone and rank fusion."""
_RARE = 3
"""A name in at most this many chunks is taken to mean them."""
_REMEMBERED = 20_000
"""Vectors of sentences kept in memory; 30 MB."""
_WORDS_OF_LABEL = 3
"""A label of more words is a description, which nobody types to the letter."""
_SHORT_CAPITALS = 4
"""A label of so few capitals could also be a word ("TOP", "PAR")."""


class Retriever:
    """Searches one collection."""

    def __init__(self, reader: CollectionReader, embedding: EmbeddingModel) -> None:
        self._reader = reader
        self._embedding = embedding
        self._question_vector = lru_cache(maxsize=64)(embedding.query_vector)
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._spelling: tuple[PublishedIndex, Spelling] | None = None

    def labels(self) -> Mapping[str, str]:
        """paper_id by label, of all papers."""
        return self._reader.current().labels

    def papers(self) -> list[Paper]:
        """All papers, in the order in which they were first read."""
        return self._reader.current().library.papers()

    def fingerprint(self) -> Fingerprint:
        """What built the index that is searched."""
        return self._reader.current().index.fingerprint

    def similarities(self, question: str, texts: Sequence[str]) -> list[float]:
        """Cosine of the question and each of `texts`; texts seen before are not embedded again."""
        vectors = {text: vector for text in texts if (vector := self._vectors.get(text)) is not None}
        missing = [text for text in dict.fromkeys(texts) if text not in vectors]
        if missing:
            vectors.update(zip(missing, self._embedding.vectors(missing), strict=True))
        if len(self._vectors) > _REMEMBERED:
            self._vectors.clear()
        self._vectors.update(vectors)
        wanted = self._question_vector(question)
        return [float(wanted @ vectors[text]) for text in texts]

    def respelled(self, question: str) -> str:
        """`question` with its misspelt words as the collection spells them."""
        collection = self._reader.current()
        if self._spelling is None or self._spelling[0] != collection.index:
            self._spelling = collection.index, collection.spelling()
        return self._spelling[1].corrected(question)

    def unknown_names(self, names: Sequence[str]) -> list[str]:
        """Those of `names` that no paper of the collection holds."""
        keywords = self._reader.current().keywords
        return [name for name in names if not keywords.holding(name)]

    def papers_holding(self, name: str) -> set[str]:
        """Ids of the papers that hold `name`."""
        return {span_of_chunk(chunk_id)[0] for chunk_id in self._reader.current().keywords.holding(name)}

    def rarities(self, stems: Sequence[str]) -> dict[str, float]:
        """For each stem, the logarithm of how many times more papers there are than papers that hold it."""
        papers = len(self._reader.current().labels)
        return {stem: math.log((papers + 1) / (len(self.papers_holding(stem)) + 1)) for stem in stems}

    def search(self, question: str, k: int, *, one_per_paper: bool = True) -> list[Passage]:
        """The `k` best passages, best first; papers that the question names come before all others."""
        collection = self._reader.current()
        depth = max(_DEPTH, k)
        similarities = collection.store.nearest(self._question_vector(question), depth)
        weights = collection.keywords.best(question, depth)
        labelled = _labelled(collection, question)
        named = _holding_rare_name(collection, question, labelled)
        fused = _fused(similarities, weights)
        chunk_ids = [
            *(c for c in fused if c in named),
            *sorted(named - set(fused)),
            *(c for c in fused if c not in named),
        ]
        if one_per_paper:
            chunk_ids = _first_of_each_paper(chunk_ids)
        return _passages(collection, chunk_ids[:k], similarities, weights, set(labelled.values()))


def _labelled(collection: Collection, question: str) -> dict[str, str]:
    """paper_id by label, of the labels in the question; short capitals only as they are ("TOP", not "top")."""
    labels = {label.casefold(): (label, paper_id) for label, paper_id in collection.labels.items()}
    words = [match.group().removesuffix("'s").removesuffix("’s") for match in TOKEN.finditer(question)]
    phrases = {
        " ".join(words[at : at + length]) for length in range(1, _WORDS_OF_LABEL + 1) for at in range(len(words))
    }
    found = (
        labels[phrase.casefold()]
        for phrase in sorted(phrases)
        if phrase.casefold() in labels and _may_mean(phrase, labels[phrase.casefold()][0])
    )
    return dict(found)


def _may_mean(word: str, label: str) -> bool:
    return word == label or not (label.isupper() and len(label) <= _SHORT_CAPITALS)


def _holding_rare_name(collection: Collection, question: str, labelled: Mapping[str, str]) -> set[str]:
    """The chunks that hold a name of the question which is rare enough to single out a paper."""
    found = (collection.keywords.holding(name) for name in {*names_in(question), *labelled})
    return {chunk_id for chunk_ids in found if len(chunk_ids) <= _RARE for chunk_id in chunk_ids}


def _fused(similarities: Mapping[str, float], weights: Mapping[str, float]) -> list[str]:
    """Chunk ids by the weighted sum of the two, each scaled to 0..1 among what was found (Bruch et al. 2023)."""
    dense, keyword = _scaled(similarities), _scaled(weights)

    def fused(chunk_id: str) -> float:
        return _DENSE_WEIGHT * dense.get(chunk_id, 0.0) + (1 - _DENSE_WEIGHT) * keyword.get(chunk_id, 0.0)

    return sorted(dense | keyword, key=lambda chunk_id: (-fused(chunk_id), chunk_id))


def _first_of_each_paper(chunk_ids: list[str]) -> list[str]:
    first: dict[str, str] = {}
    for chunk_id in chunk_ids:
        first.setdefault(span_of_chunk(chunk_id)[0], chunk_id)
    return list(first.values())


def _scaled(values: Mapping[str, float]) -> dict[str, float]:
    low, high = min(values.values(), default=0.0), max(values.values(), default=0.0)
    return {key: (value - low) / (high - low) if high > low else 1.0 for key, value in values.items()}


def _passages(
    collection: Collection,
    chunk_ids: list[str],
    similarities: Mapping[str, float],
    weights: Mapping[str, float],
    named: Set[str],
) -> list[Passage]:
    places = {chunk_id: span_of_chunk(chunk_id) for chunk_id in chunk_ids}
    papers = {paper.paper_id: paper for paper in collection.library.papers([place[0] for place in places.values()])}
    dense_ranks = {chunk_id: rank for rank, chunk_id in enumerate(similarities, start=1)}
    keyword_ranks = {chunk_id: rank for rank, chunk_id in enumerate(weights, start=1)}
    return [
        Passage(
            paper=papers[paper_id],
            text=span.of(papers[paper_id].abstract),
            span=span,
            similarity=similarities.get(chunk_id),
            dense_rank=dense_ranks.get(chunk_id),
            keyword_rank=keyword_ranks.get(chunk_id),
            named=paper_id in named,
        )
        for chunk_id, (paper_id, span) in places.items()
        if paper_id in papers
    ]
