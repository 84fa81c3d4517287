"""The plain alternative to our checks: a sentence passes when it is near in meaning to a sentence of the abstract."""

import numpy as np

from benchmarks.common import LEAST_SIMILARITY
from vectorstore.embedding import PackagedEmbeddings
from vectorstore.markup import readable
from vectorstore.sentences import sentence_spans
from vectorstore.types import Paper


class Similarities:
    """Cosine of a sentence and the best sentence of an abstract; an abstract is embedded once."""

    def __init__(self) -> None:
        self._embeddings = PackagedEmbeddings()
        self._vectors: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float64]]] = {}

    def is_similar(self, sentence: str, paper: Paper) -> bool:
        """Whether the threshold that is often used would let the sentence pass."""
        if paper.paper_id not in self._vectors:
            sentences = [readable(span.of(paper.abstract)) for span in sentence_spans(paper.abstract)]
            self._vectors[paper.paper_id] = np.array(self._embeddings.embed_documents(sentences))
        wanted = np.array(self._embeddings.embed_documents([sentence])[0])
        return bool((self._vectors[paper.paper_id] @ wanted).max() >= LEAST_SIMILARITY)
