"""`assistant ask -i`: a conversation on the terminal, in which source numbers stay."""

import asyncio
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from assistant.blocks import markdown_of
from assistant.errors import UserFacingError
from assistant.terminal import print_answer, print_error, print_text, unforeseen
from assistant.terminal_answer import rendered_sentences
from assistant.types import Answer, AnswerFinished, Sentence, SentenceChecked

if TYPE_CHECKING:
    from assistant.chain import Assistant

_ENDS = ("exit", "quit")
_PROMPT = "> "


def talk(assistant: "Assistant") -> None:
    """Answers one question after the other until the reader ends it; an error ends only the answer."""
    with suppress(ImportError):  # not on every system; it lets a line be edited, and earlier ones come back
        import readline  # noqa: F401
    print_text(f"{assistant.paper_count()} papers. Ctrl+C stops an answer; Ctrl+D, or exit, ends the conversation.")
    history: list[dict[str, Any]] = []
    while (question := _next_question()) is not None:
        sentences: list[Sentence] = []
        try:
            _print(asyncio.run(_told(assistant, question, history, sentences)))
        except KeyboardInterrupt:
            print_text("Stopped.")
        except UserFacingError as error:
            print_error(error.message, error.hint)
        except Exception as error:
            print_error(*unforeseen(error))
        history += _turns(question, sentences)
        print_text("")


def _next_question() -> str | None:
    """None when the reader wants to end."""
    while True:
        try:
            line = input(_PROMPT).strip()
        except KeyboardInterrupt:
            print_text("")
        except EOFError:
            print_text("")
            return None
        else:
            if line.casefold() in _ENDS:
                return None
            if line:
                return line


async def _told(
    assistant: "Assistant", question: str, history: list[dict[str, Any]], sentences: list[Sentence]
) -> Answer:
    """The answer; its `sentences` are added, and shown on a terminal, as they come.

    They stay there when the answer is stopped; else they make room for the whole of it.
    """
    console = Console()
    with Live(Text("Searching the papers ...", "dim"), console=console, transient=True, auto_refresh=False) as live:
        try:
            async with aclosing(assistant.astream(question, history)) as events:
                async for event in events:
                    if isinstance(event, SentenceChecked):
                        sentences.append(event.sentence)
                        live.update(rendered_sentences(sentences, console), refresh=True)
                    elif isinstance(event, AnswerFinished):
                        answer = event.answer
        except asyncio.CancelledError:
            live.transient = False
            raise
    return answer


def _print(answer: Answer) -> None:
    if answer.standalone_question.casefold() != answer.question.casefold():
        print_text(f"(Read as: {answer.standalone_question})")
    print_answer(answer)


def _turns(question: str, sentences: list[Sentence]) -> list[dict[str, Any]]:
    """As the next question's history has them, with the citations by which source numbers stay."""
    shown = [sentence for sentence in sentences if sentence.shown]
    if not shown:
        return []
    citations = [citation.to_dict() for sentence in shown for citation in sentence.citations]
    content = markdown_of(shown, lambda sentence: sentence.markdown)
    return [
        {"role": "user", "content": question},
        {"role": "assistant", "content": content, "citations": citations},
    ]
