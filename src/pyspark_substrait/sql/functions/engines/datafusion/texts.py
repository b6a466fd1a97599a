"""Floating-point numbers, times and timestamps as the texts that DataFusion writes."""

from __future__ import annotations

from typing import Final, TypeAlias

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    concrete,
)
from pyspark_substrait.sql.compiler.casts import cast
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.arithmetic.float_rounding import let
from pyspark_substrait.sql.functions.common_expressions import bound
from pyspark_substrait.sql.functions.engines.datafusion.counts import NANOS
from pyspark_substrait.sql.functions.table import Call, Foreign, row
from pyspark_substrait.sql.spark_version import SparkVersion

__all__ = ["PLAIN_NUMBER", "ROWS", "text_of_moment"]


def _number(zero: str, written: str) -> str:
    """Return the text of a floating-point number ``x``.

    Args:
        zero: the text of zero.
        written: that of another number of the digits ``v.d``, without zeros at the ends, and its point behind so many
            of them: ``v.p``, which may be negative, or larger than their number.
    """
    digits = "replace(m, '.', '')"
    fields = {
        "d": f"trim(BOTH '0' FROM {digits})",
        "p": f"instr(m, '.') - 1 + e - (length({digits}) - length(ltrim('0', {digits})))",
    }
    number = let("v", fields, f"CASE WHEN v.d = '' THEN '{zero}' {written} END")
    exponent = "CAST(if(t LIKE '%E%', substring_index(t, 'E', -1), '0') AS INT)"
    number = bound("substring_index(t, 'E', 1)", "m", bound(exponent, "e", number))
    sign = "if(startswith(s, '-'), '-', '')"
    text = bound("ltrim('-', s)", "t", f"if(t = 'Infinity', concat({sign}, 'inf'), concat({sign}, {number}))")
    return bound("CAST(x AS STRING)", "s", f"CASE WHEN s IS NULL THEN NULL WHEN s = 'NaN' THEN s ELSE {text} END")


_SMALL: Final = "concat('0.', repeat('0', -v.p), v.d)"
_WHOLE: Final = "concat(v.d, repeat('0', v.p - length(v.d)))"
_MIXED: Final = "concat(left(v.d, v.p), '.', substring(v.d, v.p + 1))"
_WITH_EXPONENT: Final = "concat(left(v.d, 1), if(length(v.d) > 1, '.', ''), substring(v.d, 2), 'e', v.p - 1)"

PLAIN_NUMBER: Final = _number("0", f"WHEN v.p <= 0 THEN {_SMALL} WHEN v.p >= length(v.d) THEN {_WHOLE} ELSE {_MIXED}")
"""A number ``x`` in a text of a list: without an exponent, and without a point if it is whole."""


def _cast_number(lowest: int, highest: int) -> str:
    """Return the text of a cast of ``x``, with an exponent if the point is before or behind these places."""
    plain = f"WHEN v.p <= 0 THEN {_SMALL} WHEN v.p >= length(v.d) THEN concat({_WHOLE}, '.0') ELSE {_MIXED}"
    return _number("0.0", f"WHEN v.p < {lowest} OR v.p > {highest} THEN {_WITH_EXPONENT} {plain}")


_FP32: Final = _cast_number(-5, 13)
_FP64: Final = _cast_number(-4, 16)


_Moment: TypeAlias = PrecisionTime | PrecisionTimestamp | PrecisionTimestampTZ


def text_of_moment(sql: Atom, type: _Moment, spark: SparkVersion) -> str:
    """Return the text of a time or timestamp: with zero, three, six or nine digits of the second, and a T before it.

    Raises:
        UnsupportedPlanError: it has more digits.
    """
    if type.precision > NANOS:
        raise UnsupportedPlanError(f"{type} as a text of DataFusion, which doesn't have this precision")
    text = cast(sql, type, String(), version=spark)
    if is_instant := isinstance(type, PrecisionTimestampTZ):
        text = f"replace({text}, '+00:00', '')"
    digits = "length(substring_index(s, '.', -1))"
    padded = f"if(s LIKE '%.%', rpad(s, length(s) + pmod(-{digits}, 3), '0'), s)"
    return bound(f"replace({text}, ' ', 'T')", "s", f"concat({padded}, 'Z')" if is_instant else padded)


def to_text(call: Call) -> str:
    match concrete(call.type(0)):
        case FP32():
            return bound(call.sql(0), "x", _FP32)
        case FP64():
            return bound(call.sql(0), "x", _FP64)
        case PrecisionTime() | PrecisionTimestamp() | PrecisionTimestampTZ() as moment:
            return text_of_moment(call.sql(0), moment, call.spark)
        case other:
            raise UnsupportedPlanError(f"to_text of {other}")


ROWS = (row("to_text", to_text, foreign=Foreign.MOVED),)
