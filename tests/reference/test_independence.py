"""The evaluator shares the model with the package, and nothing of what runs plans."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

_SHARED = (
    *("pyspark_substrait.model", "pyspark_substrait.extensions", "pyspark_substrait.errors"),
    *(f"pyspark_substrait.conformance.{name}" for name in ("calls", "conflicts", "function_cases", "values")),
)
_NEVER = ("pyspark_substrait", "pyspark.")


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_nothing_of_the_compiler_is_imported() -> None:
    files = [path for path in Path(__file__).parent.rglob("*.py") if not path.name.startswith("test_")]
    assert len(files) > 20
    found = {name for path in files for name in _imported(path) if name.startswith(_NEVER)}
    assert [name for name in found if not name.startswith(_SHARED)] == []
