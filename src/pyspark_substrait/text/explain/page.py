"""A plan as lines: one for each relation, its inputs indented below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark_substrait.model.findings import Finding, Places
from pyspark_substrait.model.plan import ExtendedExpression, Plan
from pyspark_substrait.text.explain.blocks import Block, blocks
from pyspark_substrait.text.explain.columns import escaped
from pyspark_substrait.text.explain.lines import Line, LineKind, with_findings

__all__ = ["page"]


def page(
    document: Plan | ExtendedExpression | None,
    *,
    places: Places | None = None,
    findings: Sequence[Finding] = (),
    types: bool = True,
    beside: Mapping[str, str] | None = None,
    name: str = "",
) -> tuple[Line, ...]:
    """The lines that show a plan, the header first.

    A relation is one line: its name, its properties, and behind ``=>`` the columns it puts out, each with its name, its
    type and, where it is new here, what it is made of. ``*`` stands for all columns of the input, unchanged.

    Columns are written by name where that is clear, otherwise as ``table.name``, ``left.name``, ``name$3`` or ``$3``,
    the position counted from 0. Subqueries are numbered and shown below the line that uses them; ``outer.x`` is a
    column of the enclosing query. Parts that can't be understood start with ``!``.

    Args:
        document: the document to show, however faulty. None for a source that can't be read at all.
        places: the paths from which its nodes were read; without them, only lines that show no node have a path.
        findings: the findings to attach to the lines.
        types: whether to show the types of columns.
        beside: the text to append to the line of a relation, by the relation's path.
        name: the name of a source that can't be read at all, such as its file; empty if it has none.
    """
    if document is None:
        header = Line(
            depth=0, text=escaped(f"Not a plan: {name}" if name else "Not a plan"), path="", kind=LineKind.HEADER
        )
        return with_findings([header], findings)
    lines: list[Line] = []
    stack = [(0, block) for block in reversed(blocks(document, places or Places(), types))]
    while stack:
        depth, block = stack.pop()
        lines.append(Line(depth=depth, text=escaped(_text(block, beside or {})), path=block.path, kind=block.kind))
        lines.extend(
            Line(depth=depth, text=escaped(f"! {fault}"), path=block.path, kind=LineKind.FAULT)
            for fault in block.faults
        )
        stack.extend((depth + 1, child) for child in reversed(block.children))
    return with_findings(lines, findings)


def _text(block: Block, beside: Mapping[str, str]) -> str:
    """Return the text of a line, with the text to append to it."""
    note = beside.get(block.path) if block.path is not None and block.kind is LineKind.RELATION else None
    return f"{block.text}  {note}" if note else block.text
