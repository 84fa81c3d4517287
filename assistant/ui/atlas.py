"""The map as HTML: the data that `static/atlas.js` draws, lists of topics, and a table of papers per topic and year.

`html.escaped` guards every text; the drawing takes texts as text only.
"""

import json
from collections import Counter
from collections.abc import Collection, Sequence
from math import dist

from assistant.html import counted, escaped, shortened
from vectorstore.atlas import Atlas, Topic
from vectorstore.markup import readable
from vectorstore.types import Paper

_COLOURS = 8
"""More could not be told apart; topics far from each other share one."""
_LONGEST_TITLE = 160
_YEARS = 10
"""Columns of the table; what is older shares the first."""
_IN_JSON = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})
"""So that no text ends the element that holds it."""


def atlas_html(atlas: Atlas, papers: Sequence[Paper], highlighted: Collection[str] = ()) -> str:
    """The map of `papers`, those of the last answer `highlighted` by their ids; in words when there is none."""
    known = {paper.paper_id: paper for paper in papers}
    shown = [place for place in atlas.places if place.paper_id in known]
    if not shown:
        return '<p class="atlas-none">There is no paper to draw yet.</p>'
    colours = _colours(atlas.topics)
    data = {
        "topics": [
            {"name": topic.name, "x": topic.x, "y": topic.y, "papers": topic.papers, "colour": colour}
            for topic, colour in zip(atlas.topics, colours, strict=True)
        ],
        "papers": [[place.x, place.y, place.topic, *_known(known[place.paper_id])] for place in shown],
        "highlighted": [place.paper_id for place in shown if place.paper_id in highlighted],
    }
    drawn = json.dumps(data, ensure_ascii=False, separators=(",", ":")).translate(_IN_JSON)
    facts = f"{counted(len(shown), 'paper')} in {counted(len(atlas.topics), 'topic')}"
    return (
        f'<paper-atlas class="atlas"><script type="application/json">{drawn}</script>'
        f'<header><h2>Map</h2><p class="facts">{facts}; the nearer two papers are, the more alike.</p></header>'
        '<div class="drawing"></div>'
        f'<section class="topics"><h3>Papers by topic</h3>{_lists(atlas.topics, colours)}</section>'
        f"{_table(atlas, [(place.topic, known[place.paper_id].year) for place in shown])}</paper-atlas>"
    )


def _known(paper: Paper) -> list[str | int | None]:
    """What the drawing knows of a paper: id, year, label, title, place."""
    title = shortened(readable(paper.title or paper.abstract), _LONGEST_TITLE)
    return [paper.paper_id, paper.year, readable(paper.label), title, readable(paper.place)]


def _colours(topics: Sequence[Topic]) -> list[int]:
    """A colour for each topic: one that is free, or that of the topics that are farthest away."""
    colours: list[int] = []
    for topic in topics:
        nearest = [
            min(
                (dist((topic.x, topic.y), (o.x, o.y)) for o, c in zip(topics, colours, strict=False) if c == colour),
                default=float(_COLOURS - colour + 1),
            )
            for colour in range(_COLOURS)
        ]
        colours.append(nearest.index(max(nearest)))
    return colours


def _lists(topics: Sequence[Topic], colours: Sequence[int]) -> str:
    """A folded list for each topic, the largest first; its papers are filled in when it is opened."""
    order = sorted(range(len(topics)), key=lambda at: (-topics[at].papers, topics[at].name))
    return "".join(
        f'<details data-topic="{at}"><summary><i class="dot hue-{colours[at]}"></i>'
        f'<span class="name">{escaped(topics[at].name)}</span>'
        f'<span class="count">{topics[at].papers:,}</span></summary></details>'
        for at in order
    )


def _table(atlas: Atlas, found: Sequence[tuple[int, int | None]]) -> str:
    """How many papers there are of each topic and year; nothing when all are of one year."""
    years = sorted({year for _, year in found if year})
    if len(years) < 2:
        return ""
    first = years[-_YEARS:][0]
    columns: list[int | None] = [*(year for year in years if year >= first)]
    earlier = bool(years[:-_YEARS])
    counts = Counter((topic, max(year, first - earlier) if year else None) for topic, year in found)
    heads = [str(year) for year in columns]
    if earlier:
        columns, heads = [first - 1, *columns], [f"to {years[-_YEARS - 1]}", *heads]
    if any(year is None for _, year in found):
        columns, heads = [*columns, None], [*heads, "no year"]
    most = max(counts.values())
    order = sorted(range(len(atlas.topics)), key=lambda at: (-atlas.topics[at].papers, atlas.topics[at].name))
    rows = "".join(
        f'<tr><th scope="row">{escaped(atlas.topics[at].name)}</th>'
        f"{''.join(_cell(counts[at, year], most) for year in columns)}<td>{atlas.topics[at].papers:,}</td></tr>"
        for at in order
    )
    head = "".join(f'<th scope="col">{name}</th>' for name in ("Topic", *heads, "All"))
    return (
        '<section class="years"><h3>Papers per topic and year</h3>'
        '<div class="table" tabindex="0" role="region" aria-label="Papers per topic and year">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></section>"
    )


def _cell(count: int, most: int) -> str:
    bar = f'<i style="--share:{count / most:.3f}"></i>' if count else ""
    return f"<td>{count or '·'}{bar}</td>"
