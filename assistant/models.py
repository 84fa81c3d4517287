"""`"provider:model"` -> LangChain chat model, its reply within a time limit, and its errors in our words."""

import asyncio
import math
import re
import threading
import time
from collections.abc import AsyncGenerator, Generator, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from queue import Empty, SimpleQueue
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langsmith import tracing_context
from pydantic import SecretStr

from assistant.errors import ModelBusy, ModelError, ModelRefused, ModelUnreachable, SettingsError, UserFacingError

_THOUGHTS = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_SECONDS_TO_STOP = 0.05
"""How long a reply that is stopped may still be waited for."""


def load_chat_model(
    name: str, *, api_key: SecretStr | None, base_url: str | None, timeout_seconds: float, answer_tokens: int
) -> BaseChatModel:
    """The chat model of that name; key and address are for "openai:...", other providers read their own variables."""
    provider, colon, model = name.partition(":")
    if not colon or not provider or not model:
        raise SettingsError(
            f"ASSISTANT_MODEL is {name!r}, which is not of the form 'provider:model'.",
            "Set it to, for example, openai:gpt-5-mini, or leave it out to get quotations.",
        )
    if provider == "openai":
        return _openai(model, api_key, base_url, timeout_seconds, answer_tokens)
    return _other(provider, model, timeout_seconds, answer_tokens)


def _openai(
    model: str, api_key: SecretStr | None, base_url: str | None, timeout_seconds: float, answer_tokens: int
) -> BaseChatModel:
    if api_key is None and base_url is None:
        raise SettingsError(
            f"The model 'openai:{model}' needs a key, and OPENAI_API_KEY is not set.",
            "Set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own, or leave ASSISTANT_MODEL out.",
        )
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(
        model=model,
        api_key=api_key or SecretStr("not-needed"),
        base_url=base_url,
        timeout=timeout_seconds,  # LangChain's default is to wait for ever
        http_async_client=_own_client(timeout_seconds),
        max_retries=0,  # its retries know no deadline; `ModelWriter` has its own
        max_completion_tokens=answer_tokens,
        stream_usage=True,
        use_responses_api=False,  # compatible servers have chat completions only
    )


def _own_client(timeout_seconds: float) -> Any:
    """An HTTP client that keeps no connection, as nobody closes it; LangChain's is shared with other event loops."""
    from openai import DefaultAsyncHttpxClient

    return DefaultAsyncHttpxClient(timeout=timeout_seconds, headers={"Connection": "close"})


def _other(provider: str, model: str, timeout_seconds: float, answer_tokens: int) -> BaseChatModel:
    from langchain.chat_models import init_chat_model

    try:
        return init_chat_model(model, model_provider=provider, timeout=timeout_seconds, max_tokens=answer_tokens)
    except ImportError as error:
        raise SettingsError(
            f"The package for the model provider {provider!r} is not installed.",
            f"Run: pip install langchain-{provider}",
        ) from error
    except ValueError:
        raise SettingsError(
            f"The model provider {provider!r} cannot be used.", "Check its name and its key; or use openai:..."
        ) from None  # the cause may hold a key


def without_thoughts(reply: str) -> str:
    """A reply, or the beginning of one, without what the model thought aloud in tags."""
    return _THOUGHTS.sub(" ", reply)


def reply_of(model: BaseChatModel, name: str, prompt: str) -> AIMessage:
    """What the model replies to one message. Raises `ModelError`. LangSmith is never told of it."""
    with model_errors(name), tracing_context(enabled=False):
        return model.invoke([HumanMessage(prompt)])


def chunks_until(
    deadline: float, model: BaseChatModel, messages: Sequence[BaseMessage], stop: threading.Event, *, traced: bool
) -> Generator[Any]:
    """What `model` streams in reply, up to where `stop` is set; `TimeoutError` at `deadline` (`time.monotonic()`).

    Only when it is `traced` is LangSmith told of the request: LangChain would do so by a variable that was perhaps set
    for another program.

    The request is made on an event loop of its own, where it can be ended at once, whatever the server does. A client's
    own time-out starts anew with every byte, also with those that only keep a line open.
    """
    read: SimpleQueue[Any] = SimpleQueue()
    with tracing_context(enabled=traced):  # which the request, as all of this context, takes over
        reading = asyncio.run_coroutine_threadsafe(_read_chunks(model, messages, read), _event_loop())
    try:
        while not stop.is_set():
            if (left := deadline - time.monotonic()) <= 0:
                raise TimeoutError
            with suppress(Empty):
                item = read.get(timeout=min(left, _SECONDS_TO_STOP))
                if item is None:
                    return
                if isinstance(item, Exception):
                    raise item
                yield item
    finally:
        reading.cancel()


async def _read_chunks(model: BaseChatModel, messages: Sequence[BaseMessage], into: SimpleQueue[Any]) -> None:
    """Puts each chunk `into` the queue, then the error that ended them or None."""
    task = cast("asyncio.Task[None]", asyncio.current_task())
    try:
        async with aclosing(cast("AsyncGenerator[Any]", model.astream(list(messages)))) as chunks:
            async for chunk in chunks:
                into.put(chunk)
                if task.cancelling():  # told only here when it came with a chunk: `asyncio.wait_for` of 3.11 loses it
                    return
    except Exception as error:
        into.put(error)
    else:
        into.put(None)


@cache
def _event_loop() -> asyncio.AbstractEventLoop:
    """One for all requests, as a client's open connections belong to the loop that opened them."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="models", daemon=True).start()
    return loop


@contextmanager
def model_errors(name: str) -> Iterator[None]:
    """Turns what a provider's client raises into a `ModelError`, without its text, which may hold part of a key."""
    try:
        yield
    except UserFacingError:
        raise
    except Exception as error:
        raise _translated(name, error) from error


def _translated(name: str, error: Exception) -> ModelError:
    kinds = {kind.__name__ for kind in type(error).__mro__}
    status = getattr(error, "status_code", None)
    if kinds & {"AuthenticationError", "PermissionDeniedError"}:
        return ModelRefused(
            f"The server of {name} does not accept the key.",
            f"Check {'OPENAI_API_KEY' if _is_openai(name) else 'its key'}.",
        )
    if "NotFoundError" in kinds:
        return ModelRefused(f"The server knows no model {name}.", f"Check ASSISTANT_MODEL and {_address(name)}.")
    if "RateLimitError" in kinds:
        wait = _retry_after(error)
        return ModelBusy(
            f"The server of {name} takes no more requests now.",
            f"Try again in {f'{math.ceil(wait)} s' if wait else 'a little while'}, or check your plan and quota.",
            wait_seconds=wait,
        )
    if any("Timeout" in kind for kind in kinds):
        return ModelUnreachable(f"{name} did not answer in time.", "Try again, or raise ASSISTANT_TIMEOUT_SECONDS.")
    if any("Connect" in kind for kind in kinds):
        return ModelUnreachable(
            f"The server of {name} cannot be reached.", f"Check that it runs, and {_address(name)}."
        )
    if isinstance(status, int) and status < 500:
        return ModelRefused(
            f"The server of {name} refused the request (status {status}).", "Check the model's settings."
        )
    if isinstance(status, int):
        return ModelBusy(
            f"The server of {name} failed (status {status}).",
            "Try again in a little while.",
            wait_seconds=_retry_after(error),
        )
    return ModelError(
        f"{name} failed ({type(error).__name__}).", "Try again; without ASSISTANT_MODEL you get quotations."
    )


def _is_openai(name: str) -> bool:
    return name.startswith("openai:")


def _address(name: str) -> str:
    return "OPENAI_BASE_URL" if _is_openai(name) else "its address"


def _retry_after(error: Exception) -> float:
    """The seconds that the server asks to wait, which it may also give as a date; 0 when it does not say."""
    value = getattr(getattr(error, "response", None), "headers", {}).get("retry-after", "")
    try:
        if value.strip().isdigit():
            return float(value)
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return 0.0
