"""Is there enough in the papers to answer, and of which kind is the lack?

The cross-encoder reads the question with each sentence of the best papers. Its best value tells papers on the
subject from papers that are not (not_covered); `asked.py` tells what an abstract does not say (not_stated).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from assistant.asked import is_stated
from assistant.listing import MOST_RARITY, in_full, listed, rarity_shared, telling_span, topic_stems
from assistant.routing import read_question, without_comparing
from assistant.types import Evidence, Question, ScoredSentence, Status
from assistant.wording import any_of, content_stems, pattern, stems
from vectorstore.markup import readable
from vectorstore.relevance import CrossEncoder
from vectorstore.retrieval import Retriever
from vectorstore.sentences import sentence_spans
from vectorstore.types import Paper, Passage, Span

_COVERED = 5.5
"""Least weight of evidence for a question that the papers cover. The weight is the relevance of the best sentence, plus
`_HELD_WORDS` times the share of the question's words (by rarity) that its abstract holds, plus `_STANDS_OUT` times how
much nearer the nearest paper is than the next ones, minus `_UNKNOWN_NAME` for each name that no paper holds: a
regression, rounded, on 453 development questions that name no paper. Of those on no paper 3 % have more; at as many,
the relevance and a count of shared words would refuse twice as many that can be answered."""
_HELD_WORDS = 23.0
_STANDS_OUT = 170.0
_UNKNOWN_NAME = 9.0
_NEXT = 5
"""Papers that the nearest one is compared with."""
_SMALL_COLLECTION = 1000
"""Papers; in a larger collection some are near to each other and to everything, and none needs to stand out."""
_USUAL_LEAD = 0.05
"""How much nearer than the next ones the right paper usually is; also for a paper that is named."""
_SIMILARITY = 20.0
"""What the cosine of question and sentence counts beside relevance in choosing what to quote."""
_BACKGROUND = 3.0
"""Taken off for the sentences of an abstract before the authors speak of their own work."""
_OWN_WORK = pattern(
    r"\b(?:we|this (?:paper|work))\b.{0,40}\b"
    + any_of(
        "introduc propos present develop study show find identif analy formulat address investigat demonstrat reveal "
        "tackl bridge"
    )
)
"""How a sentence speaks of the authors' own work."""
_ASKS_BACKGROUND = pattern(
    r"\b"
    + any_of(
        "problem wrong existing prior previous current usual why challenge issue difficult limitation suffer fail bad "
        "tradition"
    )
)
_FOUND_LATER = 1.0
"""Taken off for each paper that was found before: search orders papers better than the cross-encoder alone."""
_PASSAGES = 10
_COMPARED = 3
"""Papers, at most, that are compared in one answer."""
_READ_FOR_FACT = 2
"""Papers whose every sentence is read for one fact; reading a third made no answer better and each one slower."""
_SAYS_ITS_SUBJECT = 10
"""Words; a longer question says what it is about."""
_HEAD_START = 0.6
"""For each word that a question is shorter, what the paper last spoken of may be less relevant than another."""
_UNRELATED = -10.5
"""Questions on everyday things have less relevance to any sentence."""
_ON_TOPIC = -5.5
"""Least relevance of the best sentence for a topic that the papers cover. Of 86 lists that can be answered 4 have less
and hold too little of the topic's words as well; of 15 on what no paper treats 14 have."""
_UNKNOWN_IN_LIST = 2.0
_HELD = 0.45
"""Of the rarity of a topic's words: a paper that holds so much of it is on the topic."""
_READ_FOR_LIST = 40
"""Papers, of each of which one sentence is read."""
_LOOKED_AT = 3
"""Sentences, the best, in which the kind of thing asked for is looked for."""
_LONGEST_READ = 20
"""Sentences of one passage; abstracts have five to ten."""

_ASKING = stems(
    "paper method approach work show propose called name find found tell know describe use which what study model "
    "system question anyone anybody somebody someone people way kind exactly new"
)
"""Words that questions have whatever they are about."""


class EvidenceJudge:
    """Retrieves, reads and judges."""

    def __init__(self, retriever: Retriever, cross_encoder: CrossEncoder) -> None:
        self._retriever = retriever
        self._cross_encoder = cross_encoder

    def weigh(self, question: Question) -> Evidence:
        """What the papers have to say to `question`."""
        evidence = self._weighed(question)
        if evidence.status == "not_stated" and not question.is_english:
            return replace(evidence, status="answered")  # what kind of thing is asked for cannot be told
        return evidence

    def _weighed(self, question: Question) -> Evidence:
        if question.kind in ("list", "count"):
            return self._weigh_list(question)
        passages = self._retriever.search(question.text, _PASSAGES)
        compared = self._compared(question, passages)
        if len(compared) > 1:
            return self._weigh_comparison(question, passages, compared)
        return self._weigh_fact(question, passages)

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
        scored = _best_of_each_paper(self._scored_spans(question.text, read))
        relevance = max(sentence.relevance for sentence in scored if sentence.paper.label == label)
        head_start = _HEAD_START * (_SAYS_ITS_SUBJECT - words)
        return relevance >= max(_UNRELATED, scored[0].relevance - head_start)

    def _nearest(self, question: Question, passage: Passage) -> list[Span]:
        """The few sentences that are most similar to the question."""
        spans = _spans(passage)
        texts = [readable(span.of(passage.paper.abstract)) for span in spans]
        similarity = dict(zip(spans, self._retriever.similarities(question.text, texts), strict=True))
        return sorted(spans, key=lambda span: -similarity[span])[:_LOOKED_AT]

    def _weigh_fact(self, question: Question, passages: list[Passage]) -> Evidence:
        """One paper answers: the best of those the question names, else the best of all."""
        named = [passage for passage in passages if passage.named]
        scored = self._scored(question.text, (named or passages)[:_READ_FOR_FACT])
        if not scored:
            return Evidence(status="not_covered", passages=tuple(passages))
        best = _best_paper(scored)
        sentences = self._ordered(question, [sentence for sentence in scored if sentence.paper == best])
        ranked = _ranked(passages, scored)
        relevance = max(sentence.relevance for sentence in sentences)
        lead = _USUAL_LEAD if named else self._lead(passages)
        weight = self._weight(question, best, relevance) + _STANDS_OUT * lead
        if weight < _COVERED and not named:
            return Evidence(status="not_covered", passages=ranked, weight=weight)
        stated = weight >= _COVERED and _is_stated(question, best, sentences)
        status: Status = "answered" if stated else "not_stated"
        return Evidence(status=status, passages=ranked, sentences=tuple(sentences), weight=weight)

    def _weigh_comparison(self, question: Question, passages: list[Passage], compared: list[Passage]) -> Evidence:
        """Each paper answers for itself, as if it alone were asked about; one that answers is enough."""
        answers: list[ScoredSentence] = []
        stated = False
        for passage in compared:
            asked = _asked_of_one(question, passage.paper, [other.paper for other in compared])
            sentences = self._ordered(asked, self._scored(asked.text, [passage]))
            stated = stated or _is_stated(asked, passage.paper, sentences)
            answers += sentences
        return Evidence(
            status="answered" if stated else "not_stated", passages=_ranked(passages, answers), sentences=tuple(answers)
        )

    def _compared(self, question: Question, passages: Sequence[Passage]) -> list[Passage]:
        """The papers that are named; for a comparison of which one is named so, those that alone hold another name."""
        named = [passage for passage in passages if passage.named or _is_spelled_out(passage.paper, question.text)]
        if question.kind != "compare" or len(named) > 1:
            return named[:_COMPARED]
        holding = [self._retriever.papers_holding(name) for name in question.names]
        alone = {next(iter(paper_ids)) for paper_ids in holding if len(paper_ids) == 1}
        return [passage for passage in passages if passage in named or passage.paper.paper_id in alone][:_COMPARED]

    def _weigh_list(self, question: Question) -> Evidence:
        """Every paper on the topic answers, with the sentence that is nearest to it."""
        topic = in_full(question.topic)
        passages = self._retriever.search(topic, _READ_FOR_LIST)
        if told := _told(question, passages):
            return Evidence(status="answered", passages=_ranked(passages, told), sentences=tuple(told))
        rarities = self._retriever.rarities(sorted(topic_stems(topic)))
        read = [(passage, [_nearest_in_words(passage, rarities)]) for passage in passages]
        scored = self._scored_spans(topic, read)
        ranked = _ranked(passages, scored)
        rarity = {p.paper.paper_id: rarity_shared(rarities, readable(p.paper.abstract)) for p in passages}
        held = max(rarity.values(), default=0.0) >= min(MOST_RARITY, _HELD * sum(rarities.values())) > 0
        best = max(scored, key=lambda sentence: sentence.relevance, default=None)
        unknown = len(self._retriever.unknown_names(question.names))
        weight = best.relevance - _UNKNOWN_IN_LIST * unknown if best else None
        if weight is None or not (held or weight >= _ON_TOPIC):
            return Evidence(status="not_covered", passages=ranked, weight=weight)
        by_paper = {sentence.paper.paper_id: sentence for sentence in scored}
        relevance = {paper_id: sentence.relevance for paper_id, sentence in by_paper.items()}
        paper_ids = listed(relevance, _similarity(passages), rarity)
        answers = tuple(by_paper[key] for key in paper_ids)
        return Evidence(status="answered", passages=ranked, sentences=answers, weight=weight)

    def _weight(self, question: Question, paper: Paper, relevance: float) -> float:
        """How much speaks for `paper` being about the question; `relevance` is that of its best sentence."""
        rarities = self._retriever.rarities(sorted(content_stems(question.text) - _ASKING))
        held = sum(rarities[stem] for stem in content_stems(readable(paper.abstract)) & rarities.keys())
        share = held / sum(rarities.values()) if held else 0.0
        unknown = len(self._retriever.unknown_names(question.names))
        return relevance + _HELD_WORDS * share - _UNKNOWN_NAME * unknown

    def _lead(self, passages: Sequence[Passage]) -> float:
        """How much more similar to the question the most similar paper is than the next ones."""
        similar = sorted((p.similarity for p in passages if p.similarity is not None), reverse=True)
        if len(self._retriever.labels()) > _SMALL_COLLECTION or len(similar) <= _NEXT:
            return _USUAL_LEAD
        return similar[0] - sum(similar[1 : _NEXT + 1]) / _NEXT

    def _ordered(self, question: Question, sentences: list[ScoredSentence]) -> list[ScoredSentence]:
        """Most worth quoting first: what answers each part, the last part first, then by relevance to the whole."""
        texts = [readable(sentence.quote) for sentence in sentences]
        similarities = self._retriever.similarities(question.text, texts)
        background = _background(question, sentences[0].paper) if sentences else []
        weighed = [
            replace(
                sentence,
                worth=sentence.relevance + _SIMILARITY * similarity - _BACKGROUND * (sentence.span in background),
            )
            for sentence, similarity in zip(sentences, similarities, strict=True)
        ]
        by_whole = sorted(weighed, key=lambda sentence: -sentence.worth)
        if len(question.parts) == 1:
            return by_whole
        texts = [_read_text(sentence.paper, sentence.span) for sentence in by_whole]
        by_part = [self._cross_encoder.relevance(part, texts) for part in question.parts]
        highest = [
            replace(sentence, relevance=max(sentence.relevance, *logits))
            for sentence, logits in zip(by_whole, zip(*by_part, strict=True), strict=True)
        ]
        first = [max(range(len(highest)), key=logits.__getitem__) for logits in reversed(by_part)]
        return [highest[row] for row in dict.fromkeys([*first, *range(len(highest))])]

    def _scored(self, question: str, passages: Sequence[Passage]) -> list[ScoredSentence]:
        return self._scored_spans(question, [(passage, _spans(passage)) for passage in passages])

    def _scored_spans(self, question: str, read: Sequence[tuple[Passage, list[Span]]]) -> list[ScoredSentence]:
        places = [(passage.paper, span) for passage, spans in read for span in spans]
        logits = self._cross_encoder.relevance(question, [_read_text(paper, span) for paper, span in places])
        return [
            ScoredSentence(paper=paper, span=span, relevance=logit)
            for (paper, span), logit in zip(places, logits, strict=True)
        ]


def _read_text(paper: Paper, span: Span) -> str:
    """A sentence with its paper's name before it: few sentences of an abstract say whose they are."""
    return f"{paper.label}: {readable(span.of(paper.abstract))}"


def _background(question: Question, paper: Paper) -> list[Span]:
    """The sentences before those on the authors' own work; only the first one when the question asks for the others."""
    spans = sentence_spans(paper.abstract)
    own = next((at for at, span in enumerate(spans) if _OWN_WORK.search(readable(span.of(paper.abstract)))), 0)
    return spans[: 1 if _ASKS_BACKGROUND.search(question.text) else max(1, own)]


def _spans(passage: Passage) -> list[Span]:
    """The sentences of a passage, as spans of the abstract."""
    start = passage.span.start
    return [Span(start + span.start, start + span.end) for span in sentence_spans(passage.text)][:_LONGEST_READ]


def _nearest_in_words(passage: Passage, rarities: Mapping[str, float]) -> Span:
    """The sentence that shares the rarest words with the topic, an earlier one before a later."""
    abstract = passage.paper.abstract
    return max(_spans(passage), key=lambda span: rarity_shared(rarities, readable(span.of(abstract))))


def _told(question: Question, passages: Sequence[Passage]) -> list[ScoredSentence]:
    """The sentences of the papers that say by their form what the list is of."""
    span_in = telling_span(question.text)
    found = [(passage.paper, span_in(passage.paper)) for passage in passages] if span_in else []
    return [ScoredSentence(paper=paper, span=span, relevance=0.0) for paper, span in found if span]


def _similarity(passages: Sequence[Passage]) -> dict[str, float]:
    """Of each paper to the topic; of one that only the words found, that of the farthest other."""
    least = min((passage.similarity for passage in passages if passage.similarity is not None), default=0.0)
    return {p.paper.paper_id: least if p.similarity is None else p.similarity for p in passages}


def _best_paper(scored: Sequence[ScoredSentence]) -> Paper:
    """The paper with the most relevant sentence, those found first before those found later."""
    rank = {paper_id: at for at, paper_id in enumerate(dict.fromkeys(sentence.paper.paper_id for sentence in scored))}
    return max(scored, key=lambda sentence: sentence.relevance - _FOUND_LATER * rank[sentence.paper.paper_id]).paper


def _best_of_each_paper(scored: Sequence[ScoredSentence]) -> list[ScoredSentence]:
    best: dict[str, ScoredSentence] = {}
    for sentence in sorted(scored, key=lambda sentence: -sentence.relevance):
        best.setdefault(sentence.paper.paper_id, sentence)
    return list(best.values())


def _ranked(passages: Sequence[Passage], scored: Sequence[ScoredSentence]) -> tuple[Passage, ...]:
    """The passages with their relevance, the judged ones first, most relevant first."""
    relevance = {sentence.paper.paper_id: sentence.relevance for sentence in reversed(_best_of_each_paper(scored))}
    judged = [replace(passage, relevance=relevance.get(passage.paper.paper_id)) for passage in passages]
    return tuple(sorted(judged, key=lambda p: (not p.named, p.relevance is None, -(p.relevance or 0.0))))


def _is_stated(question: Question, paper: Paper, sentences: Sequence[ScoredSentence]) -> bool:
    asked = [part for part in question.parts if not part.endswith(".")] or question.parts
    texts = [readable(span.of(paper.abstract)) for span in sentence_spans(paper.abstract)]
    best = [readable(sentence.quote) for sentence in sentences[:_LOOKED_AT]]
    own = own_names(paper)
    return any(is_stated(part, texts, best, own) for part in asked)


def _asked_of_one(question: Question, paper: Paper, compared: Sequence[Paper]) -> Question:
    """A comparison as a question about `paper` alone: without the names of the others and the words that compare."""
    abstract = readable(paper.abstract).lower()
    foreign = [name for name in question.names if name.lower() not in abstract]
    labels = [name for other in compared for name in (other.label, spelled_out(other))]
    text = without_comparing(question.text, [*labels, *foreign])
    if not content_stems(text) - _ASKING:
        return read_question(f"What is {paper.label}?")
    return read_question(f"{paper.label}: {text}")


def _is_spelled_out(paper: Paper, text: str) -> bool:
    return bool(spelled_out(paper)) and spelled_out(paper).lower() in text.lower()


def spelled_out(paper: Paper) -> str:
    """The words that the label stands for, where the abstract writes "Words It Stands For (LABEL)"."""
    found = re.search(rf"((?:[A-Z][\w-]+\s+){{2,8}})\(\W*{re.escape(paper.label)}", readable(paper.abstract))
    return found[1].strip() if found else ""


def own_names(paper: Paper) -> list[str]:
    """The label, and the words it stands for."""
    return [paper.label, *spelled_out(paper).split()]
