"""The direction of imports: cli → {spark → {sparksql, building}, validation, display, proto} → extensions → model →
errors → {codes, message_text}.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "pyspark_substrait"
PACKAGE = "pyspark_substrait"

BASE = {"extensions", "model", "errors", "codes", "message_text"}
MAY_IMPORT = {
    "codes": set[str](),
    "message_text": set[str](),
    "errors": {"codes", "message_text"},
    "model": {"errors", "codes", "message_text"},
    "extensions": {"model", "errors", "codes", "message_text"},
    "sparksql": BASE,
    "validation": BASE,
    "linting": BASE | {"sparksql"},
    "comparing": BASE | {"notebooks"},
    "textform": BASE,
    "reporting": BASE | {"display", "notebooks"},
    "display": BASE,
    "tracing": BASE,
    "profiling": BASE | {"display", "notebooks"},
    "viewing": BASE | {"display", "profiling", "tracing", "comparing", "notebooks"},
    "notebooks": BASE
    | {
        "checking",
        "comparing",
        "display",
        "documents",
        "producing",
        "profiling",
        "reporting",
        "showing",
        "spark",
        "viewing",
        "",
    },
    "building": BASE,
    "targets": BASE,
    "proto": BASE,
    "spark": BASE | {"sparksql", "building", "profiling"},
    "documents": BASE | {"proto", "textform", "notebooks"},
    "write_targets": BASE | {"proto"},
    "builder": BASE | {"building", "documents", "proto"},
    "checking": BASE
    | {
        "sparksql",
        "targets",
        "validation",
        "linting",
        "comparing",
        "textform",
        "reporting",
        "display",
        "proto",
        "documents",
        "",
    },
    "showing": BASE
    | {
        "checking",
        "comparing",
        "display",
        "documents",
        "tracing",
        "profiling",
        "proto",
        "reporting",
        "spark",
        "viewing",
        "",
    },
    "producing": BASE | {"proto", "spark", "documents", ""},
    "": BASE
    | {
        "checking",
        "notebooks",
        "producing",
        "showing",
        "sparksql",
        "building",
        "targets",
        "validation",
        "display",
        "proto",
        "spark",
        "documents",
    },  # the verbs in __init__.py
    "cli": BASE
    | {
        "checking",
        "showing",
        "viewing",
        "tracing",
        "profiling",
        "sparksql",
        "building",
        "targets",
        "reporting",
        "display",
        "proto",
        "spark",
        "documents",
        "",
    },
    "__main__": {"cli"},
}
"""What each part may import beside itself; the part with no name is the package's own module."""

ONLY_IN = {
    "pyspark": {"spark"},
    "py4j": {"spark"},
    "substrait": {"proto"},  # the generated messages
    "google": {"proto", "documents", "write_targets"},
    "click": {"cli"},
    "lark": {"textform"},
    "jinja2": {"reporting", "viewing", "notebooks"},
    "pygraphviz": {"viewing"},
    "IPython": {"notebooks", "spark"},
}
"""Packages that only some parts may import. The verbs name types of all of them in annotations, and import none."""

MODULES = sorted(SOURCE.rglob("*.py"))


def part_of(module: str) -> str:
    """The part of the package that a module belongs to: ``pyspark_substrait.model.types`` is in ``model``."""
    names = module.split(".")
    return names[1] if len(names) > 1 else ""


def module_name(path: Path) -> str:
    names = [PACKAGE, *path.relative_to(SOURCE).with_suffix("").parts]
    return ".".join(names[:-1] if names[-1] == "__init__" else names)


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Every import of a file, those inside functions and for type checking included: line and full module name."""
    package = module_name(path).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            if base == PACKAGE:  # what is imported may itself be a part
                for alias in node.names:
                    yield node.lineno, f"{base}.{alias.name}" if alias.name in MAY_IMPORT else base
            else:
                yield node.lineno, base


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_imports_point_one_way(path: Path) -> None:
    part = part_of(module_name(path))
    assert part in MAY_IMPORT, f"{part} is a part that the layout does not know"
    for line, name in imports(path):
        top = name.split(".")[0]
        where = f"{path.relative_to(ROOT)}:{line}"
        if top == PACKAGE:
            target = part_of(name)
            assert target == part or target in MAY_IMPORT[part], f"{where}: {part or 'the package'} imports {name}"
        elif top in ONLY_IN and part not in ("", "producing", "showing"):
            assert part in ONLY_IN[top], f"{where}: only {', '.join(ONLY_IN[top])} may import {top}"
        elif part in ("codes", "message_text", "errors", "model"):
            assert top in sys.stdlib_module_names or top == "typing_extensions", f"{where}: {part} imports {top}"


def test_the_rules_see_an_offence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "SOURCE", tmp_path)
    file = tmp_path / "model" / "types.py"
    file.parent.mkdir()
    file.write_text(
        "def f():\n    from ..proto import wire\n    from pyspark_substrait import spark\nimport yaml.nodes\n"
    )
    assert sorted(imports(file)) == [(2, "pyspark_substrait.proto"), (3, "pyspark_substrait.spark"), (4, "yaml.nodes")]
