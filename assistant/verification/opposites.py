"""Words that turn a statement round: a sentence that has "reduces" where its passage has "increases"."""

import re
from collections.abc import Set
from itertools import pairwise

from assistant.verification.passages import Passage
from assistant.verification.terms import Clause, clauses_of, terms_of
from assistant.wording import stem, stems

_WORD = re.compile(r"[^\W\d_]+")
_UP_AND_DOWN = [
    (
        "increase increasing raise grow boost gain enlarge rise higher high more greater scale",
        "reduce lower cut decrease shrink diminish drop decline suppress fewer less low",
    ),
    ("improve improvement enhance better superior benefit", "degrade worse inferior worsen harm"),
    ("outperform surpass beat exceed", "underperform trail"),
]
_OTHERS = [
    ("preserve maintain keep retain", "degrade lose sacrifice harm worsen"),
    ("dense", "sparse"),
    ("early earlier", "late later"),
    ("strong", "weak"),
    ("large larger big", "small smaller"),
    ("open", "closed"),
    ("long", "short"),
    ("easy", "difficult hard"),
    ("many", "few"),
    ("fast", "slow"),
    ("positive", "negative"),
    ("public", "private"),
    ("online", "offline"),
    ("local", "global"),
    ("best", "worst"),
    ("internal", "external"),
    ("deep", "shallow"),
    ("cause", "alleviate mitigate prevent"),
]
_PAIRS = [pair for a, b in _UP_AND_DOWN + _OTHERS for pair in ((stems(a), stems(b)), (stems(b), stems(a)))]
_NEGATIVE_PREFIXES = ("un", "in", "im", "non", "dis", "de")
_LEAST_LETTERS = 5
"""Of a word that a prefix may negate: "decouple" has to do with "couple", "internal" nothing with "ternal"."""
DIRECTIONS = frozenset(terms_of(" ".join(f"{up} {down}" for up, down in _UP_AND_DOWN)))
"""Terms that say only which way something goes, not what."""


def turned_round(sentence: str, passage: Passage) -> str | None:
    """The word of `sentence` whose opposite the passage has in its place; None when there is none."""
    return _beside_another(sentence, passage) or _before_the_same(sentence, passage)


def _beside_another(sentence: str, passage: Passage) -> str | None:
    """A word whose opposite stands in the clause that shares most terms with its own, or else in the passage."""
    everywhere = set(_stems(passage.text))
    for clause in clauses_of(sentence):
        words, near = set(_stems(clause.text)), set(_stems(_nearest(clause, passage).text))
        for word in _stems(clause.text):
            held = near if near & opposites_of(word) else everywhere
            if _is_opposed(word, words, held) or _is_unmade(word, everywhere):
                return _spelled(word, clause.text)
    return None


def _before_the_same(sentence: str, passage: Passage) -> str | None:
    """A word whose opposite stands in the passage before the same word ("more frustrating", "less frustrating")."""
    held = set(pairwise(_stems(passage.text)))
    for word, following in pairwise(_stems(sentence)):
        turned = any((other, following) in held for other in opposites_of(word))
        if turned and not any((like, following) in held for like in _likes(word)):
            return _spelled(word, sentence)
    return None


def opposites_of(word: str) -> frozenset[str]:
    """The stems that say the opposite of the stem `word`."""
    return frozenset(other for like, unlike in _PAIRS if word in like for other in unlike)


def _likes(word: str) -> frozenset[str]:
    return frozenset(other for like, _ in _PAIRS if word in like for other in like)


def _is_opposed(word: str, words: Set[str], held: Set[str]) -> bool:
    return any(word in like and held & unlike and not held & like and not words & unlike for like, unlike in _PAIRS)


def _is_unmade(word: str, held: Set[str]) -> bool:
    """Whether `held` has only the negative of `word`, as "unfaithful" is of "faithful", or what `word` is that of."""
    if word in held or len(word) < _LEAST_LETTERS:
        return False
    return any(
        prefix + word in held or (word.startswith(prefix) and word.removeprefix(prefix) in held)
        for prefix in _NEGATIVE_PREFIXES
    )


def _nearest(clause: Clause, passage: Passage) -> Clause:
    wanted = set(clause.terms) - passage.own
    return max(passage.clauses, key=lambda other: len(wanted & set(other.terms)), default=clause)


def _stems(text: str) -> list[str]:
    return [stem(word) for word in _WORD.findall(text)]


def _spelled(wanted: str, text: str) -> str:
    return next(str(word) for word in _WORD.findall(text) if stem(word) == wanted)
