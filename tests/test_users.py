"""`assistant user`, and the file it writes: who may log in, and who has an API key."""

import io
import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assistant.access import Users
from assistant.cli import main
from assistant.errors import AccessError, AccessRefused

PASSWORD = "correct horse"


class Command:
    """`assistant user ...` with a file of its own; what it printed, after its exit code."""

    def __init__(self, file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.file = file
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *arguments: str, typed: str = "") -> tuple[int, str]:
        self._monkeypatch.setenv("ASSISTANT_AUTH_FILE", str(self.file))
        self._monkeypatch.setattr("sys.argv", ["assistant", "user", *arguments])
        self._monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        with pytest.raises(SystemExit) as left:
            main()
        printed = self._capsys.readouterr()
        return int(left.value.code or 0), printed.out + printed.err


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(tmp_path / "kept" / "users.json", monkeypatch, capsys)


def test_users_come_get_keys_and_go(user: Command) -> None:
    assert user("add", "ann", typed=f"{PASSWORD}\n")[0] == 0
    key = user("key", "ann")[1].strip()
    other = user("key", "program")[1].strip()
    users = Users(user.file)
    assert users.owner_of(key) == "ann"
    assert users.owner_of(other) == "program"
    assert users.may_log_in("ann", PASSWORD)
    assert json.loads(user("list", "--json")[1]) == [
        {"name": "ann", "password": True, "keys": 1},
        {"name": "program", "password": False, "keys": 1},
    ]
    assert "ann: a password, 1 API keys" in user("list")[1]
    assert user("remove", "ann")[0] == 0
    with pytest.raises(AccessRefused):
        users.owner_of(key)
    assert not users.may_log_in("ann", PASSWORD)
    assert users.owner_of(other) == "program"


def test_the_file_holds_no_secret_and_only_its_owner_reads_it(user: Command) -> None:
    user("add", "ann", typed=f"{PASSWORD}\n")
    key = user("key", "ann")[1].strip()
    text = user.file.read_text("utf-8")
    assert PASSWORD not in text
    assert key not in text
    assert "$argon2id$" in text
    assert stat.S_IMODE(user.file.stat().st_mode) == 0o600
    assert len(key) > 40


def test_a_new_password_takes_the_place_of_the_old_and_keys_stay(user: Command) -> None:
    user("add", "ann", typed=f"{PASSWORD}\n")
    key = user("key", "ann")[1].strip()
    user("add", "ann", typed="another password\n")
    users = Users(user.file)
    assert users.may_log_in("ann", "another password")
    assert not users.may_log_in("ann", PASSWORD)
    assert users.owner_of(key) == "ann"


def test_nobody_logs_in_without_the_right_password(user: Command) -> None:
    user("add", "ann", typed=f"{PASSWORD}\n")
    user("key", "program")
    users = Users(user.file)
    for name, password in (("ann", ""), ("ann", PASSWORD + "x"), ("bob", PASSWORD), ("program", ""), ("", "")):
        assert not users.may_log_in(name, password)
    with pytest.raises(AccessRefused):
        users.owner_of("")


@pytest.mark.parametrize("password", ["", "short", "x" * 1001])
def test_a_password_too_short_or_too_long_is_refused(user: Command, password: str) -> None:
    code, said = user("add", "ann", typed=f"{password}\n")
    assert code == 1
    assert said.splitlines()[1] == "Give one of 10 to 1000 characters."
    assert not user.file.exists()


@pytest.mark.parametrize("name", ["../up", "", "a b", "<b>", "ann\n", "é", "x" * 65, ".hidden"])
def test_what_cannot_be_a_name_is_refused(user: Command, name: str) -> None:
    for action in ("key", "add", "remove"):
        code, said = user(action, name, typed=f"{PASSWORD}\n")
        assert code == 1
        assert "cannot be the name of a user" in said
    assert not user.file.exists()


def test_somebody_unknown_cannot_be_removed(user: Command) -> None:
    user("key", "ann")
    code, said = user("remove", "bob")
    assert (code, said.splitlines()[0]) == (1, "Error: There is no user 'bob'.")
    assert list(Users(user.file).all()) == ["ann"]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"ann": {"password": 5}}', '{"ann": "canary"}', "\xff"])
def test_a_damaged_file_is_said_and_never_written_over(user: Command, content: str) -> None:
    user.file.parent.mkdir()
    user.file.write_text(content, "latin1")
    for action in (("list",), ("key", "ann"), ("remove", "ann")):
        code, said = user(*action)
        assert code == 1
        assert str(user.file) in said
        assert "canary" not in said
        assert len(said.splitlines()) == 2
    assert user.file.read_text("latin1") == content


def test_a_place_that_cannot_be_read_or_written_is_said(user: Command) -> None:
    user.file.mkdir(parents=True)
    assert "cannot be read: Is a directory" in user("list")[1]
    user.file = user.file / "a" / "users.json"
    user.file.parent.write_text("a file, no folder")
    code, said = user("key", "ann")
    assert code == 1
    assert "cannot be written" in said


def test_without_a_file_it_says_what_to_do(
    user: Command, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["assistant", "user", "list"])
    with pytest.raises(SystemExit):
        main()
    assert capsys.readouterr().err.splitlines() == [
        "Error: No file of users is configured.",
        "Set ASSISTANT_AUTH_FILE to its path, or give --file.",
    ]


def test_changes_at_once_are_all_kept(tmp_path: Path) -> None:
    names = [f"user{number}" for number in range(12)]
    users = Users(tmp_path / "users.json")
    with ThreadPoolExecutor(12) as pool:
        keys = list(pool.map(lambda name: Users(users.path).new_key(name), names))
    assert sorted(users.all()) == sorted(names)
    assert [users.owner_of(key) for key in keys] == names


def test_a_change_counts_though_the_time_of_the_file_is_the_same(tmp_path: Path) -> None:
    users = Users(tmp_path / "users.json")
    key = users.new_key("ann")
    assert users.owner_of(key) == "ann"
    before = users.path.stat()
    Users(users.path).remove("ann")
    os.utime(users.path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(AccessRefused):
        users.owner_of(key)


def test_a_missing_file_has_nobody(tmp_path: Path) -> None:
    users = Users(tmp_path / "users.json")
    assert users.all() == {}
    with pytest.raises(AccessRefused):
        users.owner_of("pa-x")
    with pytest.raises(AccessError):
        users.remove("ann")
