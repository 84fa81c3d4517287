"""How relevant a text is to a question, judged by the packaged cross-encoder."""

from collections.abc import Sequence

from vectorstore.packaged import MINILM_RERANKER, OnnxModel


class CrossEncoder:
    """ms-marco-MiniLM-L-12-v2 (Reimers and Gurevych 2019): reads question and text together."""

    def __init__(self) -> None:
        self._model = OnnxModel(MINILM_RERANKER)

    def relevance(self, question: str, texts: Sequence[str]) -> list[float]:
        """One logit per text, in order; above 0 the model calls the text relevant."""
        return [float(logit) for logit in self._model.run([(question, text) for text in texts])]
