"""Plans that mean something else than they state: by a habit of their producer, or by the rules of their release.

Each rule leaves a note of its own name; strict reading refuses what the specification doesn't allow. The habits are in
:mod:`pyspark_substrait.proto.read.habits`; here is what the readers ask.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from pyspark_substrait.codes import Code
from pyspark_substrait.extensions.definitions import FunctionDefinition
from pyspark_substrait.extensions.producers import Producer
from pyspark_substrait.model.expressions import Argument
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import JoinType, RelCommon
from pyspark_substrait.model.types import Date, OpenStruct, PrecisionTimestamp, Struct, Type, name_count
from pyspark_substrait.proto.read import arrow
from pyspark_substrait.proto.read.arrow import Option
from pyspark_substrait.proto.read.context import Reading, invalid
from pyspark_substrait.proto.read.habits import datafusion, duckdb, ibis, isthmus, substrait_spark
from pyspark_substrait.proto.read.habits.datafusion import (
    absent_condition,
    unbounded_range,
    unsigned_literal,
)
from pyspark_substrait.proto.read.habits.duckdb import derived_instead, whole_interval
from pyspark_substrait.proto.read.habits.isthmus import wider_cast, wider_number
from pyspark_substrait.proto.read.habits.meant import CallRule, Meant
from pyspark_substrait.proto.read.habits.unambiguous import CASE

__all__ = [
    "absent_condition",
    "derived_instead",
    "join_emit",
    "meant",
    "options",
    "output_names",
    "project_emit",
    "returned_kind",
    "simple_case",
    "unbounded_range",
    "unsigned_literal",
    "whole_interval",
    "wider_cast",
    "wider_number",
]

_KEEPS_LEFT = frozenset({JoinType.LEFT_SEMI, JoinType.LEFT_ANTI})
_KEEPS_RIGHT = frozenset({JoinType.RIGHT_SEMI, JoinType.RIGHT_ANTI})


def project_emit(message: Any, common: RelCommon, width: int, count: int, reading: Reading, path: Path) -> RelCommon:
    """Return the common part of a projection of ``count`` expressions over ``width`` columns."""
    if reading.made_by is Producer.DUCKDB:
        return duckdb.project_emit(message, common, width, count, reading, path)
    return datafusion.project_emit(message, common, width, count, reading, path)


def simple_case(message: Any, reading: Reading, path: Path) -> bool:
    """Whether the first clause of an if_then has the value that the others are compared with."""
    if len(message.ifs) < 2 or message.ifs[0].HasField("then"):
        return False
    CASE.note(reading, path, "a first clause without a result", "the value that the others are equal to")
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


_CALLS: Final[Mapping[Producer, Mapping[str, CallRule]]] = MappingProxyType(
    {
        Producer.DATAFUSION: datafusion.CALLS,
        Producer.DUCKDB: duckdb.CALLS,
        Producer.IBIS: ibis.CALLS,
        Producer.SUBSTRAIT_SPARK: substrait_spark.CALLS,
    }
)


def meant(name: str, given: Sequence[Argument], stated: Type | None, reading: Reading, path: Path) -> Meant | None:
    """Return the call that the producer means by another; None for one that is taken as it is written."""
    rule = _call_rule(reading.made_by, name)
    return None if rule is None else rule(given, stated, reading, path)


@lru_cache(maxsize=1000)
def _call_rule(producer: Producer | None, name: str) -> CallRule | None:
    rules = None if producer is None else _CALLS.get(producer)
    return None if rules is None else rules.get(name.partition(":")[0].lower())


def returned_kind(stated: Type, derived: Type, key: str, reading: Reading) -> str | None:
    """The rule by which a call may state a type of another kind than it gives; None if there is none.

    Before 0.91, date arithmetic returned dates.
    """
    habit = isthmus.returned_kind(stated, derived, key, reading)
    if habit is not None:
        return habit.rule
    old = reading.version is None or reading.version < (0, 91, 0)
    return "output-type" if old and isinstance(stated, Date) and isinstance(derived, PrecisionTimestamp) else None


def options(given: list[Option], definition: FunctionDefinition, reading: Reading, path: Path) -> list[Option]:
    """The options of a call, as the producer means them."""
    return arrow.options(given, definition, reading, path)


def output_names(names: tuple[str, ...], type: Type, reading: Reading, path: Path) -> tuple[str, ...]:
    """The names of one output of an extended expression, as many as it has named fields, in depth-first order.

    Where only the output has a name, the fields in it get one.

    Raises:
        InvalidPlanError: there are more or fewer names.
    """
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
