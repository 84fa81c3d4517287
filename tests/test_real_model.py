"""The chain with a real model behind a real server: the model invents freely, and the line between fails as lines do.

What exactly the model says is never expected; the same prompt gets the same reply.
"""

import re
import threading
import time
from collections.abc import Callable, Iterator
from email.utils import formatdate
from functools import cache
from pathlib import Path

import pytest

from assistant import Answer, Assistant, build_assistant
from assistant.budget import count_tokens
from assistant.types import AnswerFinished, Sentence, SentenceChecked
from tests.fakes import Exchange, Fault, FaultyProxy
from tests.real_model import RealModelServer
from tests.test_answers import citations_are_exact

QUESTION = "How does DMPO work?"
QUESTIONS = [
    "What is HiPhO?",
    "Which GPU does LiftQuant fit on?",
    "How much does CGSVD reduce perplexity?",
    "What is the difference between LiftQuant and ProjQ?",
    "How many percentage points does DMPO gain over the base model?",
    QUESTION,
]
ANSWER_TOKENS = 80
CUT = "broke off."
GOES_ON = {"ignore_eos": True}
UNCACHED = {"cache_prompt": False}
"""What a server keeps of earlier prompts changes its arithmetic a little, and so, at times, a word."""
SOME_EVENTS = 40

Connect = Callable[..., Assistant]


@pytest.fixture(autouse=True)
def same_prompts(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line around all sources, so that the model says the same again and its server reads a prompt but once."""
    monkeypatch.setattr("assistant.writing._boundary", lambda: "==== 3c9a70be51d2 ====")


@pytest.fixture(scope="module")
def line(real_model_server: RealModelServer) -> Iterator[FaultyProxy]:
    with FaultyProxy(real_model_server.url) as proxy:
        yield proxy


@pytest.fixture
def proxy(line: FaultyProxy) -> FaultyProxy:
    line.forget()
    return line


@pytest.fixture(scope="module")
def connect(built_in_data: Path, line: FaultyProxy) -> Connect:
    """An assistant whose model is behind the proxy; the same one for the same settings."""
    settings = {"data_dir": built_in_data, "model": "openai:smollm2", "openai_api_key": "sk-none"}
    defaults = {"openai_base_url": line.url, "context_tokens": 2048, "answer_tokens": ANSWER_TOKENS}
    return cache(lambda **others: build_assistant(**{**settings, **defaults, **others}))


@pytest.fixture
def prompt_is_read(proxy: FaultyProxy, connect: Connect) -> None:
    """The server has the prompt of `QUESTION` in its memory and answers it at once."""
    proxy.faults = [Fault(changes={"max_completion_tokens": 1})]
    connect().ask(QUESTION)
    proxy.forget()


def written(answer: Answer) -> list[Sentence]:
    """What the model wrote, shown or not; quotations in its place come from the program."""
    whole = [sentence for sentence in answer.sentences if sentence.verdict != "program"]
    return [sentence for sentence in whole if not sentence.text.startswith("“")]


def plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def unknown_in(source: str, text: str) -> set[str]:
    """Numbers, and words with a capital inside a sentence, that `source` has nowhere."""
    numbers = set(re.findall(r"\d+", text)) - set(re.findall(r"\d+", source))
    names = re.findall(r"(?<=[a-z,] )[A-Z]\w+", text)
    return numbers | {name for name in names if name.casefold() not in source.casefold()}


def cited_in(sentence: Sentence) -> str:
    papers = [citation.paper for citation in sentence.citations]
    return " ".join(f"{paper.label} {paper.title} {paper.abstract}" for paper in papers)


def test_sentences_come_while_the_model_writes_and_add_up_to_its_reply(proxy: FaultyProxy, connect: Connect) -> None:
    gate = threading.Event()
    proxy.faults = [Fault(changes=GOES_ON, gate=gate)]
    events = connect().stream(QUESTION)
    next(event for event in events if isinstance(event, SentenceChecked))
    (exchange,) = proxy.exchanges
    assert not exchange.end_sent.is_set()
    gate.set()
    (answer,) = (event.answer for event in events if isinstance(event, AnswerFinished))
    assert written(answer)
    assert all(plain(sentence.text) in plain(exchange.text) for sentence in written(answer))
    assert answer.usage is not None
    assert answer.usage.input_tokens == exchange.usage["prompt_tokens"] > 300
    assert answer.usage.output_tokens == exchange.usage["completion_tokens"] == ANSWER_TOKENS


def test_of_what_the_model_invents_nothing_is_shown_as_supported(proxy: FaultyProxy, connect: Connect) -> None:
    assistant = connect()
    shown: list[Sentence] = []
    invented: set[str] = set()
    calm = [(QUESTIONS[0], UNCACHED), *((question, {}) for question in QUESTIONS[1:])]
    wild = [(QUESTION, {"temperature": 1.5, "seed": seed}) for seed in range(3)]
    for question, changes in calm + wild:
        proxy.faults = [Fault(changes=changes)]
        answer = assistant.ask(question)
        assert citations_are_exact(answer)
        shown += [sentence for sentence in written(answer) if sentence.shown]
        invented |= unknown_in(str(proxy.exchanges[-1].body["messages"]), proxy.exchanges[-1].text)
    assert invented, "a model that invents nothing proves nothing"
    assert shown, "a model of which nothing is shown proves nothing"
    for sentence in shown:
        assert sentence.verdict in ("supported", "quoted")
        assert sentence.citations
        assert not unknown_in(cited_in(sentence), sentence.text), sentence.text


def test_a_model_that_talks_of_something_else_is_not_heard(proxy: FaultyProxy, connect: Connect) -> None:
    proxy.faults = [Fault(changes={"messages": [{"role": "user", "content": "What is the capital of France?"}]})]
    answer = connect().ask(QUESTION)
    assert len(proxy.exchanges[0].text.split()) > 5
    assert written(answer)
    assert not any(sentence.shown for sentence in written(answer))
    assert "Nothing the model wrote could be checked" in answer.text
    assert citations_are_exact(answer)


@pytest.mark.parametrize(
    ("question", "status"),
    [("What is the capital of France?", "not_covered"), ("What learning rate does LiftQuant use?", "not_stated")],
)
def test_what_no_abstract_says_is_not_asked_of_the_model(
    proxy: FaultyProxy, connect: Connect, question: str, status: str
) -> None:
    assert connect().ask(question).status == status
    assert proxy.exchanges == []


def test_who_leaves_frees_the_server_for_the_next(
    proxy: FaultyProxy, connect: Connect, real_model_server: RealModelServer
) -> None:
    proxy.faults = [Fault(changes=GOES_ON), Fault(changes={"max_completion_tokens": ANSWER_TOKENS})]
    assistant = connect(answer_tokens=900)
    events = assistant.stream(QUESTION)
    next(event for event in events if isinstance(event, SentenceChecked))
    assert real_model_server.is_busy()
    events.close()  # type: ignore[attr-defined]
    assert proxy.exchanges[0].client_left.wait(10)
    assert became_free(real_model_server)
    start = time.monotonic()
    assert assistant.ask(QUESTION).sentences
    assert time.monotonic() - start < 30


def became_free(server: RealModelServer, seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while server.is_busy() and time.monotonic() < deadline:
        time.sleep(0.1)
    return not server.is_busy()


@pytest.mark.parametrize("fault", [Fault(silent_seconds=10), Fault(comments=100)], ids=["silent", "comments only"])
def test_a_server_that_sends_no_word_is_given_up_in_time(proxy: FaultyProxy, connect: Connect, fault: Fault) -> None:
    proxy.faults = [fault]
    assistant = connect(timeout_seconds=2)
    start = time.monotonic()
    failure = assistant.ask(QUESTION).model_failure
    assert time.monotonic() - start < 8
    assert failure
    assert "did not answer in time" in failure
    assert "ASSISTANT_TIMEOUT_SECONDS" in failure


@pytest.mark.usefixtures("prompt_is_read")
def test_a_reply_that_stops_on_the_way_ends_in_time(proxy: FaultyProxy, connect: Connect) -> None:
    proxy.faults = [Fault(gate=threading.Event())]
    assistant = connect(timeout_seconds=5)
    start = time.monotonic()
    assert CUT in assistant.ask(QUESTION).text
    assert 4.5 < time.monotonic() - start < 9.5


BROKEN = {
    "server gone": {"cut_after": SOME_EVENTS, "torn": True},
    "cut": {"cut_after": SOME_EVENTS},
    "half an object": {"replaced": {SOME_EVENTS: b'data: {"choices": [{"index": 0, "del\n\n'}},
    "half a character": {"replaced": {SOME_EVENTS: b'data: {"choices": [{"delta": {"content": "\xc3"}}]}\n\n'}},
    "an error": {"replaced": {SOME_EVENTS: b'data: {"error": {"message": "out of memory", "code": 500}}\n\n'}},
}


@pytest.mark.parametrize("how", BROKEN.values(), ids=BROKEN)
def test_a_reply_that_breaks_is_told_and_what_was_whole_stays(
    proxy: FaultyProxy, connect: Connect, real_model_server: RealModelServer, how: dict[str, object]
) -> None:
    proxy.faults = [Fault(changes=GOES_ON, **how)]
    answer = connect().ask(QUESTION)
    (exchange,) = proxy.exchanges
    assert CUT in answer.text
    assert citations_are_exact(answer)
    assert all(plain(sentence.text) in plain(sent_before_the_break(exchange)) for sentence in written(answer))
    assert became_free(real_model_server)


def sent_before_the_break(exchange: Exchange) -> str:
    return Exchange({}, exchange.frames[:SOME_EVENTS]).text


@pytest.mark.parametrize(
    "fault",
    [
        Fault(cut_after=0),
        Fault(cut_after=0, torn=True),
        Fault(replaced={0: b'data: {"choices": [{"ind\n\n'}),
        Fault(replaced={0: b"data: \xc3\x28\n\n"}),
        Fault(replaced={0: b'data: {"error": {"message": "out of memory"}}\n\n'}),
    ],
    ids=["empty", "gone", "half an object", "no UTF-8", "error"],
)
def test_a_reply_that_breaks_at_once_is_told_and_the_papers_are_quoted(
    proxy: FaultyProxy, connect: Connect, fault: Fault
) -> None:
    proxy.faults = [fault]
    answer = connect().ask(QUESTION)
    assert answer.model_failure
    assert answer.model_failure in answer.text
    assert citations_are_exact(answer)
    assert {sentence.verdict for sentence in answer.sentences} == {"program", "quoted"}


def test_a_server_that_is_gone_between_two_questions_is_named(proxy: FaultyProxy, connect: Connect) -> None:
    assistant = connect(openai_base_url="http://127.0.0.1:9/v1")
    answer = assistant.ask(QUESTION)
    assert "cannot be reached" in answer.sentences[0].text
    assert answer.citations


@pytest.mark.parametrize("as_date", [False, True])
def test_a_server_with_no_room_is_asked_again_when_it_says(proxy: FaultyProxy, connect: Connect, as_date: bool) -> None:
    assistant = connect()
    due = int(time.time()) + 4
    wait = formatdate(due, usegmt=True) if as_date else "2"
    proxy.faults = [Fault(status=429, retry_after=wait), Fault()]
    assert written(assistant.ask(QUESTION))
    first, second = proxy.asked_at
    assert second >= (due if as_date else first + 2)


@pytest.mark.parametrize(("wait", "tries"), [("1", 3), ("120", 1)])
def test_a_server_that_has_no_room_for_long_is_told_in_one_clear_line(
    proxy: FaultyProxy, connect: Connect, wait: str, tries: int
) -> None:
    proxy.faults = [Fault(status=429, retry_after=wait)]
    told = connect(timeout_seconds=20).ask(QUESTION).sentences[0].text
    assert "takes no more requests now" in told
    assert f"{wait} s" in told
    assert len(proxy.asked_at) == tries


def test_a_model_that_knows_no_end_is_cut_at_what_it_may_write(
    proxy: FaultyProxy, connect: Connect, real_model_server: RealModelServer
) -> None:
    proxy.faults = [Fault(changes={**GOES_ON, "max_completion_tokens": None, "max_tokens": None})]
    answer = connect().ask(QUESTION)
    assert CUT in answer.text
    assert count_tokens(" ".join(sentence.text for sentence in written(answer))) <= 2 * ANSWER_TOKENS
    assert proxy.exchanges[0].client_left.wait(10)
    assert became_free(real_model_server)
