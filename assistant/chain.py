"""The pipeline: question -> standalone question -> evidence -> sentences, each checked -> answer."""

import threading
import time
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from assistant import replies
from assistant.background import in_background
from assistant.confining import Confined, confined, read_confined
from assistant.conversation import SourceNumbers, clean_question, read_turns
from assistant.errors import ModelError, ModelRefused
from assistant.evidence import EvidenceJudge
from assistant.followup import label_in, standalone_question, subject_of
from assistant.languages import in_english, is_english
from assistant.quoting import QuotationWriter, Writer
from assistant.routing import read_question
from assistant.types import (
    Answer,
    AnswerFinished,
    Event,
    Evidence,
    PassagesFound,
    Question,
    Sentence,
    SentenceChecked,
    Status,
    Turn,
    Usage,
)
from vectorstore.atlas import Atlas
from vectorstore.facets import Choices
from vectorstore.filters import PaperFilter
from vectorstore.markup import readable
from vectorstore.retrieval import Retriever
from vectorstore.types import Paper, Passage

_LIKE_A_TITLE = 10
"""Papers, the most similar, among which one of a given title is looked for."""

History = Iterable[Mapping[str, Any] | Turn]
"""Items like `{"role": "user", "content": "..."}`; an answer's may carry its `citations`."""


class Rewriter(Protocol):
    """Makes a follow-up a question that can be read without the turns before it."""

    def standalone(
        self, question: str, turns: Sequence[Turn], stop: threading.Event
    ) -> tuple[str | None, Usage | None]:
        """The standalone question, and what it cost; None when there is none to rely on."""
        ...


class Assistant:
    """Answers questions about one collection. It holds no conversation: a caller passes the history each time."""

    def __init__(
        self, *, retriever: Retriever, judge: EvidenceJudge, writer: Writer, rewriter: Rewriter | None = None
    ) -> None:
        self._retriever = retriever
        self._judge = judge
        self._writer = writer
        self._rewriter = rewriter

    @property
    def writer(self) -> str:
        """What writes the answers: "quotation", or the name of a model."""
        return self._writer.name

    def ask(self, question: str, history: History = (), *, within: PaperFilter | None = None) -> Answer:
        """The whole answer. Raises `UserFacingError` when there can be none."""
        events = self.stream(question, history, within=within)
        return next(event.answer for event in events if isinstance(event, AnswerFinished))

    def stream(
        self,
        question: str,
        history: History = (),
        *,
        within: PaperFilter | None = None,
        stop: threading.Event | None = None,
    ) -> Iterator[Event]:
        """The answer as it comes: the passages found, then each sentence, at last the whole.

        Only papers that pass `within` are asked; when that is one, "it" means that paper. When `stop` is set, by
        another thread, it ends where it is, and so does the request to the model.
        """
        stop = stop or threading.Event()
        watch = _Stopwatch()
        turns = read_turns(history)
        asked = self._asked(clean_question(question), turns, within, stop)
        yield from self._answered(question, asked, turns, watch, stop)

    def compare(self, papers: Sequence[Paper], by: str = "", *, stop: threading.Event | None = None) -> Iterator[Event]:
        """An answer, as `stream` gives it, that sets papers of the collection side by side, in this order.

        `by` says what they are compared by ("memory and speed"); without it, by problem, approach and result.
        """
        stop = stop or threading.Event()
        watch = _Stopwatch()
        asked = _comparison(papers, self._retriever.respelled(clean_question(by)) if by else "")
        yield from self._answered(asked.standalone, asked, [], watch, stop)

    def _answered(
        self, question: str, asked: Question, turns: Sequence[Turn], watch: "_Stopwatch", stop: threading.Event
    ) -> Iterator[Event]:
        evidence = self._evidence(asked)
        watch.stop("evidence")
        yield PassagesFound(passages=evidence.passages)

        draft = _Draft(evidence.status, usage=asked.usage)
        for sentence in self._sentences(asked, evidence, SourceNumbers(turns), draft, stop):
            draft.sentences.append(sentence)
            watch.stop("first_sentence")
            yield SentenceChecked(sentence=sentence)
        if stop.is_set():
            return
        if asked.foreign is not None and self._retriever.reads_english_only:
            draft.sentences.append(replies.ENGLISH_ONLY)
            yield SentenceChecked(sentence=replies.ENGLISH_ONLY)
        watch.stop("total")

        yield AnswerFinished(
            answer=Answer(
                question=question,
                standalone_question=asked.standalone or asked.text,
                kind=asked.kind,
                status=draft.status,
                sentences=tuple(draft.sentences),
                passages=evidence.passages,
                writer=self._writer.name,
                timings_ms=watch.times_ms,
                usage=draft.usage,
                fingerprint=self._retriever.fingerprint().digest,
                evidence=evidence.weight,
                model_asked=draft.model_asked,
                model_failure=draft.model_failure,
            )
        )

    async def aask(self, question: str, history: History = (), *, within: PaperFilter | None = None) -> Answer:
        """What `ask` gives, without blocking the event loop; when it is cancelled, the request to the model ends."""
        async with aclosing(self.astream(question, history, within=within)) as events:
            return await anext(event.answer async for event in events if isinstance(event, AnswerFinished))

    def astream(
        self, question: str, history: History = (), *, within: PaperFilter | None = None
    ) -> AsyncGenerator[Event]:
        """What `stream` gives, without blocking the event loop; when it is closed, the request to the model ends."""
        return in_background(lambda stop: self.stream(question, history, within=within, stop=stop))

    def search(
        self, query: str, k: int = 10, *, one_per_paper: bool = True, within: PaperFilter | None = None
    ) -> list[Passage]:
        """The `k` best passages, best first, each with why it was found; the first ones with their relevance.

        Without `within`, what the query says of author, venue and years is the filter: "work by Abbeel in 2020".
        """
        spelt = self._retriever.respelled(clean_question(query))
        asked = Confined(spelt, within) if within else confined(spelt, self._retriever)
        passages = self._retriever.search(asked.text, k, one_per_paper=one_per_paper, within=asked.within)
        return self._judge.with_relevance(asked.text, passages)

    def papers(self, within: PaperFilter | None = None) -> list[Paper]:
        """All papers of the collection that pass the filter, in the order in which they were read."""
        return self._retriever.papers_within(within) if within else self._retriever.papers()

    def papers_called(self, name: str) -> list[Paper]:
        """The paper with that id or that label, else those with that title, in any case; there may be none."""
        labels = self._retriever.labels_in([name])
        paper_ids = [name, *(labels[label] for label in labels if _same(label, name))]
        if papers := self.papers_of(paper_ids)[:1]:
            return papers
        found = [passage.paper for passage in self._retriever.search(name, _LIKE_A_TITLE)]
        return [paper for paper in found if _same(paper.label, name) or (paper.title and _same(paper.title, name))]

    def evidence_for(self, question: str, within: PaperFilter | None = None) -> Evidence:
        """What the papers have to say to a question that needs no history; nothing is written."""
        asked = self._standalone(self._retriever.respelled(clean_question(question)), [], self._sole_paper(within))
        return self._evidence(replace(asked, within=within.also(asked.within)) if within else asked)

    def paper_count(self) -> int:
        """How many papers there are."""
        return self._retriever.paper_count()

    def paper_ids(self, within: PaperFilter) -> list[str]:
        """The ids of the papers that pass the filter, in the order in which they were read."""
        return self._retriever.ids_within(within)

    def papers_of(self, paper_ids: Sequence[str]) -> list[Paper]:
        """The papers of those ids that the collection has, in their order."""
        return self._retriever.papers_of(paper_ids)

    def neighbours(self, paper_id: str, k: int = 6) -> list[Paper]:
        """The `k` papers whose abstracts are most similar to that of one paper, most similar first."""
        return self._retriever.neighbours(paper_id, k)

    def atlas(self) -> Atlas:
        """All papers laid out by meaning, in named topics: half a minute for ten thousand, but kept from then on."""
        return self._retriever.atlas()

    def choices(self) -> Choices:
        """What the papers can be filtered by."""
        return self._retriever.choices()

    def _asked(
        self, question: str, turns: Sequence[Turn], within: PaperFilter | None, stop: threading.Event
    ) -> Question:
        """The question as the collection spells it and the models read it, without the turns before it."""
        sole = self._sole_paper(within)
        asked = self._read(question, [_about(sole)] if sole else turns, sole, stop)
        return replace(asked, within=within.also(asked.within)) if within else asked

    def _sole_paper(self, within: PaperFilter | None) -> Paper | None:
        """The one paper that passes, when there are no others."""
        paper_ids = self._retriever.ids_within(within) if within else []
        return self._retriever.papers_of(paper_ids)[0] if len(paper_ids) == 1 else None

    def _read(self, question: str, turns: Sequence[Turn], sole: Paper | None, stop: threading.Event) -> Question:
        spelt = self._retriever.respelled(question)
        if not is_english(question):
            worded = in_english(spelt, lambda word: not self._retriever.unknown_names([word]))
            return replace(self._standalone(worded, turns, sole), foreign=question)
        rewritten, usage = self._rewriter.standalone(spelt, turns, stop) if self._rewriter and turns else (None, None)
        asked = read_confined(rewritten, self._retriever) if rewritten else self._standalone(spelt, turns, sole)
        return replace(asked, usage=usage)

    def _standalone(self, question: str, turns: Sequence[Turn], sole: Paper | None) -> Question:
        """By rules."""
        labels = self._labels(question, turns)
        asked = read_confined(standalone_question(question, turns, labels), self._retriever)
        subject = subject_of(turns, labels)
        is_open = asked.text == question and not label_in(question, labels)
        if subject and is_open and self._continues(asked, subject, sole):
            return read_question(f"{subject}: {question}")
        return asked

    def _continues(self, asked: Question, subject: str, sole: Paper | None) -> bool:
        """Whether the question goes on about the paper with the label `subject`."""
        return asked.kind == "fact" if sole else self._judge.continues(asked, subject)

    def _labels(self, question: str, turns: Sequence[Turn]) -> set[str]:
        """The labels that the conversation speaks of."""
        cited = {str(citation["label"]) for turn in turns for citation in turn.citations}
        return cited | self._retriever.labels_in([question, *(turn.content for turn in turns)]).keys()

    def _evidence(self, asked: Question) -> Evidence:
        return self._judge.weigh(asked) if asked.is_on_content else Evidence(status="answered", passages=())

    def _sentences(
        self, asked: Question, evidence: Evidence, numbers: SourceNumbers, draft: "_Draft", stop: threading.Event
    ) -> Iterator[Sentence]:
        if asked.kind == "smalltalk":
            return replies.small_talk(self._retriever.paper_count())
        if not asked.is_on_content:
            return replies.overview(self.papers(asked.within))
        if evidence.status == "not_covered":
            return replies.not_covered(self._retriever.paper_count(), asked.within)
        if evidence.status == "not_stated":
            return replies.not_stated(evidence, numbers)
        return self._written(asked, evidence, numbers, draft, stop)

    def _written(
        self, asked: Question, evidence: Evidence, numbers: SourceNumbers, draft: "_Draft", stop: threading.Event
    ) -> Iterator[Sentence]:
        """What the writer gives, with quotations where it gives nothing that can be shown, or not all."""
        quotations = QuotationWriter().write(asked, evidence, numbers, stop)
        if asked.kind in ("list", "count"):
            yield from quotations  # complete, which no model is that reads a few sources
            return
        draft.model_asked = self._writer.name != QuotationWriter.name
        yield from self._from_writer(asked, evidence, numbers, draft, stop)
        if stop.is_set():
            return
        if draft.model_failure or not draft.has_content:
            if draft.declined and asked.kind == "fact":
                draft.status = "not_stated"
                yield from replies.not_stated(evidence, numbers)
            else:
                yield replies.quoted_instead(draft.model_failure)
                yield from quotations
        elif draft.model_asked and asked.kind in ("compare", "overview"):
            yield from quotations
        if draft.left_out:
            yield replies.left_out(draft.left_out)

    def _from_writer(
        self, asked: Question, evidence: Evidence, numbers: SourceNumbers, draft: "_Draft", stop: threading.Event
    ) -> Iterator[Sentence]:
        try:
            for item in self._writer.write(asked, evidence, numbers, stop):
                if isinstance(item, Usage):
                    draft.usage = item + draft.usage
                elif isinstance(item, Sentence):
                    yield item
                else:
                    draft.declined = True
        except ModelRefused:
            raise  # a wrong setting, to be put right rather than hidden by quotations
        except ModelError as error:
            draft.model_failure = f"{error.message} {error.hint}"


def _comparison(papers: Sequence[Paper], by: str) -> Question:
    paper_ids = tuple(paper.paper_id for paper in papers)
    things = f" in terms of {by}" if by else ""
    return Question(
        text=f"Compare these papers{things}.",
        kind="compare",
        topic=by,
        parts=(by,),
        names=(),
        within=PaperFilter(paper_ids=paper_ids),
        standalone=f"Compare {' and '.join(paper.label for paper in papers)}{things}.",
        compared=paper_ids,
    )


def _same(one: str, other: str) -> bool:
    """Whether they read the same, case aside."""
    return " ".join(readable(one).split()).casefold() == " ".join(readable(other).split()).casefold()


def _about(paper: Paper) -> Turn:
    """A turn after which "it" means that paper."""
    return Turn(role="user", content=f"What is {paper.label}?")


@dataclass
class _Draft:
    """An answer in the making."""

    status: Status
    sentences: list[Sentence] = field(default_factory=list)
    usage: Usage | None = None
    model_asked: bool = False
    model_failure: str | None = None
    declined: bool = False

    @property
    def has_content(self) -> bool:
        """Whether a sentence that rests on a paper is shown."""
        return any(sentence.shown and sentence.citations for sentence in self.sentences)

    @property
    def left_out(self) -> int:
        """How many sentences are not shown."""
        return sum(not sentence.shown for sentence in self.sentences)


class _Stopwatch:
    """Milliseconds since its making, by the name of what was reached first then."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self.times_ms: dict[str, float] = {}

    def stop(self, name: str) -> None:
        self.times_ms.setdefault(name, round((time.perf_counter() - self._start) * 1000, 1))
