"""The chain without a model, over the real built-in collection."""

import json
import threading

import pytest

from assistant import Answer, Assistant
from assistant.blocks import blocks_of, markdown_of
from assistant.types import AnswerFinished, PassagesFound, Sentence, SentenceChecked


def citations_are_exact(answer: Answer) -> bool:
    """Every citation is a span of its paper, to the letter, also in the plain form."""
    by_paper = {citation.paper.paper_id: citation.paper.abstract for s in answer.sentences for citation in s.citations}
    plain = answer.to_dict()["citations"]
    assert len({citation["id"] for citation in plain}) == len(plain)
    return all(by_paper[c["paper_id"]][c["start"] : c["end"]] == c["quote"] != "" for c in plain)


@pytest.mark.parametrize(
    ("question", "label", "words"),
    [
        ("Which GPU does LiftQuant fit on?", "LiftQuant", "24GB GPU"),
        ("How much does CGSVD reduce perplexity?", "CGSVD", "15.46"),
        ("Which method makes a benchmark of physics olympiads?", "HiPhO", "13 latest Olympiads"),
        ("How many percentage points does DMPO gain over the base model?", "DMPO", "67.97"),
        ("Where is the code of ProjQ?", "ProjQ", "https://github.com/yy9301/ProjQ"),
        ("What is template collapse?", "Template collapse", "input-agnostic boilerplate"),
    ],
)
def test_a_fact_is_answered_with_the_sentences_that_say_it(
    assistant: Assistant, question: str, label: str, words: str
) -> None:
    answer = assistant.ask(question)
    assert answer.status == "answered"
    assert answer.citations[0].paper.label == label
    assert words in answer.text
    assert citations_are_exact(answer)
    quoted = [sentence for sentence in answer.sentences if sentence.verdict == "quoted"]
    assert 1 <= len(quoted) <= 3
    assert sum(len(citation.quote.split()) for citation in answer.citations) < len(
        answer.citations[0].paper.abstract.split()
    )


@pytest.mark.parametrize(
    "question",
    [
        "What is the capital of France?",
        "Which paper proposes AlphaFold 3?",
        "How do I bake bread without yeast?",
        "Who won the football match yesterday?",
        "Is there a paper on speech recognition for dialects?",
        "Write a poem about the sea.",
    ],
)
def test_what_no_paper_is_about_is_not_covered(assistant: Assistant, question: str) -> None:
    answer = assistant.ask(question)
    assert answer.status == "not_covered"
    assert answer.citations == ()
    assert answer.text == "None of the 34 papers here is about this."


@pytest.mark.parametrize(
    "question",
    [
        "Who are the authors of LiftQuant?",
        "What learning rate was used to train R2M?",
        "How many GPUs did DMPO need?",
        "Does LiftQuant outperform GPTQ?",
        "Under which licence is Diffinity released?",
    ],
)
def test_what_a_paper_does_not_say_is_not_stated_and_the_nearest_is_quoted(assistant: Assistant, question: str) -> None:
    answer = assistant.ask(question)
    assert answer.status == "not_stated"
    assert "does not state this" in answer.text
    assert len({citation.paper.label for citation in answer.citations}) == 1
    assert citations_are_exact(answer)


def test_more_is_quoted_when_it_is_not_clear_which_sentences_answer(assistant: Assistant) -> None:
    def words(question: str) -> int:
        return sum(len(citation.quote.split()) for citation in assistant.ask(question).citations)

    assert (
        words("Which GPU does LiftQuant fit a 70B model on?") <= 58 < words("What does DMPO do and how is it tested?")
    )


def test_a_list_has_one_quotation_per_paper(assistant: Assistant) -> None:
    answer = assistant.ask("Which papers deal with diffusion language models?")
    assert {citation.paper.label for citation in answer.citations} == {"DMPO", "Diffinity"}
    assert [citation.number for citation in answer.citations] == [1, 2]
    assert answer.text.startswith("2 papers on “diffusion language models”:\n\n- ")


def test_a_count_says_how_many_and_shows_which(assistant: Assistant) -> None:
    answer = assistant.ask("How many papers deal with diffusion language models?")
    assert answer.kind == "count"
    assert answer.text.startswith("2 papers")
    assert len(answer.citations) == 2


def test_a_comparison_quotes_each_paper_that_is_named(assistant: Assistant) -> None:
    answer = assistant.ask("Compare LiftQuant and ProjQ")
    assert answer.kind == "compare"
    assert {citation.paper.label for citation in answer.citations} == {"LiftQuant", "ProjQ"}


NOT_STATED = "not stated in the abstract"


def table(answer: Answer) -> list[list[str]]:
    """The cells of the one table that an answer is."""
    (block,) = blocks_of(answer.sentences)
    assert block.shape == "table"
    assert len({len(row) for row in block.rows}) == 1
    for row in block.rows[1:]:
        for sentences in row[1:]:
            assert {s.verdict for s in sentences} == {"quoted"} or [s.text for s in sentences] == [NOT_STATED]
    return [[" ".join(sentence.text for sentence in cell) for cell in row] for row in block.rows]


def test_a_comparison_of_nothing_in_particular_is_a_table_of_problem_approach_and_result(assistant: Assistant) -> None:
    rows = table(assistant.ask("What is the difference between ProjQ and LiftQuant?"))
    assert rows[0] == ["Compared by", "ProjQ", "LiftQuant"]  # in the order of the question
    assert [row[0] for row in rows[1:]] == ["Problem", "Approach", "Result"]
    assert "we propose ProjQ" in rows[2][1]
    assert "we introduce LiftQuant" in rows[2][2]
    assert "3 bits" in rows[3][1]
    assert "24GB GPU" in rows[3][2]


def test_a_comparison_by_listed_things_has_a_row_for_each_and_says_what_is_not_stated(assistant: Assistant) -> None:
    rows = table(assistant.ask("LiftQuant versus CGSVD in terms of accuracy, speed and carbon footprint"))
    assert [row[0] for row in rows[1:]] == ["accuracy", "speed", "carbon footprint"]
    assert "zero-shot accuracy boost" in rows[1][2]
    assert rows[3][1:] == [NOT_STATED] * 2


def test_a_comparison_as_markdown_is_a_table_and_bars_do_not_break_it(assistant: Assistant) -> None:
    answer = assistant.ask("Compare LiftQuant and ProjQ")
    heading, line, *rows = answer.text.splitlines()
    assert heading == "| Compared by | LiftQuant | ProjQ |"
    assert line == "| --- | --- | --- |"
    assert len(rows) == 3
    cells = [Sentence(text="P(a|b)", verdict="program", opens=opens) for opens in ("row", "cell", "row", "cell")]
    assert markdown_of(cells, lambda cell: cell.text).splitlines()[2] == r"| P(a\|b) | P(a\|b) |"


@pytest.mark.parametrize(
    ("question", "labels"),
    [
        ("Which one scores more contests, HiPhO or the Hanabi paper?", {"HiPhO", "HanabiLogs"}),
        ("CoMem and EAKV both save memory. How?", {"CoMem", "EAKV"}),
        ("How does Unsupervised Partner Design differ from LSFlow?", {"UPD", "LSFlow"}),
    ],
)
def test_a_comparison_is_seen_however_the_papers_are_named(
    assistant: Assistant, question: str, labels: set[str]
) -> None:
    answer = assistant.ask(question)
    assert {citation.paper.label for citation in answer.citations} == labels
    assert sum(len(citation.quote.split()) for citation in answer.citations) <= 140


def test_a_comparison_in_what_neither_abstract_says_is_not_stated(assistant: Assistant) -> None:
    answer = assistant.ask("Compare PAR and DMPO: what learning rate was used?")
    assert answer.status == "not_stated"
    assert "The abstracts of" in answer.text
    assert {citation.paper.label for citation in answer.citations} == {"PAR", "DMPO"}


@pytest.mark.parametrize(
    ("question", "labels"),
    [
        ("Which papers are about quantization?", {"LiftQuant", "ProjQ"}),
        ("How many papers introduce a benchmark?", {"SandboxEscapeBench", "NL2Repo-Bench", "HiPhO"}),
        ("Which papers are on protein structures?", {"PAR"}),
        ("Where do Gaussian mixtures come up?", {"Mixture: approximating a target measure"}),
    ],
)
def test_a_list_is_complete_and_says_how_long_it_is(assistant: Assistant, question: str, labels: set[str]) -> None:
    answer = assistant.ask(question)
    assert {citation.paper.label for citation in answer.citations} == labels
    assert answer.text.startswith(f"{len(labels)} paper")


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("How many games are in HanabiRewrads?", "HanabiLogs"),
        ("does LSflwo use a sovler?", "LSFlow"),
        ("Cuántos modelos evalúa HiPhO?", "HiPhO"),
        ("Wie funktioniert EAKV?", "EAKV"),
        ("CGSVD 的困惑度降低了多少?", "CGSVD"),
    ],
)
def test_a_named_paper_is_quoted_in_spite_of_slips_and_in_other_languages(
    assistant: Assistant, question: str, label: str
) -> None:
    answer = assistant.ask(question)
    assert answer.status == "answered"
    assert {citation.paper.label for citation in answer.citations} == {label}


def test_an_open_question_goes_on_about_the_paper_last_spoken_of_unless_it_is_on_something_else(
    assistant: Assistant,
) -> None:
    history = [{"role": "user", "content": "What is PAR?"}]
    assert assistant.ask("and the fine-tuning?", history).citations[0].paper.label == "PAR"
    assert assistant.ask("Who painted the Mona Lisa?", history).status == "not_covered"
    assert assistant.ask("How are LLM agents tested in containers?", history).citations[0].paper.label != "PAR"


@pytest.mark.parametrize(
    ("question", "pointing"),
    [
        ("What does LiftQuant use for its codebook?", "This projection generates"),
        ("How much memory does a 70B model need with LiftQuant?", "This flexibility is transformative"),
        ("How rigorous is NL2Repo-Bench as a testbed?", "These results position"),
    ],
)
def test_what_points_back_is_quoted_with_the_sentence_before_it(
    assistant: Assistant, question: str, pointing: str
) -> None:
    spans = {citation.quote: citation.span for citation in assistant.ask(question).citations}
    quoted = next(span for quote, span in spans.items() if quote.startswith(pointing))
    assert any(0 <= quoted.start - span.end <= 1 for span in spans.values())


def test_an_overview_of_a_topic_tells_what_each_paper_on_it_does(assistant: Assistant) -> None:
    answer = assistant.ask("What do these papers do about reward hacking?")
    assert answer.kind == "overview"
    assert {c.paper.label: c.quote.split("we ")[-1].split()[0] for c in answer.citations} == {
        "TAMPO": "propose",
        "R2M": "introduce",
    }
    assert assistant.ask("Summarize the papers on medieval poetry").status == "not_covered"


def test_small_talk_and_overviews_claim_nothing_about_content(assistant: Assistant) -> None:
    for question in ("hello", "What is in here?"):
        answer = assistant.ask(question)
        assert answer.status == "answered"
        assert {sentence.verdict for sentence in answer.sentences} == {"program"}
    assert "34 papers of ICML 2026: LiftQuant, SandboxEscapeBench" in assistant.ask("What is in here?").text


def test_follow_ups_keep_the_paper_and_its_number(assistant: Assistant) -> None:
    history: list[dict[str, object]] = []
    seen: dict[str, int] = {}
    for question, label, status in [
        ("What is LiftQuant?", "LiftQuant", "answered"),
        ("Which GPU does it fit on?", "LiftQuant", "answered"),
        ("And ProjQ?", "ProjQ", "not_stated"),
        ("How much does CGSVD improve zero-shot accuracy?", "CGSVD", "answered"),
        ("And perplexity?", "CGSVD", "answered"),
        ("Where is the code of LiftQuant?", "LiftQuant", "answered"),
    ]:
        answer = assistant.ask(question, history)
        assert (answer.citations[0].paper.label, answer.status) == (label, status), question
        assert seen.setdefault(label, answer.citations[0].number) == answer.citations[0].number
        history += [
            {"role": "user", "content": question},
            {"role": "assistant", "content": answer.text, "citations": answer.to_dict()["citations"]},
        ]
    assert seen == {"LiftQuant": 1, "ProjQ": 2, "CGSVD": 3}


def test_a_stream_gives_passages_then_sentences_then_the_answer(assistant: Assistant) -> None:
    events = list(assistant.stream("What is LiftQuant?"))
    assert isinstance(events[0], PassagesFound)
    assert all(isinstance(event, SentenceChecked) for event in events[1:-1])
    assert isinstance(events[-1], AnswerFinished)
    assert [event.sentence for event in events[1:-1] if isinstance(event, SentenceChecked)] == list(
        events[-1].answer.sentences
    )


def test_the_plain_form_is_json_and_says_why_passages_were_found(assistant: Assistant) -> None:
    plain = json.loads(json.dumps(assistant.ask("What is LiftQuant?").to_dict()))
    assert set(plain) == {
        "question",
        "standalone_question",
        "kind",
        "status",
        "answer",
        "sentences",
        "citations",
        "passages",
        "writer",
        "timings_ms",
        "usage",
        "fingerprint",
    }
    assert plain["writer"] == "quotation"
    assert plain["usage"] is None
    first, second = plain["passages"][:2]
    assert (first["number"], first["dense_rank"], first["keyword_rank"]) == (1, 1, 1)
    assert second["number"] is None
    ids = {citation["id"] for citation in plain["citations"]}
    assert all(set(sentence["citations"]) <= ids for sentence in plain["sentences"])


def test_the_same_question_gives_the_same_answer(assistant: Assistant) -> None:
    first, second = (assistant.ask("How fast is DS-TS?").to_dict() for _ in range(2))
    assert {**first, "timings_ms": 0} == {**second, "timings_ms": 0}


def test_questions_asked_at_once_do_not_mix(assistant: Assistant) -> None:
    found: dict[str, str] = {}

    def ask(label: str) -> None:
        found[label] = assistant.ask(f"What is {label}?").citations[0].paper.label

    labels = ["LiftQuant", "ProjQ", "CGSVD", "HiPhO", "CoMem", "EAKV"]
    threads = [threading.Thread(target=ask, args=(label,)) for label in labels]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {label: label for label in labels}
