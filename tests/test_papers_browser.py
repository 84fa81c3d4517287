"""The papers tab in a real browser: search, filters, a paper's page, the reading list."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from assistant.app import index_papers
from tests.browser import ask, assert_accessible, needs_chromium, opened, served

pytestmark = needs_chromium

HEAD = "title,authors,abstract,venue,year,track,session,room,starttime\n"
ROWS = [
    f"Study {number} of {topic},{author},We study {topic} in depth and report what we find in setting {number}."
    f",{venue},{year},{track},S{number % 2},Hall {number % 2},{time}\n"
    for number, (topic, author, venue, year, track, time) in enumerate(
        [
            ("glacier melt", "Ada Lovelace", "ICLR", 2019, "Oral", "2026-07-14T10:30:00+00:00"),
            ("whale songs", "Alan Turing", "ICML", 2020, "Poster", "2026-07-14T10:30:00+00:00"),
            ("bread yeast", "Grace Hopper", "ICML", 2020, "Oral", ""),
            ("<img src=x onerror=window.fired=1>", "<b>Eve</b> Mallory", "ICLR", 2020, "Poster", ""),
        ]
    )
]


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    data = tmp_path_factory.mktemp("papers") / "data"
    data.mkdir()
    table = data.parent / "conf.csv"
    table.write_text(HEAD + "".join(ROWS), "utf-8")
    settings = {"data_dir": str(data), "collection": "conf"}
    index_papers([table], **settings)
    with served(settings) as (address,):
        yield address


@pytest.fixture
def page(browser: Browser, chat: str) -> Iterator[Page]:
    with opened(browser, chat, reduced_motion="reduce") as page:
        open_papers(page)
        yield page
        assert page.evaluate("window.fired") is None


def open_papers(page: Page) -> None:
    page.get_by_role("tab", name="Papers").click()
    expect(page.locator("#papers-table tbody tr")).to_have_count(4)


def star(page: Page, topic: str) -> None:
    page.locator("#papers-table tr", has_text=topic).locator(".star").click()


def test_search_puts_the_nearest_first_and_an_author_alone(page: Page) -> None:
    page.get_by_label("Search").fill("singing of whales")
    page.get_by_label("Search").press("Enter")
    expect(page.locator("#papers-table tbody tr").first).to_contain_text("whale songs")
    page.get_by_label("Search").fill("Grace Hopper")
    page.get_by_label("Search").press("Enter")
    expect(page.locator("#papers-table tbody tr")).to_have_count(1)


def test_a_filter_is_what_the_chat_then_asks(page: Page) -> None:
    page.locator("#papers-filters").get_by_label("Venue").click()
    page.get_by_role("option", name="ICML (2)").click()
    expect(page.locator("#papers-table tbody tr")).to_have_count(2)
    page.get_by_role("button", name="Ask about these 2").click()
    expect(page.locator("#note")).to_contain_text("Asking only 2 papers at ICML")


def test_chosen_papers_are_what_the_chat_then_asks(page: Page) -> None:
    page.locator("[data-choose]").nth(0).check()
    page.locator("[data-choose]").nth(2).check()
    page.locator(".selection").get_by_role("button", name="Ask about these").click()
    expect(page.locator("#note")).to_contain_text("Asking only 2 chosen papers")


def test_a_papers_page_has_its_abstract_and_its_neighbours(page: Page) -> None:
    page.get_by_role("button", name="Study 1 of whale songs", exact=True).click()
    paper = page.locator(".paper-page")
    expect(paper).to_contain_text("We study whale songs in depth")
    expect(paper.locator(".neighbours li")).to_have_count(3)
    expect(paper.get_by_role("heading", level=2)).to_be_focused()
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_role("button", name="Study 1 of whale songs", exact=True)).to_be_focused()


def test_stars_and_notes_outlive_a_reload_and_leave_as_a_calendar(page: Page) -> None:
    star(page, "glacier")
    star(page, "whale")
    page.get_by_role("button", name="Reading list (2)").click()
    expect(page.locator(".clashes")).to_contain_text("overlap on Tue 14 July 2026, 10:30")
    page.locator("[data-note]").first.fill("Ask <b>why</b>")
    page.reload()
    open_papers(page)
    page.get_by_role("button", name="Reading list (2)").click()
    expect(page.locator("[data-note]").first).to_have_value("Ask <b>why</b>")
    page.get_by_text("Save as").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Calendar").click()
    assert download.value.suggested_filename == "reading-list.ics"
    calendar = Path(download.value.path()).read_text("utf-8")
    for form, begins in (("Markdown", "#"), ("BibTeX", "@"), ("RIS", "TY  - ")):
        page.get_by_text("Save as").click()
        with page.expect_download() as download:
            page.locator("#papers").get_by_role("button", name=form).click()
        assert Path(download.value.path()).read_text("utf-8").startswith(begins)
    assert calendar.count("BEGIN:VEVENT") == 2
    assert "Ask <b>why</b>" in calendar


def test_nothing_serious_bars_the_way_and_a_phone_does_not_scroll_sideways(page: Page) -> None:
    star(page, "glacier")
    page.set_viewport_size({"width": 390, "height": 844})
    assert_accessible(page)
    page.get_by_role("button", name="Reading list (1)").click()
    expect(page.locator("[data-note]")).to_be_visible()
    assert_accessible(page)
    page.get_by_text("Save as").click()
    assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize(
    ("name", "option", "papers"), [("From", "2020 (3)", 3), ("To", "2019 (1)", 1), ("Track", "Oral (2)", 2)]
)
def test_every_filter_leaves_what_passes_it(page: Page, name: str, option: str, papers: int) -> None:
    page.locator("#papers-filters").get_by_label(name).first.click()
    page.get_by_role("option", name=option).click()
    expect(page.locator("#papers-table tbody tr")).to_have_count(papers)


def test_the_chat_leads_to_a_papers_page_in_light_and_dark(page: Page) -> None:
    page.get_by_role("tab", name="Chat").click()
    ask(page, "Which study is about bread yeast?")
    page.locator(".card").get_by_role("button", name="Open its page").first.click()
    expect(page.locator(".paper-page")).to_contain_text("We study bread yeast in depth")
    assert_accessible(page)
    page.evaluate("document.body.classList.add('dark')")
    assert_accessible(page)
    page.get_by_role("button", name="Ask about this paper").click()
    expect(page.locator("#note")).to_contain_text("Asking only")


def test_a_paper_that_is_gone_is_said_to_be(page: Page) -> None:
    page.evaluate("window.assistant.act('paper', { paperId: 'gone' })")
    expect(page.locator(".paper-page")).to_contain_text("does not have it")
