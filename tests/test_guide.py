"""Every command and example of the README and the guide is run as it stands there; every link leads somewhere."""

import json
import os
import re
import shlex
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import typer

import assistant.ui
from assistant import build_assistant, cli
from assistant.access import Users
from assistant.app import Assistants
from assistant.feedback import FeedbackStore, feedback_on
from assistant.settings import Settings, setting_names
from tests.browser import serving
from tests.chroma_server import running_chroma
from tests.fakes import KEY, ModelServer
from tests.guide import PAGES, ROOT, Command, Terminal, anchors, blocks, is_shown, links, tokens

NOT_RUN = {
    "make": "sets up an environment of its own from a package registry; CI runs it",
    "pip install": "needs a package registry; test_wheel.py installs what is built of the folder",
    "curl": "needs the network",
    "ollama": "a server of somebody else's",
    "llama-server": "a server of somebody else's; test_real_model.py runs one of its kind",
    "vllm": "a server of somebody else's, for graphics cards",
    "docker": "needs a container engine; test_containers.py checks the files",
    "sudo": "changes whose files they are",
    ".venv/bin/assistant user add": "asks for a password; test_serve.py gives it one",
    ".venv/bin/assistant serve": "runs until it is stopped; the test starts it before the page is run",
    ".venv/bin/chroma run": "runs until it is stopped; the test starts it in this way before the page is run",
}
"""How a command begins -> why no test runs it."""
SHORTENED = {"evaluate icml2026-test": "--sample 2", "evaluate icml2026-dev": "--sample 2"}
"""What is asked of a command as well, since it takes minutes; `make evaluate` runs the first whole."""
BEFORE = {
    "docs/evaluation.md": ["index my-papers/ --collection mine"],
}
"""What was said on a page before."""
MODEL_SAYS = "LiftQuant compresses a 70B LLM to 2.4 bits to fit a 24GB GPU [1]. It was trained on 64 GPUs [1]."
"""Whatever it is asked."""
LINKED = [*PAGES, "CHANGELOG.md"]


def _talk(title: str, abstract: str, session: str, room: str, time: str, key: str) -> dict[str, Any]:
    """A record as the sites of virtual conferences have it."""
    return {
        "name": title,
        "authors": [{"fullname": "Ada Byron", "institution": "Example University"}],
        "abstract": abstract,
        "decision": f"Accept ({session.split()[0].lower()})",
        "session": session,
        "room_name": room,
        "starttime": f"2026-12-{time}:00-08:00",
        "paper_url": f"https://openreview.net/forum?id={key}",
    }


TALKS = [
    _talk(
        "Sparse Readers: Attending to One Sentence in a Hundred",
        "Few sentences of a text matter for a question. We propose SparseReader, which attends to one in a hundred.",
        *("Oral 2A Language", "Hall A", "08T10:00", "sparseRD01"),
    ),
    _talk(
        "Protein Maps from Ten Examples",
        "We learn maps of protein families from ten examples. Our method, TenMap, halves the error of other models.",
        *("Oral 2B Science", "Hall B", "08T10:15", "tenMapXY02"),
    ),
    _talk(
        "When Agents Forget",
        "Agents that keep summaries of long tasks forget what they were told first. We measure this on 240 tasks.",
        *("Poster Session 3", "Exhibit Hall", "09T16:30", "forgetBE03"),
    ),
]


def _files() -> dict[str, str]:
    """What a reader is taken to have, by the names that the pages use."""
    question_set = blocks("docs/evaluation.md", "json")[0].text
    return {
        "my-papers/notes.txt": (
            "We propose CatNet, which tells 120 breeds of cats apart with an accuracy of 93%.\n\n"
            "Dogs bark at night. We study 40 dogs with BarkScope and find that lonely dogs bark twice as often.\n"
        ),
        "library.bib": (
            "@article{a, title={Owls at Night}, author={Ada Byron}, year={2025}, abstract={Owls hunt at night.}}\n\n"
            "@article{b, year={2025}}\n\n"
            "@article{c, title={Owls at Night}, abstract={Owls hunt at night.}, doi={10.1000/owls}}\n"
        ),
        "table.csv": "Titel,Inhalt\nBirds,Birds sing at dawn.\n",
        "conference.json": json.dumps({"count": len(TALKS), "results": TALKS}),
        "test.jsonl": question_set,
        "dev.jsonl": question_set,
    }


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a reader's files."""
    folder = tmp_path_factory.mktemp("written")
    for name, text in _files().items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


@pytest.fixture
def chats(monkeypatch: pytest.MonkeyPatch) -> list[Assistants]:
    """What `chat` was about to serve; `test_wheel.py` and the tests in a browser have it served."""
    about_to_be_served: list[Assistants] = []

    def launch(assistants: Assistants, *, port: int) -> None:
        about_to_be_served.append(assistants)

    monkeypatch.setattr(assistant.ui, "launch_chat", launch)
    return about_to_be_served


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)])
def test_everything_that_it_shows_is_so(
    page: str, written: Path, built_in_data: Path, tmp_path: Path, chats: list[Assistants], model_server: ModelServer
) -> None:
    model_server.model = None
    model_server.says(MODEL_SAYS)
    with ExitStack() as stack:
        terminal = _terminal(page, written, built_in_data, tmp_path, stack)
        terminal.overruling = {"OPENAI_BASE_URL": model_server.url, "OPENAI_API_KEY": KEY}
        names: dict[str, object] = {}
        for block, after in zip(blocks(page), [*blocks(page)[1:], None], strict=True):
            for command in block.commands if block.kind == "console" else ():
                if reason_not_to_run(command) is None:
                    printed = terminal.run(_shortened(command))
                    assert not command.shown or is_shown(command.shown, printed), f"{command.text}\n{printed}"
            if block.kind == "python":
                printed = terminal.run_python(block, names)
                shown = after.text if after and after.kind == "text" else ""
                assert not shown or is_shown(shown, printed), printed
    assert len(chats) == sum(command.words[:2] == [".venv/bin/assistant", "chat"] for command in commands(page))


def test_a_page_that_shows_something_else_is_noticed() -> None:
    printed = "1 paper on “agents”:\n\nwords #2 (agents), relevance -1.03\n"
    assert is_shown("1 paper on “agents”: words #2 (agents), relevance +0.99", printed)
    assert is_shown("1 paper on … relevance -1.03", printed)
    assert not is_shown("2 papers on … relevance -1.03", printed)
    assert not is_shown("1 paper on “agents”:", printed)


@pytest.mark.parametrize("page", PAGES)
def test_its_json_is_json(page: str) -> None:
    for block in blocks(page, "json"):
        try:
            json.loads(block.text)
        except ValueError:
            assert all(json.loads(line) for line in block.text.splitlines())


def _terminal(page: str, written: Path, built_in_data: Path, tmp_path: Path, stack: ExitStack) -> Terminal:
    """A reader's folder, with all that the page needs before its first command."""
    folder, data = Path(shutil.copytree(written, tmp_path / "reader")), tmp_path / "data"
    terminal = Terminal(folder, {"ASSISTANT_DATA_DIR": str(data), "COLUMNS": "200"})
    if page == "docs/scaling.md":
        (tmp_path / "chroma").mkdir()
        chroma = stack.enter_context(running_chroma(tmp_path / "chroma"))
        terminal.instead = {"http://127.0.0.1:8000": chroma.url, '"127.0.0.1", 8000': f'"127.0.0.1", {chroma.port}'}
    else:
        shutil.copytree(built_in_data, data)
    for command in BEFORE.get(page, ()):
        terminal.run(Command(f".venv/bin/assistant {command}"))
    if page == "docs/serving.md":
        key = Users(folder / "users.json").new_key("ada")
        server = stack.enter_context(serving(data, ASSISTANT_AUTH_FILE=str(folder / "users.json")))
        terminal.instead = {"http://127.0.0.1:7860/": server, "YOUR-KEY": key}
    if page == "docs/taking-away.md":
        answer = build_assistant(data_dir=data).ask("What is LiftQuant?")
        FeedbackStore(data).add(feedback_on(answer, "up", collection="icml2026"))
    return terminal


def reason_not_to_run(command: Command) -> str | None:
    """Why no test runs it; None for most."""
    return next((reason for start, reason in NOT_RUN.items() if " ".join(command.words).startswith(start)), None)


def _shortened(command: Command) -> Command:
    also = next((options for start, options in SHORTENED.items() if start in command.text), "")
    return Command(f"{command.text.partition(' #')[0]} {also}") if also else command


def commands(page: str) -> list[Command]:
    return [command for block in blocks(page, "console") for command in block.commands]


def test_what_is_not_run_or_shortened_is_still_there() -> None:
    typed = [command for page in PAGES for command in commands(page)]
    for start in NOT_RUN:
        assert any(" ".join(command.words).startswith(start) for command in typed), start
    for part in SHORTENED:
        assert any(part in command.text for command in typed), part
    assert set(BEFORE) <= set(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_commands_named_in_its_text_exist_with_their_options(page: str) -> None:
    for token in tokens(page):
        if token.type == "code_inline" and token.content.startswith("assistant "):
            words = shlex.split(token.content)[1:]
            _check_command(typer.main.get_command(cli.app), words, token.content)


def _check_command(command: Any, words: list[str], text: str) -> None:
    known = getattr(command, "commands", {})
    if words and words[0] in known:
        return _check_command(known[words[0]], words[1:], text)
    assert not known or not words or words[0] == "..." or words[0].startswith("-"), text
    options = {option for parameter in command.params for option in parameter.opts} | {"--help"}
    assert {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)} <= options, text


@pytest.mark.parametrize("page", [page for page in PAGES if page != "docs/decisions.md"])
def test_settings_named_in_it_exist(page: str) -> None:
    named = set(re.findall(r"\b(?:ASSISTANT|CHROMA)_(?!OTEL_)[A-Z_]+\b", PAGES[page]))  # CHROMA_OTEL_ are Chroma's own
    assert named <= {*setting_names()}


@pytest.mark.parametrize("page", LINKED)
def test_every_link_leads_somewhere(page: str) -> None:
    for target in links(page):
        address = urlsplit(target)
        if address.scheme:
            assert address.scheme == "https", target
            assert "." in address.netloc, target
            continue
        place = os.path.normpath(Path(page).parent / address.path) if address.path else page
        assert (ROOT / place).exists(), target
        assert not address.fragment or address.fragment in anchors(place), target


def test_the_guide_leads_to_each_of_its_pages() -> None:
    led_to = {f"docs/{urlsplit(target).path}" for target in links("docs/README.md")}
    assert set(PAGES) - {"README.md", "docs/README.md"} <= led_to
    assert "docs/README.md" in links("README.md")


def test_the_table_of_settings_is_complete_and_has_the_defaults() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([^|]*) \|", PAGES["docs/settings.md"], re.MULTILINE)
    assert [name for name, _ in rows] == setting_names()
    fields = zip(setting_names(), Settings.model_fields.values(), strict=True)
    for (name, shown), (_, field) in zip(rows, fields, strict=True):
        if field.default_factory is None:
            plain = f"`{field.default}`".replace(".0`", "`")
            assert shown == ("" if field.default is None else plain), name
