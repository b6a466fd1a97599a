"""DataFusion's habits. Those of its functions are in :mod:`pyspark_substrait.extensions.engines`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pyspark_substrait.codes import Code
from pyspark_substrait.extensions.producers import Producer
from pyspark_substrait.extensions.registry import OFFICIAL
from pyspark_substrait.model.expressions import Argument
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import RelCommon
from pyspark_substrait.model.types import (
    Type,
)
from pyspark_substrait.proto.read.context import Reading, invalid
from pyspark_substrait.proto.read.habits import datafusion_unsigned
from pyspark_substrait.proto.read.habits.habit import Habit
from pyspark_substrait.proto.read.habits.meant import CallRule, Meant, values

__all__ = [
    "ANTI_JOIN",
    "APPROXIMATE",
    "ARROW_CAST",
    "CAST",
    "COERCION",
    "DECIMAL",
    "DICTIONARY",
    "FLOAT",
    "GROUPING_ID",
    "HABITS",
    "INTERVAL",
    "NESTED",
    "NULL",
    "NUMBER",
    "STRUCT",
    "TEXT",
    "TIMESTAMP",
    "ZONE",
    "absent_condition",
    "project_emit",
    "unbounded_range",
    "unsigned_literal",
]

_DATAFUSION = (Producer.DATAFUSION,)
_TRIED = "DataFusion 55, tried"
#: the release of the specification that DataFusion 42 states; 43 and newer write an emit in every projection
_LAST_WITHOUT_EMIT = (0, 57, 999)

PROJECT = Habit(
    rule="datafusion-project",
    producers=_DATAFUSION,
    versions="before 43",
    writes="a projection without emit",
    means="its expressions, without the columns of its input",
    evidence="[datafusion#12347](https://github.com/apache/datafusion/issues/12347), "
    "[#12495](https://github.com/apache/datafusion/pull/12495)",
)


def project_emit(message: Any, common: RelCommon, width: int, count: int, reading: Reading, path: Path) -> RelCommon:
    """Return the common part of a projection of ``count`` expressions over ``width`` columns.

    These versions append window functions to a projection below them, though their references are to its output.

    Raises:
        InvalidPlanError: it has window functions, and its output is another record than its input.
    """
    later = reading.version is not None and reading.version > _LAST_WITHOUT_EMIT
    if later or not PROJECT.of(reading) or message.common.WhichOneof("emit_kind") is not None:
        return common
    kinds = [expression.WhichOneof("rex_type") for expression in message.expressions]
    if "window_function" in kinds:
        positions = [_column(expression) for expression in message.expressions[: kinds.index("window_function")]]
        if positions != list(range(width)):
            fault = "DataFusion's older versions bind window functions to the output of the projection that they are in"
            raise invalid(fault, path, "Put them into a projection of their own", Code.ASSUMPTION)
    PROJECT.note(reading, path, "a projection without emit", f"its {count} expressions without the input")
    return replace(common, emit=tuple(range(width, width + count)))


def _column(expression: Any) -> int | None:
    """The position of the column that an expression is; None for another one."""
    reference = expression.selection.direct_reference
    if expression.WhichOneof("rex_type") != "selection" or reference.WhichOneof("reference_type") != "struct_field":
        return None
    if expression.selection.WhichOneof("root_type") not in ("root_reference", None):
        return None
    field = reference.struct_field
    position: int = field.field
    return None if field.HasField("child") else position


JOIN = Habit(
    rule="datafusion-join",
    producers=_DATAFUSION,
    versions="all",
    writes="a join without a condition",
    means="every pair of records matches: a cross join",
    evidence=_TRIED,
)


def absent_condition(message: Any, field: str, reading: Reading, path: Path) -> bool:
    """Whether a condition that isn't there is true of every pair."""
    if message.HasField(field) or message.DESCRIPTOR.name != "JoinRel" or not JOIN.of(reading):
        return False
    JOIN.note(reading, path, "a join without a condition", "every pair of records matches")
    return True


GROUPING_ID = Habit(
    rule="datafusion-grouping-id",
    producers=_DATAFUSION,
    versions="all; up to 42 without the number",
    writes="an aggregate of several grouping sets, or with a key twice, without emit",
    means="its columns are each key once, a number with a bit for each key that isn't in the set, and the measures",
    evidence=_TRIED,
)

CAST = Habit(
    rule="datafusion-cast",
    producers=_DATAFUSION,
    versions="all",
    writes="a cast of a float or an interval to a text, of an instant to fewer digits, or to Date64",
    means="a float as DataFusion writes it, like `inf` and `1e300`, but in Java's digits, which may be more; the rest "
    "as the specification's, where DataFusion writes `1 days`, cuts towards 1970, and has a time of day in a Date64",
    evidence=_TRIED,
    strict=False,
)
TIMESTAMP = Habit(
    rule="datafusion-timestamp",
    producers=_DATAFUSION,
    versions="all",
    writes="a cast of a time or timestamp to a text, or of a timestamp to fewer digits",
    means="a text with a T before the time and zero, three, six or nine digits of the second; cut towards 1970",
    evidence=_TRIED,
    strict=False,
)
NUMBER = Habit(
    rule="datafusion-number",
    producers=_DATAFUSION,
    versions="all",
    writes="a cast of a number to a date or a timestamp",
    means="the days, or the units of the timestamp, since 1970-01-01; a fraction is cut",
    evidence=_TRIED,
)
DECIMAL = Habit(
    rule="datafusion-decimal",
    producers=_DATAFUSION,
    versions="all",
    writes="a cast of a float to a decimal",
    means="taken as the specification's; DataFusion rounds the binary value: 0.285 to 0.28",
    evidence=_TRIED,
    strict=False,
)
TEXT = Habit(
    rule="datafusion-text",
    producers=_DATAFUSION,
    versions="all",
    writes="a cast of a text to a boolean, decimal, date, time or timestamp",
    means="taken as the specification's; DataFusion takes other forms, too: `on`, `1e2`, offsets behind the time",
    evidence=_TRIED,
    strict=False,
)
ZONE = Habit(
    rule="datafusion-zone",
    producers=_DATAFUSION,
    versions="all",
    writes="a cast to a timestamp with a zone, or a part of one",
    means="in UTC: the zone isn't in the plan",
    evidence=_TRIED,
    strict=False,
)
FLOAT = Habit(
    rule="datafusion-float",
    producers=_DATAFUSION,
    versions="all",
    writes="floats as keys: in sorts, groups, partitions, joins, IN, min and max",
    means="zeros are equal and NaN is one value; DataFusion tells -0.0 from 0.0, and NaN by its sign",
    evidence=_TRIED,
    strict=False,
)
APPROXIMATE = Habit(
    rule="datafusion-approximate",
    producers=_DATAFUSION,
    versions="all",
    writes="`approx_distinct`, `approx_median`, `approx_percentile_cont`",
    means="exact, or another estimate; DataFusion's is as good, and another value",
    evidence=_TRIED,
    strict=False,
)
NESTED = Habit(
    rule="datafusion-nested-null",
    producers=_DATAFUSION,
    versions="all",
    writes="sorts of lists and structs with nulls in them; the extremes of such structs",
    means="a null in one is the smallest value, of extremes the largest; DataFusion puts it first or last, as the sort "
    "says of nulls, and which extreme it gives depends on the order of the records",
    evidence=_TRIED,
    strict=False,
)
INTERVAL = Habit(
    rule="datafusion-interval",
    producers=_DATAFUSION,
    versions="all",
    writes="a sum, a difference or another computation of intervals",
    means="days of 24 hours: of 1 day and 30 hours DataFusion keeps both numbers, which here are 2 days and 6 hours",
    evidence=_TRIED,
    strict=False,
)
ANTI_JOIN = Habit(
    rule="datafusion-anti-join",
    producers=_DATAFUSION,
    versions="all",
    writes="an anti join in an optimized plan",
    means="NOT EXISTS; it may have been NOT IN, for which a null matches everything",
    evidence=_TRIED,
    strict=False,
)
COERCION = Habit(
    rule="datafusion-coercion",
    producers=_DATAFUSION,
    versions="all",
    writes="arguments, CASE, IN and set operations of different types, in plans before analysis",
    means="cast as DataFusion's analyzer does",
    evidence=_TRIED,
    strict=False,
)
ARROW_CAST = Habit(
    rule="datafusion-arrow-cast",
    producers=_DATAFUSION,
    versions="all",
    writes="calls of `arrow_cast`, `arrow_try_cast`, `cast_to_type` and `try_cast_to_type`",
    means="a cast to the type that Arrow has by that name, or to the type of the other argument",
    evidence=_TRIED,
)
STRUCT = Habit(
    rule="datafusion-struct",
    producers=_DATAFUSION,
    versions="all",
    writes="calls of `struct`, `named_struct` and `get_field`",
    means="a struct of the arguments, or a field of one, by the names in the schemas of tables",
    evidence=_TRIED,
)
DICTIONARY = Habit(
    rule="datafusion-dictionary",
    producers=_DATAFUSION,
    versions="all",
    writes="a map with a type variation that isn't declared",
    means="a column of the map's values, encoded as a dictionary",
    evidence=_TRIED,
)
NULL = Habit(
    rule="datafusion-null",
    producers=_DATAFUSION,
    versions="all",
    writes="a null of a type that it doesn't declare",
    means="a null of the type string, unless another type is wanted there",
    evidence=_TRIED,
)

FRAME = Habit(
    rule="datafusion-frame",
    producers=_DATAFUSION,
    versions="all",
    writes="a RANGE frame over sorted records without a bound at its end",
    means="taken at the letter; plans that aren't optimized have it for frames with offsets, too",
    evidence=_TRIED,
    strict=False,
)


def unbounded_range(reading: Reading, path: Path) -> None:
    """Note a RANGE frame over sorted records that has no end."""
    if FRAME.of(reading):
        FRAME.note_once(reading, path, "a RANGE frame over sorted records without a bound at its end", "up to the last")


def unsigned_literal(value: int, bits: int, reading: Reading, path: Path) -> None:
    """Refuse a signed number with a type variation that DataFusion wrote for an unsigned number beyond it.

    Raises:
        InvalidPlanError: it is one.
    """
    if value < 0 and reading.made_by is Producer.DATAFUSION:
        fault = f"{value} with a type variation is the unsigned number {value + (1 << bits)} of DataFusion"
        raise invalid(fault, path, "Cast such a number to a decimal", Code.EXPRESSION_ILLEGAL_LITERAL)


IS_NAN = Habit(
    rule="datafusion-isnan",
    producers=_DATAFUSION,
    versions="all",
    writes="`isnan`",
    means="`is_nan`",
    evidence="[consumer-testing](https://github.com/substrait-io/consumer-testing): function/comparison/is_nan",
)


def is_nan(arguments: Sequence[Argument], stated: Type | None, reading: Reading, path: Path) -> Meant | None:
    """The specification's function, by its name there."""
    given = values(arguments)
    if given is None or len(given) != 1:
        return None
    IS_NAN.note(reading, path, "`isnan`", "`is_nan`")
    return Meant(list(given), urn=f"{OFFICIAL}functions_comparison", name="is_nan")


WITH_LAMBDA = Habit(
    rule="datafusion-lambda",
    producers=_DATAFUSION,
    versions="all",
    writes="`array_filter`, `array_transform`, `array_any_match`",
    means="`filter`, `transform`, `any_match`",
    evidence=_TRIED,
)


def with_lambda(name: str, specified: str) -> CallRule:
    """The specification's function of a list and a function, by its name there."""

    def rule(arguments: Sequence[Argument], stated: Type | None, reading: Reading, path: Path) -> Meant | None:
        WITH_LAMBDA.note(reading, path, f"`{name}`", f"`{specified}`")
        return Meant(list(arguments), urn=f"{OFFICIAL}functions_list", name=specified)

    return rule


_WITH_LAMBDA = {"array_filter": "filter", "array_transform": "transform", "array_any_match": "any_match"}
CALLS: dict[str, CallRule] = {
    "isnan": is_nan,
    **datafusion_unsigned.CALLS,
    **{name: with_lambda(name, specified) for name, specified in _WITH_LAMBDA.items()},
}
HABITS = (
    IS_NAN,
    datafusion_unsigned.UNSIGNED,
    WITH_LAMBDA,
    PROJECT,
    JOIN,
    GROUPING_ID,
    CAST,
    TIMESTAMP,
    NUMBER,
    DECIMAL,
    TEXT,
    ZONE,
    FLOAT,
    APPROXIMATE,
    NESTED,
    INTERVAL,
    ANTI_JOIN,
    COERCION,
    ARROW_CAST,
    STRUCT,
    DICTIONARY,
    NULL,
    FRAME,
)
