"""The files for containers fit the project; no engine is here to build them."""

import fnmatch
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from assistant import cli
from assistant.settings import Settings, setting_names

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
DOCKERFILE = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text("utf-8"))
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
LET_IN = [
    line.removeprefix("!") for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")
]
COPIED = {name for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE) for name in line.split()[:-1]}


def arguments(instruction: str) -> list[list[str]]:
    """Those of each such instruction, which stand as JSON."""
    found = re.findall(rf"^{instruction} \[(.+)\]$", DOCKERFILE, re.MULTILINE)
    return [list(yaml.safe_load(f"[{one}]")) for one in found]


def test_the_linter_finds_nothing() -> None:
    linter = shutil.which("hadolint", path=str(Path(sys.executable).parent))
    if linter is None:
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing("hadolint is not installed; run: make setup")
    done = subprocess.run([linter, "--failure-threshold", "info", ROOT / "Dockerfile"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_is_copied_exists_and_is_sent_to_the_engine_and_nothing_else_is() -> None:
    assert set(LET_IN) == COPIED
    assert all((ROOT / name).exists() for name in COPIED)
    packages = {package.split(".")[0] for package in PROJECT["tool"]["setuptools"]["packages"]}
    assert packages <= COPIED
    assert {"pyproject.toml", "requirements.lock", PROJECT["project"]["readme"]} <= COPIED
    assert {*PROJECT["project"]["license-files"]} <= COPIED


def test_the_images_have_fixed_versions_and_a_python_that_will_do() -> None:
    (version,) = set(re.findall(r"^FROM python:(\d+\.\d+)-slim-\w+(?: AS build)?$", DOCKERFILE, re.MULTILINE))
    assert len(re.findall(r"^FROM ", DOCKERFILE, re.MULTILINE)) == 2
    assert f"Programming Language :: Python :: {version}" in PROJECT["project"]["classifiers"]
    assert {service["image"] for service in SERVICES.values()} == {
        f"{PROJECT['project']['name']}:{PROJECT['project']['version']}"
    }
    assert "--constraint requirements.lock ." in DOCKERFILE


def test_nothing_runs_as_root_or_may_become_it() -> None:
    last_stage = DOCKERFILE.split("\nFROM ")[-1]
    (user,) = re.findall(r"^USER (\d+):\d+$", last_stage, re.MULTILINE)
    assert int(user) > 0
    assert last_stage.index("USER") < last_stage.index("CMD")
    for service in SERVICES.values():
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["read_only"]


def test_only_the_assistant_is_published_and_to_this_machine_only() -> None:
    assert SERVICES["assistant"]["ports"] == [f"127.0.0.1:{Settings.model_fields['port'].default}:7860"]
    assert "ports" not in SERVICES["chroma"]
    assert SERVICES["chroma"]["networks"] == ["inside"]
    assert COMPOSE["networks"]["inside"]["internal"]


def test_the_server_gets_its_users_as_a_secret_and_no_value_of_them_is_in_a_file() -> None:
    given = SERVICES["assistant"]["environment"]
    users = Path(given["ASSISTANT_AUTH_FILE"])
    assert users.parent == Path("/run/secrets")
    assert users.name in SERVICES["assistant"]["secrets"]
    assert users.name in COMPOSE["secrets"]
    assert not any(fnmatch.fnmatch(name, "*_KEY") or fnmatch.fnmatch(name, "*_TOKEN") for name in given)
    assert "secrets/" in (ROOT / ".gitignore").read_text("utf-8").splitlines()


def test_the_settings_in_them_exist() -> None:
    named = {*SERVICES["assistant"]["environment"], *re.findall(r"\bASSISTANT_[A-Z_]+(?==)", DOCKERFILE)}
    assert named <= {*setting_names()}


def test_what_they_start_exists_with_its_options() -> None:
    ((program, name, *options),) = arguments("CMD")
    assert (program, name) == ("assistant", "serve")
    commands = vars(typer.main.get_command(cli.app))["commands"]
    known = {option for parameter in commands[name].params for option in parameter.opts}
    assert {option for option in options if option.startswith("--")} <= known


def test_addresses_and_ports_fit_each_other() -> None:
    (port,) = re.findall(r"^EXPOSE (\d+)$", DOCKERFILE, re.MULTILINE)
    assert f"http://127.0.0.1:{port}/health" in DOCKERFILE
    assert arguments("CMD")[0][-2:] == ["--port", port]
    command = SERVICES["chroma"]["command"]
    chroma_port = command[command.index("--port") + 1]
    assert SERVICES["assistant"]["environment"]["CHROMA_URL"] == f"http://chroma:{chroma_port}"
    assert f"127.0.0.1:{chroma_port}/api/v2/heartbeat" in SERVICES["chroma"]["healthcheck"]["test"][-1]
    mounts = [mount.split(":") for service in SERVICES.values() for mount in service["volumes"]]
    assert {volume for volume, _ in mounts} == {*COMPOSE["volumes"]}
    folders = {folder for _, folder in mounts}
    assert folders == {*arguments("VOLUME")[0]}
    assert command[command.index("--path") + 1] in folders
    assert SERVICES["assistant"]["environment"]["ASSISTANT_DATA_DIR"] in folders
