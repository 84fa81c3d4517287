"""The same attempts in a real browser: nothing is fetched, run or turned into anything but text."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from tests.browser import ask, needs_chromium, opened, served
from tests.hostile import ASKED, COLLECTION, ObedientModel, Outcome, outcome, page

pytestmark = needs_chromium

ACTIVE = "img, script, svg, form, input, iframe, object, embed, style, link, base, meta, audio, video, [style], [src]"
FAMILIES = ("image", "link", "html")
"""Of each, an abstract is asked about in the chat."""
OTHERS = [attempt.question for attempt in ASKED if attempt.id in ("author 03, link", "question 06, html")]


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return outcome(tmp_path_factory.getbasetemp() / "hostile")


@pytest.fixture(scope="module")
def chat(tried: Outcome) -> Iterator[str]:
    """The address of a chat whose model obeys every order."""
    with ObedientModel() as model:
        settings = {"data_dir": str(tried.data), "collection": COLLECTION, **model.settings}
        with served(settings) as (address,):
            yield address


def test_the_html_of_all_answers_is_inert_also_where_no_policy_guards_it(browser: Browser, tried: Outcome) -> None:
    bare, troubles = browser.new_page(), list[str]()
    watch(bare, troubles)
    bare.route("**", lambda route: troubles.append(route.request.url) or route.abort())  # type: ignore[func-returns-value]
    pages = [page(exchange) for exchanges in tried.exchanges.values() for exchange in exchanges]
    bare.set_content(f'<!doctype html><meta charset="utf-8"><body>{"".join(pages)}</body>')
    assert bare.locator("article.turn").count() == len(pages)
    assert inert(bare, "body") == []
    assert not troubles


def test_in_the_chat_orders_fetch_run_and_send_nothing(browser: Browser, chat: str) -> None:
    attempts = {attempt.family: attempt for attempt in reversed(ASKED) if attempt.where == "abstract"}
    with opened(browser, chat) as shown:
        troubles = list[str]()
        watch(shown, troubles)
        for question in [*(attempts[family].question for family in FAMILIES), *OTHERS]:
            expect(ask(shown, question).locator(".cite, .outcome").first).to_be_visible()
        shown.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
        assert inert(shown, ".log, .sources") == []
        assert not troubles


def watch(shown: Page, troubles: list[str]) -> None:
    """Writes down dialogs, and what the browser says of content that it refused."""

    def said(message: ConsoleMessage) -> None:
        if message.type == "error":
            troubles.append(message.text)

    shown.on("console", said)
    shown.on("dialog", lambda dialog: (troubles.append(dialog.message), dialog.dismiss()))
    shown.on("popup", lambda popup: troubles.append(popup.url))


def inert(shown: Page, where: str) -> list[str]:
    """What is on the page that could do something: active elements, handlers, links to other than http addresses."""
    found: list[str] = shown.evaluate(
        """([where, active]) => [...document.querySelectorAll(where)].flatMap((part) => [
            ...[...part.querySelectorAll(active)].map((element) => element.outerHTML.slice(0, 200)),
            ...[...part.querySelectorAll("*")].flatMap((element) => [...element.attributes])
                .filter((attribute) => attribute.name.startsWith("on")).map((attribute) => attribute.name),
            ...[...part.querySelectorAll("a")].filter((link) => !/^(https?:|#)/.test(link.getAttribute("href")))
                .map((link) => link.outerHTML),
        ]).concat(window.fired === undefined ? [] : ["a script ran"])""",
        [where, ACTIVE],
    )
    return found
