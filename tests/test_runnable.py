import asyncio

from assistant import Answer, Assistant
from assistant.runnable import AssistantRunnable, PaperRetriever
from assistant.types import AnswerFinished, SentenceChecked


def test_it_can_be_invoked_with_a_question_or_with_a_history(assistant: Assistant) -> None:
    runnable = AssistantRunnable(assistant)
    assert runnable.invoke("What is LiftQuant?").citations[0].paper.label == "LiftQuant"
    history = [{"role": "user", "content": "What is LiftQuant?"}]
    answer = runnable.invoke({"question": "Which GPU does it fit on?", "history": history})
    assert "24GB" in answer.text


def test_a_batch_keeps_its_order(assistant: Assistant) -> None:
    answers = AssistantRunnable(assistant).batch(["What is ProjQ?", "What is the capital of France?"])
    assert [answer.status for answer in answers] == ["answered", "not_covered"]


def test_it_can_be_a_part_of_a_chain(assistant: Assistant) -> None:
    def upper(answer: Answer) -> str:
        return answer.text.upper()

    chain = AssistantRunnable(assistant) | upper
    assert chain.invoke("What is HiPhO?").startswith("HIPHO:")
    assert "".join(chain.stream("What is HiPhO?")).startswith("HIPHO:")


def test_the_asynchronous_twins_give_the_same(assistant: Assistant) -> None:
    runnable = AssistantRunnable(assistant)

    async def ask() -> tuple[Answer, list[object]]:
        return await runnable.ainvoke("What is ProjQ?"), [event async for event in runnable.astream("What is ProjQ?")]

    answer, events = asyncio.run(ask())
    assert isinstance(events[-1], AnswerFinished)
    assert events[-1].answer.text == answer.text == runnable.invoke("What is ProjQ?").text
    assert any(isinstance(event, SentenceChecked) for event in events)


def test_the_retriever_gives_documents_with_what_is_known_of_the_paper(assistant: Assistant) -> None:
    documents = PaperRetriever(assistant=assistant, k=3).invoke("quantization of large language models")
    assert len(documents) == 3
    first = documents[0]
    assert first.metadata["label"] in ("LiftQuant", "ProjQ")
    assert first.metadata["venue"] == "ICML"
    assert first.metadata["end"] - first.metadata["start"] == len(first.page_content)
