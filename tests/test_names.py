import pytest

from vectorstore.names import looks_like_name, names_in


@pytest.mark.parametrize(
    "token", ["LiftQuant", "R2M", "DS-TS", "GPT-4.1", "Mem-0", "Cure-SFT", "NL2Repo-Bench", "UPD", "o4-miniX", "dLLM"]
)
def test_a_capital_or_a_digit_inside_makes_a_name(token: str) -> None:
    assert looks_like_name(token)


@pytest.mark.parametrize(
    "token", ["Large", "word", "I", "2-bit", "24", "long-horizon", "AI-written", "LLM-based", "Non-linear"]
)
def test_other_words_are_no_names(token: str) -> None:
    assert not looks_like_name(token)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Which GPU does LiftQuant's model fit on?", ["LiftQuant"]),
        ("Who wrote Pride and Prejudice?", ["Pride", "Prejudice"]),
        ("Large models. They use Llama and RL.", ["Llama"]),
        ("Is it AI-written or RL-trained?", []),
    ],
)
def test_names_of_a_text_are_found_in_order(text: str, names: list[str]) -> None:
    assert names_in(text) == names
