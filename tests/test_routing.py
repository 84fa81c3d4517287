import pytest

from assistant.routing import kind_of, read_question, without_comparing


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What is LiftQuant?", "fact"),
        ("Which method fits a 70B model on one GPU?", "fact"),
        ("Is there a paper on protein design?", "fact"),
        ("Which papers are about agents?", "list"),
        ("List the papers that use reinforcement learning", "list"),
        ("How many papers are about agents?", "count"),
        ("How many papers deal with safety?", "count"),
        ("How many percentage points does DMPO gain?", "fact"),
        ("any work on tutoring?", "list"),
        ("Is there work on chess?", "list"),
        ("Is anyone combining RL with diffusion?", "list"),
        ("who evaluates on code?", "list"),
        ("Who wrote the LiftQuant paper?", "fact"),
        ("Show me research on agents", "list"),
        ("how many use models bigger than 20B", "count"),
        ("How many groups release checkpoints?", "count"),
        ("How many agents work together in HanabiLogs?", "fact"),
        ("How many methods are compared in NL2Repo-Bench?", "fact"),
        ("Compare LiftQuant and ProjQ", "compare"),
        ("What is the difference between LiftQuant and CGSVD?", "compare"),
        ("LiftQuant versus ProjQ", "compare"),
        ("What is in here?", "overview"),
        ("Which papers are there?", "overview"),
        ("How many papers are there in total?", "overview"),
        ("What do these papers do about reward hacking?", "overview"),
        ("Give me an overview of the work on diffusion models", "overview"),
        ("Can you summarize the papers on agents?", "overview"),
        ("What is known about quantization here?", "overview"),
        ("What is known about the cost of LiftQuant's decoding?", "fact"),
        ("What do the authors of LiftQuant say about speed?", "fact"),
        ("hello!", "smalltalk"),
        ("Thank you very much", "smalltalk"),
        ("What can you do?", "smalltalk"),
        ("Hello world programs in Rust", "fact"),
        ("Which method works without retraining?", "fact"),
        ("Which framework studies tail risk?", "fact"),
        ("Show me how LiftQuant works", "fact"),
        ("Which works are on safety?", "list"),
        ("list everything about proteins", "list"),
        ("What work is there on watermarks?", "list"),
        ("Where does entropy come up?", "list"),
        ("papers with public code", "list"),
        ("Count the papers on games, please", "count"),
        ("Number of papers with theory?", "count"),
        ("which one is faster, LiftQuant or ProjQ?", "compare"),
        ("Both PSR and UPD are new. What is each good for?", "compare"),
    ],
)
def test_a_question_is_of_the_kind_that_its_words_ask_for(question: str, kind: str) -> None:
    assert kind_of(question) == kind


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("Which papers are about quantizing the weights of LLMs?", "quantizing the weights of LLMs"),
        ("Which papers deal with diffusion language models?", "diffusion language models"),
        ("List all papers on safety.", "safety"),
        ("How many papers are about agents?", "agents"),
        ("In which papers is mutual information used?", "mutual information used"),
        ("hi! please list everything on chess", "chess"),
        ("I work on video. Which papers are about memory?", "memory"),
        ("Where does entropy come up?", "entropy"),
        ("Gaussians turn up in which of the papers?", "Gaussians"),
        ("How many papers are about games (not counting chess)?", "games"),
        ("Tell me which papers deal with safety", "safety"),
        ("What are the papers on RL?", "RL"),
        ("who evaluates on code?", "evaluates on code"),
        ("Anything on interpretability, i.e. how models work inside?", "interpretability, i.e. how models work inside"),
        ("I study the geometry of features. Which papers look at that?", "I study the geometry of features"),
        ("how many use models bigger than 20B", "models bigger than 20B"),
    ],
)
def test_the_topic_of_a_list_is_the_question_without_the_asking(question: str, topic: str) -> None:
    assert read_question(question).topic == topic


def test_a_question_of_several_parts_is_read_part_by_part() -> None:
    question = "I came across ULP. What does it quantify, and which models were used?"
    assert read_question(question).parts == (
        "I came across ULP.",
        "What does it quantify",
        "which models were used?",
    )


def test_a_comparison_is_asked_of_each_without_the_names() -> None:
    assert without_comparing("Compare PSR with UPD in terms of cost", ["PSR", "UPD"]) == "cost"
    assert without_comparing("PSR vs UPD: which is trained?", ["PSR", "UPD"]) == "which is trained"
