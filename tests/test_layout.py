"""The direction of imports: a room imports only rooms below it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "pyspark_substrait"
PACKAGE = "pyspark_substrait"

BASE = {"model", "errors", "codes", "message_text"}
#: the rooms from the top down, each with those it may import; the room with no name is the package's own module
ROOMS: dict[str, set[str]] = {
    "__main__": {"cli"},
    "cli": {*BASE, "", "api", "spark", "documents", "sql", "analysis", "text", "extensions"},
    "notebooks": {*BASE, "", "api", "spark", "documents", "render", "analysis", "text", "proto"},
    "": {*BASE, "api", "text", "extensions"},
    "api": {*BASE, "spark", "documents", "engines", "sql", "render", "analysis", "text", "proto", "extensions"},
    "builder": {*BASE, "documents", "proto", "extensions"},
    "spark": {*BASE, "sql", "analysis", "extensions"},
    "documents": {*BASE, "text", "proto", "extensions"},
    "write_targets": {*BASE, "proto"},
    "engines": {*BASE, "extensions"},
    "render": {*BASE, "analysis", "text"},
    "analysis": {*BASE, "text", "extensions"},
    "sql": {*BASE, "extensions"},
    "text": {*BASE},
    "proto": {*BASE, "extensions"},
    "extensions": {*BASE},
    "model": {"errors", "codes", "message_text"},
    "errors": {"codes", "message_text"},
    "codes": set(),
    "message_text": set(),
}
#: imports against the order, and why
EXCEPTIONS = {
    ("analysis", "sql"): "the rule about slow patterns asks what regular expressions become on Spark",
    ("", "notebooks"): "`%load_ext pyspark_substrait` finds its function in the package",
}
#: packages whose modules may import each other in circles: expressions have queries in them, and queries expressions
FAMILIES = ("sql.compiler", "sql.decorrelation", "proto.read", "proto.write")
#: packages that only some rooms may import; the verbs name types of all of them in annotations, and import none
ONLY_IN = {
    "pyspark": {"spark"},
    "py4j": {"spark"},
    "substrait": {"proto"},  # the generated messages
    "google": {"proto", "documents", "write_targets"},
    "click": {"cli"},
    "lark": {"text"},
    "jinja2": {"analysis", "render", "notebooks"},
    "pygraphviz": {"render"},
    "IPython": {"notebooks", "spark"},
}


def room_of(module: str) -> str:
    """The room of a module: ``pyspark_substrait.model.types`` is in ``model``."""
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
            if base == PACKAGE:  # what is imported may itself be a room
                for alias in node.names:
                    yield node.lineno, f"{base}.{alias.name}" if alias.name in ROOMS else base
            else:
                yield node.lineno, base


def offences(path: Path) -> Iterator[str]:
    """The imports of a file that the table doesn't allow."""
    room = room_of(module_name(path))
    for line, name in imports(path):
        top, where = name.split(".")[0], f"{path.relative_to(SOURCE)}:{line}"
        if top == PACKAGE:
            other = room_of(name)
            if other not in {room, *ROOMS[room]} and (room, other) not in EXCEPTIONS:
                yield f"{where}: {room or 'the package'} imports {name}"
        elif top in ONLY_IN and room not in ("", "api", *ONLY_IN[top]):
            yield f"{where}: only {', '.join(sorted(ONLY_IN[top]))} may import {top}"
        elif room in BASE and top not in (*sys.stdlib_module_names, "typing_extensions"):
            yield f"{where}: {room} imports {name}"


def test_imports_point_down() -> None:
    modules = sorted(SOURCE.rglob("*.py"))
    assert {room_of(module_name(path)) for path in modules} == ROOMS.keys()
    order = [*ROOMS]
    for room, below in ROOMS.items():
        assert all(order.index(other) > order.index(room) for other in below), room
    assert [fault for path in modules for fault in offences(path)] == []


def imported_at_the_top(body: list[ast.stmt]) -> Iterator[ast.ImportFrom]:
    """The imports that run when a module is imported: neither in functions nor for type checking."""
    for node in body:
        if isinstance(node, ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            yield from imported_at_the_top(node.orelse)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for part in ("body", "orelse", "handlers", "finalbody"):
                yield from imported_at_the_top(getattr(node, part, []))


def needed() -> dict[str, set[str]]:
    """The modules of this package that each of its modules needs to be imported."""
    files = {module_name(path): path for path in SOURCE.rglob("*.py")}
    found = {}
    for name, path in files.items():
        statements = imported_at_the_top(ast.parse(path.read_text(encoding="utf-8")).body)
        names = {f"{node.module}.{alias.name}" for node in statements for alias in node.names}
        found[name] = {item if item in files else item.rpartition(".")[0] for item in names} & files.keys() - {name}
    return found


def reached(start: str, edges: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    todo = [start]
    while todo:
        new = edges[todo.pop()] - found
        found |= new
        todo.extend(new)
    return found


def test_circles_are_inside_families() -> None:
    edges = needed()
    reach = {name: reached(name, edges) for name in edges}
    circles = {name for name in edges if name in reach[name]}
    families = tuple(f"{PACKAGE}.{family}." for family in FAMILIES)
    assert sorted(name for name in circles if not name.startswith(families)) == []
    assert {family for family in families if any(name.startswith(family) for name in circles)} == {*families}
    for name in circles:
        around = {other for other in reach[name] if name in reach[other]}
        assert len({family for family in families for other in around if other.startswith(family)}) == 1, around


def test_an_offence_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "SOURCE", tmp_path)
    file = tmp_path / "model" / "types.py"
    file.parent.mkdir()
    file.write_text(
        "def f():\n    from ..proto import wire\n    from pyspark_substrait import spark\nimport yaml.nodes\n"
    )
    assert sorted(offences(file)) == [
        "model/types.py:2: model imports pyspark_substrait.proto",
        "model/types.py:3: model imports pyspark_substrait.spark",
        "model/types.py:4: model imports yaml.nodes",
    ]
