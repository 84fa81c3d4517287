"""Which papers belong to a list: what is weighed, and two kinds of lists that sentences tell by their form."""

import re
from collections.abc import Callable, Mapping

from assistant.wording import any_of, content_stems, pattern, stems
from vectorstore.code import span_on_code
from vectorstore.markup import readable
from vectorstore.sentences import sentence_spans
from vectorstore.types import Paper, Span

_RELEVANCE, _BEST_RELEVANCE = 0.27, -0.15
_SIMILARITY, _BEST_SIMILARITY = 21.1, -15.2
_RARITY = 0.77
_LEAST_WEIGHT = 2.0
"""A regression on the lists of the development questions, rounded. The two figures of the best paper of all make the
cut-off follow it, but only half the way: a topic that no paper is near to is not on all of them."""
_SHARE_OF_BEST = 0.55
"""Of the rarity of the topic's words that the best paper holds: what one must hold whose sentence is not relevant."""
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
_ASKS_FOR_NEW = pattern(rf"\b{_MAKES} (?:{any_of('an? the their any new novel own')} )*(?P<what>{_NEW_THING})\b")
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


def rarity_shared(rarities: Mapping[str, float], text: str) -> float:
    """The sum of the rarities of the topic's words in `text`."""
    return min(MOST_RARITY, sum(rarities[stem] for stem in _held(text) & rarities.keys()))


def listed(relevance: Mapping[str, float], similarity: Mapping[str, float], rarity: Mapping[str, float]) -> list[str]:
    """The ids of the papers that belong to a list, best first; all three hold a value for each paper."""
    best = _BEST_RELEVANCE * max(relevance.values()) + _BEST_SIMILARITY * max(similarity.values())
    weights = {
        paper_id: best
        + _RELEVANCE * relevance[paper_id]
        + _SIMILARITY * similarity[paper_id]
        + _RARITY * rarity[paper_id]
        for paper_id in relevance
    }
    least = min(_LEAST_WEIGHT, max(weights.values()))
    held = _SHARE_OF_BEST * max(rarity.values())
    ranked = sorted(weights, key=lambda paper_id: -weights[paper_id])
    on_topic = [key for key in ranked if weights[key] >= least and (rarity[key] >= held or relevance[key] >= 0)]
    return on_topic or ranked[:1]


def asks_for_code(topic: str) -> bool:
    """Whether a list is to hold papers with code only."""
    return _ASKS_FOR_CODE.search(topic) is not None


def introducing_span(paper: Paper) -> Span:
    """The sentence that says what the paper brings, else its first."""
    return _span_that(paper, lambda text: _INTRODUCES.search(text) is not None) or sentence_spans(paper.abstract)[0]


def telling_span(topic: str) -> Callable[[Paper], Span | None] | None:
    """For a list that a form of words tells ("with public code", "introduce a benchmark"): what finds it in a paper."""
    if asks_for_code(topic):
        beside = topic_stems(topic) - _OF_CODE  # "compression papers with code"
        return lambda paper: span_on_code(paper) if not beside or beside & _held(paper.abstract) else None
    if match := _ASKS_FOR_NEW.search(topic):
        wanted = content_stems(match["what"])
        return lambda paper: _span_that(paper, lambda text: _introduces(text, wanted))
    return None


def _span_that(paper: Paper, holds: Callable[[str], bool]) -> Span | None:
    spans = sentence_spans(paper.abstract)
    return next((span for span in reversed(spans) if holds(readable(span.of(paper.abstract)))), None)


def _introduces(text: str, wanted: set[str]) -> bool:
    match = _INTRODUCES.search(text)
    return match is not None and wanted <= content_stems(text[match.end() :])
