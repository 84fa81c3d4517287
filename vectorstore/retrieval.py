"""Question -> passages: dense and keyword search among the papers that pass a filter, fused."""

import math
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from vectorstore.atlas import Atlas, atlas_of
from vectorstore.chunking import span_of_chunk
from vectorstore.collection import Collection, CollectionReader
from vectorstore.embedding import PACKAGED_EMBEDDING, EmbeddingModel
from vectorstore.exact import Rows, unit
from vectorstore.facets import Choices
from vectorstore.filters import PaperFilter
from vectorstore.keywords import words_shared
from vectorstore.markup import readable
from vectorstore.names import names_in
from vectorstore.ranking import Ranked, Vector, best_rows, ranked
from vectorstore.spelling import Spelling
from vectorstore.survey import Survey, survey
from vectorstore.types import Fingerprint, Paper, Passage, PublishedIndex

_DEPTH = 100
"""Chunks taken from each of the two searches."""
_RARE = 1
_RARE_NAME = 0.6
"""What a name in at most so many chunks weighs beside its BM25 weight; as many times the highest weight of a word."""
_REMEMBERED = 20_000
"""Vectors of sentences kept in memory; 30 MB."""
_CHUNKS_OF_NEIGHBOUR = 4
"""An abstract has seldom more."""
_WORDS_OF_LABEL = 3
"""A label of more words is a description, which nobody types to the letter."""


class Retriever:
    """Searches one collection."""

    def __init__(self, reader: CollectionReader, embedding: EmbeddingModel) -> None:
        self._reader = reader
        self._embedding = embedding
        self._question_vector = lru_cache(maxsize=64)(embedding.query_vector)
        self._search_vector = lru_cache(maxsize=64)(embedding.search_vector)
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._spelling: tuple[PublishedIndex, Spelling] | None = None
        self._atlas: tuple[PublishedIndex, Atlas] | None = None
        self._making_atlas = threading.Lock()

    def paper_count(self) -> int:
        """How many papers there are."""
        return len(self._reader.current().labels)

    def labels_in(self, texts: Iterable[str]) -> dict[str, str]:
        """paper_id by label, of the labels that stand in any of `texts`."""
        labels = self._reader.current().labels
        return {label: paper_id for text in texts for label, paper_id in labels.in_text(text).items()}

    def papers(self) -> list[Paper]:
        """All papers, in the order in which they were first read."""
        return self._reader.current().library.papers()

    def has_author(self, name: str) -> bool:
        """Whether a paper is by `name`."""
        return self._reader.current().facets.has_author(name)

    def venue(self, name: str) -> str | None:
        """The venue of that name as the collection writes it; None when no paper is from there."""
        return self._reader.current().facets.venue(name)

    def choices(self) -> Choices:
        """What papers can be filtered by."""
        return self._reader.current().facets.choices()

    def ids_within(self, within: PaperFilter) -> list[str]:
        """The ids of all papers that pass the filter, in the order in which they were first read."""
        return self._reader.current().facets.paper_ids(within)

    def papers_within(self, within: PaperFilter) -> list[Paper]:
        """All papers that pass the filter, in the order in which they were first read."""
        collection = self._reader.current()
        return collection.library.papers(collection.facets.paper_ids(within))

    def neighbours(self, paper_id: str, k: int) -> list[Paper]:
        """The `k` papers whose abstracts are most similar to that of one paper, most similar first."""
        collection = self._reader.current()
        own = collection.facets.rows(PaperFilter(paper_ids=(paper_id,)))
        if not len(own):
            return []
        vector = unit(collection.vectors.of(own).mean(axis=0))
        products = collection.vectors.products(vector, np.arange(len(collection.keywords.chunk_ids)))
        nearest = best_rows(products, len(own) + k * _CHUNKS_OF_NEIGHBOUR)
        ids = [_paper_of(collection, row) for row in _first_of_each_paper(collection, nearest.tolist())]
        return collection.library.papers([found for found in ids if found != paper_id][:k])

    def atlas(self) -> Atlas:
        """All papers laid out by meaning, in named topics; what takes long is done once for an index."""
        with self._making_atlas:
            collection = self._reader.current()
            if self._atlas is None or self._atlas[0] != collection.index:
                self._atlas = collection.index, atlas_of(collection)
            return self._atlas[1]

    def fingerprint(self) -> Fingerprint:
        """What built the index that is searched."""
        return self._reader.current().index.fingerprint

    @property
    def reads_english_only(self) -> bool:
        """Whether the embedding model is one that knows no other language."""
        return self._embedding.name == PACKAGED_EMBEDDING

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
        return [name for name in names if not len(keywords.rows_holding(name))]

    def unknown_stems(self, stems: Sequence[str]) -> list[str]:
        """Those of `stems` that no word of the collection has."""
        keywords = self._reader.current().keywords
        return [stem for stem in stems if not len(keywords.rows_holding_stem(stem))]

    def papers_holding(self, name: str) -> set[str]:
        """Ids of the papers that hold `name`."""
        keywords = self._reader.current().keywords
        return {span_of_chunk(keywords.chunk_ids[row])[0] for row in keywords.rows_holding(name)}

    def rarities(self, stems: Sequence[str]) -> dict[str, float]:
        """For each stem, the logarithm of how many times more chunks there are than chunks that hold it."""
        keywords = self._reader.current().keywords
        chunks = len(keywords.chunk_ids)
        return {stem: math.log((chunks + 1) / (len(keywords.rows_holding_stem(stem)) + 1)) for stem in stems}

    def search(
        self,
        question: str,
        k: int,
        *,
        one_per_paper: bool = True,
        within: PaperFilter | None = None,
        as_asked: str | None = None,
    ) -> list[Passage]:
        """The `k` best passages, best first; papers that the question names come before all others.

        With `within` only papers that pass the filter are searched. `as_asked` is the question in its own language:
        it is embedded instead of the English words of it when the embedding model may know that language.
        """
        collection = self._reader.current()
        embedded = question if as_asked is None or self.reads_english_only else as_asked
        passing = None if within is None else collection.facets.rows(within)
        labelled = collection.labels.in_text(question, longest=_WORDS_OF_LABEL)
        names = _rare_names(collection, question, labelled, passing)
        found = _ranked(collection, question, self._search_vector(embedded), names, max(_DEPTH, k), passing)
        named = [row for row, name in names.items() if _paper_of(collection, row) == labelled.get(name)]
        rows = sorted(named, key=_place_in(found.rows)) + [row for row in found.rows.tolist() if row not in named]
        if one_per_paper:
            rows = _first_of_each_paper(collection, rows)
        return _passages(collection, question, rows[:k], found, names, set(labelled.values()))

    def survey(
        self,
        topic: str,
        words: Sequence[Sequence[str]],
        *,
        within: PaperFilter | None = None,
        as_asked: str | None = None,
    ) -> Survey:
        """Every paper that passes the filter, weighed against `topic`, whose `words` are given in all their forms."""
        collection = self._reader.current()
        vector = self._question_vector(topic if as_asked is None or self.reads_english_only else as_asked)
        passing = None if within is None else collection.facets.rows(within)
        return survey(collection.vectors, collection.keywords, collection.papers_of_rows, topic, vector, words, passing)

    def papers_of(self, paper_ids: Sequence[str]) -> list[Paper]:
        """The papers of those ids, in their order."""
        return self._reader.current().library.papers(paper_ids)


def _ranked(
    collection: Collection,
    question: str,
    vector: Vector,
    names: Mapping[int, str],
    depth: int,
    passing: Rows | None,
) -> Ranked:
    if passing is None:
        nearest = np.array([collection.row_of[chunk_id] for chunk_id in collection.store.nearest(vector, depth)])
    else:
        nearest = passing[best_rows(collection.vectors.products(vector, passing), depth)]
    weights = collection.keywords.weights(question)
    weights[list(names)] += _RARE_NAME * math.log(len(weights) + 1)
    if passing is not None:
        of_passing = weights[passing]
        weights = np.zeros_like(weights)
        weights[passing] = of_passing
    by_words = best_rows(weights, depth)
    return ranked(vector, weights, collection.vectors, by_words[weights[by_words] > 0], nearest)


def _place_in(order: Rows) -> Callable[[int], tuple[int, int]]:
    """Where a row stands in `order`; those that are not in it come last."""
    places = {row: place for place, row in enumerate(order.tolist())}
    return lambda row: (places.get(row, len(places)), row)


def _rare_names(collection: Collection, question: str, labelled: Iterable[str], passing: Rows | None) -> dict[int, str]:
    found: dict[int, str] = {}
    for name in dict.fromkeys([*labelled, *names_in(question)]):
        rows = collection.keywords.rows_holding(name)
        if len(rows) <= _RARE:
            found = {int(row): name for row in rows if passing is None or row in passing} | found
    return found


def _first_of_each_paper(collection: Collection, rows: Iterable[int]) -> list[int]:
    first: dict[str, int] = {}
    for row in rows:
        first.setdefault(_paper_of(collection, row), row)
    return list(first.values())


def _paper_of(collection: Collection, row: int) -> str:
    return span_of_chunk(collection.keywords.chunk_ids[row])[0]


def _passages(
    collection: Collection,
    question: str,
    rows: Sequence[int],
    found: Ranked,
    names: Mapping[int, str],
    labelled: Set[str],
) -> list[Passage]:
    places = {row: span_of_chunk(collection.keywords.chunk_ids[row]) for row in rows}
    papers = {paper.paper_id: paper for paper in collection.library.papers([place[0] for place in places.values()])}
    similarities = dict(zip(found.rows.tolist(), found.similarities.tolist(), strict=True))
    dense_ranks = {row: rank for rank, row in enumerate(found.nearest.tolist(), start=1)}
    keyword_ranks = {row: rank for rank, row in enumerate(found.by_words.tolist(), start=1)}
    return [
        Passage(
            paper=papers[paper_id],
            text=span.of(papers[paper_id].abstract),
            span=span,
            similarity=similarities.get(row),
            dense_rank=dense_ranks.get(row),
            keyword_rank=keyword_ranks.get(row),
            named=paper_id in labelled,
            words=words_shared(question, readable(papers[paper_id].abstract)),
            rare_name=names.get(row),
        )
        for row, (paper_id, span) in places.items()
        if paper_id in papers
    ]
