"""What the program says in its own words: greetings, what is in the collection, and refusals. Never about content."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from assistant.conversation import SourceNumbers
from assistant.quoting import quotation
from assistant.types import Evidence, Sentence
from vectorstore.filters import PaperFilter
from vectorstore.types import Paper

_NAMED_IN_OVERVIEW = 60


ENGLISH_ONLY = Sentence(
    text="(The question is not in English, and the packaged embedding model reads nothing else: papers were looked for "
    "by the names, numbers and terms in it. A multilingual model finds more: set ASSISTANT_EMBEDDING, for example to "
    "openai:text-embedding-3-small, and run: assistant index --rebuild)",
    verdict="program",
    opens="paragraph",
)


def small_talk(papers: int) -> Iterator[Sentence]:
    """The answer to a greeting, thanks, or "what can you do?"."""
    yield Sentence(
        text=f"Ask me about the {_counted(papers)} here: what a paper does and finds, which papers treat a subject, "
        "or how two of them differ. Each sentence of an answer rests on a quotation from an abstract; "
        "when the abstracts do not say, I tell you so.",
        verdict="program",
        opens="paragraph",
    )


def overview(papers: Sequence[Paper]) -> Iterator[Sentence]:
    """The answer to "what is in here?"."""
    labels = [paper.label for paper in papers[:_NAMED_IN_OVERVIEW]]
    more = f" and {len(papers) - len(labels)} more" if len(papers) > len(labels) else ""
    places = ", ".join(dict.fromkeys(paper.place for paper in papers if paper.place))
    yield Sentence(
        text=f"{_counted(len(papers))}{f' of {places}' if places else ''}: {', '.join(labels)}{more}.",
        verdict="program",
        opens="paragraph",
    )


def not_covered(papers: int, within: PaperFilter | None) -> Iterator[Sentence]:
    """The answer when no paper is on the subject, or none of those that the question is confined to."""
    yield Sentence(text=_none_of(papers, within), verdict="program", opens="paragraph")


def not_stated(evidence: Evidence, numbers: SourceNumbers) -> Iterator[Sentence]:
    """The answer when papers are on the subject but their abstracts do not say; with the nearest that they do say."""
    labels = [paper.label for paper in evidence.papers]
    text = (
        f"The abstract of {labels[0]} does not state this. The nearest it says:"
        if len(labels) == 1
        else f"The abstracts of {', '.join(labels[:-1])} and {labels[-1]} do not state this. The nearest they say:"
    )
    yield Sentence(text=text, verdict="program", opens="paragraph")
    for paper in evidence.papers:
        nearest = next(sentence for sentence in evidence.sentences if sentence.paper == paper)
        yield quotation(nearest, numbers)


def quoted_instead(model_failure: str | None) -> Sentence:
    """What stands before quotations that a reader gets in place of what a model was to write."""
    why = model_failure or "Nothing the model wrote could be checked against the papers."
    return Sentence(text=f"{why} Quoted from the papers instead:", verdict="program", opens="paragraph")


def left_out(sentences: int) -> Sentence:
    """The line that says how much of a model's answer is not shown."""
    text = f"({sentences} sentence{'s' if sentences != 1 else ''} left out: no abstract was found to say so.)"
    return Sentence(text=text, verdict="program", opens="paragraph")


def _none_of(papers: int, within: PaperFilter | None) -> str:
    if within is None:
        return (
            f"None of the {papers} papers here is about this."
            if papers != 1
            else "The one paper here is not about this."
        )
    if within.paper_ids is None:
        return f"None of the {_counted(papers)} here {within} is about this."
    chosen, others = len(within.paper_ids), replace(within, paper_ids=None)
    if chosen == 1:
        return "The paper chosen is not about this."
    return " ".join(filter(None, [f"None of the {_counted(chosen)} chosen", str(others), "is about this."]))


def _counted(papers: int) -> str:
    return f"{papers} paper{'s' if papers != 1 else ''}"
