"""What kind of thing a question asks for, and whether an abstract holds one.

The cross-encoder tells whether a sentence is about what is asked, hardly whether it answers: "What learning rate
was used to train R2M?" scores high on any sentence about training R2M. So some kinds of things are looked for:
persons, numbers of something, amounts, the details of experiments that abstracts seldom give, names that the question
brings up itself, and names of models and data sets. A question for anything else is taken to be answered by what is
relevant to it: to refuse what can be answered is the worse mistake.
"""

from collections.abc import Sequence

from assistant.wording import any_of, content_stems, pattern, stem, stems
from vectorstore.names import TOKEN, names_in

_AUXILIARY = any_of("is are was were does do did has have had can could will would should")
_LEAD = r"^(?:\w+ ){0,2}?"
"""Up to two words may come before the word that asks: "On which ...", "And over how many ..."."""
_AFTER_NOUN = rf"(?= {_AUXILIARY}\b| {any_of('took takes? in of on at for from per need(?:s|ed)? use[sd]?')}\b|[,?.]|$)"
_HOW_MANY = pattern(rf"{_LEAD}how many (?P<noun>.+?){_AFTER_NOUN}")
_AMOUNT = pattern(
    rf"{_LEAD}how {any_of('much large big high low far long fast')}\b"
    rf"|{_LEAD}what {any_of('percentage percent fraction share proportion number amount')}\b"
)
_PERSON = pattern(
    rf"^{any_of('who whom by_whom')} (?:else )?"
    rf"{any_of('is are was were did wrote made created developed proposed built')}\b"
    r"|^(?:the |its |their )?(?:authors?|affiliations?)\b"
    rf"|\b(?:which|what) {any_of('universit(?:y|ies) institut(?:ions?|es?) labs? compan(?:y|ies) countr(?:y|ies)')}\b"
)
_ENTITY = pattern(
    rf"{_LEAD}(?:which|what) (?:\w+ ){{0,2}}?{any_of('models? llms? gpus? solvers? simulators? backbones?')}\b"
    rf"|{_LEAD}(?:which|what) (?:\w+ ){{0,2}}?data ?sets?\b"
)
"""Asks for things that have names, so that an answer holds one."""
_REFERS_TO_PAPER = pattern(
    rf"\b{any_of('the this that their its')} (?:\w+[ -]){{0,3}}?"
    rf"{any_of('paper work study method approach framework benchmark scheme model system algorithm technique')}\b"
)
_DETAILS = stems(
    "batch epoch seed optimizer temperature hyperparameter gpu hardware hour day cost price fee licence license page "
    "parameter memory carbon energy funding grant university implementation significance significant ablation "
    "limitation baseline solver coefficient rank chip"
)
_DETAIL_PHRASES = ("learning rate", "programming language", "training time", "data set size", "false positive")
"""Details of experiments and papers: an abstract that gives one uses the word."""
_LOOSELY_COUNTED = stems("time fold percent percentage point part component thing way step stage kind type")
"""What is counted without being named beside the number: "10 times faster" may be "a 10x speed-up"."""
_COUNTED_ALIKE = {stem("llms"): stem("models"), stem("participants"): stem("people")}
_NUMBER = pattern(
    rf"\d|\b{any_of('one two three four five six seven eight nine ten eleven twelve dozens? hundreds? thousands?')}\b"
)
_NEAR = 6
"""Words between a number and what it counts."""
_LONGEST_COUNTED = 4
"""Words; what follows a longer phrase is more than the thing counted."""


def is_stated(question: str, paper_sentences: Sequence[str], best: Sequence[str], own_names: Sequence[str]) -> bool:
    """Whether the kind of thing that `question` asks for is in a paper, where need be in its `best` sentences.

    `own_names` are the names of the paper's system, its label first.
    """
    abstract = " ".join(paper_sentences)
    if _PERSON.search(question):
        return False
    if (match := _HOW_MANY.search(question)) and not _counts(match["noun"], abstract):
        return False
    if _AMOUNT.search(question) and not any(_NUMBER.search(sentence) for sentence in best):
        return False
    if _missing(question, abstract, own_names):
        return False
    return not _ENTITY.search(question) or _names_one(question, best, own_names)


def _missing(question: str, abstract: str, own_names: Sequence[str]) -> set[str]:
    """The details that the question asks for and the names it brings up that the abstract does not hold."""
    held = content_stems(f"{abstract} {' '.join(own_names)}")
    text = f"{abstract} {' '.join(own_names)}".lower()
    details = {stem(word) for word in TOKEN.findall(question)} & _DETAILS
    names = {name.lower() for name in names_in(question)}
    details -= held
    details |= {phrase for phrase in _DETAIL_PHRASES if phrase in question.lower() and phrase not in text}
    return details | {name for name in names if name not in text and stem(name) not in held}


def _counts(noun: str, abstract: str) -> bool:
    """Whether a number stands near the thing counted, as in "17 state-of-the-art LLMs"."""
    stems_of_noun = [_counted(word) for word in TOKEN.findall(noun)]
    if not 0 < len(stems_of_noun) <= _LONGEST_COUNTED or _LOOSELY_COUNTED & set(stems_of_noun):
        return bool(_NUMBER.search(abstract))
    words = abstract.split()
    places = [
        at for at, word in enumerate(words) if stems_of_noun[-1] in {_counted(part) for part in TOKEN.findall(word)}
    ]
    return any(_NUMBER.search(" ".join(words[max(0, at - _NEAR) : at + 1])) for at in places)


def _counted(word: str) -> str:
    return _COUNTED_ALIKE.get(stem(word), stem(word))


def _names_one(question: str, best: Sequence[str], own_names: Sequence[str]) -> bool:
    """Whether the best sentences hold a name that the question does not; the paper's own only if it is asked for."""
    known = question.lower()
    if _REFERS_TO_PAPER.search(question) or own_names[0].lower() in known:
        known += f" {' '.join(own_names)}".lower()
    found = {name.lower() for sentence in best for name in names_in(sentence)}
    found |= {own_names[0].lower()}
    return any(name not in known for name in found)
