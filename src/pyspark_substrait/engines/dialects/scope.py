"""The statement in the making, and the records that an expression sees."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from pyspark_substrait.engines.dialects.dialect import Dialect
from pyspark_substrait.engines.dialects.query import Names
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import Type

__all__ = ["Compilation", "Record", "Scope"]


@dataclass(frozen=True, slots=True)
class Record:
    """A record that expressions refer to: its columns, and the ``rel_anchor`` of the relation that computes on it."""

    columns: tuple[exp.Expression, ...]
    anchor: int | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """The records that an expression sees.

    Args:
        record: that of the input.
        outer: those of the enclosing queries, the nearest last.
        windows: whether window functions may stand here.
        filtering: whether the expression is IN of a query, or the negation of one, in a filter: null does as false.
        lambdas: the parameters of the lambdas around it, the nearest last.
    """

    record: Record
    outer: tuple[Record, ...] = ()
    windows: bool = False
    filtering: bool = False
    lambdas: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """A subtree that several relations refer to: the name of its WITH clause, its statement, and its columns."""

    name: str
    tree: exp.Expression
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compilation:
    """A statement in the making.

    Args:
        dialect: the dialect.
        parameters: the values of dynamic parameters.
        uses: how often each shared subtree is referred to, by its position in the plan.
        tables: the names of the tables that the plan reads, in lower case; no WITH clause has one of them.
        differs: whether a type holds structs whose fields have several names in tables and the result.
        names: the names of its tables.
        shared: the WITH clauses, by the position of the subtree in the plan.
    """

    dialect: Dialect
    parameters: Mapping[int, Literal] = field(default_factory=dict)
    uses: Mapping[int, int] = field(default_factory=dict)
    tables: frozenset[str] = frozenset()
    differs: Callable[[Type], bool] = lambda type: False
    names: Names = field(default_factory=Names)
    shared: dict[int, Shared] = field(default_factory=dict)
