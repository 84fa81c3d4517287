"""The labels of a collection, and which of them stand in a text."""

from collections.abc import Iterator, Mapping

from vectorstore.names import TOKEN

_LONGEST = 12
"""Words of a label that is looked for; a longer one is nobody's wording."""
_SHORT_CAPITALS = 4
"""A label of so few capitals could also be a word ("TOP", "PAR")."""


class LabelIndex:
    """Labels are compared by their words, in any case; short capitals only as they are ("TOP", not "top")."""

    def __init__(self, paper_ids: Mapping[str, str]) -> None:
        """`paper_ids` by label."""
        self._paper_ids = paper_ids
        self._labels = {_key(label): label for label in paper_ids}

    def __len__(self) -> int:
        return len(self._paper_ids)

    def __contains__(self, label: object) -> bool:
        return label in self._paper_ids

    def __iter__(self) -> Iterator[str]:
        return iter(self._paper_ids)

    def in_text(self, text: str, *, longest: int = _LONGEST) -> dict[str, str]:
        """paper_id by label, of the labels of at most `longest` words that stand in `text`, in their order there."""
        words = [match.group().removesuffix("'s").removesuffix("’s") for match in TOKEN.finditer(text)]
        phrases = (
            " ".join(words[at : at + length])
            for at in range(len(words))
            for length in range(1, min(longest, len(words) - at) + 1)
        )
        found = ((phrase, self._labels.get(phrase.casefold())) for phrase in phrases)
        return {label: self._paper_ids[label] for phrase, label in found if label and _may_mean(phrase, label)}


def _key(label: str) -> str:
    return " ".join(TOKEN.findall(label)).casefold() or label.casefold()


def _may_mean(phrase: str, label: str) -> bool:
    return phrase == label or not (label.isupper() and len(label) <= _SHORT_CAPITALS)
