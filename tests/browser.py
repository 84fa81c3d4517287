"""The real program, served, and Chromium on it."""

import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

import assistant

CHROMIUM = Path("/usr/bin/chromium")
needs_chromium = [pytest.mark.browser, pytest.mark.skipif(not CHROMIUM.exists(), reason="needs Chromium")]

SERVE = """
import json, sys
def watch(event, arguments):
    asked = arguments[0] if event == "socket.getaddrinfo" else arguments[1] if event == "socket.connect" else None
    host = asked[0] if isinstance(asked, tuple) else asked
    if isinstance(host, str) and host not in ("127.0.0.1", "localhost", "::1") and not host.startswith("/"):
        print("OUTSIDE:", event, host, file=sys.stderr, flush=True)
sys.addaudithook(watch)
from assistant.app import Assistants
from assistant.settings import load_settings
from assistant.ui.launch import launch_chat, start_chat
chats = [(Assistants(load_settings(**settings)), port) for settings, port in json.loads(sys.argv[1])]
for assistants, port in chats[:-1]:
    start_chat(assistants, port=port)
launch_chat(chats[-1][0], port=chats[-1][1])
"""


@contextmanager
def served(*settings: dict[str, Any]) -> Iterator[list[str]]:
    """The addresses of chats with these settings, all of one program. Fails when it turns to another machine."""
    ports = free_ports(len(settings))
    with tempfile.TemporaryDirectory() as home, (Path(home) / "log").open("w+", encoding="utf-8") as log:
        program = subprocess.Popen(
            [sys.executable, "-u", "-c", SERVE, json.dumps(list(zip(settings, ports, strict=True)))],
            env={"HOME": home, "PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(assistant.__file__).parents[1])},
            cwd=home,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        try:
            assert program.stdout
            assert str(ports[-1]) in program.stdout.readline(), (Path(home) / "log").read_text("utf-8")
            yield [f"http://127.0.0.1:{port}/" for port in ports]
        finally:
            program.terminate()
            program.communicate()
        assert "OUTSIDE" not in (Path(home) / "log").read_text("utf-8")


@contextmanager
def serving(data: Path, *options: str, **settings: str) -> Iterator[str]:
    """The address of `assistant serve` with these options and settings."""
    (port,) = free_ports(1)
    with tempfile.TemporaryDirectory() as home, (Path(home) / "log").open("w+", encoding="utf-8") as log:
        program = subprocess.Popen(
            [sys.executable, "-c", "from assistant.cli import main; main()", "serve", "--port", str(port), *options],
            env={
                "HOME": home,
                "PATH": "/usr/bin:/bin",
                "PYTHONPATH": str(Path(assistant.__file__).parents[1]),
                "ASSISTANT_DATA_DIR": str(data),
                **settings,
            },
            cwd=home,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        try:
            assert program.stdout
            assert str(port) in program.stdout.readline(), (Path(home) / "log").read_text("utf-8")
            yield f"http://127.0.0.1:{port}/"
        finally:
            program.terminate()
            program.communicate()
        assert "Traceback" not in (Path(home) / "log").read_text("utf-8")


def free_ports(number: int) -> list[int]:
    with ExitStack() as probes:
        sockets = [probes.enter_context(socket.socket()) for _ in range(number)]
        for probe in sockets:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in sockets]


@contextmanager
def chromium() -> Iterator[Browser]:
    quiet = "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*quiet.split(), "--no-first-run"])
        yield browser
        browser.close()


@contextmanager
def opened(browser: Browser, address: str, **how: Any) -> Iterator[Page]:
    """The chat in a session of its own. Fails when the page asks for anything from elsewhere or reports an error."""
    context = browser.new_context(viewport=how.pop("viewport", {"width": 1280, "height": 800}), **how)
    context.set_default_timeout(20_000)
    page, troubles = context.new_page(), list[str]()
    local = (address, "data:", "blob:")
    page.on("request", lambda request: None if request.url.startswith(local) else troubles.append(request.url))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    try:
        page.goto(address)
        expect(page.get_by_role("log")).to_be_visible()
        yield page
    finally:
        context.close()
    assert not troubles


def send(page: Page, question: str) -> None:
    page.get_by_role("textbox", name="Question").fill(question)
    page.get_by_role("textbox", name="Question").press("Enter")


def ask(page: Page, question: str) -> Locator:
    """The answer, when it is finished."""
    turns = page.locator(".turn").count()
    send(page, question)
    expect(page.locator(".turn:not(.live)")).to_have_count(turns + 1, timeout=20_000)
    return page.locator(".turn").last.locator(".answer")


def eventually(page: Page, check: Callable[[], bool]) -> None:
    """Fails when what no locator can wait for, such as the colour of a pixel, does not come to hold in five seconds."""
    deadline = time.monotonic() + 5
    while not check() and time.monotonic() < deadline:
        page.wait_for_timeout(50)
    assert check()


def numbers(answer: Locator) -> list[str]:
    return answer.locator(".cite").all_text_contents()


def assert_accessible(page: Page) -> None:
    """No rule is left out: Gradio's own frame passes too."""
    violations = Axe().run(page).response["violations"]
    grave = [violation for violation in violations if violation["impact"] in ("serious", "critical")]
    found = [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in grave]
    assert not found, found
