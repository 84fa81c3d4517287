"""A sentence beside the passage it nearly repeats: what was put in the place of what, and which denials came or went.

The rules in `agreement` compare words wherever they stand. Where a sentence follows its passage word by word, the few
words that differ tell more.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from assistant.verification.opposites import opposites_of
from assistant.verification.passages import Passage
from assistant.verification.terms import NUMBER_WORDS, plain_number, terms_of
from assistant.wording import any_of, pattern, stem
from vectorstore.names import looks_like_name

_TOKEN = re.compile(r"\d+(?:,\d{3})+(?:\.\d+)?|\d*\.\d+|\d+|[^\W\d_][\w'’-]*(?:\.\d+)?")
_LEAST_REPEATED = 0.6
"""Of a sentence's words, the part that must come in the passage's order."""
_LONGEST_EDIT = 3
"""Words; what is longer is another wording, not something put in the place of something."""
_DENIAL = pattern(
    rf"^(?:{any_of('not no never without cannot neither nor none fails? failed failing unable lacks? lacking')}"
    rf"|{any_of('rarely hardly seldom scarcely barely')}|\w+n['’]t)$"
)
_MILD_DENIAL = pattern(
    rf"^(?:{any_of('avoid(?:s|ed|ing)? eliminat(?:es?|ed|ing) remov(?:es?|ed|ing) preclud(?:es?|ed|ing)')}"
    rf"|{any_of('obviat(?:es?|ing) overlooks? ignor(?:es?|ing) instead rather unlike beyond short few fewer')}"
    rf"|{any_of('little less absence absent missing')}"
    r"|\w+-free|(?:un|in|im|non-?)\w{4,}|\w+less)$"
)
"""What may stand for a denial in another wording."""


@dataclass(frozen=True)
class Edit:
    """Words of the sentence, and those of the passage in their place."""

    said: tuple[str, ...]
    given: tuple[str, ...]
    left_out: tuple[str, ...]
    """Words before and behind all that is repeated, which a sentence may well leave out, or have elsewhere."""
    before: str
    """The word that both have before them; empty at the beginning."""

    @property
    def is_short(self) -> bool:
        """Whether one thing may have been put in the place of another."""
        return bool(self.said and self.given) and max(len(self.said), len(self.given)) <= _LONGEST_EDIT


def edits_between(sentence: str, passage: str) -> list[Edit]:
    """The places where `sentence` departs from `passage`; none when it does not follow it word by word."""
    mine, theirs = _TOKEN.findall(sentence), _TOKEN.findall(passage)
    matcher = SequenceMatcher(None, [_plain(word) for word in mine], [_plain(word) for word in theirs], autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    if sum(block.size for block in blocks) < _LEAST_REPEATED * max(len(mine), 1):
        return []
    first, last = blocks[0].b, blocks[-1].b + blocks[-1].size
    edits = []
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        if kind != "equal":
            is_inside = first <= j1 and j2 <= last
            given = tuple(theirs[j1:j2])
            before = mine[i1 - 1] if i1 else ""
            edits.append(Edit(tuple(mine[i1:i2]), given if is_inside else (), () if is_inside else given, before))
    return edits


def replaced(sentence: str, passage: Passage) -> tuple[str, str] | None:
    """What the sentence has, and what the passage has in its place: another number, name, opposite or thing counted."""
    for edit in edits_between(sentence, passage.text):
        if edit.is_short and (pair := _other_of_a_kind(edit, passage) or _opposite(edit) or _otherwise_counted(edit)):
            return pair
    return None


def denial_changed(sentence: str, passage: Passage) -> bool:
    """Whether a denial came or went, and nothing like one stands on the other side."""
    edits = edits_between(sentence, passage.text)
    said = [word for edit in edits for word in edit.said]
    given = [word for edit in edits for word in edit.given]
    left_out = [word for edit in edits for word in edit.left_out]
    return _denied_only_by(said, given + left_out) or _denied_only_by(given, said)


def _denied_only_by(words: Sequence[str], others: Sequence[str]) -> bool:
    is_denied = any(_DENIAL.match(word) for word in words)
    return is_denied and not any(_DENIAL.match(word) or _MILD_DENIAL.match(word) for word in others)


def _other_of_a_kind(edit: Edit, passage: Passage) -> tuple[str, str] | None:
    """A number for a number, or a name for a name; the paper's own may be written in several ways."""
    own = {name.casefold() for name in passage.own_names}
    for is_kind in (_is_number, looks_like_name):
        given = [word for word in edit.given if is_kind(word)]
        known = {_plain(word) for word in given}
        said = [word for word in edit.said if is_kind(word) and _plain(word) not in known]
        if said and given and not (said[0].casefold() in own and given[0].casefold() in own):
            return said[0], given[0]
    return None


def _opposite(edit: Edit) -> tuple[str, str] | None:
    pairs = ((said, given) for said in edit.said for given in edit.given)
    return next((pair for pair in pairs if stem(pair[1]) in opposites_of(stem(pair[0]))), None)


def _otherwise_counted(edit: Edit) -> tuple[str, str] | None:
    """Right behind the same number, another thing ("12 languages" for "12 tasks")."""
    said, given = terms_of(" ".join(edit.said)), terms_of(" ".join(edit.given))
    is_counted = _is_number(edit.before) and len(edit.said) == len(edit.given) == 1
    return (edit.said[0], edit.given[0]) if is_counted and said and given and said != given else None


def _is_number(word: str) -> bool:
    return word[:1].isdigit() or word[:1] == "." or word.lower() in NUMBER_WORDS


def _plain(word: str) -> str:
    if word[0].isdigit() or word[0] == ".":
        return plain_number(word)
    return NUMBER_WORDS.get(word.lower(), word.lower())
