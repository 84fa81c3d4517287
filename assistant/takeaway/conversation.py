"""A conversation, or one answer, as Markdown, as JSON, and as the papers that it cites."""

from collections.abc import Iterator, Sequence

from assistant.blocks import markdown_of
from assistant.takeaway.markdown import paper_markdown
from assistant.types import Answer, Citation, Sentence
from vectorstore.exporting import bibtex, ris
from vectorstore.markup import escaped_markdown, readable
from vectorstore.types import Paper
from vectorstore.visible import visible_json


def answers_markdown(answers: Sequence[Answer]) -> str:
    """Each question as a heading with its answer, then the sources by number with what was quoted of them."""
    parts = [part for answer in answers for part in _answer(answer)]
    citations = [citation for answer in answers for citation in answer.citations]
    if citations:
        parts.append("## Sources")
    parts += _sources(citations)
    return "\n\n".join(parts) + "\n"


def answers_json(answers: Sequence[Answer]) -> str:
    """A list of `Answer.to_dict()`, each with the fingerprint of the index that it rests on."""
    return visible_json([answer.to_dict() for answer in answers]) + "\n"


def cited_papers(answers: Sequence[Answer]) -> list[Paper]:
    """Those that the shown sentences cite, in the order of their source numbers."""
    numbers = {citation.number: citation.paper for answer in answers for citation in answer.citations}
    return [numbers[number] for number in sorted(numbers)]


def answers_bibtex(answers: Sequence[Answer]) -> str:
    """The cited papers."""
    return "".join(bibtex(cited_papers(answers)))


def answers_ris(answers: Sequence[Answer]) -> str:
    """The cited papers."""
    return "".join(ris(cited_papers(answers)))


def _answer(answer: Answer) -> Iterator[str]:
    yield f"## {escaped_markdown(answer.question)}"
    if answer.standalone_question.casefold() != answer.question.strip().casefold():
        yield f"Read as: {escaped_markdown(answer.standalone_question)}"
    yield markdown_of((sentence for sentence in answer.sentences if sentence.shown), _sentence)


def _sentence(sentence: Sentence) -> str:
    numbers = dict.fromkeys(citation.number for citation in sentence.citations)
    return " ".join([escaped_markdown(sentence.text), *(f"[{number}]" for number in numbers)])


def _sources(citations: Sequence[Citation]) -> Iterator[str]:
    papers = {citation.number: citation.paper for citation in citations}
    for number in sorted(papers):
        yield f"- [{number}] {paper_markdown(papers[number])}"
        for quote in dict.fromkeys(citation.quote for citation in citations if citation.number == number):
            yield f"  > {escaped_markdown(readable(quote))}"
