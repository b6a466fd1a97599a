"""Casts as Spark SQL text.

The specification says which casts there are and that a failed one is an error or null, but hardly what each gives
(expressions/specialized_record_expressions, "Cast Expression"; types/type_classes for fixedbinary). What it leaves open
is filled in as SQL engines agree:

- A number loses its fraction on the way to an integer (towards zero) and is rounded half up on the way to a decimal of
  smaller scale. True is 1. What is out of range, NaN and the infinities fail.
- Text is read and written in Spark's forms, blanks around numbers and dates allowed.
- Text that is too long for a varchar or fixedchar fails, unless only blanks are too much: those are cut off. A
  fixedchar is filled up with blanks. A fixedbinary is filled up with zeros or cut, as the specification says.
- A timestamp, time or interval loses digits it has no room for, towards the past.
- Between timestamps with and without zone, and wherever text or a date meets a timestamp with zone, the session's time
  zone counts.

RETURN_NULL becomes ``try_cast``; an unspecified failure behaviour is an error, the only choice that loses nothing.
Relies on ANSI mode (``SETTINGS`` in ``types``): without it Spark's CAST gives null or wraps around instead of failing.
"""

from __future__ import annotations

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import FailureBehavior
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    Binary,
    Boolean,
    Date,
    Decimal,
    FixedBinary,
    FixedChar,
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
    with_nullability,
)
from pyspark_substrait.sparksql.compiler.literals import string_literal
from pyspark_substrait.sparksql.compiler.types import FINEST, field_name, spark_type

__all__ = ["cast", "holds"]


def cast(sql: str, source: Type, target: Type, failure: FailureBehavior = FailureBehavior.UNSPECIFIED) -> str:
    """The text that turns ``sql``, an atom of type ``source``, into ``target``.

    The text is ``sql`` itself where every value stays what it is; nullability plays no part. It may hold ``sql``
    several times, and it isn't an atom.

    Raises:
        UnsupportedPlanError: Spark has no such cast, or none whose result is certain.
    """
    source, target = concrete(source), concrete(target)
    return _cast(sql, source, target, failure is FailureBehavior.RETURN_NULL, 0)


def holds(source: Type, target: Type) -> bool:
    """Whether every value of ``source`` is one of ``target``, of the same kind or another kind of text."""
    one, other = concrete(source), concrete(target)
    if isinstance(one, Decimal) and isinstance(other, Decimal):
        return other.scale >= one.scale and other.precision - other.scale >= one.precision - one.scale
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
        ):
            return coarse <= fine <= FINEST
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
            ) as one,
            other,
        ):
            return one.__class__ is other.__class__
        case _:
            return False


def _cast(sql: str, source: Type, target: Type, null: bool, depth: int) -> str:
    carrier = spark_type(target)
    spark_type(source)
    if _same_values(source, target):
        return sql
    operator = "try_cast" if null else "CAST"
    plain = f"{operator}({sql} AS {carrier})"
    match source, target:
        case ((I8() | I16() | I32() | I64() | Boolean()), (I8() | I16() | I32() | I64() | FP32() | FP64() | Decimal())):
            return plain
        case ((I8() | I16() | I32() | I64() | FP32() | FP64() | Decimal()), Boolean()):
            return plain
        case ((FP32() | FP64()), (FP32() | FP64() | I8() | I16() | I32())):
            return plain
        case ((FP32() | FP64()), I64()):
            # Spark takes 2**63, the nearest number to the largest integer, for that integer
            edge = spark_type(source)
            return _unless(f"{sql} = CAST(9.223372036854775807E18D AS {edge})", sql, source, target, plain, null)
        case ((FP32() | FP64()), Decimal()):
            # which Spark makes null without an error; NaN is the largest number to it
            infinite = f"abs({sql}) >= CAST('Infinity' AS {spark_type(source)})"
            return plain if null else _unless(infinite, sql, source, target, plain, null)
        case Decimal(), (I8() | I16() | I32() | I64() | FP32() | FP64() | Decimal()):
            return plain
        case ((String() | VarChar() | FixedChar()), _):
            return _from_text(sql, source, target, plain, null)
        case _, (String() | VarChar() | FixedChar()):
            return _to_text(sql, source, target, null)
        case Binary() | FixedBinary(), FixedBinary(length=length):
            return f"rpad({sql}, {length}, X'00')"
        case (Date(), PrecisionTimestamp() | PrecisionTimestampTZ()) | (
            PrecisionTimestamp() | PrecisionTimestampTZ(),
            Date(),
        ):
            return plain
        case (
            PrecisionTimestamp(precision=fine) | PrecisionTimestampTZ(precision=fine),
            PrecisionTimestamp(precision=coarse) | PrecisionTimestampTZ(precision=coarse),
        ):
            moved = sql if source.__class__ is target.__class__ else plain
            return moved if fine <= coarse else _coarser(moved, coarse)
        case (PrecisionTimestamp(), PrecisionTime()) | (PrecisionTime(), PrecisionTime()):
            return plain
        case List(), List():
            return _list(sql, source, target, null, depth)
        case Map(), Map():
            return _map(sql, source, target, null, depth)
        case Struct(), Struct() if len(source.types) == len(target.types):
            return _struct(sql, source, target, null, depth)
        case _:
            raise _no_cast(source, target)


def _no_cast(source: Type, target: Type) -> UnsupportedPlanError:
    given, wanted = with_nullability(source, False), with_nullability(target, False)
    return UnsupportedPlanError(f"there is no cast from {given} to {wanted} whose result is certain on Spark")


def _failed(source: Type, target: Type) -> str:
    message = f"CAST from {with_nullability(source, False)} to {with_nullability(target, False)}: a value doesn't fit"
    return f"CAST(raise_error({string_literal(message)}) AS {spark_type(target)})"


def _unless(condition: str, sql: str, source: Type, target: Type, text: str, null: bool) -> str:
    """``text``, but a failure where the condition is true; not where it is null."""
    otherwise = f"CAST(NULL AS {spark_type(target)})" if null else _failed(source, target)
    return f"if({condition}, {otherwise}, {text})"


def _coarser(sql: str, precision: int) -> str:
    """A timestamp without the digits behind ``precision``."""
    unit = f"{10 ** (FINEST - precision):07d}"
    step = f"{unit[:-FINEST]}.{unit[-FINEST:]}BD"
    return f"{sql} - make_dt_interval(0, 0, 0, CAST(extract(SECOND FROM {sql}) % {step} AS DECIMAL(18, 6)))"


# text ----------------------------------------------------------------------------------------------------------------


def _from_text(sql: str, source: Type, target: Type, plain: str, null: bool) -> str:
    match target:
        case String():
            return sql
        case VarChar() | FixedChar():
            return _fitted(sql, source, target, null)
        case Binary():
            return f"CAST({sql} AS BINARY)"
        case FixedBinary(length=length):
            return f"rpad(CAST({sql} AS BINARY), {length}, X'00')"
        case PrecisionTimestamp(precision=precision) | PrecisionTimestampTZ(precision=precision):
            return plain if precision == FINEST else _coarser(plain, precision)
        case Boolean() | I8() | I16() | I32() | I64() | FP32() | FP64() | Decimal() | Date() | PrecisionTime():
            return plain
        case _:
            raise _no_cast(source, target)


def _to_text(sql: str, source: Type, target: Type, null: bool) -> str:
    match source:
        case Binary() | FixedBinary():
            text = f"{'try_' if null else ''}validate_utf8(CAST({sql} AS STRING))"
        case Boolean() | I8() | I16() | I32() | I64() | FP32() | FP64() | Decimal() | Date():
            text = f"CAST({sql} AS STRING)"
        case PrecisionTimestamp() | PrecisionTimestampTZ() | PrecisionTime():
            text = f"CAST({sql} AS STRING)"
        case _:
            raise _no_cast(source, target)
    return text if isinstance(target, String) else _fitted(text, source, target, null)


def _fitted(sql: str, source: Type, target: Type, null: bool) -> str:
    """Text as a varchar or fixedchar: blanks that are too much are cut, anything else that is too much fails."""
    assert isinstance(target, VarChar | FixedChar)
    if isinstance(target, VarChar):
        fitted = f"left({sql}, {target.length})"
    else:
        fitted = f"rpad({sql}, {target.length}, ' ')"
        if isinstance(source, VarChar | FixedChar) and source.length <= target.length:
            return fitted
    too_long = f"char_length(rtrim({sql})) > {target.length}"
    return _unless(too_long, sql, source, target, fitted, null)


# nested types --------------------------------------------------------------------------------------------------------


def _nested(null: bool, source: Type, target: Type) -> None:
    if null:
        raise UnsupportedPlanError(
            f"a cast from {source} to {target} that gives null on failure: is it the whole or the part that is null?"
        )


def _list(sql: str, source: List, target: List, null: bool, depth: int) -> str:
    _nested(null, source, target)
    element = f"e{depth}"
    inside = _cast(element, concrete(source.type), concrete(target.type), null, depth + 1)
    return f"transform({sql}, {element} -> {inside})"


def _map(sql: str, source: Map, target: Map, null: bool, depth: int) -> str:
    _nested(null, source, target)
    key, value = f"k{depth}", f"v{depth}"
    text = sql
    if not _same_values(source.value, target.value):
        inside = _cast(value, concrete(source.value), concrete(target.value), null, depth + 1)
        text = f"transform_values({text}, ({key}, {value}) -> {inside})"
    if not _same_values(source.key, target.key):
        inside = _cast(key, concrete(source.key), concrete(target.key), null, depth + 1)
        text = f"transform_keys({text}, ({key}, {value}) -> {inside})"
    return text


def _struct(sql: str, source: Struct, target: Struct, null: bool, depth: int) -> str:
    _nested(null, source, target)
    parts = []
    for position, (one, other) in enumerate(zip(source.types, target.types, strict=True)):
        name = field_name(position)
        parts.append(f"'{name}', {_cast(f'{sql}.{name}', concrete(one), concrete(other), null, depth)}")
    return f"if({sql} IS NULL, CAST(NULL AS {spark_type(target)}), named_struct({', '.join(parts)}))"
