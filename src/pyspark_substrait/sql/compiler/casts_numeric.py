"""Casts between booleans and numbers, unsigned integers included. The rules are in ``casts``."""

from __future__ import annotations

from typing import Final

from pyspark_substrait.model.types import FP32, FP64, Boolean, Decimal, Type
from pyspark_substrait.sql.compiler.conversion import Conversion
from pyspark_substrait.sql.compiler.types import INTEGERS, spark_type, unsigned_bits
from pyspark_substrait.sql.fragment import Atom, Constant

__all__ = ["integer_range", "is_numeric", "numeric", "within_range"]

_WORDS: Final = {"TINYINT": (8, "Y"), "SMALLINT": (16, "S"), "INT": (32, ""), "BIGINT": (64, "L")}


def integer_range(type: Type) -> tuple[int, int] | None:
    """The smallest and the largest value of an integer type; None for any other."""
    bits = unsigned_bits(type)
    if bits is not None:
        return 0, (1 << bits) - 1
    bits = INTEGERS.get(type.__class__)
    return None if bits is None else (-(1 << bits - 1), (1 << bits - 1) - 1)


def is_numeric(type: Type) -> bool:
    """Whether a type is a boolean or a number."""
    return isinstance(type, Boolean | FP32 | FP64 | Decimal) or integer_range(type) is not None


def numeric(conversion: Conversion, sql: str) -> str:
    """The cast of a boolean or number into another."""
    source, target = conversion.source, conversion.target
    certain, uncertain = Atom(f"CAST({sql} AS {conversion.carrier})"), conversion.spark(sql)
    if isinstance(target, Boolean | FP32 | FP64):
        return certain
    if isinstance(target, Decimal):
        if isinstance(source, FP32 | FP64):
            return _decimal_of_real(conversion, sql)
        if isinstance(source, Boolean) and target.precision == target.scale:
            # not Spark's cast: in a comparison with a constant, the optimizer would cast true, which fails
            nought = f"CAST(0BD AS {conversion.carrier})"
            return f"CASE WHEN {sql} THEN {conversion.failed()} WHEN NOT {sql} THEN {nought} END"
        return certain if _whole(source) < _whole_digits(target, source) else uncertain
    wanted = integer_range(target)
    assert wanted is not None
    if isinstance(source, FP32 | FP64):
        return _integer_of_real(conversion, sql)
    known = sql.value if isinstance(sql, Constant) else None
    if isinstance(known, int) and unsigned_bits(target) is None and wanted[0] <= known <= wanted[1]:
        return _number(known, conversion.carrier)
    least, greatest = integer_range(source) or (-_whole(source), _whole(source))
    if isinstance(source, Boolean) or (wanted[0] <= least and greatest <= wanted[1]):
        return certain
    if unsigned_bits(target) is None:
        return uncertain
    if unsigned_bits(target) == 64 and isinstance(source, Decimal) and source.scale:
        # a cast would round
        zero = f"CAST(0BD AS {spark_type(source)})"
        whole = f"if({sql} < {zero}, ceil({sql}), floor({sql}))"
        certain, uncertain = Atom(f"CAST({whole} AS {conversion.carrier})"), conversion.spark(whole)
    return within_range(conversion, certain if _whole(source) <= _most(conversion.carrier) else uncertain)


def within_range(conversion: Conversion, sql: str) -> str:
    """Return a number in the carrier of an unsigned integer, or a failure if it is out of range."""
    wanted = integer_range(conversion.target)
    assert wanted is not None
    zero, greatest = (_number(limit, conversion.carrier) for limit in wanted)
    return conversion.bound("n", sql, lambda n: conversion.unless(f"{n} < {zero} OR {n} > {greatest}", n))


def _whole(type: Type) -> int:
    """The largest absolute value of the whole numbers of a type."""
    match type:
        case Boolean():
            return 1
        case Decimal(precision=precision, scale=scale):
            return int(10 ** (precision - scale)) - 1
        case _:
            limits = integer_range(type)
            assert limits is not None
            return max(-limits[0], limits[1])


def _whole_digits(target: Decimal, source: Type) -> int:
    """The exclusive limit of the whole part of a source, for it to fit into the target even when rounded up."""
    limit = int(10 ** (target.precision - target.scale))
    return limit - 1 if isinstance(source, Decimal) and source.scale > target.scale else limit


def _most(carrier: str) -> int:
    return (1 << _WORDS[carrier][0] - 1) - 1 if carrier in _WORDS else 10**20 - 1


def _number(value: int, carrier: str) -> str:
    if carrier not in _WORDS:
        return Constant(f"CAST({value}BD AS {carrier})", value)
    text = f"{value}{_WORDS[carrier][1]}"
    return Constant(text if value >= 0 else f"({text})", value)


def _decimal_of_real(conversion: Conversion, sql: str) -> str:
    if conversion.null:
        return conversion.spark(sql)
    # Spark makes the infinities null without an error; NaN is greater than every number
    infinite = f"abs({sql}) >= CAST('Infinity' AS {spark_type(conversion.source)})"
    return conversion.unless(infinite, conversion.spark(sql))


def _integer_of_real(conversion: Conversion, sql: str) -> str:
    bits = unsigned_bits(conversion.target)
    kind = spark_type(conversion.source)
    if bits is not None and bits < 64:
        return within_range(conversion, conversion.spark(sql))
    half = f"CAST(9.223372036854775808E18D AS {kind})"
    if bits is None:
        # Spark takes 2**63, the number nearest to the largest integer, for that integer
        if integer_range(conversion.target) == (-(1 << 63), (1 << 63) - 1):
            return conversion.unless(f"{sql} = {half}", conversion.spark(sql))
        return conversion.spark(sql)
    # the difference of two such large numbers is exact
    upper = f"CAST(CAST(CAST({sql} - {half} AS BIGINT) AS DECIMAL(20, 0)) + 9223372036854775808BD AS DECIMAL(20, 0))"
    lower = f"CAST(CAST({sql} AS BIGINT) AS DECIMAL(20, 0))"
    inside = f"{sql} > CAST(-1.0D AS {kind}) AND {sql} < CAST(1.8446744073709551616E19D AS {kind})"
    return conversion.unless(f"NOT ({inside})", f"if({sql} >= {half}, {upper}, {lower})")
