"""Questions to begin with, made from the papers at hand."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, pairwise

from vectorstore.markup import readable
from vectorstore.types import Paper

_LOOKED_AT = 60
"""Papers; the first ones stand for the others."""
_WORD = re.compile(r"[a-z]{3,}")
_TOO_COMMON = 1 / 3
"""Of the papers: a topic that more of them share tells nothing."""
_COMMON = frozenset(
    "the and for with that this from are our its can has have into which while their these those than such across "
    "both between only also not but may without when where through under over more most each existing however show "
    "propose introduce present novel new based using via results performance method methods model models approach "
    "framework state art experiments demonstrate achieve outperforms significantly code available https com github "
    "large language work paper study two first three offer offers promising alternative trade off key typically rely "
    "during real time world high low well even many recent recently various extensive".split()
)


def example_questions(papers: Sequence[Paper]) -> list[str]:
    """Up to four: on one paper, on a topic, on two papers, on code."""
    looked_at = papers[:_LOOKED_AT]
    named = [paper for paper in looked_at if _is_name(paper.label)]
    coded = [paper for paper in named[1:] if any("github.com" in url for url in paper.urls)]
    topic, pair = _topic(looked_at), _most_alike(named)
    return [
        *(f"What is {paper.label}?" for paper in named[:1]),
        *([f"Which papers are about {topic}?"] if topic else []),
        *([f"How does {pair[0].label} differ from {pair[1].label}?"] if pair else []),
        *(f"Where is the code of {paper.label}?" for paper in coded[:1]),
    ] or ["What is in this collection?"]


def _is_name(label: str) -> bool:
    return re.fullmatch(r"[\w-]{3,24}", label) is not None and not label.islower()


def _words(paper: Paper) -> list[str]:
    return _WORD.findall(readable(paper.abstract).casefold())


def _topic(papers: Sequence[Paper]) -> str | None:
    """The two words that stand together in most papers, but not in nearly all."""
    pairs = Counter(pair for paper in papers for pair in {*pairwise(_words(paper))} if not _COMMON & {*pair})
    shared = [pair for pair, number in pairs.most_common() if 2 <= number <= max(2, _TOO_COMMON * len(papers))]
    return " ".join(shared[0]) if shared else None


def _most_alike(papers: Sequence[Paper]) -> tuple[Paper, Paper] | None:
    words = {paper.paper_id: {*_words(paper)} - _COMMON for paper in papers}

    def likeness(pair: tuple[Paper, Paper]) -> float:
        one, other = (words[paper.paper_id] for paper in pair)
        return len(one & other) / max(1, len(one | other))

    return max(combinations(papers, 2), key=likeness, default=None)
