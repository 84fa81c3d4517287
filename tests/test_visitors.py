"""Many visitors at once: the line is fair and loses nobody, whoever leaves, and however."""

import asyncio
import gc
import random
import time
import tracemalloc
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import AsyncExitStack, aclosing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from assistant.errors import TooManyQuestions
from assistant.ui.pauses import with_pauses
from assistant.visitors import RateLimit, Visitors, Waiting
from benchmarks.doors import doors
from benchmarks.visitors import quoting, serving, with_model
from tests.fakes import KEY, MODEL, ModelServer

Stream = AsyncGenerator[str | Waiting]


class Answers:
    """What visitors ask for; each answer is given when the test says so."""

    def __init__(self, visitors: Visitors) -> None:
        self.visitors = visitors
        self.begun: list[str] = []
        self.ended: list[str] = []
        self.most_at_once = 0
        self._may_end = dict[str, asyncio.Event]()

    def to(self, name: str) -> Stream:
        return self.visitors.answered(partial(self._answer, name))

    def may_end(self, name: str) -> None:
        self._may_end.setdefault(name, asyncio.Event()).set()

    async def _answer(self, name: str) -> AsyncGenerator[str]:
        self.begun.append(name)
        self.most_at_once = max(self.most_at_once, len(self.begun) - len(self.ended))
        try:
            yield f"{name} begins"
            await self._may_end.setdefault(name, asyncio.Event()).wait()
            if name.startswith("faulty"):
                raise ValueError(name)
            yield f"{name} ends"
        finally:
            self.ended.append(name)


class Visitor:
    """Reads what comes in a task of its own."""

    def __init__(self, answers: Answers, name: str) -> None:
        self.name = name
        self.got: list[str | Waiting] = []
        self.task = asyncio.create_task(self._read(answers.to(name)))

    async def _read(self, stream: Stream) -> None:
        async with aclosing(stream):
            async for item in stream:
                self.got.append(item)

    @property
    def positions(self) -> list[int]:
        return [item.ahead for item in self.got if isinstance(item, Waiting)]

    async def leave(self) -> None:
        self.task.cancel()
        with suppress(asyncio.CancelledError):
            await self.task


async def settle() -> None:
    """Until nobody has anything to do."""
    for _ in range(20):
        await asyncio.sleep(0)


async def arrived(answers: Answers, *names: str) -> list[Visitor]:
    visitors = []
    for name in names:
        visitors.append(Visitor(answers, name))
        await settle()
    return visitors


def in_a_loop(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    def running() -> None:
        asyncio.run(asyncio.wait_for(test(), 20))

    running.__name__ = test.__name__
    return running


async def assert_free(visitors: Visitors, places: int) -> None:
    """So many, no more and no fewer, are answered at once."""
    answers = Answers(visitors)
    names = [f"probe {at}" for at in range(places + 1)]
    probes = await arrived(answers, *names)
    assert answers.begun == names[:places]
    for probe in probes:
        answers.may_end(probe.name)
        await probe.task


@in_a_loop
async def test_first_come_first_served_and_positions_count_down() -> None:
    answers = Answers(Visitors(at_once=2, longest=10))
    first, second, third, fourth = await arrived(answers, *"abcd")
    assert answers.begun == ["a", "b"]
    assert (third.positions, fourth.positions) == ([1], [2])

    answers.may_end("b")
    await settle()
    assert answers.begun == ["a", "b", "c"]
    await asyncio.sleep(1.2)
    assert fourth.positions == [2, 1]
    answers.may_end("a")
    await settle()
    assert answers.begun == ["a", "b", "c", "d"]
    for name in "cd":
        answers.may_end(name)
    await asyncio.gather(first.task, third.task, fourth.task)
    assert second.got == ["b begins", "b ends"]
    assert fourth.got == [Waiting(2), Waiting(1), "d begins", "d ends"]
    assert answers.most_at_once == 2
    await assert_free(answers.visitors, 2)


@in_a_loop
async def test_who_comes_when_a_place_is_free_but_promised_does_not_get_before_the_line() -> None:
    answers = Answers(Visitors(at_once=1, longest=10))
    await arrived(answers, "a", "b")
    answers.may_end("a")
    late = Visitor(answers, "c")
    await settle()
    assert answers.begun == ["a", "b"]
    assert late.positions
    await late.leave()


@in_a_loop
async def test_a_full_line_refuses_and_says_when_to_come_again() -> None:
    answers = Answers(Visitors(at_once=1, longest=2))
    first, second, _ = await arrived(answers, *"abc")
    with pytest.raises(TooManyQuestions) as refused:
        await anext(answers.to("d"))
    assert refused.value.wait_seconds == 60

    await second.leave()
    stream = answers.to("e")
    assert await anext(stream) == Waiting(2)
    await stream.aclose()
    answers.may_end("a")
    await first.task
    assert answers.begun == ["a", "c"]


@in_a_loop
async def test_those_behind_hear_of_one_who_leaves_and_nobody_hears_the_same_twice() -> None:
    answers = Answers(Visitors(at_once=1, longest=10))
    _, before, leaving, behind = await arrived(answers, *"abcd")
    await leaving.leave()
    await asyncio.sleep(2.2)
    assert before.positions == [1]
    assert behind.positions == [3, 2]
    assert answers.begun == ["a"]


@pytest.mark.parametrize("moment", ["while waiting", "when told the turn", "while answered", "when it fails"])
def test_who_leaves_gives_the_place_to_the_next(moment: str) -> None:
    @in_a_loop
    async def leaving() -> None:
        answers = Answers(Visitors(at_once=1, longest=10))
        first, *_ = await arrived(answers, "first")
        name = "faulty" if moment == "when it fails" else "leaving"
        visitor, waits = await arrived(answers, name, "next")
        if moment == "while waiting":
            await visitor.leave()
        answers.may_end("first")
        if moment == "when told the turn":
            await first.task  # its place is promised, but nobody has taken it yet
            await visitor.leave()
        await settle()
        if moment == "while answered":
            await visitor.leave()
        if moment == "when it fails":
            answers.may_end("faulty")
            with pytest.raises(ValueError, match="faulty"):
                await visitor.task
        await settle()
        assert answers.begun[-1] == "next"
        answers.may_end("next")
        await waits.task
        await assert_free(answers.visitors, 1)

    leaving()


@in_a_loop
async def test_closing_is_enough_and_asking_for_nothing_takes_no_place() -> None:
    answers = Answers(Visitors(at_once=1, longest=1))
    streams = [answers.to(f"never {at}") for at in range(5)]
    stream = answers.to("closed")
    assert await anext(stream) == "closed begins"
    waiting = answers.to("waiting")
    assert await anext(waiting) == Waiting(1)
    await waiting.aclose()
    await stream.aclose()
    assert answers.ended == ["closed"]
    await assert_free(answers.visitors, 1)
    for never in streams:
        await never.aclose()
    await assert_free(answers.visitors, 1)


@in_a_loop
async def test_a_stream_that_everybody_forgot_keeps_no_place() -> None:
    answers = Answers(Visitors(at_once=1, longest=5))
    stream = answers.to("forgotten")
    await anext(stream)
    waiting = answers.to("forgotten too")
    await anext(waiting)
    answers.to("never begun")
    del stream, waiting
    gc.collect()
    await settle()
    await assert_free(answers.visitors, 1)


@in_a_loop
async def test_a_start_that_fails_at_once_keeps_no_place() -> None:
    visitors = Visitors(at_once=1, longest=5)

    def start() -> AsyncGenerator[str]:
        raise ValueError("no start")

    for _ in range(3):
        with pytest.raises(ValueError, match="no start"):
            await anext(visitors.answered(start))
    await assert_free(visitors, 1)


@pytest.mark.parametrize("seed", range(5))
def test_nobody_is_lost_in_random_comings_and_goings(seed: int) -> None:
    draw = random.Random(seed)

    @in_a_loop
    async def coming_and_going() -> None:
        answers = Answers(Visitors(at_once=3, longest=200))
        doors: list[Visitor] = []
        for at in range(200):
            doors.append(Visitor(answers, f"{'faulty' if draw.random() < 0.1 else 'visitor'} {at}"))
            for _ in range(draw.randrange(4)):
                await asyncio.sleep(0)
            if draw.random() < 0.3:
                draw.choice(doors).task.cancel()
            if draw.random() < 0.7:
                answers.may_end(draw.choice(doors).name)
        for visitor in doors:
            answers.may_end(visitor.name)
        await asyncio.wait([visitor.task for visitor in doors], timeout=5)
        assert all(visitor.task.done() for visitor in doors)
        stayed = [each for each in doors if not each.task.cancelled() and not each.name.startswith("faulty")]
        assert all(each.got[-2:] == [f"{each.name} begins", f"{each.name} ends"] for each in stayed)
        assert len(stayed) > 80
        assert all(each.positions == sorted(set(each.positions), reverse=True) for each in doors)
        assert sorted(answers.begun) == sorted(answers.ended)
        assert answers.begun == sorted(answers.begun, key=lambda name: int(name.split()[1]))
        assert answers.most_at_once == 3
        for visitor in doors:
            with suppress(asyncio.CancelledError, ValueError):
                await visitor.task
        await assert_free(answers.visitors, 3)

    coming_and_going()


@in_a_loop
async def test_one_who_does_not_read_on_holds_up_nobody_else_in_the_line() -> None:
    answers = Answers(Visitors(at_once=1, longest=10))
    (first,) = await arrived(answers, "first")
    idle = answers.to("idle")
    assert await anext(idle) == Waiting(1)
    (leaving, behind) = await arrived(answers, "leaving", "behind")
    await leaving.leave()
    await asyncio.sleep(1.2)
    assert behind.positions == [3, 2]
    answers.may_end("first")
    await first.task
    await idle.aclose()
    await settle()
    assert answers.begun == ["first", "behind"]


def test_a_rate_is_of_each_visitor_and_says_when_to_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    limit = RateLimit(3, "questions")
    for _ in range(3):
        limit.count("ann")
        now += 5
    with pytest.raises(TooManyQuestions) as refused:
        limit.count("ann")
    limit.count("bob")
    assert "3 questions a minute" in refused.value.message
    assert f"{refused.value.wait_seconds} seconds" in refused.value.hint
    assert 44 <= (refused.value.wait_seconds or 0) <= 46

    now += (refused.value.wait_seconds or 0) - 2
    with pytest.raises(TooManyQuestions):
        limit.count("ann")
    now += 3
    limit.count("ann")
    with pytest.raises(TooManyQuestions):
        limit.count("ann")


def test_without_a_rate_anybody_may_ask_any_number_of_times() -> None:
    limit = RateLimit(None, "questions")
    for _ in range(1000):
        limit.count("ann")


def test_who_has_not_asked_for_a_minute_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    limit = RateLimit(3, "questions")
    tracemalloc.start()
    for minute in range(5):
        before = tracemalloc.get_traced_memory()[0]
        for visitor in range(2000):
            limit.count(f"{minute} {visitor}")
        now += 61
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 100_000


def test_fifty_visitors_at_once_get_each_their_own_answer_by_every_door(built_in_data: Path) -> None:
    _, all_at_once = quoting(built_in_data, 50, seconds=0, turns=1, alone=0)
    assert all_at_once.problems == []
    assert len(all_at_once.replies) == 50


def test_so_do_twenty_for_whom_a_slow_model_writes(built_in_data: Path) -> None:
    _, all_at_once = with_model(built_in_data, 20, seconds=0, turns=1, alone=0)
    assert all_at_once.problems == []
    assert len(all_at_once.replies) == 20


@in_a_loop
async def test_a_pause_is_told_and_loses_nothing() -> None:
    answers = Answers(Visitors(at_once=1, longest=1))
    stream = with_pauses(answers.to("slow"), 0.01)
    assert await anext(stream) == "slow begins"
    assert await anext(stream) is None
    assert await anext(stream) is None
    answers.may_end("slow")
    assert [item async for item in stream if item] == ["slow ends"]

    failing = with_pauses(answers.to("faulty"), 0.01)
    assert await anext(failing) == "faulty begins"
    answers.may_end("faulty")
    with pytest.raises(ValueError, match="faulty"):
        assert [item async for item in failing if item] == []
    closed = with_pauses(answers.to("closed"), 0.01)
    await anext(closed)
    assert await anext(closed) is None
    await closed.aclose()
    assert answers.ended == ["slow", "faulty", "closed"]
    await assert_free(answers.visitors, 1)


def test_a_page_opens_while_more_questions_wait_than_gradio_runs_by_itself(
    built_in_data: Path, model_server: ModelServer
) -> None:
    model_server.says("", silent_seconds=60)
    variables = {"ASSISTANT_MODEL": f"openai:{MODEL}", "OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": model_server.url}

    async def visiting(address: str) -> None:
        async with doors(address, "icml2026") as found, AsyncExitStack() as pages:
            waiting = [found.page() for _ in range(45)]
            asked = [asyncio.create_task(page.ask("Which GPU does LiftQuant fit on?")) for page in waiting]
            while not model_server.requests:
                await asyncio.sleep(0.05)
            await asyncio.sleep(1)
            async with asyncio.timeout(10):
                await pages.enter_async_context(found.visit("page"))
            for each in asked:
                each.cancel()
            await asyncio.wait(asked)

    with serving(built_in_data, **variables) as server:
        asyncio.run(visiting(server.address))
