"""Is there enough in the papers to answer, and of which kind is the lack?

The cross-encoder reads the question with each sentence of the best papers. Its best value tells papers on the
subject from papers that are not (not_covered); `asked.py` tells what an abstract does not say (not_stated).
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from assistant.asked import is_stated
from assistant.types import Evidence, Question, ScoredSentence
from assistant.wording import content_stems, stems
from vectorstore.markup import readable
from vectorstore.relevance import CrossEncoder
from vectorstore.retrieval import Retriever
from vectorstore.sentences import sentence_spans
from vectorstore.types import Paper, Passage, Span

_COVERED = -2.75
"""Least weight of evidence for a question that the papers cover: relevance of the best sentence, plus
`_SHARED_WORD` for each content word that the question shares with its abstract, minus `_UNKNOWN_NAME` for each name
in the question that no paper holds. Chosen on the development questions, as are the other figures here; with the
relevance alone two and a half times as many answerable questions would be refused."""
_SHARED_WORD = 1.5
_MOST_SHARED = 4
_UNKNOWN_NAME = 2.0
_NAMED = 4.0
"""Added when the question names the paper: then its words may be far from those of the abstract."""
_LISTED = -2.0
"""Least relevance of a paper's best sentence to the topic of a list that the paper belongs to."""
_LISTED_BELOW_BEST = 7.0
"""A paper whose best sentence is this much less relevant than the best of all does not belong to a list."""
_SIMILARITY = 20.0
"""What the cosine of question and sentence counts beside relevance in choosing what to quote."""
_OPENING = 2.0
"""Taken off for the first sentence of an abstract, which gives background."""
_FOUND_LATER = 1.0
"""Taken off for each paper that was found before: search orders papers better than the cross-encoder alone."""
_PASSAGES = 10
_READ_FOR_FACT = 2
"""Papers whose every sentence is read for one fact; reading a third made no answer better and each one slower."""
_READ_FOR_LIST = 20
_SENTENCES_FOR_LIST = 3
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
        if question.kind in ("list", "count"):
            return self._weigh_list(question)
        passages = self._retriever.search(question.text, _PASSAGES)
        named = [passage for passage in passages if passage.named]
        if question.kind == "compare" and len(named) > 1:
            return self._weigh_comparison(question, passages, named)
        return self._weigh_fact(question, passages)

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
        relevant = self._is_covered(question, best, relevance + _NAMED * bool(named))
        if not relevant and not named:
            return Evidence(status="not_covered", passages=ranked)
        stated = relevant and _is_stated(question, best, sentences)
        return Evidence(status="answered" if stated else "not_stated", passages=ranked, sentences=tuple(sentences))

    def _weigh_comparison(self, question: Question, passages: list[Passage], named: list[Passage]) -> Evidence:
        """Each paper that is named answers for itself."""
        scored = sorted(self._scored(question.text, named), key=lambda sentence: -sentence.relevance)
        return Evidence(status="answered", passages=_ranked(passages, scored), sentences=tuple(scored))

    def _weigh_list(self, question: Question) -> Evidence:
        """Every paper with a sentence on the topic answers, with that sentence."""
        passages = self._retriever.search(question.topic, _READ_FOR_LIST)
        wanted = content_stems(question.topic)
        read = [(passage, _nearest_in_words(passage, wanted)) for passage in passages]
        scored = self._scored_spans(question.topic, read)
        ranked = _ranked(passages, scored)
        best = _best_of_each_paper(scored)
        if not best or not self._is_covered(question, best[0].paper, best[0].relevance):
            return Evidence(status="not_covered", passages=ranked)
        least = min(max(_LISTED, best[0].relevance - _LISTED_BELOW_BEST), best[0].relevance)
        listed = [sentence for sentence in best if sentence.relevance >= least]
        return Evidence(status="answered", passages=ranked, sentences=tuple(listed))

    def _is_covered(self, question: Question, paper: Paper, relevance: float) -> bool:
        wanted = content_stems(question.text) - _ASKING
        shared = len(wanted & content_stems(readable(paper.abstract)))
        unknown = len(self._retriever.unknown_names(question.names))
        weight = relevance + _SHARED_WORD * min(shared, _MOST_SHARED) - _UNKNOWN_NAME * unknown
        return weight >= _COVERED

    def _ordered(self, question: Question, sentences: list[ScoredSentence]) -> list[ScoredSentence]:
        """Most worth quoting first: what answers each part, the last part first, then by relevance to the whole."""
        texts = [readable(sentence.quote) for sentence in sentences]
        similarities = self._retriever.similarities(question.text, texts)
        worth = {
            sentence: sentence.relevance + _SIMILARITY * similarity - _OPENING * (sentence.span.start == 0)
            for sentence, similarity in zip(sentences, similarities, strict=True)
        }
        by_whole = sorted(sentences, key=lambda sentence: -worth[sentence])
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


def _spans(passage: Passage) -> list[Span]:
    """The sentences of a passage, as spans of the abstract."""
    start = passage.span.start
    return [Span(start + span.start, start + span.end) for span in sentence_spans(passage.text)][:_LONGEST_READ]


def _nearest_in_words(passage: Passage, wanted: set[str]) -> list[Span]:
    """The few sentences that share most words with the topic, earlier ones before later ones."""
    abstract = passage.paper.abstract
    return sorted(_spans(passage), key=lambda span: -len(wanted & content_stems(span.of(abstract))))[
        :_SENTENCES_FOR_LIST
    ]


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


def own_names(paper: Paper) -> list[str]:
    """The label, and the words it stands for where the abstract writes "Words It Stands For (LABEL)"."""
    spelled = re.search(rf"((?:[A-Z][\w-]+\s+){{2,8}})\(\W*{re.escape(paper.label)}", readable(paper.abstract))
    return [paper.label, *(spelled[1].split() if spelled else [])]
