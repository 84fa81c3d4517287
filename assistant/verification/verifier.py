"""A sentence that a model wrote -> what it rests on in the papers, or why it cannot be shown.

A sentence is shown only when one abstract says the same: verbatim (`quoted`), or checked as a paraphrase
(`supported`) - every number and name in it stands in that abstract, one sentence of the abstract holds nearly all its
words and disagrees in nothing that `agreement` looks at, and the cross-encoder finds that sentence relevant to it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from assistant.conversation import SourceNumbers
from assistant.own_names import own_names
from assistant.types import Sentence
from assistant.verification.agreement import denied, disagreements
from assistant.verification.limits import limit_dropped
from assistant.verification.passages import Passage, passages_of
from assistant.verification.spelling import abbreviated, abbreviations_of, evened
from assistant.verification.terms import numbers_in
from assistant.verification.units import another_unit
from assistant.wording import content_stems
from vectorstore.markup import readable
from vectorstore.names import names_in
from vectorstore.relevance import CrossEncoder
from vectorstore.sentences import sentence_spans
from vectorstore.types import Paper, Span

_LEAST_RELEVANCE = 0.0
"""Cross-encoder logit of the supporting sentence to the sentence checked."""
_COMPARED = 3
"""Sentences of an abstract that the cross-encoder reads at most, of those that share most words with the sentence."""
_LEAST_VERBATIM = 4
"""Words; fewer prove nothing by standing in an abstract."""


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

    def _support(self, written: str, paper: Paper) -> Support:
        text = readable(written)  # a model may repeat the markup of an abstract
        spans = sentence_spans(paper.abstract)
        texts = [readable(span.of(paper.abstract)) for span in spans]
        for span, candidate in zip(spans, texts, strict=True):
            if _stands_in(text, candidate) and not _torn(text, candidate):
                return Support(paper, span, verbatim=True, problems=())
        abbreviations = abbreviations_of(" ".join(texts), paper.label)
        passages = passages_of(paper, [evened(candidate) for candidate in texts])
        claims = [abbreviated(evened(text), passage.text, abbreviations) for passage in passages]
        row = self._closest(claims, passages)
        problems = [*_unknown(text, paper, " ".join(texts)), *disagreements(claims[row], passages[row])]
        if not problems and self._cross_encoder.relevance(text, [texts[row]])[0] < _LEAST_RELEVANCE:
            problems.append("no sentence of the abstract says this")
        return Support(paper, spans[row], verbatim=False, problems=tuple(problems))

    def _closest(self, claims: Sequence[str], passages: Sequence[Passage]) -> int:
        """The passage that shares most words with its wording of the claim, and of several such the most relevant."""
        shares = [passage.shared(claim) for claim, passage in zip(claims, passages, strict=True)]
        most = [row for row, share in enumerate(shares) if share == max(shares)][:_COMPARED]
        if len(most) == 1 or not max(shares):
            return most[0]
        logits = self._cross_encoder.relevance(claims[most[0]], [passages[row].text for row in most])
        return max(zip(logits, most, strict=True))[1]


def _stands_in(text: str, candidate: str) -> bool:
    wanted, given = _bare(text), _bare(candidate)
    return len(wanted.split()) >= _LEAST_VERBATIM and f" {wanted} " in f" {given} "


def _torn(text: str, candidate: str) -> bool:
    """Whether `text` is a part of `candidate` that the rest of it denies or limits ("We do not claim that ...")."""
    is_denied = denied(candidate) & content_stems(text) - denied(text)
    return bool(is_denied) or limit_dropped(text, candidate) is not None


def _bare(text: str) -> str:
    """Words and signs, for comparing letter by letter without regard to quotes, dashes and final punctuation."""
    return " ".join(re.findall(r"[<>≤≥≈~=×−±]|[\w.%+-]*[\w%]", text.casefold()))


def _unknown(text: str, paper: Paper, abstract: str) -> list[str]:
    """Numbers and names that the paper has nowhere."""
    problems = []
    if missing := numbers_in(text) - numbers_in(f"{abstract} {paper.label}"):
        problems.append(f"not in the abstract: {', '.join(sorted(missing))}")
    if in_other_unit := another_unit(text, abstract):
        problems.append(f"the abstract gives another unit than {in_other_unit}")
    held = " ".join([abstract, paper.title or "", paper.place, *own_names(paper), *paper.authors]).casefold()
    if unknown := [name for name in names_in(text) if name.casefold() not in held]:
        problems.append(f"not in the abstract: {', '.join(unknown)}")
    return problems
