"""Which way a sentence goes: what it denies, whether things rise or fall in it, and the same sentence turned round.

"X increases Y" becomes "X decreases Y", "X is not Y" becomes "X is Y", and where neither applies "is" becomes "is not".
"""

import re

from assistant.wording import stem, stems

_OPPOSITES = (
    "increases decreases|increased decreased|increase decrease|increasing decreasing|higher lower|high low|more less|"
    "greater smaller|improves worsens|improved worsened|improve worsen|promotes inhibits|promote inhibit|"
    "promoted inhibited|enhances impairs|enhance impair|enhanced impaired|reduces increases|reduced increased|"
    "reduce increase|reduction increase|lowers raises|activates inhibits|activation inhibition|activate inhibit|"
    "induces prevents|induce prevent|upregulated downregulated|upregulates downregulates|positive negative|"
    "upregulation downregulation|positively negatively|protects harms|susceptible resistant|gain loss|"
    "presence absence|beneficial harmful|effective ineffective|sufficient insufficient|accelerates slows|"
    "longer shorter|stronger weaker|strong weak|necessary unnecessary|dependent independent|prevents causes|"
    "inhibits promotes|suppresses promotes|better worse|early late|all no|large small|stimulates inhibits|"
    "elevated reduced|deficiency excess|accurate inaccurate|fewer more|most few|many few|hinders aids|"
    "impedes promotes|facilitates impedes|blocks enables|risk protection|rarely often|common rare"
)
_DENIALS = [
    (re.compile(r"\b(is|are|was|were|do|does|did|can|has|have|had|could|should|will) not\b"), r"\1"),
    (re.compile(r"\bcannot\b"), "can"),
    (re.compile(r"\bno\b"), ""),
    (re.compile(r"\bwithout\b"), "with"),
    (re.compile(r"\bnot\b"), ""),
    (re.compile(r"\black\b"), "have"),
    (re.compile(r"\blacks\b"), "has"),
    (re.compile(r"\bfails? to\b"), ""),
]
_RISING = stems(
    "increase raise grow boost gain enlarge rise higher high more greater elevated enhance improve promote upregulate "
    "activate induce stimulate accelerate better superior long larger strong positive"
)
_FALLING = stems(
    "reduce lower cut decrease shrink diminish drop decline suppress fewer less low reduction impair inhibit prevent "
    "block attenuate downregulate weaken slow poor worse inferior short smaller weak negative loss lack deficiency "
    "protect impede"
)
_DENIAL = re.compile(
    r"\b(?:not|no|never|without|cannot|neither|nor|none|fail|fails|failed|unable|lack|lacks|lacking|independent|"
    r"unaffected|absence)\b|n['’]t\b",
    re.IGNORECASE,
)
_DENIABLE = re.compile(r"\b(?:is|are|was|were|can|has|have|does|do|will)\b")
_WORD = re.compile(r"[A-Za-z]+")
WAYS = ("denial removed", "opposite", "denial added", "not turned")


def turned(claim: str) -> tuple[str, str]:
    """The claim turned round, and in which of `WAYS`."""
    for denial, plain in _DENIALS:
        if denial.search(claim):
            return denial.sub(plain, claim, count=1), "denial removed"
    opposites = _opposites()
    for match in _WORD.finditer(claim):
        if other := opposites.get(match.group().lower()):
            return claim[: match.start()] + other + claim[match.end() :], "opposite"
    if verb := _DENIABLE.search(claim):
        return f"{claim[: verb.end()]} not{claim[verb.end() :]}", "denial added"
    return claim, "not turned"


def is_denied(sentence: str) -> bool:
    """Whether it denies anything."""
    return _DENIAL.search(sentence) is not None


def direction(sentence: str) -> int:
    """1 when more things rise in it than fall, -1 when fewer, else 0."""
    words = [stem(word) for word in _WORD.findall(sentence)]
    rising, falling = (sum(word in way for word in words) for way in (_RISING, _FALLING))
    return (rising > falling) - (rising < falling)


def _opposites() -> dict[str, str]:
    pairs = [pair.split() for pair in _OPPOSITES.split("|")]
    return {b: a for a, b in reversed(pairs)} | {a: b for a, b in reversed(pairs)}
