from dataclasses import replace

import pytest

from assistant import Assistant
from assistant.conversation import SourceNumbers
from assistant.verification import Verifier
from assistant.verification.terms import numbers_in
from assistant.verification.units import another_unit
from vectorstore.markup import readable
from vectorstore.relevance import CrossEncoder
from vectorstore.types import Paper


@pytest.fixture(scope="module")
def verifier() -> Verifier:
    return Verifier(CrossEncoder())


@pytest.fixture(scope="module")
def papers(assistant: Assistant) -> dict[str, Paper]:
    return {paper.label: paper for paper in assistant.papers()}


@pytest.mark.parametrize(
    ("label", "sentence", "quote"),
    [
        ("LiftQuant", "LiftQuant compresses a 70B LLM to 2.4 bits so that it fits a 24GB GPU.", "24GB GPU"),
        ("DMPO", "DMPO improves accuracy by up to 39.63 percentage points over prior RL baselines.", "39.63"),
        ("FlowGuard", "FlowGuard cuts attack success rates from over 90% to under 15% on unseen attacks.", r"$<15\%$"),
        ("HanabiLogs", "The HanabiLogs dataset has 1520 annotated trajectories.", "1,520"),
        ("TOP", "TOP needs only one additional unembedding layer.", "single additional unembedding"),
    ],
)
def test_a_paraphrase_is_supported_by_the_sentence_that_says_it(
    verifier: Verifier, papers: dict[str, Paper], label: str, sentence: str, quote: str
) -> None:
    checked = verifier.check(sentence, [papers[label]], list(papers.values()), SourceNumbers([]))
    assert checked.verdict == "supported"
    assert checked.shown
    assert quote in checked.citations[0].quote


@pytest.mark.parametrize(
    ("label", "sentence", "reason"),
    [
        ("LiftQuant", "LiftQuant compresses a 70B LLM to 1.9 bits.", "1.9"),
        ("LiftQuant", "LiftQuant compresses a 405B LLM to 2.4 bits.", "405"),
        ("DMPO", "DMPO improves accuracy by up to 93.63 percentage points over prior RL baselines.", "93.63"),
        ("LiftQuant", "LiftQuant surpasses GPTQ on a 24GB GPU.", "GPTQ"),
        ("ProjQ", "LiftQuant constrains quantization noise to the low-rank manifold.", "LiftQuant"),
        ("LiftQuant", "LiftQuant does not fit a 70B LLM on a 24GB GPU.", "denies"),
        ("LiftQuant", "The capital of France is Paris.", "words"),
        (
            "FlowGuard",
            "FlowGuard reduces Attack Success Rates from <90% to <15% on unseen attacks, with 12% loss.",
            "12",
        ),
        ("LiftQuant", "Large language models are trained with reinforcement learning from human feedback.", "words"),
    ],
)
def test_what_the_abstract_does_not_say_is_left_out_with_a_reason(
    verifier: Verifier, papers: dict[str, Paper], label: str, sentence: str, reason: str
) -> None:
    checked = verifier.check(sentence, [papers[label]], [papers[label]], SourceNumbers([]))
    assert checked.verdict == "unsupported"
    assert not checked.shown
    assert checked.citations == ()
    assert reason in " ".join(checked.reasons)


ABSTRACT = (
    "Fast solvers matter in practice. However, existing solvers store the whole grid and lose precision. "
    "We propose Fobar, a sparse solver that keeps precision without storing the grid. "
    "Fobar cuts memory by 41% and raises accuracy by 7.5 points over the plain solver on three weather datasets. "
    "Fobar needs a single matrix per step compared to the many tables of Quxal. "
    "Most small grids converge in early steps, whereas large grids need restarts. "
    "Fobar outperforms Quxal on noisy inputs. "
    "Training a Fobar of 7B weights (7 billion) takes 5-10 days and 30 GB on 12 tasks of 2,400 samples. "
    "Our grid refiner (OGR) converges without restarts and never drops samples. "
    "Our solver is faster than previous solvers."
)


@pytest.fixture(scope="module")
def fobar(papers: dict[str, Paper]) -> Paper:
    return replace(papers["LiftQuant"], label="Fobar", abstract=ABSTRACT)


@pytest.mark.parametrize(
    "sentence",
    [
        "Fobar reduces memory by 41%.",
        "On three weather datasets, Fobar improves accuracy by 7.5 points over the plain solver.",
        "Fobar needs only one matrix per step.",
        "Existing solvers lose precision.",
        "Fobar preserves precision and does not store the grid.",
        "Most small grids converge in early steps.",
        "Large grids need restarts, whereas most small grids converge in early steps.",
        "On noisy inputs, Fobar beats Quxal.",
        "According to the paper, Fobar cuts memory by 41 percent.",
        "Fobar cuts memory by 41 percentage points.",
        "Training a Fobar of 7 billion weights takes 5 to 10 days on 12 tasks of 2400 samples.",
        "Their grid refiner converges without restarts.",
        "Without restarts, the OGR converges and never drops samples.",
        "The authors' solver is faster than earlier solvers.",
    ],
)
def test_what_is_said_in_other_words_is_supported(verifier: Verifier, fobar: Paper, sentence: str) -> None:
    checked = verifier.check(sentence, [fobar], [fobar], SourceNumbers([]))
    assert checked.verdict in ("supported", "quoted"), checked.reasons


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("Fobar is trained on a large corpus of satellite images to predict memory.", "too few of its words"),
        ("Fobar raises accuracy by 41%.", "gives 41 for something else"),
        ("Fobar cuts memory by 7.5 points.", "gives 7.5 for something else"),
        ("Most small grids converge in 41 early steps.", "41 stands in another sentence"),
        ("Quxal needs a single matrix per step.", "something else"),
        ("Fobar needs many tables.", "what its work is compared to"),
        ("Quxal outperforms Fobar on noisy inputs.", "turns a comparison round"),
        ("Fobar increases memory by 41%.", "opposite of “increases”"),
        ("Most small grids converge in late steps.", "opposite of “late”"),
        ("Fobar stores the grid and keeps precision.", "denies"),
        ("Fobar loses precision and stores the whole grid.", "existing work"),
        ("All small grids converge in early steps.", "does not say “all”"),
        ("Small grids need restarts.", "says it of something else"),
        ("Does Fobar outperform Quxal on noisy inputs?", "a question says nothing"),
        ("Fobar cuts memory by 41x.", "another unit than 41 x"),
        ("Training a Fobar of 7M weights takes 5-10 days and 30 GB on 12 tasks.", "another unit than 7 M"),
        ("Training a Fobar takes 5-10 days and 30 MB on 12 tasks of 2,400 samples.", "another unit than 30 MB"),
        ("Training a Fobar takes 5-10 days and 30 GB on 12 languages of 2,400 samples.", "tasks in place of languages"),
        ("Our grid refiner (OGR) converges with restarts and never drops samples.", "denies"),
        ("Our grid refiner (OGR) converges without restarts and drops samples.", "denies"),
        ("It is not the case that Fobar outperforms Quxal on noisy inputs.", "denies"),
        ("Fobar rarely outperforms Quxal on noisy inputs.", "denies"),
        ("Previous solvers are faster than our solver.", "turns a comparison round"),
        ("Existing methods propose a sparse solver that keeps precision without storing the grid.", "its own work"),
        (
            "Fobar cuts memory by 41% and raises accuracy by 7.5 points over the plain solver on three weather "
            "datasets, and it runs on mobile phones.",
            "does not say “and it runs on mobile phones.”",
        ),
        (
            "Fobar cuts memory by 7.5% and raises accuracy by 41 points over the plain solver on three weather "
            "datasets.",
            "41 in place of 7.5",
        ),
    ],
)
def test_what_makes_more_of_the_abstracts_words_is_left_out(
    verifier: Verifier, fobar: Paper, sentence: str, reason: str
) -> None:
    checked = verifier.check(sentence, [fobar], [fobar], SourceNumbers([]))
    assert not checked.shown
    assert reason in " ".join(checked.reasons)


SIGNS = (
    "Large grid solvers (LGSs) are slow. We propose Fobar, a restart-free sparse solver for noisy grids. "
    "On weather data, Fobar reduces the Grid Error Rate (GER) from >90% to <15%, with up to a 6× memory reduction. "
    "The results of nine tests show that Fobar outperforms Quxal, Voxar and Zembl even on noisy grids. "
    "GER depends on the number of restarts that are allowed. "
    "Fobar is small, and its accuracy surpasses well-known solvers of the same size. "
    "Most weather grids diverge early, and the step width is strongly correlated with their divergence. "
    "Restarts prevent divergent row orders. "
    "We mitigate the divergence by shuffling rows, which saves up to 31 steps and keeps most of the precision."
)


@pytest.fixture(scope="module")
def signs(papers: dict[str, Paper]) -> Paper:
    return replace(papers["LiftQuant"], label="Fobar", abstract=SIGNS)


@pytest.mark.parametrize(
    "sentence",
    [
        "The grid error rate is reduced from more than 90% to under 15%.",
        "Fobar achieves up to a 6x reduction in memory.",
        "Fobar is a sparse, restart-free solver for noisy grids.",
        "Fobar outperforms Quxal, Voxar and Zembl in nine tests.",
        "The grid error rate depends on the number of restarts that are allowed.",
        "Shuffling rows saves at most 31 steps and preserves most of the precision.",
        "The step width correlates strongly with the divergence of grids.",
        "Divergent row orders are prevented by restarts.",
    ],
)
def test_signs_lists_and_abbreviations_may_be_written_otherwise(
    verifier: Verifier, signs: Paper, sentence: str
) -> None:
    checked = verifier.check(sentence, [signs], [signs], SourceNumbers([]))
    assert checked.verdict == "supported", checked.reasons


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("The grid error rate is reduced from less than 90% to under 15%.", "bounds 90 from the other side"),
        ("The grid error rate is reduced from more than 90% to over 15%.", "bounds 15 from the other side"),
        ("Well-known solvers surpass Fobar of the same size.", "turns a comparison round"),
        ("Weather grids diverge early.", "no more than “Most weather”"),
        ("Shuffling rows saves 31 steps.", "no more than “up to 31”"),
        ("Shuffling rows keeps the precision.", "no more than “most of the precision”"),
        ("The step width determines the divergence of the grids.", "that they go together"),
        ("Shuffling rows causes the divergence.", "opposite of “causes”"),
        ("Divergent row orders prevent restarts.", "what acts on what"),
        ("The number of restarts depends on GER.", "what acts on what"),
        ("Fobar is far from small.", "denies"),
    ],
)
def test_bounds_comparisons_and_limits_that_change_are_left_out(
    verifier: Verifier, signs: Paper, sentence: str, reason: str
) -> None:
    checked = verifier.check(sentence, [signs], [signs], SourceNumbers([]))
    assert not checked.shown
    assert reason in " ".join(checked.reasons)


def test_words_of_the_abstract_are_quoted(verifier: Verifier, papers: dict[str, Paper]) -> None:
    sentence = "the ℓ₂ norm of hidden states serves as an endogenous signal of the model's reasoning intensity"
    paper = papers["Reasoning dynamics: ℓ₂ norm of hidden states"]
    checked = verifier.check(sentence, [paper], [paper], SourceNumbers([]))
    assert checked.verdict == "quoted"
    assert r"$\ell_2$ norm of hidden states" in checked.citations[0].quote


def test_a_part_that_its_sentence_denies_is_no_quotation(verifier: Verifier, papers: dict[str, Paper]) -> None:
    denying = replace(papers["LiftQuant"], abstract="We do not claim that the model generalises to new domains.")
    checked = verifier.check("The model generalises to new domains.", [denying], [denying], SourceNumbers([]))
    assert checked.verdict == "unsupported"


def test_a_sign_turned_round_is_no_quotation(verifier: Verifier, papers: dict[str, Paper]) -> None:
    paper = replace(papers["LiftQuant"], abstract="It achieves $>90\\%$ accuracy on all tasks.")
    right = verifier.check("It achieves >90% accuracy on all tasks.", [paper], [paper], SourceNumbers([]))
    turned = verifier.check("It achieves <90% accuracy on all tasks.", [paper], [paper], SourceNumbers([]))
    assert right.verdict == "quoted"
    assert turned.verdict != "quoted"


def test_markup_that_a_model_repeats_is_read_as_the_abstracts(verifier: Verifier, papers: dict[str, Paper]) -> None:
    paper = replace(papers["LiftQuant"], abstract="We prove a bound of $\\Omega(1/k^2)$ for $\\ell_1$ norms.")
    as_written = verifier.check(paper.abstract, [paper], [paper], SourceNumbers([]))
    inside = verifier.check("The paper proves a bound of $\\Omega(1/k^2)$.", [paper], [paper], SourceNumbers([]))
    assert as_written.verdict == "quoted"
    assert inside.verdict == "supported"


@pytest.mark.parametrize(
    ("sentence", "text", "fault"),
    [
        ("39.63%", "39.63 percentage points", None),
        ("20 percent", "$20\\%$", None),
        ("5% to 10%", "5-10%", None),
        ("a 7B model", "a model of 7 billion weights", None),
        ("65 years", "aged 65", None),
        ("3x faster", "3 times faster", None),
        ("a gain of 2.5%", "a gain of 2.5 points", None),
        ("10% of 5", "10 of 5%", "10 %"),
        ("24 MB", "24 GB", "24 MB"),
        ("8%", "an 8-bit model", "8 %"),
        ("13 months", "13 years", "13 month"),
    ],
)
def test_numbers_keep_their_units(sentence: str, text: str, fault: str | None) -> None:
    assert another_unit(sentence, readable(text)) == fault


def test_a_wrong_source_is_replaced_by_the_one_that_says_it(verifier: Verifier, papers: dict[str, Paper]) -> None:
    sentence = "CoMem gives a 1.4x latency improvement on SWE-Bench-Verified."
    sources = [papers["LiftQuant"], papers["CoMem"]]
    checked = verifier.check(sentence, sources[:1], sources, SourceNumbers([]))
    assert [citation.paper.label for citation in checked.citations] == ["CoMem"]
    assert "cited another paper" in checked.reasons[0]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1,520 items", {"1520"}),
        ("39.63% and $39.63$", {"39.63"}),
        ("a 24GB GPU", {"24"}),
        ("six or 6", {"6"}),
        ("2.40 bits", {"2.4"}),
        ("o4-mini and GPT4", set()),
        (".5%", {"0.5"}),
        ("half a million", {"half", "million"}),
        ("100", {"100"}),
    ],
)
def test_numbers_are_compared_in_one_form(text: str, numbers: set[str]) -> None:
    assert numbers_in(text) == numbers
