"""Time zones in function tables: which names are taken, and the rules of daylight saving time in the database."""

from __future__ import annotations

import bisect
import random
import zoneinfo
from datetime import datetime, timedelta, timezone

import pytest

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.expressions import Function
from pyspark_substrait.model.types import Boolean, PrecisionTimestamp, PrecisionTimestampTZ, String, Type
from pyspark_substrait.sql import functions
from pyspark_substrait.sql.fragment import Constant, Name
from pyspark_substrait.sql.functions.datetimes import zone_rules
from pyspark_substrait.sql.functions.table import Call, Operand

URN = "extension:io.substrait:functions_datetime"
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def text(key: str, *operands: Operand, output: Type) -> str:
    definition, table = Registry.default().function(URN, key), functions.table(URN)
    assert definition is not None and table is not None
    name, _, signature = key.partition(":")
    call = Call(
        function=Function(URN, name, signature),
        operands=operands,
        names=tuple(argument.name for argument in definition.arguments),
        output=output,
    )
    return table.text(call, ())


def local_timestamp(zone: str) -> str:
    instant = Operand(Name("x"), PrecisionTimestampTZ(precision=6))
    return text("local_timestamp:ptstz_str", instant, literal(zone), output=PrecisionTimestamp(precision=6))


def is_daylight(zone: Operand) -> str:
    instant = Operand(Name("x"), PrecisionTimestampTZ(precision=6))
    return text("extract_boolean:req_ptstz_str", Operand(Name("IS_DST")), instant, zone, output=Boolean())


def literal(zone: str) -> Operand:
    return Operand(Constant(f"'{zone}'", zone), String())


def test_a_literal_zone_stands_in_the_text_as_it_is() -> None:
    assert "from_utc_timestamp(x, 'Europe/Paris')" in local_timestamp("Europe/Paris")


@pytest.mark.parametrize("name", ["+02:00", "-3", "+0", "UTC+2", "UT", "GMT+1", "GMT-00:00", "Z", "BST", "IST", "PST"])
def test_offsets_and_abbreviations_are_no_zones(name: str) -> None:
    with pytest.raises(InvalidPlanError, match="isn't the name of a time zone"):
        local_timestamp(name)


@pytest.mark.parametrize("name", ["GMT+0", "GMT-0", "GMT0", "Etc/GMT+8", "Etc/GMT-14", "W-SU", "GB-Eire", "EST5EDT"])
def test_names_that_look_like_offsets_are_zones(name: str) -> None:
    assert f"'{name}'" in local_timestamp(name)


def test_every_name_of_the_database_is_one() -> None:
    for name in zone_rules.names():
        assert local_timestamp(name)


def test_a_name_that_only_java_lacks_is_replaced() -> None:
    assert "'Asia/Taipei'" in local_timestamp("ROC")


def test_daylight_saving_time_is_the_flag_of_the_database() -> None:
    chance = random.Random(51)
    for name in chance.sample(zone_rules.names(), min(80, len(zone_rules.names()))):
        found, zone = zone_rules.eras(name), zoneinfo.ZoneInfo(name)
        assert found is not None
        starts = [era.start for era in found if era.start is not None]
        for _ in range(100):
            second = chance.randint(-3_700_000_000, 4_100_000_000)
            moment = (EPOCH + timedelta(seconds=second)).astimezone(zone)
            offset, daylight = moment.utcoffset(), moment.dst()
            assert offset is not None and daylight is not None
            standard = found[bisect.bisect_right(starts, second)].standard
            assert (standard is not None and offset.total_seconds() != standard) == bool(daylight), (name, moment)


def test_zones_without_rules() -> None:
    assert zone_rules.eras("Mars/Phobos") is None
    assert zone_rules.eras("../../etc/passwd") is None
    assert zone_rules.eras("") is None
    with pytest.raises(UnsupportedPlanError, match="no rules of 'Mars/Phobos'"):
        is_daylight(literal("Mars/Phobos"))


def test_a_zone_that_never_had_daylight_saving_time_brings_no_rules_along() -> None:
    assert is_daylight(literal("UTC")) == "unix_micros(from_utc_timestamp(x, 'UTC')) % 1L <> 0L"


def test_without_a_database_daylight_saving_time_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zone_rules, "names", lambda: ())
    with pytest.raises(UnsupportedPlanError, match="no time zone database"):
        is_daylight(Operand(Name("z"), String()))
