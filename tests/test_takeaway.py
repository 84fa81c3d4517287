"""Answers and reading lists that leave the program, read back by the parsers of those who get them."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import bibtexparser
import pytest
import rispy
from hypothesis import given
from hypothesis import strategies as st
from icalendar import Calendar
from markdown_it import MarkdownIt
from markdown_it.token import Token

from assistant import Answer, Assistant
from assistant.takeaway import READING_LIST_AS, TAKEN_AS, ReadingItem, cited_papers, clashes
from assistant.types import Citation, Sentence
from vectorstore.exporting import bibtex, ris
from vectorstore.loading import bibtex as bibtex_reader
from vectorstore.loading import tagged
from vectorstore.loading.document import Document
from vectorstore.markup import escaped_markdown
from vectorstore.types import Paper, PaperRecord, Span

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "[click](javascript:alert(1)) ![pixel](http://a.example/x.png)",
    "# Heading\n\n- item\n1. one\n> quote\n***\n---\n===",
    "```\ncode\n```\n    indented `code`",
    "[1]: http://a.example\n[1]",
    "}, title = {other}}\n@article{planted, title={Planted}}",
    "\\} \\textbf{x} \\",
    "ER  - \nTY  - JOUR\nTI  - Planted\r\nER  - \r\n",
    "END:VEVENT\r\nBEGIN:VEVENT\r\nSUMMARY:planted\r\n",
    "\u2028TY  - JOUR\u2028TI  - Planted\x85ER  - ",
    "a | b\n| --- | --- |\n| c | d |",
    "~~gone~~ *em* __strong__ &lt;b&gt; $x$ **[2]**",
    "\x1b]0;title\x07 \u202etxet",
]
MARKS = st.text(alphabet=st.sampled_from("\\`*_{}[]()<>#+-.!|~=&$:;\"'%@,^/ \n\r\t\u2028a1é"), max_size=40)
TEXT = MARKS | st.sampled_from(HOSTILE) | st.text(alphabet=st.characters(codec="utf-8"), max_size=40)


def paper(number: int = 1, **known: Any) -> Paper:
    plain: dict[str, Any] = {
        "paper_id": f"id{number}",
        "label": f"Net{number}",
        "title": f"Net {number} sees owls",
        "abstract": f"Net{number} is new. It sees 50 owls.",
        "authors": ("Ada Byron",),
        "venue": "ICML",
        "year": 2026,
        "source": "papers.txt",
        "position": number,
    }
    return Paper(**{**plain, **known})


def cite(of: Paper, number: int, span: Span | None = None) -> Citation:
    return Citation(citation_id=f"{of.paper_id}-{number}", number=number, paper=of, span=span or Span(0, 12))


def answer(*sentences: Sentence, question: str = "What is new?", standalone: str | None = None) -> Answer:
    return Answer(
        question=question,
        standalone_question=standalone or question,
        kind="fact",
        status="answered",
        sentences=sentences,
        passages=(),
        writer="quotation",
        timings_ms={},
        usage=None,
        evidence=None,
        fingerprint="f1",
    )


def quoted(text: str, *citations: Citation, shown: bool = True) -> Sentence:
    return Sentence(text=text, verdict="quoted", citations=citations, shown=shown, opens="paragraph")


def parsed(markdown: str) -> list[Token]:
    """All tokens, those within lines too."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown)
    return [inner for token in tokens for inner in (token, *(token.children or ()))]


def kinds(tokens: list[Token]) -> set[str]:
    return {token.type for token in tokens}


def records(reader: Callable[[Document], Any], text: str) -> list[PaperRecord]:
    found = list(reader(Document.of("export", text.encode())))
    assert all(isinstance(record, PaperRecord) for record in found)
    return found


TWO = [
    answer(
        quoted("“Net2 is new.”", cite(paper(2), 1)),
        quoted("Left out.", cite(paper(3), 2), shown=False),
        question="What is new?",
    ),
    answer(
        quoted("“Net5 is new.”", cite(paper(5), 4)),
        quoted("“It sees 50 owls.”", cite(paper(2), 1, Span(13, 29))),
        question="And what does it see?",
        standalone="What does Net2 see?",
    ),
]


def test_an_answer_is_taken_away_with_its_numbers_sources_and_quotations() -> None:
    text = TAKEN_AS["markdown"].text_of(TWO)
    assert text == (
        "## What is new?\n\n“Net2 is new.” [1]\n\n"
        "## And what does it see?\n\nRead as: What does Net2 see?\n\n“Net5 is new.” [4]\n\n“It sees 50 owls.” [1]\n\n"
        "## Sources\n\n"
        "- [1] **Net2**. Net 2 sees owls. Ada Byron. ICML 2026\n\n  > Net2 is new.\n\n  > It sees 50 owls.\n\n"
        "- [4] **Net5**. Net 5 sees owls. Ada Byron. ICML 2026\n\n  > Net5 is new.\n"
    )


def test_exactly_the_cited_papers_are_taken_away_in_the_order_of_their_numbers() -> None:
    assert [one.label for one in cited_papers(TWO)] == ["Net2", "Net5"]
    assert [one.label for one in cited_papers(TWO[::-1])] == ["Net2", "Net5"]
    titles = ["Net 2 sees owls", "Net 5 sees owls"]
    assert [one["title"] for one in rispy.loads(TAKEN_AS["ris"].text_of(TWO))] == titles
    assert [one.title for one in records(bibtex_reader.read, TAKEN_AS["bibtex"].text_of(TWO))] == titles
    assert TAKEN_AS["bibtex"].text_of([answer(quoted("Hello."))]) == ""


def test_json_is_the_answers_as_python_has_them() -> None:
    text = TAKEN_AS["json"].text_of([*TWO, answer(quoted("turned \u202e round"))])
    read = json.loads(text)
    assert read[:2] == [one.to_dict() for one in TWO]
    assert read[2]["sentences"][0]["text"] == "turned \u202e round"
    assert {one["fingerprint"] for one in read} == {"f1"}
    assert "\u202e" not in text
    assert "\n  " in text


@pytest.mark.parametrize(
    ("known", "link"),
    [
        ({"doi": "10.1000/a_b", "urls": ("https://a.example/1",)}, "https://doi.org/10.1000/a_b"),
        ({"urls": ("javascript:alert(1)", "https://a.example/x y>z")}, "https://a.example/xy%3Ez"),
        ({"urls": ("data:text/html,x",)}, None),
    ],
)
def test_a_source_is_linked_by_its_doi_or_its_page_on_the_web(known: dict[str, Any], link: str | None) -> None:
    tokens = parsed(TAKEN_AS["markdown"].text_of([answer(quoted("New.", cite(paper(**known), 1)))]))
    links = [token.attrs["href"] for token in tokens if token.type == "link_open"]
    assert links == ([link] if link else [])


OURS = {
    *("heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline", "text", "text_special"),
    *("bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close", "strong_open", "strong_close"),
    *("blockquote_open", "blockquote_close"),
}


@given(TEXT)
def test_no_text_becomes_anything_but_text_in_markdown(text: str) -> None:
    bad = paper(label=text or "x", title=text, authors=(text,), venue=text, abstract=f"{text} is new.", urls=(text,))
    cited = cite(bad, 1, Span(0, len(bad.abstract)))
    tokens = parsed(TAKEN_AS["markdown"].text_of([answer(quoted(text, cited), quoted(text), question=text)]))
    assert kinds(tokens) <= OURS
    assert [token.type for token in tokens].count("heading_open") == 2
    tokens = parsed(READING_LIST_AS["markdown"].text_of([ReadingItem(bad, text)]))
    assert kinds(tokens) <= OURS
    assert [token.type for token in tokens].count("heading_open") == 1
    assert [token.type for token in tokens].count("list_item_open") == 1


@given(st.text(alphabet=st.sampled_from("\\`*_{}[]()<>#+-.!~=&$:ab1é "), max_size=40))
def test_markdown_shows_the_text_as_it_was(text: str) -> None:
    (shown,) = [token for token in parsed(f"x {escaped_markdown(text)} x") if token.type == "inline"]
    joined = "".join(token.content for token in shown.children or ())
    assert joined.split() == f"x {text} x".split()
    assert kinds(parsed(escaped_markdown(text))) <= OURS


def test_bars_in_the_cells_of_a_table_stay_in_their_cells() -> None:
    cells = [
        Sentence(text=text, verdict="program", opens="cell" if at % 2 else "row")
        for at, text in enumerate(["a | b", "c \\| d", "e", "- f"])
    ]
    tokens = parsed(TAKEN_AS["markdown"].text_of([answer(*cells)]))
    assert [token.type for token in tokens].count("th_open") == 2
    inline = [token for token in tokens if token.type == "inline"][1:]
    shown = ["".join(child.content for child in token.children or ()) for token in inline]
    assert shown == ["a | b", "c \\| d", "e", "- f"]


def test_a_real_conversation_is_taken_away_whole(assistant: Assistant) -> None:
    given_to = [assistant.ask("Compare LiftQuant and ProjQ"), assistant.ask("Which paper proposes AlphaFold 3?")]
    texts = {name: format_.text_of(given_to) for name, format_ in TAKEN_AS.items()}
    cited = cited_papers(given_to)
    assert {one.label for one in cited} == {"LiftQuant", "ProjQ"}
    tokens = parsed(texts["markdown"])
    assert [token.type for token in tokens].count("heading_open") == 3
    assert "table_open" in kinds(tokens)
    assert [one["title"] for one in rispy.loads(texts["ris"])] == [one.label for one in cited]
    assert len(records(tagged.read_ris, texts["ris"])) == len(records(bibtex_reader.read, texts["bibtex"])) == 2


@pytest.mark.parametrize(
    ("known", "entry", "kind"),
    [
        ({"venue": "ICML"}, "inproceedings", "CONF"),
        ({"venue": "Findings", "session": "Session 1"}, "inproceedings", "CONF"),
        ({"venue": "Proceedings of the 9th Workshop on Owls"}, "inproceedings", "CONF"),
        ({"venue": "Proceedings of the National Academy of Sciences"}, "article", "JOUR"),
        ({"venue": "Nature"}, "article", "JOUR"),
        ({"venue": None, "track": "Oral"}, "misc", "GEN"),
    ],
)
def test_an_entry_is_of_the_kind_of_its_venue(known: dict[str, Any], entry: str, kind: str) -> None:
    (found,) = bibtexparser.parse_string("".join(bibtex([paper(**known)]))).entries
    container = {"inproceedings": {"booktitle"}, "article": {"journal"}, "misc": set()}[entry]
    assert found.entry_type == entry
    assert {"booktitle", "journal"} & set(found.fields_dict) == container
    (record,) = rispy.loads("".join(ris([paper(**known)])))
    assert record["type_of_reference"] == kind


FULL = paper(
    title="Owls & $x^2$: 50\\% of {Mice} cost #1_a ~ é",
    authors=("Ada Byron", "Ludwig van der Berg", "Martin King, Jr.", "OpenAI", "Carl Gauß"),
    doi="10.1000/a_b%c#d",
    arxiv_id="2401.00001",
    urls=("https://a.example/x_y%20z#part", "https://github.com/a/b"),
    pdf_url="https://a.example/x.pdf",
    keywords=("owls", "mice"),
    abstract="We show 50\\% of owls.\nThey see $x^2$.",
)


def test_bibtex_is_read_back_with_its_addresses_as_they_are() -> None:
    text = "".join(bibtex([FULL]))
    (entry,) = bibtexparser.parse_string(text).entries
    assert entry["doi"] == FULL.doi
    assert entry["url"] == FULL.urls[0]
    title = r"Owls \& x²: 50\% of \textbraceleft{}Mice\textbraceright{} cost \#1\_a \textasciitilde{} é"
    assert entry["title"] == f"{{{title}}}"
    (read,) = records(bibtex_reader.read, text)
    assert read.title == "Owls & x²: 50% of Mice cost #1_a ~ é"
    assert read.authors == ("Ada Byron", "Ludwig van der Berg", "Martin King, Jr.", "OpenAI", "Carl Gauß")
    assert (read.doi, read.arxiv_id, read.venue, read.year) == (FULL.doi, "2401.00001", "ICML", 2026)
    assert read.keywords == ("owls", "mice")
    assert read.abstract == "We show 50% of owls. They see x²."


def test_ris_is_read_back_by_others_and_by_us() -> None:
    text = "".join(ris([FULL, paper(2, abstract="Net 2 sees owls")]))
    record, title_only = rispy.loads(text)
    assert record["authors"] == ["Byron, Ada", "van der Berg, Ludwig", "King, Martin, Jr.", "OpenAI", "Gauß, Carl"]
    assert record["secondary_title"] == "ICML"
    assert (record["doi"], record["year"], record["keywords"]) == (FULL.doi, "2026", ["owls", "mice"])
    assert record["urls"] == [FULL.urls[0], "https://arxiv.org/abs/2401.00001"]
    assert record["abstract"] == "We show 50% of owls. They see x²."
    assert "abstract" not in title_only
    read, _ = records(tagged.read_ris, text)
    assert read.title == "Owls & x²: 50% of Mice cost #1_a ~ é"
    assert read.authors == ("Ada Byron", "Ludwig van der Berg", "Martin King Jr.", "OpenAI", "Carl Gauß")
    assert (read.doi, read.arxiv_id, read.venue, read.year) == (FULL.doi, "2401.00001", "ICML", 2026)
    assert read.pdf_url == FULL.pdf_url
    assert all(line.endswith("\r\n") for line in text.splitlines(keepends=True))


@given(TEXT, TEXT)
def test_no_text_ends_an_entry_or_begins_another(text: str, other: str) -> None:
    bad = paper(
        label=text or "x", title=text, authors=(text, other), venue=text, abstract=f"{text} is new.", doi=other,
        arxiv_id=other, urls=(text,), pdf_url=text, keywords=(text, other),
    )  # fmt: skip
    items = [ReadingItem(bad, other), ReadingItem(paper(2), text)]
    library = bibtexparser.parse_string(READING_LIST_AS["bibtex"].text_of(items))
    assert len(library.entries) == len(library.blocks) == 2
    assert len(records(bibtex_reader.read, READING_LIST_AS["bibtex"].text_of(items))) == 2
    assert len(rispy.loads(READING_LIST_AS["ris"].text_of(items))) == 2
    assert len(records(tagged.read_ris, READING_LIST_AS["ris"].text_of(items))) == 2


ORAL = paper(1, starts_at="2026-07-15T11:00:00-07:00", track="Oral", session="Oral 1", room="Hall A")
ITEMS = [
    ReadingItem(ORAL, "Ask about owls;\nand mice, too."),
    ReadingItem(paper(2, starts_at="2026-07-15T18:15:00+00:00", session="Oral 2", room="Hall B")),
    ReadingItem(paper(3, starts_at="2026-07-16")),
    ReadingItem(paper(4)),
    ReadingItem(paper(5, starts_at="2026-07-15T11:00:00", room="Hall C")),
    ReadingItem(paper(6, starts_at="soon", doi="10.1000/six")),
]


def test_a_reading_list_has_notes_times_places_and_clashes() -> None:
    text = READING_LIST_AS["markdown"].text_of(ITEMS)
    assert text.startswith("# Reading list\n\n- **Net1**. Net 1 sees owls. Ada Byron. ICML 2026\n\n")
    assert "\n\n  2026-07-15 11:00 UTC-07:00, Oral, Oral 1, Hall A\n\n  Ask about owls;\n\n  and mice, too.\n\n" in text
    assert "\n\n  2026-07-16\n\n" in text
    assert "<https://doi.org/10.1000/six>" in text
    assert text.endswith(
        "\n\n## Clashes\n\n- Net1 (2026-07-15 11:00 UTC-07:00, Oral, Oral 1, Hall A) and "
        "Net2 (2026-07-15 18:15 UTC, Oral 2, Hall B)\n"
    )
    assert "Clashes" not in READING_LIST_AS["markdown"].text_of(ITEMS[2:])


def test_notes_go_with_the_papers_to_reference_managers() -> None:
    entries = bibtexparser.parse_string(READING_LIST_AS["bibtex"].text_of(ITEMS)).entries
    assert [entry.get("annote") and entry["annote"] for entry in entries[:2]] == [
        "Ask about owls; and mice, too.",
        None,
    ]
    read = rispy.loads(READING_LIST_AS["ris"].text_of(ITEMS))
    assert [record.get("notes") for record in read[:2]] == [["Ask about owls; and mice, too."], None]
    assert len(entries) == len(read) == len(ITEMS)


def events(items: list[ReadingItem]) -> list[Any]:
    calendar = Calendar.from_ical(READING_LIST_AS["calendar"].text_of(items))
    assert not calendar.errors
    return list(calendar.walk("VEVENT"))


def test_the_calendar_has_an_event_for_each_paper_whose_time_is_known() -> None:
    first, second, whole_day, floating = events(ITEMS)
    assert [str(event["uid"]) for event in (first, second, whole_day, floating)] == [
        f"id{number}@abstract-assistant" for number in (1, 2, 3, 5)
    ]
    assert first.decoded("dtstart") == datetime(2026, 7, 15, 18, tzinfo=UTC)
    assert first.decoded("dtend") - first.decoded("dtstart") == timedelta(minutes=30)
    assert str(first["summary"]) == "Net1: Net 1 sees owls"
    assert str(first["location"]) == "Hall A, Oral 1"
    assert str(first["description"]) == (
        "Ask about owls;\nand mice, too.\n\nClashes with Net2 (2026-07-15 18:15 UTC, Oral 2, Hall B)."
    )
    assert whole_day.decoded("dtstart") == date(2026, 7, 16)
    assert "dtend" not in whole_day
    assert floating.decoded("dtstart") == datetime(2026, 7, 15, 11)
    assert floating.decoded("dtend") == datetime(2026, 7, 15, 11, 30)
    assert "description" not in floating
    assert READING_LIST_AS["calendar"].text_of(ITEMS) == READING_LIST_AS["calendar"].text_of(list(ITEMS))


def test_what_is_not_in_the_calendar_is_told() -> None:
    remark = READING_LIST_AS["calendar"].remark_on(ITEMS)
    assert remark.startswith("No time is known of Net4, Net6: not in the calendar. 30 minutes are kept for each paper")
    assert "without a time zone" in remark
    assert "zone" not in READING_LIST_AS["calendar"].remark_on(ITEMS[:2])
    assert READING_LIST_AS["calendar"].remark_on([ITEMS[2]]) == ""
    assert READING_LIST_AS["markdown"].remark_on(ITEMS) == ""
    assert events([ITEMS[3]]) == []


@pytest.mark.parametrize(
    ("known", "clash"),
    [
        ({"starts_at": "2026-07-15T18:29:00+00:00", "session": "Oral 2"}, True),
        ({"starts_at": "2026-07-15T17:31:00+00:00", "room": "Hall B"}, True),
        ({"starts_at": "2026-07-15T18:30:00+00:00", "session": "Oral 2"}, False),
        ({"starts_at": "2026-07-15T18:00:00+00:00", "session": "Oral 1", "room": "Hall B"}, False),
        ({"starts_at": "2026-07-15T18:00:00+00:00", "session": "Oral 2", "room": "Hall A"}, False),
        ({"starts_at": "2026-07-15T18:00:00+00:00"}, False),
        ({"starts_at": "2026-07-15T11:00:00", "session": "Oral 2"}, False),
        ({"starts_at": "2026-07-15", "session": "Oral 2"}, False),
    ],
)
def test_papers_clash_that_overlap_in_different_places(known: dict[str, Any], clash: bool) -> None:
    other = paper(2, **known)
    found = clashes([ORAL, other])
    assert [{one.first.label, one.second.label} for one in found] == [{"Net1", "Net2"}] * clash
    assert clashes([other, ORAL]) == found
    assert all(one.other_than(ORAL) == other and one.other_than(paper(3)) is None for one in found)


@pytest.mark.parametrize(
    "start", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:00", "9999-12-31T23:59:00-12:00", "x"]
)
def test_a_time_that_cannot_be_is_no_time(start: str) -> None:
    assert events([ReadingItem(replace(ORAL, starts_at=start))]) == []


@given(TEXT)
def test_no_text_adds_an_event_or_a_property(text: str) -> None:
    bad = replace(ORAL, label=text or "x", title=text, session=text, room=text, track=text, urls=(text,))
    (event,) = events([ReadingItem(bad, text)])
    assert set(event) <= {"UID", "DTSTAMP", "DTSTART", "DTEND", "SUMMARY", "LOCATION", "DESCRIPTION"}
