"""Descriptions of relations: their parts, with titles and in order, and the sources of their columns.

Each relation describes itself (``relation.describe()``). Whatever shows or compares relations is made from that:
``explain``, drawings, pages, notebooks, ``diff`` and ``lineage``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

from pyspark_substrait.model.fields import Over

if TYPE_CHECKING:
    from pyspark_substrait.model.expressions import Expression, SortField
    from pyspark_substrait.model.relations import (
        ComparisonJoinKey,
        Measure,
        SwitchingField,
        TransformExpression,
        WindowRelFunction,
    )
    from pyspark_substrait.model.types import NamedStruct

__all__ = [
    "Column",
    "Declared",
    "Description",
    "Merged",
    "Node",
    "Own",
    "Part",
    "Passed",
    "Records",
    "Subject",
    "condition",
    "limit_parts",
    "passing",
    "sort_keys",
]

#: A node that a part lists.
Node: TypeAlias = (
    "Expression | SortField | Measure | ComparisonJoinKey | SwitchingField | TransformExpression | WindowRelFunction"
)


class Subject(Enum):
    """The subject of a part."""

    TABLE = "table"
    SCHEMA = "schema"
    CONDITION = "condition"
    COLUMN = "column"
    MEASURE = "measure"
    GROUPING = "grouping"
    SORT = "sort"
    FETCH = "fetch"
    JOIN = "join"
    SET = "set"
    WINDOW = "window"
    ROWS = "rows"
    WRITE = "write"
    EXCHANGE = "exchange"
    EXTENSION = "extension"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """A part of a relation: a list of nodes, or a value.

    Args:
        title: the name of one of its items in a sentence, like ``sort key``.
        nodes: its nodes; ``over`` is the record that they are computed over, unless a node says something else.
        value: its value, if it has no nodes: an enum, a table, a schema, a number, …
        line: its text in the line of a relation, with ``{}`` for the items; empty if the line leaves it out.
        lead: whether it belongs to the first text of the line.
        each: whether each item has a text of its own in the line.
        absent: the text for no nodes; None to leave the part out then.
        ordered: whether the order of the nodes counts.
        decides: whether the nodes decide which records the relation puts out, or how it groups or sorts them.
        beside: other parts that the columns made from the nodes depend on.
    """

    title: str
    subject: Subject
    nodes: tuple[Node, ...] = ()
    over: Over = Over.INPUT
    value: Any = None
    line: str = "{}"
    lead: bool = False
    each: bool = False
    absent: str | None = None
    ordered: bool = False
    decides: bool = False
    beside: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Records:
    """The value of a part that stands for whole records: the columns of an input, or only the ``last`` ones."""

    input: int = 0
    last: int | None = None


@dataclass(frozen=True, slots=True)
class Passed:
    """The columns of an input, in their order, without the last ``dropped``."""

    input: int = 0
    dropped: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Own:
    """Columns that the relation makes by itself, such as a mark; they depend on the parts in ``beside``."""

    title: str
    count: int = 1
    beside: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Declared:
    """The columns of a schema in the plan, or of one that a handler returned; None if nothing is known of them."""

    schema: NamedStruct | None


@dataclass(frozen=True, slots=True)
class Merged:
    """The columns of several inputs, position by position."""


#: Columns before emit; those of a part are one for each of its nodes.
Column: TypeAlias = Passed | Part | Own | Declared | Merged


@dataclass(frozen=True, slots=True, eq=False)
class Description:
    """The description of a relation: its parts, and its columns before emit."""

    parts: tuple[Part, ...]
    columns: tuple[Column, ...]


def passing(*parts: Part) -> Description:
    """Return the description of a relation that puts out the columns of its only input."""
    return Description(parts, (Passed(),))


def condition(
    title: str,
    node: Expression | None,
    line: str = "{}",
    *,
    over: Over = Over.INPUT,
    lead: bool = False,
    decides: bool = True,
) -> Part:
    """Return the part for a condition; records for which it isn't true are left out."""
    nodes = () if node is None else (node,)
    return Part(title=title, subject=Subject.CONDITION, nodes=nodes, over=over, line=line, lead=lead, decides=decides)


def sort_keys(sorts: Sequence[SortField], line: str = "{}", *, absent: str | None = None, decides: bool = True) -> Part:
    """Return the part for the fields by which records are sorted."""
    return Part(
        title="sort key",
        subject=Subject.SORT,
        nodes=tuple(sorts),
        line=line,
        absent=absent,
        ordered=True,
        decides=decides,
    )


def limit_parts(offset: Expression | None, count: Expression | None) -> tuple[Part, Part]:
    """Return the parts for the number of records that are skipped, and the number of those that are kept."""

    def limit(title: str, node: Expression | None, absent: str | None = None) -> Part:
        return Part(
            title=title,
            subject=Subject.FETCH,
            nodes=() if node is None else (node,),
            over=Over.NOTHING,
            line=f"{title} {{}}",
            absent=absent,
            decides=True,
        )

    return limit("offset", offset), limit("count", count, "all")
