"""Misspelt words of a question -> the words of the collection that are meant: "LiftQaunt", "quantizaton".

Only a word that is neither in the collection nor English is changed. What is English is told by the vocabulary of
the packaged tokenizer, which holds the thirty thousand commonest word pieces.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import Stemmer
from rapidfuzz import process
from rapidfuzz.distance import OSA

from vectorstore.errors import CollectionDamaged
from vectorstore.names import TOKEN, looks_like_name
from vectorstore.types import Chunk

_SHORTEST = 4
"""Characters of a word that is corrected; one of fewer is near too many others."""
_SHORTEST_NAME = 5
_TWO_ERRORS = 8
"""Characters of a word that may hold two errors."""
_SUBSTITUTED_NAME = 7
"""Characters of a name in which a letter may be another; shorter names that differ so are two names."""


class Spelling:
    """The words of a collection, and what is spelt nearly as they are."""

    def __init__(self, tokens: Iterable[str], labels: Collection[str], english: Collection[str]) -> None:
        """`tokens` are those of the papers (`tokens_of`), `english` words that are right as they stand."""
        tokens = {*tokens, *tokens_of(labels)}
        words = {part for token in tokens for part in [token.lower(), *_parts(token)]}
        self._labels = {_letters(label): label for label in labels if " " not in label}
        self._names = {_letters(name): name for name in sorted(tokens) if looks_like_name(name)} | self._labels
        self._by_initial = _by_initial(words)
        self._english_by_initial = _by_initial(english)
        self._known_stems = frozenset(Stemmer.Stemmer("english").stemWords([*words, *english]))

    def corrected(self, text: str) -> str:
        """`text` with each misspelt word replaced; other words, and all punctuation, stay as they are."""
        matches = list(TOKEN.finditer(text))
        replaced = {match.span(): word for match in matches if (word := self._meant(_bare(match.group())))}
        for first, second in pairwise(matches):  # "Lift Quant"
            whole = self._names.get(_letters(first.group() + second.group()), "")
            if text[first.end() : second.start()] == " " and len(whole) > _SHORTEST_NAME:
                replaced = {span: word for span, word in replaced.items() if span not in (first.span(), second.span())}
                replaced[first.start(), second.end()] = whole
        for (start, end), word in sorted(replaced.items(), reverse=True):
            ending = re.search(r"['’]s?$", text[start:end])
            text = text[:start] + word + (ending.group() if ending else "") + text[end:]
        return text

    def _meant(self, word: str) -> str | None:
        """What `word` stands for; None when it is right, or like nothing in the collection."""
        label = self._labels.get(_letters(word)) or (looks_like_name(word) and self._labels.get(_letters(word[:-1])))
        if label:
            return label if label.casefold() != word.casefold() else None
        parts = _parts(word)
        if self._known_stems.issuperset(Stemmer.Stemmer("english").stemWords(parts)):
            return None
        name = self._near_name(_letters(word))
        if name or looks_like_name(word):
            return name
        return self._near_word(word.lower()) if len(parts) == 1 else self._with_near_parts(word)

    def _near_name(self, letters: str) -> str | None:
        if len(letters) < _SHORTEST_NAME:
            return None
        most = 2 if len(letters) > _TWO_ERRORS else 1
        found = process.extractOne(letters, list(self._names), scorer=OSA.distance, score_cutoff=most)
        if found is None or re.sub(r"\D", "", found[0]) != re.sub(r"\D", "", letters):
            return None  # "Qwen2" is not a slip for "Qwen3"
        substituted = len(found[0]) == len(letters) and sorted(found[0]) != sorted(letters)
        return None if substituted and len(letters) < _SUBSTITUTED_NAME else self._names[found[0]]

    def _near_word(self, word: str) -> str | None:
        if len(word) < _SHORTEST or not word.isalpha():
            return None
        in_papers = _nearest(word, self._by_initial, 2 if len(word) >= _TWO_ERRORS else 1)
        in_english = _nearest(word, self._english_by_initial, 1)
        near = min((found for found in (in_papers, in_english) if found), key=lambda found: found[1], default=None)
        return near[0] if near else None

    def _with_near_parts(self, word: str) -> str | None:
        """A word such as "multi-agnet" with its misspelt parts replaced; None when there are none."""
        parts = re.split(r"([-/])", word)
        stems = Stemmer.Stemmer("english").stemWords([part.lower() for part in parts])
        meant = [
            part if not part.isalpha() or stem in self._known_stems else self._near_word(part.lower()) or part
            for part, stem in zip(parts, stems, strict=True)
        ]
        return "".join(meant) if meant != parts else None


def _nearest(word: str, by_initial: Mapping[str, Sequence[str]], most: int) -> tuple[str, int] | None:
    """The nearest word with the same initial and at most so many errors, and their number."""
    for form in (word, word.removesuffix("s")):  # the abstracts may have "video" only
        found = process.extractOne(form, by_initial.get(word[0], []), scorer=OSA.distance, score_cutoff=most)
        if found:
            return str(found[0]), int(found[1])
    return None


def tokens_of(texts: Iterable[str]) -> set[str]:
    """All words, names and numbers of `texts`."""
    return {_bare(token) for token in {token for text in texts for token in TOKEN.findall(text)}}


def build_vocabulary(path: Path, chunks: Iterable[Chunk]) -> None:
    """Writes the tokens of `chunks` into a new file."""
    path.write_text(json.dumps(sorted(tokens_of(chunk.embedded_text for chunk in chunks))), "utf-8")


def read_vocabulary(path: Path, *, rebuild_command: str) -> list[str]:
    """The tokens in that file. Raises `CollectionDamaged` when it cannot be read."""
    try:
        return [str(token) for token in json.loads(path.read_text("utf-8"))]
    except (OSError, ValueError) as error:
        raise CollectionDamaged(
            f"The vocabulary {path} cannot be read ({type(error).__name__}).",
            f"Rebuild it from the library: {rebuild_command}",
        ) from error


def _bare(token: str) -> str:
    return re.sub(r"['’]s$", "", token).rstrip("'’-")


def _parts(word: str) -> list[str]:
    return [part for part in re.split(r"[-/]", word.lower()) if part]


def _letters(name: str) -> str:
    """A name as it is compared: "Cure-SFT" and "CureSFT" are one."""
    return re.sub(r"[^\w+]|_", "", name).casefold()


def _by_initial(words: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for word in sorted(words):
        if len(word) >= _SHORTEST and word.isalpha():
            found.setdefault(word[0], []).append(word)
    return found
