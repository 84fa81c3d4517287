"""Answers and sources as HTML, and the session that they are made from."""

import asyncio
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import aclosing
from html.parser import HTMLParser
from typing import Any, cast

import pytest

from assistant import Assistant
from assistant.errors import ModelBusy, SettingsError
from assistant.types import (
    Answer,
    AnswerFinished,
    Citation,
    Event,
    PassagesFound,
    Sentence,
    SentenceChecked,
    Status,
)
from assistant.ui.chat import ChatActions
from assistant.ui.examples import example_questions
from assistant.ui.html import escaped, link
from assistant.ui.launch import start_chat
from assistant.ui.render import conversation_html, exchange_html, header_html, plain_text
from assistant.ui.session import Conversation, Exchange, Notice
from assistant.ui.sources import sources_html
from vectorstore.sentences import sentence_spans
from vectorstore.types import Paper, Passage, Span

HOSTILE = [
    '<img src=x onerror="alert(1)">',
    "![pixel](http://elsewhere.example/p.png)",
    "<script>alert(1)</script>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "</mark></p></details><iframe src=//elsewhere.example>",
    "${alert(1)} {{constructor.constructor('alert(1)')()}}",
    "[click](javascript:alert(1))",
    "\x1b[31mred\x1b[0m \u202egnp.exe\u202c",
]
OURS = {
    *"a article b button details div h1 h2 i li mark ol p q section small span strong summary ul".split(),
}
ABSTRACT = "We study $x^2$ noise. **Ours** fits a 24GB GPU, see e.g. Fig. 2. It gains $>90\\%$ & more."


class Tags(HTMLParser):
    """The elements of a page, their attributes and the text between them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


def paper(label: str = "LiftQuant", **known: Any) -> Paper:
    facts: dict[str, Any] = {
        "paper_id": label,
        "label": label,
        "abstract": ABSTRACT,
        "title": None,
        "authors": (),
        "venue": "ICML",
        "year": 2026,
        "urls": (),
        "source": "papers.txt",
        "position": 1,
    }
    return Paper(**{**facts, **known})


def cite(cited: Paper, number: int = 1, sentence: int = 1) -> Citation:
    return Citation(citation_id="c1", number=number, paper=cited, span=sentence_spans(cited.abstract)[sentence])


def quoted(*citations: Citation, text: str = "“Ours fits a 24GB GPU, see e.g. Fig. 2.”", **how: Any) -> Sentence:
    return Sentence(text=text, verdict="quoted", citations=citations, **how)


def passage(of: Paper) -> Passage:
    return Passage(
        paper=of,
        text=of.abstract,
        span=Span(0, len(of.abstract)),
        similarity=0.4567,
        dense_rank=2,
        keyword_rank=None,
        named=False,
    )


def exchange(
    *sentences: Sentence, question: str = "What is it?", status: Status = "answered", passages: tuple[Passage, ...] = ()
) -> Exchange:
    answer = Answer(
        question=question,
        standalone_question=question,
        kind="fact",
        status=status,
        sentences=sentences,
        passages=passages,
        writer="quotation",
        timings_ms={},
        usage=None,
        evidence=None,
        fingerprint="",
    )
    made = Exchange(question)
    events = [SentenceChecked(sentence=sentence) for sentence in sentences]
    for event in (PassagesFound(passages=passages), *events, AnswerFinished(answer=answer)):
        made.take(event)
    return made


@pytest.mark.parametrize("text", HOSTILE)
def test_text_from_anyone_adds_no_element_and_no_attribute(text: str) -> None:
    bad = paper(
        text, abstract=f"{text} is new. Second {text} sentence.", title=text, authors=(text,), venue=text, urls=(text,)
    )
    chat = Conversation(
        [
            exchange(
                Sentence(text=f"{text}:", verdict="program", opens="paragraph"),
                quoted(cite(bad), text=text),
                Sentence(text=text, verdict="supported", citations=(cite(bad),), reasons=(text,)),
                Sentence(text=text, verdict="unsupported", reasons=(text,), shown=False),
                question=text,
                passages=(passage(paper(f"other {text}", abstract=text)), passage(bad)),
            ),
            Exchange(text, phase="failed", notice=Notice(text, text)),
        ]
    )
    page = conversation_html(chat.exchanges, [text]) + sources_html(chat) + header_html([bad], text)
    page += conversation_html([], [text])

    tags = Tags(page)
    assert tags.names <= OURS
    assert {name for name, _ in tags.attributes if name.startswith("on")} == set()
    assert {value for name, value in tags.attributes if name in ("href", "src")} <= {"#source-1", "#conversation"}
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]", page)


def test_markup_in_text_is_shown_as_it_was_written() -> None:
    text = "<b>bold</b> & ![x](http://y)"
    assert Tags(escaped(text)).text == text


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "JaVaScRiPt://x.org/%0aalert(1)",
        "data:text/html,<script>alert(1)</script>",
        "//elsewhere.example",
        "https://trusted.org@elsewhere.example/",
        'https://x.org/"onclick="alert(1)',
        "https://x.org/\njavascript:alert(1)",
        "file:///etc/passwd",
        "https://",
    ],
)
def test_only_whole_web_addresses_become_links(address: str) -> None:
    assert "a" not in Tags(link(address)).names


def test_a_link_opens_apart_and_tells_nothing() -> None:
    tags = Tags(link("https://www.github.com/Heliulu/LiftQuant?a=1&b=2"))
    assert ("href", "https://www.github.com/Heliulu/LiftQuant?a=1&b=2") in tags.attributes
    assert ("rel", "noopener noreferrer") in tags.attributes
    assert tags.text == "github.com/Heliulu/LiftQuant?a=1&b=2"


def test_the_look_of_a_sentence_follows_its_verdict() -> None:
    page = exchange_html(
        exchange(
            Sentence(text="LiftQuant:", verdict="program", opens="paragraph"),
            quoted(cite(paper()), text="Ours fits a 24GB GPU"),
            Sentence(text="It fits.", verdict="supported", citations=(cite(paper()),)),
            Sentence(text="Two papers.", verdict="program"),
        ),
        1,
    )
    assert '<b class="lead">LiftQuant:</b>' in page
    assert '<q class="quoted">“Ours fits a 24GB GPU”</q>' in page
    assert 'class="supported">It fits.</span>\u2060<button type="button" class="check"' in page
    assert "every number and name is in the cited abstract" in page
    assert '<span class="program">Two papers.</span>' in page


def test_the_quotation_behind_a_paraphrase_is_readable() -> None:
    page = exchange_html(exchange(Sentence(text="Big gain.", verdict="supported", citations=(cite(paper(), 4, 2),))), 1)
    assert "[4] “It gains &gt;90% &amp; more.”" in page


def test_source_numbers_lead_to_the_quotation_and_have_ids_of_their_own() -> None:
    one, two = cite(paper()), cite(paper("Other"), 2, 0)
    page = exchange_html(exchange(quoted(one, two), quoted(one)), 3)

    assert re.findall(r'id="(cite-[^"]*)" href="#(source-\d)"', page) == [
        ("cite-3-1", "source-1"),
        ("cite-3-2", "source-2"),
        ("cite-3-3", "source-1"),
    ]
    assert f'data-quote="quote-1-{one.span.start}"' in page


def test_rows_become_a_table_whose_first_row_is_its_heading() -> None:
    texts = [("row", "<A>"), ("cell", "B"), ("row", "1"), ("cell", "2"), ("", "3"), ("paragraph", "behind")]
    said = [Sentence(text=text, verdict="program", opens=cast("Any", opens)) for opens, text in texts]
    page = exchange_html(exchange(*said), 1)
    found = [re.findall(f"<{tag}[ >].*?</{tag}>", page) for tag in ("th", "td")]
    cells = [[re.sub("<[^>]+>", "", cell) for cell in of_tag] for of_tag in found]
    assert cells == [["&lt;A&gt;", "B"], ["1", "2 3"]]
    assert page.index("</table>") < page.index("behind")


def test_items_become_a_list_and_paragraphs_stay_apart() -> None:
    page = exchange_html(
        exchange(
            Sentence(text="2 papers:", verdict="program", opens="paragraph"),
            Sentence(text="A:", verdict="program", opens="item"),
            quoted(cite(paper())),
            Sentence(text="B:", verdict="program", opens="item"),
            Sentence(text="That is all.", verdict="program", opens="paragraph"),
        ),
        1,
    )
    assert re.findall(r"</?(?:ul|li|p)\b", page[page.index("2 papers") :])[:8] == [
        "</p", "<ul", "<li", "</li", "<li", "</li", "</ul", "<p",
    ]  # fmt: skip


def test_what_was_left_out_is_folded_with_its_reasons() -> None:
    hidden = Sentence(text="Invented.", verdict="unsupported", reasons=("not in the abstract: 99",), shown=False)
    page = exchange_html(exchange(quoted(cite(paper())), hidden), 1)

    fold = page[page.index('<details class="left-out">') :]
    assert "<summary>left out (1)</summary>" in fold
    assert "Invented.<small>not in the abstract: 99</small>" in fold
    assert "Invented." not in page[: page.index(fold)]


@pytest.mark.parametrize(
    ("status", "outcome"),
    [("not_stated", "Not stated in the abstract"), ("not_covered", "Not covered by these papers")],
)
def test_a_refusal_names_its_outcome(status: Status, outcome: str) -> None:
    page = exchange_html(exchange(Sentence(text="It is not.", verdict="program"), status=status), 1)
    assert f'<p class="outcome">{outcome}</p>' in page
    assert "notice" not in page


def test_an_exchange_says_how_far_it_is() -> None:
    made = Exchange("What is it?")
    assert "Searching the papers" in exchange_html(made, 1)
    made.take(PassagesFound(passages=()))
    assert "checking each sentence" in exchange_html(made, 1)
    made.stop()
    assert "Stopped." in exchange_html(made, 1)
    assert "live" not in exchange_html(made, 1)


def test_a_copied_answer_names_its_sources() -> None:
    known = paper(urls=("https://x.org/code",))
    answer = exchange(quoted(cite(known)), quoted(cite(known))).answer
    assert answer
    assert plain_text(answer).splitlines()[-1] == "[1] LiftQuant, ICML 2026, https://x.org/code"


def test_the_header_says_what_is_asked_and_who_answers() -> None:
    text = Tags(header_html([paper(), paper("B"), paper("C", venue="NeurIPS")], "openai:small")).text
    assert all(part in text for part in ("ICML 2026, NeurIPS 2026", "3 papers", "openai:small"))


def test_a_mark_falls_on_the_quotation_and_on_nothing_else() -> None:
    chat = Conversation([exchange(quoted(cite(paper(), sentence=1)))])
    page = sources_html(chat)

    start = ABSTRACT.index("**Ours**")
    assert re.findall(r"<mark.*?</mark>", page) == [
        f'<mark id="quote-1-{start}">Ours fits a 24GB GPU, see e.g. Fig. 2.</mark>'
    ]
    assert "We study x² noise. <mark" in page
    assert "</mark> It gains &gt;90% &amp; more." in page


def test_a_quotation_within_a_sentence_marks_only_its_words() -> None:
    inner = "a 24GB GPU"
    start = ABSTRACT.index(inner)
    citation = Citation(citation_id="c1", number=1, paper=paper(), span=Span(start, start + len(inner)))

    page = sources_html(Conversation([exchange(quoted(citation))]))
    assert f'Ours fits <mark id="quote-1-{start}">a 24GB GPU</mark>, see' in page


def test_cards_stand_by_number_and_those_of_the_last_answer_are_open() -> None:
    first = exchange(quoted(cite(paper("B"), 2)), quoted(cite(paper("A"), 1)))
    page = sources_html(Conversation([first, exchange(quoted(cite(paper("B"), 2, 0)))]))

    assert re.findall(r'<details class="card" id="source-(\d)"( open)?>', page) == [("1", ""), ("2", " open")]
    assert page.count('class="earlier"') == 2


def test_what_was_found_but_not_cited_says_why_it_was_found() -> None:
    chat = Conversation([exchange(quoted(cite(paper())), passages=(passage(paper()), passage(paper("Other"))))])
    fold = sources_html(chat).split('<details class="uncited">')[1]

    assert "<b>Other</b>" in fold
    assert "<b>LiftQuant</b>" not in fold
    assert "dense rank 2 · similarity 0.46</small>" in fold


def test_history_holds_what_was_shown_with_its_citations() -> None:
    hidden = Sentence(text="Invented.", verdict="unsupported", shown=False)
    failed = Exchange("Broken?", phase="failed", notice=Notice("No.", "Wait."))
    stopped = Exchange("Slow?", phase="stopped", sentences=[quoted(cite(paper("B"), 2), text="“Half”")])

    history = Conversation([exchange(quoted(cite(paper()), text="“Fits.”"), hidden), failed, stopped]).history()
    assert [item["content"] for item in history] == ["What is it?", "“Fits.” [1]", "Slow?", "“Half” [2]"]
    assert [c["paper_id"] for item in history for c in item.get("citations", ())] == ["LiftQuant", "B"]


def test_the_notice_on_an_empty_question_goes_with_the_next_question() -> None:
    chat = Conversation()
    chat.begin(" ").fail(Notice("Empty.", "Ask."))
    chat.begin("What is it?")
    assert [kept.question for kept in chat.exchanges] == ["What is it?"]


class Scripted:
    """An assistant that gives what it is told to, and notices when its stream is closed."""

    writer = "quotation"

    def __init__(self, *steps: Event | Exception, forever: bool = False) -> None:
        self.steps = steps
        self.forever = forever
        self.closed = threading.Event()
        self.histories: list[Any] = []

    def papers(self) -> list[Paper]:
        return [paper()]

    def stream(self, question: str, history: Any, *, stop: threading.Event) -> Iterator[Event]:
        self.histories.append(history)
        try:
            for step in self.steps:
                if isinstance(step, Exception):
                    raise step
                yield step
            while self.forever:
                yield self.steps[-1]  # type: ignore[misc]
        finally:
            self.closed.set()


def pages(actions: ChatActions, question: str, chat: Conversation) -> list[tuple[Any, ...]]:
    async def collected() -> list[tuple[Any, ...]]:
        return [page async for page in actions.ask(question, chat)]

    return asyncio.run(collected())


def actions_of(scripted: Scripted) -> ChatActions:
    return ChatActions(cast("Assistant", scripted))


def test_a_known_error_is_shown_with_its_hint_and_keeps_what_came_before() -> None:
    said = SentenceChecked(sentence=quoted(cite(paper())))
    chat = Conversation()
    actions = actions_of(Scripted(said, ModelBusy("No room for <you>.", "Wait a minute.")))

    last = pages(actions, "What is it?", chat)[-1][0]
    assert '<div class="notice"><p>No room for &lt;you&gt;.</p><p class="hint">Wait a minute.</p></div>' in last
    assert "24GB GPU" in last
    assert actions.give_back("", chat) == "What is it?"
    assert actions.give_back("Another", chat) != "What is it?"


def test_an_unknown_error_is_logged_and_apologised_for_without_details(caplog: pytest.LogCaptureFixture) -> None:
    last = pages(actions_of(Scripted(RuntimeError("key sk-123 leaked"))), "What is it?", Conversation())[-1][0]

    assert "Something went wrong" in last
    assert "sk-123" not in last
    assert "sk-123" in caplog.text


def test_one_answer_is_written_at_a_time() -> None:
    chat = Conversation()
    chat.begin("Still being answered?")
    scripted = Scripted()
    pages(actions_of(scripted), "And this?", chat)

    assert [kept.question for kept in chat.exchanges] == ["Still being answered?"]
    assert scripted.histories == []


def test_a_stop_ends_the_stream_and_closes_it() -> None:
    scripted = Scripted(SentenceChecked(sentence=quoted(cite(paper()))), forever=True)
    chat, actions = Conversation(), actions_of(scripted)

    async def stopped() -> str:
        async with aclosing(actions.ask("What is it?", chat)) as stream:
            await anext(stream)
            await anext(stream)
            actions.stop(chat)
            return str([page async for page in stream][-1][0])

    assert "Stopped." in asyncio.run(stopped())
    assert scripted.closed.wait(2)


def test_who_leaves_in_the_middle_closes_the_stream() -> None:
    scripted = Scripted(SentenceChecked(sentence=quoted(cite(paper()))), forever=True)
    chat = Conversation()

    async def left() -> None:
        async with aclosing(actions_of(scripted).ask("What is it?", chat)) as stream:
            await anext(stream)
            await anext(stream)

    asyncio.run(left())
    assert scripted.closed.wait(2)
    assert not chat.is_live


def test_a_collection_that_cannot_be_read_gives_a_notice_on_opening() -> None:
    class Unreadable(Scripted):
        def papers(self) -> list[Paper]:
            raise ModelBusy("It is damaged.", "Rebuild it.")

    _, conversation, _ = actions_of(Unreadable()).open(Conversation())
    assert "Rebuild it." in conversation


def test_examples_ask_about_the_papers_at_hand(assistant: Assistant) -> None:
    questions = example_questions(assistant.papers())

    assert 3 <= len(questions) <= 4
    assert questions[0] == "What is LiftQuant?"
    assert all(assistant.ask(question).status == "answered" for question in questions)


def test_a_collection_without_names_still_has_an_example() -> None:
    assert example_questions([paper("how do people learn", abstract="People learn.")]) == [
        "What is in this collection?"
    ]


def test_a_taken_port_is_named_with_the_setting_to_change() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(SettingsError) as refused:
            start_chat(cast("Assistant", Scripted()), port=port)
    assert str(port) in refused.value.message
    assert "ASSISTANT_PORT" in refused.value.hint
