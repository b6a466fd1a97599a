"""The output for a plan or an extended expression: a small drawing, and the columns of the result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.model.plan import ExtendedExpression, Plan, RelRoot
from pyspark_substrait.model.types import NamedStruct, OpenStruct, Type, name_count, with_nullability
from pyspark_substrait.notebooks.markup import markup
from pyspark_substrait.notebooks.pictures import picture
from pyspark_substrait.text.explain.columns import type_text
from pyspark_substrait.text.explain.graph import graph
from pyspark_substrait.text.explain.lines import LineKind
from pyspark_substrait.text.explain.literals import counted
from pyspark_substrait.text.explain.table_text import named_columns

__all__ = ["Columns", "Facts", "facts", "plan_html", "results"]

_MOST_COLUMNS = 50
_MOST_RESULTS = 5
_MOST_OPEN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The columns of a result.

    Args:
        title: the result that they belong to, and their number.
        columns: name, type, and whether it may be null, of the first ones.
        more: the number of further columns.
    """

    title: str
    columns: tuple[tuple[str, str, bool], ...]
    more: int

    @property
    def few(self) -> bool:
        """Whether there are few enough to show them all at once."""
        return len(self.columns) <= _MOST_OPEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The heading of a drawing: the kind of document, and some facts about it."""

    kind: str
    facts: tuple[str, ...]


def plan_html(document: Plan | ExtendedExpression) -> str:
    """Return the HTML of a plan or an extended expression.

    Raises:
        SubstraitError: it can't be drawn here.
    """
    shown = graph(document)
    relations = sum(node.kind is LineKind.RELATION for node in shown.nodes)
    return markup(
        "plan",
        facts=facts(document, counted(relations, "relation") if isinstance(document, Plan) else ""),
        picture=picture(shown),
        tables=list(results(document))[:_MOST_RESULTS],
    )


def facts(document: Plan | ExtendedExpression, size: str = "") -> Facts:
    """Return the heading: the kind of document, its release, producer and size, and how much loading had to change."""
    version, written = document.version, document.original_version
    listed = [f"Substrait {version}" + (f", written as {written}" if written not in (None, str(version)) else "")]
    listed.extend([f"by {version.producer}"] if version.producer else [])
    listed.extend([size] if size else [])
    listed.extend([f"{counted(len(document.upgrades), 'old form')} upgraded"] if document.upgrades else [])
    listed.extend([f"{counted(len(document.notes), 'assumption')} made"] if document.notes else [])
    return Facts(kind="Plan" if isinstance(document, Plan) else "Extended expression", facts=tuple(listed))


def results(document: Plan | ExtendedExpression) -> Iterator[Columns]:
    """Return the columns of each result."""
    if isinstance(document, ExtendedExpression):
        yield _expressions(document)
        return
    roots = [(number, tree) for number, tree in enumerate(document.relations) if isinstance(tree, RelRoot)]
    for number, root in roots:
        whose = "Result" if len(roots) == 1 else f"Result of relations[{number}]"
        try:
            schema = root.input.schema
        except SubstraitError as error:
            yield Columns(title=f"{whose}: its columns are unknown: {error}", columns=(), more=0)
            continue
        if isinstance(schema, OpenStruct):
            yield Columns(title=f"{whose}: only the makers of its messages know its columns", columns=(), more=0)
            continue
        columns = named_columns(NamedStruct(names=root.names, struct=schema))
        yield _columns(whose, [(column.name or "", column.type, column.inner) for column in columns])


def _expressions(document: ExtendedExpression) -> Columns:
    found: list[tuple[str, Type | None, tuple[str, ...]]] = []
    for reference in document.referred_expr:
        names = reference.output_names
        try:
            type: Type | None = reference.expr.type
        except SubstraitError:
            type = None
        found.append((names[0] if names else "", type, names[1:]))
    return _columns("Result", found)


def _columns(whose: str, found: list[tuple[str, Type | None, tuple[str, ...]]]) -> Columns:
    return Columns(
        title=f"{whose}: {counted(len(found), 'column')}",
        columns=tuple(_column(name, type, inner) for name, type, inner in found[:_MOST_COLUMNS]),
        more=max(len(found) - _MOST_COLUMNS, 0),
    )


def _column(name: str, type: Type | None, inner: tuple[str, ...]) -> tuple[str, str, bool]:
    if type is None:
        return name, "unknown", True
    return name, type_text(with_nullability(type, False), inner[: name_count(type)]), type.nullable
