"""``round_temporal`` and ``round_calendar`` against the definition, in Python's whole numbers and time zones.

Every moment is a count of picoseconds here: since 1970-01-01, since midnight, or as clocks of a zone show it. The
points of a grid are gone through one after the other, starting near the value.
"""

from __future__ import annotations

import calendar
import datetime
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, TypeAlias
from zoneinfo import ZoneInfo

import pytest

from pyspark_substrait.extensions.definitions import EnumArgument, FunctionDefinition
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.expressions import Function
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import (
    I64,
    Date,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Type,
)
from pyspark_substrait.spark.compatibility import session_version
from pyspark_substrait.spark.session import spark_errors
from pyspark_substrait.sql import functions
from pyspark_substrait.sql.compiler.literals import constant, literal
from pyspark_substrait.sql.compiler.types import has_time, spark_type
from pyspark_substrait.sql.fragment import Name
from pyspark_substrait.sql.functions.table import Call, Operand
from tests.spark.zones import zone as session_zone
from tests.versions import knows_times

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.sweep

URN = "extension:io.substrait:functions_datetime"
SECOND = 10**12
DAY = 86_400 * SECOND
UNITS = {
    "WEEK": 7 * DAY,
    "DAY": DAY,
    "HOUR": 3600 * SECOND,
    "MINUTE": 60 * SECOND,
    "SECOND": SECOND,
    "MILLISECOND": SECOND // 10**3,
    "MICROSECOND": SECOND // 10**6,
}
MONTHS = {"MONTH": 1, "YEAR": 12}
EPOCH = datetime.date(1970, 1, 1)
FIRST, LAST = (datetime.date.min - EPOCH).days * DAY, (datetime.date.max - EPOCH).days * DAY
ZONES = (
    "America/New_York",
    "Europe/London",
    "Australia/Lord_Howe",
    "America/Sao_Paulo",
    "America/St_Johns",
    "Asia/Kathmandu",
    "Pacific/Apia",
    "UTC",
)
#: when clocks in some of the zones were changed
CHANGES = [
    (datetime.datetime(*parts) - datetime.datetime(1970, 1, 1)) // datetime.timedelta(seconds=1) * SECOND
    for parts in (
        (2018, 11, 4, 3, 0),
        (2021, 3, 14, 7, 0),
        (2021, 11, 7, 6, 0),
        (2021, 4, 3, 15, 0),
        (2021, 10, 2, 15, 30),
        (2011, 12, 30, 10, 0),
        (2006, 10, 29, 2, 31),
    )
]
MULTIPLES = (1, 1, 1, 2, 3, 5, 6, 7, 10, 15, 50, 100, 1000, 10**6, 10**18)
#: what overloads call a type
KEYS = {Date: "date", PrecisionTime: "pt", PrecisionTimestamp: "pts", PrecisionTimestampTZ: "ptstz"}

Moment: TypeAlias = PrecisionTimestamp | PrecisionTimestampTZ | PrecisionTime | Date


# the definition ------------------------------------------------------------------------------------------------------


def later(moment: int, months: int) -> int | None:
    """The same day so many months later, or the last one of that month; None beyond the years of Python."""
    days, clock = divmod(moment, DAY)
    day = EPOCH + datetime.timedelta(days=days)
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        return None
    there = datetime.date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))
    return (there - EPOCH).days * DAY + clock


def rounded(value: int, rounding: str, unit: str, multiple: int, origin: int) -> int | None:
    """The point of the grid; None if it is beyond the years of Python."""
    if unit in MONTHS:
        k = (value - origin) // DAY // (31 * multiple * MONTHS[unit])

        def point(k: int) -> int | None:
            return later(origin, k * multiple * MONTHS[unit])
    else:
        k = (value - origin) // (multiple * UNITS[unit])

        def point(k: int) -> int | None:
            return origin + k * multiple * UNITS[unit]

    def before(k: int) -> bool:
        there = point(k)
        return k < 0 if there is None else there <= value

    while not before(k):
        k -= 1
    while before(k + 1):
        k += 1
    low, high = point(k), point(k + 1)
    if low == value or rounding == "FLOOR":
        return low
    if rounding == "CEIL":
        return high
    if low is None or high is None:  # the one that there is, must be the nearer one
        return low if high is None else high
    if value - low == high - value:
        return low if rounding == "ROUND_TIE_DOWN" else high
    return low if value - low < high - value else high


def start(value: int, unit: str) -> int:
    """The start of the unit in which a value lies."""
    days = value // DAY
    day = EPOCH + datetime.timedelta(days=days)
    match unit:
        case "YEAR":
            return (day.replace(month=1, day=1) - EPOCH).days * DAY
        case "MONTH":
            return (day.replace(day=1) - EPOCH).days * DAY
        case "MONDAY_WEEK" | "ISO_WEEK":
            return (days - day.weekday()) * DAY
        case "SUNDAY_WEEK" | "US_WEEK":
            return (days - day.isoweekday() % 7) * DAY
        case _:
            return value // UNITS[unit] * UNITS[unit]


def offset(instant: int, zone: str) -> int:
    seconds = instant // SECOND
    moment = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    found = moment.astimezone(ZoneInfo(zone)).utcoffset()
    assert found is not None
    return found // datetime.timedelta(seconds=1) * SECOND


def back(instant: int, local: int, zone: str) -> int:
    """The instant with a local time that was made of that of another instant."""
    shown = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=local // SECOND)
    offsets = []
    for fold in (0, 1):
        found = shown.replace(tzinfo=ZoneInfo(zone), fold=fold).utcoffset()
        assert found is not None
        offsets.append(found // datetime.timedelta(seconds=1) * SECOND)
    own = offset(instant, zone)
    right = [local - it for it in offsets if offset(local - it, zone) == it]
    if right:
        return local - own if local - own in right else min(right)
    moved = local - offsets[0]
    return local - offsets[1] if local < instant + own and moved > instant else moved


# the rows ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sample:
    """A record: moments in the units of their type."""

    x: int
    origin: int
    multiple: int
    zone: str


def size(type: Moment) -> int:
    """The picoseconds of a type's unit."""
    return DAY if isinstance(type, Date) else int(10 ** (12 - type.precision))


def limits(type: Moment) -> tuple[int, int]:
    """Between which picoseconds the samples lie. Zones had other clocks before 1970, which databases disagree about."""
    match type:
        case PrecisionTime():
            return 0, DAY - 1
        case PrecisionTimestampTZ(precision=12):
            return DAY, 100 * DAY
        case PrecisionTimestampTZ():
            return 366 * DAY, 65 * 365 * DAY
        case PrecisionTimestamp(precision=12):
            return -(2**63), 2**63 - 1
        case _:
            return -250 * 365 * DAY, 250 * 365 * DAY


def moment(type: Moment, chance: random.Random) -> int:
    """Anything, something round, or something near a change of clocks; in units of the type."""
    low, high = limits(type)
    found = chance.randrange(low, high)
    match chance.randrange(6):
        case 0 | 1:
            found = found // (1800 * SECOND) * 1800 * SECOND
        case 2:
            found = (start(found, "MONTH") if high > DAY else 0) + chance.choice((0, 14, 28, 29, 30)) * DAY
        case 3 if isinstance(type, PrecisionTimestampTZ):
            found = chance.choice(CHANGES) + chance.randrange(-180, 180) * 60 * SECOND
        case _:
            pass
    return min(max(found, low), high) // size(type)


def samples(type: Moment, count: int, chance: random.Random) -> list[Sample]:
    return [
        Sample(moment(type, chance), moment(type, chance), chance.choice(MULTIPLES), chance.choice(ZONES))
        for _ in range(count)
    ]


def expected(type: Moment, words: dict[str, str], sample: Sample) -> int | None:
    """The result in units of the type; None if it isn't a value of the type, or not one that Python knows."""
    unit = size(type)
    x, origin = sample.x * unit, sample.origin * unit
    shift = zoned = 0
    if isinstance(type, PrecisionTimestampTZ):
        shift, zoned = offset(x, sample.zone), offset(origin, sample.zone)
    value = x + shift
    begin = start(value, words["origin"]) if "origin" in words else origin + zoned
    found = rounded(value, words["rounding"], words["unit"], sample.multiple, begin)
    if found is not None and isinstance(type, PrecisionTimestampTZ):
        if not 0 < found < 100 * 365 * DAY:
            return None
        found = back(x, found, sample.zone)
    if found is None or found % unit or not FIRST <= found <= LAST or not -(2**63) <= found // unit < 2**63:
        return None
    return None if isinstance(type, PrecisionTime) and not 0 <= found < DAY else found // unit


def text(
    spark: SparkSession,
    definition: FunctionDefinition,
    words: dict[str, str],
    operands: dict[str, Operand],
    output: Type,
) -> str:
    version = session_version(spark)
    table = functions.table(URN, version)
    assert table is not None
    names = tuple(argument.name for argument in definition.arguments)
    chosen = tuple(
        Operand(Name(words[argument.name])) if isinstance(argument, EnumArgument) else operands[argument.name]
        for argument in definition.arguments
    )
    function = Function(URN, definition.name, definition.key.partition(":")[2])
    return table.text(Call(function=function, operands=chosen, names=names, output=output, spark=version), ())


def columns(type: Moment) -> dict[str, Operand]:
    return {
        "x": Operand(Name("c1"), type),
        "origin": Operand(Name("c2"), type),
        "multiple": Operand(Name("c3"), I64()),
        "timezone": Operand(Name("c4"), String()),
    }


def constants(type: Moment, sample: Sample) -> dict[str, Operand]:
    """The arguments of a sample as literals, but for the value."""
    texts = {
        "origin": Literal(type=type, value=sample.origin),
        "multiple": Literal(type=I64(), value=sample.multiple),
        "timezone": Literal(type=String(), value=sample.zone),
    }
    return columns(type) | {name: Operand(constant(node), node.type) for name, node in texts.items()}


def table(type: Moment, records: Sequence[Sample]) -> str:
    rows = []
    for position, item in enumerate(records):
        moments = ", ".join(literal(Literal(type=type, value=value)) for value in (item.x, item.origin))
        rows.append(f"({position}, {moments}, {item.multiple}L, '{item.zone}')")
    return f"(VALUES {', '.join(rows)} AS t(id, c1, c2, c3, c4))"


def check(
    spark: SparkSession,
    type: Moment,
    combinations: Sequence[tuple[FunctionDefinition, dict[str, str]]],
    records: Sequence[Sample] = (),
) -> int:
    """Compare combinations on records, with arguments from columns and with constants. How many results there were."""
    chance = random.Random(f"{type}")
    compared = 0
    for begin in range(0, len(combinations), 25):
        compared += _check(spark, type, combinations[begin : begin + 25], records or samples(type, 40, chance), chance)
    return compared


def _check(
    spark: SparkSession,
    type: Moment,
    combinations: Sequence[tuple[FunctionDefinition, dict[str, str]]],
    records: Sequence[Sample],
    chance: random.Random,
) -> int:
    selected: list[str] = []
    wanted: list[tuple[str, list[int | None]]] = []
    for definition, words in combinations:
        constant = chance.choice(records)
        for operands, given in (
            (columns(type), records),
            (constants(type, constant), [replace(constant, x=item.x) for item in records]),
        ):
            results = [expected(type, words, item) for item in given]
            known = {
                position: literal(Literal(type=type, value=result))
                for position, result in enumerate(results)
                if result is not None
            }
            if not known:
                continue
            sql = text(spark, definition, words, operands, type)
            right = ", ".join(f"{position}, {value}" for position, value in known.items())
            which = ", ".join(str(position) for position in known)
            selected.append(f"CASE WHEN id IN ({which}) THEN {sql} <=> map({right})[id] ELSE true END")
            wanted.append((sql, results))
    names = ", ".join(f"{item} AS r{position}" for position, item in enumerate(selected))
    for row in spark.sql(f"SELECT id, {names} FROM {table(type, records)}").collect():
        wrong = [item for item, right in zip(wanted, row[1:], strict=True) if right is not True]
        assert not wrong, (type, records[row[0]], wrong[0][1][row[0]], wrong[0][0])
    return sum(result is not None for _, results in wanted for result in results)


def combinations(type: Moment) -> Iterator[tuple[FunctionDefinition, dict[str, str]]]:
    """All overloads for a type, with all values of their enumerations."""
    for name in ("round_temporal", "round_calendar"):
        for definition in Registry.default().overloads(URN, name):
            if KEYS[type.__class__] != definition.key.partition(":")[2].partition("_")[0]:
                continue
            words = {item.name: item.options for item in definition.arguments if isinstance(item, EnumArgument)}
            for values in product(*words.values()):
                yield definition, dict(zip(words, values, strict=True))


TYPES: list[Moment] = [
    Date(),
    *(PrecisionTime(precision=precision) for precision in (0, 3, 6, 9, 12)),
    *(PrecisionTimestamp(precision=precision) for precision in (0, 3, 6, 9, 12)),
    *(PrecisionTimestampTZ(precision=precision) for precision in (0, 3, 6, 9, 12)),
]


@pytest.mark.parametrize("type", TYPES, ids=str)
def test_rounded_as_defined(spark: SparkSession, type: Moment) -> None:
    if has_time(type) and not knows_times(spark):
        pytest.skip("this Spark has no TIME")
    found = list(combinations(type))
    chosen = random.Random(f"{type}").sample(found, 20)
    with session_zone(spark, "America/Los_Angeles"):
        assert check(spark, type, chosen) > 500


@pytest.mark.parametrize("type", [TYPES[0], TYPES[3], TYPES[8], TYPES[14]], ids=str)
def test_multiples_from_a_column(spark: SparkSession, type: Moment) -> None:
    if has_time(type) and not knows_times(spark):
        pytest.skip("this Spark has no TIME")
    chosen = random.Random(5).sample(list(combinations(type)), 8)
    texts = [text(spark, definition, words, columns(type), type) for definition, words in chosen]
    given = table(type, [Sample(0, 0, 1, "Europe/Paris")])
    null = f"CAST(NULL AS {spark_type(type)})"
    for changed in (f"{null} AS c1, c2, 0L AS c3, c4", "c1, c2, CAST(NULL AS BIGINT) AS c3, c4"):
        rows = spark.sql(f"SELECT {', '.join(texts)} FROM (SELECT {changed} FROM {given})").collect()
        assert [*rows[0]] == [None] * len(texts)
    with pytest.raises(spark_errors(), match="the multiple must be one or more"):
        spark.sql(f"SELECT {texts[0]} FROM (SELECT c1, c2, 0L AS c3, c4 FROM {given})").collect()


@pytest.mark.parametrize("rounding", ["FLOOR", "CEIL", "ROUND_TIE_DOWN", "ROUND_TIE_UP"])
def test_the_ends_of_a_carrier(spark: SparkSession, rounding: str) -> None:
    type = PrecisionTimestamp(precision=12)
    first, last = -(2**63), 2**63 - 1
    chosen = [(definition, words) for definition, words in combinations(type) if words["rounding"] == rounding]
    records = [
        Sample(x, origin, multiple, "UTC")
        for x in (first, first + 1, last - 1, last)
        for origin in (first, 0, last)
        for multiple in (1, 7, 30, 200)
    ]
    assert check(spark, type, chosen[::4], records) > 300
