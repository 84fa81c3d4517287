"""The pictures of the README, made anew from the built-in papers:

python -m tests.screenshots
"""

import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect

from assistant import build_assistant
from tests.browser import ask, chromium, opened, served

DOCS = Path(__file__).parents[1] / "docs"
SIZE = {"width": 1280, "height": 800}


def main() -> None:
    """Writes docs/chat.png, papers.png and map.png."""
    with tempfile.TemporaryDirectory() as data_dir:
        build_assistant(data_dir=Path(data_dir))
        with (
            served({"data_dir": data_dir}) as (address,),
            chromium() as browser,
            opened(browser, address, viewport=SIZE) as page,
        ):
            show_chat(page)
            page.screenshot(path=DOCS / "chat.png")
            open_tab(page, "Papers", "ClinEdu")
            page.screenshot(path=DOCS / "papers.png")
            open_tab(page, "Map", "Papers by topic")
            page.screenshot(path=DOCS / "map.png")


def show_chat(page: Page) -> None:
    """A question and its follow-up, with what could be asked next."""
    ask(page, "What is LiftQuant?")
    ask(page, "Which GPU does it fit on?")
    expect(page.locator(".suggestion").first).to_be_visible(timeout=30_000)


def open_tab(page: Page, name: str, shown: str) -> None:
    """Opens a tab and waits until `shown` is there."""
    page.get_by_role("tab", name=name).click()
    expect(page.get_by_text(shown).last).to_be_visible(timeout=60_000)


if __name__ == "__main__":
    main()
