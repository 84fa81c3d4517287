"""What all measurements share: the machine they ran on, where public data lies, and tables."""

import os
import platform
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
PUBLIC_DATA = ROOT.parent / "shared" / "data"
"""Public data that is read by path and not part of the project."""
LEAST_SIMILARITY = 0.63
"""The threshold by which similarity alone is often taken for support; printed beside our checks."""
_PACKAGES = ("chromadb", "bm25s", "onnxruntime", "tokenizers", "langchain-core", "numpy")
console = Console(width=150)


def print_environment(what: str) -> None:
    """One line on the measurement, one on machine and versions."""
    console.print(f"\n[bold]{what}[/bold]")
    versions = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    console.print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; {versions}")


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table whose first column is text and whose others are figures."""
    table = Table(*columns[:1])
    for column in columns[1:]:
        table.add_column(column, justify="right")
    for row in rows:
        table.add_row(*row)
    console.print(table)
