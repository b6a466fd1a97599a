"""Functions of instants and zones against Python's ``datetime`` and ``zoneinfo``, for zones in a column.

Only moments from 1980 to 2036 are compared: Java and Python bring time zone databases of their own, which differ in
what they know of earlier years.
"""

from __future__ import annotations

import calendar
import random
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo

import pytest

from pyspark_substrait.model.types import (
    I8,
    I64,
    Boolean,
    Date,
    IntervalDay,
    IntervalYear,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
)
from pyspark_substrait.sql.fragment import Constant, Name
from pyspark_substrait.sql.functions.table import Operand
from tests.spark.zones import zone as session_zone
from tests.sql.test_zones import text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ZONES = (
    "America/New_York",
    "Europe/London",
    "Europe/Dublin",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Africa/Casablanca",
    "Pacific/Apia",
    "America/Caracas",
    "Etc/GMT+1",
)
#: moments near which clocks changed: in New York, Lord Howe and Apia
CHANGES = (1_615_705_200, 1_636_264_800, 1_617_462_000, 1_633_188_600, 1_325_239_200)
EPOCH = datetime(1970, 1, 1)
COMPONENTS = ("YEAR", "ISO_YEAR", "US_YEAR", "HOUR", "MINUTE", "SECOND")
FRACTIONS = ("MILLISECOND", "MICROSECOND", "NANOSECOND", "PICOSECOND", "SUBSECOND")
INDEXED = (
    "QUARTER",
    "MONTH",
    "DAY",
    "DAY_OF_YEAR",
    "MONDAY_DAY_OF_WEEK",
    "SUNDAY_DAY_OF_WEEK",
    "MONDAY_WEEK",
    "SUNDAY_WEEK",
    "ISO_WEEK",
    "US_WEEK",
)


class Moment(NamedTuple):
    """A count of units since 1970, a zone, and what is added."""

    count: int  # type: ignore[assignment]
    zone: str
    months: int
    units: int


def moments(precision: int, number: int) -> list[Moment]:
    chance = random.Random(precision)
    second = int(10 ** max(precision, 6))
    found = []
    for _ in range(number):
        start = chance.choice(CHANGES) + chance.randint(-7200, 7200)
        if precision > 9:
            start = chance.randint(-5_000_000, 5_000_000)
        elif chance.random() < 0.6:
            start = chance.randint(315_532_800, 2_082_758_400)
        count = start * second + chance.choice((0, second - 1, chance.randrange(second)))
        months = chance.choice((0, 1, -1)) if precision > 9 else chance.choice((0, 1, -12, chance.randint(-24, 24)))
        found.append(Moment(count, chance.choice(ZONES), months, chance.randint(-(10**6), 10**6) * second + count % 7))
    return found


def columns(precision: int) -> dict[str, str]:
    """The calls that are compared, by name; timestamps as counts."""
    instant = Operand(Name("x"), PrecisionTimestampTZ(precision=precision))
    local = Operand(Name("l"), PrecisionTimestamp(precision=precision))
    zone, months, days = (
        Operand(Name("z"), String()),
        Operand(Name("m"), IntervalYear()),
        Operand(Name("i"), IntervalDay(precision=precision)),
    )
    number, moment, clock = I64(), PrecisionTimestampTZ(precision=precision), PrecisionTimestamp(precision=precision)

    def counted(sql: str) -> str:
        return sql if precision > 6 else f"unix_micros({sql})"

    def counted_local(sql: str) -> str:
        return sql if precision > 6 else f"unix_micros(to_utc_timestamp(CAST({sql} AS STRING) || 'Z', 'UTC'))"

    found = {
        name: text("extract:req_ptstz_str", Operand(Name(name)), instant, zone, output=number)
        for name in (*COMPONENTS, *FRACTIONS, "UNIX_TIME", "TIMEZONE_OFFSET")
    }
    for name in INDEXED:
        found[name] = text(
            "extract:req_req_ptstz_str", Operand(Name(name)), Operand(Name("ONE")), instant, zone, output=number
        )
    for name in ("IS_LEAP_YEAR", "IS_DST"):
        found[name] = text("extract_boolean:req_ptstz_str", Operand(Name(name)), instant, zone, output=Boolean())
    found["local"] = counted_local(text("local_timestamp:ptstz_str", instant, zone, output=clock))
    found["assumed"] = counted(text("assume_timezone:pts_str", local, zone, output=moment))
    digits = Operand(Constant(str(precision), precision), I8())
    found["midnight"] = counted(
        text("assume_timezone:date_str_i8", Operand(Name("d"), Date()), zone, digits, output=moment)
    )
    for name in ("add", "subtract"):
        found[f"{name} months in zone"] = counted(text(f"{name}:ptstz_iyear_str", instant, months, zone, output=moment))
        found[f"{name} months"] = counted_local(text(f"{name}:pts_iyear", local, months, output=clock))
        found[f"{name} days"] = counted(text(f"{name}:ptstz_iday", instant, days, output=moment))
    return found


def expected(moment: Moment, precision: int) -> dict[str, int | bool]:
    zone, second = ZoneInfo(moment.zone), int(10 ** max(precision, 6))
    step = second // 1_000_000
    micros, rest = divmod(moment.count, step)
    utc = EPOCH + timedelta(microseconds=micros)
    local = clocks(utc, zone)
    picos = moment.count % second * (10**12 // second)
    monday = local - timedelta(days=local.weekday())
    sunday = local - timedelta(days=local.isoweekday() % 7)
    wednesday = sunday + timedelta(days=3)

    def units(when: datetime) -> int:
        return (when - EPOCH) // timedelta(microseconds=1) * step

    found: dict[str, int | bool] = {
        "YEAR": local.year,
        "ISO_YEAR": local.isocalendar()[0],
        "US_YEAR": wednesday.year,
        "HOUR": local.hour,
        "MINUTE": local.minute,
        "SECOND": local.second,
        "MILLISECOND": picos // 10**9,
        "MICROSECOND": picos // 10**6 % 1000,
        "NANOSECOND": picos // 1000 % 1000,
        "PICOSECOND": picos % 1000,
        "SUBSECOND": picos // 10**6,
        "UNIX_TIME": moment.count // second,
        "TIMEZONE_OFFSET": (local - utc) // timedelta(seconds=1),
        "QUARTER": (local.month + 2) // 3,
        "MONTH": local.month,
        "DAY": local.day,
        "DAY_OF_YEAR": local.timetuple().tm_yday,
        "MONDAY_DAY_OF_WEEK": local.isoweekday(),
        "SUNDAY_DAY_OF_WEEK": local.isoweekday() % 7 + 1,
        "MONDAY_WEEK": int(monday.strftime("%W")),
        "SUNDAY_WEEK": int(sunday.strftime("%U")),
        "ISO_WEEK": local.isocalendar()[1],
        "US_WEEK": (wednesday.timetuple().tm_yday - 1) // 7 + 1,
        "IS_LEAP_YEAR": calendar.isleap(local.year),
        "IS_DST": bool(utc.replace(tzinfo=timezone.utc).astimezone(zone).dst()),
        "local": units(local) + rest,
        "assumed": units(instant(utc, zone)) + rest,
        "midnight": units(instant(utc.replace(hour=0, minute=0, second=0, microsecond=0), zone)),
    }
    for name, sign in (("add", 1), ("subtract", -1)):
        wanted = later(local, sign * moment.months)
        kept = wanted - (local - utc)
        found[f"{name} months in zone"] = units(kept if clocks(kept, zone) == wanted else instant(wanted, zone)) + rest
        found[f"{name} months"] = units(later(utc, sign * moment.months)) + rest
        found[f"{name} days"] = moment.count + sign * moment.units
    return found


def clocks(utc: datetime, zone: ZoneInfo) -> datetime:
    """What clocks of a zone show."""
    return utc.replace(tzinfo=timezone.utc).astimezone(zone).replace(tzinfo=None, fold=0)


def instant(local: datetime, zone: ZoneInfo) -> datetime:
    """The time in UTC, by the offset before a change of clocks."""
    offset = local.replace(tzinfo=zone).utcoffset()
    assert offset is not None
    return local - offset


def later(local: datetime, months: int) -> datetime:
    year, month = divmod(local.year * 12 + local.month - 1 + months, 12)
    return local.replace(year=year, month=month + 1, day=min(local.day, calendar.monthrange(year, month + 1)[1]))


@pytest.mark.parametrize("precision", [6, 7, 9, 12])
def test_zones_in_a_column(spark: SparkSession, precision: int) -> None:
    calls, given = columns(precision), moments(precision, 400)
    day = 86_400 * int(10 ** max(precision, 6))
    values = ", ".join(f"({item.count}L, '{item.zone}', {item.months}, {item.units}L)" for item in given)
    carried = (
        "n AS x, n AS l, CAST(units AS DECIMAL(38, 0)) AS i"
        if precision > 6
        else "timestamp_micros(n) AS x, TIMESTAMP_NTZ'1970-01-01 00:00:00' + INTERVAL '0.000001' SECOND * n AS l, "
        "INTERVAL '0.000001' SECOND * units AS i"
    )
    source = (
        f"SELECT n, z, {carried}, INTERVAL '1' MONTH * months AS m, "
        f"date_from_unix_date(CAST((n - pmod(n, {day}L)) DIV {day}L AS INT)) AS d "
        f"FROM VALUES {values} t(n, z, months, units)"
    )
    with session_zone(spark, "America/Los_Angeles"):
        found = spark.sql(f"SELECT {', '.join(calls.values())} FROM ({source})").collect()
    wrong = []
    for item, record in zip(given, found, strict=True):
        wanted = expected(item, precision)
        wrong += [
            (item, name, value, wanted[name])
            for name, value in zip(calls, record, strict=True)
            if value != wanted[name]
        ]
    assert not wrong, wrong[:5]


def test_what_is_no_zone_is_an_error_in_a_column_too(spark: SparkSession) -> None:
    instant = Operand(Name("x"), PrecisionTimestampTZ(precision=6))
    call = text(
        "local_timestamp:ptstz_str", instant, Operand(Name("z"), String()), output=PrecisionTimestamp(precision=6)
    )

    def given(zone: str) -> list[str]:
        source = f"VALUES (TIMESTAMP'2021-07-01 00:00:00Z', {zone}) t(x, z)"
        return [row[0] for row in spark.sql(f"SELECT CAST({call} AS STRING) FROM {source}").collect()]

    assert given("'GMT+0'") == ["2021-07-01 00:00:00"]
    assert given("'ROC'") == ["2021-07-01 08:00:00"]
    assert given("CAST(NULL AS STRING)") == [None]
    for zone in ("+02:00", "UTC+2", "BST", "Z", "Mars/Phobos", ""):
        with pytest.raises(Exception, match=r"time[- ]?zone|ZoneOffset"):
            given(f"'{zone}'")
