"""What a notebook and a Python prompt show of an answer."""

from dataclasses import replace
from html.parser import HTMLParser

import pytest

from assistant import Answer, Assistant
from assistant.types import Sentence


class _Page(HTMLParser):
    """The elements, the links, and the text of each kind of element."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert not any(name.startswith("on") for name, _ in attributes)
        self.tags.append(tag)
        self._open.append(tag)
        self.texts.setdefault(tag, []).append("")
        self.links += [value or "" for name, value in attributes if name == "href"]

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in self._open:
            self.texts[tag][-1] += data


def page(answer: Answer) -> _Page:
    return _Page(answer._repr_html_())


def test_a_notebook_marks_quotations_and_lists_sources_with_links(assistant: Assistant) -> None:
    answer = assistant.ask("Which GPU does LiftQuant fit on?")
    shown = page(answer)
    assert shown.texts["b"][0] == answer.question
    quoted = [sentence for sentence in answer.sentences if sentence.verdict == "quoted"]
    assert shown.texts["i"] == [sentence.text for sentence in quoted]
    assert set(shown.texts["sup"]) == {"[1]"}
    assert shown.texts["li"] == ["LiftQuant · ICML 2026 · github.com/Heliulu/LiftQuant"]
    assert shown.links == ["https://github.com/Heliulu/LiftQuant"]


@pytest.mark.parametrize(
    ("question", "tag", "count"),
    [
        ("Compare LiftQuant and ProjQ in terms of bits and speed.", "tr", 3),
        ("Which papers are about diffusion language models?", "ul", 1),
    ],
)
def test_comparisons_are_tables_and_lists_are_lists(assistant: Assistant, question: str, tag: str, count: int) -> None:
    assert page(assistant.ask(question)).tags.count(tag) == count


def test_what_papers_and_models_wrote_is_text_in_a_notebook(assistant: Assistant) -> None:
    answer = assistant.ask("Which GPU does LiftQuant fit on?")
    citation = answer.citations[0]
    hostile = "<script>alert(1)</script> <img src=x onerror=alert(1)> \x1b[31m"
    paper = replace(citation.paper, label=hostile, venue=hostile, urls=("javascript:alert(1)", 'https://a.b/"><img>'))
    sentences = [
        Sentence(text=hostile, verdict=verdict, citations=(replace(citation, paper=paper),), opens=opens)
        for verdict, opens in (
            ("quoted", "paragraph"),
            ("supported", "row"),
            ("supported", "cell"),
            ("program", "item"),
        )
    ]
    shown = page(replace(answer, question=hostile, sentences=tuple(sentences)))
    assert not {"script", "img"} & set(shown.tags)
    assert shown.links == []
    assert "<script>alert(1)</script>" in shown.texts["i"][0]
    assert "\x1b" not in "".join(shown.texts["div"])


def test_dollars_are_not_drawn_as_formulas(assistant: Assistant) -> None:
    assert "mathjax_ignore" in assistant.ask("What is LiftQuant?")._repr_html_()


def test_a_prompt_shows_the_beginning_of_an_answer(assistant: Assistant) -> None:
    answer = assistant.ask("Which papers are about diffusion language models?")
    assert repr(answer).startswith(f"Answer(question={answer.question!r}, status='answered', text='2 papers on")
    assert len(repr(answer)) < 400
    hostile = replace(answer, question="\x1b[31m", sentences=(Sentence(text="\x1b]8;;x\x07y", verdict="program"),))
    assert repr(hostile) == "Answer(question='', status='answered', text='y')"
