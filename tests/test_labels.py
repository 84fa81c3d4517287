import pytest

from vectorstore.addresses import urls_in
from vectorstore.labels import label_of
from vectorstore.types import PaperRecord


@pytest.mark.parametrize(
    ("abstract", "label"),
    [
        ("Nets are slow. We propose QuickNet, a fast network.", "QuickNet"),
        ("We introduce Deep Sleep Learning (DSL), a method that rests. DSL is good.", "DSL"),
        ("Models forget. To fix it, this paper presents Mem-0, which remembers.", "Mem-0"),
        ("Actions are many. We learn a policy. Our method, FlowPick, picks actions well.", "FlowPick"),
        (
            "LLMs use CoT. We present a survey of RAG for LLMs with many findings.",
            "Survey of RAG for LLMs with many findings",
        ),
        ("We study how sleep changes what a network forgets.", "How sleep changes what a network forgets"),
        (
            "Code helps. We release tools at https://github.com/x/Torchlight. Torchlight is fast. Torchlight is free.",
            "Torchlight",
        ),
        ("Unlike GPT-4, we propose SmallGPT, a small one.", "SmallGPT"),
        (r"We propose \textbf{MathNet}, a net for math.", "MathNet"),
    ],
)
def test_a_label_is_the_name_that_authors_give_or_their_own_words(abstract: str, label: str) -> None:
    assert label_of(PaperRecord(abstract=abstract, urls=urls_in(abstract), position=1)) == label


@pytest.mark.parametrize(
    ("title", "label"),
    [
        ("QuickNet: a fast network", "QuickNet"),
        ("On the Speed of Nets", "On the Speed of Nets"),
        (": foo bar", ": foo bar"),
        ("Learning to rest: what nets do at night", "Learning to rest: what nets do at night"),
    ],
)
def test_a_title_is_the_label_or_holds_it(title: str, label: str) -> None:
    assert label_of(PaperRecord(abstract="We propose OtherNet.", title=title, position=1)) == label


@pytest.mark.parametrize("abstract", ["x", "?", "的", "We", "a " * 5000, "$$$", "(((", "We propose ."])
def test_any_text_has_a_short_label(abstract: str) -> None:
    label = label_of(PaperRecord(abstract=abstract, position=1))
    assert 0 < len(label) <= 120
