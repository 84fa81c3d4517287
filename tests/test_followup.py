import pytest

from assistant.followup import standalone_question
from assistant.types import Turn

LABELS = ["LiftQuant", "ProjQ", "CGSVD", "DMPO", "LIMSSR", "HiPhO", "HanabiLogs", "UPD", "CoMem", "Template collapse"]


def asked(*questions: str) -> list[Turn]:
    return [Turn(role="user", content=question) for question in questions]


def answered(label: str) -> Turn:
    citation = {"label": label, "paper_id": "p", "number": 1}
    return Turn(role="assistant", content="It says so. [1]", citations=(citation,))


@pytest.mark.parametrize(
    ("turns", "question", "standalone"),
    [
        (asked("What is LiftQuant?"), "Which GPU does it fit on?", "Which GPU does LiftQuant fit on?"),
        (
            asked("What is LiftQuant?", "Which GPU does it fit on?"),
            "And ProjQ?",
            "Which GPU does ProjQ fit on?",
        ),
        (
            [*asked("Who trains agents for ad-hoc teamwork?"), answered("UPD")],
            "Can it also choose the environment?",
            "Can UPD also choose the environment?",
        ),
        (asked("What is HiPhO about?"), "Where do I find its leaderboard?", "Where do I find HiPhO's leaderboard?"),
        (
            asked("How much does CGSVD improve zero-shot accuracy?"),
            "And perplexity?",
            "CGSVD: perplexity?",
        ),
        (asked("What is CoMem?"), "Where is the code?", "CoMem: Where is the code?"),
        (asked("What is CoMem?"), "What about the code?", "CoMem: the code?"),
        (
            asked("What is template collapse?"),
            "On what tasks was that method tried?",
            "On what tasks was Template collapse tried?",
        ),
        (
            asked("Where can I download the code of LIMSSR?"),
            "What about the token order prediction paper?",
            "Where can I download the code of the token order prediction paper?",
        ),
        (asked("What is LiftQuant?"), "Why?", "What is LiftQuant? Why?"),
        (asked("Which GPU does LiftQuant fit on?"), "What is this paper about?", "What is LiftQuant about?"),
        (asked("Which GPU does LiftQuant fit on?"), "And the authors?", "LiftQuant: the authors?"),
        (asked("Which GPU does LiftQuant fit on?"), "What about the model size?", "LiftQuant: the model size?"),
        (asked("Which GPU does LiftQuant fit on?"), "And ProjQ's code?", "And ProjQ's code?"),
        (asked("What is LiftQuant?"), "What does this method achieve?", "What does LiftQuant achieve?"),
        (asked("Does UPD handle UPDATE rules?"), "And ProjQ?", "Does ProjQ handle UPDATE rules?"),
        (
            asked("What is LiftQuant?", "And ProjQ?", "Does it need data?"),
            "What does the first paper say about speed?",
            "What does LiftQuant say about speed?",
        ),
        (asked("What is LiftQuant?", "And ProjQ?"), "Is the other one older?", "Is LiftQuant older?"),
        (asked("What is UPD?"), "How long does that take?", "How long does UPD take?"),
        (asked("What is UPD?"), "Something else: what is par?", "what is par?"),
        (
            [*asked("Which paper is on Hanabi?"), answered("HanabiLogs")],
            "How good are the best ones there?",
            "How good are the best ones in HanabiLogs?",
        ),
    ],
)
def test_a_follow_up_is_asked_of_the_paper_last_spoken_of(turns: list[Turn], question: str, standalone: str) -> None:
    assert standalone_question(question, turns, LABELS) == standalone


@pytest.mark.parametrize(
    "question",
    [
        "What is the capital of France?",
        "Which papers are about agents?",
        "Is there a paper on speech recognition?",
        "Is it raining?",
        "What is ProjQ?",
        "How do ProjQ and CGSVD differ?",
        "Some people taught a robot arm to fold towels with words only. How do they check that it works?",
    ],
)
def test_a_question_that_stands_by_itself_is_left_alone(question: str) -> None:
    assert standalone_question(question, asked("What is LiftQuant?"), LABELS) == question


def test_without_a_conversation_nothing_is_replaced() -> None:
    assert standalone_question("Which GPU does it fit on?", [], LABELS) == "Which GPU does it fit on?"
