"""History -> standalone question, by rules.

Three things are understood. Words that point back ("it", "that method", "the authors") become the name of the paper
last spoken of. A question that only names another paper ("And ProjQ?") is the last question, asked of that paper.
A fragment ("And perplexity?", "Where is the code?") is asked of the paper last spoken of. Anything else stands as
it is, so that a change of topic is left alone.
"""

import re
from collections.abc import Collection, Sequence

from assistant.types import Turn
from assistant.wording import any_of, pattern
from vectorstore.names import TOKEN

_PAPER = any_of(
    "paper method model work approach system framework benchmark dataset study technique algorithm scheme authors"
)
_POINTING = (
    pattern(
        rf"\b(?:this|that|the same) {_PAPER}\b(?P<owner>['’]s)?|\bthe {_PAPER}"
        rf"(?=\s*(?:[?.!,]|$)| (?:\w+ed|{any_of('use do does did is was can work fit run')})\b)"
    ),
    pattern(rf"\b(?P<owner>its)\b|(?<!\bis )(?<!\bwas )\bit\b(?! {any_of('is was possible true known rain')}\b)"),
    pattern(r"\b(?P<owner>their)\b|\b(?:they|them)\b"),
    pattern(rf"\b(?:that|this)\b(?=\s*(?:{any_of('up work help mean')}\b|[?.!,]|$))"),
    pattern(r"(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )\bthere\b(?=\s*(?:[?.!,]|$))"),
)
"""Tried in this order; one phrase is replaced."""
_CONNECTIVE = pattern(
    rf"^(?:{any_of('and but so then also or')}\b[\s,]*)?(?:{any_of('(?:what|how)_about what_of the_same_for')}\b\s*)?"
)
_ASKS = pattern(
    rf"{any_of('what which who where when why how list show tell give explain')}\b"
    rf"|{any_of('is are was were do does did can could has have will')}\b"
)
_ATTRIBUTE = pattern(
    rf"\bthe {any_of('code data results? authors? experiments? limitations? idea leaderboard implementation')}\b"
    rf"|\bthe {any_of('speed-?up accuracy theory baselines? benchmarks? datasets? models? numbers? gains?')}\b"
)
_WHY = pattern(
    rf"(?:{any_of('and but so')}\s+)?{any_of('why how how_so how_come in_what_way really')}"
    r"(?: (?:is|does|was) (?:that|this))?\W*"
)
_OTHER_PAPER = pattern(
    r"(?:the |that )?(?:.+ (?:paper|work|study)|(?:paper|work|study) (?:on|about|that|which|with)\b.+)"
)
_SHORT = 8
"""Words; a longer question says what it is about."""


def standalone_question(question: str, turns: Sequence[Turn], labels: Collection[str]) -> str:
    """`question` as it would be asked without the turns before it; `labels` are those of the collection."""
    subject, previous = "", ""
    for turn in turns:
        if turn.role == "user":
            previous = _resolved(turn.content, previous, subject, labels)
            subject = label_in(previous, labels) or subject
        elif turn.citations:
            subject = str(turn.citations[0]["label"])
        else:
            subject = label_in(turn.content, labels) or subject
    return _resolved(question, previous, subject, labels)


def label_in(text: str, labels: Collection[str]) -> str | None:
    """The first label that stands in `text`; one of several words in any case, one of a single word as it is."""
    for match in TOKEN.finditer(text):
        word = match.group().removesuffix("'s").removesuffix("’s")
        if word in labels:
            return word
    lowered = text.casefold()
    return next((label for label in labels if " " in label and label.casefold() in lowered), None)


def _resolved(question: str, previous: str, subject: str, labels: Collection[str]) -> str:
    """One step: `previous` is the standalone form of the question before, `subject` the label last spoken of."""
    if not previous or not subject:
        return question
    if _WHY.fullmatch(question):
        return f"{previous} {question}"
    fragment = _fragment(question)
    other = label_in(question, labels)
    if fragment and (fragment == other or (not other and _OTHER_PAPER.fullmatch(fragment))):
        return _asked_of(fragment, previous, subject)
    if other:
        return question
    if fragment or (len(question.split()) <= _SHORT and _ATTRIBUTE.search(question)):
        return f"{subject}: {fragment or question}{'?' if fragment else ''}"
    return _pointed(question, subject)


def _asked_of(other: str, previous: str, subject: str) -> str:
    """The question before, with another paper in the place of the one it was asked of."""
    asked, replaced = re.subn(rf"(?<![\w-]){re.escape(subject)}(?![\w-])", lambda _: other, previous)
    return asked if replaced else f"{previous} {other}?"


def _fragment(question: str) -> str | None:
    """What is left of "And ProjQ?" or "What about the code?" without its first words; None for a whole question."""
    connective = _CONNECTIVE.match(question)
    rest = question[connective.end() :].strip(" ?.!") if connective else ""
    asks = _ASKS.match(rest)
    return rest if connective and connective.group() and rest and not asks and len(rest.split()) <= _SHORT else None


def _pointed(question: str, subject: str) -> str:
    for pointing in _POINTING:
        match = pointing.search(question)
        if match:
            owner = "'s" if match.groupdict().get("owner") else ""
            place = "in " if match.group().lower() == "there" else ""
            return f"{question[: match.start()]}{place}{subject}{owner}{question[match.end() :]}"
    return question
