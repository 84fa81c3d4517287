import numpy as np
import pytest
from langchain_core.embeddings import Embeddings

from tests.fakes import KEY, ModelServer, word_vector
from vectorstore.embedding import EmbeddingModel, load_embedding
from vectorstore.errors import EmbeddingError


def test_a_compatible_server_is_sent_texts_and_its_vectors_are_used(model_server: ModelServer) -> None:
    embedding = load_embedding("openai:any:model", api_key=KEY, base_url=model_server.url)
    vectors = embedding.vectors(["two words", "three words here"])
    assert model_server.requests[0]["input"] == ["two words", "three words here"]
    assert model_server.requests[0]["model"] == "any:model"
    assert np.allclose(vectors[0], word_vector("two words"), atol=1e-6)


def test_a_wrong_key_is_an_error_that_shows_no_key(model_server: ModelServer) -> None:
    embedding = load_embedding("openai:any", api_key="sk-wrong-canary", base_url=model_server.url)
    with pytest.raises(EmbeddingError) as caught:
        embedding.vectors(["x"])
    assert "canary" not in caught.value.message + caught.value.hint
    assert "key" in caught.value.hint


class Wrong(Embeddings):
    def __init__(self, vectors: list[list[float]]) -> None:
        self._vectors = vectors

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._vectors

    def embed_query(self, text: str) -> list[float]:
        return self._vectors[0]


@pytest.mark.parametrize(
    "vectors", [[[1.0, 0.0]], [[1.0, 0.0], [1.0]], [[1.0, float("nan")], [0.0, 1.0]], [[1.0], [2.0], [3.0]]]
)
def test_anything_but_one_finite_vector_per_text_is_refused(vectors: list[list[float]]) -> None:
    with pytest.raises(EmbeddingError, match="one valid vector"):
        EmbeddingModel("fake:wrong", "", Wrong(vectors)).vectors(["a", "b"])


@pytest.mark.parametrize("name", ["bge", "packaged:other", "openai:", "nobody:model"])
def test_an_unknown_embedding_model_is_named(name: str) -> None:
    with pytest.raises(EmbeddingError) as caught:
        load_embedding(name, api_key="k")
    assert name.split(":")[0] in caught.value.message


def test_an_openai_embedding_without_a_key_says_which_variable_to_set() -> None:
    with pytest.raises(EmbeddingError) as caught:
        load_embedding("openai:text-embedding-3-small")
    assert "OPENAI_API_KEY" in caught.value.hint
