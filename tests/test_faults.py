"""What a collection stands: folders that may only be read, huge files, and several processes at once."""

import ctypes
import gzip
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assistant import build_assistant
from assistant.app import index_papers
from vectorstore.folder import CollectionFolder
from vectorstore.library import Library
from vectorstore.types import PaperRecord, Source

ROOT = Path(__file__).parents[1]
COMMAND = [sys.executable, "-c", "from assistant.cli import main; main()"]
WITH_MEMORY = """
import re; from pathlib import Path; from assistant.cli import main
try: main()
finally: print(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""
"""The same, and then the most memory that it has held, in KB."""
CATS = "Cats chase mice at night. We propose CatNet, which sees in the dark."
DOGS = "Dogs guard houses by day. We propose DogNet, which hears steps."
BATS = "Bats hunt moths. We propose BatNet, which hears bats at night."
_DROP_FROM_BOUND, _OVERRIDE_PERMISSIONS = 24, 1  # prctl(2), capabilities(7)


def started(*arguments: object, before: Callable[[], None] | None = None) -> subprocess.Popen[str]:
    """A command in a process of its own."""
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=before,
    )


def done(*arguments: object, before: Callable[[], None] | None = None) -> subprocess.CompletedProcess[str]:
    process = started(*arguments, before=before)
    out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def bound_by_permissions() -> None:
    """In the child: root obeys the permissions of files from the program on that it starts next."""
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(_DROP_FROM_BOUND, _OVERRIDE_PERMISSIONS, 0, 0, 0)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nothing below `folder` may be written to, by the children that `bound_by_permissions`."""
    places = [folder, *folder.rglob("*")]
    modes = {place: place.stat().st_mode for place in places}
    for place in places:
        place.chmod(modes[place] & ~0o222)
    try:
        probe = subprocess.run(["test", "-w", folder], preexec_fn=bound_by_permissions)
        if probe.returncode == 0:
            pytest.skip("this user may write everywhere")
        yield
    finally:
        for place, mode in modes.items():
            place.chmod(mode)


def files_in(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with the collection "animals"."""
    monkeypatch.setenv("ASSISTANT_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "papers.txt").write_text(f"{CATS}\n\n{DOGS}", "utf-8")
    (tmp_path / "more.txt").write_text(BATS, "utf-8")
    index_papers([tmp_path / "papers.txt"], collection="animals")
    return tmp_path / "data"


def is_whole(data: Path) -> bool:
    assistant = build_assistant(data_dir=data, collection="animals")
    return [paper.label for paper in assistant.papers()] == ["CatNet", "DogNet"] and assistant.ask(
        "What is CatNet?"
    ).status == "answered"


def test_a_collection_that_may_only_be_read_is_asked_listed_and_exported(data: Path) -> None:
    before = files_in(data)
    with read_only(data):
        asked = done("ask", "What is CatNet?", "--collection", "animals", "--json", before=bound_by_permissions)
        listed = done("papers", "--collection", "animals", before=bound_by_permissions)
        exported = done("collections", "export", "animals", before=bound_by_permissions)
        info = done("collections", "info", "animals", before=bound_by_permissions)
    answer = json.loads(asked.stdout)
    assert (answer["status"], answer["citations"][0]["label"]) == ("answered", "CatNet")
    assert listed.stdout == "CatNet\nDogNet\n"
    assert CATS in exported.stdout
    assert "2 papers" in info.stdout
    assert files_in(data) == before


@pytest.mark.parametrize(
    "command",
    [
        ["index", "more.txt", "--collection", "animals"],
        ["index", "more.txt", "--collection", "new"],
        ["index", "--rebuild", "--collection", "animals"],
        ["collections", "delete", "animals", "--yes"],
        ["collections", "rename", "animals", "beasts"],
        ["ask", "What is CatNet?"],  # of the built-in collection, which cannot be made
    ],
)
def test_what_would_write_to_a_folder_that_may_only_be_read_says_so_and_changes_nothing(
    data: Path, command: list[str]
) -> None:
    before = files_in(data)
    with read_only(data):
        refused = done(*command, before=bound_by_permissions)
    message, hint = refused.stderr.splitlines()
    assert refused.returncode == 1
    assert message.startswith(f"Error: The folder {data}")
    assert message.endswith("cannot be written to: Permission denied.")
    assert "ASSISTANT_DATA_DIR" in hint
    assert files_in(data) == before
    assert is_whole(data)


@pytest.mark.parametrize("command", ["delete animals --yes", "rename animals beasts"])
def test_a_collection_in_a_folder_that_may_only_be_read_stays_whole(data: Path, command: str) -> None:
    """The collection itself could be written to."""
    with read_only(data / "collections"):
        for path in [data / "collections" / "animals", *(data / "collections" / "animals").rglob("*")]:
            path.chmod(path.stat().st_mode | 0o200)
        refused = done("collections", *command.split(), before=bound_by_permissions)
    assert (refused.returncode, len(refused.stderr.splitlines())) == (1, 2)
    assert "cannot be written to" in refused.stderr
    assert is_whole(data)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may write to what may only be read")
def test_who_may_only_read_sees_what_others_write(data: Path, tmp_path: Path) -> None:
    code = (
        "from assistant import build_assistant; a = build_assistant(collection='animals')\n"
        "for _ in range(2):\n"
        "    print(*(p.label for p in a.papers()), a.search('bats', 1)[0].paper.label, flush=True); input()"
    )
    with read_only(data):
        reader = subprocess.Popen(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=bound_by_permissions,
        )
        assert reader.stdin is not None
        assert reader.stdout is not None
        assert reader.stdout.readline().startswith("CatNet DogNet")
        assert done("index", tmp_path / "more.txt", "--collection", "animals").returncode == 0
        reader.stdin.write("\n")
        reader.stdin.flush()
        assert reader.stdout.readline() == "CatNet DogNet BatNet BatNet\n"
        reader.communicate("\n", timeout=60)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may write to what may only be read")
def test_who_may_only_read_sees_what_a_writer_has_not_moved_into_the_library_yet(data: Path) -> None:
    with read_only(data):
        writer = Library(CollectionFolder(data, "animals").library_path, create=True)
        try:
            with writer.transaction():
                writer.replace_source(Source(path="/b", papers=(PaperRecord(abstract=BATS, position=1),)))
            info = done("collections", "info", "animals", before=bound_by_permissions)
        finally:
            writer.close()
    assert "3 papers" in info.stdout


def packed(path: Path, before: bytes, block: bytes, times: int, after: bytes) -> Path:
    """A file of one block many times over: it is small, and huge when it is unpacked."""
    member = gzip.compress(block)
    path.write_bytes(gzip.compress(before) + member * times + gzip.compress(after))
    return path


_MEGABYTES_16 = b"We propose owls. " * ((16 << 20) // 17)


@pytest.mark.parametrize(
    ("name", "before", "after", "told"),
    [
        ("a.jsonl.gz", b'{"title": "A", "abstract": "', b'"}\n', "has a line of more than 256 MB."),
        ("a.txt.gz", b"", b"", "has more than 256 MB."),
        ("a.csv.gz", b"title,abstract\nA,", b"\n", "has more than 256 MB."),
    ],
)
def test_a_line_of_a_gigabyte_is_an_error_soon_and_in_little_memory(
    data: Path, tmp_path: Path, name: str, before: bytes, after: bytes, told: str
) -> None:
    path = packed(tmp_path / name, before, _MEGABYTES_16, 64, after)
    files = files_in(data)
    start = time.monotonic()
    command = [sys.executable, "-c", WITH_MEMORY, "index", str(path), "--collection", "animals"]
    refused = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert refused.returncode == 1
    assert refused.stderr.splitlines()[0] == f"Error: {path} {told}"
    assert len(refused.stderr.splitlines()) == 2
    assert time.monotonic() - start < 60
    assert int(refused.stdout) < 1_000_000
    assert files_in(data) == files


def test_a_file_of_a_hundred_megabytes_is_read_and_what_is_no_abstract_left_out(data: Path, tmp_path: Path) -> None:
    record = b'{"title": "Of owls", "abstract": "' + b"We propose owls, which see mice. " * 32 + b'"}\n'
    giant = b'{"title": "Giant", "abstract": "' + b"a" * 2_000_000 + b'"}\n'
    path = packed(tmp_path / "a.jsonl.gz", giant, record * 1000, 95, b"")
    indexed = done("index", path, "--collection", "animals", "--json")
    assert indexed.returncode == 0, indexed.stderr
    (change,) = json.loads(indexed.stdout)["sources"]
    assert (change["added"], len(change["duplicates"])) == (1, 94_999)
    assert [skipped["reason"] for skipped in change["skipped"]] == [
        "its abstract would have more than 1,000,000 characters"
    ]


def test_questions_are_answered_while_another_process_indexes(data: Path, tmp_path: Path) -> None:
    assistant = build_assistant(data_dir=data, collection="animals")
    file, failures, asked, stop = tmp_path / "papers.txt", [], [], threading.Event()

    def ask() -> None:
        while not stop.is_set():
            try:
                asked.append(assistant.ask("What is CatNet?").citations[0].paper.label)
            except Exception as error:
                failures.append(error)

    askers = [threading.Thread(target=ask) for _ in range(2)]
    for asker in askers:
        asker.start()
    try:
        for turn in range(3):
            new = f"Animals of kind {turn} swim. We propose Swim{turn}Net, which follows fish."
            file.write_text("\n\n".join([CATS, BATS, new]), "utf-8")
            before = len(asked)
            indexed = done("index", file, "--collection", "animals")
            assert indexed.returncode == 0, indexed.stderr
            assert {paper.label for paper in assistant.papers()} == {"CatNet", "BatNet", f"Swim{turn}Net"}
            assert assistant.ask(f"What does Swim{turn}Net follow?").citations[0].paper.label == f"Swim{turn}Net"
            assert len(asked) > before
    finally:
        stop.set()
        for asker in askers:
            asker.join(60)
    assert failures == []
    assert set(asked) == {"CatNet"}
    assert len(list(CollectionFolder(data, "animals").index_path.iterdir())) <= 2


def test_of_two_indexers_at_once_one_is_told_who_the_other_is(data: Path, tmp_path: Path) -> None:
    folder = CollectionFolder(data, "animals")
    file = tmp_path / "papers.txt"
    file.write_text("\n\n".join([CATS, *(f"We propose Net{row}X, which does {row} things." for row in range(60))]))
    first = started("index", file, "--collection", "animals")
    while (folder.path / "writer.pid").read_text() != str(first.pid):
        assert first.poll() is None
        time.sleep(0.01)
    first.send_signal(signal.SIGSTOP)
    try:
        second = done("index", tmp_path / "more.txt", "--collection", "animals")
    finally:
        first.send_signal(signal.SIGCONT)
    assert second.returncode == 1
    assert second.stderr.splitlines() == [
        f"Error: Process {first.pid} is writing to the collection 'animals'.",
        "Try again when it is done.",
    ]
    first.communicate(timeout=120)
    assert first.returncode == 0
    assert len(Library(folder.library_path).papers()) == 61
    assert done("index", tmp_path / "more.txt", "--collection", "animals").returncode == 0
    assert len(Library(folder.library_path).papers()) == 62
