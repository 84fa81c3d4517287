"""The chat in a real browser: the real program, a real index, Chromium; only a paid model is played by a server."""

import re
import shutil
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from assistant.app import embedding_from
from assistant.settings import load_settings
from tests.browser import ask, assert_accessible, needs_chromium, numbers, opened, send, served
from tests.fakes import ModelServer
from vectorstore.folder import CollectionFolder
from vectorstore.indexing import index_files

pytestmark = needs_chromium
ELSEWHERE = "http://elsewhere.example"
HOSTILE = f"""\
We introduce TrapQuant, a quantization framework <img src="{ELSEWHERE}/a.png" onerror="window.fired=1"> that is \
<script>window.fired=1</script> studied with ![pixel]({ELSEWHERE}/b.png) and ${{window.fired=1}} in mind. \
TrapQuant reaches {{{{constructor.constructor("window.fired=1")()}}}} of its baseline <svg onload="window.fired=1"> \
and <form action="{ELSEWHERE}"><button>Ask</button></form> outperforms [it](javascript:window.fired=1). \
Its code is at {ELSEWHERE}/code?"onmouseover="window.fired=1 for everyone.
"""


@pytest.fixture(scope="module")
def data(built_in_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built-in papers and one that tries to be more than text."""
    folder = tmp_path_factory.mktemp("chat") / "data"
    shutil.copytree(built_in_data, folder)
    hostile = folder.parent / "hostile.txt"
    hostile.write_text(HOSTILE, "utf-8")
    settings = load_settings(data_dir=folder)
    index_files(CollectionFolder(folder, settings.collection), [hostile], embedding_from(settings))
    return folder


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="module")
def addresses(data: Path, model: ModelServer) -> Iterator[tuple[str, str]]:
    """Of a chat that quotes and of one that lets a model write, from one program."""
    with served({"data_dir": str(data)}, {"data_dir": str(data), **model.settings}) as addresses:
        yield addresses[0], addresses[1]


@pytest.fixture(scope="module")
def chat(addresses: tuple[str, str]) -> str:
    return addresses[0]


@pytest.fixture
def model_chat(addresses: tuple[str, str], model: ModelServer) -> str:
    model.replies.clear()
    model.requests.clear()
    model.client_left.clear()
    return addresses[1]


@pytest.fixture
def page(browser: Browser, chat: str) -> Iterator[Page]:
    with opened(browser, chat) as page:
        yield page


@pytest.fixture
def model_page(browser: Browser, model_chat: str) -> Iterator[Page]:
    with opened(browser, model_chat) as page:
        yield page


def test_an_answer_quotes_and_its_source_is_marked_in_the_card(page: Page) -> None:
    answer = ask(page, "What is LiftQuant?")

    assert set(numbers(answer)) == {"[1]"}
    quotations = [quotation.strip("“”") for quotation in answer.locator(".quoted").all_text_contents()]
    card = page.locator("#source-1")
    expect(card.locator(".label")).to_have_text("LiftQuant")
    expect(card.locator("mark")).to_have_text(quotations)
    expect(card.locator("mark").first).to_be_visible()
    expect(card.get_by_role("link", name="github.com/Heliulu/LiftQuant")).to_have_attribute(
        "rel", "noopener noreferrer"
    )


def test_a_source_number_leads_to_its_card_and_the_card_leads_back(page: Page) -> None:
    answer = ask(page, "Which papers are about reinforcement learning?")
    chip = answer.locator(".cite").last
    card = page.locator(chip.get_attribute("href") or "")
    card.locator("summary").click()
    expect(card.locator(".abstract")).to_be_hidden()

    chip.click()
    expect(card).to_have_class(re.compile("found"))
    expect(card.locator("mark")).to_be_in_viewport()
    expect(card.locator("summary")).to_be_focused()

    card.locator(".back").click()
    expect(chip).to_be_focused()
    expect(chip).to_be_in_viewport()


def test_a_follow_up_is_understood_and_keeps_the_source_number(page: Page) -> None:
    ask(page, "Which papers are about reinforcement learning?")
    first = ask(page, "What is LiftQuant?")
    answer = ask(page, "Which GPU does it fit on?")

    assert set(numbers(answer)) == set(numbers(first))
    expect(answer).to_contain_text("24GB GPU")
    expect(answer.locator(".read-as")).to_contain_text("LiftQuant")
    expect(page.locator(".card[open] .label")).to_have_text(["LiftQuant"])
    expect(page.locator(".card[open] mark.earlier")).not_to_have_count(0)


def test_a_lack_of_evidence_is_named_and_is_no_error(page: Page) -> None:
    not_stated = ask(page, "Which learning rate does LiftQuant use?")
    expect(not_stated.locator(".outcome")).to_have_text("Not stated in the abstract")

    not_covered = ask(page, "What is the capital of France?")
    expect(not_covered.locator(".outcome")).to_have_text("Not covered by these papers")
    expect(page.locator(".notice")).to_have_count(0)
    page.get_by_text("Retrieved but not cited").click()
    expect(page.locator(".uncited small").first).to_contain_text("similarity")


def test_a_click_asks_an_example_question(page: Page) -> None:
    example = page.locator(".example").first
    question = example.inner_text()
    example.click()

    expect(page.locator(".footnote")).to_be_visible()
    expect(page.locator(".question")).to_contain_text(question)
    expect(page.locator(".example")).to_have_count(0)


def test_an_empty_and_an_overlong_question_get_a_notice_and_lose_nothing(page: Page) -> None:
    ask(page, "What is LiftQuant?")
    notice = ask(page, "   ").locator(".notice")
    expect(notice).to_contain_text("The question is empty.")

    overlong = "why " * 1200
    send(page, overlong)
    expect(page.locator(".notice")).to_contain_text("at most 4,000 are read")
    expect(page.locator(".notice .hint")).to_be_in_viewport()
    expect(page.get_by_role("textbox", name="Question")).to_have_value(overlong)
    expect(page.locator(".quoted")).not_to_have_count(0)

    page.get_by_role("textbox", name="Question").fill("")
    assert numbers(ask(page, "Which GPU does it fit on?"))


def test_two_sessions_do_not_see_each_other(browser: Browser, chat: str) -> None:
    with opened(browser, chat) as mine, opened(browser, chat) as theirs:
        ask(mine, "Which papers are about reinforcement learning?")
        answer = ask(theirs, "What is LiftQuant?")

        assert set(numbers(answer)) == {"[1]"}
        expect(theirs.locator(".turn")).to_have_count(1)
        expect(theirs.locator(".card")).to_have_count(1)
        expect(mine.locator(".turn")).to_have_count(1)


def test_a_new_conversation_forgets_the_old_one(page: Page) -> None:
    ask(page, "Which papers are about reinforcement learning?")
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator(".turn")).to_have_count(0)
    expect(page.locator(".card")).to_have_count(0)
    expect(page.locator(".example")).not_to_have_count(0)

    assert set(numbers(ask(page, "What is LiftQuant?"))) == {"[1]"}


def test_markup_in_a_paper_stays_text(page: Page) -> None:
    answer = ask(page, "What is TrapQuant?")
    answer.locator(".cite").first.click()

    expect(page.locator("#source-1 .abstract")).to_contain_text("<script>window.fired=1</script>")
    for place in (answer, page.locator("#source-1 .abstract")):
        expect(place).to_contain_text('<svg onload="window.fired=1">')
        expect(place.locator("img, script, svg, form")).to_have_count(0)
    page.locator("#source-1 .links").hover()
    assert page.locator("a[href^=javascript], [onmouseover], [onerror]").count() == 0
    assert page.evaluate("window.fired") is None


def test_markup_in_a_question_stays_text(page: Page) -> None:
    ask(page, f'What is <img src="{ELSEWHERE}/q.png" onerror="window.fired=1"> LiftQuant?')

    expect(page.locator(".question")).to_contain_text("<img src=")
    assert page.evaluate("window.fired") is None


def test_a_checked_paraphrase_shows_its_quotation_and_what_failed_is_left_out(
    model_page: Page, model: ModelServer
) -> None:
    model.says(
        "LiftQuant enables a 70B LLM to be compressed to 2.4 bits to fit a 24GB GPU [1]. "
        "LiftQuant was trained on 512 TPUs in Zurich for nine weeks [1]."
    )
    answer = ask(model_page, "Which GPU does LiftQuant fit on?")

    expect(answer.locator(".tip")).to_be_hidden()
    answer.locator(".check").hover()
    expect(answer.locator(".tip")).to_contain_text("every number and name is in the cited abstract")
    expect(answer.locator(".tip .quote")).to_contain_text("This flexibility is transformative")
    expect(answer.get_by_text("512 TPUs")).to_be_hidden()
    model_page.mouse.move(0, 0)
    answer.get_by_text("left out (1)").click()
    expect(answer.locator(".left-out li")).to_contain_text("512 TPUs")
    expect(answer.locator(".left-out small")).to_contain_text("not in the abstract")


def test_stop_ends_the_stream_and_keeps_what_was_shown(model_page: Page, model: ModelServer) -> None:
    sentence = "LiftQuant enables a 70B LLM to be compressed to 2.4 bits to fit a 24GB GPU [1]. "
    model.says(sentence * 60, seconds_between_words=0.03)
    send(model_page, "Which GPU does LiftQuant fit on?")
    expect(model_page.locator(".cite")).not_to_have_count(0)

    model_page.get_by_role("button", name="Stop").click()
    expect(model_page.get_by_text("Stopped.")).to_be_visible(timeout=3_000)
    assert model.client_left.wait(3)
    expect(model_page.locator(".card")).to_have_count(1)
    shown = model_page.locator(".cite").count()

    model.replies.clear()
    model.says(sentence)
    assert set(numbers(ask(model_page, "And what does it fit on?"))) == {"[1]"}
    expect(model_page.locator(".cite")).to_have_count(shown + 1)


def test_a_closed_page_ends_its_stream(browser: Browser, model_chat: str, model: ModelServer) -> None:
    model.says("LiftQuant fits a 24GB GPU [1]. " * 60, seconds_between_words=0.03)
    with opened(browser, model_chat) as page:
        send(page, "Which GPU does LiftQuant fit on?")
        expect(page.locator(".cite")).not_to_have_count(0)

    assert model.client_left.wait(5)


def test_a_model_that_fails_gives_a_notice_and_the_question_comes_back(model_page: Page, model: ModelServer) -> None:
    model.says("", status=401)
    answer = ask(model_page, "Which GPU does LiftQuant fit on?")

    expect(answer.locator(".notice .hint")).not_to_be_empty()
    expect(model_page.get_by_role("textbox", name="Question")).to_have_value("Which GPU does LiftQuant fit on?")
    assert "Traceback" not in answer.inner_text()


def test_two_answers_are_written_at_the_same_time(browser: Browser, model_chat: str, model: ModelServer) -> None:
    model.says("LiftQuant fits a 24GB GPU [1].", silent_seconds=3.0)
    with opened(browser, model_chat) as mine, opened(browser, model_chat) as theirs:
        send(mine, "Which GPU does LiftQuant fit on?")
        send(theirs, "Which GPU does LiftQuant fit on?")
        while len(model.requests) < 2:
            mine.wait_for_timeout(50)
        expect(mine.locator(".turn.live")).to_have_count(1)


def test_nobody_is_kept_out_in_light_or_dark(browser: Browser, chat: str) -> None:
    with opened(browser, chat, reduced_motion="reduce") as page:
        assert_accessible(page)
        for question in ("What is LiftQuant?", "Its learning rate?", "What is the capital of France?", " "):
            ask(page, question)
        page.get_by_text("Retrieved but not cited").click()
        assert_accessible(page)
        page.evaluate("document.body.classList.add('dark')")
        assert_accessible(page)


def test_on_a_phone_the_sources_come_below_and_nothing_sticks_out(browser: Browser, chat: str) -> None:
    with opened(browser, chat, viewport={"width": 390, "height": 844}, has_touch=True) as page:
        answer = ask(page, "Which papers are about reinforcement learning?")
        expect(page.get_by_role("textbox", name="Question")).to_be_in_viewport()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390

        answer.locator(".cite").last.click()
        expect(page.locator(".card.found mark")).to_be_in_viewport()


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("gradio_api/upload", {"Origin": ELSEWHERE}),
        ("gradio_api/queue/join", {"Origin": "null"}),
        (f"gradio_api/file={ELSEWHERE}/secret", {}),
        ("", {"Host": "elsewhere.example"}),
    ],
)
def test_the_server_refuses_what_the_chat_does_not_need(chat: str, path: str, headers: dict[str, str]) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(urllib.request.Request(chat + path, headers=headers))
    assert refused.value.code in (400, 403)
    refused.value.close()


def test_the_page_may_only_load_from_its_own_server(chat: str) -> None:
    with urllib.request.urlopen(chat) as response:
        policy = response.headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "img-src 'self' data: blob:;" in policy
