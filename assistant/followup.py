"""History -> standalone question, by rules.

Four things are understood. Words that point back ("it", "that method", "the authors") become the name of the paper
last spoken of. A question that only names another paper ("And ProjQ?") is the last question, asked of that paper.
A fragment ("And perplexity?", "Where is the code?", "For which model?") is asked of the paper last spoken of. "The
first paper" is the first that was spoken of. Anything else stands as it is, so that a change of topic is left alone.
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
    pattern(rf"\b(?:this|that|the same) {_PAPER}\b(?P<owner>['’]s)?"),
    pattern(
        rf"\bthe {_PAPER}"
        rf"(?=\s*(?:[?.!,]|$)| (?:\w+ed|{any_of('use do does did is was can work fit run')})\b)"
    ),
    pattern(rf"\b(?P<owner>its)\b|(?<!\bis )(?<!\bwas )\bit\b(?! {any_of('is was possible true known rain')}\b)"),
    pattern(r"\b(?P<owner>their)\b|\b(?:they|them)\b"),
    pattern(rf"\b(?:that|this)\b(?=\s*(?:{any_of('up work help mean')}\b|[?.!,]|$))"),
    pattern(rf"(?:(?<=\bdoes )|(?<=\bdid ))(?:that|this)\b(?! {_PAPER}\b)"),
    pattern(rf"(?:(?<=\bfor )|(?<=\bof ))(?:that|this)\b(?= {any_of('in on at as when if')}\b)"),
    pattern(r"(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )\bthere\b(?=\s*(?:[?.!,]|$))"),
)
"""Tried in this order; one phrase is replaced, in a long question only one of the first kind."""
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
    r"(?:the |that |a )?(?:.+ (?:paper|work|study)"
    r"|(?:paper|work|study|one) (?:on|about|that|which|with|where|for)\b.+)"
)
_SPOKEN_OF = pattern(
    rf"\bthe (?P<which>first|second|third|previous|other|former) (?:one|{_PAPER})\b(?! {any_of('to that which who')}\b)"
)
_CHANGE = pattern(
    rf"^(?:{any_of('ok(?:ay)? so now and well then')}\b[\s,]*)*(?:now |on to |let's talk about )?(?:for )?"
    rf"(?:something {any_of('else different')}|{any_of('another a_different a_new')} {any_of('question topic subject')}"
    r"|by the way)\b[\s,:.!-]*"
)
_POINTS_BACK = 12
"""Words; in a longer question "it" and "they" stand for something in the question itself."""
_SHORT = 8
"""Words; a longer question says what it is about."""


def standalone_question(question: str, turns: Sequence[Turn], labels: Collection[str]) -> str:
    """`question` as it would be asked without the turns before it; `labels` are those of the collection."""
    previous, subjects = _conversation(turns, labels)
    return _resolved(question, previous, subjects, labels)


def subject_of(turns: Sequence[Turn], labels: Collection[str]) -> str | None:
    """The label of the paper last spoken of."""
    subjects = _conversation(turns, labels)[1]
    return subjects[-1] if subjects else None


def _conversation(turns: Sequence[Turn], labels: Collection[str]) -> tuple[str, list[str]]:
    """The standalone form of the question before, and the labels spoken of, the last of them last."""
    previous, subjects = "", list[str]()
    for turn in turns:
        if turn.role == "user":
            previous = _resolved(turn.content, previous, subjects, labels)
        cited = str(turn.citations[0]["label"]) if turn.citations else None
        subject = cited or label_in(previous if turn.role == "user" else turn.content, labels)
        if subject and subject not in subjects[-1:]:
            subjects.append(subject)
    return previous, subjects


def label_in(text: str, labels: Collection[str]) -> str | None:
    """The first label that stands in `text`; one of several words in any case, one of a single word as it is."""
    for match in TOKEN.finditer(text):
        word = match.group().removesuffix("'s").removesuffix("’s")
        if word in labels:
            return word
    lowered = text.casefold()
    return next((label for label in labels if " " in label and label.casefold() in lowered), None)


def _resolved(question: str, previous: str, subjects: Sequence[str], labels: Collection[str]) -> str:
    """One step: `previous` is the standalone form of the question before, `subjects` the labels spoken of."""
    if not previous or not subjects:
        return question
    subject = subjects[-1]
    if change := _CHANGE.match(question):
        return question[change.end() :] or question
    if _WHY.fullmatch(question):
        return f"{previous} {question}"
    question = _recalled(question, subjects)
    fragment = _fragment(question)
    other = label_in(question, labels)
    if fragment and (fragment == other or (not other and _OTHER_PAPER.fullmatch(fragment))):
        return _asked_of(fragment, previous, subject)
    if other:
        return question
    if fragment or (len(question.split()) <= _SHORT and _ATTRIBUTE.search(question)):
        return f"{subject}: {fragment or question}{'?' if fragment else ''}"
    return _pointed(question, subject)


def _recalled(question: str, subjects: Sequence[str]) -> str:
    """What was asked, with the label of the paper in the place of the words that mean it: "the other one"."""
    spoken_of = list(dict.fromkeys(subjects))
    match = _SPOKEN_OF.search(question)
    if not match or len(spoken_of) < 2:
        return question
    place = {"first": 0, "second": 1, "third": 2}.get(match["which"].lower())
    before = [label for label in subjects if label != subjects[-1]]
    label = before[-1] if place is None else spoken_of[min(place, len(spoken_of) - 1)]
    return question[: match.start()] + label + question[match.end() :]


def _asked_of(other: str, previous: str, subject: str) -> str:
    """The question before, with another paper in the place of the one it was asked of."""
    asked, replaced = re.subn(rf"(?<![\w-]){re.escape(subject)}(?![\w-])", lambda _: other, previous)
    return asked if replaced else f"{previous} {other}?"


def _fragment(question: str) -> str | None:
    """What is left of "And ProjQ?" or "What about the code?" without its first words; None for a whole question."""
    connective = _CONNECTIVE.match(question)
    rest = question[connective.end() :].strip(" ?.!") if connective else ""
    asks = _ASKS.match(rest)
    if not connective or not connective.group() or not rest or asks:
        return None
    return rest if len(rest.split()) <= _SHORT or (_OTHER_PAPER.fullmatch(rest) and rest.startswith("one ")) else None


def _pointed(question: str, subject: str) -> str:
    is_long = len(question.split()) > _POINTS_BACK
    for pointing in _POINTING[:1] if is_long else _POINTING:
        match = pointing.search(question)
        if match:
            owner = "'s" if match.groupdict().get("owner") else ""
            place = "in " if match.group().lower() == "there" else ""
            return f"{question[: match.start()]}{place}{subject}{owner}{question[match.end() :]}"
    return question
