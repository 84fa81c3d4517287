"""One outcome against its gold question: the papers, facts, quotations and numbers in it that are right."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from assistant.evaluation.types import GoldQuestion, Outcome
from vectorstore.markup import readable
from vectorstore.types import Paper

_LIKE_HYPHENS = str.maketrans({mark: "-" for mark in "‐‑‒–—−"} | {mark: "'" for mark in "‘’"})
_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+")
_NUMBER_WORDS = "no one two three four five six seven eight nine ten eleven twelve thirteen fourteen".split()
_ANY_NUMBER = rf"\b(\d{{1,3}}(?:,\d{{3}})+|\d+|{'|'.join([*_NUMBER_WORDS, 'none'])})\b"
_NUMBER_OF_PAPERS = re.compile(
    rf"{_ANY_NUMBER}(?: [\w-]+){{0,2}}? (?:papers?|works?|abstracts?|studies)\b", re.IGNORECASE
)
_FIRST_NUMBER = re.compile(_ANY_NUMBER, re.IGNORECASE)
_TOTAL = re.compile(r"\b(?:of|among|out of|all) (?:the |these |all )?\d+ (?:papers|abstracts)\b", re.IGNORECASE)
"""How many papers there are to choose from, which is no answer."""


@dataclass(frozen=True)
class Scored:
    """A question, what came of it, and the papers it was asked of by id."""

    gold: GoldQuestion
    outcome: Outcome
    papers: Mapping[str, Paper]

    @property
    def failed(self) -> bool:
        """Whether there is no answer at all."""
        return self.outcome.error is not None

    @property
    def refused(self) -> bool:
        """Whether the answer is that the papers do not say."""
        return self.outcome.status in ("not_stated", "not_covered")

    @property
    def right_papers_cited(self) -> int:
        """How many of the papers cited are right ones."""
        return len(set(self.outcome.cited) & set(self.gold.papers))

    @property
    def cites_right(self) -> bool:
        """Whether a right paper is cited; for a comparison, all of them."""
        wanted = len(self.gold.papers) if self.gold.kind == "compare" else 1
        return self.right_papers_cited >= wanted

    @cached_property
    def facts_found(self) -> tuple[bool, ...]:
        """For each fact, whether one of its variants is in what is shown."""
        content = comparable(self.outcome.content)
        return tuple(any(holds(content, variant) for variant in fact) for fact in self.gold.facts)

    @cached_property
    def verbatim(self) -> tuple[bool, ...]:
        """For each quotation, whether it stands in its paper's abstract: to the letter, or with its markup removed."""
        return tuple(_stands(q.text, self.papers[q.paper_id].abstract) for q in self.outcome.quotations)

    @property
    def words(self) -> int:
        """How many words are shown, the program's own aside."""
        return len(self.outcome.content.split())

    @property
    def number_is_exact(self) -> bool:
        """Whether just as many papers are listed as belong, and the number stated, if asked for, is theirs."""
        complete = len(self.gold.papers)
        stated = complete if self.gold.kind != "count" else self.number_stated
        return len(self.outcome.cited) == complete == stated

    @property
    def number_stated(self) -> int | None:
        """The number of papers in what is shown, such as "3 papers"; else the first number."""
        text = _TOTAL.sub("", " ".join(sentence.text for sentence in self.outcome.shown))
        found = _NUMBER_OF_PAPERS.search(text) or _FIRST_NUMBER.search(text)
        if found is None:
            return None
        word = found[1].lower().replace("none", "no").replace(",", "")
        return _NUMBER_WORDS.index(word) if word in _NUMBER_WORDS else int(word)

    @cached_property
    def why_wrong(self) -> tuple[str, ...]:
        """Everything that keeps the answer from being right; nothing when it is right."""
        if self.failed:
            return (f"failed: {self.outcome.error}",)
        if self.outcome.status != self.gold.status:
            return (f"{self.outcome.status} instead of {self.gold.status}",)
        return (*self._wrong_papers(), *self._missing_facts(), *self._false_quotations())

    def _wrong_papers(self) -> tuple[str, ...]:
        if self.gold.status != "answered" or not self.gold.papers:
            return ()
        if self.gold.kind == "fact":
            return self._wrong_papers_of_fact()
        missing = [self._label(paper_id) for paper_id in self.gold.papers if paper_id not in self.outcome.cited]
        extra = [self._label(paper_id) for paper_id in self.outcome.cited if paper_id not in self.gold.papers]
        reasons = [f"missing: {', '.join(missing)}" if missing else "", f"extra: {', '.join(extra)}" if extra else ""]
        if not (missing or extra or self.gold.kind != "count" or self.number_is_exact):
            reasons.append(f"says {self.number_stated}, not {len(self.gold.papers)}")
        return tuple(filter(None, reasons))

    def _wrong_papers_of_fact(self) -> tuple[str, ...]:
        if not self.cites_right:
            return ("the right paper is not cited",)
        wrong = len(self.outcome.cited) - self.right_papers_cited
        return (f"{wrong} other papers are cited as well",) if wrong > self.right_papers_cited else ()

    def _missing_facts(self) -> tuple[str, ...]:
        missing = [fact[0] for fact, found in zip(self.gold.facts, self.facts_found, strict=True) if not found]
        return (f"not said: {'; '.join(missing)}",) if missing else ()

    def _false_quotations(self) -> tuple[str, ...]:
        false = self.verbatim.count(False)
        return (f"{false} of {len(self.verbatim)} quotations are not in the abstract",) if false else ()

    def _label(self, paper_id: str) -> str:
        return self.papers[paper_id].label


def comparable(text: str) -> str:
    """`text` without markup, in one case and with one kind of hyphen, space and apostrophe."""
    raised = _RAISED.sub(r"^\g<0>", readable(text))  # else 10³ would become 103
    return unicodedata.normalize("NFKC", raised).casefold().translate(_LIKE_HYPHENS)


def holds(content: str, variant: str) -> bool:
    """Whether comparable `content` has `variant` in it, and not merely as part of a longer number or word."""
    wanted = comparable(variant)
    before = r"(?<!\w)(?<!\d[.,])" if wanted[:1].isdigit() else r"(?<!\w)" if wanted[:1].isalpha() else ""
    after = r"(?!\d)(?![.,]\d)" if wanted[-1:].isdigit() else r"(?=s?(?!\w))" if wanted[-1:].isalpha() else ""
    return re.search(before + re.escape(wanted) + after, content) is not None


def _stands(quotation: str, abstract: str) -> bool:
    return quotation in abstract or quotation in readable(abstract)
