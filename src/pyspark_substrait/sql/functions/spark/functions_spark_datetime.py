"""Functions of dates, times and intervals that only Spark has (``functions_spark_datetime.yaml``).

Many of Spark's own functions use the time zone of the session. A plan states its zone, so the bodies here use functions
that take a zone, or need none.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import PrecisionTime, PrecisionTimestampTZ, concrete
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.compiler.temporal import local_of_micros
from pyspark_substrait.sql.compiler.types import PATTERN_SETTINGS
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.builtins_since import builtin_since
from pyspark_substrait.sql.functions.catalyst import ansi, in_zone
from pyspark_substrait.sql.functions.common_expressions import bound
from pyspark_substrait.sql.functions.datetimes import zones
from pyspark_substrait.sql.functions.table import Call, Row, Table, row

__all__ = ["TABLE"]

_DAY = "INTERVAL '1' DAY"


def _zoned(call: Call) -> bool:
    return isinstance(concrete(call.type(0)), PrecisionTimestampTZ)


# on the calendar of a zone -------------------------------------------------------------------------------------------


def add(call: Call) -> str:
    """Add full days on the calendar, with the same offset to UTC if clocks show that; then the rest as time."""
    if isinstance(concrete(call.type(0)), PrecisionTime):
        return f"{call.sql(0)} + {call.sql(1)}"
    value, interval, zone = call.sql(0), call.sql(1), zones.zone(call)
    days = f"({_DAY} * extract(DAY FROM {interval}))"

    def shifted(shown: str) -> str:
        wanted = f"({shown} + {days})"
        same_offset = f"timestamp_micros(unix_micros({value}) + {zones.micros_between(shown, wanted)})"

        def checked(instant: str) -> str:
            kept = f"{zones.local(instant, zone)} = {wanted}"
            return f"CASE WHEN {kept} THEN {instant} ELSE {zones.instant(wanted, zone)} END"

        return bound(same_offset, "instant", checked("instant"))

    by_days = bound(zones.local(value, zone), "shown", shifted("shown"))
    rest = zones.micros_of_interval(f"({interval} - {days})")
    return Atom(f"timestamp_micros(unix_micros({by_days}) + {rest})")


def months_between(call: Call) -> str:
    """Return the months between two instants; seconds are counted from the start of a day, despite clock changes."""
    zone = zones.zone(call)

    def parts(position: int) -> str:
        value = call.sql(position)
        date = f"CAST({zones.local(value, zone)} AS DATE)"
        start = zones.instant(f"CAST({date} AS TIMESTAMP_NTZ)", zone)
        return Atom(f"named_struct('d', {date}, 's', (unix_micros({value}) - unix_micros({start})) div 1000000L)")

    months = "CAST((year(e.d) - year(b.d)) * 12 + month(e.d) - month(b.d) AS DOUBLE)"
    whole = "day(e.d) = day(b.d) OR (e.d = last_day(e.d) AND b.d = last_day(b.d))"
    exact = f"{months} + CAST((day(e.d) - day(b.d)) * 86400L + e.s - b.s AS DOUBLE) / 2678400D"
    rounded = f"CAST(floor(({exact}) * 1e8D + 0.5D) AS DOUBLE) / 1e8D"
    found = f"if({whole}, {months}, if({call.sql(2)}, {rounded}, {exact}))"
    null = " OR ".join(f"{call.sql(position)} IS NULL" for position in range(3))
    return Atom(f"if({null}, NULL, {bound(parts(0), 'e', bound(parts(1), 'b', found))})")


def months_diff(call: Call) -> str:
    """Return the full months between two times; the last day counts only if its time is reached, in both directions."""

    def day(name: str) -> str:
        return f"CAST({name} AS DATE)"

    def time(name: str) -> str:
        return f"({name} - CAST({day(name)} AS TIMESTAMP_NTZ))"

    def number(date: str) -> str:
        return f"((year({date}) * 12L + month({date})) * 32L + day({date}))"

    reached = (
        f"CASE WHEN {day('e')} > {day('b')} AND {time('e')} < {time('b')} THEN date_sub({day('e')}, 1)"
        f" WHEN {day('e')} < {day('b')} AND {time('e')} > {time('b')} THEN date_add({day('e')}, 1) ELSE {day('e')} END"
    )
    found = bound(reached, "r", f"({number('r')} - {number(day('b'))}) div 32L")
    return bound(call.sql(0), "b", bound(call.sql(1), "e", found))


# texts ---------------------------------------------------------------------------------------------------------------


def _constant(call: Call, position: int) -> str:
    operand = call.operands[position]
    if not isinstance(operand.literal, str):
        raise UnsupportedPlanError(
            f"the {call.names[position]} of {call.function.name} is not a constant", path=f"arguments[{position}]"
        )
    return string_literal(operand.literal)


def _formatted(call: Call, instant: str) -> str:
    """The text of an instant: among Spark's functions with a format, only those of JSON and CSV take a zone."""
    options = f"map('timestampFormat', {_constant(call, 1)}, 'timeZone', {_constant(call, 2)})"
    return _certain(call, Atom(f"get_json_object(to_json(named_struct('a', {instant}), {options}), '$.a')"), "''")


def _certain(call: Call, text: str, other: str) -> str:
    """Return a value that can't be null, in a form that Spark recognizes; the other value is never used."""
    return text if call.output.nullable else Atom(f"coalesce({text}, {other})")


def date_format(call: Call) -> str:
    if len(call.operands) == 2:
        return Atom(f"date_format({call.sql(0)}, {call.sql(1)})")
    return _formatted(call, call.sql(0))


def from_unixtime(call: Call) -> str:
    """Format a count of seconds; microseconds that 64 bits can't hold wrap around in Spark."""
    wide = f"(CAST({call.sql(0)} AS DECIMAL(38, 0)) * 1000000BD + 9223372036854775808BD)"
    micros = f"CAST(pmod({wide}, 18446744073709551616BD) - 9223372036854775808BD AS BIGINT)"
    return _formatted(call, f"timestamp_micros({micros})")


def parsed(type: str, *, failing: bool) -> Callable[[Call], str]:
    """Parse a text as a TIMESTAMP or TIMESTAMP_NTZ."""

    def body(call: Call) -> str:
        name = "timestampFormat" if type == "TIMESTAMP" else "timestampNTZFormat"
        zone = f", 'timeZone', {_constant(call, 2)}" if type == "TIMESTAMP" else ""
        mode = "FAILFAST" if failing else "PERMISSIVE"
        options = (
            f"map('{name}', {_constant(call, 1)}, 'enableDateTimeParsingFallback', 'false', 'mode', '{mode}'{zone})"
        )
        found = f"from_json(to_json(named_struct('a', {call.sql(0)})), 'a {type}', {options}).a"
        return _certain(call, found, f"{type}'1970-01-01 00:00:00'")

    return body


# parts ---------------------------------------------------------------------------------------------------------------


def second_with_fraction(call: Call) -> str:
    value = zones.local(call.sql(0), zones.zone(call)) if _zoned(call) else call.sql(0)
    return Atom(f"CAST(extract(SECOND FROM {value}) AS DECIMAL(8, 6))")


def unix_micros(call: Call) -> str:
    return Atom(f"unix_micros({call.sql(0)})") if _zoned(call) else zones.micros_of(call.sql(0))


def timestamp_seconds(call: Call) -> str:
    return Atom(f"timestamp_seconds({call.sql(0)})")


def listed(name: str) -> Callable[[Call], str]:
    """Return the Spark function with this name, with all arguments."""
    return lambda call: Atom(f"{name}({', '.join(operand.sql for operand in call.operands)})")


def _interval_parts() -> tuple[Row, ...]:
    parts = ("days", "DAY"), ("hours", "HOUR"), ("minutes", "MINUTE"), ("seconds", "SECOND")
    of_all = (*parts, ("years", "YEAR"), ("months", "MONTH"))
    return tuple(
        row(
            f"interval_{name}",
            f"CAST(extract({field} FROM {{x}}) AS {{output}})",
            catalyst=f"ExtractANSIInterval{name.capitalize()}",
        )
        for name, field in of_all
    )


TABLE = Table(
    "extension:pyspark_substrait:functions_spark_datetime",
    (
        row("date_add", "date_add({0}, {1})", catalyst="DateAdd"),
        row("date_sub", "date_sub({0}, {1})", catalyst="DateSub"),
        row("date_diff", "datediff({0}, {1})", catalyst="DateDiff"),
        # for dates, Spark only has days
        row("subtract", "CAST({0} - {1} AS INTERVAL DAY TO SECOND)", catalyst=("SubtractDates", "SubtractTimes")),
        row("add", add, catalyst="TimeAddInterval"),
        row("last_day", "last_day({0})", catalyst="LastDay"),
        row("next_day", "next_day({0}, {1})", catalyst=ansi("NextDay")),
        row("months_between", months_between, catalyst=in_zone("MonthsBetween")),
        row("make_date", "make_date({0}, {1}, {2})", catalyst=ansi("MakeDate")),
        row("make_timestamp", listed("make_timestamp_ntz"), catalyst="MakeTimestampNTZ"),
        row("try_make_timestamp", listed("try_make_timestamp_ntz"), since=builtin_since("try_make_timestamp_ntz")),
        row("make_timestamp_tz", listed("make_timestamp_ltz")),
        row("try_make_timestamp_tz", listed("try_make_timestamp_ltz"), since=builtin_since("try_make_timestamp_ltz")),
        row("make_time", listed("make_time"), catalyst="MakeTime", since=builtin_since("make_time")),
        row("make_interval_day", listed("make_dt_interval"), catalyst="MakeDTInterval"),
        row("make_interval_year", listed("make_ym_interval"), catalyst="MakeYMInterval"),
        row("parse_timestamp", parsed("TIMESTAMP", failing=True), settings=PATTERN_SETTINGS),
        row("try_parse_timestamp", parsed("TIMESTAMP", failing=False), settings=PATTERN_SETTINGS),
        row("parse_local_timestamp", parsed("TIMESTAMP_NTZ", failing=True), settings=PATTERN_SETTINGS),
        row("try_parse_local_timestamp", parsed("TIMESTAMP_NTZ", failing=False), settings=PATTERN_SETTINGS),
        row("to_time", listed("to_time"), catalyst="ToTime", since=builtin_since("to_time")),
        row("try_to_time", listed("try_to_time"), since=builtin_since("try_to_time")),
        row("date_format", date_format, settings=PATTERN_SETTINGS),
        row("from_unixtime", from_unixtime, settings=PATTERN_SETTINGS),
        row("unix_timestamp", "unix_micros({0}) div 1000000L"),
        row("unix_millis", "unix_millis({0})", catalyst="UnixMillis"),
        row("unix_micros", unix_micros, catalyst="UnixMicros"),
        row("unix_date", "unix_date({0})", catalyst="UnixDate"),
        row("date_from_unix_date", "date_from_unix_date({0})", catalyst="DateFromUnixDate"),
        row("timestamp_seconds", timestamp_seconds, catalyst="SecondsToTimestamp"),
        row("timestamp_millis", "timestamp_millis({0})"),
        row("timestamp_micros", "timestamp_micros({0})"),
        row("local_timestamp_micros", lambda call: local_of_micros(call.sql(0))),
        row("from_utc_timestamp", "from_utc_timestamp({0}, {1})", catalyst="FromUTCTimestamp"),
        row("to_utc_timestamp", "to_utc_timestamp({0}, {1})", catalyst="ToUTCTimestamp"),
        row("convert_timezone", "convert_timezone({0}, {1}, {2})", catalyst="ConvertTimezone"),
        row(
            "second_with_fraction",
            second_with_fraction,
            catalyst=(in_zone("SecondWithFraction"), "SecondWithFraction", "SecondsOfTimeWithFraction"),
        ),
        row("month_name", "monthname({0})", catalyst="MonthName", since=builtin_since("monthname")),
        row("day_name", "dayname({0})", catalyst="DayName", since=builtin_since("dayname")),
        row("months_diff", months_diff),
        row("micros_diff", lambda call: zones.micros_between(call.sql(0), call.sql(1))),
        row("time_trunc", "time_trunc({0}, {1})", catalyst="TimeTrunc", since=builtin_since("time_trunc")),
        row("time_diff", "time_diff({0}, {1}, {2})", catalyst="TimeDiff", since=builtin_since("time_diff")),
        row("multiply", "{0} * {1}", catalyst=("MultiplyDTInterval", "MultiplyYMInterval")),
        row("abs", "abs({0})", catalyst="Abs"),
        row("sign", "sign({0})", catalyst="Signum"),
        *(
            row(
                name,
                f"{name}({{0}})",
                catalyst="".join(part.capitalize() for part in name.split("_")),
                since=builtin_since(name),
            )
            for unit in ("seconds", "millis", "micros")
            for name in (f"time_from_{unit}", f"time_to_{unit}")
        ),
        row("divide", "{0} / {1}", catalyst=("DivideDTInterval", "DivideYMInterval")),
        *_interval_parts(),
    ),
)
