"""What an abstract tells of what is asked, both ways, on an abstract made up for it."""

import pytest

from assistant.evidence.asked import is_stated

SENTENCES = [
    "Training large language models (LLMs) on noisy data is costly.",
    "We introduce SieveTune, a filter that drops noisy examples before fine-tuning.",
    "SieveTune needs no retraining and keeps only 30% of the examples.",
    "Experiments on three chemistry datasets with Qwen2.5-7B show that it improves accuracy by 4.2 points over "
    "loss-based baselines and makes training 3x faster.",
    "In a study with 25 participants, its filtered answers were preferred.",
    "Code is available at https://example.org/sievetune.",
]


def stated(question: str, sentences: list[str] = SENTENCES) -> bool:
    return is_stated(question, sentences, sentences[:3] if len(sentences) < 3 else sentences[2:5], ["SieveTune"])


@pytest.mark.parametrize(
    "question",
    [
        "Is the code of SieveTune public?",
        "How many people took part in the SieveTune study?",
        "How many datasets was SieveTune tested on?",
        "What share of the examples does SieveTune keep?",
        "By how many points does SieveTune improve accuracy?",
        "How much faster is training with SieveTune?",
        "What accuracy gain does SieveTune bring?",
        "Which model was fine-tuned with SieveTune?",
        "Which datasets was SieveTune tested on?",
        "What kind of data sets was SieveTune tested on?",
        "Which baselines does SieveTune beat?",
        "Is SieveTune better than loss-based filtering?",
        "Was SieveTune tested on chemistry data?",
        "Does SieveTune work with Qwen2.5-7B?",
        "What does SieveTun do with noisy examples?",
    ],
)
def test_what_is_told_is_stated(question: str) -> None:
    assert stated(question)


@pytest.mark.parametrize(
    "question",
    [
        "Who are the authors of SieveTune?",
        "At which university was SieveTune developed?",
        "When was the SieveTune paper published?",
        "Who annotated the data of SieveTune?",
        "Under which licence is SieveTune released?",
        "In what programming language is SieveTune written?",
        "On what hardware was SieveTune trained?",
        "How long does SieveTune take to run?",
        "How much memory does SieveTune save?",
        "What learning rate does SieveTune use?",
        "What batch size was used with SieveTune?",
        "Over how many seeds are the SieveTune results averaged?",
        "How many molecules are in the SieveTune data sets?",
        "How many languages does SieveTune support?",
        "What perplexity does SieveTune reach?",
        "Are the gains of SieveTune statistically significant?",
        "What are the names of the three datasets SieveTune was tested on?",
        "Is SieveTune better than random sampling?",
        "Does SieveTune outperform DataComp?",
        "In the paper on noisy examples, what learning rate was used?",
        "Does SieveTune support images?",
        "Was SieveTune evaluated on Wikipedia?",
    ],
)
def test_what_is_not_told_is_not_stated(question: str) -> None:
    assert not stated(question)


@pytest.mark.parametrize(
    "question",
    [
        "Which method drops noisy examples before fine-tuning, using 30% of them?",
        "Is there a way of fine-tuning on noisy data that needs no GPU cluster?",
        "Has anybody filtered training examples without annotators?",
        "Why does SieveTune need no GPUs?",
    ],
)
def test_a_question_for_the_paper_or_for_a_reason_is_not_searched_for_details(question: str) -> None:
    assert stated(question)


@pytest.mark.parametrize(
    ("question", "sentence", "answered"),
    [
        ("Which models was SieveTune tested on?", "SieveTune works on models of many sizes.", False),
        ("Which models was SieveTune tested on?", "SieveTune works on Llama 3 and other models.", True),
        ("How many layers does SieveTune prune?", "SieveTune prunes twelve layers.", True),
        ("How many layers does SieveTune prune?", "SieveTune prunes layers of LLaMA-3.1-8B.", False),
        ("What batch size does SieveTune need?", "SieveTune works with small batches.", False),
        ("What batch size does SieveTune need?", "SieveTune works with batches of 16.", True),
        ("What pass rate does SieveTune reach?", "SieveTune passes 40% of tests, a rate unheard of.", True),
        ("What pass rate does SieveTune reach?", "SieveTune doubles speed at 3 bits; its rate is high.", True),
        ("What pass rate does SieveTune reach?", "SieveTune raises the pass rate.", False),
        ("Is a university named in SieveTune?", "SieveTune is for students.", False),
        ("Do pre-university students use SieveTune?", "SieveTune is for students.", True),
    ],
)
def test_a_number_or_a_name_is_looked_for_beside_what_it_is_of(question: str, sentence: str, answered: bool) -> None:
    assert stated(question, [sentence]) == answered
