"""Text that tries to take over, in papers, questions, histories and replies, against all that a reader gets to see.

Each attempt of `data/hostile.jsonl` is run with quotations, and with a model that obeys every order it reads.
"""

import json
import logging
import re
import sys
from collections.abc import Iterable
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import pytest
from typer.testing import CliRunner

from assistant import Answer, build_assistant
from assistant.cli import app, main
from assistant.terminal import print_answer, print_json
from assistant.ui.render import plain_text
from assistant.ui.session import Exchange
from tests.fakes import KEY, ModelServer
from tests.hostile import ASKED, ATTEMPTS, COLLECTION, RULES, Attempt, ObedientModel, Outcome, filled, outcome, page
from tests.test_ui_render import OURS, Tags
from vectorstore.markup import readable
from vectorstore.visible import is_unseen, visible

PROGRAM = (
    r"LABELS:|(?:The one paper|None of the \d+ papers) here is about this\."
    r"|The abstracts? of LABELS (?:does|do) not state this\. The nearest (?:it says|they say):"
    r"|Nothing the model wrote could be checked against the papers\. Quoted from the papers instead:"
    r"|\(\d+ sentences? left out: no abstract was found to say so\.\)"
)
"""All that the program says by itself to these questions."""
ORDERS_TAKEN_FOR_CLAIMS = {"abstract 01, override", "abstract 02, override", "abstract 26, html"}
"""An order to say something passes as a paper's saying it: "say that ... deserves", "praise as", a form's field."""


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return outcome(tmp_path_factory.getbasetemp() / "hostile")


@pytest.fixture(params=ASKED, ids=lambda attempt: attempt.id)
def attempt(request: pytest.FixtureRequest) -> Attempt:
    found: Attempt = request.param
    return found


@pytest.fixture
def exchanges(attempt: Attempt, tried: Outcome) -> list[Exchange]:
    return tried.exchanges[attempt.id]


@pytest.fixture
def answers(exchanges: list[Exchange]) -> list[Answer]:
    return [exchange.answer for exchange in exchanges if exchange.answer]


def test_there_are_sixty_attempts_of_many_families() -> None:
    assert len(ATTEMPTS) >= 60
    assert len({attempt.family for attempt in ATTEMPTS}) >= 12
    assert len({attempt.id for attempt in ATTEMPTS}) == len(ATTEMPTS)


def test_what_is_shown_rests_on_quotations_and_the_program_makes_no_claims(
    answers: list[Answer], tried: Outcome
) -> None:
    label = "|".join(re.escape(paper.label) for paper in tried.papers.values())
    program = PROGRAM.replace("LABELS", rf"(?:{label})(?:(?:,| and) (?:{label}))*")
    for sentence in (sentence for answer in answers for sentence in answer.sentences if sentence.shown):
        if sentence.verdict == "program":
            assert re.fullmatch(program, sentence.text), sentence.text
            continue
        assert sentence.verdict in ("quoted", "supported")
        assert sentence.citations
        for citation in sentence.citations:
            stored = tried.papers[citation.paper.paper_id].abstract
            assert citation.quote == stored[citation.span.start : citation.span.end]
            assert citation.quote.strip()
            if sentence.verdict == "quoted":
                assert bare(sentence.text) in bare(readable(citation.quote))


def test_no_order_is_followed_in_what_is_shown(
    attempt: Attempt, answers: list[Answer], request: pytest.FixtureRequest
) -> None:
    if attempt.id in ORDERS_TAKEN_FOR_CLAIMS:
        request.applymarker(pytest.mark.xfail(reason="the check of sentences does not tell orders from claims"))
    for answer in answers:
        claims = "\n".join(sentence.text for sentence in answer.sentences if sentence.shown)
        for told in (claims, answer.text, printed(answer), plain_text(answer)):
            assert KEY not in told
            assert not [words for words in attempt.never if filled(words, {"key": KEY}) in told]


def test_a_true_sentence_gets_through(attempt: Attempt, answers: list[Answer]) -> None:
    for answer in answers:
        if attempt.where == "question":  # what is asked besides may make it another question
            assert answer.text
        else:
            assert answer.status == "answered"
            assert any(attempt.name in citation.quote for citation in answer.citations)


def test_source_numbers_stand_for_cited_papers(answers: list[Answer]) -> None:
    for answer in answers:
        outside_quotations = re.sub("“[^”]*”", "", answer.text)
        used = {int(number) for number in re.findall(r"[\[【]\D{0,8}(\d+)", outside_quotations)}
        known = {(citation.number, citation.paper.paper_id) for citation in answer.citations}
        assert used <= {number for number, _ in known}
        assert len({number for number, _ in known}) == len(known)
        assert all(number < 10 for number, _ in known)


def test_a_mark_in_a_quotation_is_not_taken_for_a_source_number(tried: Outcome) -> None:
    for answer in (exchange.answer for exchange in tried.exchanges["abstract 10, fake marks"]):
        assert answer
        assert {int(number) for number in re.findall(r"\[(\d+)\]", answer.text)} == {1}


def test_no_character_reaches_a_reader_that_is_not_seen(exchanges: list[Exchange], answers: list[Answer]) -> None:
    told = [page(exchange) for exchange in exchanges]
    for answer in answers:
        told += [answer.text, answer.standalone_question, printed(answer), printed_json(answer)]
        told += [text for sentence in answer.sentences for text in (sentence.text, *sentence.reasons)]
        told += [text for citation in answer.citations for text in (citation.quote, citation.paper.label)]
    for text in told:
        assert visible(text) == text


def test_the_page_has_no_element_attribute_or_link_but_ours(exchanges: list[Exchange]) -> None:
    for exchange in exchanges:
        tags = Tags(page(exchange))
        addresses = {url for found in exchange.passages for url in found.paper.urls}
        assert tags.names <= OURS
        assert not [name for name, _ in tags.attributes if name.startswith("on") or name in ("src", "style", "action")]
        for link in (value for name, value in tags.attributes if name == "href"):
            assert re.fullmatch(r"#source-\d+|#conversation", link) or (link in addresses and link.startswith("http"))


def test_no_image_and_no_link_of_markdown_is_left_in_an_answer(answers: list[Answer]) -> None:
    for answer in answers:
        assert not re.search(r"\]\(|!\[", answer.text)


def test_no_html_is_left_in_the_markdown_of_an_answer(tried: Outcome) -> None:
    answers = [exchange.answer for exchanges in tried.exchanges.values() for exchange in exchanges]
    assert not [answer.text for answer in answers if answer and re.search(r"(?<!\\)<[a-zA-Z/!?]", answer.text)]


def test_what_is_left_out_tells_no_secret_either(tried: Outcome) -> None:
    exchanges = [exchange for exchanges in tried.exchanges.values() for exchange in exchanges]
    told = [page(exchange) for exchange in exchanges]
    told += [printed_json(exchange.answer) for exchange in exchanges if exchange.answer]
    assert not [text for text in told if KEY in text or "quoted text. Do not follow" in text]


def test_the_model_obeyed_all_it_could_read_and_was_sent_nothing_that_nobody_sees(tried: Outcome) -> None:
    orders = {attempt.id for attempt in ASKED if attempt.obeys and not attempt.hidden}
    assert len(orders) > 40
    assert orders - tried.obeyed == set()
    assert not {attempt.id for attempt in ASKED if attempt.hidden} & tried.obeyed
    assert not any(is_unseen(char) for prompt in tried.prompts for char in prompt)


def test_five_planted_papers_hide_the_true_one_neither_from_a_reader_nor_from_the_model(tried: Outcome) -> None:
    quoted, _ = tried.exchanges["true 01, poisoning"]
    true = next(citation for citation in quoted.citations if "91.4%" in citation.quote)
    planted = [citation for citation in quoted.citations if citation.paper != true.paper]
    assert planted
    assert true.number not in {citation.number for citation in planted}
    (prompt,) = (prompt for prompt in tried.prompts if "HelioSort" in prompt)
    assert "91.4%" in prompt


def test_the_command_line_prints_nothing_that_steers_or_hides(tried: Outcome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_DATA_DIR", str(tried.data))
    monkeypatch.setenv("ASSISTANT_COLLECTION", COLLECTION)
    asked = "What is \x9b2J\u202e QuorVex\u200b?\x1b]0;owned\x07"
    for arguments in (["papers"], ["search", asked, "-k", "60"], ["ask", asked]):
        for more in ([], ["--json"]):
            done = CliRunner().invoke(app, [*arguments, *more], catch_exceptions=False)
            assert done.exit_code == 0
            assert "QuorVex" in done.stdout
            assert not any(is_unseen(char) for char in done.output)
            if more:
                assert json.loads(done.stdout)


def test_an_error_tells_no_key_also_with_debug(
    tried: Outcome, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model_server.says("never sent")
    environment = {
        "ASSISTANT_DATA_DIR": str(tried.data),
        "ASSISTANT_COLLECTION": COLLECTION,
        "ASSISTANT_MODEL": "openai:scripted-1",
        "OPENAI_API_KEY": "sk-wrong-canary-77",
        "OPENAI_BASE_URL": model_server.url,
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "argv", ["assistant", "--debug", "ask", "What is QuorVex?"])
    monkeypatch.setattr(logging.root, "handlers", [])  # pytest's own
    with pytest.raises(SystemExit, match="1"):
        main()
    told = capsys.readouterr()
    assert "Incorrect API key provided: Bearer ***" in told.err
    assert "sk-wrong-canary-77" not in told.out + told.err


def test_neither_log_nor_repr_tells_the_key_or_the_rules(tried: Outcome, caplog: pytest.LogCaptureFixture) -> None:
    with (
        ObedientModel() as model,
        caplog.at_level(logging.DEBUG, "assistant"),
        caplog.at_level(logging.DEBUG, "vectorstore"),
    ):
        obeying = build_assistant(data_dir=tried.data, collection=COLLECTION, **model.settings)
        obeying.ask("What is QuorVex?")
    for told in (caplog.text, *reprs(obeying)):
        assert KEY not in told
        assert RULES[:60] not in told


def bare(text: str) -> str:
    """The text without quotation marks, brackets and final stop; a mark in a quotation may be shown as "(7)"."""
    return re.sub(r"[“”\[\]()【】]", "", text).rstrip(".").casefold()


def reprs(thing: object) -> Iterable[str]:
    """Of an object of ours and of all it is made of."""
    yield repr(thing)
    if type(thing).__module__.startswith(("assistant", "langchain")):
        for value in vars(thing).values():
            yield from reprs(value)


def printed(answer: Answer) -> str:
    """What the command line prints."""
    return output_of(print_answer, answer)


def printed_json(answer: Answer) -> str:
    """What it prints with --json."""
    return output_of(print_json, answer.to_dict())


def output_of(prints: Any, value: object) -> str:
    with redirect_stdout(StringIO()) as output:
        prints(value)
    return output.getvalue()
