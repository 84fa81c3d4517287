"""`/v1`: the assistant as the OpenAI API has chat models.

A model is a collection and a writer, such as "icml2026/quotation". Of a request, the messages count; an answer has its
citations as annotations, and whole, as `Answer.to_dict()` has it, in the field `abstract_assistant` of the message.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from functools import partial
from typing import Any

from anyio import to_thread
from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.responses import Response

from assistant.app import Assistants
from assistant.chain import Assistant
from assistant.errors import QuestionError
from assistant.server.connection import unless_gone
from assistant.server.errors import UnknownModel, error_of
from assistant.server.replies import Reply
from assistant.server.requests import CompletionRequest
from assistant.server.told import ToldAnswers
from assistant.types import Answer, AnswerFinished, Event, SentenceChecked
from assistant.visitors import Waiting

Events = AsyncGenerator[Event | Waiting]


def completions(assistants: Assistants) -> APIRouter:
    """The routes. What goes wrong before an answer begins is an error that `handlers` make a reply of."""
    api, told = APIRouter(prefix="/v1"), ToldAnswers()

    @api.get("/models")
    async def models() -> dict[str, Any]:
        names = await to_thread.run_sync(assistants.names)
        data = [_model(f"{name}/{writer}") for name in names for writer in assistants.writers]
        return {"object": "list", "data": data}

    @api.get("/models/{model:path}")
    async def model(model: str) -> dict[str, Any]:
        await to_thread.run_sync(_assistant, assistants, model)
        return _model(model)

    @api.post("/chat/completions")
    async def complete(request: Request, asked: CompletionRequest) -> Response:
        assistant = await to_thread.run_sync(_assistant, assistants, asked.model)
        question, history = asked.question_and_history(told)
        assistants.visitors.questions.count(request.scope["visitor"])
        events = assistants.visitors.answered(partial(assistant.astream, question, history))
        if asked.stream:
            first = await unless_gone(request, anext(events))  # what is wrong with the question the status can tell
            chunks = _chunks(first, events, Reply(asked.model), told, with_usage=asked.wants_usage)
            return StreamingResponse(chunks, media_type="text/event-stream", headers={"Cache-Control": "no-cache"})
        answer = await unless_gone(request, _answer(events))
        told.keep(asked.model, answer)
        return JSONResponse(Reply(asked.model).whole(answer))

    @api.api_route("/{path:path}", methods=["GET", "POST", "PUT", "PATCH", "DELETE"])
    async def unknown(path: str) -> None:
        raise HTTPException(
            404, "There is no such address here, only /v1/chat/completions (POST) and /v1/models (GET)."
        )

    return api


def _assistant(assistants: Assistants, model: str) -> Assistant:
    """The assistant that goes by the name of a model: collections with commas between, and perhaps a writer."""
    names, _, writer = model.partition("/")
    try:
        return assistants.chosen([name.strip() for name in names.split(",")], writer=writer)
    except QuestionError as error:
        raise UnknownModel(error.message, error.hint) from error


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "abstract-assistant"}


async def _answer(events: Events) -> Answer:
    async with aclosing(events):
        async for event in events:
            if isinstance(event, AnswerFinished):
                return event.answer
    raise RuntimeError("the events end without an answer")


async def _chunks(
    first: Event | Waiting, events: Events, reply: Reply, told: ToldAnswers, *, with_usage: bool
) -> AsyncIterator[str]:
    """The answer as server-sent events; while it waits for its turn, comments say how many are before it."""
    try:
        async with aclosing(events):
            yield _data(reply.first_chunk())
            async for event in _all(first, events):
                if isinstance(event, Waiting):
                    yield f": waiting, {event.ahead} before\n\n"
                elif isinstance(event, SentenceChecked):
                    if chunk := reply.chunk(event.sentence):
                        yield _data(chunk)
                elif isinstance(event, AnswerFinished):
                    told.keep(reply.model, event.answer)
                    for chunk in reply.last_chunks(event.answer, with_usage=with_usage):
                        yield _data(chunk)
    except Exception as error:
        yield _data(error_of(error).body)
    yield "data: [DONE]\n\n"


async def _all(first: Event | Waiting, events: Events) -> AsyncIterator[Event | Waiting]:
    yield first
    async for event in events:
        yield event


def _data(value: dict[str, Any]) -> str:
    return f"data: {json.dumps(value)}\n\n"
