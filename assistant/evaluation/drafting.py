"""Drafts a question set from a collection, without a model: questions for people to check, complete and reword.

Each draft carries the tag "draft" and a note that says what is left to do; reports count the drafts they rest on.
"""

import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from assistant.evaluation.types import GoldQuestion
from assistant.wording import content_stems
from vectorstore.markup import readable
from vectorstore.names import TOKEN
from vectorstore.sentences import sentence_spans
from vectorstore.types import Paper

_DRAFT = ("draft",)
_MOST_PAPERS = 40
"""Drawn from a larger collection: more questions than people will check are of no use."""
_LISTS = 8
_LISTED = range(3, 9)
"""Papers that a term must be in to be worth a list that people can check."""
_BOUND = 0.3
"""Of two words' papers, the least share that has them side by side when they are a term; "across multiple" is none."""
_NUMBER = re.compile(r"(?<![\w.,(-])\d[\d.,]*(?:\s?(?:%|percent|x|×))?(?![\w-])")
_UNLIKELY = (
    ("What learning rate does {name} use?", "learning rate"),
    ("On how many GPUs does {name} run its experiments?", "GPU"),
    ("Under which licence does {name} release its code?", "license licence"),
    ("At which university was the work on {name} done?", "university"),
    ("How many random seeds does {name} evaluate with?", "seed"),
    ("Which limitations does {name} admit?", "limitation"),
)
"""What abstracts seldom say, and the words of one that may say it."""
_ELSEWHERE = (
    "Which paper studies the migration of monarch butterflies?",
    "What do the papers say about the treatment of type 2 diabetes?",
    "Is there a paper on the fall of the Western Roman Empire?",
    "Which paper measures the Hubble constant?",
    "What is known here about sourdough fermentation?",
)
_TERM_WORDS = 2


def drafted_questions(papers: Sequence[Paper], *, seed: int = 0) -> list[GoldQuestion]:
    """Questions about `papers`, the same for the same papers and seed."""
    draws = random.Random(seed)
    chosen = sorted(draws.sample(range(len(papers)), min(_MOST_PAPERS, len(papers))))
    about = [papers[row] for row in chosen]
    drafts = [*_about_each(about), *_lists(papers), *_open(about), *_not_covered(papers)]
    return [
        draft.model_copy(update={"id": f"draft-{number:03d}", "tags": (*draft.tags, *_DRAFT)})
        for number, draft in enumerate(drafts, start=1)
    ]


def _about_each(papers: Sequence[Paper]) -> Iterator[GoldQuestion]:
    for paper in papers:
        yield GoldQuestion(
            id="draft",
            question=f"What is the main idea of {_name(paper)}?",
            papers=(paper.label,),
            tags=("named",),
            note="Add the facts that a right answer must contain.",
        )
        if gap := _sentence_with_gap(paper):
            sentence, number = gap
            yield GoldQuestion(
                id="draft",
                question=f"{paper.label}: which figure belongs into “{sentence}”?",
                papers=(paper.label,),
                facts=((number,),),
                tags=("named",),
                note="Reword as a reader would ask for this figure, once with and once without the paper's name.",
            )


def _name(paper: Paper) -> str:
    """What a question calls a paper: a label of several words is not a name that reads well in a sentence."""
    return f"the paper “{paper.label}”" if " " in paper.label else paper.label


def _sentence_with_gap(paper: Paper) -> tuple[str, str] | None:
    """The last sentence with a number, which is mostly a result, with the number left out; and the number."""
    for span in reversed(sentence_spans(paper.abstract)):
        sentence = readable(span.of(paper.abstract))
        number = _NUMBER.search(sentence)
        if number and "http" not in sentence:
            figure = number.group().rstrip(".,")
            return f"{sentence[: number.start()]}___{sentence[number.start() + len(figure) :]}", figure
    return None


def _lists(papers: Sequence[Paper]) -> Iterator[GoldQuestion]:
    holders = _holders_of_terms(papers)
    terms = sorted(holders, key=lambda term: (-len(holders[term]), term))
    for at, term in enumerate(terms[:_LISTS]):
        kind, asks = ("count", "How many papers are about") if at % 2 else ("list", "Which papers are about")
        yield GoldQuestion.model_validate(
            {
                "id": "draft",
                "question": f"{asks} {term}?",
                "kind": kind,
                "papers": holders[term],
                "note": "These papers have the words; take out those that are about something else, add those "
                "that say it otherwise.",
            }
        )


def _holders_of_terms(papers: Sequence[Paper]) -> Mapping[str, list[str]]:
    """Labels by term: two words that stand side by side in many of the papers that have them."""
    holders: dict[str, list[str]] = defaultdict(list)
    held: Counter[str] = Counter()
    for paper in papers:
        abstract = readable(paper.abstract)
        held.update({word.lower() for word in TOKEN.findall(abstract)})
        for term in dict.fromkeys(_terms(abstract)):
            holders[term].append(paper.label)

    def is_term(pair: str) -> bool:
        first, second = pair.split()
        return len(holders[pair]) / math.sqrt(held[first] * held[second]) >= _BOUND

    return {pair: labels for pair, labels in holders.items() if len(labels) in _LISTED and is_term(pair)}


def _terms(abstract: str) -> Iterator[str]:
    words = [(match.group().lower(), match.start(), match.end()) for match in TOKEN.finditer(abstract)]
    for (first, _, end), (second, start, _) in pairwise(words):
        adjacent = abstract[end:start] == " "
        if adjacent and content_stems(first) and content_stems(second) and f"{first}{second}".isalpha():
            yield f"{first} {second}"


def _open(papers: Sequence[Paper]) -> Iterator[GoldQuestion]:
    for at, paper in enumerate(papers):
        question, words = _UNLIKELY[at % len(_UNLIKELY)]
        if not any(word.lower() in paper.abstract.lower() for word in words.split()):
            yield GoldQuestion(
                id="draft",
                question=question.format(name=_name(paper)),
                papers=(paper.label,),
                status="not_stated",
                note="Check that the abstract does not say it.",
            )


def _not_covered(papers: Sequence[Paper]) -> Iterator[GoldQuestion]:
    held: Counter[str] = Counter()
    for paper in papers:
        held.update(content_stems(readable(paper.abstract)))
    for question in _ELSEWHERE:
        rare = [stem for stem in content_stems(question) - content_stems("paper papers") if not held[stem]]
        if len(rare) >= _TERM_WORDS:
            yield GoldQuestion(
                id="draft",
                question=question,
                status="not_covered",
                note="Replace by a topic near to the collection's that no paper of it treats.",
            )
