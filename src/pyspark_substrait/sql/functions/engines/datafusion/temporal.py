"""DataFusion's functions of dates, times, timestamps and intervals.

A plan doesn't have the zone of a timestamp with zone; all of them are computed in UTC.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import (
    FP64,
    I64,
    Date,
    IntervalCompound,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Type,
    concrete,
)
from pyspark_substrait.sql.compiler import temporal
from pyspark_substrait.sql.compiler.casts import cast
from pyspark_substrait.sql.compiler.casts_temporal import compound
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.compiler.types import FINEST, spark_type, units_per_second
from pyspark_substrait.sql.fragment import Atom, Constant
from pyspark_substrait.sql.functions.common_expressions import bound
from pyspark_substrait.sql.functions.datetimes import moments
from pyspark_substrait.sql.functions.engines.datafusion.calls import as_specified
from pyspark_substrait.sql.functions.engines.datafusion.counts import (
    DAY,
    NANOS,
    NANOS_OF_DAY,
    decimal_nanos,
    digits_of,
    interval_nanos,
    of_count,
    units_of,
)
from pyspark_substrait.sql.functions.table import Call, Foreign, row

__all__ = ["ROWS"]


def _local(type: Type, sql: str) -> str:
    """A date or timestamp as a DATE or TIMESTAMP_NTZ in UTC."""
    value = moments.plain(type, sql)
    return temporal.local_of_instant(Atom(value)) if isinstance(concrete(type), PrecisionTimestampTZ) else value


def _part(call: Call, position: int = 0) -> str:
    part = call.operands[position].literal
    if not isinstance(part, str):
        raise UnsupportedPlanError(f"DataFusion's {call.function.name} of a part that isn't a literal")
    # EXTRACT has the quotes of the query in it
    part = part.strip().strip("'\"").lower()
    return PARTS.get(part, part) if call.function.name == "date_part" else part


# parts ---------------------------------------------------------------------------------------------------------------

_STARTS: Final = {"year": "YEAR", "quarter": "QUARTER", "month": "MONTH", "week": "WEEK"}
#: in seconds, or parts of one
_LENGTHS: Final = {"day": DAY, "hour": 3600, "minute": 60, "second": 1}
_FRACTIONS: Final = {"millisecond": 3, "microsecond": 6}


def date_trunc(call: Call) -> str:
    part, x, type = _part(call), call.sql(1), call.type(1)
    if isinstance(concrete(type), PrecisionTime) and part in ("day", *_STARTS):
        raise UnsupportedPlanError(f"DataFusion's date_trunc of a time to the {part}")
    if part in _STARTS:
        date = f"trunc(CAST({_local(type, x)} AS DATE), '{_STARTS[part]}')"
        count = f"CAST(unix_date({date}) AS BIGINT) * {DAY * units_per_second(digits_of(call.output))}L"
        return of_count(Atom(f"({count})"), call.output)
    digits = digits_of(call.output)
    if part in _LENGTHS:
        step = _LENGTHS[part] * units_per_second(digits)
    elif part in _FRACTIONS:
        step = 10 ** (digits - _FRACTIONS[part])
    else:
        raise UnsupportedPlanError(f"DataFusion's date_trunc to the {part}")
    count = units_of(type, x)
    if digits > digits_of(type):
        count = Atom(f"({count} * {10 ** (digits - digits_of(type))}L)")
    return of_count(bound(count, "n", Atom(f"(n - pmod(n, {step}L))")), call.output)


_PARTS: Final = {
    "year": "year({x})",
    "isoyear": "extract(YEAROFWEEK FROM {x})",
    "quarter": "quarter({x})",
    "month": "month({x})",
    "week": "weekofyear({x})",
    "day": "day({x})",
    "doy": "dayofyear({x})",
    "dow": "(dayofweek({x}) - 1)",
    "isodow": "(weekday({x}) + 1)",
}
_TIMES: Final = {
    "hour": "hour({x})",
    "minute": "minute({x})",
    "second": "CAST(second({x}) AS INT)",
}
_OF_MINUTES: Final = {"millisecond": 3, "microsecond": 6}

PARTS: Final = {
    name: part
    for part, names in {
        "year": "y yr yrs years",
        "quarter": "qtr",
        "month": "mon mons months",
        "week": "w weeks",
        "day": "d days",
        "hour": "h hr hrs hours",
        "minute": "m min mins minutes",
        "second": "s sec secs seconds",
        "millisecond": "ms msec msecs msecond mseconds milliseconds",
        "microsecond": "us usec usecs usecond useconds microseconds",
    }.items()
    for name in names.split()
}
"""The parts of ``date_part`` by their other names."""


def date_part(call: Call) -> str:
    part, x, type = _part(call), call.sql(1), call.type(1)
    kind = concrete(type)
    if part in _PARTS and not isinstance(kind, PrecisionTime):
        return Atom(f"CAST({_PARTS[part].format(x=_local(type, x))} AS INT)")
    if part in _TIMES:
        if isinstance(kind, Date):
            return Atom(f"if({x} IS NULL, NULL, 0)")
        return Atom(f"CAST({_TIMES[part].format(x=_local(type, x))} AS INT)")
    if part in _OF_MINUTES:
        digits = digits_of(type)
        return Atom(f"CAST({_of_minute(type, x)} DIV {10 ** (digits - _OF_MINUTES[part])}L AS INT)")
    raise UnsupportedPlanError(f"DataFusion's date_part of the {part} of {type}")


def nanoseconds(call: Call) -> str:
    type = call.type(0)
    digits = digits_of(type)
    if digits > NANOS:
        raise UnsupportedPlanError(f"DataFusion's date_part of {type}, which it doesn't have")
    return Atom(f"({_of_minute(type, call.sql(0))} * {10 ** (NANOS - digits)}L)")


def _of_minute(type: Type, x: str) -> str:
    """The units since the minute began."""
    return f"pmod({units_of(type, x)}, {60 * units_per_second(digits_of(type))}L)"


def epoch(call: Call) -> str:
    type = call.type(0)
    return Atom(f"(CAST({units_of(type, call.sql(0))} AS DOUBLE) / {units_per_second(digits_of(type))}D)")


def to_unixtime(call: Call) -> str:
    if isinstance(concrete(call.type(0)), I64):
        return call.sql(0)
    digits = digits_of(call.type(0))
    return Atom(f"({units_of(call.type(0), call.sql(0))} DIV {units_per_second(digits)}L)")


# intervals -----------------------------------------------------------------------------------------------------------


def shifted(operator: str) -> Callable[[Call], str]:
    """Return a date or timestamp plus or minus an interval; either may be the first of a sum."""

    def body(call: Call) -> str:
        moment = 1 if _is_interval(call.type(0)) else 0
        x, type = call.sql(moment), concrete(call.type(moment))
        months, nanos = f"{call.sql(1 - moment)}.f0", interval_nanos(call, 1 - moment)
        if isinstance(type, Date):
            days = f"CAST({nanos} DIV {NANOS_OF_DAY}BD AS INT)"
            return Atom(f"date_{'add' if operator == '+' else 'sub'}({x} {operator} {months}, {days})")
        digits = digits_of(type)
        day = DAY * units_per_second(digits)
        # what has no digits is cut towards the past
        step = 10 ** (NANOS - digits)
        nanos = nanos if operator == "+" else f"(-{nanos})"
        units = nanos if digits == NANOS else f"(({nanos} - pmod({nanos}, {step}BD)) DIV {step}BD)"
        if digits > NANOS:
            units = f"({nanos} * {10 ** (digits - NANOS)}BD)"
        date = f"date_from_unix_date(CAST({temporal.floored('n', day)} AS INT))"
        moved = f"CAST(unix_date({date} {operator} {months}) AS DECIMAL(20, 0)) * {day}BD + pmod(n, {day}L)"
        count = bound(units_of(type, x), "n", Atom(f"CAST({moved} + {units} AS BIGINT)"))
        return of_count(count, call.output)

    return body


def _time_of_nanos(nanos: str, type: Type) -> str:
    """A DECIMAL of nanoseconds, which may be beyond the day, as a time."""
    precision: int = getattr(concrete(type), "precision", 0)
    step = 10 ** (NANOS - precision)
    units = f"CAST(pmod({nanos}, {NANOS_OF_DAY}BD) DIV {step}BD AS BIGINT)"
    return of_count(Atom(f"({units} * {10 ** (digits_of(type) - precision)}L)"), type)


def shifted_time(operator: str) -> Callable[[Call], str]:
    """Return a time plus or minus the time of an interval, which begins again after a day."""

    def body(call: Call) -> str:
        time = 1 if _is_interval(call.type(0)) else 0
        sum = f"({decimal_nanos(call.type(time), call.sql(time))} {operator} {interval_nanos(call, 1 - time)})"
        return _time_of_nanos(sum, call.type(time))

    return body


def date_and_time(operator: str) -> Callable[[Call], str]:
    """Return the timestamp of a date plus or minus a time."""

    def body(call: Call) -> str:
        date = 0 if isinstance(concrete(call.type(0)), Date) else 1
        days = f"CAST(unix_date({call.sql(date)}) AS DECIMAL(20, 0)) * {NANOS_OF_DAY}BD"
        time = decimal_nanos(call.type(1 - date), call.sql(1 - date))
        return of_count(Atom(f"CAST({days} {operator} {time} AS BIGINT)"), call.output)

    return body


def between_times(call: Call) -> str:
    """The time between two times, as an interval of nanoseconds."""
    one, other = (decimal_nanos(call.type(position), call.sql(position)) for position in (0, 1))
    interval = compound("INTERVAL '0-0' YEAR TO MONTH", "d")
    text = f"if(d IS NULL, CAST(NULL AS {spark_type(call.output)}), {interval})"
    return bound(f"CAST({one} - {other} AS DECIMAL(38, 0))", "d", text)


def _is_interval(type: Type) -> bool:
    return isinstance(concrete(type), IntervalCompound)


def days_added(operator: str) -> Callable[[Call], str]:
    def body(call: Call) -> str:
        date = 0 if isinstance(concrete(call.type(0)), Date) else 1
        name = "date_add" if operator == "+" else "date_sub"
        return Atom(f"{name}({call.sql(date)}, CAST({call.sql(1 - date)} AS INT))")

    return body


def between(call: Call) -> str:
    """The time between two timestamps of the same precision."""
    type = call.type(0)
    counts = [units_of(type, call.sql(position)) for position in (0, 1)]
    if digits_of(type) > FINEST:
        return Atom(f"CAST(CAST({counts[0]} AS DECIMAL(20, 0)) - {counts[1]} AS DECIMAL(38, 0))")
    return temporal.interval_of_micros(Atom(f"({counts[0]} - {counts[1]})"))


def date_bin(call: Call) -> str:
    stride, type = call.sql(0), call.type(1)
    is_time = isinstance(concrete(type), PrecisionTime)
    given = len(call.operands) > 2
    origin = decimal_nanos(call.type(2), call.sql(2)) if given else "CAST(0BD AS DECIMAL(25, 0))"
    months, nanos = temporal.months_of_interval(f"{stride}.f0"), interval_nanos(call, 0)
    fields = f"'x', {decimal_nanos(type, call.sql(1))}, 'o', {origin}, 'm', {months}, 's', {nanos}"
    if is_time:
        day = f"{NANOS_OF_DAY}BD"
        fault = _fault("date_bin of a time by an interval that isn't shorter than a day", "DECIMAL(38, 0)")
        start = f"if(v.m <> 0 OR abs(v.s) >= {day}, {fault}, v.x - pmod(v.x - v.o, v.s))"
        return bound(f"named_struct({fields})", "v", _time_of_nanos(start, type))
    fault = _fault("date_bin of an interval of months and of days or time", "DECIMAL(38, 0)")
    start = f"CASE WHEN v.m = 0 THEN v.x - pmod(v.x - v.o, v.s) WHEN v.s <> 0BD THEN {fault} ELSE {_MONTH_BIN} END"
    coarser = 10 ** (NANOS - digits_of(type))
    # a start before all timestamps is null
    count = f"CAST({start} AS DECIMAL(38, 0)) DIV {coarser}BD" if coarser > 1 else f"try_cast({start} AS BIGINT)"
    return of_count(bound(f"named_struct({fields})", "v", Atom(f"CAST({count} AS BIGINT)")), type)


def _fault(text: str, type: str) -> str:
    return f"CAST(raise_error({string_literal(text)}) AS {type})"


def _month_bin() -> str:
    """The start of the bin of ``v.m`` months in which ``v.x`` is, counted from the origin ``v.o``."""
    day = f"{NANOS_OF_DAY}BD"

    def date(nanos: str) -> str:
        return f"date_from_unix_date(CAST(({nanos} - pmod({nanos}, {day})) DIV {day} AS INT))"

    def start(months: str) -> str:
        return f"(CAST(unix_date(add_months(w.o, {months})) AS DECIMAL(20, 0)) * {day} + pmod(v.o, {day}))"

    dates = f"named_struct('x', {date('v.x')}, 'o', {date('v.o')})"
    months = "(year(w.x) - year(w.o)) * 12 + month(w.x) - month(w.o)"
    # a day of the origin that is later in its month than this one puts the start behind it
    chosen = bound("d - pmod(d, v.m)", "k", f"if({start('k')} > v.x, {start('k - v.m')}, {start('k')})")
    return bound(dates, "w", bound(months, "d", chosen))


_MONTH_BIN: Final = _month_bin()

# conversions ---------------------------------------------------------------------------------------------------------


def to_timestamp(call: Call) -> str:
    type, wanted = concrete(call.type(0)), call.output
    if isinstance(type, FP64):
        return bound(f"({call.sql(0)} * 1E9D)", "n", _nearest_bigint("n"))
    if isinstance(type, String):
        return cast(call.sql(0), type, wanted)
    precision: int = getattr(concrete(wanted), "precision", 0)
    if isinstance(type, Date | PrecisionTimestamp):
        more = digits_of(wanted) - digits_of(type)
        count = Atom(f"({units_of(type, call.sql(0))} * {10 ** max(more, 0)}L)")
        if isinstance(type, PrecisionTimestamp) and precision < type.precision:
            # cut towards 1970
            step = 10 ** (digits_of(type) - precision)
            count = Atom(f"({units_of(type, call.sql(0))} DIV {step}L * {10 ** (digits_of(wanted) - precision)}L)")
        return of_count(count, wanted)
    # a number alone is one of seconds, though the timestamp has nanoseconds
    unit = 0 if call.function.name == "to_timestamp" else precision
    return of_count(Atom(f"({call.sql(0)} * {10 ** (digits_of(wanted) - unit)}L)"), wanted)


def _nearest_bigint(number: str) -> str:
    """A DOUBLE cut to a BIGINT: the nearest one of a number beyond all, and 0 of NaN."""
    bounds = f"WHEN {number} >= 9223372036854775807D THEN 9223372036854775807L "
    bounds += f"WHEN {number} <= -9223372036854775808D THEN -9223372036854775807L - 1L"
    return Atom(f"CASE WHEN isnan({number}) THEN 0L {bounds} ELSE CAST({number} AS BIGINT) END")


def to_local_time(call: Call) -> str:
    """Return a timestamp without its zone, which is UTC."""
    return of_count(units_of(call.type(0), call.sql(0)), call.output)


def to_date(call: Call) -> str:
    type = concrete(call.type(0))
    if isinstance(type, Date):
        return call.sql(0)
    if isinstance(type, String):
        return cast(call.sql(0), type, call.output)
    if isinstance(type, PrecisionTimestamp | PrecisionTimestampTZ):
        return Atom(f"CAST({_local(type, call.sql(0))} AS DATE)")
    return Atom(f"date_from_unix_date(CAST({call.sql(0)} AS INT))")


_NOW: Final = "(unix_micros(current_timestamp()) * 1000L)"

#: what means the same in chrono and strftime
_SAME_FORMATS: Final = re.compile(r"(?:[^%]|%[YmdHMSjyIpBbAa%])*")


def to_char(call: Call) -> str:
    format = call.operands[1].literal
    if call.operands[1].is_null:
        return Constant("CAST(NULL AS STRING)", None)
    if not isinstance(format, str) or not _SAME_FORMATS.fullmatch(format):
        raise UnsupportedPlanError(f"DataFusion's to_char with the format {call.sql(1)}", path="arguments[1]")
    return as_specified("functions_datetime", "strftime")(call)


_OF_INTERVALS: Final = ("date_icompound", "pts_icompound", "ptstz_icompound")
_AND_INTERVALS: Final = ("icompound_date", "icompound_pts", "icompound_ptstz")

ROWS = (
    row("date_trunc", date_trunc, foreign=Foreign.MOVED),
    row("date_part", date_part, foreign=Foreign.MOVED),
    row("epoch", epoch, foreign=Foreign.MOVED),
    row("nanoseconds", nanoseconds, foreign=Foreign.MOVED),
    row("date_bin", date_bin, foreign=Foreign.MOVED),
    row("add", shifted("+"), signatures=(*_OF_INTERVALS, *_AND_INTERVALS), foreign=Foreign.MOVED),
    row("add", days_added("+"), signatures=("date_i64", "i64_date")),
    row("add", shifted_time("+"), signatures=("pt_icompound", "icompound_pt"), foreign=Foreign.MOVED),
    row("add", date_and_time("+"), signatures=("date_pt", "pt_date"), foreign=Foreign.MOVED),
    row("subtract", shifted_time("-"), signatures=("pt_icompound",), foreign=Foreign.MOVED),
    row("subtract", date_and_time("-"), signatures=("date_pt",), foreign=Foreign.MOVED),
    row("subtract", between_times, signatures=("pt_pt",), foreign=Foreign.MOVED),
    row("subtract", shifted("-"), signatures=_OF_INTERVALS, foreign=Foreign.MOVED),
    row("subtract", days_added("-"), signatures=("date_i64",)),
    row("subtract", "CAST(datediff({0}, {1}) AS BIGINT)", signatures=("date_date",)),
    row("subtract", between, signatures=("pts_pts", "ptstz_ptstz"), foreign=Foreign.MOVED),
    *(
        row(name, to_timestamp, foreign=Foreign.MOVED)
        for name in (
            "to_timestamp",
            "to_timestamp_seconds",
            "to_timestamp_millis",
            "to_timestamp_micros",
            "to_timestamp_nanos",
            "from_unixtime",
        )
    ),
    row("to_unixtime", to_unixtime, foreign=Foreign.MOVED),
    row("to_date", to_date, foreign=Foreign.MOVED),
    row("to_local_time", to_local_time, foreign=Foreign.MOVED),
    row(
        "make_time",
        "CAST(make_time(CAST({0} AS INT), CAST({1} AS INT), CAST({2} AS DECIMAL(16, 6))) AS {output})",
    ),
    row("make_date", "make_date(CAST({0} AS INT), CAST({1} AS INT), CAST({2} AS INT))"),
    row("now", lambda _: Atom(_NOW), foreign=Foreign.MOVED),
    row("current_date", lambda _: temporal.date_of_instant("current_timestamp()")),
    row("to_char", to_char, foreign=Foreign.MOVED),
)
