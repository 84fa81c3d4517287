"""Fixtures: a clean environment, the built-in collection indexed once, and two model servers: scripted, and real."""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from assistant import Assistant, build_assistant
from tests.fakes import ModelServer
from tests.real_model import RealModelServer, running_model

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# LangSmith, model keys and settings in a developer's shell must not reach the tests.
_FOREIGN = (
    *("ASSISTANT_", "OPENAI_", "GRADIO_", "CHROMA_", "TIKTOKEN_", "DATA_GYM_"),
    *("LANGCHAIN_", "LANGSMITH_", "OTEL_"),
)


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """A shell starts what runs in its background with interrupts ignored, and what the tests start would inherit it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No setting from outside, and a home of the test's own."""
    for name in list(os.environ):
        if name.startswith(_FOREIGN):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home" / "data"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def built_in_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the built-in collection; only to be read."""
    folder = tmp_path_factory.mktemp("built-in")
    build_assistant(data_dir=folder, model=None)
    return folder


@pytest.fixture(scope="session")
def assistant(built_in_data: Path) -> Assistant:
    """The assistant over the built-in collection, without a model."""
    return build_assistant(data_dir=built_in_data)


@pytest.fixture
def data_dir(built_in_data: Path, tmp_path: Path) -> Path:
    """A copy of the built-in collection that a test may change or break."""
    return Path(shutil.copytree(built_in_data, tmp_path / "data-copy"))


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """A real HTTP server that speaks the OpenAI protocol and answers what the test tells it to."""
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="session")
def real_model_server() -> Iterator[RealModelServer]:
    """A real HTTP server with a real, small model."""
    with running_model() as server:
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    """Chromium; for one module, as it keeps an event loop running that tests of coroutines cannot bear."""
    from tests.browser import chromium

    with chromium() as running:
        yield running
