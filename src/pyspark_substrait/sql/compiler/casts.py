r"""Casts as Spark SQL text: the possible casts, and their rules.

The specification says that a cast declares a type and that a failed one is an error or null, but hardly which value
each cast gives (expressions/specialized_record_expressions, "Cast Expression"; types/type_classes for fixedbinary). The
gaps are filled as SQL engines agree; where they don't, there is no cast. The table of all pairs is docs/casts.md.

**Failure.** RETURN_NULL gives null where THROW_EXCEPTION raises, and nowhere else. So a list, map or struct of which
one part fails is null as a whole: it is the cast that returns null, and the type of a part need not be nullable. An
unspecified failure behaviour is an error, the only choice that loses nothing.

**Numbers.** A fraction is lost towards zero on the way to an integer, and rounded half up on the way to a decimal of
smaller scale. A floating-point number becomes a decimal by the digits that its text has (0.1 is 0.1); an fp32 is made
an fp64 first. On the way to a floating-point number the nearest one is taken, which may be an infinity. True is 1; what
isn't zero is true, NaN included. Out of range, NaN and infinities fail elsewhere.

**Text** is read with blanks around it allowed (save into other text and bytes), and written, in these forms. They are
those of the specification's test cases (tests/README, "Literals"), which follow ISO 8601.

======================  ===============================================================================================
boolean                 ``true``, ``false``; read without regard to case, also t, f, yes, no, y, n, 1, 0
integers, unsigned      ``-12``; read with either sign. No fraction, no exponent
fp32, fp64              digits that read back as the same number, from Java 19 on the fewest: ``1.5``, ``1.0E10``,
                        ``-0.0``; ``NaN``, ``Infinity``, ``-Infinity``. Read also without a fraction; ``inf`` and all of
                        these in any case
decimal                 all digits of the scale: ``12.00``; read also with an exponent, rounded half up
date                    ``2021-01-31``; read also with one digit for month or day, and with a time behind it, which is
                        dropped. A year beyond 9999 or before 0 has a sign
precision_time          ``12:00:00.5``: as many digits as are needed; read also without seconds
precision_timestamp     ``2021-01-31 12:00:00.5``; read also with a T for the blank, and without a time: midnight.
                        Text that has a zone fails
precision_timestamp_tz  ``2021-01-31 12:00:00.5+00:00``, always in UTC; read with any offset (``+05:30``, ``+0530``,
                        ``+05``) or Z, without one as UTC
interval_year           ``P1Y2M``, ``P-1Y-2M``, ``P0M``: no parts that are zero. Read with any number of months
interval_day            ``P1DT2H3M4.5S``, ``P-1DT-2H``, ``PT0S``; read with any number in each part, each with a sign
                        of its own, and a sign before the P that counts for all
interval_compound       the same with all parts: ``P1Y2M3DT4H5M6.5S``
uuid                    ``c48ffa9e-64f4-44cb-ae47-152b4e60e77b``; capitals are read too
binary, fixedbinary     the UTF-8 bytes of the text; bytes that aren't UTF-8 fail
======================  ===============================================================================================

Lists, maps, structs and other user-defined types have no text. Digits behind the second that a type has no room for are
cut off. Text that is too long for a varchar or fixedchar fails, unless only blanks are too much: those are cut off. A
fixedchar is filled up with blanks, and keeps them as another text.

**Bytes.** A fixedbinary is filled up with zeros or cut, as the specification says. A uuid is its 16 bytes.

**Times.** No cast depends on the session's time zone: dates, times and timestamps without zone are those of UTC. A date
is its midnight. A time or timestamp loses digits it has no room for towards the past, an interval towards zero. A
timestamp of more than six digits fails where 64 bits don't hold it (nine digits: the years 1677 to 2262). Months and
days never become each other: an interval_compound becomes one of the simple kinds only if its other part is zero.

**Nested.** Lists and maps are cast part by part, structs of as many fields field by field. Keys of a map that become
equal are a failure. A user-defined type is cast to no other type, save the unsigned integers, which are numbers. A type
variation changes nothing.

Relies on ANSI mode (``SETTINGS`` in ``types``): without it Spark's CAST gives null or wraps around instead of failing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import FailureBehavior
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
    List,
    Map,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Struct,
    Type,
    UserDefined,
    VarChar,
    concrete,
    same_kind,
)
from pyspark_substrait.sql.compiler.casts_numeric import is_numeric, numeric
from pyspark_substrait.sql.compiler.casts_temporal import moment, span
from pyspark_substrait.sql.compiler.casts_text import bytes_of, from_text, to_text
from pyspark_substrait.sql.compiler.conversion import Conversion
from pyspark_substrait.sql.compiler.types import FINEST, field_name, spark_type
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.spark_version import NEWEST, SparkVersion

__all__ = ["cast", "holds"]


def cast(
    sql: Atom,
    source: Type,
    target: Type,
    failure: FailureBehavior = FailureBehavior.UNSPECIFIED,
    *,
    holds_query: bool = False,
    version: SparkVersion = NEWEST,
) -> str:
    """The text that turns ``sql``, of type ``source``, into ``target``, for a version of Spark.

    The text is ``sql`` itself if no value changes; nullability is ignored. It may contain ``sql`` several times.
    ``holds_query`` says whether there is a subquery in it. The text is the same for every failure behaviour if and only
    if no value fails.

    Raises:
        UnsupportedPlanError: there is no such cast, or none whose result is certain.
    """
    null = failure is FailureBehavior.RETURN_NULL
    return _cast(sql, Conversion(concrete(source), concrete(target), null, holds_query=holds_query, version=version))


def holds(source: Type, target: Type) -> bool:
    """Whether every value of ``source`` is one of ``target``, which is of the same kind or another kind of text."""
    one, other = concrete(source), concrete(target)
    match one, other:
        case Decimal(), Decimal():
            return other.scale >= one.scale and other.precision - other.scale >= one.precision - one.scale
        case (
            (PrecisionTime(precision=coarse), PrecisionTime(precision=fine))
            | (IntervalDay(precision=coarse), IntervalDay(precision=fine))
            | (IntervalCompound(precision=coarse), IntervalCompound(precision=fine))
        ):
            return coarse <= fine
        case _:
            return _same_values(one, other)


def _same_values(source: Type, target: Type) -> bool:
    """Whether every value of ``source`` is, in the same carrier, a value of ``target``."""
    source, target = concrete(source), concrete(target)
    match source, target:
        case Decimal(), Decimal():
            return (source.precision, source.scale) == (target.precision, target.scale)
        case ((VarChar(length=short) | FixedChar(length=short)), VarChar(length=long)):
            return short <= long
        case FixedChar(length=one), FixedChar(length=other):
            return one == other
        case FixedBinary(length=one), FixedBinary(length=other):
            return one == other
        case (
            (PrecisionTimestamp(precision=coarse), PrecisionTimestamp(precision=fine))
            | (PrecisionTimestampTZ(precision=coarse), PrecisionTimestampTZ(precision=fine))
            | (IntervalDay(precision=coarse), IntervalDay(precision=fine))
            | (IntervalCompound(precision=coarse), IntervalCompound(precision=fine))
        ):
            return coarse == fine or coarse <= fine <= FINEST
        case PrecisionTime(precision=one), PrecisionTime(precision=other):
            return one == other
        case List(type=one_type), List(type=other_type):
            return _same_values(one_type, other_type)
        case Map(), Map():
            return _same_values(source.key, target.key) and _same_values(source.value, target.value)
        case Struct(types=ones), Struct(types=others):
            return len(ones) == len(others) and all(map(_same_values, ones, others))
        case UserDefined(), UserDefined():
            return same_kind(source, target) and source.type_parameters == target.type_parameters
        case ((VarChar() | FixedChar()), String()):
            return True
        case FixedBinary(), Binary():
            return True
        case (
            (
                String()
                | Binary()
                | Boolean()
                | I8()
                | I16()
                | I32()
                | I64()
                | FP32()
                | FP64()
                | Date()
                | IntervalYear()
                | UUID()
            ) as one,
            other,
        ):
            return one.__class__ is other.__class__
        case _:
            return False


def _cast(sql: str, conversion: Conversion) -> str:
    source, target = conversion.source, conversion.target
    spark_type(source)
    spark_type(target)
    if _same_values(source, target):
        return sql
    return conversion.bound("x", sql, lambda x: _different(x, conversion))


def _different(sql: str, conversion: Conversion) -> str:
    source, target = conversion.source, conversion.target
    match source, target:
        case ((String() | VarChar() | FixedChar()), _):
            return from_text(conversion, sql)
        case _, (String() | VarChar() | FixedChar()):
            return to_text(conversion, sql)
        case ((Binary() | FixedBinary() | UUID()), (Binary() | FixedBinary() | UUID())):
            return bytes_of(conversion, sql)
        case (
            (Date() | PrecisionTime() | PrecisionTimestamp() | PrecisionTimestampTZ()),
            (Date() | PrecisionTime() | PrecisionTimestamp() | PrecisionTimestampTZ()),
        ):
            return moment(conversion, sql)
        case (
            (IntervalYear() | IntervalDay() | IntervalCompound()),
            (IntervalYear() | IntervalDay() | IntervalCompound()),
        ):
            return span(conversion, sql)
        case ((List() | Map()), (List() | Map())) if conversion.holds_query and same_kind(source, target):
            raise UnsupportedPlanError(
                "Spark cannot cast the parts of a list or map that a subquery gives", hint="Cast inside the subquery"
            )
        case List(), List():
            return _list(sql, source, target, conversion)
        case Map(), Map():
            return _map(sql, source, target, conversion)
        case Struct(), Struct() if len(source.types) == len(target.types):
            return _struct(sql, source, target, conversion)
        case _:
            if is_numeric(source) and is_numeric(target):
                return numeric(conversion, sql)
            raise conversion.no_cast()


# nested types --------------------------------------------------------------------------------------------------------


def _part(sql: str, source: Type, target: Type, conversion: Conversion, deeper: int = 0) -> tuple[str, bool]:
    """Return the cast of a part, and whether it gives null where a value doesn't fit."""
    # inside a lambda, the part is a variable
    holds_query = conversion.holds_query and not deeper
    source, target = concrete(source), concrete(target)
    part = replace(conversion, source=source, target=target, depth=conversion.depth + deeper, holds_query=holds_query)
    text = _cast(sql, part)
    return text, conversion.null and text != _cast(sql, part.raising())


def _array(sql: str, source: Type, target: Type, conversion: Conversion, element: str) -> tuple[str, bool]:
    name = f"{element}{conversion.depth}"
    inside, fails = _part(name, source, target, conversion, 1)
    return (sql if inside == name else Atom(f"transform({sql}, {name} -> {inside})")), fails


def _fewer(parts: str, given: str) -> str:
    """Return the condition that a list has more nulls than the one that it was made from."""
    return f"array_size(array_compact({parts})) < array_size(array_compact({given}))"


def _list(sql: str, source: List, target: List, conversion: Conversion) -> str:
    text, fails = _array(sql, source.type, target.type, conversion, "e")
    if not fails:
        return text
    return conversion.bound("r", text, lambda r: conversion.unless(_fewer(r, sql), r))


def _map(sql: str, source: Map, target: Map, conversion: Conversion) -> str:
    keys_given, values_given = f"map_keys({sql})", f"map_values({sql})"
    keys, keys_fail = _array(keys_given, source.key, target.key, conversion, "k")
    values, values_fail = _array(values_given, source.value, target.value, conversion, "v")

    def made(k: str, v: str) -> str:
        failures = [_fewer(k, keys_given)] if keys_fail else []
        if keys != keys_given:
            failures.append(f"array_size(array_distinct({k})) < array_size({k})")
        if values_fail:
            failures.append(_fewer(v, values_given))
        text = Atom(f"map_from_arrays({k}, {v})")
        return conversion.unless(" OR ".join(failures), text) if failures else text

    return conversion.bound("r", keys, lambda k: conversion.bound("w", values, lambda v: made(k, v)))


def _struct(sql: str, source: Struct, target: Struct, conversion: Conversion) -> str:
    parts, failing = [], []
    for position, (one, other) in enumerate(zip(source.types, target.types, strict=True)):
        name = field_name(position)
        text, fails = _part(f"{sql}.{name}", one, other, conversion)
        parts.append(f"'{name}', {text}")
        if fails:
            failing.append(name)

    def checked(r: str) -> Iterator[str]:
        return (f"({sql}.{name} IS NOT NULL AND {r}.{name} IS NULL)" for name in failing)

    made = f"named_struct({', '.join(parts)})"
    if failing:
        made = conversion.bound("r", made, lambda r: conversion.unless(" OR ".join(checked(r)), r))
    return Atom(f"if({sql} IS NULL, CAST(NULL AS {conversion.carrier}), {made})")
