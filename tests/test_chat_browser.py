"""What a reader does with a conversation in the browser, and with collections."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from assistant.feedback import FeedbackStore
from tests.browser import ask, assert_accessible, needs_chromium, numbers, opened, served

pytestmark = needs_chromium

FORMULAS = (
    "We introduce MathNet, a network of $O(n^2)$ cost that needs \\(\\alpha_1 < 0.5\\) and costs between $5 and $10. "
    "MathNet has a bound of $\\frac{1}{\\sqrt{n}}$ and of $\\badcommand{x$ and of "
    "$\\href{javascript:window.fired=1}{x}\\includegraphics{http://elsewhere.example/x.png}$ too."
)
BIBTEX = """
@inproceedings{owls, title={OwlNet: Owls at Night}, author={Byron, Ada}, booktitle={ICML}, year={2025},
  abstract={We introduce OwlNet, a network that hears owls at night. OwlNet finds 93 percent of owls in a forest.}}
@article{nothing, author={Nobody}}
"""


@pytest.fixture(scope="module")
def data(built_in_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chat") / "data"
    shutil.copytree(built_in_data, folder)
    return folder


@pytest.fixture(scope="module")
def chat(data: Path) -> Iterator[str]:
    with served({"data_dir": str(data)}) as (address,):
        yield address


@pytest.fixture
def page(browser: Browser, chat: str) -> Iterator[Page]:
    with opened(browser, chat, accept_downloads=True) as page:
        yield page


def downloaded(page: Page, name: str) -> tuple[str, str]:
    """Name and content of the file that a click on the button gives."""
    with page.expect_download() as download:
        page.get_by_role("button", name=name, exact=True).last.click()
    return download.value.suggested_filename, Path(download.value.path()).read_text("utf-8")


def test_a_conversation_outlives_a_reload_and_can_be_renamed_and_deleted(page: Page) -> None:
    first = numbers(ask(page, "What is LiftQuant?"))
    page.wait_for_function("sessionStorage['open-conversation']")
    page.reload()
    expect(page.locator(".turn")).to_have_count(1)
    assert numbers(page.locator(".answer")) == first
    assert set(numbers(ask(page, "Which GPU does it fit on?"))) == {"[1]"}
    expect(page.locator(".suggestion").first).to_be_visible(timeout=20_000)

    page.get_by_role("button", name="New conversation").click()
    expect(page.locator(".turn")).to_have_count(0)
    page.locator("#kept summary").click()
    page.get_by_role("button", name="Rename").click()
    page.get_by_label("New name").fill("<b>Mine</b>")
    page.get_by_label("New name").press("Enter")
    page.get_by_role("button", name="<b>Mine</b>", exact=True).click()
    expect(page.locator(".turn")).to_have_count(2)

    page.locator("#kept summary").click()
    page.get_by_role("button", name="Delete").click()
    expect(page.locator(".turn")).to_have_count(0)
    page.locator("#kept summary").click()
    expect(page.get_by_text("kept in this browser only")).to_be_visible()
    page.reload()
    expect(page.locator(".example").first).to_be_visible()
    expect(page.locator(".turn")).to_have_count(0)


def test_a_full_browser_forgets_the_oldest_conversation(page: Page) -> None:
    page.evaluate(
        """() => {
            for (let n = 0, size = 400_000; size >= 1; n++)
                try {
                    localStorage["conversation-time:" + n] = n;
                    localStorage["conversation:" + n] = "x".repeat(size);
                } catch { size = Math.floor(size / 10); }
        }"""
    )
    ask(page, "What is LiftQuant?")
    page.wait_for_function("'conversation:' + sessionStorage['open-conversation'] in localStorage")
    assert page.evaluate("['0', '1'].map((id) => 'conversation:' + id in localStorage)") == [False, True]


def test_a_question_can_be_edited_asked_again_and_taken_back(page: Page) -> None:
    ask(page, "What is LiftQuant?")
    ask(page, "Which papers are about reinforcement learning?")
    box = page.get_by_role("textbox", name="Question")

    page.locator(".asked").first.hover()
    page.get_by_role("button", name="Edit this question").first.click()
    expect(box).to_have_value("What is LiftQuant?")
    expect(page.locator("#note")).to_contain_text("Replaces an earlier question")
    page.get_by_role("button", name="Leave it as it was").click()
    expect(page.locator("#note")).not_to_contain_text("Replaces")

    page.get_by_role("button", name="Edit this question").first.click()
    expect(box).to_have_value("What is LiftQuant?")
    box.fill("What is ProjQ?")
    box.press("Enter")
    expect(page.locator(".question")).to_have_text(["You asked: What is ProjQ?"])
    expect(page.locator(".footnote")).to_contain_text("quotation")

    page.get_by_role("button", name="Ask again").click()
    expect(page.locator(".suggestion").first).to_be_visible(timeout=20_000)
    expect(page.locator(".turn")).to_have_count(1)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".turn")).to_have_count(0)
    expect(box).to_have_value("What is ProjQ?")
    expect(page.locator(".example").first).to_be_visible()


def test_a_suggestion_is_answered(page: Page) -> None:
    ask(page, "What is LiftQuant?")
    suggestion = page.locator(".suggestion").first
    text = suggestion.inner_text()
    suggestion.click()
    expect(page.locator(".question").last).to_contain_text(text)
    expect(page.locator(".turn").last.locator(".cite").first).to_be_visible()
    expect(page.locator(".turn").last.locator(".outcome")).to_have_count(0)


def test_a_link_asks_its_question_once(browser: Browser, chat: str) -> None:
    with opened(browser, chat) as page:
        page.goto(f"{chat}?q={quote('What is <b>LiftQuant</b>?')}")
        expect(page.locator(".footnote")).to_contain_text("quotation")
        expect(page.locator(".question")).to_contain_text("What is <b>LiftQuant</b>?")
        expect(page).to_have_url(chat)


def test_an_answer_is_saved_in_every_format_with_just_its_papers(page: Page) -> None:
    ask(page, "Which papers are about quantization?")
    expect(page.locator(".suggestion").first).to_be_visible(timeout=20_000)
    expected = {"Markdown": "answer.md", "JSON": "answer.json", "BibTeX": "answer.bib", "RIS": "answer.ris"}
    files = {}
    for form in expected:
        page.locator(".footnote summary").click()
        name, files[form] = downloaded(page, form)
        assert name == expected[form]
    cited = page.locator(".card .label").all_text_contents()
    assert files["BibTeX"].count("@") >= files["RIS"].count("TY  - ") == len(cited)
    assert all(label in files["Markdown"] for label in cited)
    (answer,) = json.loads(files["JSON"])
    assert answer["question"] == "Which papers are about quantization?"

    ask(page, "What is DMPO?")
    page.locator("#kept summary").click()
    with page.expect_download() as download:
        page.locator("#kept").get_by_role("button", name="JSON").click()
    assert download.value.suggested_filename == "conversation.json"
    both = json.loads(Path(download.value.path()).read_text("utf-8"))
    assert [each["question"] for each in both] == ["Which papers are about quantization?", "What is DMPO?"]


def test_an_opinion_is_kept_with_its_note(page: Page, data: Path) -> None:
    ask(page, "What is LiftQuant?")
    page.get_by_role("button", name="This answer is not good").click()
    page.get_by_placeholder("Add a note").fill("Too <b>short</b>")
    page.get_by_placeholder("Add a note").press("Enter")
    expect(page.locator(".thanks")).to_have_text("Kept on this machine, with your note.")
    (feedback,) = FeedbackStore(data).all()
    assert (feedback.question, feedback.verdict, feedback.note) == ("What is LiftQuant?", "down", "Too <b>short</b>")


def test_one_paper_can_be_asked_alone(page: Page) -> None:
    answer = ask(page, "What is the capital of France?")
    answer.get_by_role("button", name=re.compile("^Ask about ")).first.click()
    expect(page.locator("#note")).to_contain_text("Asking only")
    label = page.locator("#note b").inner_text()
    ask(page, "What does it propose?")
    expect(page.locator(".card .label")).to_have_text([label])
    page.get_by_role("button", name="Ask all papers").click()
    expect(page.locator("#note")).not_to_contain_text("Asking only")


def test_a_table_of_papers_sorts_by_a_click_and_by_a_key(page: Page) -> None:
    answer = ask(page, "Which papers are about reinforcement learning?")
    heading = answer.get_by_role("columnheader", name="Paper", exact=False).first
    heading.click()
    expect(page.locator(".suggestion").first).to_be_visible(timeout=20_000)
    expect(heading).to_have_attribute("aria-sort", "ascending")
    names = answer.locator("tbody td:first-child").all_inner_texts()
    assert names == sorted(names, key=str.casefold)
    heading.press("Enter")
    expect(answer.locator("tbody td:first-child")).to_have_text(names[::-1])
    expect(heading).to_have_attribute("aria-sort", "descending")

    ask(page, "What is LiftQuant?")
    expect(page.locator(".turn").first.locator("tbody td:first-child")).to_have_text(names[::-1])


def test_papers_are_added_with_a_report_and_asked(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "owls <i>.bib"
    file.write_text(BIBTEX, "utf-8")
    maths = tmp_path / "maths.txt"
    maths.write_text(FORMULAS, "utf-8")
    page.get_by_role("tab", name="Collections").click()
    page.get_by_role("button", name="Add papers").click()
    expect(page.locator("#report")).to_contain_text("There is no file yet.")

    page.locator("#files input[type=file]").set_input_files([file, maths])
    page.get_by_label("Into the collection").fill("Not a name!")
    page.get_by_role("button", name="Add papers").click()
    expect(page.locator("#report")).to_contain_text("cannot be the name of a collection")
    page.get_by_label("Into the collection").fill("owls")
    page.get_by_role("button", name="Add papers").click()
    report = page.locator("#report .report")
    expect(report).to_contain_text("The collection owls has 2 papers now.")
    expect(report).to_contain_text("2 read, 1 added, 1 skipped")
    report.get_by_text("1 remark").click()
    expect(report.locator("li")).to_contain_text("record 2")
    expect(page.locator("#header")).to_contain_text("owls")
    assert_accessible(page)

    page.get_by_role("tab", name="Chat").click()
    expect(ask(page, "How many owls does OwlNet find?")).to_contain_text("93 percent")
    answer = ask(page, "What is MathNet?")
    expect(answer.locator(".katex").first).to_be_visible()
    expect(answer).to_contain_text("costs between $5 and $10")
    expect(page.locator(".card .math .katex")).not_to_have_count(0)
    assert page.locator(".math a, .math img").count() == 0


def test_several_collections_are_asked_as_one(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "bats.bib"
    file.write_text(BIBTEX.replace("Owl", "Bat").replace("owl", "bat"), "utf-8")
    page.get_by_role("tab", name="Collections").click()
    page.locator("#files input[type=file]").set_input_files(file)
    page.get_by_label("Into the collection").fill("bats")
    page.get_by_role("button", name="Add papers").click()
    expect(page.locator("#header")).to_contain_text("1 paper")
    page.get_by_label("icml2026").check()
    expect(page.locator("#header")).to_contain_text("bats + icml2026")
    page.get_by_role("tab", name="Chat").click()
    ask(page, "What is LiftQuant?")
    ask(page, "What is BatNet?")
    expect(page.locator(".card .label")).to_have_text(["LiftQuant", "BatNet"])


def test_the_map_marks_the_last_answer_and_leads_to_papers(page: Page) -> None:
    ask(page, "What is LiftQuant?")
    page.get_by_role("tab", name="Map").click()
    picture = page.locator("paper-atlas")
    expect(picture).to_contain_text("34 papers in", timeout=60_000)
    expect(picture).to_contain_text("in the last answer (1)")
    expect(picture.locator("canvas").first).to_be_visible()
    picture.locator("details summary").first.click()
    picture.locator('[data-act="paper"]').first.click()
    expect(page.locator(".paper-page")).to_be_visible()
    expect(page.get_by_role("tab", name="Papers")).to_have_attribute("aria-selected", "true")


def test_a_first_start_makes_the_built_in_collection(browser: Browser, tmp_path: Path) -> None:
    with served({"data_dir": str(tmp_path / "new")}) as (address,), opened(browser, address) as page:
        expect(page.locator("#header")).to_contain_text("34 papers")
        assert numbers(ask(page, "What is LiftQuant?"))
