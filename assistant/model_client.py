"""Requests to a chat model: asked again while it is busy, ended in time, and never endless."""

import math
import time
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from threading import Event
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage

from assistant.errors import ModelBusy, ModelError
from assistant.models import chunks_until, model_errors, without_thoughts
from assistant.types import Usage

_PAUSES_SECONDS = (0.5, 2.0)
_LONGEST_TOKEN = 16
"""Characters; a chunk of a stream is one token or more."""


@dataclass(frozen=True)
class Said:
    """A whole reply, without what the model thought aloud."""

    text: str
    usage: Usage | None


@dataclass(frozen=True)
class ModelClient:
    """A chat model, and how much and how long it may write in reply to one request."""

    model: BaseChatModel
    name: str
    answer_tokens: int
    timeout_seconds: float
    traced: bool = False
    """Whether LangSmith is told of each request."""

    def stream(self, messages: list[BaseMessage], stop: Event) -> Generator[Any]:
        """The model's chunks; a server that is busy is asked again when it says, while there is time.

        When the text has begun, a failure ends it, as what is written cannot be taken back; before, it is raised as
        `ModelError`.
        """
        deadline = time.monotonic() + self.timeout_seconds
        begun = False
        for pause in (*_PAUSES_SECONDS, self.timeout_seconds):
            try:
                with closing(self._chunks(messages, deadline, stop)) as chunks:
                    for chunk in chunks:
                        begun = begun or bool(chunk.text)
                        yield chunk
                return
            except ModelError as error:
                if begun:
                    return
                wait = max(pause, error.wait_seconds) if isinstance(error, ModelBusy) else math.inf
                if time.monotonic() + wait > deadline:
                    raise
                if stop.wait(wait):
                    return

    def said(self, messages: list[BaseMessage], stop: Event) -> Said:
        """The reply, as far as it came. Raises `ModelError` when there is none."""
        text, usage = "", None
        with closing(self.stream(messages, stop)) as chunks:
            for chunk in chunks:
                text += chunk.text
                usage = usage_in(chunk) or usage
        return Said(without_thoughts(text).strip(), usage)

    def _chunks(self, messages: list[BaseMessage], deadline: float, stop: Event) -> Generator[Any]:
        """Ends also when the model writes more than it was asked to: some servers do not know that limit."""
        room = self.answer_tokens
        read = chunks_until(deadline, self.model, messages, stop, traced=self.traced)
        with model_errors(self.name), closing(read) as chunks:
            for chunk in chunks:
                yield chunk
                room -= max(bool(chunk.text), len(chunk.text) // _LONGEST_TOKEN)
                if room < 0:
                    return


def usage_in(chunk: Any) -> Usage | None:
    """What a chunk says of the tokens of its request; most say nothing."""
    found = chunk.usage_metadata
    return Usage(input_tokens=found["input_tokens"], output_tokens=found["output_tokens"]) if found else None
