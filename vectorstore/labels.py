"""A readable label for a paper: the name its authors give their system, else a short title.

Without a title, the name is looked for where authors introduce it ("we propose Cure-SFT, a ...",
"Unsupervised Partner Design (UPD)", "our method, LSFlow, ..."), then in the address of their code.
Where there is no name, the label is made from the words that follow "we study", "we show that", ...
"""

import re
from collections import Counter
from collections.abc import Set

from vectorstore.markup import readable
from vectorstore.names import FIELD_ABBREVIATIONS, TOKEN, looks_like_name
from vectorstore.sentences import sentence_spans
from vectorstore.types import PaperRecord

_LONGEST_TITLE = 70  # characters
_SUBJECT = r"\b(?:we|(?:this|our) (?:paper|work|study|article)|the paper)\b"
_ADVERBS = r"(?:\s+(?:then|also|thus|therefore|further|here|hence|first|next|now|instead|formally|jointly))?"
_INTRODUCING = re.compile(
    rf"{_SUBJECT}{_ADVERBS}\s+(?:introduces?(?: and releases?)?|proposes?|presents?|develops?|designs?|constructs?|"
    r"builds?|releases?|contributes?|describes?|offers?|devises?|establish(?:es)?|explores?|creates?|unveils?)\s+(?P<rest>.+)",
    re.IGNORECASE,
)
_NAMING = re.compile(
    r"\b(?:our|the) (?:proposed )?(?:method|approach|model|framework|system|benchmark|algorithm|dataset), "
    r"(?P<a>[^,]{2,40}),"
    r"|\b(?:called|named|dubbed|termed|coined|(?:refer|referred) to as) (?P<b>\S+(?: \S+)?)"
    r"|\bimplement (?:our|the|this) \w+ (?:in|as) (?P<c>\S+)",
    re.IGNORECASE,
)
_STUDYING = re.compile(
    rf"{_SUBJECT}{_ADVERBS}\s+(?:study|studies|investigates?|examines?|analy[sz]es?|revisits?|identify|identifies|"
    r"(?:shows?|demonstrates?|proves?|finds?) that|addresses|tackles?|considers?|asks?|"
    r"(?:address|bridge|mitigate|tackle|solve) (?:this|these|the)(?: \w+)? by(?: demonstrating that| showing that)?)\s+"
    r"(?P<rest>.+)",
    re.IGNORECASE,
)
_ACRONYM = re.compile(r"\((?P<name>[A-Za-z][\w$^+-]*)\)")
_CUT = re.compile(
    r",|;|:|\.(?=\s|$)|\s--|—|\s\("
    r"|\s(?:which|where|while|whereas|because|that|in which|so that|thereby|serves? as|by|using|via)\s"
    r"|\sand (?=\w+ing\b)"
)
_ADDRESS = re.compile(r"\S+\.\w+/\S+")
_DANGLING = re.compile(
    r"(?:\s(?:and|or|of|for|to|in|on|with|from|as|that|the|an?|into|is|are|under|between|its|their|can|at))+$"
)
_OPENING = re.compile(
    r"^(?:the problem of|the task of|whether|an?|the|novel|new|first|our|two|three)\s+", re.IGNORECASE
)
_COMMON = frozenset(
    "model models method methods approach approaches framework language learning training performance results "
    "existing however across between through without propose proposed novel problem problems network networks".split()
)
"""Long words of any abstract, which say nothing of its topic."""


def label_of(record: PaperRecord) -> str:
    """The label of a paper; not yet compared with those of the others."""
    title = _shortened(readable(record.title or ""))
    if title:
        return _name_before_colon(record.title or "") or title
    sentences = [_ADDRESS.sub("", readable(span.of(record.abstract))) for span in sentence_spans(record.abstract)]
    return _introduced_name(sentences, record.urls) or _emphasised(record.abstract) or _title(sentences)


def _name_before_colon(title: str) -> str | None:
    name, colon, _ = readable(title).partition(": ")
    return (
        name if colon and 1 <= len(name.split()) <= 2 and len(name) <= 30 and looks_like_name(name.split()[0]) else None
    )


def _introduced_name(sentences: list[str], urls: tuple[str, ...]) -> str | None:
    known = set(FIELD_ABBREVIATIONS)
    for sentence in sentences:
        match = _INTRODUCING.search(sentence)
        if match and (name := _first_name(match["rest"], known | _words(sentence[: match.start()]))):
            return name
        known |= _words(sentence)
    for match in (m for sentence in sentences for m in _NAMING.finditer(sentence)):
        if name := _first_name(match["a"] or match["b"] or match["c"], FIELD_ABBREVIATIONS, capital_is_enough=True):
            return name
    return _name_in_address(sentences, urls)


def _words(text: str) -> set[str]:
    return {token.lower() for token in TOKEN.findall(text)}


def _first_name(phrase: str, known: Set[str], *, capital_is_enough: bool = False) -> str | None:
    """The first name in what follows "we propose"; an abbreviation in brackets when it stands for words before it."""
    phrase = re.split(r"\s(?:that|which|for|to|by|based on|built on|on top of|using|via|inspired by)\s", phrase)[0]
    for match in _ACRONYM.finditer(phrase):
        name, words = match["name"], phrase[: match.start()]
        if name.lower() not in known and looks_like_name(name) and _stands_for(name, words):
            return name
    for match in TOKEN.finditer(phrase.split(" (")[0]):
        name = match.group().rstrip(".’'")
        if name.lower() not in known and (looks_like_name(name) or (capital_is_enough and name[0].isupper())):
            return name
    return None


def _stands_for(acronym: str, words: str) -> bool:
    """Whether the capitals of `acronym` come in order in `words`, its first at the start of one of them."""
    wanted = [c.lower() for c in acronym if c.isalpha()]
    starts = [m.start() for m in re.finditer(rf"\b{re.escape(wanted[0])}", words, re.IGNORECASE)]
    return any(_comes_in_order(wanted, words[start:].lower()) for start in starts)


def _comes_in_order(letters: list[str], text: str) -> bool:
    remaining = iter(text)
    return all(letter in remaining for letter in letters)


def _name_in_address(sentences: list[str], urls: tuple[str, ...]) -> str | None:
    text = " ".join(sentences)
    for url in urls:
        last = url.rstrip("/").rsplit("/", 1)[-1].removesuffix(".git")
        mentions = re.findall(rf"(?<![\w/-]){re.escape(last)}(?![\w/-])", text)
        if last[:1].isupper() and len(mentions) >= 2:
            return last
    return None


def _emphasised(abstract: str) -> str | None:
    """What the authors set in bold, when it is short enough for a label."""
    match = re.search(r"\*\*([^*]{4,40})\*\*|\\textbf\{([^{}]{4,40})\}", abstract)
    phrase = readable(match[1] or match[2]) if match else ""
    return _capitalised(phrase) if 1 < len(phrase.split()) <= 4 and phrase[-1] not in ":.," else None


def _title(sentences: list[str]) -> str:
    """A short title from the words the authors say their subject with."""
    matches = (pattern.search(sentence) for pattern in (_STUDYING, _INTRODUCING) for sentence in sentences)
    phrase = next((match["rest"] for match in matches if match), sentences[0])
    title = _shortened(_stripped(phrase)) or "Untitled"
    topic = _topic(" ".join(sentences))
    if not topic or topic[:5].lower() in title.lower():
        return title
    return f"{_capitalised(topic)}: {title if title[1:2].isupper() else title[:1].lower() + title[1:]}"


def _topic(text: str) -> str | None:
    """The long word that the abstract repeats most, in whatever form, with the word that often follows it."""
    words = re.findall(r"[^\W\d_]{6,}", text)
    stems = Counter(word[:6].lower() for word in words if word.lower() not in _COMMON)
    stem, count = max(stems.items(), key=lambda item: item[1], default=("", 0))
    if count < 4:
        return None
    pairs = Counter(re.findall(rf"\b{stem}\w* [^\W\d_]{{6,}}", text, re.IGNORECASE))
    pair, repeated = max(pairs.items(), key=lambda item: item[1], default=("", 0))
    return pair if repeated >= 2 else max((w for w in words if w.lower().startswith(stem)), key=len)


def _stripped(phrase: str) -> str:
    while (shorter := _OPENING.sub("", phrase)) != phrase:
        phrase = shorter
    return phrase


def _shortened(phrase: str) -> str:
    """`phrase` cut where it may be, at most `_LONGEST_TITLE` characters, "…" where words are missing."""
    if len(phrase) > _LONGEST_TITLE:
        head = next((phrase[: m.start()] for m in _CUT.finditer(phrase) if m.start() >= 18), phrase)
        phrase = head if len(head) <= _LONGEST_TITLE else head[:_LONGEST_TITLE].rsplit(" ", 1)[0] + " …"
    body = phrase.removesuffix(" …").rstrip(" .,:;")
    return _capitalised(_DANGLING.sub("", body) + (" …" if phrase.endswith(" …") else ""))


def _capitalised(phrase: str) -> str:
    return phrase[:1].upper() + phrase[1:]
