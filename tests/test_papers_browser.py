"""The papers tab in a real browser: search, filters, a paper's page, the reading list."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

import assistant
from assistant.app import Assistants
from assistant.settings import load_settings
from tests.test_ui_browser import browser, free_ports, opened, pytestmark

__all__ = ["browser", "pytestmark"]

SERVE = """
import sys
from pathlib import Path
from assistant.app import Assistants
from assistant.settings import load_settings
from assistant.ui.launch import launch_chat
assistants = Assistants(load_settings(data_dir=sys.argv[1], collection="conf"))
launch_chat(assistants, port=int(sys.argv[2]))
"""
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
    Assistants(load_settings(data_dir=data, collection="conf")).index([table], "conf")
    (port,) = free_ports(1)
    environment = {"HOME": str(data), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(assistant.__file__).parents[1])}
    command = [sys.executable, "-u", "-c", SERVE, str(data), str(port)]
    with (data / "chat.log").open("w") as log:
        program = subprocess.Popen(command, env=environment, cwd=data, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            assert program.stdout
            assert f":{port}" in program.stdout.readline(), (data / "chat.log").read_text()
            yield f"http://127.0.0.1:{port}/"
        finally:
            program.terminate()
            program.communicate()


@pytest.fixture
def page(browser: Browser, chat: str) -> Iterator[Page]:
    with opened(browser, chat) as page:
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
    assert calendar.count("BEGIN:VEVENT") == 2
    assert "Ask <b>why</b>" in calendar


def test_nothing_serious_bars_the_way_and_a_phone_does_not_scroll_sideways(page: Page) -> None:
    star(page, "glacier")
    page.set_viewport_size({"width": 390, "height": 844})
    violations = Axe().run(page).response["violations"]
    assert [v["id"] for v in violations if v["impact"] in ("serious", "critical")] == []
    page.get_by_role("button", name="Reading list (1)").click()
    page.get_by_text("Save as").click()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
