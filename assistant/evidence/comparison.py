"""Two or three papers side by side: what each says to each thing they are compared by, or that it does not say."""

import re
from collections.abc import Sequence
from dataclasses import replace

from assistant.evidence.coverage import ASKING
from assistant.evidence.parts import approach, problem, result
from assistant.evidence.quotable import by_worth
from assistant.evidence.reading import ranked, read_passages
from assistant.evidence.stated import is_stated_by
from assistant.own_names import spelled_out
from assistant.routing import read_question, without_comparing
from assistant.types import ComparedBy, Evidence, Question, ScoredSentence
from assistant.wording import any_of, content_stems, pattern
from vectorstore.relevance import CrossEncoder
from vectorstore.retrieval import Retriever
from vectorstore.types import Paper, Passage

_MOST = 3
"""Papers, at most, that are compared in one answer."""
_NAMESAKES = 6
"""Papers of one name, at most, that answer side by side."""
_COUNTED = re.compile(r" \(\d+\)$")
"""Behind the label of a paper whose name another one has already."""
_WORDS = 50
"""Quoted of each paper when it is compared by one thing; the best sentence is quoted whole, whatever its length."""
_SENTENCES = 2
_RELEVANT = 0.0
"""Cross-encoder logit from which a sentence speaks of a thing that it does not name."""
_NAMED_THINGS = pattern(
    rf"\b{any_of('in_terms_of with_respect_to with_regard_to regarding when_it_comes_to as_to by their concerning')}\b"
    r"(?P<things>[^.;?!]+)"
)
_BETWEEN_THINGS = re.compile(r"\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+")
_LONGEST_THING = 5
"""Words; a longer phrase is a question of its own and is not taken apart."""


class ComparisonJudge:
    """Tells which papers a question compares, and reads them."""

    def __init__(self, retriever: Retriever, cross_encoder: CrossEncoder) -> None:
        self._retriever = retriever
        self._cross_encoder = cross_encoder

    def compared(self, question: Question, passages: Sequence[Passage]) -> list[Passage]:
        """The papers that are named; for a comparison of which one is named so, those that alone hold another name."""
        if question.compared:
            chosen = [passage for passage in passages if passage.paper.paper_id in question.compared]
            return sorted(chosen, key=lambda passage: question.compared.index(passage.paper.paper_id))
        named = [passage for passage in passages if passage.named or _is_spelled_out(passage.paper, question.text)]
        if len(named) == 1 and len(namesakes := _namesakes(named[0], passages)) > 1:
            return namesakes
        if question.kind != "compare" or len(named) > 1:
            return sorted(named[:_MOST], key=lambda passage: _place(passage.paper, question.text))
        holding = [self._retriever.papers_holding(name) for name in question.names]
        alone = {next(iter(paper_ids)) for paper_ids in holding if len(paper_ids) == 1}
        return [passage for passage in passages if passage in named or passage.paper.paper_id in alone][:_MOST]

    def weigh(self, question: Question, passages: Sequence[Passage], compared: Sequence[Passage]) -> Evidence:
        """Each paper answers for itself, as if it alone were asked about; one that answers is enough."""
        papers = [passage.paper for passage in compared]
        asked = [_asked_of_one(question, paper, papers) for paper in papers]
        read = [
            by_worth(self._retriever, self._cross_encoder, own, read_passages(self._cross_encoder, own.text, [passage]))
            for own, passage in zip(asked, compared, strict=True)
        ]
        rows = self._rows(question, asked, read)
        sentences = [sentence for of_paper in read for sentence in of_paper]
        return Evidence(
            status="answered" if any(any(row.cells) for row in rows) else "not_stated",
            passages=ranked(passages, sentences),
            sentences=tuple(sentences),
            compared_by=tuple(rows),
        )

    def _rows(
        self, question: Question, asked: Sequence[Question], read: Sequence[Sequence[ScoredSentence]]
    ) -> list[ComparedBy]:
        if things := _things(question):
            return [ComparedBy(thing, tuple(self._on(thing, of_paper) for of_paper in read)) for thing in things]
        if _asks_for_nothing(question, [of_paper[0].paper for of_paper in read]):
            parts = {"Problem": problem, "Approach": approach, "Result": result}
            return [ComparedBy(name, tuple(tuple(part(own)) for own in read)) for name, part in parts.items()]
        return [ComparedBy("", tuple(map(_told, asked, read)))]

    def _on(self, thing: str, sentences: Sequence[ScoredSentence]) -> tuple[ScoredSentence, ...]:
        """The sentence that says most of `thing`; none when no sentence names it and none is relevant to it."""
        logits = self._cross_encoder.relevance(thing, [sentence.quote for sentence in sentences])
        wanted = content_stems(thing)
        judged = [replace(sentence, relevance=logit) for sentence, logit in zip(sentences, logits, strict=True)]
        speaking = [s for s in judged if s.relevance >= _RELEVANT or wanted & content_stems(s.quote)]
        return tuple(sorted(speaking, key=lambda sentence: -sentence.relevance)[:1])


def _told(asked: Question, sentences: Sequence[ScoredSentence]) -> tuple[ScoredSentence, ...]:
    """What answers, in the order of the abstract; nothing when the abstract does not state it."""
    if not is_stated_by(asked, sentences[0].paper, sentences):
        return ()
    chosen = [sentences[0]]
    for sentence in sentences[1:]:
        words = sum(len(each.quote.split()) for each in [*chosen, sentence])
        if words <= _WORDS and len(chosen) < _SENTENCES:
            chosen.append(sentence)
    return tuple(sorted(chosen, key=lambda sentence: sentence.span.start))


def _things(question: Question) -> list[str]:
    """What the papers are compared by, when the question lists it ("in terms of accuracy, speed and memory")."""
    listed = _NAMED_THINGS.search(question.text)
    things = [thing.strip() for thing in _BETWEEN_THINGS.split(listed["things"])] if listed else []
    are_short = all(0 < len(thing.split()) <= _LONGEST_THING for thing in things)
    return things if are_short and (len(things) > 1 or question.compared) else []


def _asks_for_nothing(question: Question, papers: Sequence[Paper]) -> bool:
    """Whether the papers are to be compared, and nothing is said of what in."""
    labels = [name for paper in papers for name in (paper.label, spelled_out(paper))]
    return not content_stems(_compared_by(question, labels)) - ASKING


def _asked_of_one(question: Question, paper: Paper, compared: Sequence[Paper]) -> Question:
    """A comparison as a question about `paper` alone: without the names of the others and the words that compare."""
    abstract = paper.abstract.lower()
    foreign = [name for name in question.names if name.lower() not in abstract]
    labels = [name for other in compared for name in (other.label, spelled_out(other))]
    text = _compared_by(question, [*labels, *foreign])
    if not content_stems(text) - ASKING:
        return read_question(f"What is {paper.label}?")
    return read_question(f"{paper.label}: {text}")


def _compared_by(question: Question, names: Sequence[str]) -> str:
    """What is asked of each paper; `names` are those of the papers and of what the paper does not speak of."""
    return question.topic if question.compared else without_comparing(question.text, names)


def _namesakes(named: Passage, passages: Sequence[Passage]) -> list[Passage]:
    """All papers of that name: which one is meant cannot be told, and one that was planted must hide no other."""
    name = _COUNTED.sub("", named.paper.label)
    return [passage for passage in passages if _COUNTED.sub("", passage.paper.label) == name][:_NAMESAKES]


def _place(paper: Paper, text: str) -> int:
    """Where the question names the paper, so that the columns come as they were asked for."""
    places = [text.lower().find(name.lower()) for name in (paper.label, spelled_out(paper)) if name]
    return min((place for place in places if place >= 0), default=len(text))


def _is_spelled_out(paper: Paper, text: str) -> bool:
    return bool(spelled_out(paper)) and spelled_out(paper).lower() in text.lower()
