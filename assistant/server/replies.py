"""Answers as the OpenAI API shapes them, whole or in chunks."""

import time
import uuid
from collections.abc import Iterator
from typing import Any

from assistant.blocks import blocks_of, markdown_of
from assistant.server.requests import EXTENSION
from assistant.types import Answer, Citation, Sentence


class Reply:
    """The reply to one request."""

    def __init__(self, model: str) -> None:
        self.model = model
        self._head = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": model}
        self._shown: list[Sentence] = []
        self._sent = ""

    def whole(self, answer: Answer) -> dict[str, Any]:
        """The reply to a request that is not streamed."""
        message = {"role": "assistant", "content": answer.text, "refusal": None, **_about(answer)}
        return {
            **self._head,
            "object": "chat.completion",
            "system_fingerprint": answer.fingerprint,
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
            "usage": _usage(answer),
        }

    def first_chunk(self) -> dict[str, Any]:
        """Begins a stream."""
        return self._chunk({"role": "assistant", "content": ""})

    def chunk(self, sentence: Sentence) -> dict[str, Any] | None:
        """What the sentence adds to the text; None when it is not shown, or its table has to be whole first."""
        if not sentence.shown:
            return None
        self._shown.append(sentence)
        if blocks_of(self._shown)[-1].shape == "table":
            return None
        return self._rest_of(markdown_of(self._shown, lambda each: each.markdown))

    def last_chunks(self, answer: Answer, *, with_usage: bool) -> Iterator[dict[str, Any]]:
        """Ends a stream: what is left of the text, then what is to be known of the answer."""
        if rest := self._rest_of(answer.text):
            yield rest
        yield self._chunk(_about(answer), finish_reason="stop")
        if with_usage:
            yield {**self._chunk({}), "choices": [], "usage": _usage(answer)}

    def _rest_of(self, text: str) -> dict[str, Any] | None:
        rest, self._sent = text[len(self._sent) :], text
        return self._chunk({"content": rest}) if rest else None

    def _chunk(self, delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return {**self._head, "object": "chat.completion.chunk", "choices": [choice]}


def _about(answer: Answer) -> dict[str, Any]:
    return {"annotations": list(_annotations(answer)), EXTENSION: answer.to_dict()}


def _annotations(answer: Answer) -> Iterator[dict[str, Any]]:
    """One for each quotation, at the source number in the text; `quote` and `verdict` are ours."""
    text, end = answer.text, 0
    for sentence in answer.sentences:
        if not sentence.shown:
            continue
        written = sentence.markdown if sentence.markdown in text[end:] else sentence.markdown.replace("|", "\\|")
        end = text.index(written, end) + len(written)
        marks = [f"[{number}]" for number in dict.fromkeys(citation.number for citation in sentence.citations)]
        for citation in sentence.citations:
            start = text.index(f"[{citation.number}]", end - len(" ".join(marks)))
            yield {
                "type": "url_citation",
                "url_citation": {
                    "start_index": start,
                    "end_index": start + len(f"[{citation.number}]"),
                    "title": citation.paper.title or citation.paper.label,
                    "url": _address(citation),
                    "quote": citation.quote,
                    "verdict": sentence.verdict,
                },
            }


def _address(citation: Citation) -> str:
    """The paper's; where none is known, a name that nothing fetches but that tells papers apart."""
    return citation.paper.urls[0] if citation.paper.urls else f"urn:paper:{citation.paper.paper_id}"


def _usage(answer: Answer) -> dict[str, int]:
    """Of the chat model; none when it was not asked."""
    read, written = (answer.usage.input_tokens, answer.usage.output_tokens) if answer.usage else (0, 0)
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
