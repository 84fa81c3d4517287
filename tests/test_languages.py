from pathlib import Path

import pytest

from assistant import Assistant
from assistant.evidence import EvidenceJudge
from assistant.languages import in_english, is_english
from assistant.quoting import QuotationWriter
from tests.fakes import word_vector
from tests.test_indexing import CountingEmbeddings
from vectorstore.collection import CollectionReader
from vectorstore.embedding import EmbeddingModel
from vectorstore.folder import CollectionFolder
from vectorstore.indexing import index_sources
from vectorstore.relevance import CrossEncoder
from vectorstore.retrieval import Retriever
from vectorstore.types import PaperRecord, Source


@pytest.mark.parametrize(
    "question",
    ["What is LiftQuant?", "ProjQ code", "how fast", "Does DMPO beat de facto baselines?", "List papers on agents"],
)
def test_english_is_left_alone(question: str) -> None:
    assert is_english(question)


@pytest.mark.parametrize(
    ("question", "understood"),
    [
        ("Auf wie vielen Datensätzen wurde MOC geprüft?", "MOC"),
        ("Combien de tâches dans TAMPO ?", "how many task TAMPO"),
        ("¿Qué método reduce la latencia?", "which method reduce latency"),
        ("CoMem 的延迟降低了多少?", "CoMem latency reduce how many"),
        ("Где код ProjQ?", "code ProjQ"),
    ],
)
def test_of_other_languages_names_and_words_of_research_are_understood(question: str, understood: str) -> None:
    assert not is_english(question)
    assert set(understood.split()) <= set(in_english(question, lambda word: False).split())


def test_words_that_the_collection_holds_stay() -> None:
    assert in_english("Wozu dient der Router in TAMPO?", lambda word: word == "router") == "Router TAMPO"


def test_an_answer_to_a_foreign_question_says_what_would_help(assistant: Assistant) -> None:
    german = assistant.ask("Auf welchen Modellen wurde LiftQuant getestet?")
    assert german.passages[0].paper.label == "LiftQuant"
    assert "ASSISTANT_EMBEDDING" in german.sentences[-1].text
    assert german.sentences[-1].verdict == "program"
    english = assistant.ask("On which models was LiftQuant tested?")
    assert not any("ASSISTANT_EMBEDDING" in sentence.text for sentence in english.sentences)


def test_a_model_of_many_languages_is_given_the_question_as_it_was_asked(tmp_path: Path) -> None:
    class Polyglot(CountingEmbeddings):
        def embed_query(self, text: str) -> list[float]:
            self.texts.append(text)
            return word_vector("cats" if "Katzen" in text else text)

    embeddings = Polyglot()
    model = EmbeddingModel("fake:polyglot", "1", embeddings)
    folder = CollectionFolder(tmp_path, "animals")
    papers = [PaperRecord(abstract=text, position=at) for at, text in enumerate(["dogs bark", "cats purr"], start=1)]
    index_sources(folder, [Source(path="/animals", papers=tuple(papers))], model)
    retriever = Retriever(CollectionReader(folder, model), model)
    assistant = Assistant(retriever=retriever, judge=EvidenceJudge(retriever, CrossEncoder()), writer=QuotationWriter())
    answer = assistant.ask("Was machen die Katzen bei der Arbeit?")
    assert "Was machen die Katzen bei der Arbeit?" in embeddings.texts
    assert not any("ASSISTANT_EMBEDDING" in sentence.text for sentence in answer.sentences)
    (nearest, _) = sorted(answer.passages, key=lambda passage: passage.dense_rank or 99)
    assert nearest.text == "cats purr"
