"""Is there enough in the papers to answer, and of which kind is the lack?

The cross-encoder reads the question with each sentence of the best papers. Its best value tells papers on the
subject from papers that are not (not_covered); `asked.py` tells what an abstract does not say (not_stated).
"""

from collections.abc import Sequence
from dataclasses import replace

from assistant.evidence.comparison import ComparisonJudge
from assistant.evidence.coverage import COVERED, weight_of_found, weight_of_named
from assistant.evidence.listing import topic_stems
from assistant.evidence.lists import ListJudge, nearest_span
from assistant.evidence.parts import approach
from assistant.evidence.quotable import by_worth
from assistant.evidence.reading import best_of_each_paper, best_paper, ranked, read_passages, read_spans, spans_of
from assistant.evidence.stated import is_stated_by
from assistant.types import Evidence, Question, ScoredSentence, Status
from vectorstore.markup import readable
from vectorstore.relevance import CrossEncoder
from vectorstore.retrieval import Retriever
from vectorstore.sentences import sentence_spans
from vectorstore.types import Paper, Passage, Span

_PASSAGES = 10
_READ_FOR_FACT = 2
"""Papers whose every sentence is read for one fact; reading a third made no answer better and each one slower."""
_SAYS_ITS_SUBJECT = 10
"""Words; a longer question says what it is about."""
_HEAD_START = 0.6
"""For each word that a question is shorter, what the paper last spoken of may be less relevant than another."""
_UNRELATED = -10.5
"""Questions on everyday things have less relevance to any sentence."""
_SURE = 6.5
"""Relevance of a sentence that answers whatever the rules for what is asked say. Of 188 development questions on silent
abstracts 2 % have such a sentence; of 25 that can be answered and that the rules had refused, seven. Not so where the
question names the paper, as its name makes every sentence relevant."""
_AS_CLOSE = 2.0
"""How much less relevant another paper may be that is named too when what is asked is not stated."""
_READ_IN_SEARCH = 10
"""Passages of a search that are read; more would make it slow."""
_LOOKED_AT = 3
"""Sentences, the best, in which the kind of thing asked for is looked for."""


class EvidenceJudge:
    """Retrieves, reads and judges."""

    def __init__(self, retriever: Retriever, cross_encoder: CrossEncoder) -> None:
        self._retriever = retriever
        self._cross_encoder = cross_encoder
        self._lists = ListJudge(retriever, cross_encoder)
        self._comparisons = ComparisonJudge(retriever, cross_encoder)

    def weigh(self, question: Question) -> Evidence:
        """What the papers have to say to `question`."""
        evidence = self._weighed(question)
        if evidence.status == "not_stated" and question.foreign is not None:
            return replace(evidence, status="answered")  # what kind of thing is asked for cannot be told
        return evidence

    def _weighed(self, question: Question) -> Evidence:
        if question.kind in ("list", "count"):
            return self._lists.weigh(question)
        if question.kind == "overview":
            return _as_overview(self._lists.weigh(question))
        passages = self._retriever.search(question.text, _PASSAGES, within=question.within, as_asked=question.foreign)
        compared = self._comparisons.compared(question, passages)
        if len(compared) > 1:
            return self._comparisons.weigh(question, passages, compared)
        return self._weigh_fact(question, passages)

    def with_relevance(self, question: str, passages: Sequence[Passage]) -> list[Passage]:
        """The passages in their order; in each of the first ones, one sentence has been read with the question."""
        rarities = self._retriever.rarities(sorted(topic_stems(question)))
        read = [
            (passage, [nearest_span(passage.paper, spans_of(passage), rarities)])
            for passage in passages[:_READ_IN_SEARCH]
        ]
        logits = [sentence.relevance for sentence in read_spans(self._cross_encoder, question, read)]
        judged = [replace(passage, relevance=logit) for passage, logit in zip(passages, logits, strict=False)]
        return [*judged, *passages[len(judged) :]]

    def continues(self, question: Question, label: str) -> bool:
        """Whether `question`, which names nothing, goes on about the paper that was last spoken of.

        So it does when that paper says nearly as much of it as any other; the less the question says, the more so.
        """
        words = len(question.text.split())
        passages = self._retriever.search(f"{label} {question.text}", _READ_FOR_FACT + 1)
        own = [passage for passage in passages if passage.paper.label == label]
        if question.kind != "fact" or question.names or words > _SAYS_ITS_SUBJECT or not own:
            return False
        others = [p for p in self._retriever.search(question.text, _READ_FOR_FACT + 1) if p.paper.label != label]
        read = [(passage, self._nearest(question, passage)) for passage in [*own, *others[:_READ_FOR_FACT]]]
        scored = best_of_each_paper(read_spans(self._cross_encoder, question.text, read))
        relevance = max(sentence.relevance for sentence in scored if sentence.paper.label == label)
        head_start = _HEAD_START * (_SAYS_ITS_SUBJECT - words)
        return relevance >= max(_UNRELATED, scored[0].relevance - head_start)

    def _nearest(self, question: Question, passage: Passage) -> list[Span]:
        """The few sentences that are most similar to the question."""
        spans = spans_of(passage)
        texts = [readable(span.of(passage.paper.abstract)) for span in spans]
        similarity = dict(zip(spans, self._retriever.similarities(question.text, texts), strict=True))
        return sorted(spans, key=lambda span: -similarity[span])[:_LOOKED_AT]

    def _weigh_fact(self, question: Question, passages: list[Passage]) -> Evidence:
        """One paper answers: the best of those the question names, else the best of all."""
        named = [passage for passage in passages if passage.named]
        scored = read_passages(self._cross_encoder, question.text, (named or passages)[:_READ_FOR_FACT])
        if not scored:
            return Evidence(status="not_covered", passages=tuple(passages))
        best = best_paper(scored)
        sentences = by_worth(
            self._retriever, self._cross_encoder, question, [sentence for sentence in scored if sentence.paper == best]
        )
        passages_ranked = ranked(passages, scored)
        relevance = max(sentence.relevance for sentence in sentences)
        if named:
            weight = weight_of_named(self._retriever, question, best, relevance)
        else:
            weight = weight_of_found(self._retriever, question, best, relevance, passages)
        if weight < COVERED and not named:
            return Evidence(status="not_covered", passages=passages_ranked, weight=weight)
        stated = weight >= COVERED and ((relevance >= _SURE and not named) or is_stated_by(question, best, sentences))
        status: Status = "answered" if stated else "not_stated"
        others = [] if stated or named else _as_close(scored, best, relevance)
        return Evidence(status=status, passages=passages_ranked, sentences=(*sentences, *others), weight=weight)


def _as_close(scored: Sequence[ScoredSentence], best: Paper, relevance: float) -> list[ScoredSentence]:
    """The most relevant sentence of each other paper that was read and may as well be meant."""
    others = best_of_each_paper([sentence for sentence in scored if sentence.paper != best])
    return [sentence for sentence in others if sentence.relevance >= relevance - _AS_CLOSE]


def _as_overview(listed: Evidence) -> Evidence:
    """A list with what each paper does, in the place of what it says of the topic."""
    return replace(listed, sentences=tuple(_what_is_done(sentence) for sentence in listed.sentences))


def _what_is_done(listed: ScoredSentence) -> ScoredSentence:
    whole = [replace(listed, span=span) for span in sentence_spans(listed.paper.abstract)]
    return next(iter(approach(whole)), listed)
