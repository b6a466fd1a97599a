"""Forms that the specification doesn't have and that can mean one thing only, whoever wrote them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions.coercion import common_type
from pyspark_substrait.extensions.resolution import Resolved
from pyspark_substrait.model.expressions import Argument, EnumArgument, TypeArgument
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.types import NamedStruct, Struct, Type, Unbound, concrete, with_nullability
from pyspark_substrait.proto.read.context import Reading, invalid
from pyspark_substrait.proto.read.habits.habit import Habit

__all__ = [
    "CASE",
    "HABITS",
    "INPUT_ANCHOR",
    "UNTYPED",
    "derived_schema",
    "is_untyped_null",
    "null_of",
    "typed_nulls",
]

_PLANS = "[consumer-testing](https://github.com/substrait-io/consumer-testing)"

CASE = Habit(
    rule="simple-case",
    producers=(),
    versions="all of DataFusion",
    writes="an if_then whose first clause has no result, and others whose conditions are no truth values",
    means="the first clause has the value that the others are compared with: `CASE x WHEN y THEN z END`",
    evidence="DataFusion 55, tried",
)

# nulls ----------------------------------------------------------------------------------------------------------------

UNTYPED_NULL = Habit(
    rule="untyped-null",
    producers=(),
    versions="all of DuckDB",
    writes="a null without a type as an argument or an option, beside one that has a type; or in a cast",
    means="a null of that type",
    evidence=f"{_PLANS}: function/comparison/is_not_distinct_from",
)

UNTYPED = Literal(type=Unbound(nullable=True), value=None)
"""Stands for a null without a type until its type is known."""


def is_untyped_null(message: Any) -> bool:
    """Whether an expression is a null that doesn't state its type."""
    if message.WhichOneof("rex_type") != "literal" or message.literal.WhichOneof("literal_type") != "null":
        return False
    return message.literal.null.WhichOneof("kind") is None


def typed_nulls(
    arguments: Sequence[Argument],
    resolve: Callable[[Sequence[Argument]], Resolved | None],
    reading: Reading,
    path: Path,
) -> list[Argument]:
    """Return the arguments of a call, with a type for those that are :data:`UNTYPED`.

    Args:
        arguments: the arguments.
        resolve: finds the function for arguments that all have a type.
        reading: the message.
        path: of the arguments.

    Raises:
        InvalidPlanError: no type of another argument fits.
    """
    types = [item.type for item in arguments if not isinstance(item, EnumArgument | TypeArgument)]
    index = next(index for index, item in enumerate(arguments) if item is UNTYPED)
    place: Path = ((((path, index), "value"), "literal"), "null")
    for type in dict.fromkeys(with_nullability(concrete(type), True) for type in types):
        if isinstance(type, Unbound):
            continue
        null = Literal(type=type, value=None)
        typed = [null if item is UNTYPED else item for item in arguments]
        try:
            found = resolve(typed)
        except InvalidPlanError:
            continue
        if found is not None:
            UNTYPED_NULL.note(reading, place, "a null without a type", f"a null of type {type}")
            return typed
    raise invalid("a type is missing", place, code=Code.TYPE_UNKNOWN)


def null_of(type: Type, reading: Reading, path: Path) -> Literal:
    """A null without a type in a place where it has the type of others."""
    type = with_nullability(concrete(type), True)
    UNTYPED_NULL.note(reading, path, "a null without a type", f"a null of type {type}")
    return Literal(type=type, value=None)


# virtual tables -------------------------------------------------------------------------------------------------------

VIRTUAL_TABLE = Habit(
    rule="virtual-table-schema",
    producers=(),
    versions="all of DuckDB",
    writes="a virtual table without base_schema",
    means="columns of the types that the values have, nullable where one may be null",
    evidence=f"{_PLANS}: function/datetime/add_intervals; `SELECT` without FROM in DuckDB",
)


def derived_schema(rows: Sequence[Sequence[Type | None]], reading: Reading, path: Path) -> NamedStruct:
    """The schema of a virtual table from the types of its cells; None for a null without a type.

    Raises:
        InvalidPlanError: there are no rows, or the values of a column have no type in common.
    """
    if not rows or len({len(row) for row in rows}) != 1:
        raise invalid("base_schema is missing", path, code=Code.PROTO_MISSING_FIELD)
    types = []
    for position, column in enumerate(zip(*rows, strict=True)):
        known = [type for type in column if type is not None]
        found = common_type(known) if known else None
        if found is None:
            fault = f"base_schema is missing, and the values of column {position} have no type in common"
            raise invalid(fault, path, "State base_schema", Code.PROTO_MISSING_FIELD)
        types.append(with_nullability(found, found.nullable or len(known) < len(column)))
    schema = Struct(types=tuple(types))
    VIRTUAL_TABLE.note(reading, path, "a virtual table without base_schema", f"the types of its values: {schema}")
    return NamedStruct(names=tuple(f"column{position}" for position in range(len(types))), struct=schema)


# outer references -----------------------------------------------------------------------------------------------------

INPUT_ANCHOR = Habit(
    rule="input-anchor",
    producers=(),
    versions="Isthmus 0.97 and newer",
    writes="an outer reference by the rel_anchor of the input of the relation around the subquery",
    means="the record of that relation, which is the record of its one input",
    evidence="[substrait-java#982](https://github.com/substrait-io/substrait-java/pull/982)",
)

HABITS = (CASE, UNTYPED_NULL, VIRTUAL_TABLE, INPUT_ANCHOR)
