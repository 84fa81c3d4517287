"""Visitors of the real server in Chromium: they wait for each other, and whoever leaves gives the place back."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import ask, free_ports, needs_chromium, opened, send
from tests.fakes import ModelServer

pytestmark = needs_chromium
ROOT = Path(__file__).parents[1]
SENTENCE = "LiftQuant enables a 70B LLM to be compressed to 2.4 bits to fit a 24GB GPU [1]. "
QUESTION = "Which GPU does LiftQuant fit on?"
SERVE = """
import asyncio, json, sys
from copy import copy
import uvicorn
from assistant.app import Assistants
from assistant.server import build_application
from assistant.settings import load_settings
from assistant.visitors import Visitors

async def serve(port, per_minute):
    assistants = copy(loaded)
    assistants.visitors = Visitors(at_once=1, longest=2, per_minute=per_minute)
    app = build_application(assistants)
    await uvicorn.Server(uvicorn.Config(app, port=port, log_level="error", timeout_graceful_shutdown=1)).serve()

async def serve_both():
    await asyncio.gather(serve(ports[0], None), serve(ports[1], 1))

settings, ports = json.loads(sys.argv[1])
loaded = Assistants(load_settings(**settings))
loaded.of()
asyncio.run(serve_both())
"""


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="module")
def addresses(built_in_data: Path, model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """Of a server that answers one at a time, with two in the line, and one that lets a visitor ask once a minute."""
    ports, home = free_ports(2), tmp_path_factory.mktemp("home")
    settings = {"data_dir": str(built_in_data), **model.settings}
    program = subprocess.Popen(
        [sys.executable, "-c", SERVE, json.dumps([settings, ports])],
        env={"HOME": str(home), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)},
        cwd=home,
    )
    found = [f"http://127.0.0.1:{port}/" for port in ports]
    try:
        for address in found:
            _wait_for(f"{address}health", program)
        yield found
    finally:
        program.terminate()
        program.wait(30)


def _wait_for(address: str, program: "subprocess.Popen[bytes]") -> None:
    for _ in range(600):
        try:
            return httpx.get(address).raise_for_status() and None
        except httpx.TransportError:
            assert program.poll() is None
            time.sleep(0.05)
    raise TimeoutError(address)


@pytest.fixture
def server(addresses: list[str], model: ModelServer) -> str:
    model.replies.clear()
    model.requests.clear()
    model.client_left.clear()
    return addresses[0]


@contextmanager
def another(server: str) -> Iterator[None]:
    """Somebody who asks by the API, and stays until the end of the block: answered, or in the line."""
    body = {"model": "icml2026", "stream": True, "messages": [{"role": "user", "content": QUESTION}]}
    with httpx.stream("POST", f"{server}v1/chat/completions", json=body, timeout=30) as response:
        assert response.status_code == 200
        yield


def answers_slowly_then_at_once(model: ModelServer) -> None:
    model.says("", silent_seconds=30)
    model.says(SENTENCE)


def waits_behind(page: Page, others: str) -> None:
    expect(page.locator(".turn.live .progress")).to_have_text(f"Waiting: {others} of others before yours")


def is_answered(page: Page) -> None:
    expect(page.locator(".turn:not(.live) .cite")).to_have_count(1)


def test_a_visitor_waits_for_others_and_sees_the_line_move(browser: Browser, server: str, model: ModelServer) -> None:
    answers_slowly_then_at_once(model)
    with opened(browser, server) as page, ExitStack() as first:
        first.enter_context(another(server))
        with another(server):
            send(page, QUESTION)
            waits_behind(page, "2 questions")
            expect(page.get_by_role("button", name="Stop")).to_be_visible()
        waits_behind(page, "1 question")
        first.close()
        is_answered(page)
    assert model.client_left.wait(5)


def test_stop_and_a_closed_page_give_their_places_in_the_line_back(
    browser: Browser, server: str, model: ModelServer
) -> None:
    answers_slowly_then_at_once(model)
    with opened(browser, server) as page, ExitStack() as first:
        first.enter_context(another(server))
        with opened(browser, server) as leaving:
            send(leaving, QUESTION)
            waits_behind(leaving, "1 question")
            send(page, QUESTION)
            waits_behind(page, "2 questions")
            leaving.get_by_role("button", name="Stop").click()
            expect(leaving.get_by_text("Stopped.")).to_be_visible()
            waits_behind(page, "1 question")

            page.get_by_role("button", name="Stop").click()
            send(leaving, QUESTION)
            waits_behind(leaving, "1 question")
            send(page, QUESTION)
            waits_behind(page, "2 questions")
        waits_behind(page, "1 question")
        first.close()
        is_answered(page)


def test_a_page_that_closes_while_it_is_answered_ends_that_and_lets_the_next_in(
    browser: Browser, server: str, model: ModelServer
) -> None:
    answers_slowly_then_at_once(model)
    with opened(browser, server) as page:
        with opened(browser, server) as leaving:
            send(leaving, QUESTION)
            while not model.requests:
                leaving.wait_for_timeout(20)
            send(page, QUESTION)
            waits_behind(page, "1 question")
        assert model.client_left.wait(5)
        is_answered(page)


def test_a_full_line_is_told_and_the_question_comes_back(browser: Browser, server: str, model: ModelServer) -> None:
    answers_slowly_then_at_once(model)
    with opened(browser, server) as page:
        with another(server), another(server), another(server):
            notice = ask(page, QUESTION).locator(".notice")
            expect(notice).to_contain_text("Too many questions are waiting already.")
            expect(page.get_by_role("textbox", name="Question")).to_have_value(QUESTION)
        page.get_by_role("textbox", name="Question").press("Enter")
        is_answered(page)


def test_who_asks_too_often_is_told_when_to_ask_again(
    browser: Browser, addresses: list[str], server: str, model: ModelServer
) -> None:
    model.says(SENTENCE)
    with opened(browser, addresses[1]) as page:
        ask(page, QUESTION)
        is_answered(page)
        notice = ask(page, "What is LiftQuant?").locator(".notice")
        expect(notice).to_contain_text("This server allows you 1 questions a minute.")
        expect(notice.locator(".hint")).to_contain_text("Try again in")
        expect(page.get_by_role("textbox", name="Question")).to_have_value("What is LiftQuant?")
