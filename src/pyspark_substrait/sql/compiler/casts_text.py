r"""Casts from and to text, and between text, bytes and uuids. The rules and the formats are in ``casts``."""

from __future__ import annotations

from typing import Final

from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    UUID,
    Binary,
    Boolean,
    Date,
    Decimal,
    FixedBinary,
    FixedChar,
    IntervalCompound,
    IntervalDay,
    IntervalYear,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    UserDefined,
    VarChar,
)
from pyspark_substrait.sql.compiler import casts_temporal as moments
from pyspark_substrait.sql.compiler import temporal
from pyspark_substrait.sql.compiler.casts_numeric import within_range
from pyspark_substrait.sql.compiler.conversion import Conversion
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.compiler.types import FINEST, units_per_second, unsigned_bits
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.builtins_since import has_builtin

__all__ = ["bytes_of", "from_text", "to_text"]

_DATE: Final = r"[+-]?\d{4,6}-\d{1,2}-\d{1,2}"
_CLOCK: Final = r"(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?"
_ZONE: Final = r"(?:Z|[+-]\d\d(?::?\d\d)?)"
_FRACTION: Final = r"\.(\d+)"
_REAL: Final = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_SPECIAL: Final = r"[+-]?[iI][nN][fF](?:[iI][nN][iI][tT][yY])?|[nN][aA][nN]"
_UUID: Final = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"


def _whole(*alternatives: str) -> str:
    return rf"^\s*(?:{'|'.join(alternatives)})\s*$"


_LOCAL: Final = _whole(rf"{_DATE}(?:[ T]{_CLOCK})?")
_ZONED: Final = _whole(rf"{_DATE}[ T]{_CLOCK}{_ZONE}")


# from text -----------------------------------------------------------------------------------------------------------


def from_text(conversion: Conversion, sql: str) -> str:
    """The cast of a string, varchar or fixedchar."""
    match conversion.target:
        case String():
            return sql
        case VarChar() | FixedChar():
            return _fitted(conversion, sql)
        case Binary() | FixedBinary():
            return bytes_of(conversion, Atom(f"CAST({sql} AS BINARY)"))
        case Boolean() | I8() | I16() | I32() | I64():
            return conversion.spark(sql)
        case UserDefined() as target if unsigned_bits(target) == 64:
            number = conversion.matching(sql, _whole(r"[+-]?\d+"), conversion.spark(sql))
            return within_range(conversion, f"({number})")
        case UserDefined() as target if unsigned_bits(target) is not None:
            return within_range(conversion, conversion.spark(sql))
        case FP32() | FP64():
            # Spark also accepts the suffixes and forms of Java's literals: 1.5f, 0x1p3
            return conversion.matching(sql, _whole(_REAL, _SPECIAL), conversion.spark(sql))
        case Decimal():
            return conversion.matching(sql, _whole(_REAL), conversion.spark(sql))
        case UUID():
            return conversion.matching(sql, _whole(_UUID), f"unhex(replace(trim({_blanks()} FROM {sql}), '-', ''))")
        case Date():
            return conversion.matching(sql, _LOCAL, conversion.spark(sql))
        case PrecisionTime() | PrecisionTimestamp() | PrecisionTimestampTZ():
            return _moment(conversion, sql)
        case IntervalYear() | IntervalDay() | IntervalCompound():
            return _span(conversion, sql)
        case _:
            raise conversion.no_cast()


def _blanks() -> str:
    return string_literal(" \t\n\x0b\f\r")


def _moment(conversion: Conversion, sql: str) -> str:
    match conversion.target:
        case PrecisionTime(precision=precision) if precision <= FINEST:
            return conversion.matching(sql, _whole(_CLOCK), conversion.spark(sql))
        case PrecisionTime(precision=precision):
            return conversion.matching(sql, _whole(_CLOCK), _fine(conversion.raising(), sql, _clock(sql), precision))
        case PrecisionTimestamp(precision=precision) if precision <= FINEST:
            local = conversion.spark(sql, "TIMESTAMP_NTZ")
            return conversion.matching(sql, _LOCAL, moments.coarser(conversion, local, precision))
        case PrecisionTimestampTZ(precision=precision) as target if precision <= FINEST:
            local = conversion.bound("t", conversion.spark(sql, "TIMESTAMP_NTZ"), temporal.instant_of_local)
            instant = f"if({sql} RLIKE {string_literal(_LOCAL)}, {local}, {conversion.spark(sql, 'TIMESTAMP')})"
            if precision < FINEST:
                instant = moments.of_count(conversion, f"unix_micros({instant})", FINEST, target)
            return conversion.matching(sql, _whole(_LOCAL, _ZONED), instant)
        case PrecisionTimestamp(precision=precision):
            whole = conversion.spark(_without_fraction(sql), "TIMESTAMP_NTZ")
            return conversion.matching(sql, _LOCAL, _fine(conversion, sql, temporal.seconds_of_local(whole), precision))
        case PrecisionTimestampTZ(precision=precision):
            text = _without_fraction(sql)
            local = temporal.seconds_of_local(conversion.spark(text, "TIMESTAMP_NTZ"))
            instant = Atom(f"unix_seconds({conversion.spark(text, 'TIMESTAMP')})")
            seconds = f"if({sql} RLIKE {string_literal(_LOCAL)}, {local}, {instant})"
            return conversion.matching(sql, _whole(_LOCAL, _ZONED), _fine(conversion, sql, seconds, precision))
        case _:
            raise conversion.no_cast()


def _group(sql: str, pattern: str, group: int) -> str:
    return Atom(f"regexp_extract({sql}, {string_literal(pattern)}, {group})")


def _without_fraction(sql: str) -> str:
    return Atom(f"regexp_replace({sql}, {string_literal(_FRACTION)}, '')")


def _clock(sql: str) -> str:
    """The seconds since midnight of a time in text."""
    pattern = r"(\d\d):(\d\d)(?::(\d\d))?"
    hour, minute, second = (f"CAST(concat('0', {_group(sql, pattern, group)}) AS BIGINT)" for group in (1, 2, 3))
    return Atom(f"({hour} * 3600L + {minute} * 60L + {second})")


def _fine(conversion: Conversion, sql: str, seconds: str, precision: int) -> str:
    """Return a count of units, from whole seconds and the fraction in the text."""
    digits = f"rpad(left({_group(sql, _FRACTION, 1)}, {precision}), {precision}, '0')"
    units = f"CAST({seconds} AS DECIMAL(19, 0)) * {units_per_second(precision)}BD"
    return conversion.spark(f"{units} + CAST({digits} AS DECIMAL(12, 0))", "BIGINT")


def _span(conversion: Conversion, sql: str) -> str:
    target = conversion.target
    period = r"(?:([+-]?\d{1,9})Y)?(?:([+-]?\d{1,9})M)?"
    precision = target.precision if isinstance(target, IntervalDay | IntervalCompound) else 0
    fraction = rf"(?:\.(\d{{1,{precision}}})\d*)?" if precision else r"(?:\.()\d+)?"
    days = r"(?:([+-]?\d{1,9})D)?"
    clock = rf"(?:T(?=[+-]?\d)(?:([+-]?\d{{1,12}})H)?(?:([+-]?\d{{1,12}})M)?(?:([+-]?)(\d{{1,15}}){fraction}S)?)?"
    start = r"^\s*([+-]?)P(?=[+-]?\d|T)"
    match target:
        case IntervalYear():
            pattern = start + period + r"\s*$"
            months = conversion.spark(_months(sql, pattern), "INTERVAL MONTH")
            return conversion.matching(sql, pattern, f"CAST({months} AS INTERVAL YEAR TO MONTH)")
        case IntervalDay():
            pattern = start + days + clock + r"\s*$"
            return conversion.matching(sql, pattern, _units(conversion, sql, pattern, 2, precision))
        case _:
            pattern = start + period + days + clock + r"\s*$"
            months = conversion.spark(_months(sql, pattern), "INTERVAL MONTH")
            parts = moments.compound(
                f"CAST({months} AS INTERVAL YEAR TO MONTH)", _units(conversion, sql, pattern, 4, precision)
            )
            if conversion.null:
                failed = conversion.failed()
                parts = conversion.bound(
                    "p", parts, lambda p: Atom(f"if({p}.f0 IS NULL OR {p}.f1 IS NULL, {failed}, {p})")
                )
            return conversion.matching(sql, pattern, parts)


def _amount(sql: str, pattern: str, group: int, digits: int) -> str:
    kind = f"DECIMAL({digits}, 0)"
    return Atom(f"coalesce(try_cast({_group(sql, pattern, group)} AS {kind}), CAST(0BD AS {kind}))")


def _sign(sql: str, pattern: str) -> str:
    return Atom(f"if({_group(sql, pattern, 1)} = '-', -1BD, 1BD)")


def _months(sql: str, pattern: str) -> str:
    years, months = (_amount(sql, pattern, group, 9) for group in (2, 3))
    return Atom(f"CAST(({years} * 12BD + {months}) * {_sign(sql, pattern)} AS BIGINT)")


def _units(conversion: Conversion, sql: str, pattern: str, group: int, precision: int) -> str:
    """Return an interval_day in its carrier; its days are in the numbered group, all other parts in the next ones."""
    days, hours, minutes = (_amount(sql, pattern, group + i, size) for i, size in enumerate((9, 12, 12)))
    whole = f"CAST({days} * 86400BD + {hours} * 3600BD + {minutes} * 60BD AS DECIMAL(19, 0))"
    sign, digits, fraction = (_group(sql, pattern, group + i) for i in (3, 4, 5))
    filled = f"rpad({fraction}, {precision}, '0')" if precision else "''"
    seconds = f"CAST(concat({sign}, '0', {digits}, {filled}) AS DECIMAL(28, 0))"
    units = f"({whole} * {units_per_second(precision)}BD + {seconds}) * {_sign(sql, pattern)}"
    if precision > FINEST:
        return Atom(f"CAST({units} AS DECIMAL(38, 0))")
    scaled = f"{units} * {units_per_second(FINEST - precision)}BD" if precision < FINEST else units
    return temporal.interval_of_micros(conversion.spark(scaled, "BIGINT"))


# to text -------------------------------------------------------------------------------------------------------------


def to_text(conversion: Conversion, sql: str) -> str:
    """The cast to a string, varchar or fixedchar, of anything but text."""
    text = _text(conversion, sql)
    return text if isinstance(conversion.target, String) else _fitted(conversion, text)


def _text(conversion: Conversion, sql: str) -> str:
    plain = Atom(f"CAST({sql} AS STRING)")
    match conversion.source:
        case Binary() | FixedBinary():
            if has_builtin("validate_utf8", conversion.version):
                return Atom(f"{'try_' if conversion.null else ''}validate_utf8({plain})")
            # decode puts another character in the place of wrong bytes
            return conversion.bound(
                "b",
                sql,
                lambda b: conversion.unless(f"encode(decode({b}, 'UTF-8'), 'UTF-8') <> {b}", f"CAST({b} AS STRING)"),
            )
        case Boolean() | I8() | I16() | I32() | I64() | FP32() | FP64() | Decimal() | Date():
            return plain
        case UserDefined() as source if unsigned_bits(source) is not None:
            return plain
        case UUID():
            pattern = string_literal("^(.{8})(.{4})(.{4})(.{4})(.{12})$")
            return Atom(f"regexp_replace(lower(hex({sql})), {pattern}, '$1-$2-$3-$4-$5')")
        case PrecisionTimestamp(precision=precision) | PrecisionTime(precision=precision) if precision <= FINEST:
            return plain
        case PrecisionTimestampTZ(precision=precision) if precision <= FINEST:
            return Atom(f"concat(CAST({temporal.local_of_instant(sql)} AS STRING), '+00:00')")
        case PrecisionTimestamp(precision=precision):
            return _fine_text(sql, precision)
        case PrecisionTimestampTZ(precision=precision):
            return Atom(f"concat({_fine_text(sql, precision)}, '+00:00')")
        case PrecisionTime(precision=precision):
            # the blank before the time of day is the eleventh character
            return Atom(f"substring({_fine_text(sql, precision)}, 12)")
        case IntervalYear():
            return _span_text(conversion, temporal.months_of_interval(sql), None, 0)
        case IntervalDay(precision=precision):
            return _span_text(conversion, None, _day_units(sql, precision), precision)
        case IntervalCompound(precision=precision):
            return _span_text(
                conversion, temporal.months_of_interval(f"{sql}.f0"), _day_units(f"{sql}.f1", precision), precision
            )
        case _:
            raise conversion.no_cast()


def _fine_text(sql: str, precision: int) -> str:
    """The text of a timestamp that is a count of units."""
    unit = units_per_second(precision)
    whole = temporal.local_of_micros(f"({temporal.floored(sql, unit)} * 1000000L)")
    digits = f"lpad(CAST(pmod({sql}, {unit}L) AS STRING), {precision}, '0')"
    return Atom(f"concat(CAST({whole} AS STRING), rtrim('.', concat('.', rtrim('0', {digits}))))")


def _day_units(sql: str, precision: int) -> str:
    """An interval_day as a DECIMAL(38, 0) of units of ``10**-max(6, precision)`` seconds."""
    return sql if precision > FINEST else Atom(f"CAST({temporal.micros_of_interval(sql)} AS DECIMAL(38, 0))")


def _span_text(conversion: Conversion, months: str | None, days: str | None, precision: int) -> str:
    """Return the ISO 8601 duration of months and units of days; a part that is None isn't in the type."""
    if months is None:
        assert days is not None
        return conversion.bound("d", days, lambda d: _duration(None, d, precision))
    if days is None:
        return conversion.bound("m", months, lambda m: _duration(m, None, precision))
    return conversion.bound("m", months, lambda m: conversion.bound("d", days, lambda d: _duration(m, d, precision)))


def _duration(months: str | None, days: str | None, precision: int) -> str:
    parts = []
    if months is not None:
        parts += [_part(f"({months} DIV 12)", "0L", "Y"), _part(f"({months} % 12)", "0", "M")]
    if days is not None:
        second = units_per_second(max(FINEST, precision))
        day, hour, minute = (f"CAST({seconds * second}BD AS DECIMAL(38, 0))" for seconds in (86_400, 3600, 60))
        parts.append(_part(f"({days} DIV {day})", "0L", "D"))
        rest = f"CAST({days} % {minute} AS DECIMAL(14, 0)) * {moments.tenth(max(FINEST, precision))}"
        text = f"rtrim('.', rtrim('0', CAST(CAST({rest} AS DECIMAL(14, 12)) AS STRING)))"
        clock = [
            _part(f"({days} DIV {hour} % 24L)", "0L", "H"),
            _part(f"({days} DIV {minute} % 60L)", "0L", "M"),
            f"if({days} % {minute} <> 0BD, concat({text}, 'S'), '')",
        ]
        parts.append(f"if({days} % {day} <> 0BD, concat('T', {', '.join(clock)}), '')")
    nothing = "'PT0S'" if days is not None else "'P0M'"
    empty = " AND ".join(f"{sql} = {zero}" for sql, zero in ((months, "0"), (days, "0BD")) if sql is not None)
    known = days if months is None else months
    return (
        f"CASE WHEN {known} IS NULL THEN CAST(NULL AS STRING) WHEN {empty} THEN {nothing} "
        f"ELSE concat('P', {', '.join(parts)}) END"
    )


def _part(number: str, zero: str, letter: str) -> str:
    return Atom(f"if({number} <> {zero}, concat(CAST({number} AS STRING), '{letter}'), '')")


def _fitted(conversion: Conversion, sql: str) -> str:
    """Return text as a varchar or fixedchar: excess blanks are cut, any other excess characters fail."""
    source, target = conversion.source, conversion.target
    assert isinstance(target, VarChar | FixedChar)

    def fitted(text: str) -> str:
        cut = (
            Atom(f"left({text}, {target.length})")
            if isinstance(target, VarChar)
            else Atom(f"rpad({text}, {target.length}, ' ')")
        )
        if isinstance(source, VarChar | FixedChar) and source.length <= target.length:
            return cut
        return conversion.unless(f"char_length(rtrim({text})) > {target.length}", cut)

    return conversion.bound("s", sql, fitted)


# bytes ---------------------------------------------------------------------------------------------------------------


def bytes_of(conversion: Conversion, sql: str) -> str:
    """Return bytes from any source as binary, fixedbinary or uuid."""
    match conversion.source, conversion.target:
        case _, Binary():
            return sql
        case UUID(), FixedBinary(length=16):
            return sql
        case _, FixedBinary(length=length):
            return Atom(f"rpad({sql}, {length}, X'00')")
        case FixedBinary(length=16), UUID():
            return sql
        case Binary(), UUID():
            return conversion.unless(f"octet_length({sql}) <> 16", sql)
        case _:
            raise conversion.no_cast()
