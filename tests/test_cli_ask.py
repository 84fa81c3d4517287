"""`assistant ask` on a terminal, with questions from the input, and as a conversation."""

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from assistant import Assistant, cli
from tests.fakes import ModelServer
from tests.pseudo_terminal import ROOT, PseudoTerminal
from tests.test_cli import run

QUESTION = "Which GPU does LiftQuant fit on?"
COMPARISON = "Compare LiftQuant and ProjQ in terms of bits and speed."
HOSTILE = (
    "We propose CatNet, which [bold red]sees[/] cats with [link=https://evil.example]ease[/link], "
    "\x1b]8;;https://evil.example\x07and\x1b]8;;\x07 \x1b[31m:smile: \x9b2J well [/nothing]."
)


@pytest.fixture(autouse=True)
def data(built_in_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_DATA_DIR", str(built_in_data))


def shown(*arguments: str, columns: int = 100, **environment: str) -> PseudoTerminal:
    with PseudoTerminal(*arguments, columns=columns, **environment) as terminal:
        assert terminal.ends() == 0, terminal.text
        return terminal


def marked(terminal: PseudoTerminal, code: int) -> str:
    """What stands on the terminal in that look (1 bold, 2 dim, 3 italic), on one line."""
    return " ".join(" ".join(re.findall(rf"\x1b\[{code}m([^\x1b]*)\x1b\[0m", terminal.raw)).split())


def test_a_terminal_marks_quotations_and_links_sources(assistant: Assistant) -> None:
    terminal, answer = shown("ask", QUESTION), assistant.ask(QUESTION)
    assert marked(terminal, 3) == " ".join(each.text for each in answer.sentences if each.verdict == "quoted")
    assert set(marked(terminal, 2).split()) == {"[1]"}
    assert marked(terminal, 1) == "LiftQuant: LiftQuant"
    assert re.search(r"\x1b]8;[^;]*;https://github.com/Heliulu/LiftQuant\x1b", terminal.raw)
    plain = run("ask", QUESTION).stdout
    assert " ".join(terminal.text.split()) == " ".join(plain.split())


@pytest.mark.parametrize(("columns", "is_table"), [(100, True), (40, False)])
def test_a_comparison_is_a_table_where_there_is_room(columns: int, is_table: bool) -> None:
    terminal = shown("ask", COMPARISON, columns=columns)
    assert ("│" in terminal.text) is is_table
    assert ("LiftQuant: not stated in the abstract" in terminal.text) is not is_table
    assert all(len(line) <= columns for line in terminal.text.splitlines() if "https://" not in line)
    words = re.findall(r"\w+", terminal.text)
    assert all(word in words for word in ("Compared", "speed", "quasi", "matching", "baselines"))


def test_a_list_is_one_with_its_items_below_each_other() -> None:
    lines = shown("ask", "Which papers are about diffusion language models?", columns=60).text.splitlines()
    items = [at for at, line in enumerate(lines) if line.startswith("- ")]
    assert len(items) == 2
    assert lines[items[0] + 1].startswith("  ")


def test_no_colour_is_used_whatever_the_terminal_can_show() -> None:
    for environment in ({}, {"NO_COLOR": "1"}, {"COLORTERM": "truecolor"}):
        assert not re.search(r"\x1b\[(?:\d+;)*[34]\d", shown("ask", QUESTION, **environment).raw)
    assert "\x1b" not in shown("ask", QUESTION, TERM="dumb", NO_COLOR="1").raw.replace("\x1b]8;", "")


@pytest.mark.parametrize("on_terminal", [True, False])
def test_what_a_paper_says_is_no_markup_and_steers_no_terminal(tmp_path: Path, on_terminal: bool) -> None:
    (tmp_path / "evil.txt").write_text(HOSTILE, "utf-8")
    environment = {"ASSISTANT_DATA_DIR": str(tmp_path / "data")}
    assert run("index", "evil.txt", "--collection", "evil", **environment).returncode == 0
    command = ["ask", "What is CatNet?", "--collection", "evil"]
    if not on_terminal:
        assert "\x1b" not in run(*command, **environment).stdout
        return
    terminal = shown(*command, columns=200, **environment)
    assert "[bold red]sees[/] cats with" in terminal.text
    quoted, source = terminal.raw.split("\x1b[2m[1]\x1b[0m \x1b[1m")
    assert not re.search(r"\x1b\[31m|\x9b|\x1b]8", quoted)
    assert source.count("https://evil.example") == 2  # its address is linked where its source is given


def test_questions_are_read_from_the_input_one_a_line(assistant: Assistant) -> None:
    asked = [QUESTION, "Which paper proposes AlphaFold 3?"]
    done = CliRunner().invoke(cli.app, ["ask", "-"], input=f"\ufeff{asked[0]}\r\n\n  \n{asked[1]}")
    assert done.exit_code == 0
    assert done.stdout.split("> ")[1:] == [
        f"{question}\n\n{printed.stdout}\n"
        for question in asked
        if (printed := CliRunner().invoke(cli.app, ["ask", question]))
    ]


def test_json_of_questions_from_the_input_is_one_document_a_line_and_a_bad_line_is_named() -> None:
    given = f"{QUESTION}\n???\n{'x' * 5000}\n".encode() + b"\xff\xfe?\nWhat is HiPhO?\n"
    done = CliRunner().invoke(cli.app, ["ask", "-", "--json"], input=given)
    assert done.exit_code == 1
    documents = [json.loads(line) for line in done.stdout.splitlines()]
    assert [document.get("question") for document in documents] == [QUESTION, None, None, None, "What is HiPhO?"]
    assert [document["error"]["message"][:7] for document in documents[1:4]] == ["Line 2:", "Line 3:", "Line 4:"]
    plain = CliRunner().invoke(cli.app, ["ask", "-"], input=given)
    assert plain.exit_code == 1
    assert [line[:14] for line in plain.stderr.splitlines()[::2]] == [
        "Error: Line 2:",
        "Error: Line 3:",
        "Error: Line 4:",
    ]
    assert plain.stdout.count("[1] ") >= 2


@pytest.mark.parametrize("arguments", [[], ["-i", "What is LiftQuant?"], ["-i", "--json"], ["-i", "-"]])
def test_there_is_one_way_to_ask_at_a_time(arguments: list[str]) -> None:
    assert CliRunner().invoke(cli.app, ["ask", *arguments]).exit_code == 2


def test_a_conversation_keeps_its_source_numbers_and_goes_on_after_an_error() -> None:
    with PseudoTerminal("ask", "-i") as terminal:
        terminal.waits_for("34 papers")
        terminal.types("What is HiPhO?\r")
        terminal.waits_for(r"HiPhO: .*\[1\] HiPhO  ICML")
        terminal.types("What is LiftQuant?\r")
        terminal.waits_for(r"\[2\] LiftQuant  ICML")
        terminal.types("Which GPU does it fit on?\r")
        terminal.waits_for("Read as: Which GPU does LiftQuant fit on")
        terminal.waits_for(r"24GB GPU.*\[2\] LiftQuant  ICML")
        terminal.types("???\r")
        terminal.waits_for("Error: The question is empty")
        terminal.types("\r\x1b[A\x1b[A\r")  # an empty line, and the last question but one out of the history
        terminal.waits_for(r"24GB GPU.*\[2\] LiftQuant  ICML")
        terminal.waits_for("> ")
        terminal.interrupts()
        terminal.waits_for("> ")
        terminal.types("exit\r")
        assert terminal.ends() == 0
    with PseudoTerminal("ask", "-i") as terminal:
        terminal.waits_for("> ")
        terminal.types("\x04")
        assert terminal.ends() == 0


def test_an_answer_shows_its_sentences_as_they_come_and_can_be_stopped(model_server: ModelServer) -> None:
    sentence = "LiftQuant enables a 70B LLM to be compressed to 2.4 bits to fit a 24GB GPU [1]."
    model_server.says(f"{sentence} " + "And so on it goes. " * 200, seconds_between_words=0.02)
    settings = {"ASSISTANT_MODEL": "openai:scripted-1", "OPENAI_BASE_URL": model_server.url}
    with PseudoTerminal("ask", "-i", OPENAI_API_KEY="sk-canary-5f2a91", **settings) as terminal:
        terminal.waits_for("> ")
        terminal.types(f"{QUESTION}\r")
        terminal.waits_for(r"24GB GPU")
        assert not model_server.sent_all.is_set()
        terminal.interrupts()
        terminal.waits_for("Stopped")
        assert model_server.client_left.wait(5)
        model_server.replies[:] = []
        model_server.says("HiPhO is a benchmark of the 13 latest Olympiads [2].")
        terminal.types("What is HiPhO?\r")
        terminal.waits_for(r"\[2\] HiPhO  ICML")  # 1 was seen, and stays that of LiftQuant
        terminal.waits_for("> ")
        terminal.types("\x04")
        assert terminal.ends() == 0


def test_a_conversation_can_be_read_from_a_pipe() -> None:
    done = CliRunner().invoke(cli.app, ["ask", "-i"], input="What is HiPhO?\nexit\nWhat is LiftQuant?\n")
    assert done.exit_code == 0
    assert "[1] HiPhO" in done.stdout
    assert "LiftQuant" not in done.stdout
    assert "\x1b" not in done.stdout


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`assistant` on the path, as an installation has it."""
    script = tmp_path / "bin" / "assistant"
    script.parent.mkdir()
    script.write_text(f"#!{sys.executable}\nfrom assistant.cli import main\nmain()\n", "utf-8")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def completed(command: str) -> list[str]:
    """What bash offers for the last word of a command line."""
    script = (
        'eval "$(_ASSISTANT_COMPLETE=source_bash assistant)"; read -ra COMP_WORDS <<< "$LINE"; '
        'COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _assistant_completion assistant; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    env = {**os.environ, "LINE": command}
    return subprocess.run(["bash", "-c", script], env=env, capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.usefixtures("program")
def test_a_shell_completes_commands_options_and_names_of_collections() -> None:
    assert completed("assistant eval") == ["evaluate"]
    assert completed("assistant ask --coll") == ["--collection"]
    assert completed("assistant ask x --collection ic") == ["icml2026"]
    assert completed("assistant ask x --collection other,ic") == ["other,icml2026"]
    assert completed("assistant collections info i") == ["icml2026"]
    assert completed("assistant ask x --collection z") == []


@pytest.mark.usefixtures("program")
@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_so_do_other_shells(shell: str) -> None:
    asked = {"_TYPER_COMPLETE_ARGS": "assistant ask x --collection ic", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    done = subprocess.run(
        ["assistant"],
        env={**os.environ, "_ASSISTANT_COMPLETE": f"complete_{shell}", **asked},
        capture_output=True,
        text=True,
    )
    assert "icml2026" in done.stdout
    source = subprocess.run(
        ["assistant"], env={**os.environ, "_ASSISTANT_COMPLETE": f"source_{shell}"}, capture_output=True, text=True
    )
    assert "_ASSISTANT_COMPLETE" in source.stdout


@pytest.mark.usefixtures("program")
def test_a_wrong_setting_completes_nothing_and_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_PORT", "x")
    assert completed("assistant ask x --collection ic") == []
