"""Visitors of the server, one class for each door: each holds one conversation, and gives what it was told."""

import json
import uuid
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import httpx
from mcp import Client
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionMessageParam

from assistant.server.requests import EXTENSION
from assistant.types import Answer
from assistant.ui.kept import conversation_of

_SECONDS = 120.0
"""After which an answer counts as lost."""
_AFTER_ASKING = ("give_back", "suggest", "remembered")
"""What a page has done after an answer."""


@dataclass(frozen=True)
class Told:
    """What a visitor was told: the same at each door."""

    text: str
    cited: tuple[tuple[int, str, str], ...]
    """Source number, paper and quotation."""

    @classmethod
    def by(cls, answer: Answer) -> "Told":
        """An answer."""
        return cls(answer.text, tuple((each.number, each.paper.paper_id, each.quote) for each in answer.citations))

    @classmethod
    def of(cls, text: str, citations: Iterable[Mapping[str, Any]]) -> "Told":
        """An answer as `Answer.to_dict` has it."""
        return cls(text, tuple((each["number"], each["paper_id"], each["quote"]) for each in citations))


class Visit(Protocol):
    """One conversation."""

    async def ask(self, question: str) -> Told:
        """What the server answers."""
        ...


class Streamed:
    """By the OpenAI API, as it comes."""

    def __init__(self, client: AsyncOpenAI, model: str) -> None:
        self._client = client
        self._model = model
        self._said: list[ChatCompletionMessageParam] = []

    async def ask(self, question: str) -> Told:
        """The text of the chunks; the client sends back texts alone."""
        self._said.append({"role": "user", "content": question})
        chunks = await self._client.chat.completions.create(model=self._model, messages=self._said, stream=True)
        text, whole = "", dict[str, Any]()
        async with chunks:
            async for chunk in chunks:
                delta = chunk.choices[0].delta
                text += delta.content or ""
                whole = (delta.model_extra or {}).get(EXTENSION, whole)
        self._said.append({"role": "assistant", "content": text})
        return Told.of(text, whole["citations"])


class Whole(Streamed):
    """By the OpenAI API, at once."""

    async def ask(self, question: str) -> Told:
        """The text of the message."""
        self._said.append({"role": "user", "content": question})
        completion = await self._client.chat.completions.create(model=self._model, messages=self._said)
        message = completion.choices[0].message
        self._said.append({"role": "assistant", "content": message.content})
        return Told.of(message.content or "", (message.model_extra or {})[EXTENSION]["citations"])


class ByMcp:
    """By the tool "ask"."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._said: list[dict[str, Any]] = []

    async def ask(self, question: str) -> Told:
        """The text and the citations of the tool's data."""
        result = await self._client.call_tool("ask", {"question": question, "history": self._said})
        data = result.structured_content
        if result.is_error or not isinstance(data, dict):
            raise RuntimeError(str(result.content)[:500])
        answer = {"role": "assistant", "content": data["answer"], "citations": data["citations"]}
        self._said += [{"role": "user", "content": question}, answer]
        return Told.of(data["answer"], data["citations"])


@dataclass(frozen=True)
class Action:
    """What a page can have done."""

    number: int
    inputs: int
    """How many values it takes; those of the session are the server's."""


class Page:
    """By the chat, as its page in a browser does: actions join Gradio's queue, and their results come as events."""

    def __init__(self, client: httpx.AsyncClient, actions: Mapping[str, Action], at_load: Iterable[Action]) -> None:
        self._client = client
        self._actions = actions
        self._at_load = at_load
        self._session = uuid.uuid4().hex

    @asynccontextmanager
    async def opened(self) -> AsyncIterator["Page"]:
        """The page, loaded; the server sees it leave at the end."""
        (await self._client.get("")).raise_for_status()
        async with self._client.stream("GET", f"gradio_api/heartbeat/{self._session}"):
            await self._do(*((action, ()) for action in self._at_load))
            yield self

    async def ask(self, question: str) -> Told:
        """The last answer of the conversation that the page gives its browser to keep."""
        await self._do((self._actions["ask"], (question,)))
        *_, remembered = await self._do(*((self._actions[name], ("",)) for name in _AFTER_ASKING))
        last = conversation_of(remembered[0]).exchanges[-1]
        if last.answer is None:
            raise RuntimeError(str(last.notice or last.phase))
        return Told.by(last.answer)

    async def _do(self, *does: tuple[Action, tuple[Any, ...]]) -> list[list[Any]]:
        """The values that each action gives at its end."""
        joined = [await self._join(action, values) for action, values in does]
        ended: dict[str, list[Any]] = {}
        stream = self._client.stream("GET", "gradio_api/queue/data", params={"session_hash": self._session})
        async with stream as response:
            async for line in response.aiter_lines():
                event = json.loads(line.removeprefix("data: ")) if line.startswith("data: ") else {}
                if event.get("msg") == "process_completed":
                    if not event["success"]:
                        raise RuntimeError(str(event["output"])[:500])
                    ended[event["event_id"]] = event["output"]["data"]
        return [ended[event_id] for event_id in joined]

    async def _join(self, action: Action, values: tuple[Any, ...]) -> str:
        data = [*values, *[None] * action.inputs][: action.inputs]
        request = {"data": data, "fn_index": action.number, "session_hash": self._session, "event_data": None}
        response = await self._client.post("gradio_api/queue/join", json=request)
        response.raise_for_status()
        return str(response.json()["event_id"])


class Doors:
    """All doors of one server, by name."""

    NAMES = ("streamed", "whole", "MCP", "page")

    def __init__(self, address: str, model: str, client: httpx.AsyncClient, openai: AsyncOpenAI) -> None:
        """Within `doors`."""
        self._address = address
        self._model = model
        self._client = client
        self._openai = openai
        self._actions: dict[str, Action] = {}
        self._at_load: list[Action] = []

    async def find_actions(self) -> None:
        """Reads from the page what it can do."""
        config = (await self._client.get("config")).raise_for_status().json()
        for each in config["dependencies"]:
            action = Action(each["id"], len(each["inputs"]))
            self._actions.setdefault(each["api_name"], action)
            if each["backend_fn"] and any(target[1] == "load" for target in each["targets"]):
                self._at_load.append(action)

    def page(self) -> Page:
        """A page that is not loaded yet."""
        return Page(self._client, self._actions, self._at_load)

    @asynccontextmanager
    async def visit(self, door: str) -> AsyncIterator[Visit]:
        """A new conversation by that door."""
        if door == "page":
            async with self.page().opened() as page:
                yield page
        elif door == "MCP":
            async with Client(f"{self._address}/mcp", read_timeout_seconds=_SECONDS) as client:
                yield ByMcp(client)
        else:
            yield {"streamed": Streamed, "whole": Whole}[door](self._openai, self._model)


@asynccontextmanager
async def doors(address: str, model: str) -> AsyncIterator[Doors]:
    """The doors of the server at that address; `model` is its name at the OpenAI API."""
    anybody = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    async with (
        httpx.AsyncClient(base_url=f"{address}/", timeout=_SECONDS, limits=anybody) as client,
        AsyncOpenAI(base_url=f"{address}/v1", api_key="none", timeout=_SECONDS, max_retries=0) as openai,
    ):
        found = Doors(address, model, client, openai)
        await found.find_actions()
        yield found
