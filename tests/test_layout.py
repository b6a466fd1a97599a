"""Imports: a room imports only rooms below it, modules don't import each other, and only doors put imports off."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "pyspark_substrait"
PACKAGE = "pyspark_substrait"

BASE = {"model", "errors", "codes", "message_text"}
#: the rooms from the top down, each with those it may import; the room with no name is the package's own module
ROOMS: dict[str, set[str]] = {
    "__main__": {"cli"},
    "cli": {
        *BASE,
        "",
        "server",
        "conformance",
        "api",
        "spark",
        "documents",
        "sql",
        "analysis",
        "text",
        "extensions",
        "samples",
    },
    "notebooks": {*BASE, "", "api", "spark", "documents", "render", "analysis", "text"},
    "": {*BASE, "server", "conformance", "api", "text", "builder", "extensions", "samples"},
    "server": {*BASE, "api", "builder", "spark", "documents", "sql", "binding", "proto", "extensions"},
    "conformance": {*BASE, "api", "spark", "documents", "engines", "analysis", "extensions"},
    "api": {
        *BASE,
        "planner",
        "spark",
        "documents",
        "engines",
        "sql",
        "render",
        "analysis",
        "text",
        "binding",
        "proto",
        "extensions",
    },
    "planner": {*BASE, "spark", "binding", "proto", "extensions"},
    "builder": {*BASE, "documents", "extensions"},
    "spark": {*BASE, "sql", "analysis", "binding", "extensions"},
    "documents": {*BASE, "text", "proto", "extensions"},
    "write_targets": {*BASE, "proto"},
    "engines": {*BASE, "binding", "sql", "extensions"},
    "render": {*BASE, "analysis", "text"},
    "analysis": {*BASE, "text", "extensions"},
    "sql": {*BASE, "extensions"},
    "text": {*BASE, "proto"},
    "binding": {*BASE, "extensions"},
    "proto": {*BASE, "extensions", "specification"},
    "extensions": {*BASE, "specification"},
    "samples": {*BASE},
    "specification": set(),
    "model": {"errors", "codes", "message_text"},
    "errors": {"codes", "message_text"},
    "codes": set(),
    "message_text": set(),
}
#: packages whose modules may import each other in circles: expressions have queries in them, and queries expressions
FAMILIES = ("engines.dialects", "sql.compiler", "sql.decorrelation", "proto.read", "proto.write")
#: the modules that may import others of this package inside functions, a package with all of its modules, and what
#: they put off: it takes long to import or may not be installed, and most of those who come through don't need it
DOORS = {
    "cli": "the library: a command imports it when it runs, and Spark only for rows",
    "server.serving": "pyarrow.flight, which a build may lack, and which only a server needs",
    "conformance.case_files": "ANTLR and the specification's grammar of cases, which may not be installed",
    "api.to_sql": "sqlglot, which may not be installed, for other engines than Spark",
    "api.produce": "the producer, the planner of SQL and targets, of which a call needs one",
    "api.validate": "the compiler and dialects, for targets",
    "spark.connect_start": "gRPC, for Spark Connect",
    "spark.lost_connection": "gRPC, for Spark Connect",
    "documents": "protobuf, to write plans, and the text that shows one in a line",
    "render.view": "Jinja, for pages",
    "analysis.report.report": "Jinja, for pages",
    "text.lossless": "Lark, to read the text form, and what writes it",
    "extensions.relation_handlers": "Arrow, for its schemas",
    "proto.read.virtual_tables": "Arrow, for tables of many rows",
}
INSTEAD = (
    "import it at the top of the module. Where that makes a circle, move what both need into a module below them, make "
    "it an argument, or let the upper module register it. Only a door to something heavy imports it later: see DOORS"
)
#: the rooms whose annotations name types of all packages; they import none of those below
WITH_VERBS = ("", "api", "server")
#: packages that only some rooms may import
ONLY_IN = {
    "pyspark": {"spark"},
    "py4j": {"spark"},
    "substrait": set(),  # classes of another release, perhaps
    "substrait_extensions": set(),
    "google": {"proto", "documents", "write_targets", "server"},
    "click": {"cli"},
    "lark": {"text"},
    "jinja2": {"analysis", "conformance", "render", "notebooks"},
    "pygraphviz": {"render"},
    "sqlglot": {"engines"},
    "IPython": {"notebooks", "spark"},
}


def room_of(module: str) -> str:
    """The room of a module: ``pyspark_substrait.model.types`` is in ``model``."""
    names = module.split(".")
    return names[1] if len(names) > 1 else ""


def module_name(path: Path) -> str:
    names = [PACKAGE, *path.relative_to(SOURCE).with_suffix("").parts]
    return ".".join(names[:-1] if names[-1] == "__init__" else names)


class Import(NamedTuple):
    """An import of a module, or of a name in one, and where it stands."""

    line: int
    name: str
    place: Literal["module", "function", "type checking"]


@cache
def imports(path: Path) -> list[Import]:
    """Every import of a file."""
    package = module_name(path).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    found: list[Import] = []

    def look(node: ast.AST, place: Literal["module", "function", "type checking"]) -> None:
        match node:
            case ast.Import(names=names):
                found.extend(Import(node.lineno, alias.name, place) for alias in names)
            case ast.ImportFrom(names=names):
                start = package[: len(package) - node.level + 1] if node.level else []
                base = ".".join([*start, *([node.module] if node.module else [])])
                found.extend(Import(node.lineno, f"{base}.{alias.name}", place) for alias in names)
            case ast.If(test=test, body=body, orelse=rest) if "TYPE_CHECKING" in ast.dump(test):
                for statement in body:
                    look(statement, "type checking")
                for statement in rest:
                    look(statement, place)
            case _:
                inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
                        look(child, "function" if inside else place)

    look(ast.parse(path.read_text(encoding="utf-8")), "module")
    return found


def offences(path: Path) -> Iterator[str]:
    """The imports of a file that the table doesn't allow."""
    room = room_of(module_name(path))
    for line, name, _ in imports(path):
        top, where = name.split(".")[0], f"{path.relative_to(SOURCE)}:{line}"
        if top == PACKAGE:
            other = room_of(name)
            if (other if other in ROOMS else "") not in {room, *ROOMS[room]}:
                yield f"{where}: {room or 'the package'} imports {name}"
        elif top in ONLY_IN and room not in (*WITH_VERBS, *ONLY_IN[top]):
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


def needed() -> dict[str, set[str]]:
    """The modules of this package that each of its modules imports, sooner or later."""
    files = {module_name(path): path for path in SOURCE.rglob("*.py")}
    found = {}
    for module, path in files.items():
        names = {item.name for item in imports(path) if item.place != "type checking"}
        found[module] = {name if name in files else name.rpartition(".")[0] for name in names} & files.keys() - {module}
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


def put_off(path: Path) -> list[str]:
    """The imports of this package inside functions of a file."""
    return [
        f"{path.relative_to(SOURCE)}:{line}: {name}"
        for line, name, place in imports(path)
        if place == "function" and name.startswith(f"{PACKAGE}.")
    ]


def door_of(path: Path) -> str | None:
    module = module_name(path).removeprefix(f"{PACKAGE}.")
    return next((door for door in DOORS if f"{module}.".startswith(f"{door}.")), None)


def test_only_doors_put_imports_off() -> None:
    found = {path: lines for path in sorted(SOURCE.rglob("*.py")) if (lines := put_off(path))}
    assert [line for path, lines in found.items() if door_of(path) is None for line in lines] == [], INSTEAD
    assert {door_of(path) for path in found} == {*DOORS}, "a module that puts nothing off is no door"


def test_an_offence_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "SOURCE", tmp_path)
    file = tmp_path / "model" / "types.py"
    file.parent.mkdir()
    file.write_text(
        "def f():\n    from ..proto import wire\n    from pyspark_substrait import spark\nimport yaml.nodes\n"
    )
    assert put_off(file) == [
        "model/types.py:2: pyspark_substrait.proto.wire",
        "model/types.py:3: pyspark_substrait.spark",
    ]
    assert door_of(file) is None
    assert sorted(offences(file)) == [
        "model/types.py:2: model imports pyspark_substrait.proto.wire",
        "model/types.py:3: model imports pyspark_substrait.spark",
        "model/types.py:4: model imports yaml.nodes",
    ]
