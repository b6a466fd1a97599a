"""Relation cases: tables, a plan in the text form, and the result that the specification's sentences ask for.

docs/conformance.md describes the format. Plans, types and values in it are those of the text form of plans.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyspark_substrait.api.loading import load
from pyspark_substrait.conformance.trials import Expected, Table, Trial
from pyspark_substrait.conformance.values import from_literal
from pyspark_substrait.documents import Plan
from pyspark_substrait.errors import PlanFormatError, SubstraitError
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.model.relations import NamedTable, Read, Relation, VirtualTable
from pyspark_substrait.model.types import NamedStruct
from pyspark_substrait.model.walk import relations_within

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = ["read_trials", "relation_trials"]

_HEADER: Final = "substrait plan 0.108.0\n\n"
_TABLE: Final = re.compile(r"table (\w+)\((.*)\)")
_READ: Final = re.compile(r"\bRead\[(\w+)(?=[\],]| =>)")
#: a value whose type is that of its column
_PLAIN: Final = re.compile(r"null|true|false|-?inf|nan|-?[0-9.]+(?:[eE][-+]?[0-9]+)?|x?'(?:[^'\\]|\\.)*'")
_KEYS: Final = ("rule", "plan", "schema", "rows", "ordered rows", "error", "control")


def relation_trials(folder: Path | None = None, is_chosen: Callable[[str], bool] | None = None) -> Iterator[Trial]:
    """Yield the trials of relation cases.

    Args:
        folder: a folder of files of them, ``*.cases``; by default those of this package.
        is_chosen: whether the case with an id is one of those to read, by default all; their controls are read, too.

    Raises:
        PlanFormatError: a file doesn't follow the format.
    """
    home: Traversable | Path = files(__package__) / "cases" / "relations" if folder is None else folder
    for item in sorted(home.iterdir(), key=lambda item: item.name):
        if item.name.endswith(".cases"):
            yield from read_trials(item.read_text(encoding="utf-8"), item.name.removesuffix(".cases"), is_chosen)


@dataclass
class _Block:
    """A line, and the lines that are indented below it."""

    number: int
    text: str
    lines: list[tuple[int, str]] = field(default_factory=list)


def read_trials(source: str, name: str, is_chosen: Callable[[str], bool] | None = None) -> Iterator[Trial]:
    """Yield the trials of a file of relation cases.

    Args:
        source: its text.
        name: its name without the suffix, with which the ids begin.
        is_chosen: as for :func:`relation_trials`.

    Raises:
        PlanFormatError: the text doesn't follow the format; the message has the line.
    """
    subject = ""
    tables: dict[str, tuple[str, Table]] = {}
    names: set[str] = set()
    blocks = [*_blocks([(number, line.rstrip()) for number, line in enumerate(source.splitlines(), 1)])]
    chosen = None if is_chosen is None else _with_controls(blocks, name, is_chosen)
    if chosen is not None and not chosen:
        return
    for block in blocks:
        try:
            if block.text.startswith("relation: "):
                subject = block.text.removeprefix("relation: ").strip()
            elif (found := _TABLE.fullmatch(block.text)) is not None:
                schema, rows = _records(found[2], [line for _, line in block.lines])
                tables[found[1]] = found[2], Table(schema, rows)
            elif block.text.startswith("case "):
                case = block.text.removeprefix("case ").strip()
                if case in names:
                    raise PlanFormatError(f"there are two cases `{case}`")
                names.add(case)
                if chosen is None or case in chosen:
                    yield _trial(name, case, block, subject, tables)
            else:
                raise PlanFormatError(f"`{block.text}` is neither `relation: …`, `table …(…)` nor `case …`")
        except SubstraitError as error:
            raise PlanFormatError(f"{name}.cases, line {block.number}: {error}") from error


def _with_controls(blocks: Iterable[_Block], name: str, is_chosen: Callable[[str], bool]) -> set[str]:
    """Return the names of the chosen cases and of their controls."""
    found: set[str] = set()
    for block in blocks:
        case = block.text.removeprefix("case ").strip()
        if case != block.text and is_chosen(f"{name}:{case}"):
            controls = (line.strip() for _, line in block.lines if line.strip().startswith("control:"))
            found |= {case, *(line.removeprefix("control:").strip() for line in controls)}
    return found


def _blocks(lines: list[tuple[int, str]]) -> Iterator[_Block]:
    """Yield the blocks of lines without indentation; empty lines and comments are left out."""
    current: _Block | None = None
    for number, line in lines:
        if not line.strip() or line.lstrip().startswith("--"):
            continue
        if not line.startswith(" "):
            if current is not None:
                yield current
            current = _Block(number, line)
        elif current is None:
            raise PlanFormatError(f"line {number} is indented below nothing")
        else:
            current.lines.append((number, line))
    if current is not None:
        yield current


def _trial(file: str, case: str, block: _Block, subject: str, tables: Mapping[str, tuple[str, Table]]) -> Trial:
    parts: dict[str, tuple[str, list[str]]] = {}
    for part in _blocks(_dedented(block.lines)):
        key, colon, rest = part.text.partition(":")
        if key not in _KEYS or not colon or key in parts:
            raise PlanFormatError(f"line {part.number}: `{key}` is not one of {', '.join(_KEYS)}, or there twice")
        parts[key] = rest.strip(), [line for _, line in _dedented(part.lines)]
    missing = [key for key in ("rule", "plan", "schema") if key not in parts]
    results = [key for key in ("rows", "ordered rows", "error") if key in parts]
    if missing or len(results) != 1:
        lacking = missing[0] if missing else "exactly one of rows, ordered rows, error"
        raise PlanFormatError(f"the case `{case}` lacks {lacking}")
    written = parts["schema"][0]
    schema, records = _records(written, [] if results == ["error"] else parts[results[0]][1])
    others, root = _plan(parts["plan"][1], schema, tables)
    used = {
        ".".join(relation.read_type.names)
        for relation in relations_within(root, *others)
        if isinstance(relation, Read) and isinstance(relation.read_type, NamedTable)
    }
    rows = None if results == ["error"] else tuple(tuple(map(from_literal, row)) for row in records)
    control = parts.get("control", ("", []))[0]
    if results == ["error"] and not control:
        raise PlanFormatError(f"the case `{case}` lacks a control: a case that shows that the rest of the plan runs")
    return Trial(
        id=f"{file}:{case}",
        suite="relations",
        text=case.replace("-", " "),
        rule=parts["rule"][0],
        relation=root,
        others=others,
        tables={name: table for name, (_, table) in tables.items() if name in used},
        expected=Expected(schema, rows, results == ["ordered rows"]),
        subject=subject,
        control=f"{file}:{control}" if control else "",
    )


def _dedented(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    width = min((len(line) - len(line.lstrip()) for _, line in lines), default=0)
    return [(number, line[width:]) for number, line in lines]


def _plan(
    lines: list[str], schema: NamedStruct, tables: Mapping[str, tuple[str, Table]]
) -> tuple[tuple[Relation, ...], Relation]:
    """Return the trees of a plan: those that are shared, and the root, which is the last one."""

    def read(found: re.Match[str]) -> str:
        return f"Read[{found[1]}({tables[found[1]][0]})" if found[1] in tables else found[0]

    lines = [_READ.sub(read, line) for line in lines]
    start = max(number for number, line in enumerate(lines) if not line.startswith(" "))
    names = ", ".join(f"`{name}`" for name in schema.names)
    text = "\n".join([*lines[:start], f"Root[{names}]", *(f"  {line}" for line in lines[start:])])
    plan = load(f"{_HEADER}{text}\n")
    assert isinstance(plan, Plan)
    *others, root = plan.relations
    assert isinstance(root, RelRoot)
    return tuple(tree.input if isinstance(tree, RelRoot) else tree for tree in others), root.input


def _records(schema: str, lines: list[str]) -> tuple[NamedStruct, tuple[tuple[Literal, ...], ...]]:
    """Return a schema, and the literals of records under it."""
    types = [column.partition(":")[2].strip() for column in _split(schema)]
    rows = []
    for line in lines:
        cells = _split(line.strip())
        if len(cells) != len(types):
            raise PlanFormatError(f"`{line.strip()}` has {len(cells)} values for {len(types)} columns")
        typed = (f"{cell}:{type}" if _PLAIN.fullmatch(cell) else cell for cell, type in zip(cells, types, strict=True))
        rows.append(f"({', '.join(typed)})")
    plan = load(f"{_HEADER}Read[schema({schema}), rows: [{', '.join(rows)}]]\n")
    assert isinstance(plan, Plan)
    (read,) = plan.relations
    assert isinstance(read, Read) and isinstance(read.read_type, VirtualTable)
    return read.base_schema, tuple(tuple(map(_literal, row.fields)) for row in read.read_type.expressions)


def _literal(expression: object) -> Literal:
    if not isinstance(expression, Literal):
        raise PlanFormatError("a value is no literal")
    return expression


def _split(text: str) -> list[str]:
    """Return the parts between commas that are in no brackets and no quotes."""
    parts, depth, quoted, escaped = [""], 0, False, False
    for character in text:
        if quoted:
            quoted = escaped or character != "'"
            escaped = character == "\\" and not escaped
        elif character == "'":
            quoted = True
        elif character in "([{<":
            depth += 1
        elif character in ")]}>":
            depth -= 1
        elif character == "," and not depth:
            parts.append("")
            continue
        parts[-1] += character
    return [part.strip() for part in parts] if text.strip() else []
