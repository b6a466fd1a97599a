"""Casts between dates, times, timestamps and intervals, at every precision, in any time zone of the session."""

from __future__ import annotations

import datetime
import random
from typing import TYPE_CHECKING, Any

from pyspark_substrait.model.literals import Compound, DayTime
from pyspark_substrait.model.types import (
    Date,
    IntervalCompound,
    IntervalYear,
    List,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    Type,
)
from tests.spark.casting import FAILS, Case, check, check_raises, iday, pts, ptz, time

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_DAY = 86_400
_EPOCH = datetime.datetime(1970, 1, 1)


def days(year: int, month: int, day: int) -> int:
    return (datetime.date(year, month, day) - _EPOCH.date()).days


def seconds(*parts: int) -> int:
    return (datetime.datetime(*parts) - _EPOCH) // datetime.timedelta(seconds=1)  # type: ignore[arg-type]


def compound(precision: int) -> IntervalCompound:
    return IntervalCompound(precision=precision)


#: moments of UTC that clocks in America/New_York skip or show twice, and the ends of the calendar
MOMENTS = [
    seconds(2021, 3, 14, 2, 30),
    seconds(2021, 3, 14, 7, 0),
    seconds(2021, 11, 7, 1, 30),
    seconds(2021, 11, 7, 6, 30),
    seconds(1883, 11, 18, 17, 0),
    seconds(1, 1, 1),
    seconds(1582, 10, 10, 3),
    seconds(9999, 12, 31, 23, 59, 59),
    -1,
    0,
]

HAND = [
    Case(Date(), days(2020, 2, 29), pts(0), seconds(2020, 2, 29)),
    Case(Date(), days(1, 1, 1), pts(6), seconds(1, 1, 1) * 10**6),
    Case(Date(), days(9999, 12, 31), ptz(3), seconds(9999, 12, 31) * 10**3),
    Case(Date(), days(2020, 2, 29), ptz(9), seconds(2020, 2, 29) * 10**9),
    Case(Date(), days(1600, 1, 1), pts(9), FAILS),
    Case(Date(), days(1970, 4, 1), pts(12), 90 * _DAY * 10**12),
    Case(Date(), days(1971, 1, 1), ptz(12), FAILS),
    Case(pts(6), -1, Date(), -1),
    Case(ptz(6), -1, Date(), -1),
    Case(pts(9), -1, Date(), -1),
    Case(ptz(12), -(2**63), Date(), -107),
    Case(pts(9), -(2**63), Date(), days(1677, 9, 21)),
    Case(pts(9), 2**63 - 1, Date(), days(2262, 4, 11)),
    # coarser: towards the past
    Case(pts(6), -1, pts(0), -1),
    Case(ptz(6), -1, ptz(3), -1),
    Case(pts(9), -1, pts(6), -1),
    Case(pts(9), -1, pts(7), -1),
    Case(ptz(12), -1, pts(0), -1),
    Case(pts(6), 1_234_567, pts(3), 1234),
    Case(ptz(12), 1_999_999_999_999, ptz(11), 199_999_999_999),
    Case(pts(9), -(2**63), pts(6), -(2**63) // 1000),
    Case(pts(12), -(2**63), ptz(6), -(2**63) // 10**6),
    # finer
    Case(pts(3), 1500, pts(6), 1_500_000),
    Case(pts(3), -1500, ptz(9), -1_500_000_000),
    Case(pts(6), seconds(2262, 4, 11, 23, 47, 16) * 10**6 + 854_775, pts(9), 2**63 - 808),
    Case(pts(6), seconds(2262, 4, 11, 23, 47, 16) * 10**6 + 854_776, pts(9), FAILS),
    Case(ptz(6), seconds(9999, 1, 1) * 10**6, ptz(8), FAILS),
    Case(ptz(6), seconds(1, 1, 1) * 10**6, pts(9), FAILS),
    Case(pts(9), 2**62, pts(12), FAILS),
    Case(pts(9), 2**53, pts(12), 2**53 * 1000),
    # time of day
    Case(pts(6), 1_500_000, time(0), 1),
    Case(pts(6), -1, time(6), _DAY * 10**6 - 1),
    Case(ptz(6), -1, time(3), _DAY * 10**3 - 1),
    Case(ptz(3), seconds(2021, 3, 14, 7, 0) * 10**3, time(9), 25_200 * 10**9),
    Case(pts(9), -1, time(12), _DAY * 10**12 - 1000),
    Case(pts(12), -1, time(6), _DAY * 10**6 - 1),
    Case(pts(9), -(2**63), time(9), 763_145_224_192),
    Case(time(6), 1_999_999, time(3), 1_999),
    Case(time(3), 1_999, time(6), 1_999_000),
    Case(time(12), _DAY * 10**12 - 1, time(0), _DAY - 1),
    Case(time(12), _DAY * 10**12 - 1, time(9), _DAY * 10**9 - 1),
    Case(time(0), _DAY - 1, time(12), (_DAY - 1) * 10**12),
    Case(time(7), _DAY * 10**7 - 1, time(12), _DAY * 10**12 - 10**5),
    # intervals: towards zero
    Case(iday(6), DayTime(0, -1, -500_000), iday(0), DayTime(0, -1, 0)),
    Case(iday(6), DayTime(0, 1, 999_999), iday(3), DayTime(0, 1, 999)),
    Case(iday(0), DayTime(3_650_000, 0, 0), iday(12), DayTime(3_650_000, 0, 0)),
    Case(iday(6), DayTime(-3_649_999, -1, -1), iday(9), DayTime(-3_649_999, -1, -1000)),
    Case(iday(12), DayTime(-3_649_999, -1, -999_999_999_999), iday(6), DayTime(-3_649_999, -1, -999_999)),
    Case(iday(12), DayTime(0, 0, -999_999_999_999), iday(0), DayTime(0, 0, 0)),
    Case(iday(12), DayTime(0, 1, 999_999_999_999), iday(7), DayTime(0, 1, 9_999_999)),
    Case(iday(9), DayTime(0, -1, -999_999_999), iday(8), DayTime(0, -1, -99_999_999)),
    Case(iday(7), DayTime(3_650_000, 0, 0), iday(12), DayTime(3_650_000, 0, 0)),
    Case(IntervalYear(), -14, compound(6), Compound(-14, 0, 0, 0)),
    Case(IntervalYear(), 14, compound(9), Compound(14, 0, 0, 0)),
    Case(iday(6), DayTime(1, 2, 3), compound(9), Compound(0, 1, 2, 3000)),
    Case(iday(9), DayTime(1, 2, 3999), compound(6), Compound(0, 1, 2, 3)),
    Case(iday(3), DayTime(1, 2, 3), compound(6), Compound(0, 1, 2, 3000)),
    Case(compound(6), Compound(14, 0, 0, 0), IntervalYear(), 14),
    Case(compound(9), Compound(-14, 0, 0, 0), IntervalYear(), -14),
    Case(compound(6), Compound(14, 0, 0, 1), IntervalYear(), FAILS),
    Case(compound(12), Compound(14, 1, 0, 0), IntervalYear(), FAILS),
    Case(compound(6), Compound(0, 1, 2, 3), iday(6), DayTime(1, 2, 3)),
    Case(compound(9), Compound(0, 1, 2, 3999), iday(6), DayTime(1, 2, 3)),
    Case(compound(9), Compound(1, 1, 2, 3), iday(9), FAILS),
    Case(compound(6), Compound(1, 1, 2, 3999), compound(3), Compound(1, 1, 2, 3)),
    Case(compound(3), Compound(-1, 1, 2, 3), compound(12), Compound(-1, 1, 2, 3_000_000_000)),
    Case(compound(12), Compound(-1, 1, 2, 3_999_999_999), compound(6), Compound(-1, 1, 2, 3999)),
    Case(List(type=pts(6)), [-1], List(type=pts(9)), [-1000]),
    Case(List(type=pts(6)), [0, seconds(9999, 1, 1) * 10**6], List(type=ptz(9)), FAILS),
]


def _moved(value: int, fine: int, coarse: int) -> int:
    return value * int(10 ** (coarse - fine)) if fine <= coarse else value // int(10 ** (fine - coarse))


def _converted(source: Any, value: int, target: Any) -> Any:
    """What integers say: both are counts since 1970-01-01, or since midnight."""
    if isinstance(target, Date):
        return value // (_DAY * 10**source.precision)
    if isinstance(target, PrecisionTime):
        return _moved(value % (_DAY * 10**source.precision), source.precision, target.precision)
    if isinstance(source, Date):
        count = value * _DAY * 10**target.precision
    else:
        count = _moved(value, source.precision, target.precision)
    return count if target.precision <= 6 or -(2**63) <= count < 2**63 else FAILS


def _cases(rng: random.Random, moments: list[int], number: int) -> list[Case]:
    kinds: list[Type] = [kind(precision=p) for kind in (PrecisionTimestamp, PrecisionTimestampTZ) for p in range(13)]
    targets = [*kinds, Date(), *(time(p) for p in range(13))]
    cases: list[Case] = []
    while len(cases) < number:
        source, target = rng.choice([*kinds, Date()]), rng.choice(targets)
        if source == target or (isinstance(source, Date) and isinstance(target, PrecisionTime)):
            continue
        second = rng.choice(moments)
        if isinstance(source, Date):
            value = second // _DAY
        else:
            assert isinstance(source, PrecisionTimestamp | PrecisionTimestampTZ)
            value = (
                second * 10**source.precision + rng.choice([0, 1, 10**source.precision - 1, 5]) % 10**source.precision
            )
            if source.precision > 6:
                value = rng.choice([value, -1, -(10**source.precision), 2**63 - 1, rng.randint(-(2**62), 2**62)])
                if not -(2**63) <= value < 2**63:
                    value = rng.randint(-(2**63), 2**63 - 1)
        cases.append(Case(source, value, target, _converted(source, value, target)))
    return cases


def test_worked_by_hand(spark: SparkSession) -> None:
    check(spark, HAND)
    check_raises(spark, HAND)


def test_random_moments_agree_with_integers(spark: SparkSession) -> None:
    check(spark, _cases(random.Random(7), MOMENTS, 160))


def test_nothing_depends_on_the_time_zone(spark: SparkSession) -> None:
    cases = _cases(random.Random(8), MOMENTS[:7], 80) + HAND
    before = spark.conf.get("spark.sql.session.timeZone")
    try:
        for zone in ("America/New_York", "Asia/Kolkata"):
            spark.conf.set("spark.sql.session.timeZone", zone)
            check(spark, cases, thorough=False)
    finally:
        spark.conf.set("spark.sql.session.timeZone", before or "UTC")


def test_every_precision_of_intervals(spark: SparkSession) -> None:
    rng = random.Random(9)
    cases = []
    for fine in range(13):
        for coarse in rng.sample(range(13), 6):
            count = rng.choice([1, -1]) * rng.randint(0, 3_650_000 * _DAY * 10**fine - 1)
            cut = abs(count) * 10**coarse // 10**fine * (1 if count >= 0 else -1)
            cases.append(Case(iday(fine), _parts(count, fine), iday(coarse), _parts(cut, coarse)))
    check(spark, cases)


def _parts(count: int, precision: int) -> DayTime:
    sign = -1 if count < 0 else 1
    rest, subseconds = divmod(abs(count), 10**precision)
    whole, second = divmod(rest, _DAY)
    return DayTime(sign * whole, sign * second, sign * subseconds)
