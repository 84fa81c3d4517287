"""The assistant for other people's LangChain chains: as a `Runnable`, and its search as a `BaseRetriever`."""

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any, TypedDict

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import ConfigDict

from assistant.chain import Assistant
from assistant.types import Answer, Event, passage_dict


class _Required(TypedDict):
    question: str


class AssistantInput(_Required, total=False):
    """A question, and the conversation before it as `Assistant.ask` takes it."""

    history: list[dict[str, Any]]


class AssistantRunnable(Runnable[str | AssistantInput, Answer]):
    """`invoke`, `batch` and their asynchronous twins give an `Answer`; `stream` and `astream` give its events."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant

    def invoke(self, input: str | AssistantInput, config: RunnableConfig | None = None, **kwargs: Any) -> Answer:
        """The whole answer."""
        return self._call_with_config(self._answer, input, config)

    async def ainvoke(self, input: str | AssistantInput, config: RunnableConfig | None = None, **kwargs: Any) -> Answer:
        """The whole answer, without blocking the event loop; when it is cancelled, the request to the model ends."""
        return await self._acall_with_config(self._aanswer, input, config)

    def stream(  # type: ignore[override]  # the events of an answer, where LangChain has pieces of the output
        self, input: str | AssistantInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Event]:
        """What `Assistant.stream` gives."""
        return self._assistant.stream(*_question_and_history(input))

    async def astream(  # type: ignore[override]
        self, input: str | AssistantInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Event]:
        """What `stream` gives, without blocking the event loop; when it is closed, the request to the model ends."""
        async with aclosing(self._assistant.astream(*_question_and_history(input))) as events:
            async for event in events:
                yield event

    def transform(
        self, input: Iterator[str | AssistantInput], config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Answer]:
        """In a chain that is streamed, what comes after the assistant is given the whole answer."""
        for given in input:
            yield self.invoke(given, config)

    async def atransform(
        self, input: AsyncIterator[str | AssistantInput], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Answer]:
        """The same, without blocking the event loop."""
        async for given in input:
            yield await self.ainvoke(given, config)

    def _answer(self, input: str | AssistantInput) -> Answer:
        return self._assistant.ask(*_question_and_history(input))

    async def _aanswer(self, input: str | AssistantInput) -> Answer:
        return await self._assistant.aask(*_question_and_history(input))


class PaperRetriever(BaseRetriever):
    """The assistant's search: passages as documents, best first, one per paper."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    assistant: Assistant
    k: int = 10

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [
            Document(
                page_content=passage.text,
                metadata={
                    "label": passage.paper.label,
                    "title": passage.paper.title,
                    "venue": passage.paper.venue,
                    "year": passage.paper.year,
                    "urls": list(passage.paper.urls),
                    **{
                        key: value
                        for key, value in passage_dict(passage, None).items()
                        if key not in ("text", "number", "words", "why")
                    },
                },
            )
            for passage in self.assistant.search(query, self.k)
        ]


def _question_and_history(given: str | AssistantInput) -> tuple[str, list[dict[str, Any]]]:
    return (given, []) if isinstance(given, str) else (given["question"], given.get("history", []))
