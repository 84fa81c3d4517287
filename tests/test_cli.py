import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from assistant import cli
from tests.fakes import ModelServer
from vectorstore.library import Library

ROOT = Path(__file__).parents[1]


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command as a user starts it."""
    code = "from assistant.cli import main; main()"
    env = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200", **environment}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=env, timeout=120
    )


def lasting_files(folder: Path) -> list[str]:
    """What is there, but for what SQLite keeps beside a database that is open."""
    return sorted(path.name for path in folder.rglob("*") if not path.name.endswith(("-wal", "-shm")))


@pytest.fixture
def data(built_in_data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSISTANT_DATA_DIR", str(built_in_data))
    return built_in_data


def test_help_lists_the_commands_at_once() -> None:
    start = time.monotonic()
    done = run("--help")
    assert time.monotonic() - start < 5  # under a second on an idle machine; a loose bound here
    assert done.returncode == 0
    for command in ("index", "ask", "search", "papers", "chat", "doctor"):
        assert command in done.stdout


def test_a_first_question_makes_the_built_in_collection_and_needs_no_gradio(tmp_path: Path) -> None:
    code = (
        "import sys; from assistant.cli import app;"
        "app(['ask', 'Which GPU does LiftQuant fit on?'], standalone_mode=False);"
        "assert 'gradio' not in sys.modules"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT), "ASSISTANT_DATA_DIR": str(tmp_path / "new")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "24GB GPU" in done.stdout
    assert "[1] LiftQuant  ICML 2026  https://github.com/Heliulu/LiftQuant" in done.stdout


@pytest.mark.parametrize("data_dir", ["relative/data", "with blanks", "C# 100%41?mode=rw"])
def test_the_data_folder_may_be_named_in_any_way(
    built_in_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data_dir: str
) -> None:
    shutil.copytree(built_in_data, tmp_path / data_dir)
    monkeypatch.chdir(tmp_path)
    done = run("search", "LiftQuant 2026", "--json", ASSISTANT_DATA_DIR=data_dir)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0]["label"] == "LiftQuant"


@pytest.mark.usefixtures("data")
def test_json_is_the_plain_form_of_the_answer() -> None:
    done = run("ask", "What is LiftQuant?", "--json")
    plain = json.loads(done.stdout)
    assert plain["status"] == "answered"
    assert plain["citations"][0]["label"] == "LiftQuant"


@pytest.mark.usefixtures("data")
def test_papers_and_search_list_what_there_is() -> None:
    assert len(run("papers").stdout.splitlines()) == 34
    assert len(json.loads(run("papers", "--json").stdout)) == 34
    found = json.loads(run("search", "protein design", "-k", "2", "--json").stdout)
    assert found[0]["label"] == "PAR"
    assert len(found) == 2


def test_indexing_says_what_it_did_and_the_second_time_that_nothing_is_to_do(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text(
        "We propose CatNet, which sees cats.\n\nDogs bark. We study why.", encoding="utf-8"
    )
    environment = {"ASSISTANT_DATA_DIR": str(tmp_path / "data")}
    first = run("index", "mine.txt", "--collection", "mine", **environment)
    assert first.stdout.splitlines() == [
        "mine.txt (text): 2 records read: 2 added, 0 unchanged, 0 removed",
        "mine: 2 papers, 2 texts embedded, indexed",
    ]
    assert "nothing to do" in run("index", "mine.txt", "--collection", "mine", **environment).stdout
    rebuilt = run("index", "--rebuild", "--collection", "mine", "--json", **environment)
    assert json.loads(rebuilt.stdout)["embedded"] == 0
    assert "CatNet" in run("papers", "--collection", "mine", **environment).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ask", ""], "empty"),
        (["ask", "a" * 100_000], "100,000"),
        (["ask", "\x07\x1b"], "empty"),
        (["ask", "hi", "--collection", "nowhere"], "no collection 'nowhere'"),
        (["ask", "hi", "--collection", "../up"], "cannot be the name"),
        (["index", "nowhere.txt"], "no file"),
        (["index", "binary.txt"], "binary"),
        (["index", "closed.txt"], "cannot be read"),
        (["index", "--rebuild", "--collection", "nowhere"], "no collection"),
    ],
)
def test_bad_input_is_two_lines_and_exit_code_1(
    data_dir: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    (tmp_path / "binary.txt").write_bytes(b"\x00\x01\x02")
    (tmp_path / "closed.txt").mkdir()
    if arguments[1] == "closed.txt":
        (tmp_path / "closed.txt").rmdir()
        (tmp_path / "closed.txt").symlink_to("closed.txt")  # a file that even the superuser cannot read
        message = "no file"
    before = lasting_files(data_dir)
    done = run(*arguments, ASSISTANT_DATA_DIR=str(data_dir))
    assert done.returncode == 1
    assert done.stdout == ""
    first, hint = done.stderr.splitlines()
    assert first.startswith("Error: ")
    assert message in first
    assert hint
    assert lasting_files(data_dir) == before
    as_json = run(*arguments, "--json", ASSISTANT_DATA_DIR=str(data_dir))
    assert as_json.returncode == 1
    assert message in json.loads(as_json.stdout)["error"]["message"]


def test_a_first_start_that_was_interrupted_is_begun_again(tmp_path: Path) -> None:
    data = tmp_path / "data"
    Library(data / "collections" / "icml2026" / "library.sqlite", create=True).close()
    environment = {"ASSISTANT_DATA_DIR": str(data)}
    rebuilt = run("index", "--rebuild", **environment)
    assert rebuilt.returncode == 1
    assert "holds no paper yet" in rebuilt.stderr
    assert "24GB" in run("ask", "Which GPU does LiftQuant fit on?", **environment).stdout


def test_wrong_usage_is_exit_code_2() -> None:
    assert run("frobnicate").returncode == 2
    assert run("ask").returncode == 2
    assert run("index").returncode == 2
    assert run("search", "x", "-k", "0").returncode == 2


def test_a_damaged_index_is_named_with_the_command_that_mends_it(data_dir: Path) -> None:
    for file in data_dir.rglob("chroma.sqlite3"):
        file.write_bytes(b"rubbish")
    environment = {"ASSISTANT_DATA_DIR": str(data_dir)}
    done = run("ask", "What is LiftQuant?", **environment)
    assert done.returncode == 1
    assert "assistant index --rebuild --collection icml2026" in done.stderr
    assert "Traceback" not in done.stderr
    assert run("doctor", **environment).returncode == 1
    assert run("index", "--rebuild", **environment).returncode == 0
    assert "24GB" in run("ask", "Which GPU does LiftQuant fit on?", **environment).stdout
    assert run("doctor", **environment).returncode == 0


@pytest.mark.usefixtures("data")
def test_no_failure_of_a_model_shows_a_traceback_or_a_key(model_server: ModelServer) -> None:
    model_server.says("x")
    right = {"ASSISTANT_MODEL": "openai:scripted-1", "OPENAI_BASE_URL": model_server.url}
    cases = [
        {**right, "OPENAI_API_KEY": "sk-wrong-canary"},
        {**right, "OPENAI_API_KEY": "sk-canary", "ASSISTANT_MODEL": "nonsense"},
        {**right, "OPENAI_API_KEY": "sk-canary", "ASSISTANT_MODEL": "nobody:model"},
    ]
    for environment in cases:
        done = run("ask", "What is LiftQuant?", **environment)
        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 2
        assert "canary" not in done.stdout + done.stderr
    gone = {**right, "OPENAI_API_KEY": "sk-canary", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    done = run("ask", "What is LiftQuant?", **gone)
    assert done.returncode == 0
    assert "cannot be reached" in done.stdout
    assert "[1] LiftQuant" in done.stdout
    assert "canary" not in done.stdout + done.stderr


@pytest.mark.usefixtures("data")
def test_debug_shows_where_an_error_came_from() -> None:
    done = run("--debug", "ask", "hi", "--collection", "nowhere")
    assert done.returncode == 1
    assert "Traceback" in done.stderr


def test_an_unforeseen_error_is_told_without_its_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise RuntimeError("sk-canary in here")

    monkeypatch.setattr(cli, "app", fail)
    monkeypatch.setattr(sys, "argv", ["assistant", "ask", "x"])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 1
    shown = capsys.readouterr().err
    assert "RuntimeError" in shown
    assert "canary" not in shown


def test_what_steers_a_terminal_is_taken_out_of_papers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_DATA_DIR", str(tmp_path / "data"))
    text = "We propose CatNet, which\x1b[31m sees \x9b2J cats \x1b]52;c;YmFk\x07 well."
    (tmp_path / "evil.txt").write_text(text, encoding="utf-8")
    runner = CliRunner()
    runner.invoke(cli.app, ["index", "evil.txt", "--collection", "evil"], catch_exceptions=False)
    shown = runner.invoke(cli.app, ["ask", "What is CatNet?", "--collection", "evil"], catch_exceptions=False).stdout
    assert "CatNet" in shown
    assert not any(char in shown for char in "\x1b\x07\x9b")
