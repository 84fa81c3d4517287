"""A sentence that a model wrote -> what it rests on in the papers, or why it cannot be shown.

A sentence is shown only when one abstract says the same: verbatim (`quoted`), or checked as a paraphrase
(`supported`) - every number and name in it stands in that abstract, it shares most of its content words with it, it
denies nothing that the abstract asserts, and the cross-encoder finds the supporting sentence relevant to it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from assistant.conversation import SourceNumbers
from assistant.evidence import own_names
from assistant.types import Sentence
from assistant.wording import content_stems
from vectorstore.markup import readable
from vectorstore.names import names_in
from vectorstore.relevance import CrossEncoder
from vectorstore.sentences import sentence_spans
from vectorstore.types import Paper, Span

_LEAST_SHARED = 0.6
"""Of a sentence's content words, the part that must stand in the cited abstract."""
_LEAST_RELEVANCE = 0.0
"""Cross-encoder logit of the supporting sentence to the sentence checked."""
_COMPARED = 3
"""Sentences of an abstract that the cross-encoder reads, those that share most words."""
_LEAST_VERBATIM = 4
"""Words; fewer prove nothing by standing in an abstract."""
_NUMBER = re.compile(r"(?<![\w.])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|(?<![A-Za-z\d.])(?:\d+(?:\.\d+)?|\.\d+)")
_NEGATION = re.compile(
    r"\b(?:not|no|never|without|cannot|neither|nor|none|fails?|failed|unable|lacks?)\b|n['’]t\b", re.IGNORECASE
)
_REACH = 4
"""Words behind a negation that it denies."""
_SMALL_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()
_NUMBER_WORDS = {word: str(value) for value, word in enumerate(_SMALL_NUMBERS)} | {
    word: word
    for word in "twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion half".split()
}


@dataclass(frozen=True)
class Support:
    """What an abstract has for a sentence: the best span, and what speaks against it."""

    paper: Paper
    span: Span
    verbatim: bool
    problems: tuple[str, ...]


class Verifier:
    """Checks sentences against abstracts."""

    def __init__(self, cross_encoder: CrossEncoder) -> None:
        self._cross_encoder = cross_encoder

    def check(
        self,
        text: str,
        cited: Sequence[Paper],
        sources: Sequence[Paper],
        numbers: SourceNumbers,
        *,
        invented: Sequence[int] = (),
    ) -> Sentence:
        """`text` with its verdict; `cited` are the sources it names, `invented` the numbers it made up.

        When the cited papers do not support it, or none is cited, the other sources are tried.
        """
        reasons = [f"source number {number} does not exist" for number in invented]
        others = [paper for paper in sources if paper not in cited]
        supports = [self._support(text, paper) for paper in cited]
        if not any(not support.problems for support in supports):
            supports += (found := [self._support(text, paper) for paper in others])
            if any(not support.problems for support in found):
                reasons.append("cited another paper than the one that says it" if cited else "cited no paper")
        good = [support for support in supports if not support.problems]
        if not good:
            closest = supports[0].problems if supports else ("there is no source",)
            return Sentence(text=text, verdict="unsupported", reasons=(*reasons, *closest), shown=False)
        return Sentence(
            text=text,
            verdict="quoted" if good[0].verbatim else "supported",
            citations=tuple(numbers.cite(support.paper, support.span) for support in (good if cited else good[:1])),
            reasons=tuple(reasons),
        )

    def _support(self, text: str, paper: Paper) -> Support:
        spans = sentence_spans(paper.abstract)
        texts = [readable(span.of(paper.abstract)) for span in spans]
        for span, candidate in zip(spans, texts, strict=True):
            if _stands_in(text, candidate) and not _torn(text, candidate):
                return Support(paper, span, verbatim=True, problems=())
        row, relevance = self._best(text, texts)
        problems = _problems(text, paper, " ".join(texts), texts[row])
        if relevance < _LEAST_RELEVANCE:
            problems.append("no sentence of the abstract says this")
        return Support(paper, spans[row], verbatim=False, problems=tuple(problems))

    def _best(self, text: str, candidates: Sequence[str]) -> tuple[int, float]:
        """The candidate that is most relevant to `text` among those that share most words with it."""
        wanted = content_stems(text)
        rows = sorted(range(len(candidates)), key=lambda row: -len(wanted & content_stems(candidates[row])))[:_COMPARED]
        logits = self._cross_encoder.relevance(text, [candidates[row] for row in rows])
        return max(zip(rows, logits, strict=True), key=lambda pair: pair[1])


def _stands_in(text: str, candidate: str) -> bool:
    wanted, given = _bare(text), _bare(candidate)
    return len(wanted.split()) >= _LEAST_VERBATIM and f" {wanted} " in f" {given} "


def _torn(text: str, candidate: str) -> bool:
    """Whether `text` is a part of `candidate` that the rest of it denies ("We do not claim that ...")."""
    return bool(_denied(candidate) & content_stems(text) - _denied(text))


def _bare(text: str) -> str:
    """Words and signs, for comparing letter by letter without regard to quotes, dashes and final punctuation."""
    return " ".join(re.findall(r"[<>≤≥≈~=×−±]|[\w.%+-]*[\w%]", text.casefold()))


def _problems(text: str, paper: Paper, abstract: str, best: str) -> list[str]:
    problems = []
    if missing := numbers_in(text) - numbers_in(f"{abstract} {paper.label}"):
        problems.append(f"not in the abstract: {', '.join(sorted(missing))}")
    held = " ".join([abstract, paper.title or "", paper.place, *own_names(paper), *paper.authors]).casefold()
    if unknown := [name for name in names_in(text) if name.casefold() not in held]:
        problems.append(f"not in the abstract: {', '.join(unknown)}")
    wanted = content_stems(text)
    if wanted and len(wanted & content_stems(held)) < _LEAST_SHARED * len(wanted):
        problems.append("most of its words are not in the abstract")
    if _denied(text) & content_stems(best) - _denied(best) or _denied(best) & wanted - _denied(text):
        problems.append("it denies what the abstract says, or says what the abstract denies")
    return problems


def _denied(text: str) -> set[str]:
    """The content words right behind a negation."""
    behind = (" ".join(text[match.end() :].split()[:_REACH]) for match in _NEGATION.finditer(text))
    return {stem for words in behind for stem in content_stems(words)}


def numbers_in(text: str) -> set[str]:
    """The numbers in `text` in one form: "1,520" is "1520", "six" is "6", "24GB" and "39.63%" are "24" and "39.63"."""
    digits = {str(match.group()).replace(",", "") for match in _NUMBER.finditer(text)}
    words = {_NUMBER_WORDS[word] for word in re.findall(r"[a-z]+", text.casefold()) if word in _NUMBER_WORDS}
    plain = (f"0{number}" if number.startswith(".") else number for number in digits | (words - {"1", "0"}))
    return {number.rstrip("0").rstrip(".") if "." in number else number for number in plain}
