"""The HTML report in a real browser: nothing is fetched or run, each question has its page, failures can be picked."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect, sync_playwright

from assistant.evaluation.wiring import evaluate

CHROMIUM = Path("/usr/bin/chromium")
HOSTILE = "<img src=http://elsewhere.example/a.png onerror=alert(1)><script>alert(1)</script>{{7*7}}"
QUESTIONS = [
    {"id": "fact", "question": "Which GPU does LiftQuant fit on?", "papers": ["LiftQuant"], "facts": ["24GB"]},
    {"id": "away", "question": "How do I bake bread?", "status": "not_covered"},
    {"id": HOSTILE, "question": f"What is ProjQ? {HOSTILE}", "papers": ["UPD"], "facts": [HOSTILE], "tags": [HOSTILE]},
]

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not CHROMIUM.exists(), reason="needs Chromium")]


@pytest.fixture(scope="module")
def report(built_in_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    (folder / "mine.jsonl").write_text("\n".join(json.dumps(question) for question in QUESTIONS), "utf-8")
    return evaluate(str(folder / "mine.jsonl"), output=folder, data_dir=built_in_data).paths[1]


@pytest.fixture
def page(report: Path) -> Iterator[Page]:
    """The report; any request to elsewhere, any dialog and any refused script fails the test."""
    seen: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.on("request", lambda request: seen.append(request.url) if request.url != report.as_uri() else None)
        page.on("dialog", lambda dialog: seen.append(dialog.message))
        page.on("console", lambda message: seen.append(message.text))
        page.goto(report.as_uri())
        yield page
        browser.close()
    assert seen == []


def test_it_opens_alone_and_has_a_page_for_each_question(page: Page) -> None:
    expect(page.get_by_role("heading", name="mine over icml2026")).to_be_visible()
    expect(page.locator("svg")).to_have_count(3)
    page.get_by_role("link", name="fact", exact=True).click()
    expect(page.locator("article:visible")).to_have_count(1)
    expect(page.locator("main")).to_be_hidden()
    expect(page.locator("article:visible")).to_contain_text("24GB GPU")
    page.get_by_role("link", name="Next").click()
    expect(page.locator("article:visible")).to_contain_text("None of the 34 papers")
    page.get_by_role("link", name="All questions").click()
    expect(page.locator("main")).to_be_visible()


def test_the_wrong_ones_can_be_picked_out(page: Page) -> None:
    rows = page.locator("#overview tr.is-right:visible, #overview tr.is-wrong:visible")
    expect(rows).to_have_count(3)
    page.get_by_label("only those not answered right").check()
    expect(rows).to_have_count(1)


@pytest.mark.parametrize("anchor", ["", "#q3"])
def test_it_has_no_serious_fault_of_access(page: Page, report: Path, anchor: str) -> None:
    page.goto(report.as_uri() + anchor)
    found = Axe().run(page).response["violations"]
    assert [fault["id"] for fault in found if fault["impact"] in ("serious", "critical")] == []


@pytest.mark.parametrize("width", [390, 1280])
def test_it_never_scrolls_sideways(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
