import pytest

from vectorstore.packaged import english_words
from vectorstore.spelling import Spelling, tokens_of

TEXTS = ["We present HalfTide, a sampler for Qwen3. Calibration improves on PIQ-Bench; see the video of CoLa."]
LABELS = ["HalfTide", "PIQ-Bench", "CoLa", "TIDE"]


@pytest.fixture(scope="module")
def spelling() -> Spelling:
    return Spelling(tokens_of(TEXTS), LABELS, english_words())


@pytest.mark.parametrize(
    ("question", "corrected"),
    [
        ("What is HalfTdie?", "What is HalfTide?"),
        ("How does Half Tide work?", "How does HalfTide work?"),
        ("Is HalfTides' sampler fast?", "Is HalfTide' sampler fast?"),
        ("PIQBench's caliberation?", "PIQ-Bench's calibration?"),
        ("are there vidoes of it", "are there video of it"),
        ("Which picutre do poeple like?", "Which picture do people like?"),  # everyday words, for those that read them
        ("a multi-calibraton video-smapler", "a multi-calibration video-sampler"),
    ],
)
def test_a_misspelt_word_becomes_the_one_of_the_collection(spelling: Spelling, question: str, corrected: str) -> None:
    assert spelling.corrected(question) == corrected


@pytest.mark.parametrize(
    "question",
    [
        "Does Qwen2 sample faster?",  # another version is another model
        "What is CoLo?",  # so short a name is another name
        "Which tides are high?",
        "Is the calibrated sampler unbiased?",  # another form of a word of the collection
        "Who wrote Hamlet, and when?",
    ],
)
def test_what_is_right_or_like_nothing_there_stays_as_it_is(spelling: Spelling, question: str) -> None:
    assert spelling.corrected(question) == question
