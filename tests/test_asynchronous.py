"""Answers on an event loop: the same ones, and none that goes on when nobody waits for it."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from assistant import Answer, Assistant, build_assistant
from assistant.errors import QuestionError
from assistant.runnable import AssistantRunnable
from assistant.types import SentenceChecked
from tests.fakes import ModelServer


def test_the_asynchronous_twins_give_the_same(assistant: Assistant) -> None:
    async def ask() -> tuple[list[object], Answer]:
        events = [type(event) async for event in assistant.astream("What is LiftQuant?")]
        return events, await assistant.aask("What is it about?", [{"role": "user", "content": "What is LiftQuant?"}])

    events, answer = asyncio.run(ask())
    assert events == [type(event) for event in assistant.stream("What is LiftQuant?")]
    assert answer.citations[0].paper.label == "LiftQuant"
    with pytest.raises(QuestionError):
        asyncio.run(assistant.aask(" "))


@pytest.mark.parametrize("ends", ["the stream is closed", "the answer is cancelled", "the chain is cancelled"])
def test_an_asynchronous_answer_that_nobody_waits_for_ends_the_request_to_the_model(
    built_in_data: Path, model_server: ModelServer, ends: str
) -> None:
    model_server.says("LiftQuant fits on a 24GB GPU [1]. " * 60, seconds_between_words=0.05)
    writer = build_assistant(data_dir=built_in_data, **model_server.settings)

    async def ask() -> None:
        if ends == "the stream is closed":
            async with aclosing(writer.astream("Which GPU does LiftQuant fit on?")) as events:
                while not isinstance(await anext(events), SentenceChecked):
                    pass
            return
        answer = AssistantRunnable(writer).ainvoke if ends == "the chain is cancelled" else writer.aask
        asked = asyncio.create_task(answer("Which GPU does LiftQuant fit on?"))
        while not model_server.requests:
            await asyncio.sleep(0.01)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked

    asyncio.run(ask())
    assert model_server.client_left.wait(5)
