"""What kind of thing a question asks for, and whether an abstract holds one.

The cross-encoder tells whether a sentence is about what is asked, hardly whether it answers: "What learning rate
was used to train R2M?" scores high on any sentence about training R2M. So the thing asked for is looked for by
kind: a number of something, an amount, a person, a name of some entity, or the very words ("learning rate").
A question that fits no kind is taken to be answered by what is relevant to it.
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
    rf"\bhow {any_of('much large big high low far long fast')}\b"
    rf"|\bwhat {any_of('percentage percent fraction share proportion number amount')}\b"
)
_PERSON = pattern(
    rf"^{any_of('who whose whom by_whom')}\b"
    rf"|\b(?:which|what) {any_of('universit(?:y|ies) institut(?:ions?|es?) labs? compan(?:y|ies) countr(?:y|ies)')}\b"
    rf"|\b{any_of('which what the their its first last corresponding main')} "
    rf"{any_of('authors? affiliations? e-?mail_address(?:es)?')}\b"
)
_ATTRIBUTE = pattern(
    rf"{_LEAD}(?:which|what) (?!{_AUXILIARY}\b)(?P<phrase>[^,?.]+?) {_AUXILIARY}\b"
    rf"|{_LEAD}what(?:'s| is| are| was| were) (?:the|their|its) (?P<noun>[^,?.]+?)"
    rf"(?: {any_of('of in on for used that')}\b|[?.]|$)"
)
"""Which attribute of a paper is asked for: "what learning rate was ...", "what is the batch size of ..."."""
_LONGEST_ATTRIBUTE = 5
"""Words; a longer phrase describes a paper rather than an attribute."""
_ENTITY_ACTS = pattern(rf"^which (?P<phrase>(?:\w+ ){{0,2}}?{any_of('models? llms? solvers? gpus? datasets?')}) \w+")
_ENTITIES = stems("llm gpu solver optimizer optimiser backbone simulator language model dataset")
"""Things that have names, so that an answer holds one."""
_REFERS_TO_PAPER = pattern(
    rf"\b{any_of('the this that their its')} (?:\w+[ -]){{0,3}}?"
    rf"{any_of('paper work study method approach framework benchmark scheme model system algorithm technique')}\b"
)
_GENERIC = stems(
    "method approach paper work system framework scheme model algorithm technique benchmark dataset data set tool "
    "study theory problem kind type sort part way component result finding effect improvement gain application "
    "idea main key remedy solution name purpose goal aim advantage limitation difference innovation contribution "
    "step stage factor reason task example setting experiment evaluation domain area topic role concept mechanism "
    "strategy signal measure metric quantity value level size number percentage share fraction average new novel "
    "specific exact exactly two three four five six seven eight nine ten first second family base group form "
    "thing issue challenge question property feature term condition evidence conclusion performance score defence "
    "defense"
)
"""Words for what every abstract speaks of, so that their absence says nothing."""
_COUNTED = stems("model task dataset")
"""Generic words that a number must stand beside all the same."""
_COUNTED_ALIKE = {stem("llms"): stem("models"), stem("participants"): stem("people")}
_NUMBER = pattern(
    rf"\d|\b{any_of('one two three four five six seven eight nine ten eleven twelve dozens? hundreds? thousands?')}\b"
)
_NEAR = 6
"""Words between a number and what it counts."""


def is_stated(question: str, paper_sentences: Sequence[str], best: Sequence[str], own_names: Sequence[str]) -> bool:
    """Whether the kind of thing that `question` asks for is in a paper, where need be in its `best` sentences.

    `own_names` are the names of the paper's system: no answer to a question that speaks of the paper already.
    """
    if _PERSON.search(question):
        return False
    if match := _HOW_MANY.search(question):
        return _counts(match["noun"], " ".join(paper_sentences))
    if _AMOUNT.search(question):
        return any(_NUMBER.search(sentence) for sentence in best)
    if match := _ATTRIBUTE.search(question):
        phrase = match["phrase"] or match["noun"]
        return len(phrase.split()) > _LONGEST_ATTRIBUTE or (
            any(_holds(phrase, sentence) for sentence in paper_sentences)
            and _names_one(phrase, question, best, own_names)
        )
    if (match := _ENTITY_ACTS.search(question)) and _REFERS_TO_PAPER.search(question):
        return _names_one(match["phrase"], question, best, own_names)
    return True


def _counts(noun: str, abstract: str) -> bool:
    """Whether a number stands near the thing counted, as in "17 state-of-the-art LLMs"."""
    counted = [_counted(word) for word in TOKEN.findall(noun)][-1:]
    if not counted or counted[0] in _GENERIC - _COUNTED:
        return bool(_NUMBER.search(abstract))
    words = abstract.split()
    places = [at for at, word in enumerate(words) if counted[0] in {_counted(part) for part in TOKEN.findall(word)}]
    return any(_NUMBER.search(" ".join(words[max(0, at - _NEAR) : at + 1])) for at in places)


def _counted(word: str) -> str:
    return _COUNTED_ALIKE.get(stem(word), stem(word))


def _holds(phrase: str, sentence: str) -> bool:
    """Whether every word of the phrase that not every abstract speaks of is in the sentence."""
    return content_stems(phrase) - _GENERIC <= content_stems(sentence)


def _names_one(phrase: str, question: str, best: Sequence[str], own_names: Sequence[str]) -> bool:
    """Whether, where the phrase asks for things that have names (models, GPUs, solvers), one is named."""
    if not _ENTITIES & {stem(word) for word in TOKEN.findall(phrase)}:
        return True
    known = f"{question} {' '.join(own_names)}".lower()
    return any(name.lower() not in known for sentence in best for name in names_in(sentence))
