"""A conversation as the text that the browser keeps, and back.

Papers stand in it once, whole, so that a conversation can still be read when they have left the collection. Of what was
found but not cited only the nearest is kept, which a refusal names.
"""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from assistant.ui.session import Conversation, Exchange
from vectorstore.types import Paper

_VERSION = 1
_NEAREST = 3
"""Passages kept of each answer beside those of cited papers."""
_PAPER = "paper_of"
"""Stands for a paper, with its id."""
_EXCHANGES = TypeAdapter(list[Exchange])


class _Kept(BaseModel):
    version: int
    id: str
    papers: dict[str, Any]
    exchanges: list[Any]


def kept(conversation: Conversation) -> str:
    """The conversation as JSON; empty when there is nothing to keep."""
    papers: dict[str, Any] = {}
    exchanges = [_plain(_shortened(each), papers) for each in conversation.exchanges if each.question.strip()]
    if not exchanges:
        return ""
    whole = {"version": _VERSION, "id": conversation.conversation_id, "papers": papers, "exchanges": exchanges}
    return json.dumps(whole, ensure_ascii=False)


def conversation_of(text: str) -> Conversation:
    """The conversation that `kept` gave. Raises `ValueError` for anything else."""
    try:
        read = _Kept.model_validate_json(text)
        if read.version != _VERSION:
            raise ValueError(f"A conversation of version {read.version} cannot be read.")
        exchanges = _EXCHANGES.validate_python(_filled(read.exchanges, read.papers))
    except (ValidationError, RecursionError, KeyError) as error:
        raise ValueError("This is no conversation that was kept.") from error
    return Conversation([_whole(exchange) for exchange in exchanges], read.id)


def _shortened(exchange: Exchange) -> Exchange:
    """Without what its answer says as well, and without what hardly anyone looks for again."""
    cited = {citation.paper.paper_id for citation in exchange.citations}
    passages = tuple(
        passage for rank, passage in enumerate(exchange.passages) if rank < _NEAREST or passage.paper.paper_id in cited
    )
    answer = exchange.answer and replace(exchange.answer, passages=())
    return replace(exchange, passages=passages, answer=answer, sentences=[] if answer else exchange.sentences)


def _whole(exchange: Exchange) -> Exchange:
    exchange.stop()
    if exchange.answer:
        exchange.sentences = list(exchange.answer.sentences)
        exchange.answer = replace(exchange.answer, passages=exchange.passages)
    return exchange


def _plain(value: Any, papers: dict[str, Any]) -> Any:
    if isinstance(value, Paper):
        papers.setdefault(value.paper_id, {name: each for name, each in vars(value).items() if each})
        return {_PAPER: value.paper_id}
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name), papers) for field in fields(value)}
    if isinstance(value, Mapping):
        return {name: _plain(each, papers) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each, papers) for each in value]
    return value


def _filled(value: Any, papers: Mapping[str, Any]) -> Any:
    if isinstance(value, dict) and _PAPER in value:
        return papers[value[_PAPER]]
    if isinstance(value, dict):
        return {name: _filled(each, papers) for name, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, papers) for each in value]
    return value
