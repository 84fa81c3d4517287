"""What the tools of the MCP server give back: readable text, and the same as data. Both are bounded.

Text of papers stays text: in the readable part it makes no link, image or element.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from assistant.takeaway.markdown import paper_markdown
from assistant.types import Answer, passage_dict
from vectorstore.facets import Choices
from vectorstore.markup import as_markdown, escaped_markdown, readable
from vectorstore.types import Paper, Passage

LARGEST_TEXT = 25_000
"""Bytes."""
LARGEST_DATA = 50_000
"""Bytes, as JSON."""
_ROOM = 2_000
"""Bytes of both that are kept for what stands around lists and long texts."""
_LONGEST_TEXT = 2_000
"""Bytes of a quotation, a passage or a question."""
_LONGEST_FACT = 200
"""Bytes of a title, a name or an address."""
_LONGEST_LINE = 1_000
_AUTHORS = 10
_VALUES = 20
"""Addresses, keywords, venues ... of each kind."""
_STATUS = {
    "answered": "answered",
    "not_stated": "not_stated (papers on this are there, but their abstracts do not state what was asked)",
    "not_covered": "not_covered (no paper here is about this)",
}


@dataclass(frozen=True)
class Result:
    """What one call gives."""

    text: str
    data: dict[str, Any]


@dataclass(frozen=True)
class _Item:
    """One paper or passage of a list."""

    line: str
    data: dict[str, Any]


def answer_result(answer: Answer) -> Result:
    """The answer, its sources and its status; as data, `Answer.to_dict()` without what is too much of it."""
    text = _cut(answer.text, LARGEST_TEXT - _ROOM)
    sources = {citation.number: citation.paper for citation in answer.citations}
    items = [_Item(f"[{number}] {_line(paper)}", {}) for number, paper in sorted(sources.items())]
    shown = _fitting(items, _bytes(text))
    data, left_out = _answer_data(answer)
    notes = [
        *([f"Sources:\n{_lines(shown)}"] if shown else []),
        f"Status: {_STATUS[answer.status]}.",
        *(["The answer is cut here; ask about less at a time for all of it."] if text != answer.text else []),
        *([f"{len(items) - len(shown)} more sources are not listed here."] if len(shown) < len(items) else []),
        *([_told(left_out)] if left_out else []),
    ]
    return Result("\n\n".join([text, *notes]), data)


def _answer_data(answer: Answer) -> tuple[dict[str, Any], dict[str, int]]:
    """The data, and how many of its passages and sentences were left out, last ones first."""
    plain = answer.to_dict()
    for citation in plain["citations"]:
        citation["authors"] = _shortened(_some(citation["authors"], _AUTHORS), _LONGEST_FACT)
    for passage in plain["passages"]:
        passage["words"] = _shortened(_some(passage["words"], _VALUES), _LONGEST_FACT)
    whole = plain.pop("answer")
    data = {**_shortened(plain, _LONGEST_TEXT), "answer": _cut(whole, LARGEST_TEXT - _ROOM)}
    excess = _size(data) - LARGEST_DATA + _ROOM
    left_out = {"passages": 0, "sentences": 0}
    while excess > 0 and data["passages"]:
        excess -= _size(data["passages"].pop())
        left_out["passages"] += 1
    while excess > 0 and data["sentences"]:
        sentence = data["sentences"].pop()
        cited = [data["citations"].pop() for _ in sentence["citations"]]
        excess -= _size(sentence) + sum(map(_size, cited))
        left_out["sentences"] += 1
    left_out = {name: count for name, count in left_out.items() if count}
    return ({**data, "left_out": left_out} if left_out else data), left_out


def _told(left_out: dict[str, int]) -> str:
    counts = " and ".join(f"{count} {name}" for name, count in left_out.items())
    return f"Left out of the data, as it would be too long: {counts}. search_papers and get_paper give the passages."


def passages_result(query: str, passages: Sequence[Passage], offset: int, *, has_more: bool) -> Result:
    """Passages found, from the one of rank `offset` + 1 on."""
    shown = _fitting(_passage_item(passage, rank) for rank, passage in enumerate(passages, start=offset + 1))
    end = offset + len(shown)
    next_offset = end if has_more or len(shown) < len(passages) else None
    data = {
        "query": _cut(query, _LONGEST_TEXT),
        "passages": [item.data for item in shown],
        "offset": offset,
        "next_offset": next_offset,
    }
    if not shown:
        text = "No more passages." if offset else "No paper passes the filter."
    else:
        text = f"Passages {offset + 1} to {end}, best first:\n\n{_lines(shown)}"
    return Result("\n\n".join([text, *_more(next_offset)]), data)


def _passage_item(passage: Passage, rank: int) -> _Item:
    data = passage_dict(passage, None)
    data["words"] = _shortened(_some(data["words"], _VALUES), _LONGEST_FACT)
    line = (
        f"{rank}. {_line(passage.paper)} (id {passage.paper.paper_id}; {escaped_markdown(passage.why)})\n"
        f"   > {_cut(as_markdown(readable(passage.text)), _LONGEST_TEXT)}"
    )
    return _Item(line, {**_brief(passage.paper), **_shortened(data, _LONGEST_TEXT)})


def papers_result(
    papers: Sequence[Paper], total: int, offset: int, choices: Choices, collections: Sequence[str]
) -> Result:
    """A page of a list, from paper `offset` on; the first page also tells what can be filtered by."""
    to_choose = {} if offset else _choices(choices, collections)
    items = (
        _Item(f"{at}. {_line(paper)} (id {paper.paper_id})", _brief(paper))
        for at, paper in enumerate(papers, start=offset + 1)
    )
    shown = _fitting(items, _size(to_choose))
    end = offset + len(shown)
    next_offset = end if shown and end < total else None
    data = {
        "total": total,
        "papers": [item.data for item in shown],
        "offset": offset,
        "next_offset": next_offset,
        **({"choices": to_choose} if to_choose else {}),
    }
    told = [
        f"{name}: {', '.join(escaped_markdown(str(value)) for value in to_choose[name])}."
        for name in ("collections", "venues", "years")
        if to_choose.get(name)
    ]
    text = [
        f"{total:,} papers; {offset + 1:,} to {end:,}:\n\n{_lines(shown)}" if shown else f"{total:,} papers.",
        *([f"To choose from: {' '.join(told)}"] if told else []),
        *_more(next_offset),
    ]
    return Result("\n\n".join(text), data)


def _choices(choices: Choices, collections: Sequence[str]) -> dict[str, Any]:
    """What a search or a list can be confined to, of each kind the first."""
    return {
        "collections": [_cut(name, _LONGEST_FACT) for name in collections[:_VALUES]],
        "venues": {_cut(name, _LONGEST_FACT): count for name, count in list(choices.venues.items())[:_VALUES]},
        "years": {str(year): count for year, count in list(choices.years.items())[:_VALUES]},
        "with_code": choices.with_code,
    }


def paper_result(paper: Paper, similar: Sequence[Paper], offset: int) -> Result:
    """All that is known of a paper, its abstract from character `offset` on."""
    known = asdict(paper)
    for unknown in ("source", "position", "abstract"):  # where its file lies is nobody's business
        del known[unknown]
    data = _shortened(known, _LONGEST_FACT)
    data |= {name: _some(data[name], _VALUES) for name in ("authors", "urls", "keywords")}
    data["similar"] = [{"paper_id": other.paper_id, "label": _cut(other.label, _LONGEST_FACT)} for other in similar]
    room = min(LARGEST_TEXT, LARGEST_DATA) - 3 * _ROOM
    piece = _cut(paper.abstract[offset:], room, mark="")
    end = offset + len(piece)
    length = len(paper.abstract)
    data |= {
        "abstract": piece,
        "abstract_start": offset,
        "abstract_end": end,
        "abstract_length": length,
        "next_offset": end if end < length else None,
    }
    facts = [
        f"{name.replace('_', ' ')}: {escaped_markdown(str(data[name]))}"
        for name in ("doi", "arxiv_id", "track", "session", "room", "starts_at", "pdf_url")
        if data[name]
    ]
    labels = [escaped_markdown(other["label"]) for other in data["similar"]]
    text = [
        f"{_line(paper)} (id {paper.paper_id})",
        *(["; ".join(facts)] if facts else []),
        f"Abstract, characters {offset:,} to {end:,} of {length:,}:",
        f"> {_cut(as_markdown(readable(piece)), room)}",
        *([f"Similar papers: {', '.join(labels)}."] if labels else []),
        *_more(data["next_offset"]),
    ]
    return Result("\n\n".join(text), data)


def _brief(paper: Paper) -> dict[str, Any]:
    """What a list says of a paper."""
    facts = {
        "paper_id": paper.paper_id,
        "label": paper.label,
        "title": paper.title,
        "authors": _some(paper.authors, _AUTHORS),
        "venue": paper.venue,
        "year": paper.year,
        "url": paper.urls[0] if paper.urls else None,
    }
    return {name: _shortened(value, _LONGEST_FACT) for name, value in facts.items()}


def _line(paper: Paper) -> str:
    """A paper on one line of Markdown."""
    authors = _shortened(_some(paper.authors, _AUTHORS), _LONGEST_FACT)
    return _cut(paper_markdown(replace(paper, authors=tuple(authors))), _LONGEST_LINE)


def _more(next_offset: int | None) -> list[str]:
    return [] if next_offset is None else [f"There is more: call this again with offset={next_offset}."]


def _lines(items: Sequence[_Item]) -> str:
    return "\n".join(item.line for item in items)


def _fitting(items: Iterable[_Item], used: int = 0) -> list[_Item]:
    """The first items that fit beside `used` bytes, if there are any at least one."""
    shown: list[_Item] = []
    text = data = used + _ROOM
    for item in items:
        text, data = text + _bytes(item.line) + 1, data + _size(item.data) + 2
        if shown and (text > LARGEST_TEXT or data > LARGEST_DATA):
            break
        shown.append(item)
    return shown


def _shortened(value: Any, longest: int) -> Any:
    """`value` with each string in it cut to so many bytes."""
    if isinstance(value, str):
        return _cut(value, longest)
    if isinstance(value, dict):
        return {name: _shortened(item, longest) for name, item in value.items()}
    return [_shortened(item, longest) for item in value] if isinstance(value, list | tuple) else value


def _some(values: Sequence[str], most: int) -> list[str]:
    """The first ones; the last of them says how many more there are."""
    return [*values[:most], f"and {len(values) - most} more"] if len(values) > most else list(values)


def _cut(text: str, most: int, *, mark: str = " […]") -> str:
    """`text`, or a beginning of it that takes at most `most` bytes in JSON."""
    piece = text[:most]
    while _size(piece) > most:
        piece = piece[: len(piece) * 9 // 10]
    return text if len(piece) == len(text) else piece + mark


def _bytes(text: str) -> int:
    return len(text.encode())


def _size(value: Any) -> int:
    return _bytes(json.dumps(value, ensure_ascii=False))
