"""Standalone question -> what kind of answer it asks for."""

import re
from collections.abc import Sequence

from assistant.types import Kind, Question
from assistant.wording import any_of, pattern
from vectorstore.names import names_in
from vectorstore.sentences import sentence_spans

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
        f"(?:list|show)(?:_me)?_(?:all|every|the|all_the|all_of_the)_{_PAPER} "
        f"how_many_{_PAPER}_(?:are_there|are_in_(?:here|(?:the|this)_collection)|do_you_(?:have|know))(?:_in_total|_here)?"
    )
    + r"[\s?.!]*"
)
_THESE_PAPERS = (
    rf"(?:the |all |these |those |all the |all of the )?{any_of('papers works? research studies abstracts literature')}"
)
_TOPIC_OVERVIEW = pattern(
    rf"^(?:{any_of('can_you could_you please')} )*(?:"
    rf"(?:(?:give|show) me )?(?:an? |the )?(?:overview|summary|survey) of {_THESE_PAPERS} (?:here )?(?:on|about)"
    rf"|summari[sz]e {_THESE_PAPERS} (?:here )?(?:on|about)"
    rf"|what (?:do|have) {_THESE_PAPERS} {any_of('do done say said find found propose report tell_us')} "
    rf"{any_of('about on against for')}|what is {any_of('known done said')} here {any_of('about on against')}"
    rf"|what is {any_of('known done said')} {any_of('about on against')}(?=.* here\W*$)"
    r") (?P<topic>.+?)(?: here)?[\s?.!]*$"
)
"""Asks what all papers on a topic do about it, rather than which they are."""
_OCCUR = any_of("comes?_up turns?_up shows?_up appears? occurs? used mentioned discussed found")
_DO = any_of(
    "use propose introduce release report evaluate test study mention have do claim provide rely present publish "
    "make give deal work focus include discuss consider compare show advertise state treat address tackle train"
)
"""What papers do, as "how many use ...?" has it."""
_BY_PEOPLE = any_of("groups? teams? authors approaches methods techniques frameworks")
"""Who or what stands for papers that are counted or listed."""
_COUNT = pattern(
    rf"\b(?:how many|(?:the )?number of|count) {any_of('(?:(?:of|all|the|these|those)_)*')}(?:\w+ )?"
    rf"{any_of('papers abstracts articles publications works studies')}\b"
    rf"|^(?:and )?how many (?:of (?:them|these) )?{_DO}\b|^how many {_BY_PEOPLE} {_DO}\b"
    r"|^how many (?:groups|teams|approaches) (?:are|were|come)\b"
)
_COMPARE = pattern(
    rf"\b{any_of('compare[ds]? comparison versus vs differences?_between different_from differ_from')}\b"
    r"|\bhow do(?:es)? .+ differ\b|\bwhich (?:one|of (?:the two|them|these))\b.+ or \b"
    r"|\b(?:both|either) .+ (?:and|or)\b|\beach of them\b|\brespectively\b|\bthe one and (?:in )?the other\b"
)
_COMPARING = pattern(
    rf"\b(?:{any_of('compare[ds]? differ different')}(?: {any_of('to with from')})?"
    rf"|{any_of('comparison versus vs differences?')})\b"
    rf"|\b{any_of('how_do(?:es)?(?=_+differ) in_terms_of when_it_comes_to between both either each_of_them the_two')}\b"
    rf"|^\W*{any_of('and or is are the papers? works? study with to')}\b"
)
_LIST = pattern(
    rf"\b{any_of('which what list show find name give_me any all are_there other')}\b(?: \w+){{0,4}} {_PAPERS}\b"
    r"|\b(?:list|show me|name|give me|find) (?:everything|all|anything)\b"
    r"|\b(?:anything|everything) (?:here )?(?:about|on)\b"
    rf"|\bwhat (?:other )?{any_of('works? research')} (?:is|are) there\b|\bwho (?:else )?works on\b"
    rf"|^(?:please )?{_PAPERS} (?:with|on|about|that|which|using)\b|^what do you have (?:on|about)\b|^which ones\b"
    rf"|^where (?:do|does|is|are) .+ {_OCCUR}\b"
    r"|^(?:(?:is|are) there )?(?:any|some) (?:other |more )?(?:work|research|studies)\b|^is there (?:work|research)\b"
    r"|\b(?:show|give|find) me (?:any |some |the )?(?:work|research|studies)\b|^what(?: else|'s| is) (?:is )?there\b"
    rf"|^(?:is|does) any(?:one|body)\b|^who else\b|^who {_DO}s\b"
    rf"|^which (?:of the |other )?(?:{_BY_PEOPLE}|evaluations|benchmarks|studies|works|systems) {_DO}\b"
    r"|^which (?:evaluations|studies|works)\b"
)
_COURTESY = pattern(
    rf"^(?:{any_of('hi hello hey ok(?:ay)? so and please well thanks')}\b[\s,.!-]*)+"
    r"|[\s,]*\b(?:please|thanks|thank you)\b[\s.!?]*$"
)
_EXCEPTION = pattern(
    rf"\s*[(,-]*\s*\b{any_of('not_(?:counting|including) except excluding other_than apart_from')}\b[^()]*\)?"
)
"""What a list is not to hold; the models would take it for a part of the topic."""
_HERE = pattern(rf"\s+(?:in|among|of) (?:here|there|(?:the|this|these) (?:collection|{_PAPER}))$")
_WHERE = pattern(
    rf"^where (?:do|does|is|are) (?P<a>.+?) {_OCCUR}\b.*$"
    rf"|^(?P<b>.+?)(?: is| are)? {_OCCUR} in (?:which|what|how many)(?: of (?:the|these))? {_PAPER}$"
)
_ASKING = frozenset(
    "what what's which who how many number of list show find name give count tell do does is are has have had did "
    "there anyone anybody me you all the in any some every these those other else single here paper papers work works "
    "abstracts articles publications research studies everything anything something ones about on that where whose for "
    "by with deal deals dealing concern concerns concerned concerning talk talks talking use uses using used introduce "
    "introduces propose proposes study present presents discuss discusses treat treats cover covers can could would "
    "groups teams approaches methods techniques frameworks evaluations".split()
)
"""Words that only ask, when they stand before the topic."""
_REFERRING = pattern(r"\b(?:that|this|it|them|these|those)\b")
_SHORT_TOPIC = 3
"""Words; of so few one that refers says nothing by itself."""
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
        topic=_topic(text, kind),
        parts=tuple(parts or [text]),
        names=tuple(names_in(text)),
    )


def without_comparing(text: str, names: Sequence[str]) -> str:
    """What is asked of each of several things: `text` without their `names` and the words that compare."""
    for name in sorted((name for name in names if name), key=len, reverse=True):
        text = re.sub(
            rf"(?:\b(?:and|or|with|to|the|that|of) )*(?<![\w-]){re.escape(name)}(?:['’]s)?(?![\w-])",
            " ",
            text,
            flags=re.IGNORECASE,
        )
    return " ".join(_COMPARING.sub(" ", text).split()).strip(" ,.;:-–?!")


def _topic(text: str, kind: Kind) -> str:
    if kind == "overview":
        about = _TOPIC_OVERVIEW.match(text.strip())
        return about["topic"] if about else ""
    return topic_of(text) if kind in ("list", "count") else text


def topic_of(text: str) -> str:
    """What a list is to be about: the question without the words that only ask."""
    sentences = [_COURTESY.sub("", span.of(text)).strip(" ?.!") for span in sentence_spans(text)]
    at = next((at for at, each in enumerate(sentences) if _LIST.search(each) or _COUNT.search(each)), 0)
    asking = _EXCEPTION.sub("", sentences[at]).strip(" ?.!,")
    if where := _WHERE.search(asking):
        return str(where["a"] or where["b"])
    words = _HERE.sub("", asking).split()
    while len(words) > 1 and words[0].lower().strip(",:") in _ASKING:
        del words[0]
    if at and len(words) <= _SHORT_TOPIC and _REFERRING.search(" ".join(words)):
        return sentences[at - 1]  # "I study geometry. Which papers look at that?"
    return " ".join(words) or text


def kind_of(text: str) -> Kind:
    """By the words it asks with."""
    if _SMALLTALK.fullmatch(text.strip()):
        return "smalltalk"
    if _OVERVIEW.fullmatch(text.strip()) or _TOPIC_OVERVIEW.match(text.strip()):
        return "overview"
    if _COUNT.search(text):
        return "count"
    if _COMPARE.search(text) and len(names_in(text)) >= 2:
        return "compare"
    return "list" if _LIST.search(text) else "fact"
