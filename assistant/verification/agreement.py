"""Whether a sentence says no more than a passage does: each rule finds a reason against it, or none.

The rules compare wording. They see foreign words, numbers and names among foreign words, denials, turned-round
directions and comparisons, what is said of others, and quantities, reservations and causes that grew. They prove no
meaning.
"""

import re
from collections.abc import Iterator, Sequence, Set
from itertools import takewhile

from assistant.verification.edits import denial_changed, replaced
from assistant.verification.limits import limit_dropped, made_causal
from assistant.verification.opposites import DIRECTIONS, turned_round
from assistant.verification.passages import Passage, speaks_of_own_work
from assistant.verification.quantities import Quantity, quantities_in
from assistant.verification.roles import roles_swapped
from assistant.verification.terms import Clause, clauses_of, is_number, terms_of
from assistant.verification.units import another_bound
from assistant.wording import any_of, content_stems, pattern
from vectorstore.names import names_in

_LEAST_SHARED = 0.75
"""Of a sentence's terms, the part that must stand in the passage."""
_LEAST_TERMS = 2
_LEAST_SHARED_OF_CLAUSE = 1 / 3
"""Of the terms of a clause that has at least that many."""
_REACH = 6
"""Words behind a negation that it denies."""
_NEGATION = pattern(
    rf"\b(?:{any_of('not no never without cannot neither nor none fails? failed unable lacks? lacking')}"
    rf"|{any_of('rather_than instead_of unlike beyond far_from anything_but')}"
    rf"|{any_of('avoid(?:s|ing)? remov(?:es|ing)_the_need preclud(?:es|ing)')})\b"
    r"|\bf[ae]ll(?:s|ing)? (?:\w+ )?short of\b|n['’]t\b|\b(?=\w+-free\b)"
)
_DENIAL_ENDS = pattern(r"[,;:()]|\b(?:and|but|while|whereas|yet|although)\b")
_WORD_ENDS = re.compile(r"[^\w-]")
"""A word in "-free" denies itself alone."""
_OTHERS_WORK = pattern(
    rf"\b{any_of('existing prior previous current conventional traditional vanilla most_research earlier')}\b"
)
_WHOSE = [("ours", pattern(r"\b(?:our|ours|we|the proposed)\b")), ("others'", _OTHERS_WORK)]
_OPENING = 3
"""Words in which a sentence says whose work it speaks of."""
_THAN = pattern(rf"\b{any_of('than compared_to compared_with')}\b")
_BETTER = any_of("outperform surpass beat exceed underperform trail lag")
_COMPARISON = pattern(
    rf"(?<!^)\b(?:{any_of('than compared_to compared_with')}"
    rf"|{_BETTER}(?:e?s|ed|ing)?)\b"
)
_AT_THE_FRONT = 20
"""Characters; a comparison so early in a sentence that begins with an adverbial compares what comes behind it."""
_STRONG_WORDS = [
    any_of("all every each always any"),
    any_of("entire(?:ly)? fully completely whole"),
    any_of("only solely exclusively merely just purely single"),
    "first",
]
_STRONG = [
    *((pattern(rf"\b{words}\b"), pattern(rf"\b{words}\b")) for words in _STRONG_WORDS),
    (
        pattern(rf"\b{_BETTER}(?:e?s|ed|ing)?\b"),
        pattern(rf"\b(?:{_BETTER}|{any_of('better superior more less worse higher lower improv gain')})"),
    ),
]
"""What makes a sentence say much, and what a passage must then have."""
_SIDES = pattern(r";|\bwhereas\b|\bwhile\b(?! \w+ing\b)|\balthough\b")
"""What parts a sentence into sides with a subject of their own."""
_ADVERBIAL = pattern(
    rf"^{any_of('as on in with without for at across compared when if under by through unlike to')}\b[^,]*,"
)
_PASSIVE = pattern(r"\b(?:is|are|was|were|be|been)\b(?: \w+ly)? \w+(?:ed|en|t)\b")
_NAME_PHRASE = re.compile(r"(?<!\w)[A-Z][\w-]*(?: [A-Z][\w-]*)+")
_LIST_SIGN = re.compile(r"(?<=\w)(?:,| and| or|, and|, or)(?: the)? (?=[\w-]*[A-Z])|, (?=\w+ing\b)")
"""Between the names of a list, and before what something does or is done by."""
_PARENTHESIS = re.compile(r" \([^()]*\)")


def disagreements(sentence: str, passage: Passage) -> list[str]:
    """What speaks against taking `sentence` for a paraphrase of `passage`, in plain words."""
    rules = (
        *(_asked, _foreign, _clause_added, _number_moved, _bound_turned, _name_moved, _replaced, _denial, _turned),
        *(_direction_moved, _swapped, _roles_swapped, _of_others, _given_to_others, _other_subject),
        *(_grown, _limit_dropped, _made_causal),
    )
    return [reason for rule in rules if (reason := rule(sentence, passage))]


def denied(text: str) -> set[str]:
    """The stems of the content words right behind a negation, up to the end of its clause."""
    return {stem for words in _behind_negations(text) for stem in content_stems(words)}


def _asked(sentence: str, passage: Passage) -> str | None:
    """A question, such as the reader's own that a model repeats."""
    return "a question says nothing" if sentence.rstrip("\"'”’) ").endswith("?") else None


def _foreign(sentence: str, passage: Passage) -> str | None:
    few = passage.shared(sentence) < _LEAST_SHARED
    return "too few of its words stand in one sentence of the abstract" if few else None


def _clause_added(sentence: str, passage: Passage) -> str | None:
    """A clause of its own that the passage knows nothing of; it may be short beside the rest of the sentence."""
    for clause in clauses_of(sentence):
        terms = set(clause.terms) - passage.own
        if len(terms) >= _LEAST_TERMS and len(terms & passage.terms) < _LEAST_SHARED_OF_CLAUSE * len(terms):
            return f"the abstract does not say “{clause.text.strip(' ,;:()')}”"
    return None


def _number_moved(sentence: str, passage: Passage) -> str | None:
    meant = quantities_in(passage.text)
    for claimed in quantities_in(sentence):
        same = [row for row, quantity in enumerate(meant) if quantity.number == claimed.number]
        if not same and claimed.number not in passage.terms:
            return f"{claimed.number} stands in another sentence of the abstract"
        if same and not any(_fits(claimed, meant[row], meant[row + 1 :], passage) for row in same):
            return f"the abstract gives {claimed.number} for something else"
    return None


def _bound_turned(sentence: str, passage: Passage) -> str | None:
    number = another_bound(sentence, passage.text)
    return f"the abstract bounds {number} from the other side" if number else None


def _fits(claimed: Quantity, meant: Quantity, later: Sequence[Quantity], passage: Passage) -> bool:
    """Whether a number stands among the words it stands among in the passage.

    Words of an earlier number may be said of it too ("2 points more on A and 3 on B"), those of a later one not.
    """
    wanted = ((claimed.counted or claimed.around) & passage.terms) - passage.own
    if not wanted:
        return True
    counted = meant.counted - DIRECTIONS
    before = takewhile(lambda term: term != meant.number, passage.order)
    of_later = {term for quantity in later for term in quantity.around} - meant.around.union(before)
    own, foreign = wanted & meant.around, wanted - meant.around
    counts_the_same = not counted or bool(counted & claimed.around)
    return counts_the_same and not wanted & of_later and 0 < len(own) >= len(foreign)


def _name_moved(sentence: str, passage: Passage) -> str | None:
    texts = [_PARENTHESIS.sub(" ", text) for text in (sentence, passage.text)]
    listed, joined = ([clauses_of(text) for text in each] for each in (texts, map(_joined, texts)))
    for name in [*_NAME_PHRASE.findall(sentence), *names_in(sentence)]:
        terms = set(terms_of(name)) - passage.own
        if not terms or any(is_number(term) for term in terms):
            continue
        if not terms <= passage.terms:
            return f"{name} stands in another sentence of the abstract"
        if all(_is_elsewhere(terms, mine, theirs, passage) for mine, theirs in (listed, joined)):
            return f"the abstract says something else of {name}"
    return None


def _is_elsewhere(terms: Set[str], mine: Sequence[Clause], theirs: Sequence[Clause], passage: Passage) -> bool:
    """Whether most of what the sentence has beside a name stands beside something else in the passage."""
    said, held = _beside(terms, mine) & passage.terms - passage.own, _beside(terms, theirs)
    return bool(held) and len(said - held) > len(said & held)


def _joined(text: str) -> str:
    """`text` with the names of a list, and what they do, in one clause: what is said of one is said of all."""
    return _LIST_SIGN.sub(" ", text)


def _beside(terms: Set[str], clauses: Sequence[Clause]) -> set[str]:
    """The other terms of the clauses that hold all of `terms`."""
    return {term for clause in clauses if terms <= set(clause.terms) for term in clause.terms} - terms


def _replaced(sentence: str, passage: Passage) -> str | None:
    found = replaced(sentence, passage)
    return f"the abstract has {found[1]} in place of {found[0]}" if found else None


def _denial(sentence: str, passage: Passage) -> str | None:
    unlike = _denies(sentence, passage.text) or _denies(passage.text, sentence) or denial_changed(sentence, passage)
    return "it denies what the abstract says, or says what the abstract denies" if unlike else None


def _denies(text: str, other: str) -> bool:
    """Whether at least half of what `text` denies at one place stands in `other` and is not denied there."""
    held = content_stems(other) - denied(other)
    phrases = (content_stems(words) for words in _behind_negations(text))
    return any(phrase and 2 * len(phrase & held) >= len(phrase) for phrase in phrases)


def _behind_negations(text: str) -> Iterator[str]:
    for match in _NEGATION.finditer(text):
        ending = (_DENIAL_ENDS if match.group() else _WORD_ENDS).search(text, match.end())
        yield " ".join(text[match.end() : ending.start() if ending else None].split()[:_REACH])


def _turned(sentence: str, passage: Passage) -> str | None:
    word = turned_round(sentence, passage)
    return f"the abstract says the opposite of “{word}”" if word else None


def _direction_moved(sentence: str, passage: Passage) -> str | None:
    """A direction must be that of one of the things it is the direction of in the passage."""
    for clause in clauses_of(sentence):
        things = set(clause.terms) - DIRECTIONS - passage.own
        for way in DIRECTIONS & set(clause.terms) & passage.terms:
            given = [other for other in passage.clauses if way in other.terms]
            if things & passage.terms and not any(things & set(other.terms) for other in given):
                return "the abstract says of something else that it rises or falls"
    return None


def _swapped(sentence: str, passage: Passage) -> str | None:
    if (theirs := _compared(passage.text)) is None:
        return None
    before, behind = theirs[0] - theirs[1], theirs[1] - theirs[0]
    if mine := _compared(sentence):
        return "it turns a comparison round" if mine[0] & behind and mine[1] & before else None
    said = _side(_SIDES.split(sentence)[0]) - passage.own
    names_own = any(name in sentence for name in passage.own_names)
    if names_own and len(said & behind & _named_by_than(passage.text)) > len(said & before):
        return "the abstract says it of what its work is compared to"
    return None


def _roles_swapped(sentence: str, passage: Passage) -> str | None:
    return "it turns round what acts on what" if roles_swapped(sentence, passage) else None


def _compared(text: str) -> tuple[set[str], set[str]] | None:
    """What stands before and behind the first comparison."""
    match = _COMPARISON.search(text)
    if match is None or (_ADVERBIAL.match(text) and match.start() < _AT_THE_FRONT):
        return None
    return _side(text[: match.start()]), _side(text[match.end() :])


def _side(text: str) -> set[str]:
    """The terms of a side of a comparison, and whose work it is: "our method" against "existing methods"."""
    whose = {word for word, said in _WHOSE if said.search(text)}
    return set(terms_of(text)) | whose


def _named_by_than(text: str) -> set[str]:
    """The terms behind "than" up to the end of its clause."""
    match = _THAN.search(text)
    clauses = clauses_of(text[match.end() :]) if match else []
    return set(clauses[0].terms) if clauses else set()


def _of_others(sentence: str, passage: Passage) -> str | None:
    if not speaks_of_own_work(sentence, passage.own_names) or _OTHERS_WORK.search(sentence):
        return None
    others = _OTHERS_WORK.search(passage.text)
    if others and not speaks_of_own_work(passage.text, passage.own_names):
        return f"the abstract says it of {others.group().lower()} work"
    return "the abstract says it before it comes to its own work" if passage.is_background else None


def _given_to_others(sentence: str, passage: Passage) -> str | None:
    """What the passage says of its own work, in its first words or without a word of others', is given to others."""
    theirs, mine = (" ".join(text.split()[:_OPENING]) for text in (passage.text, sentence))
    texts = (passage.text, theirs)
    is_own = any(speaks_of_own_work(text, passage.own_names) and not _OTHERS_WORK.search(text) for text in texts)
    return "the abstract says it of its own work" if is_own and _OTHERS_WORK.search(mine) else None


def _grown(sentence: str, passage: Passage) -> str | None:
    for strong, enough in _STRONG:
        if (match := strong.search(sentence)) and not enough.search(passage.text):
            return f"the abstract does not say “{match.group().lower()}”"
    return None


def _limit_dropped(sentence: str, passage: Passage) -> str | None:
    limited = limit_dropped(sentence, passage.text)
    return f"the abstract says no more than “{limited}”" if limited else None


def _made_causal(sentence: str, passage: Passage) -> str | None:
    causal = made_causal(sentence, passage.text)
    return "the abstract says that they go together, not that one brings the other about" if causal else None


def _other_subject(sentence: str, passage: Passage) -> str | None:
    """What the sentence begins with is on another side of the passage, or behind all that is said of it."""
    first, *others = terms_of(_SIDES.split(_ADVERBIAL.sub("", sentence))[0]) or [""]
    if first in passage.own or first not in passage.terms:
        return None
    rest = [term for term in others if term in passage.terms]
    last = {term: place for place, term in enumerate(passage.order)}
    place = passage.order.index(first)
    is_behind = len(rest) > 1 and not _PASSIVE.search(sentence) and all(last[term] < place for term in rest[1:])
    return "the abstract says it of something else" if is_behind or _is_across(first, rest, passage) else None


def _is_across(first: str, rest: Sequence[str], passage: Passage) -> bool:
    """Whether at least half of `rest`, and two of them, stand only on sides of the passage without `first`."""
    sides = [set(terms_of(side)) for side in _SIDES.split(passage.text)]
    own_side = {term for side in sides if first in side for term in side}
    return 2 * sum(term not in own_side for term in rest) >= max(2, len(rest))
