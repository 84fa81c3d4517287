"""Which sentences of an abstract say that its code can be had."""

import re

from vectorstore.addresses import urls_in
from vectorstore.markup import readable
from vectorstore.sentences import sentence_spans
from vectorstore.types import Paper, Span

_TELLS = re.compile(
    r"\bcodes?\b.*\b(?:available|released?|open|here|at)\b|\brelease\b.*\bcode\b|\bopen-?sourced?\b", re.IGNORECASE
)
_HOSTS = ("github.", "gitlab.", "codeberg.", "bitbucket.")
_MAY_TELL = re.compile(r"\bcode|open-?source|git(?:hub|lab)|codeberg|bitbucket", re.IGNORECASE)


def span_on_code(paper: Paper) -> Span | None:
    """The last sentence that says where the code is or that there is some."""
    if not _MAY_TELL.search(paper.abstract):
        return None
    spans = sentence_spans(paper.abstract)
    return next((span for span in reversed(spans) if _tells_of_code(readable(span.of(paper.abstract)))), None)


def has_code(paper: Paper) -> bool:
    """Whether the abstract or an address of the paper leads to code."""
    return any(_is_repository(url) for url in paper.urls) or span_on_code(paper) is not None


def _tells_of_code(sentence: str) -> bool:
    return bool(_TELLS.search(sentence)) or any(_is_repository(url) for url in urls_in(sentence))


def _is_repository(url: str) -> bool:
    return any(host in url for host in _HOSTS)
