"""Which papers answer a list or a count: every paper of the collection is weighed, few are read, none is cut off."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from assistant.evidence.belonging import BELONGS, places_to_read, probabilities, weights_unread
from assistant.evidence.listing import (
    MOST_RARITY,
    asks_for_code,
    forms_of,
    in_full,
    introduced,
    introducing_span,
    rarity_shared,
    stems_beside,
    topic_stems,
)
from assistant.evidence.reading import ranked, text_to_read
from assistant.types import Evidence, Question, ScoredSentence
from vectorstore.code import span_on_code
from vectorstore.filters import PaperFilter
from vectorstore.markup import readable
from vectorstore.relevance import CrossEncoder
from vectorstore.retrieval import Retriever
from vectorstore.sentences import sentence_spans
from vectorstore.survey import Survey, Values
from vectorstore.types import Paper, Passage, Span

_SHOWN = 40
"""Papers of a list that are quoted; of others only the number is told."""
_ON_TOPIC = -5.5
"""Least relevance of the best sentence for a topic that the papers cover. Of 86 lists that can be answered 4 have less
and hold too little of the topic's words as well; of 15 on what no paper treats 14 have."""
_UNKNOWN_IN_LIST = 2.0
_HELD = 0.45
"""Of the rarity of a topic's words: a paper that holds so much of it is on the topic."""
_SHARE_OF_BEST = 0.8
"""Of the rarity of the words beside a form that the best paper holds: what one on the list must hold."""
_SEARCHED_FOR_FORM = 500
"""Papers whose sentences are searched for a form of words: about a second."""

SpanIn = Callable[[Paper], Span | None]


@dataclass(frozen=True)
class _Weighed:
    """How probable it is that each paper of a survey is on the topic, and what was read for it."""

    survey: Survey
    belonging: Values
    read: Sequence[ScoredSentence]


class ListJudge:
    """Weighs every paper of a collection against the topic of a list."""

    def __init__(self, retriever: Retriever, cross_encoder: CrossEncoder) -> None:
        self._retriever = retriever
        self._cross_encoder = cross_encoder

    def weigh(self, question: Question) -> Evidence:
        """Every paper on the topic answers, with the sentence that is nearest to it."""
        within = _within(question)
        if within and not question.topic:
            papers = [paper.paper_id for paper in self._retriever.papers_within(within)]
            return self._told(papers, introducing_span) or Evidence(status="not_covered", passages=())
        told = self._told_by_form(question, within)
        return replace(told, passages=self._passages(question, within)) if told else self._on_topic(question, within)

    def _told_by_form(self, question: Question, within: PaperFilter | None) -> Evidence | None:
        """What a form of words tells; None for other lists, and when nothing is found so."""
        beside = stems_beside(question.text)
        if within and asks_for_code(question.text):
            if beside:
                papers = _ids(survey := self._survey(question, beside, within), _holding(survey))
            else:
                papers = [paper.paper_id for paper in self._retriever.papers_within(within)]
            return self._told(papers, span_on_code)
        if span_in := introduced(question.text):
            survey = self._survey(question, beside or topic_stems(question.topic), within)
            return self._searched(_ids(survey, _holding(survey)), span_in)
        return None

    def belonging(self, question: Question) -> dict[str, float]:
        """For each paper that is not filtered out, by id, how probable it is that it is on the topic."""
        weighed = self._weighed(question, question.within)
        return dict(zip(weighed.survey.paper_ids, map(float, weighed.belonging), strict=True)) if weighed else {}

    def _on_topic(self, question: Question, within: PaperFilter | None) -> Evidence:
        weighed = self._weighed(question, within)
        if weighed is None:
            return Evidence(status="not_covered", passages=())
        survey, belonging, read = weighed.survey, weighed.belonging, weighed.read
        probability = dict(zip(survey.paper_ids, belonging, strict=True))
        found = ranked(self._passages(question, within), read)
        passages = tuple(sorted(found, key=lambda passage: -probability.get(passage.paper.paper_id, 0.0)))
        unknown = len(self._retriever.unknown_names(question.names))
        weight = max(sentence.relevance for sentence in read) - _UNKNOWN_IN_LIST * unknown
        if not (_is_held(survey) or weight >= _ON_TOPIC):
            return Evidence(status="not_covered", passages=passages, weight=weight)
        listed = _best_first(belonging, belonging >= min(BELONGS, belonging.max()))
        shown = _ids(survey, listed[:_SHOWN])
        judged = {sentence.paper.paper_id: sentence for sentence in read}
        others = self._nearest(in_full(question.topic), [paper_id for paper_id in shown if paper_id not in judged])
        judged |= {sentence.paper.paper_id: sentence for sentence in others}
        sentences = tuple(judged[paper_id] for paper_id in shown if paper_id in judged)
        return Evidence(
            status="answered", passages=passages, sentences=sentences, weight=weight, listed=tuple(_ids(survey, listed))
        )

    def _weighed(self, question: Question, within: PaperFilter | None) -> "_Weighed | None":
        """Every paper that passes the filter; None when there is none."""
        topic = in_full(question.topic)
        survey = self._survey(question, topic_stems(topic), within)
        if not survey.paper_ids:
            return None
        unread = weights_unread(survey)
        places = places_to_read(unread)
        read = self._read(topic, _ids(survey, places))
        relevance = {place: sentence.relevance for place, sentence in zip(places, read, strict=True)}
        return _Weighed(survey, probabilities(unread, relevance), read)

    def _survey(self, question: Question, stems: Set[str], within: PaperFilter | None) -> Survey:
        words = [forms_of(stem) for stem in sorted(stems)]
        return self._retriever.survey(in_full(question.topic), words, within=within, as_asked=question.foreign)

    def _read(self, topic: str, paper_ids: Sequence[str]) -> list[ScoredSentence]:
        """Of each paper the sentence nearest in words, judged."""
        nearest = self._nearest(topic, paper_ids)
        texts = [text_to_read(sentence.paper, sentence.span) for sentence in nearest]
        relevance = self._cross_encoder.relevance(topic, texts)
        return [replace(sentence, relevance=logit) for sentence, logit in zip(nearest, relevance, strict=True)]

    def _nearest(self, topic: str, paper_ids: Sequence[str]) -> list[ScoredSentence]:
        """Of each paper the sentence that shares the rarest words with the topic, not judged."""
        rarities = self._retriever.rarities(sorted(topic_stems(topic)))
        return [
            ScoredSentence(
                paper=paper, span=nearest_span(paper, sentence_spans(paper.abstract), rarities), relevance=0.0
            )
            for paper in self._retriever.papers_of(paper_ids)
        ]

    def _passages(self, question: Question, within: PaperFilter | None) -> tuple[Passage, ...]:
        topic = in_full(question.topic)
        return tuple(self._retriever.search(topic, _SHOWN, within=within, as_asked=question.foreign))

    def _told(self, paper_ids: Sequence[str], span_in: SpanIn) -> Evidence | None:
        """All these papers, whatever `span_in` finds in the first ones."""
        shown = self._retriever.papers_of(paper_ids[:_SHOWN])
        sentences = tuple(
            ScoredSentence(paper=paper, span=span_in(paper) or introducing_span(paper), relevance=0.0)
            for paper in shown
        )
        return Evidence(status="answered", passages=(), sentences=sentences, listed=tuple(paper_ids)) if shown else None

    def _searched(self, paper_ids: Sequence[str], span_in: SpanIn) -> Evidence | None:
        """Those of the papers in which `span_in` finds a sentence."""
        searched = self._retriever.papers_of(paper_ids[:_SEARCHED_FOR_FORM])
        found = [(paper, span) for paper in searched if (span := span_in(paper))]
        if not found:
            return None
        sentences = tuple(ScoredSentence(paper=paper, span=span, relevance=0.0) for paper, span in found[:_SHOWN])
        looked_at = len(searched) if len(paper_ids) > len(searched) else None
        return Evidence(
            status="answered",
            passages=(),
            sentences=sentences,
            listed=tuple(paper.paper_id for paper, _ in found),
            looked_at=looked_at,
        )


def nearest_span(paper: Paper, spans: Sequence[Span], rarities: Mapping[str, float]) -> Span:
    """Of those sentences the one that shares the rarest words with a topic, an earlier one before a later."""
    return max(spans, key=lambda span: rarity_shared(rarities, readable(span.of(paper.abstract))))


def _within(question: Question) -> PaperFilter | None:
    """The filter of a list; one that asks for code looks only where there is some."""
    if asks_for_code(question.text):
        return replace(question.within or PaperFilter(), with_code=True)
    return question.within


def _is_held(survey: Survey) -> bool:
    """Whether some paper holds so much of the topic's words that it is on the topic."""
    return min(MOST_RARITY, float(survey.held.max())) >= min(MOST_RARITY, _HELD * survey.rarity) > 0


def _holding(survey: Survey) -> list[int]:
    """The places of the papers that hold enough of the words, the most probable first."""
    least = max(_SHARE_OF_BEST * float(survey.held.max(initial=0.0)), 1e-6)
    return _best_first(weights_unread(survey), survey.held >= least) if survey.paper_ids else []


def _best_first(values: Values, chosen: NDArray[np.bool_]) -> list[int]:
    places = np.flatnonzero(chosen)
    return [int(place) for place in places[np.argsort(-values[places], kind="stable")]]


def _ids(survey: Survey, places: Sequence[int]) -> list[str]:
    return [survey.paper_ids[place] for place in places]
