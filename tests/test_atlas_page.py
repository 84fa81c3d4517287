"""The map as a reader has it: its HTML, and in Chromium on a page of its own that is served nothing else."""

import html
import json
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

from assistant.ui.atlas import atlas_html
from tests.browser import eventually
from vectorstore.atlas import Atlas, Place, Topic
from vectorstore.types import Paper

CHROMIUM = Path("/usr/bin/chromium")
HOSTILE = '</script><img src=x onerror="window.fired=1"><script>window.fired=1</script>&lt;b&gt; "quoted"'
ATLAS = Atlas(
    places=(
        Place("a", 0.2, 0.8, 0),
        Place("b", 0.3, 0.7, 0),
        Place("c", 0.7, 0.2, 1),
        Place("d", 0.8, 0.3, 1),
    ),
    topics=(Topic("Graph networks", 0.25, 0.75, 2), Topic("Speech & sound", 0.75, 0.25, 2)),
)
PAPERS = [
    Paper(
        paper_id=paper_id,
        label=f"Label {paper_id.upper()}",
        title=f"Title of {paper_id}",
        abstract="Text.",
        venue="ICML",
        year=year,
        source="made",
        position=1,
    )
    for paper_id, year in (("a", 2020), ("b", 2022), ("c", 2022), ("d", None))
]


def hostile_paper() -> Paper:
    return Paper(
        paper_id="a", label=HOSTILE, title=HOSTILE, abstract=HOSTILE, venue=HOSTILE, year=2020, source="", position=1
    )


def data_of(text: str) -> dict[str, list[object]]:
    found = re.search(r'<script type="application/json">(.*?)</script>', text, re.DOTALL)
    assert found
    data: dict[str, list[object]] = json.loads(found[1])
    return data


def test_hostile_texts_stay_within_the_data() -> None:
    hostile = Atlas(ATLAS.places[:1], (Topic(HOSTILE, 0.5, 0.5, 1),))
    page = atlas_html(hostile, [hostile_paper()])
    assert page.count("<script") == page.count("</script>") == 1
    assert "<img" not in page
    assert html.escape(HOSTILE) in page
    (paper,) = data_of(page)["papers"]
    assert HOSTILE in paper  # type: ignore[operator]


def test_the_data_has_every_paper_and_those_of_the_last_answer() -> None:
    data = data_of(atlas_html(ATLAS, PAPERS, {"c", "unknown"}))
    assert len(data["papers"]) == 4
    assert data["papers"][0] == [0.2, 0.8, 0, "a", 2020, "Label A", "Title of a", "ICML 2020"]
    assert data["highlighted"] == ["c"]


def test_a_paper_that_has_gone_meanwhile_is_left_out() -> None:
    assert len(data_of(atlas_html(ATLAS, PAPERS[1:]))["papers"]) == 3
    assert "no paper" in atlas_html(Atlas((), ()), [])


def test_papers_are_counted_per_topic_and_year() -> None:
    page = atlas_html(ATLAS, PAPERS)
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>.*?</tr>", page)]
    texts = [[html.unescape(re.sub(r"<.*?>", "", cell)) for cell in row] for row in rows]
    assert texts == [
        ["Topic", "2020", "2022", "no year", "All"],
        ["Graph networks", "1", "1", "·", "2"],
        ["Speech & sound", "·", "1", "1", "2"],
    ]
    assert "<table" not in atlas_html(ATLAS, PAPERS[1:3])  # all of one year


def test_old_years_share_a_column_and_none_is_lost() -> None:
    atlas = Atlas(tuple(Place(str(at), at / 14, 0.5, 0) for at in range(15)), (Topic("All papers", 0.5, 0.5, 15),))
    papers = [
        Paper(paper_id=str(at), label=str(at), abstract="Text.", year=2000 + at, source="", position=1)
        for at in range(15)
    ]
    page = atlas_html(atlas, papers)
    assert "to 2004" in page
    assert [int(number) for number in re.findall(r"<td>(\d+)<i", page)] == [5, *[1] * 10]


# In Chromium


def standalone(content: str, theme: str = "") -> str:
    static = files("assistant.ui") / "static"
    css, more_css, js = (static.joinpath(name).read_text("utf-8") for name in ("chat.css", "atlas.css", "atlas.js"))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Map</title><style>{css}{more_css}'
        f'html body {{ overflow: auto; margin: 0 }}</style><script>{js}</script></head><body class="{theme}">'
        f"<main><h1 class='unseen'>Map</h1>{content}</main><script>window.opened = [];"
        'document.addEventListener("act:paper", (event) => window.opened.push(event.detail.paperId));</script></body>'
    )


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page, troubles = context.new_page(), list[str]()
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("request", lambda request: troubles.append(request.url))
    yield page
    context.close()
    assert not troubles


def place_of(page: Page, paper_id: str) -> tuple[float, float]:
    x, y = page.evaluate(
        """id => { const atlas = document.querySelector("paper-atlas"), box = atlas.canvas.getBoundingClientRect();
        const paper = atlas.papers.find(p => p.id === id); return [box.x + paper.px, box.y + paper.py]; }""",
        paper_id,
    )
    return x, y


def show(page: Page, content: str, theme: str = "") -> None:
    page.set_content(standalone(content, theme))
    page.wait_for_function("document.querySelector('paper-atlas').papers?.[0].px !== undefined")


def colour_at(page: Page, paper_id: str, right: int = 0) -> list[int]:
    """The colour of a paper, or of what is so many pixels to the right of its middle."""
    page.wait_for_timeout(100)
    colour: list[int] = page.evaluate(
        """([id, right]) => {
        const atlas = document.querySelector("paper-atlas"), paper = atlas.papers.find(p => p.id === id);
        return [...atlas.canvas.getContext("2d").getImageData(paper.px + right, paper.py, 1, 1).data]; }""",
        [paper_id, right],
    )
    return colour


@pytest.mark.browser
@pytest.mark.skipif(not CHROMIUM.exists(), reason="needs Chromium")
class TestInChromium:
    def test_pointing_at_a_paper_tells_of_it_and_a_click_opens_it(self, page: Page) -> None:
        show(page, atlas_html(ATLAS, PAPERS))
        tip = page.locator(".atlas .tip")
        expect(tip).to_be_hidden()
        page.mouse.move(*place_of(page, "c"))
        expect(tip).to_contain_text("Label C")
        expect(tip).to_contain_text("Title of c")
        expect(tip).to_contain_text("ICML 2022")
        page.mouse.click(*place_of(page, "c"))
        page.wait_for_function("window.opened.length")
        assert page.evaluate("window.opened") == ["c"]

    def test_hostile_texts_are_shown_as_text(self, page: Page) -> None:
        hostile = Atlas(ATLAS.places[:1], (Topic(HOSTILE, 0.9, 0.9, 1),))
        show(page, atlas_html(hostile, [hostile_paper()], {"a"}))
        page.mouse.move(*place_of(page, "a"))
        expect(page.locator(".atlas .tip b")).to_have_text(HOSTILE)
        page.locator("summary").click()
        expect(page.locator("details li button")).to_contain_text(HOSTILE)
        assert page.evaluate("window.fired") is None

    def test_colours_tell_the_topic_or_the_year(self, page: Page) -> None:
        show(page, atlas_html(ATLAS, PAPERS))
        eventually(page, lambda: colour_at(page, "a") == colour_at(page, "b") != colour_at(page, "c"))
        page.get_by_role("button", name="Year").click()
        expect(page.locator(".legend")).to_contain_text("2020")
        expect(page.locator(".legend")).to_contain_text("no year")
        eventually(
            page,
            lambda: colour_at(page, "a") != colour_at(page, "b") == colour_at(page, "c") != colour_at(page, "d"),
        )

    def test_papers_of_the_last_answer_stand_out_and_the_legend_says_so(self, page: Page) -> None:
        show(page, atlas_html(ATLAS, PAPERS))
        plain = colour_at(page, "c")
        expect(page.locator(".legend")).not_to_contain_text("last answer")
        show(page, atlas_html(ATLAS, PAPERS, {"c"}))
        expect(page.locator(".legend")).to_contain_text("in the last answer (1)")
        eventually(page, lambda: colour_at(page, "c") != plain)
        *ring, opacity = colour_at(page, "c", right=12)
        assert max(ring) < 90
        assert opacity > 200
        assert colour_at(page, "d", right=12)[3] == 0
        assert colour_at(page, "c")[3] == 255 > colour_at(page, "d")[3]

    def test_every_paper_can_be_opened_by_keyboard_from_the_list(self, page: Page) -> None:
        show(page, atlas_html(ATLAS, PAPERS, {"b"}))
        page.locator("summary", has_text="Graph networks").focus()
        page.keyboard.press("Enter")
        buttons = page.locator("details[open] li button")
        expect(buttons).to_have_count(2)
        assert [button.get_attribute("data-paper-id") for button in buttons.all()] == ["b", "a"]
        page.keyboard.press("Tab")
        ask = page.locator("[data-act=scope]:focus")
        expect(ask).to_have_attribute("data-paper-ids", "b a")
        expect(ask).to_have_attribute("data-named", "Graph networks")
        page.keyboard.press("Tab")
        expect(page.locator("[data-act=paper]:focus")).to_contain_text("Label B")

    def test_a_topic_can_be_chosen_on_the_map_and_asked_about(self, page: Page) -> None:
        show(page, atlas_html(ATLAS, PAPERS))
        page.locator(".stage").get_by_role("button", name="Speech & sound").click()
        asking = page.locator(".chosen [data-act=scope]")
        expect(asking).to_have_attribute("data-paper-ids", "c d")
        eventually(page, lambda: colour_at(page, "a")[3] < 80 < colour_at(page, "c")[3])
        page.get_by_role("button", name="Show all topics").click()
        expect(asking).to_be_hidden()

    def test_it_zooms_and_comes_back(self, page: Page) -> None:
        show(page, atlas_html(ATLAS, PAPERS))
        before = place_of(page, "a")
        page.mouse.move(*before)
        page.mouse.wheel(0, -600)
        eventually(page, lambda: place_of(page, "c")[0] > 1000)
        assert abs(place_of(page, "a")[0] - before[0]) < 60
        page.get_by_role("button", name="Show all", exact=True).click()
        eventually(page, lambda: place_of(page, "a") == pytest.approx(before))

    def test_it_survives_being_written_anew(self, page: Page) -> None:
        show(page, atlas_html(ATLAS, PAPERS))
        page.get_by_role("button", name="Year").click()
        page.evaluate("html => document.querySelector('main').innerHTML = html", atlas_html(ATLAS, PAPERS, {"a"}))
        expect(page.get_by_role("button", name="Year")).to_have_attribute("aria-pressed", "true")
        expect(page.locator(".legend")).to_contain_text("in the last answer (1)")
        expect(page.locator("canvas")).to_have_count(1)
        page.mouse.move(*place_of(page, "b"))
        expect(page.locator(".tip")).to_contain_text("Label B")

    @pytest.mark.parametrize("theme", ["", "dark"])
    @pytest.mark.parametrize("width", [1280, 390])
    def test_axe_finds_nothing_serious_and_nothing_is_wider_than_the_page(
        self, page: Page, theme: str, width: int
    ) -> None:
        page.set_viewport_size({"width": width, "height": 800})
        show(page, atlas_html(ATLAS, PAPERS, {"a"}), theme)
        page.locator("summary").first.click()
        page.locator(".stage .topic").first.click()
        found = Axe().run(page).response["violations"]
        assert not [each["id"] for each in found if each["impact"] in ("serious", "critical")]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
