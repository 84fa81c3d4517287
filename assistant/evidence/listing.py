"""The words of a list's topic, and two kinds of lists that sentences tell by their form."""

import re
from collections.abc import Callable, Mapping

from assistant.wording import any_of, content_stems, pattern, stems
from vectorstore.markup import readable
from vectorstore.sentences import sentence_spans
from vectorstore.types import Paper, Span

MOST_RARITY = 8.0
_IN_FULL = {
    "rl": "reinforcement learning",
    "rlhf": "reinforcement learning from human feedback",
    "rlvr": "reinforcement learning with verifiable rewards",
    "llm": "language model",
    "mllm": "multimodal language model",
    "vlm": "vision language model",
    "dllm": "diffusion language model",
    "gnn": "graph neural network",
    "pde": "differential equation",
    "ptq": "quantization",
    "sft": "supervised tuning",
    "cot": "chain thought",
}
_STEMS_IN_FULL = {abbreviation: content_stems(words) for abbreviation, words in _IN_FULL.items()}
_COMMON = stems(
    "paper method approach work show propose introduce present study treat handle involve give include contain "
    "consider report mention discuss deal make release use new other experiment result role play own kind model system"
)
_NUMBERED = re.compile(r"([^\W\d_]{3,})-?\d\S*")
"""A name with a version, such as "llama3.1-8b"."""
_OPEN = any_of("public(?:ly)? available release[sd]? open(?:ly)? online share[sd]? publish(?:e[sd])?")
_ASKS_FOR_CODE = pattern(
    rf"\b(?:code|implementations?|github)\b.*\b{_OPEN}\b|\b{_OPEN}\b.*\b(?:code|implementations?)\b"
    r"|\b(?:with|provide|have) (?:\w+ )?code\b|\bopen-?source[ds]?(?: (?:their )?(?:code|method|implementation))?[?.]?$"
)
_OF_CODE = stems(
    "code public publicly available release open openly source link github implementation online share published come "
    "url repository provide"
)
_NEW_THING = any_of("benchmarks? data_?sets? simulators? leaderboards?")
_MAKES = any_of(
    "introduc(?:e[sd]?|ing) propos(?:e[sd]?|ing) present(?:s|ed|ing)? releas(?:e[sd]?|ing) construct(?:s|ed)? "
    "build(?:s|ing)?"
)
_ASKS_FOR_NEW = pattern(
    rf"\b{_MAKES} (?:{any_of('an? the their any new novel own')} )*(?P<what>{_NEW_THING})\b"
    r"(?: (?:for|on|of|about|in) (?P<of>[^,.?;]+))?"
)
_INTRODUCES = pattern(
    rf"\b(?:we|this (?:paper|work)|it)\b.*\b{any_of('introduces? proposes? presents? releases? constructs? builds?')}\b"
)


def in_full(topic: str) -> str:
    """`topic` with the words that its abbreviations stand for, unless it is more than an abbreviation."""
    return _IN_FULL.get(topic.lower().removesuffix("s"), topic)


def topic_stems(topic: str) -> set[str]:
    """The stems of the words that carry the topic, all of them if all are common in questions."""
    found = _stems_of_parts(topic)
    return found - _COMMON or found


def _stems_of_parts(text: str) -> set[str]:
    """The stems of the content words; of a hyphenated word those of its parts, but of "GPT-2" the whole."""
    found = {word[:-1] if word[:-1] in _IN_FULL else word for word in content_stems(text)}
    split = {word for word in found if "-" in word and all(part.isalpha() for part in word.split("-"))}
    return {word for word in found - split if not word.isdigit()}


def _held(text: str) -> set[str]:
    """The stems in `text`, with abbreviations spelled out and made, and names without their version."""
    found = _stems_of_parts(text)
    for abbreviation, words in _STEMS_IN_FULL.items():
        if abbreviation in found or words <= found:
            found |= {abbreviation, *words}
    return found | {match[1] for word in found if (match := _NUMBERED.fullmatch(word))}


def forms_of(word: str) -> list[str]:
    """The stem, and the stems of what stands for it: an abbreviation for its words, and these for it."""
    in_full = [" ".join(sorted(_STEMS_IN_FULL[word]))] if word in _STEMS_IN_FULL else []
    shorter = [abbreviation for abbreviation, words in _STEMS_IN_FULL.items() if word in words]
    return [word, *in_full, *shorter]


def rarity_shared(rarities: Mapping[str, float], text: str) -> float:
    """The sum of the rarities of the topic's words in `text`."""
    return min(MOST_RARITY, sum(rarities[stem] for stem in _held(text) & rarities.keys()))


def asks_for_code(topic: str) -> bool:
    """Whether a list is to hold papers with code only."""
    return _ASKS_FOR_CODE.search(topic) is not None


def introducing_span(paper: Paper) -> Span:
    """The sentence that says what the paper brings, else its first."""
    return _span_that(paper, lambda text: _INTRODUCES.search(text) is not None) or sentence_spans(paper.abstract)[0]


def introduced(topic: str) -> Callable[[Paper], Span | None] | None:
    """For a list of papers that introduce such a thing as a benchmark: what finds the sentence that says so."""
    match = _ASKS_FOR_NEW.search(topic)
    if not match:
        return None
    wanted = content_stems(match["what"])
    return lambda paper: _span_that(paper, lambda text: _introduces(text, wanted))


def stems_beside(topic: str) -> set[str]:
    """The stems of what such a list, or one that asks for code, is about besides: "compression papers with code"."""
    if asks_for_code(topic):
        return topic_stems(topic) - _OF_CODE
    match = _ASKS_FOR_NEW.search(topic)
    return topic_stems(match["of"]) - _COMMON if match and match["of"] else set()


def _span_that(paper: Paper, holds: Callable[[str], bool]) -> Span | None:
    spans = sentence_spans(paper.abstract)
    return next((span for span in reversed(spans) if holds(readable(span.of(paper.abstract)))), None)


def _introduces(text: str, wanted: set[str]) -> bool:
    match = _INTRODUCES.search(text)
    return match is not None and wanted <= content_stems(text[match.end() :])
