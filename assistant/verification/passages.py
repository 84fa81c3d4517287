"""An abstract -> its sentences as passages, each with what a reader knows of it: whose work it speaks of."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from assistant.own_names import own_names
from assistant.verification.terms import Clause, clauses_of, terms_of
from assistant.wording import any_of, pattern
from vectorstore.types import Paper

_OWN_WORK = pattern(rf"\b{any_of('we our this_work this_paper the_proposed')}\b")
_REFERS_BACK = pattern(rf"\b{any_of('this these such')}\b")


@dataclass(frozen=True)
class Passage:
    """A sentence of an abstract, without markup."""

    text: str
    own_names: tuple[str, ...] = ()
    """What the abstract calls its own work."""
    before: str = ""
    """The sentence before it."""
    is_background: bool = False
    """Whether it stands before the abstract comes to its own work."""

    @cached_property
    def own(self) -> frozenset[str]:
        """The terms of its own names; any sentence of the abstract may be said of them."""
        return frozenset(term for name in self.own_names for term in terms_of(name))

    @cached_property
    def clauses(self) -> list[Clause]:
        """Its clauses."""
        return clauses_of(self.text)

    @cached_property
    def order(self) -> list[str]:
        """Its terms as they come."""
        return terms_of(self.text)

    @cached_property
    def terms(self) -> frozenset[str]:
        """Its terms."""
        return frozenset(self.order)

    def shared(self, sentence: str) -> float:
        """The part of the terms of `sentence`, apart from the paper's own names, that stand here.

        Those of the sentence before count when this one refers back to it ("this issue") and has the greater part.
        """
        wanted = set(terms_of(sentence)) - self.own
        shared = wanted & self.terms
        if 2 * len(shared) >= len(wanted) and _REFERS_BACK.search(self.text):
            shared |= wanted & set(terms_of(self.before))
        return len(shared) / len(wanted) if wanted else 0.0


def passages_of(paper: Paper, sentences: Sequence[str]) -> list[Passage]:
    """One passage for each of the readable `sentences` of the abstract of `paper`."""
    names = tuple(own_names(paper))
    own = next((row for row, text in enumerate(sentences) if speaks_of_own_work(text, names)), 0)
    return [Passage(text, names, sentences[row - 1] if row else "", row < own) for row, text in enumerate(sentences)]


def speaks_of_own_work(text: str, own_names: Sequence[str]) -> bool:
    """Whether `text` names what the paper proposes, or says "we"."""
    return _OWN_WORK.search(text) is not None or any(name in text for name in own_names)
