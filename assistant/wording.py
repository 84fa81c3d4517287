"""What the rules that read questions and sentences share: patterns from lists of words, and stems of content words."""

import re

import Stemmer

from vectorstore.names import TOKEN

_stemmer = Stemmer.Stemmer("english")
_STOPWORDS = frozenset(
    "a an the of in on for to and or with by from as at is are was were be been do does did has have had that this "
    "these those which what who how why when where it its they their them we our you your i me my can could will would "
    "should there here any all some not no than then into over about between both each other more most such also using "
    "use used via if so up out only very".split()
)


def any_of(words: str) -> str:
    """A pattern for any of the space-separated `words`; in each, "_" stands for a space and "?" is a pattern's."""
    return f"(?:{'|'.join(word.replace('_', ' ') for word in words.split())})"


def pattern(text: str) -> re.Pattern[str]:
    """`text` compiled, in any case."""
    return re.compile(text, re.IGNORECASE)


def stem(word: str) -> str:
    """The stem of an English word, in lower case."""
    return str(_stemmer.stemWord(word.lower()))


def stems(words: str) -> frozenset[str]:
    """The stems of space-separated `words`."""
    return frozenset(stem(word) for word in words.split())


def content_stems(text: str) -> set[str]:
    """The stems of the words in `text` that carry content; a hyphenated word counts whole and in parts."""
    parts = (part.lower() for word in TOKEN.findall(text) for part in (word, *re.split(r"[-/]", word)))
    return {stem(part) for part in parts if part and part not in _STOPWORDS}
