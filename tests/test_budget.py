import hashlib
import socket
from pathlib import Path

import pytest

from assistant import budget
from assistant.budget import count_tokens, sources_that_fit

TEXT = "We study how language models count tokens, with $\\ell_2$ norms and 39.63% more. " * 5


@pytest.fixture(autouse=True)
def fresh_counter_and_no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    budget._counter.cache_clear()
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "cache"))

    def refuse(*arguments: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)


def test_without_a_vocabulary_the_count_is_rather_too_high(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "_OFFLINE", "not installed")
    assert len(TEXT) / 4 < count_tokens(TEXT) < len(TEXT)


def test_a_damaged_vocabulary_in_the_cache_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(budget, "_OFFLINE", "not installed")
    (tmp_path / "cache").mkdir()
    for file_name, _ in budget._VOCABULARIES.values():
        (tmp_path / "cache" / file_name).write_bytes(b"rubbish")
    assert count_tokens(TEXT) > 0


def test_cached_vocabularies_are_found_by_tiktoken_s_names() -> None:
    from tiktoken_ext import openai_public

    source = Path(openai_public.__file__).read_text("utf-8")
    for name, (file_name, sha256) in budget._VOCABULARIES.items():
        (url,) = {word.strip('",') for word in source.split() if word.strip('",').endswith(f"/{name}.tiktoken")}
        assert hashlib.sha1(url.encode()).hexdigest() == file_name
        assert sha256 in source


def test_special_tokens_in_a_text_are_only_text() -> None:
    assert count_tokens("<|endoftext|>" * 3) > 3


def test_sources_are_kept_whole_from_the_first() -> None:
    sources = ["word " * 100] * 5
    one = count_tokens(sources[0])
    assert sources_that_fit(sources, one * 3) == 3
    assert sources_that_fit(sources, one * 3 - 1) == 2
    assert sources_that_fit(sources, 10**6) == 5
    assert sources_that_fit([], 10) == 0
