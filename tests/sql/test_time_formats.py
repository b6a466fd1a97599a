"""``strftime`` and ``strptime``: formats and refusals, and many values against Python's own functions."""

from __future__ import annotations

import datetime
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.extensions.signatures import ValueArg
from pyspark_substrait.model.expressions import Function
from pyspark_substrait.model.types import (
    I8,
    Date,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Type,
)
from pyspark_substrait.sql import functions
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.fragment import Constant, Name
from pyspark_substrait.sql.functions.table import Call, Operand
from pyspark_substrait.sql.functions.time_formats.conversions import Conversion, pieces
from tests.versions import knows_times

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

URN = "extension:io.substrait:functions_datetime"
EPOCH = datetime.datetime(1970, 1, 1)
ZONES = ("UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Apia", "Etc/GMT+1", "Australia/Lord_Howe")


def column(sql: str, type: Type) -> Operand:
    return Operand(Name(sql), type)


def constant(value: str | int) -> Operand:
    if isinstance(value, str):
        return Operand(Constant(string_literal(value), value), String())
    return Operand(Constant(f"{value}Y", value), I8())


def text(name: str, *operands: Operand) -> str:
    """The Spark SQL of a call."""
    given = tuple(ValueArg(item.type, item.literal) for item in operands if item.type is not None)
    found = Registry.default().resolve(URN, name, given)
    assert found.definition is not None and found.output_type is not None
    table = functions.table(URN)
    assert table is not None
    call = Call(
        function=Function(URN, name, found.definition.key.partition(":")[2]),
        operands=operands,
        names=tuple(argument.name for argument in found.definition.arguments),
        output=found.output_type,
    )
    return table.text(call, [])


def results(spark: SparkSession, columns: Sequence[str], rows: str) -> list[Any]:
    numbered = ", ".join(f"({sql}) AS c{number}" for number, sql in enumerate(columns))
    return spark.sql(f"SELECT {numbered} FROM VALUES {rows} ORDER BY i").collect()


def moments(count: int, first: int = 1000, last: int = 9999) -> list[datetime.datetime]:
    """Timestamps of these years, the first and last days of years among them."""
    chosen = random.Random(7)
    found = []
    for _ in range(count):
        day = chosen.choice((0, 1, 2, 3, 4, 5, 6, 360, 361, 362, 363, 364, chosen.randrange(365)))
        second = chosen.choice((0, 43_199, 43_200, 86_399, chosen.randrange(86_400)))
        micros = chosen.choice((0, 1, 999_999, chosen.randrange(1_000_000)))
        start = datetime.datetime(chosen.randint(first, last), 1, 1)
        found.append(start + datetime.timedelta(days=day, seconds=second, microseconds=micros))
    return found


def test_pieces_of_a_format() -> None:
    function = Function(URN, "strftime", "date_str")
    assert pieces(function, "a%Yb%%") == (
        "a",
        Conversion("Y", "", 0, "%Y", 2),
        "b",
        Conversion("%", "", 0, "%%", 5),
    )
    assert pieces(function, "%_-12Od\n") == (Conversion("d", "_-", 12, "%_-12Od", 1), "\n")
    assert pieces(function, "") == ()


@pytest.mark.parametrize(
    ("format", "place"),
    [
        ("%", 1),
        ("%Y%Q", 3),
        ("é%E", 2),
        ("%Ed", 1),
        ("%OY", 1),
        ("%N", 1),
        ("%+", 1),
        ("%-", 1),
        ("%é", 1),
        ("%\n", 1),
        ("%٣d", 1),
    ],
)
@pytest.mark.parametrize("name", ["strftime", "strptime_date"])
def test_what_is_no_conversion_is_refused_with_its_place(name: str, format: str, place: int) -> None:
    x = column("x", Date() if name == "strftime" else String())
    with pytest.raises(UnsupportedPlanError, match=f"at character {place} of the format is not a conversion"):
        text(name, x, constant(format))


@pytest.mark.parametrize("format", ["%Y", "%c", "%s", "%H %j"])
def test_a_time_has_no_date_to_be_written(format: str) -> None:
    with pytest.raises(UnsupportedPlanError, match="a time of day has none"):
        text("strftime", column("x", PrecisionTime(precision=6)), constant(format))


@pytest.mark.parametrize("format", ["%3f", "%-f", "%_z", "%9z", "%1001d", "%" + "9" * 5000 + "d"])
def test_widths_without_sense_are_refused(format: str) -> None:
    with pytest.raises(UnsupportedPlanError):
        text("strftime", column("x", PrecisionTimestampTZ(precision=6)), constant(format), constant("Europe/Berlin"))


@pytest.mark.parametrize("format", ["%Y %U", "%V %u", "%G", "%W %a", "%3d"])
def test_what_says_no_day_is_refused(format: str) -> None:
    with pytest.raises(UnsupportedPlanError, match="%"):
        text("strptime_date", column("x", String()), constant(format))


def test_a_time_zone_in_the_text_and_as_an_argument_is_refused() -> None:
    for format in ("%F %z", "%F %Z"):
        with pytest.raises(UnsupportedPlanError, match="one is given besides"):
            text("strptime_timestamp", column("x", String()), constant(format), constant("UTC"), constant(6))


def test_an_abbreviation_is_no_time_zone() -> None:
    with pytest.raises(InvalidPlanError, match="PST"):
        text("strptime_timestamp", column("x", String()), constant("%F"), constant("PST"), constant(6))


def test_strptime_needs_the_format_as_a_literal() -> None:
    with pytest.raises(UnsupportedPlanError, match="is not a literal"):
        text("strptime_date", column("x", String()), column("f", String()))


def test_common_formats_are_short_texts() -> None:
    x = column("x", PrecisionTimestamp(precision=6))
    assert text("strftime", x, constant("%d.%m. %H:%M")) == (
        "CASE WHEN x IS NOT NULL THEN printf('%02d.%02d. %02d:%02d', day(x), month(x), hour(x), minute(x)) END"
    )


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_written_as_python_does(spark: SparkSession, zone: str) -> None:
    formats = [f"%{letter}" for letter in "aAbBcdGHIjmMpSuUVwWxXyYf"]
    formats += ["%A, %d. %B %Y, %I:%M %p", "100%% %F é"]
    values = moments(150)
    rows = ", ".join(f"({i}, TIMESTAMP_NTZ'{value.isoformat(' ')}')" for i, value in enumerate(values))
    local = column("x", PrecisionTimestamp(precision=6))
    columns = [text("strftime", local, constant(format)) for format in formats]
    columns += [text("strftime", column("CAST(x AS DATE)", Date()), constant(format)) for format in formats]
    columns += [text("strftime", local, column(string_literal(format), String())) for format in formats[-2:]]
    with_zone(spark, zone)
    try:
        found = results(spark, columns, f"{rows} AS t(i, x)")
    finally:
        with_zone(spark, "UTC")
    for value, row in zip(values, found, strict=True):
        midnight = value.replace(hour=0, minute=0, second=0, microsecond=0)
        expected = [value.strftime(format) for format in formats]
        expected += [midnight.strftime(format) for format in formats]
        expected += [value.strftime(format) for format in formats[-2:]]
        assert list(row) == expected


def with_zone(spark: SparkSession, zone: str) -> None:
    spark.conf.set("spark.sql.session.timeZone", zone)


def test_written_in_time_zones_as_python_does(spark: SparkSession) -> None:
    chosen = random.Random(8)
    values = [(value, chosen.choice(ZONES)) for value in moments(150, 1971, 2036)]
    micros = [(value - EPOCH) // datetime.timedelta(microseconds=1) for value, _ in values]
    rows = ", ".join(
        f"({i}, timestamp_micros({count}L), {count}000L, '{zone}')"
        for i, (count, (_, zone)) in enumerate(zip(micros, values, strict=True))
    )
    format = constant("%F %T.%f %z")
    zone = column("z", String())
    columns = [
        text("strftime", column("x", PrecisionTimestampTZ(precision=6)), format, zone),
        text("strftime", column("n", PrecisionTimestampTZ(precision=9)), format, zone),
    ]
    for (value, name), row in zip(values, results(spark, columns, f"{rows} AS t(i, x, n, z)"), strict=True):
        there = value.replace(tzinfo=datetime.timezone.utc).astimezone(ZoneInfo(name))
        assert row[0] == there.strftime("%Y-%m-%d %H:%M:%S.%f %z")
        assert row[1] == there.strftime("%Y-%m-%d %H:%M:%S.%f000 %z")


@pytest.mark.parametrize(
    "format",
    [
        "%Y-%m-%d %H:%M:%S.%f",
        "%d %b %y, %I:%M:%S %p %f",
        "%A %d %B %Y %H%M%S%f",
        "%f %S %M %H %j %Y",
        "%Y %U %w %X.%f",
        "%Y %W %a %X.%f",
        "%G-W%V-%u %H:%M:%S.%f",
    ],
)
def test_read_as_python_does(spark: SparkSession, format: str) -> None:
    values = moments(60, 1970, 2067)
    texts = [value.strftime(format) for value in values]
    rows = ", ".join(f"({i}, {string_literal(item)})" for i, item in enumerate(texts))
    x = column("x", String())
    columns = [
        text("strptime_date", x, constant(format)),
        text("strptime_time", x, constant(format), constant(6)) if knows_times(spark) else "NULL",
        f"unix_micros({text('strptime_timestamp', x, constant(format), constant(6))})",
        text("strptime_timestamp", x, constant(format), constant(9)),
    ]
    for item, row in zip(texts, results(spark, columns, f"{rows} AS t(i, x)"), strict=True):
        read = datetime.datetime.strptime(item, format)
        micros = (read - EPOCH) // datetime.timedelta(microseconds=1)
        assert list(row) == [read.date(), read.time() if knows_times(spark) else None, micros, micros * 1000], item


def test_read_in_time_zones_as_python_does(spark: SparkSession) -> None:
    chosen = random.Random(9)
    values = [(value.replace(microsecond=0), chosen.choice(ZONES)) for value in moments(150, 1971, 2036)]
    values += [(datetime.datetime(2024, 3, 31, 2, minute), "Europe/Berlin") for minute in (0, 30)]
    values += [(datetime.datetime(2024, 10, 27, 2, minute), "Europe/Berlin") for minute in (0, 30)]
    rows = ", ".join(f"({i}, '{value.isoformat(' ')}', '{zone}')" for i, (value, zone) in enumerate(values))
    alone, zone, both = column("x", String()), column("z", String()), column("concat(x, ' ', z)", String())
    columns = [
        text("strptime_timestamp", alone, constant("%F %T"), zone, constant(6)),
        text("strptime_timestamp", both, constant("%F %T %Z"), constant(6)),
    ]
    found = results(spark, [f"unix_seconds({sql})" for sql in columns], f"{rows} AS t(i, x, z)")
    for (value, name), row in zip(values, found, strict=True):
        expected = int(value.replace(tzinfo=ZoneInfo(name)).timestamp())
        assert list(row) == [expected, expected], (value, name)


@pytest.mark.since("4.2", "TIME")
@pytest.mark.parametrize("format", ["%", "%-d", "%Q", "%Y"])
def test_a_format_of_a_column_that_has_no_meaning_fails(spark: SparkSession, format: str) -> None:
    sql = text("strftime", column("TIME'01:02:03'", PrecisionTime(precision=6)), column("f", String()))
    with pytest.raises(Exception, match="no conversion of such a value"):
        spark.sql(f"SELECT {sql} FROM VALUES ({string_literal(format)}) AS t(f)").collect()
