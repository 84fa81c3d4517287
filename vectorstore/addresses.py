"""Addresses in text."""

import re
from urllib.parse import quote

from vectorstore.visible import visible

_URL = re.compile(
    r"https?://[^\s{}()\[\]<>\"'*|\\]+"
    r"|(?<![\w/.@-])(?:www\.)?(?:github\.com|gitlab\.com|huggingface\.co|arxiv\.org|doi\.org|zenodo\.org)/[^\s{}()\[\]<>\"'*|\\]+"
)
_ADDRESS_MARKS = ("://", ".com/", ".co/", ".org/")
"""Without one of these there is no address."""
_STAY = "%/:=&?~#+!$,;'@()*[]"
"""Marks that are part of an address; what else is neither letter nor digit is escaped in it."""


def urls_in(text: str) -> tuple[str, ...]:
    """The addresses in `text`, in order, each once, without the punctuation after them."""
    if "/" not in text or not any(mark in text for mark in _ADDRESS_MARKS):
        return ()
    words = (word for word in text.split() if "/" in word)
    found = (match.group().rstrip(".,;:!?") for word in words for match in _URL.finditer(word))
    return tuple(dict.fromkeys(url if url.startswith("http") else f"https://{url}" for url in found))


def escaped_address(text: str) -> str:
    """An address, or a DOI, in which nothing ends a field, an entry or a link: "%7D" for a brace."""
    return quote("".join(visible(text).split()), safe=_STAY)
