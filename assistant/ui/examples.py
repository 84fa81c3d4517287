"""Questions to begin with and to go on with, made from the papers at hand."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

from assistant.chain import Assistant
from assistant.types import Answer
from vectorstore.code import has_code
from vectorstore.filters import PaperFilter
from vectorstore.markup import readable
from vectorstore.types import Paper

LOOKED_AT = 60
"""Papers; the first ones stand for the others."""
_OFFERED = 3
"""Questions, at most, to go on with."""
_LIKELY_QUOTED = 2
"""Sentences, the best, of which an answer quotes one at least."""
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
    looked_at = papers[:LOOKED_AT]
    named = [paper for paper in looked_at if _is_name(paper.label)]
    coded = [paper for paper in named[1:] if has_code(paper)]
    topic, pair = _topic(looked_at), _most_alike(named)
    return [
        *(f"What is {paper.label}?" for paper in named[:1]),
        *([f"Which papers are about {topic}?"] if topic else []),
        *([f"How does {pair[0].label} differ from {pair[1].label}?"] if pair else []),
        *(f"Where is the code of {paper.label}?" for paper in coded[:1]),
    ] or ["What is in this collection?"]


def next_questions(
    assistant: Assistant, answers: Sequence[Answer], asked: Sequence[str], within: PaperFilter | None
) -> Iterator[str]:
    """Up to three questions to go on with after the last answer, which sentences answer that none has quoted yet."""
    before = {question.casefold() for question in asked}
    quoted = {(citation.paper.paper_id, citation.span) for answer in answers for citation in answer.citations}
    offered = 0
    for question in _candidates(assistant, answers[-1]):
        if offered == _OFFERED:
            return
        if question.casefold() in before:
            continue
        evidence = assistant.evidence_for(question, within)
        best = {(sentence.paper.paper_id, sentence.span) for sentence in evidence.sentences[:_LIKELY_QUOTED]}
        if evidence.status == "answered" and best - quoted:
            offered += 1
            yield question


def _candidates(assistant: Assistant, answer: Answer) -> Iterator[str]:
    cited = [*{citation.paper.paper_id: citation.paper for citation in answer.citations}.values()]
    if len(cited) > 1:
        yield from (f"What is {paper.label}?" for paper in cited[:2])
        yield f"How does {cited[0].label} differ from {cited[1].label}?"
    for paper in cited[:1]:
        yield f"What results does {paper.label} report?"
        yield f"Which problem does {paper.label} address?"
        for near in assistant.neighbours(paper.paper_id, 1):
            yield f"How does {paper.label} differ from {near.label}?"
        if has_code(paper):
            yield f"Where is the code of {paper.label}?"


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
