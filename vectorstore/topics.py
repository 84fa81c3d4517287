"""Papers that lie together, in groups that are named by the words and phrases most typical of them."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import Stemmer
from bm25s.stopwords import STOPWORDS_EN_PLUS
from numpy.typing import NDArray

from vectorstore.layout import Points
from vectorstore.markup import readable
from vectorstore.types import Paper

Term = tuple[str, ...]
"""The stem of a word, or the two of a phrase."""

_ONLY_NAME = "All papers"
"""Of a topic beside which there is no other."""
_TERMS = 2
"""Words or phrases of a name."""
_MOST_TOPICS = 30
_FEWEST_PAPERS = 3
"""Of a topic, on average."""
_SHARE_HOLDING = 0.06
_FEWEST_HOLDING = 2
"""A term that fewer papers of a topic hold does not name it."""
_PHRASE = (1.0, 2.5, 3.2)
"""How much a term of one, two or three words weighs: the longer, the more it tells."""
_CLAUSE_END = re.compile(r"[.,;:!?]\s|[()\[\]\"“”]| [-–—] ")
_NOT_FAR = 0.4
"""Of the weight of the first term, what the second must have."""
_WORD = re.compile(r"(?<![\w/.@:\\-])\w(?:[\w’'-]*\w)?(?![\w/@\\-]|[.:]\S)")
_STEMMER = Stemmer.Stemmer("english")
_COMMON = frozenset(
    _STEMMER.stemWords(
        "accuracy achieve across address advance also analysis analyze application approach art available "
        "base based baseline behavior benchmark code compare component consider data dataset demonstrate "
        "design develop different effective efficient enable ensure et evaluate evaluation existing "
        "experiment explore extensive finding framework general generate given however improve indicate input "
        "introduce investigate large learn learning level leverage limit local method model new novel number "
        "outperform output paper parameter performance present problem propose provide recent represent "
        "result sample show significant single solution specific state state-of-the-art step strategy strong "
        "structure study substantial system task technique thereby train training two uniform use various "
        "well within work".split()
    )
)
"""Stems of words in abstracts of any field."""
_ENDING = frozenset(
    _STEMMER.stemWords("analysis data design evaluation learning model method sample system task training".split())
)
"""Those of them that a phrase may end with."""


def grouped(points: Points) -> NDArray[np.intp]:
    """The topic of each paper, from 0 on: about five topics of 34 papers, and 25 of 10,000."""
    topics = min(_MOST_TOPICS, round(1.84 * len(points) ** 0.283), max(1, len(points) // _FEWEST_PAPERS))
    if topics == 1:
        return np.zeros(len(points), dtype=np.intp)
    from sklearn.cluster import KMeans  # a second, which no question waits for

    return np.asarray(KMeans(topics, n_init=10, random_state=0).fit(points).labels_, dtype=np.intp)


def topic_names(papers: Sequence[Paper], topics: Sequence[int]) -> list[str]:
    """A name for each topic, no two alike; `topics` has that of each paper."""
    sizes = Counter(topics)
    if len(sizes) == 1:
        return [_ONLY_NAME]
    shown: defaultdict[Term, Counter[str]] = defaultdict(Counter)
    holding: defaultdict[int, Counter[Term]] = defaultdict(Counter)
    for paper, topic in zip(papers, topics, strict=True):
        terms = {**dict(_terms(readable(paper.title or ""))), **dict(_terms(readable(paper.abstract)))}
        holding[topic].update(terms.keys())
        for term, words in terms.items():
            shown[term][words] += 1
    everywhere = Counter[Term]()
    for held in holding.values():
        everywhere.update(held)
    names: dict[int, str] = {}
    used: set[Term] = set()
    for topic, size in sizes.most_common():
        chosen = _chosen(_weights(holding[topic], size, everywhere, len(papers)), used)
        used.update(chosen)
        name = ", ".join(min(shown[term], key=lambda words: (-shown[term][words], words.swapcase())) for term in chosen)
        names[topic] = name[:1].upper() + name[1:] or f"Topic {topic + 1}"
    return [names[topic] for topic in sorted(names)]


def _weights(held: Mapping[Term, int], size: int, everywhere: Mapping[Term, int], papers: int) -> dict[Term, float]:
    """How typical each term is of a topic: held by many of its papers, and by few of the others."""
    return {
        term: (count - 1) / size * math.log((count / size) / (everywhere[term] / papers)) * _PHRASE[len(term) - 1]
        for term, count in held.items()
        if count >= max(_FEWEST_HOLDING, size * _SHARE_HOLDING)
    }


def _chosen(weights: Mapping[Term, float], used: set[Term]) -> list[Term]:
    """The most typical terms that share no word, not far behind the first, and that no other topic is named by."""
    chosen: list[Term] = []
    for term in sorted(weights.keys() - used, key=lambda term: (-weights[term], term)):
        if chosen and weights[term] < _NOT_FAR * weights[chosen[0]]:
            break
        if weights[term] > 0 and not any(set(term) & set(other) for other in chosen):
            chosen.append(term)
    return chosen[:_TERMS]


def _terms(text: str) -> Iterator[tuple[Term, str]]:
    """The words of a text and its phrases of two or three, each with how it is written there."""
    for clause in _CLAUSE_END.split(text):
        words = [_word(match.group(), begins=at == 0) for at, match in enumerate(_WORD.finditer(clause))]
        for at, word in enumerate(words):
            if word.can_begin and len(word.shown) > 2:
                yield (word.stem,), word.shown
            for length in (2, 3):
                phrase = words[at : at + length]
                if len(phrase) == length and word.can_begin and phrase[-1].can_end and all(w.tells for w in phrase):
                    yield tuple(w.stem for w in phrase), " ".join(w.shown for w in phrase)


@dataclass(frozen=True)
class _Word:
    stem: str
    shown: str
    """Without the capital that a sentence begins with; "LLMs" and "Markov" as they are."""
    tells: bool
    can_begin: bool
    """Whether it may be a term, or the first word of one."""
    can_end: bool


@lru_cache(maxsize=100_000)
def _word(word: str, *, begins: bool) -> _Word:
    lower = word.lower()
    stem = _STEMMER.stemWord(lower)
    tells = lower not in STOPWORDS_EN_PLUS and len(word) > 1
    is_common = stem in _COMMON or lower.endswith("ly")
    return _Word(
        stem=stem,
        shown=lower if begins and word[1:].islower() else word,
        tells=tells,
        can_begin=tells and not is_common,
        can_end=tells and (not is_common or stem in _ENDING),
    )
