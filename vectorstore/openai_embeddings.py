"""Embeddings of OpenAI, or of a server that speaks its protocol, and what they cost."""

from langchain_core.embeddings import Embeddings

from vectorstore.errors import EmbeddingError
from vectorstore.types import Bill

_TIMEOUT_SECONDS = 60.0
_RETRIES = 5
"""After 429, 5xx and time-outs, with growing pauses or as long as the server says."""
_RETRIES_OF_QUESTION = 1
"""Somebody waits for it."""
_DOLLARS_PER_MILLION = {"text-embedding-3-small": 0.02, "text-embedding-3-large": 0.13}
"""By model; OpenAI's "New embedding models and API updates" of 2024-01-25."""
_CHARACTERS_PER_TOKEN = 5.0
"""3,000 conference abstracts have 5.46 in cl100k_base, the vocabulary of these models: estimates are rather high."""


class OpenAIEmbeddings(Embeddings):
    """Sends texts, not token ids, so that any compatible server understands them; `base_url` None is OpenAI itself."""

    def __init__(self, model: str, api_key: str | None, base_url: str | None) -> None:
        from openai import OpenAI

        self.tokens = 0
        """Sent so far, as the server counts them."""
        self._model = model
        self._client = OpenAI(
            api_key=api_key or "not-needed", base_url=base_url, timeout=_TIMEOUT_SECONDS, max_retries=_RETRIES
        )

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """The vectors in the order of the texts, whatever the order in which the server gives them."""
        return self._embed(texts, _RETRIES)

    def embed_query(self, text: str) -> list[float]:
        """The vector of a question."""
        (vector,) = self._embed([text], _RETRIES_OF_QUESTION)
        return vector

    def bill(self, tokens: int) -> Bill:
        """What so many tokens cost."""
        price = _DOLLARS_PER_MILLION.get(self._model)
        return Bill(tokens=tokens, dollars=None if price is None else tokens * price / 1_000_000)

    def estimate(self, characters: int) -> Bill:
        """What embedding texts of so many characters will cost."""
        return self.bill(round(characters / _CHARACTERS_PER_TOKEN))

    def _embed(self, texts: list[str], retries: int) -> list[list[float]]:
        response = self._client.with_options(max_retries=retries).embeddings.create(model=self._model, input=texts)
        if response.usage:  # a server that bills nobody may leave it out
            self.tokens += response.usage.total_tokens
        vectors = {vector.index: vector.embedding for vector in response.data}
        if len(vectors) != len(response.data) or vectors.keys() != set(range(len(texts))):
            raise EmbeddingError(
                f"The embedding model 'openai:{self._model}' gave {len(response.data)} vectors for {len(texts)} texts,"
                " or not by their numbers.",
                "Check its server, or use the packaged model.",
            )
        return [vectors[row] for row in range(len(texts))]
