import pytest

from assistant.languages import in_english, is_english


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
