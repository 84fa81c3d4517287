from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from assistant.access import Users
from tests.browser import assert_accessible, needs_chromium, send, serving

pytestmark = needs_chromium
PASSWORD = "correct horse"


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Users:
    users = Users(tmp_path_factory.mktemp("users") / "users.json")
    for name in ("ada", "eve", "ada@example.org"):
        users.set_password(name, PASSWORD)
    return users


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, users: Users) -> Iterator[str]:
    data = tmp_path_factory.mktemp("login") / "data"
    with serving(data, "--host", "0.0.0.0", ASSISTANT_AUTH_FILE=str(users.path)) as address:
        yield address


@pytest.fixture
def page(browser: Browser, server: str) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(20_000)
    page, troubles = context.new_page(), list[str]()
    page.on(
        "request", lambda request: None if request.url.startswith((server, "data:")) else troubles.append(request.url)
    )
    yield page
    context.close()
    assert not troubles


def log_in(page: Page, name: str = "ada", password: str = PASSWORD) -> None:
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_label("Password").press("Enter")


def test_a_link_to_a_question_leads_through_the_form_to_its_answer(page: Page, server: str) -> None:
    errors = list[str]()  # only here: where a login ends, the page is refused what it has not loaded yet
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{server}?q=What is LiftQuant%3F <b>")
    expect(page).to_have_title("Abstract Assistant: log in")
    assert_accessible(page)
    log_in(page, password="wrong <b>password")
    expect(page.get_by_role("alert")).to_have_text("That is not the name and the password of a user.")
    expect(page.get_by_label("Name")).to_have_value("ada")
    expect(page.get_by_label("Password")).to_have_value("")
    assert_accessible(page)
    log_in(page)
    expect(page.locator(".question")).to_contain_text("What is LiftQuant? <b>")
    expect(page.locator(".cite").first).to_be_visible()
    expect(page.locator("#account")).to_contain_text("ada")
    assert_accessible(page)
    assert not errors


@pytest.mark.parametrize("how", ["logs out", "is removed", "gets another password"])
def test_a_login_ends(page: Page, server: str, users: Users, how: str) -> None:
    page.goto(server)
    log_in(page, "eve")
    expect(page.locator("#account")).to_contain_text("eve")
    (cookie,) = page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Lax")
    if how == "logs out":
        page.get_by_role("button", name="Log out").click()
        expect(page).to_have_url(f"{server}login")
        page.goto(server)
    elif how == "is removed":
        users.remove("eve")
        send(page, "What is LiftQuant?")
        page.wait_for_timeout(1000)
        expect(page.locator(".cite")).to_have_count(0)
        page.reload()
    else:
        users.set_password("eve", "another password")
        page.reload()
    expect(page.get_by_label("Password")).to_be_visible()
    users.set_password("eve", PASSWORD)


def test_who_has_not_logged_in_gets_nothing_of_the_page(server: str) -> None:
    with httpx.Client(base_url=server) as client:
        for path in (
            "config",
            "gradio_api/info",
            "gradio_api/queue/data?session_hash=x",
            "theme.css",
            "gradio_api/file=x",
        ):
            assert client.get(path).status_code == 401
        for path in ("gradio_api/queue/join", "gradio_api/upload", "gradio_api/run/predict", "logout"):
            assert client.post(path, files={"files": b"x"}).status_code == 401
        forged = {"Cookie": "abstract-assistant-login=WyJhZGEiLCAiIl0.aaaa.bbbb"}
        assert client.get("config", headers=forged).status_code == 401
        assert client.get("health").json() == {"status": "ok"}


def test_another_site_cannot_log_anybody_in(server: str) -> None:
    given = {"name": "ada", "password": PASSWORD}
    refused = httpx.post(f"{server}login", data=given, headers={"Origin": "https://evil.example"})
    assert refused.status_code == 403
    assert "set-cookie" not in refused.headers


def test_passwords_cannot_be_tried_without_end(tmp_path: Path) -> None:
    users = Users(tmp_path / "users.json")
    users.set_password("ada", PASSWORD)
    with (
        serving(tmp_path / "data", ASSISTANT_AUTH_FILE=str(users.path)) as server,
        httpx.Client(base_url=server) as client,
    ):
        tries = [client.post("login", data={"name": "ada", "password": f"wrong {n}"}).status_code for n in range(11)]
        assert tries == [401] * 10 + [429]
        assert client.post("login", data={"name": "ada", "password": PASSWORD}).status_code == 429
