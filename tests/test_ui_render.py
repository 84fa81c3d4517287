"""Answers and sources as HTML, and the session that they are made from."""

import asyncio
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import aclosing
from html.parser import HTMLParser
from typing import Any, cast

import gradio as gr
import pytest

from assistant import Assistant
from assistant.app import Assistants
from assistant.errors import ModelBusy, SettingsError
from assistant.html import escaped, link, rich
from assistant.settings import load_settings
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
from assistant.ui.examples import example_questions, next_questions
from assistant.ui.kept import conversation_of, kept
from assistant.ui.launch import start_chat
from assistant.ui.render import conversation_html, exchange_html, header_html, note_html, plain_text
from assistant.ui.session import Conversation, Exchange, Notice, Scope, Session
from assistant.ui.sources import sources_html
from assistant.visitors import Visitors
from vectorstore.facets import Choices
from vectorstore.filters import PaperFilter
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
    *"article a b button details div form h1 h2 i input label li mark ol p q section".split(),
    *"small span strong summary table tbody td th thead tr ul".split(),
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
    chat.exchanges[0].suggestions, chat.exchanges[0].judged = (text,), "down"
    choices = Choices(venues={text: 1}, years={}, tracks={}, sessions={}, with_code=0)
    page = conversation_html(chat, [text]) + sources_html(chat) + header_html([text], 1, choices, text)
    page += conversation_html(Conversation(), [text]) + note_html(Scope((text,), PaperFilter(venue=text), text))

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
    choices = Choices(
        venues={"ICML": 2, "NeurIPS": 1, "ACL": 1, "x" * 99: 1},
        years={2026: 3, 2013: 1},
        tracks={},
        sessions={},
        with_code=0,
    )
    text = Tags(header_html(["mine", "yours"], 1234, choices, "openai:small")).text
    assert all(
        part in text for part in ("mine + yours", "ICML, NeurIPS and 2 more, 2013–2026", "1,234 papers", "openai:small")
    )


def test_a_mark_falls_on_the_quotation_and_on_nothing_else() -> None:
    chat = Conversation([exchange(quoted(cite(paper(), sentence=1)))])
    page = sources_html(chat)

    start = ABSTRACT.index("**Ours**")
    assert re.findall(r"<mark.*?</mark>", page) == [
        f'<mark id="quote-1-{start}">Ours fits a 24GB GPU, see e.g. Fig. 2.</mark>'
    ]
    assert 'We study <span class="math" data-tex="x^2">x²</span> noise. <mark' in page
    assert '</mark> It gains <span class="math" data-tex="&gt;90\\%">&gt;90%</span> &amp; more.' in page


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
    astream = Assistant.astream

    def __init__(self, *steps: Event | Exception, forever: bool = False) -> None:
        self.steps = steps
        self.forever = forever
        self.closed = threading.Event()
        self.histories: list[Any] = []

    def paper_count(self) -> int:
        return 1

    def choices(self) -> Choices:
        return Choices(venues={}, years={}, tracks={}, sessions={}, with_code=0)

    def paper_ids(self, within: PaperFilter) -> list[str]:
        return ["LiftQuant"]

    def papers_of(self, paper_ids: list[str]) -> list[Paper]:
        return [paper()]

    def stream(
        self, question: str, history: Any, *, within: PaperFilter | None, stop: threading.Event
    ) -> Iterator[Event]:
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


REQUEST = gr.Request(username="a reader")


class ScriptedAssistants:
    def __init__(self, scripted: Scripted) -> None:
        self.settings = load_settings(data_dir="/nowhere")
        self.of = lambda names=(): scripted
        self.visitors = Visitors(at_once=4, longest=4)


def pages(actions: ChatActions, question: str, session: Session) -> list[tuple[Any, ...]]:
    async def collected() -> list[tuple[Any, ...]]:
        return [page async for page in actions.ask(question, session, REQUEST)]

    return asyncio.run(collected())


def actions_of(scripted: Scripted) -> ChatActions:
    return ChatActions(cast("Assistants", ScriptedAssistants(scripted)))


def test_a_known_error_is_shown_with_its_hint_and_keeps_what_came_before() -> None:
    said = SentenceChecked(sentence=quoted(cite(paper())))
    session = Session()
    actions = actions_of(Scripted(said, ModelBusy("No room for <you>.", "Wait a minute.")))

    last = pages(actions, "What is it?", session)[-1][0]
    assert '<div class="notice"><p>No room for &lt;you&gt;.</p><p class="hint">Wait a minute.</p></div>' in last
    assert "24GB GPU" in last
    assert actions.give_back("", session) == "What is it?"
    assert actions.give_back("Another", session) != "What is it?"


def test_an_unknown_error_is_logged_and_apologised_for_without_details(caplog: pytest.LogCaptureFixture) -> None:
    last = pages(actions_of(Scripted(RuntimeError("key sk-123 leaked"))), "What is it?", Session())[-1][0]

    assert "Something went wrong" in last
    assert "sk-123" not in last
    assert "sk-123" in caplog.text


def test_one_answer_is_written_at_a_time() -> None:
    session = Session()
    session.conversation.begin("Still being answered?")
    scripted = Scripted()
    pages(actions_of(scripted), "And this?", session)

    assert [each.question for each in session.conversation.exchanges] == ["Still being answered?"]
    assert scripted.histories == []


def test_a_stop_ends_the_stream_and_closes_it() -> None:
    scripted = Scripted(SentenceChecked(sentence=quoted(cite(paper()))), forever=True)
    session, actions = Session(), actions_of(scripted)

    async def stopped() -> str:
        async with aclosing(actions.ask("What is it?", session, REQUEST)) as stream:
            await anext(stream)
            await anext(stream)
            actions.stop(session)
            return str([page async for page in stream][-1][0])

    assert "Stopped." in asyncio.run(stopped())
    assert scripted.closed.wait(2)


def test_who_leaves_in_the_middle_closes_the_stream() -> None:
    scripted = Scripted(SentenceChecked(sentence=quoted(cite(paper()))), forever=True)
    session = Session()

    async def left() -> None:
        async with aclosing(actions_of(scripted).ask("What is it?", session, REQUEST)) as stream:
            await anext(stream)
            await anext(stream)

    asyncio.run(left())
    assert scripted.closed.wait(2)
    assert not session.conversation.is_live


def test_a_collection_that_cannot_be_read_gives_a_notice_on_opening() -> None:
    class Unreadable(Scripted):
        def paper_count(self) -> int:
            raise ModelBusy("It is damaged.", "Rebuild it.")

    _, conversation, *_ = actions_of(Unreadable()).open(Session())
    assert "Rebuild it." in conversation


def test_a_question_asked_while_the_page_is_loaded_stays_on_it() -> None:
    class Slow(ChatActions):
        def open(self, session: Session) -> tuple[Any, ...]:
            opened = super().open(session)
            session.conversation.begin("What is asked at once?")
            return opened

    actions = Slow(cast("Assistants", ScriptedAssistants(Scripted())))
    header, conversation, *_ = asyncio.run(actions.load(Session()))
    assert "1 paper" in header
    assert "What is asked at once?" in conversation


def test_examples_ask_about_the_papers_at_hand(assistant: Assistant) -> None:
    questions = example_questions(assistant.papers())

    assert 3 <= len(questions) <= 4
    assert questions[0] == "What is LiftQuant?"
    assert all(assistant.ask(question).status == "answered" for question in questions)


def test_a_collection_without_names_still_has_an_example() -> None:
    assert example_questions([paper("how do people learn", abstract="People learn.")]) == [
        "What is in this collection?"
    ]


def test_what_could_be_asked_next_is_answered_with_sentences_not_yet_quoted(assistant: Assistant) -> None:
    answer = assistant.ask("What is LiftQuant?")
    quotes = {citation.quote for citation in answer.citations}
    offered = list(next_questions(assistant, [answer], ["What is LiftQuant?"], None))

    assert 1 <= len(offered) <= 3
    for question in offered:
        following = assistant.ask(question)
        assert following.status == "answered"
        assert not quotes.issuperset(citation.quote for citation in following.citations)
    assert offered[0] not in list(next_questions(assistant, [answer], offered, None))


def test_nothing_is_offered_where_the_papers_cannot_answer(assistant: Assistant) -> None:
    answer = assistant.ask("What is LiftQuant?")
    nothing = PaperFilter(paper_ids=())
    assert list(next_questions(assistant, [answer], [], nothing)) == []


def test_a_kept_conversation_comes_back_as_it_was(assistant: Assistant) -> None:
    chat = Conversation()
    for question in (
        "What is LiftQuant?",
        "Which GPU does it fit on?",
        "Which papers are about reinforcement learning?",
        "How does LiftQuant differ from ProjQ?",
        "What is the capital of France?",
    ):
        for event in assistant.stream(question, chat.history()):
            (chat.exchanges[-1] if chat.is_live else chat.begin(question)).take(event)
    chat.begin("Broken?").fail(Notice("No.", "Wait."))

    again = conversation_of(kept(chat))
    assert conversation_html(again) == conversation_html(chat)
    assert again.history() == chat.history()
    assert [answer.text for answer in again.answers()] == [answer.text for answer in chat.answers()]
    assert kept(again) == kept(chat)


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"version": 1, "id": "a", "papers": {}, "exchanges": [{}]}'])
def test_what_was_not_kept_is_no_conversation(text: str) -> None:
    with pytest.raises(ValueError, match="kept"):
        conversation_of(text)


def test_an_edited_question_replaces_what_came_after_it() -> None:
    chat = Conversation([exchange(quoted(cite(paper()))), exchange(quoted(cite(paper("B"), 2)))])
    chat.edited = 1
    assert len(chat.history()) == 2
    chat.begin("Another?")
    assert [each.question for each in chat.exchanges] == ["What is it?", "Another?"]


def test_a_list_of_papers_becomes_a_table_that_sorts() -> None:
    said = [
        item
        for label in "ABC"
        for item in (
            Sentence(text=f"{label}:", verdict="program", opens="item"),
            quoted(cite(paper(label, venue=None, year=2020 + ord(label)), ord(label))),
        )
    ]
    page = exchange_html(exchange(*said), 1)
    assert page.count('<th scope="col" data-act="sort"') == 3
    assert page.count("<tr>") == 4
    assert "<td>2085</td>" in page


def test_a_refusal_helps() -> None:
    nearest = exchange(status="not_covered", passages=(passage(paper("Near")), passage(paper("Far"))))
    assert re.findall(r'data-paper-ids="(\w+)" data-named="\w+"', exchange_html(nearest, 1)) == ["Near", "Far"]

    silent = exchange(quoted(cite(paper(arxiv_id="2601.00001"))), status="not_stated")
    assert 'href="https://arxiv.org/pdf/2601.00001"' in exchange_html(silent, 1)


def test_money_is_no_formula() -> None:
    assert "math" not in rich("between $5 and $10, or US$3 to US$4")
    assert rich(r"of $O(n^2)$ and \(x_1\)").count('class="math"') == 2


def test_a_taken_port_is_named_with_the_setting_to_change() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(SettingsError) as refused:
            start_chat(cast("Assistants", ScriptedAssistants(Scripted())), port=port)
    assert str(port) in refused.value.message
    assert "ASSISTANT_PORT" in refused.value.hint
