"""What a question asks for, and whether an abstract tells it.

The cross-encoder tells whether a sentence is about what is asked, hardly whether it answers: "What learning rate
was used to train R2M?" scores high on any sentence about training R2M. So a question is read for what it asks: an
attribute that abstracts often leave out (`attributes.py`), a number (`amounts.py`), things that have names, or a
comparison with something. Each has its own evidence, without which the paper does not state it. A question for
anything else is taken to be answered by what is relevant to it: to refuse what can be answered is the worse mistake.
"""

import re
from collections.abc import Iterable, Sequence

from assistant.evidence.amounts import Told, alike, are_near, quantity_in, tells_amount, tells_count, tells_part
from assistant.evidence.attributes import ATTRIBUTES, AUXILIARY, NAMED, Attribute, Named, words
from assistant.evidence.names_held import holds_names
from assistant.evidence.numbers import NUMBER, NUMBER_WORD
from assistant.evidence.studies import STUDIES
from assistant.wording import any_of, content_stems, pattern, stems
from vectorstore.names import looks_like_name, names_in

_ATTRIBUTES = (*ATTRIBUTES, *STUDIES)
_WORK = any_of(
    "papers? works? study studies methods? approach frameworks? benchmarks? schemes? models? systems? algorithms? "
    "techniques? strategy optimi[sz]er solver objective policy generator defen[cs]e scheduler bandit"
)
_MEANS_A_PAPER = pattern(
    rf"\b{any_of('the this that their its')} (?:[\w-]+[ -]){{0,3}}?{_WORK}\b|\b{any_of('they their authors served')}\b"
    rf"|\b{any_of('is are was were')} (?:\w+ly )?"
    rf"{any_of('used examined tested applied evaluated computed chosen run')}\b"
    rf"|^(?:and )?{any_of('on with by at from under')} (?:which|what)\b|\bnames of the\b"
    rf"|^(?:which|what) (?:[\w-]+ ){{1,3}}{AUXILIARY} (?:the|it)\b"
)
"""Asks about the content of one paper, rather than which paper it is."""
_ASKS_FOR_PAPER = pattern(
    rf"\b(?:which|what) (?:[\w-]+ ){{0,3}}?{_WORK} |\bwhat(?:'s| is| are)? (?:it|they|this|that)? ?called\b"
    rf"|\b{any_of('is are')} there (?:an?|any|some) (?!(?:[\w-]+ ){{0,2}}"
    rf"{any_of('code implementation package ablation rate proof demo theor(?:y|em|etical) guarantee')})"
    r"|\bha(?:s|ve) (?:any|some) ?(?:body|one)\b"
)
_DESCRIPTION = pattern(
    rf",? {any_of('in of for by with from at')} {any_of('the this that')} (?:[\w-]+ ){{0,4}}?"
    rf"(?:{any_of('paper work study')}|{_WORK} {any_of('that which on about where')})\b(?:(?= {AUXILIARY}\b)|[^,]*)"
)
"""The words that only say which paper is meant, at the end of a question or before its first comma."""
_WHY = pattern(r"\b(?:why|how come|for what reason)\b")
"""Abstracts nearly always say why they do what they do."""
_YES_NO = pattern(rf"^(?:and |but |so )?{AUXILIARY}\b")
_WHO = pattern(
    rf"^(?:and |by )?whom?\b(?: {any_of('is are was were')})? (?:[\w-]+ ){{0,3}}?"
    rf"{any_of('authors? behind team researchers')}\b"
    rf"|^(?:and )?who (?:else |first |has )?{any_of('wrote made created developed built designed published')}\b"
)
"""Asks for the authors, whom abstracts do not name."""
_WHO_DID = pattern(
    r"^(?:and )?by whom\b|^(?:and )?who (?:else |first |has )?"
    + any_of(
        "annotated labell?ed collected reviewed checked graded judged rated conducted led carried_out performed did "
        "delivered administered interviewed examined operated treated"
    )
    + r"\b"
)
_DOER = pattern(
    r"\bby (?:[\w-]+ ){0,4}?"
    + any_of(
        "surgeon physician nurse clinician doctor expert rater observer examiner interviewer investigator researcher "
        "student teacher reviewer annotator radiologist pathologist therapist dentist crowd"
    )
)
"""Who does part of a study, as abstracts may tell."""

_RIVALS_ASKED = pattern(
    rf"\b(?:which|what) (?!{AUXILIARY}\b)(?:[\w-]+ ){{1,3}}?(?={AUXILIARY} .+ "
    rf"{any_of('compared_(?:with|to|against) outperform beat surpass')}\W*$)"
    rf"|^what {any_of('is are was were')} the (?=(?:[\w-]+ )?{any_of('baselines? competitors? rivals?')} called\b)"
)
"""Asks for what the paper is compared with, whatever it calls that."""
_KIND_ASKED = pattern(r"\b(?:kinds?|sorts?|types?) of\b")
_NAME_ASKED = pattern(rf"\bnames?\b|\b(?:which|what|the) (?:exact|specific|concrete|\d+|{NUMBER_WORD}) ")
_NOT_THE_HEAD = "[ -]" + any_of(
    "sizes? scales? types? famil(?:y|ies) parameters? components? techniques? layers? weights? outputs? performance"
)
"""What makes another thing of the noun before: "model sizes"."""
_INTRODUCES = pattern(rf"\b{any_of('introduce propose construct present develop')}s?\b")
_SPELLED_OUT = re.compile(r"(?:[A-Z][\w-]*\s+){0,8}\(\W*([A-Za-z]*[A-Z][\w-]*)\W*\)")
"""An abbreviation with the words it stands for: a name of a concept, seldom of data or a model."""
_VAGUE = stems(
    "diverse various multiple several many different standard existing strong challenging other all prior previous "
    "recent state-of-the-art state art real-world public popular representative relevant novel new unseen potential "
    "possible large-scale extensive comprehensive rigorous evaluated baseline open first same static our this these "
    "such the of on a an across and both one two three four five six seven eight nine ten"
)
"""Words before a noun that do not say which things they are."""

_CLAUSE_END = r"(?= (?:at|in|on|for|with|when|while|too|as|does|do|did|is|are|was|were|gets?)\b|[,?.;:]|$)"
_COMPARED = pattern(
    r"\b(?:(?<!rather )(?<!more )(?<!other )than|against|versus|vs\.?|compared (?:to|with)|relative to"
    rf"|{any_of('outperforms? beats? surpass(?:es)?')}"
    rf"|(?:gains?|improve(?:ments?|s)?) (?:\w+ )?over) (?P<other>[^,?.;:]+?){_CLAUSE_END}"
)
_APPLIED = pattern(
    r"\b(?:"
    + any_of("holds? generali[sz]es? transfers? extends? appl(?:y|ies|ied) tested tried evaluated trained")
    + r"(?: up| well| also)? (?:for|to|on|with)|"
    + any_of("works?_(?:on|for) supports? protects?_against combined?_with")
    + r") (?:the )?(?P<other>[\w-]+)"
)
_CHOICE = pattern(
    rf"^{AUXILIARY}\b.* (?P<one>[\w-]+) or (?!{AUXILIARY}\b)"
    rf"(?:{any_of('in with by on a an the of to from for')} )*(?P<other>[\w-]+)"
)
"""Asks which of two it is, as in "Were they mice or rats?"."""
_COMPARISONS = stems(
    "better worse more less fewer faster slower larger smaller higher lower longer shorter positive negative "
    "increase decrease rise fall improve true false both alone"
)
"""Alternatives that are told in many words."""
_GENERIC = stems(
    "baseline state art method approach exist previous prior other rest alternative competitor model base standard "
    "before usual ordinary common best strong strongest new real different task data it them that this one anything "
    "something thing rival paper work system average"
)
"""Words that single out nothing a paper could be compared with or applied to."""


def is_stated(question: str, paper_sentences: Sequence[str], best: Sequence[str], own_names: Sequence[str]) -> bool:
    """Whether a paper tells what `question` asks for, where need be in its `best` sentences.

    `own_names` are the names of the paper's system, its label first.
    """
    told = Told(paper_sentences, best, own_names)
    about_paper = bool(_MEANS_A_PAPER.search(question)) or _names_what_is_introduced(question, told)
    if _WHY.search(question) or (_ASKS_FOR_PAPER.search(question) and not about_paper):
        return True
    asked = _with_rivals_named(_DESCRIPTION.sub("", question).strip(" ,"), told)
    return (
        not _WHO.search(asked)
        and (not _WHO_DID.search(asked) or bool(_DOER.search(told.text)))
        and _tells_attributes(asked, told)
        and tells_count(asked, told)
        and tells_part(asked, told)
        and (_tells_quantity(asked, told) or tells_amount(asked, told))
        and (not about_paper or _tells_names(asked, told))
        and _holds_others(asked, told)
        and _holds_alternative(asked, told)
        and holds_names(question, told.text)
    )


def _with_rivals_named(asked: str, told: Told) -> str:
    """`asked` with what the paper is compared with called baselines, if the abstract does not call it by its name."""
    rivals = _RIVALS_ASKED.search(asked)
    if not rivals or content_stems(rivals[0].split()[-1]) & told.stems:
        return asked
    return _RIVALS_ASKED.sub("which baselines ", asked)


def _names_what_is_introduced(question: str, told: Told) -> bool:
    """Whether `question` has the name of the paper's system, or of anything else that the paper introduces."""
    named = question.lower()
    if told.own_names[0].lower() in named or (told.own_names[1:] and " ".join(told.own_names[1:]).lower() in named):
        return True
    introduced = " ".join(sentence for sentence in told.sentences if _INTRODUCES.search(sentence))
    return any(looks_like_name(name) and name in introduced for name in names_in(question))


def _tells_attributes(asked: str, told: Told) -> bool:
    return all(_tells(attribute, asked, told) for attribute in _ATTRIBUTES if attribute.is_asked_in(asked))


def _tells_quantity(asked: str, told: Told) -> bool:
    """Whether the quantity asked for is one of the attributes, which are told in other words too ("OR" for odds)."""
    quantity = quantity_in(asked)
    return any(a.valued and words(a.asked).search(quantity) and _tells(a, asked, told) for a in _ATTRIBUTES)


def _tells(attribute: Attribute, asked: str, told: Told) -> bool:
    if not attribute.told:
        return False
    if not attribute.valued:
        return bool(words(attribute.told).search(told.text))
    return any(are_near(words(attribute.told), NUMBER, sentence) for sentence in told.sentences)


def _tells_names(asked: str, told: Told) -> bool:
    """Whether the abstract tells which models, data sets or the like, if `asked` is that."""
    if _KIND_ASKED.search(asked):
        return True
    return all(
        _names_one(kind, asked, told)
        or (kind.described and not _NAME_ASKED.search(asked) and _describes(kind, asked, told))
        for kind in NAMED
        if _asks_for(kind, asked)
    )


def _asks_for(kind: Named, asked: str) -> bool:
    words_between = rf"(?:(?!{AUXILIARY}\b)[\w-]+ ){{0,3}}?"
    return bool(
        pattern(
            rf"(?:^|[,:;–-] |\b{any_of('than for of on with in to by')} )(?:[\w,]+ ){{0,3}}?"
            rf"(?:(?:which|what)(?! {AUXILIARY}\b)|names? of the) {words_between}{words(kind.asked).pattern}"
            rf"(?!{_NOT_THE_HEAD})"
        ).search(asked)
    )


def _names_one(kind: Named, asked: str, told: Told) -> bool:
    """Whether the abstract holds a name of this kind, other than the paper's own and those in the question."""
    if kind.known and words(kind.known).search(told.text):
        return True
    if any(re.search(rf"\bthe [A-Z][a-z]+ (?:{words(kind.asked).pattern})", sentence) for sentence in told.sentences):
        return True  # "the Rasch model"
    abbreviations = [match[1] for sentence in told.sentences for match in _SPELLED_OUT.finditer(sentence)]
    own = told.own_names if kind.known or kind.described or told.own_names[0].lower() in asked.lower() else []
    ruled_out = _name_parts([*own, *names_in(asked), *abbreviations])
    others = [words(other.known) for other in NAMED if other.known and other is not kind]
    for sentence in told.sentences:
        if _INTRODUCES.search(sentence) and kind.known:
            continue  # what the authors made themselves
        text = _SPELLED_OUT.sub("", sentence)
        names = [name for name in names_in(text) if looks_like_name(name) and not name[0].isdigit()]
        if any(
            are_near(words(kind.beside), re.compile(re.escape(name)), text)
            for name in names
            if not _name_parts([name]) & ruled_out and not any(other.fullmatch(name) for other in others)
        ):
            return True
    return False


def _name_parts(names: Iterable[str]) -> set[str]:
    """The names whole and in their parts, in one form for singular and plural."""
    return {part.lower().rstrip("s") for name in names for part in (name, *re.split(r"[ -]", name)) if part}


def _describes(kind: Named, asked: str, told: Told) -> bool:
    """Whether a word that the question does not have says which they are: "selection-based baselines"."""
    described = pattern(rf"(?<![\w-])([\w-]+) {words(kind.asked).pattern}")
    found = [content_stems(match[1]) for sentence in told.sentences for match in described.finditer(sentence)]
    return any(not modifier & content_stems(asked) and not modifier <= _VAGUE for modifier in found)


def _holds_others(asked: str, told: Told) -> bool:
    """Whether the abstract holds what the paper is to be compared with, or applied to."""
    others = [match["other"] for match in _COMPARED.finditer(asked)]
    if _YES_NO.search(asked):
        others += [match["other"] for match in _APPLIED.finditer(asked)]
    return all(not wanted or bool(wanted & (_GENERIC | told.stems)) for wanted in map(content_stems, others))


def _holds_alternative(asked: str, told: Told) -> bool:
    """Whether the abstract holds one of two things between which `asked` leaves the choice."""
    choice = _CHOICE.search(asked)
    if not choice:
        return True
    offered = content_stems(f"{choice['one']} {choice['other']}")
    return bool(alike(offered) & alike(told.stems) or offered & _COMPARISONS)
