"""Plans that mean something else than they state: by a quirk of their producer, or by the rules of their release.

Each rule leaves a note of its own name; strict reading refuses what the specification doesn't allow.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pyspark_substrait.codes import Code
from pyspark_substrait.extensions.definitions import FunctionDefinition
from pyspark_substrait.extensions.engines import engine_of
from pyspark_substrait.model.expressions import Argument, Cast, EnumArgument, FailureBehavior, TypeArgument
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import JoinType, RelCommon
from pyspark_substrait.model.types import (
    FP64,
    Boolean,
    Date,
    Decimal,
    OpenStruct,
    PrecisionTimestamp,
    Struct,
    Type,
    name_count,
)
from pyspark_substrait.proto.read import arrow
from pyspark_substrait.proto.read.arrow import Option
from pyspark_substrait.proto.read.context import Reading, invalid

__all__ = [
    "absent_condition",
    "arguments",
    "derived_instead",
    "join_emit",
    "options",
    "output_names",
    "project_emit",
    "returned_date",
    "simple_case",
    "unbounded_range",
    "unsigned_literal",
]

_KEEPS_LEFT = frozenset({JoinType.LEFT_SEMI, JoinType.LEFT_ANTI})
_KEEPS_RIGHT = frozenset({JoinType.RIGHT_SEMI, JoinType.RIGHT_ANTI})


def project_emit(message: Any, common: RelCommon, width: int, count: int, reading: Reading, path: Path) -> RelCommon:
    """Return the common part of a projection of ``count`` expressions over ``width`` columns.

    DuckDB writes no emit and means the expressions alone, without the columns of the input.
    """
    if reading.producer != "DuckDB" or message.common.WhichOneof("emit_kind") is not None:
        return common
    reading.loose("duckdb-project", path, "a projection without emit", f"its {count} expressions without the input")
    return replace(common, emit=tuple(range(width, width + count)))


def absent_condition(message: Any, field: str, reading: Reading, path: Path) -> bool:
    """Whether a condition that isn't there is true of every pair: DataFusion writes cross joins without one."""
    if message.HasField(field) or message.DESCRIPTOR.name != "JoinRel" or engine_of(reading.producer) is None:
        return False
    reading.plain = False
    reading.loose("datafusion-join", path, "a join without a condition", "every pair of records matches")
    return True


def simple_case(message: Any, reading: Reading, path: Path) -> bool:
    """Whether the first clause of an if_then has the value that the others are compared with.

    So DataFusion writes ``CASE x WHEN y THEN z END``: the first clause has no result.
    """
    if len(message.ifs) < 2 or message.ifs[0].HasField("then") or engine_of(reading.producer) is None:
        return False
    reading.plain = False
    reading.loose("datafusion-case", path, "a first clause without a result", "the value that the others are equal to")
    return True


def join_emit(
    common: RelCommon, type: JoinType, left: Struct, right: Struct, reading: Reading, path: Path
) -> RelCommon:
    """The common part of a join.

    Before 0.72 semi and anti joins had the columns of both sides to emit from, the left ones first. Those of the side
    that isn't kept mean nothing, and can be left out where this moves no other column.

    Raises:
        InvalidPlanError: columns that mean nothing stand before columns that are kept.
    """
    old = reading.version is None or reading.version < (0, 72, 0)
    if common.emit is None or not old or isinstance(left, OpenStruct) or isinstance(right, OpenStruct):
        return common
    width = len(left.types)
    if type in _KEEPS_LEFT and any(position >= width for position in common.emit):
        first, kept = 0, tuple(position for position in common.emit if position < width)
    elif type in _KEEPS_RIGHT and any(position >= len(right.types) for position in common.emit):
        first, kept = width, tuple(position for position in common.emit if position >= width)
    else:
        return common
    if common.emit[: len(kept)] != kept:
        raise invalid(
            f"the emit of a {type.value} join has columns of the side that is not kept before columns that are",
            (path, "common"),
            "Leave them out, and renumber what refers to the others",
            Code.EXPRESSION_REFERENCE,
        )
    kept = tuple(position - first for position in kept)
    before = f"emit of both sides of a {type.value} join: {list(common.emit)}"
    reading.note("semi-join-emit", (path, "common"), before, f"of the side that is kept: {list(kept)}")
    return replace(common, emit=kept)


def arguments(name: str, given: list[Argument], stated: Type | None, reading: Reading, path: Path) -> list[Argument]:
    """Return the arguments of a call as the specification requires them.

    In DuckDB, ``avg`` of decimals is the average of doubles, which only the output type shows.
    """
    if reading.producer != "DuckDB" or name.partition(":")[0] != "avg" or not isinstance(stated, FP64):
        return given
    match given:
        case [value] if not isinstance(value, EnumArgument | TypeArgument) and isinstance(value.type, Decimal):
            reading.loose("duckdb-average", path, f"the average of {value.type} as {stated}", "the average of fp64")
            target = FP64(nullable=value.type.nullable)
            return [Cast(type=target, input=value, failure_behavior=FailureBehavior.THROW_EXCEPTION)]
        case _:
            return given


def derived_instead(stated: Type, derived: Type, key: str, reading: Reading, path: Path) -> bool:
    """Whether the stated output type of a call is wrong, so that the derived one has to be used.

    For a comparison in a read filter, DuckDB states the type of the operands instead of boolean.
    """
    if reading.producer != "DuckDB" or not isinstance(derived, Boolean) or isinstance(stated, Boolean):
        return False
    reading.loose("duckdb-comparison-type", path, f"`{key}` with the output_type {stated}", str(derived))
    return True


def returned_date(stated: Type, derived: Type, reading: Reading) -> bool:
    """Whether a call that returns a timestamp may state a date: before 0.91, date arithmetic returned dates."""
    old = reading.version is None or reading.version < (0, 91, 0)
    return old and isinstance(stated, Date) and isinstance(derived, PrecisionTimestamp)


def unsigned_literal(value: int, bits: int, reading: Reading, path: Path) -> None:
    """Refuse a signed number with a type variation that DataFusion wrote for an unsigned number beyond it.

    Raises:
        InvalidPlanError: it is one.
    """
    if value < 0 and engine_of(reading.producer) is not None:
        fault = f"{value} with a type variation is the unsigned number {value + (1 << bits)} of DataFusion"
        raise invalid(fault, path, "Cast such a number to a decimal", Code.EXPRESSION_ILLEGAL_LITERAL)


def unbounded_range(reading: Reading, path: Path) -> None:
    """Note an unbounded RANGE frame over sorted records; DataFusion also writes offsets that it hasn't cast yet as
    unbounded.
    """
    if engine_of(reading.producer) is not None:
        reading.plain = False
        reading.note_once("datafusion-frame", path, "a RANGE frame over sorted records without bounds", "all of them")


def options(given: list[Option], definition: FunctionDefinition, reading: Reading, path: Path) -> list[Option]:
    """The options of a call, as the producer means them."""
    return arrow.options(given, definition, reading, path) if arrow.writes(reading) else given


def output_names(names: tuple[str, ...], type: Type, reading: Reading, path: Path) -> tuple[str, ...]:
    """The names of one output of an extended expression, as many as it has named fields, in depth-first order.

    Where only the output has a name, the fields in it get one.

    Raises:
        InvalidPlanError: there are more or fewer names.
    """
    if arrow.writes(reading):
        names = arrow.output_names(names, type, reading, path)
    expected = 1 + name_count(type)
    if len(names) == 1 < expected:
        reading.loose("output-names", path, f"1 name for {expected} fields", "those inside are numbered")
        return (*names, *(f"field_{number}" for number in range(expected - 1)))
    if len(names) != expected:
        raise invalid(
            f"there are {len(names)} output names for {expected} fields",
            path,
            "The output has one, and so has every field of nested structs, in depth-first order",
            Code.TYPE_MISMATCHED_FIELD_NAMES,
        )
    return names
