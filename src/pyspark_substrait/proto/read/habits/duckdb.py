"""DuckDB's habits: the extension duckdb-substrait-extension writes DuckDB's optimized plan nearly as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from pyspark_substrait.codes import Code
from pyspark_substrait.extensions.engines import DATAFUSION
from pyspark_substrait.extensions.producers import Producer
from pyspark_substrait.extensions.registry import OFFICIAL, OWN
from pyspark_substrait.model.expressions import Argument
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.paths import Path, render
from pyspark_substrait.model.relations import RelCommon
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    Boolean,
    Decimal,
    String,
    Type,
    Unbound,
    concrete,
)
from pyspark_substrait.proto.depth import is_repeated
from pyspark_substrait.proto.read.context import Reading, invalid
from pyspark_substrait.proto.read.habits.habit import Habit
from pyspark_substrait.proto.read.habits.meant import CallRule, Meant, cast, values

__all__ = ["CALLS", "HABITS", "derived_instead", "project_emit", "whole_interval"]

_SOURCE = (
    "[to_substrait.cpp](https://github.com/substrait-io/duckdb-substrait-extension/blob/main/src/to_substrait.cpp)"
)
_PLANS = "[consumer-testing](https://github.com/substrait-io/consumer-testing)"
_DUCKDB = (Producer.DUCKDB,)

# projections ----------------------------------------------------------------------------------------------------------

PROJECT = Habit(
    rule="duckdb-project",
    producers=_DUCKDB,
    versions="before March 2025, the release of Substrait stated up to 0.53",
    writes="a projection without emit",
    means="its expressions, without the columns of its input",
    evidence="[duckdb-substrait-extension#135](https://github.com/substrait-io/duckdb-substrait-extension/pull/135)",
)
_OLDER, _NEWER = (0, 53, 0), (0, 78, 0)
_ABOVE_PROJECT = frozenset({"root", "input", "sort", "fetch", "filter", "project"})


def project_emit(message: Any, common: RelCommon, width: int, count: int, reading: Reading, path: Path) -> RelCommon:
    """Return the common part of a projection of ``count`` expressions over ``width`` columns.

    Since its pull request 135, DuckDB writes an emit except where the columns of the input are put out, too. Both kinds
    of plans may state release 0.53, or the current one if they were upgraded.

    Raises:
        InvalidPlanError: it can't be told which of the two kinds the plan is.
    """
    if not PROJECT.of(reading) or message.common.WhichOneof("emit_kind") is not None:
        return common
    passes = _passes_through(message, width, count, reading, path)
    if passes is None:
        raise invalid(
            "a projection without emit is its expressions alone in DuckDB's older plans, and has the columns of its "
            "input as well in newer ones; nothing in this plan says which it is",
            path,
            "Write emit",
            Code.ASSUMPTION,
        )
    if passes:
        return common
    PROJECT.note(reading, path, "a projection without emit", f"its {count} expressions without the input")
    return replace(common, emit=tuple(range(width, width + count)))


def _passes_through(message: Any, width: int, count: int, reading: Reading, path: Path) -> bool | None:
    """Whether a projection without emit puts out the columns of its input as well; None if that can't be told."""
    if reading.version is not None and (reading.version < _OLDER or reading.version == _NEWER):
        return reading.version == _NEWER
    if "duckdb-emits" not in reading.traits:
        reading.traits["duckdb-emits"] = _writes_emits(reading)
    emits = reading.traits["duckdb-emits"]
    return emits if emits is not None else _by_names(width, count, reading, path)


def _writes_emits(reading: Reading) -> bool | None:
    """Whether the plan's projections have an emit where they need one; None if none of them shows it.

    The older ones have references to columns among their expressions; in the newer ones those are in the emit alone.
    """
    found: bool | None = None
    for project in _projects(reading.trees):
        if project.common.WhichOneof("emit_kind") is not None:
            return True
        if any(expression.WhichOneof("rex_type") == "selection" for expression in project.expressions):
            found = False
    return found


def _projects(messages: Any) -> Iterator[Any]:
    """Yield all projections, those in subqueries too."""
    left = list(messages)
    while left:
        message = left.pop()
        if message.DESCRIPTOR.name == "ProjectRel":
            yield message
        for field, value in message.ListFields():
            if field.message_type is not None and field.message_type.name not in ("VirtualTable", "Literal", "Type"):
                left += value if is_repeated(field) else (value,)


def _by_names(width: int, count: int, reading: Reading, path: Path) -> bool | None:
    """Like :func:`_passes_through`, for a projection whose columns are those of the plan."""
    place = render(path).split(".")
    if len(reading.trees) != 1 or place[0] != "relations[0]" or not _ABOVE_PROJECT.issuperset(place[1:]):
        return None
    names = len(reading.trees[0].root.names)
    return names == width + count if names in (count, width + count) else None


# functions ------------------------------------------------------------------------------------------------------------

AVERAGE = Habit(
    rule="duckdb-average",
    producers=_DUCKDB,
    versions="all",
    writes="`avg` of decimals or integers with the output type fp64",
    means="the average of fp64",
    evidence=f"{_PLANS}: function/arithmetic_decimal/avg; `typeof(avg(1.5))` is DOUBLE",
)


def average(arguments: Sequence[Argument], stated: Type | None, reading: Reading, path: Path) -> Meant | None:
    """The average of floating-point numbers, which only the output type shows."""
    given = values(arguments)
    if not isinstance(stated, FP64) or given is None or len(given) != 1:
        return None
    type = concrete(given[0].type)
    if not isinstance(type, Decimal | I8 | I16 | I32 | I64):
        return None
    AVERAGE.note(reading, path, f"the average of {given[0].type} as {stated}", "the average of fp64")
    return Meant([cast(given[0], FP64())])


HUGEINT = Habit(
    rule="duckdb-hugeint",
    producers=_DUCKDB,
    versions="all",
    writes="`sum` or `factorial` of integers with the output type decimal<38, 0>",
    means="DuckDB's HUGEINT: the function of decimals, which has room for 38 digits",
    evidence=f"{_SOURCE}: DuckToSubstraitType of HUGEINT; `typeof(factorial(3))` is HUGEINT",
)
_DIGITS: dict[type, int] = {I8: 3, I16: 5, I32: 10, I64: 19}


def of_hugeint(arguments: Sequence[Argument], stated: Type | None, reading: Reading, path: Path) -> Meant | None:
    """A function of integers that gives more than 64 bits."""
    given = values(arguments)
    if given is None or len(given) != 1 or not isinstance(stated, Decimal):
        return None
    type = concrete(given[0].type)
    if (stated.precision, stated.scale) != (38, 0) or type.__class__ not in _DIGITS:
        return None
    wider = Decimal(precision=_DIGITS[type.__class__], scale=0)
    HUGEINT.note(reading, path, f"a call over {type} that gives {stated}", f"the call over {wider}")
    return Meant([cast(given[0], wider)], urn=f"{OFFICIAL}functions_arithmetic_decimal")


MEDIAN = Habit(
    rule="duckdb-median",
    producers=_DUCKDB,
    versions="all",
    writes="`median` of one argument",
    means="the exact median: that of integers is an fp64, that of decimals has their digits and is cut off",
    evidence=f"{_PLANS}: function/arithmetic/median; `median(x)` of 0.01 and 0.02 is 0.01",
)


def median(arguments: Sequence[Argument], stated: Type | None, reading: Reading, path: Path) -> Meant | None:
    """The middle value, or the mean of the two in the middle, which DataFusion has too."""
    given = values(arguments)
    if given is None or len(given) != 1:
        return None
    MEDIAN.note(reading, path, f"the median of {given[0].type}, of one argument", f"the `median` of `{DATAFUSION.urn}`")
    return Meant(list(given), urn=DATAFUSION.urn)


MODE = Habit(
    rule="duckdb-mode",
    producers=_DUCKDB,
    versions="all",
    writes="`mode` of decimals, texts, dates and other types for which the specification has none",
    means="the most frequent value that isn't null; any one of several",
    evidence=f"{_PLANS}: function/arithmetic/mode",
)


def mode(arguments: Sequence[Argument], stated: Type | None, reading: Reading, path: Path) -> Meant | None:
    """The most frequent value."""
    given = values(arguments)
    if given is None or len(given) != 1:
        return None
    type = concrete(given[0].type)
    if isinstance(type, I8 | I16 | I32 | I64 | FP32 | FP64 | Unbound):
        return None
    MODE.note(reading, path, f"the mode of {type}", f"the `mode` of `{_SPARK_AGGREGATES}`")
    return Meant(list(given), urn=_SPARK_AGGREGATES)


_SPARK_AGGREGATES = f"{OWN}functions_spark_aggregate"

STRING_AGG = Habit(
    rule="duckdb-string-agg",
    producers=_DUCKDB,
    versions="all",
    writes="`string_agg`, with or without a separator",
    means="the texts that aren't null, with a comma between them if no separator is given; null if there are none",
    evidence=f"{_PLANS}: function/string/string_agg; `string_agg(x)` of no rows is null",
)


def string_agg(arguments: Sequence[Argument], stated: Type | None, reading: Reading, path: Path) -> Meant | None:
    """The texts in a row, which are null where there are none: DataFusion's function is the same."""
    given = values(arguments)
    if given is None or len(given) not in (1, 2):
        return None
    separators = given[1:] or [Literal(type=String(), value=",")]
    before = "with a separator" if given[1:] else "without a separator"
    STRING_AGG.note(reading, path, f"`string_agg` {before}", f"`string_agg` of `{DATAFUSION.urn}`")
    return Meant([given[0], *separators], urn=DATAFUSION.urn)


#: the calls that mean something else, by the simple name of the function

COMPARISON_TYPE = Habit(
    rule="duckdb-comparison-type",
    producers=_DUCKDB,
    versions="up to the stated release 0.53",
    writes="a comparison in the filter of a read with the type of the operands as its output type",
    means="a boolean",
    evidence=f"{_PLANS}: relation/filter/where_in",
)


def derived_instead(stated: Type, derived: Type, key: str, reading: Reading, path: Path) -> bool:
    """Whether the stated output type of a call is wrong, so that the derived one has to be used."""
    if not COMPARISON_TYPE.of(reading) or not isinstance(derived, Boolean) or isinstance(stated, Boolean):
        return False
    COMPARISON_TYPE.note(reading, path, f"`{key}` with the output_type {stated}", str(derived))
    return True


NOT_LIKE = Habit(
    rule="duckdb-not-like",
    producers=_DUCKDB,
    versions="all",
    writes="`not_equal` for NOT LIKE as well as for <>",
    means="taken at the letter, as <>; where the text is a pattern, the note says that NOT LIKE may be meant",
    evidence=f"{_SOURCE}: function_names_remap of `!~~`; {_PLANS}: integration/tpch/q13",
    strict=False,
)


def not_equal(arguments: Sequence[Argument], stated: Type | None, reading: Reading, path: Path) -> Meant | None:
    """The comparison as it is written, with a note where a text looks like a pattern of LIKE."""
    for argument in arguments:
        if isinstance(argument, Literal) and isinstance(argument.value, str) and "%" in argument.value:
            NOT_LIKE.note(reading, path, f"`not_equal` with {argument.value!r}, for which NOT LIKE may be meant", "<>")
    return None


CALLS: dict[str, CallRule] = {
    "avg": average,
    "factorial": of_hugeint,
    "median": median,
    "mode": mode,
    "not_equal": not_equal,
    "string_agg": string_agg,
    "sum": of_hugeint,
}

_SECOND = 1_000_000


def whole_interval(seconds: int, subseconds: int, reading: Reading, path: Path) -> None:
    """Refuse an interval of which DuckDB wrote only a part.

    Before it stated release 0.78, it wrote the lowest 32 bits of the number of microseconds, so that 6 hours are 125.16
    seconds. Whole seconds, and fractions of one, are taken at the letter: nothing shorter than a year is written so.

    Raises:
        InvalidPlanError: it is one.
    """
    old = reading.version is None or reading.version < _NEWER
    if not old or reading.made_by is not Producer.DUCKDB or seconds:
        return
    if abs(subseconds) > _SECOND and subseconds % _SECOND:
        fault = f"DuckDB writes the lowest 32 bits of the microseconds of an interval: {subseconds} may be more"
        raise invalid(fault, path, "Write the whole interval", Code.EXPRESSION_ILLEGAL_LITERAL)


HABITS = (PROJECT, AVERAGE, HUGEINT, MEDIAN, MODE, STRING_AGG, COMPARISON_TYPE, NOT_LIKE)
