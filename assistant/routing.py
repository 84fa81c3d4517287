"""Standalone question -> what kind of answer it asks for."""

from assistant.types import Kind, Question
from assistant.wording import any_of, pattern
from vectorstore.names import names_in

_PAPER = any_of("papers? works? abstracts? studies articles? publications?")
_PAPERS = (
    r"(?:papers|abstracts|articles|publications|(?:works|studies)(?= (?:are|on|about|that|which|use|deal|treat)\b))"
)
_SMALLTALK = pattern(
    any_of(
        "hi hello hey good_(?:morning|afternoon|evening) thanks? thank_you(?:_(?:very|so)_much)? thanks_a_lot bye "
        "goodbye who_are_you what_are_you what_can_you_do(?:_for_me)? how_do_you_work how_are_you "
        "help ok(?:ay)? great nice"
    )
    + r"(?: there| assistant)?[\s!.?]*"
)
_OVERVIEW = pattern(
    any_of(
        f"what(?:'s|_is)_in_(?:here|(?:this|the)_collection) "
        f"what_(?:is|are)_(?:this|these|the)_(?:collection|conference|{_PAPER})_about "
        f"(?:(?:give|show)_me_)?an_overview(?:_of_(?:the|these|all|this)_(?:collection|conference|{_PAPER}))? overview "
        f"(?:what|which)_{_PAPER}_(?:are_there|do_you_(?:have|know)|are_in_here|are_in_(?:the|this)_collection) "
        f"(?:list|show)(?:_me)?_(?:all|every|the|all_the|all_of_the)_{_PAPER}"
    )
    + r"[\s?.!]*"
)
_COUNT = pattern(rf"\bhow many (?:of (?:the|these) )?(?:\w+ )?{_PAPER}\b")
_COMPARE = pattern(
    rf"\b{any_of('compare[ds]? comparison versus vs differences?_between different_from differ_from')}\b"
    r"|\bhow do(?:es)? .+ differ\b"
)
_LIST = pattern(
    rf"\b{any_of('which what list show find name give_me any all are_there other')}\b(?: \w+){{0,4}} {_PAPERS}\b"
)
_ASKING = pattern(
    rf"^(?:please )?(?:in |on )?"
    rf"(?:{any_of('how_many which what list show find name give are_there is_there do does')}\b"
    rf"(?: {any_of('me all the of any every these')}| \w+ing)*)* ?{_PAPER}?\b"
    rf"(?: {any_of('that which here are is do does have has there on about for')}"
    rf"| {any_of('deal(?:s|ing)?_with concern(?:s|ed_with|ing)?')}"
    rf"| {any_of('(?:talk|report|work)(?:s|ing)?_(?:about|on) (?:us|introduc|propos)(?:e|es|ing) stud(?:y|ies|ying)')}"
    rf"| {any_of('present(?:s|ing)? discuss(?:es|ing)? treat(?:s|ing)? cover(?:s|ing)?')})*\s+"
)
_PART_END = pattern(
    r"(?<=[.?!;])\s+"
    rf"|,?\s+(?:and|but)\s+(?={any_of('what which how why where when who does do is are did')}\b"
    rf"|{any_of('by on in from')} (?:how|which|what)\b)"
)


def read_question(text: str) -> Question:
    """What is asked, and in what way."""
    kind = kind_of(text)
    parts = [part.strip() for part in _PART_END.split(text) if len(part.split()) >= 3]
    return Question(
        text=text,
        kind=kind,
        topic=(_ASKING.sub("", text).strip(" ?.!") or text) if kind in ("list", "count") else text,
        parts=tuple(parts or [text]),
        names=tuple(names_in(text)),
    )


def kind_of(text: str) -> Kind:
    """By the words it asks with."""
    if _SMALLTALK.fullmatch(text.strip()):
        return "smalltalk"
    if _OVERVIEW.fullmatch(text.strip()):
        return "overview"
    if _COUNT.search(text):
        return "count"
    if _COMPARE.search(text) and len(names_in(text)) >= 2:
        return "compare"
    return "list" if _LIST.search(text) else "fact"
