"""What clients of the OpenAI API send: of all its fields those that mean something here."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, field_validator

from assistant.errors import QuestionError
from assistant.server.told import ToldAnswers

EXTENSION = "abstract_assistant"
"""The one field that the OpenAI API does not have."""


_ORDER = "### Task:"
"""So begins what Open WebUI has a model do beside the answers: titles, tags, follow-up questions, search queries. Where
that fails, it goes without, or takes the question for a title; what the papers say would be taken for a title too."""
Text = Annotated[str, Field(max_length=1_000_000)]
"""Not longer than a body may be; where there is a limit, pydantic refuses what is no Unicode, halves of pairs."""


class KnownCitation(BaseModel):
    """Which paper a source number stands for."""

    number: int
    label: Text
    paper_id: Text


class Known(BaseModel):
    """What an answer that comes back in the history may have kept."""

    citations: list[KnownCitation] = []


class Message(BaseModel):
    """One item of the conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Text | None = None
    abstract_assistant: Known | None = None

    @field_validator("content", mode="before")
    @classmethod
    def _joined(cls, content: Any) -> Any:
        """The text of all parts."""
        if not isinstance(content, list):
            return content
        if not all(isinstance(part, dict) and isinstance(part.get("text"), str) for part in content):
            raise ValueError("only text can be read; leave out images, sound and files.")
        return "\n".join(part["text"] for part in content)

    @property
    def text(self) -> str:
        """What was said; empty in the call of a tool."""
        return self.content or ""

    def citations(self, told: ToldAnswers, model: str) -> list[dict[str, Any]]:
        """Which papers its source numbers stand for, as far as known."""
        if self.abstract_assistant and self.abstract_assistant.citations:
            return [citation.model_dump() for citation in self.abstract_assistant.citations]
        return told.citations(model, self.text)


class StreamOptions(BaseModel):
    """How a stream ends."""

    include_usage: bool | None = False


class ResponseFormat(BaseModel):
    """Answers are text."""

    type: Literal["text"]


class CompletionRequest(BaseModel):
    """A request for an answer.

    Orders to a model, such as system messages, temperature and tools, have nobody here to follow them.
    """

    model: Annotated[str, Field(min_length=1, max_length=500)]
    messages: Annotated[list[Message], Field(min_length=1)]
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: Literal[1] | None = None
    response_format: ResponseFormat | None = None

    @property
    def wants_usage(self) -> bool:
        """Whether the stream is to end with the tokens used."""
        return bool(self.stream_options and self.stream_options.include_usage)

    def question_and_history(self, told: ToldAnswers) -> tuple[str, list[dict[str, Any]]]:
        """The last message, and those before it as `Assistant.stream` takes them, with citations as far as known."""
        said = [message for message in self.messages if message.role in ("user", "assistant")]
        if not said or said[-1].role != "user":
            raise QuestionError("The last message is not a user's.", "Let it be the question.")
        if said[-1].text.lstrip().startswith(_ORDER):
            raise QuestionError(
                "That is an order to a chat model, not a question on the papers.",
                "Have another model make titles, tags and searches.",
            )
        history = [
            {"role": message.role, "content": message.text, "citations": message.citations(told, self.model)}
            for message in said[:-1]
            if message.text.strip()
        ]
        return said[-1].text, history
