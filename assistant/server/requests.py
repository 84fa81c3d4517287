"""What clients of the OpenAI API send: of all its fields those that mean something here."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from assistant.errors import QuestionError
from assistant.server.told import ToldAnswers

EXTENSION = "abstract_assistant"
"""The one field that the OpenAI API does not have."""


class TextPart(BaseModel):
    """A piece of a message's text."""

    type: Literal["text"]
    text: str


class Known(BaseModel):
    """What an answer that comes back in the history may have kept."""

    citations: list[dict[str, Any]] = []


class Message(BaseModel):
    """One item of the conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[TextPart] | None = None
    abstract_assistant: Known = Known()

    @property
    def text(self) -> str:
        """Its text, whichever way it is given."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content)
        return self.content or ""


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
        history = [
            {
                "role": message.role,
                "content": message.text,
                "citations": message.abstract_assistant.citations or told.citations(self.model, message.text),
            }
            for message in said[:-1]
            if message.text.strip()
        ]
        return said[-1].text, history
