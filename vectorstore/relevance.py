"""How relevant a text is to a question, judged by the packaged cross-encoder."""

from collections.abc import Sequence

import numpy as np

from vectorstore.packaged import MINILM_RERANKER, OnnxModel

_BATCH = 8


class CrossEncoder:
    """ms-marco-MiniLM-L-12-v2 (Reimers and Gurevych 2019): reads question and text together."""

    def __init__(self) -> None:
        self._model = OnnxModel(MINILM_RERANKER)

    def relevance(self, question: str, texts: Sequence[str]) -> list[float]:
        """One logit per text, in order; above 0 the model calls the text relevant."""
        logits = np.zeros(len(texts))
        by_length = np.argsort([len(text) for text in texts], kind="stable")
        for start in range(0, len(texts), _BATCH):
            rows = by_length[start : start + _BATCH]
            logits[rows] = self._model.run([(question, texts[row]) for row in rows])[:, 0]
        return [float(logit) for logit in logits]
