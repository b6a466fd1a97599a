"""Casts with Spark's semantics (``functions_spark_cast.yaml``). No text here depends on the session's time zone."""

from __future__ import annotations

from collections.abc import Callable

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import FP32, FP64, I32, I64, Decimal, concrete
from pyspark_substrait.sql.compiler.types import INTEGERS, spark_type
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.common_expressions import constant, largest, smallest
from pyspark_substrait.sql.functions.datetimes.zones import instant, local
from pyspark_substrait.sql.functions.table import Call, Table, row

__all__ = ["TABLE"]

#: text with a time zone: a letter or a sign after the first colon
_ZONED = "'^[^:]*:.*[A-Za-z+-]'"
#: text with only an hour before the first colon: it is a time of today
_TIME = r"'^\\s*T?\\d+:'"
#: a number with a point, blanks and control characters around it
_FRACTION = r"'^[\\x00-\\x20\\x7F]*[+-]?[0-9]*[.][0-9]*[\\x00-\\x20\\x7F]*$'"


def _low_bits(text: str, bits: int) -> str:
    """Return a BIGINT modulo 2**bits, still as a BIGINT."""
    return f"shiftright(shiftleft({text}, {64 - bits}), {64 - bits})"


def wrapping_cast(call: Call) -> str:
    source, output = concrete(call.type(0)), concrete(call.output)
    bits = INTEGERS.get(output.__class__)
    x, target = call.sql(0), spark_type(output)
    if bits is None:
        raise UnsupportedPlanError(f"wrapping_cast makes integers, not {output}")
    match source:
        case FP32() | FP64():
            limits = I64() if bits == 64 else I32()
            number = f"CAST({x} AS {spark_type(limits)})"
            bound = 2.0 ** (INTEGERS[limits.__class__] - 1)
            text = (
                f"CASE WHEN isnan({x}) THEN {constant(0, limits)} WHEN {x} >= {constant(bound, source)} THEN "
                f"{largest(limits)} WHEN {x} <= {constant(-bound, source)} THEN {smallest(limits)} ELSE {number} END"
            )
            return text if bits >= 32 else Atom(f"CAST({_low_bits(f'CAST({text} AS BIGINT)', bits)} AS {target})")
        case Decimal(scale=scale):
            zero = constant(0, source)
            whole = f"if({x} < {zero}, ceil({x}), floor({x}))" if scale else x
            half, all = f"{1 << bits - 1}BD", f"{1 << bits}BD"
            # in two steps: there may be no room for half more
            return Atom(f"CAST(pmod(pmod({whole}, {all}) + {half}, {all}) - {half} AS {target})")
        case _ if source.__class__ in INTEGERS:
            return Atom(f"CAST({_low_bits(f'CAST({x} AS BIGINT)', bits)} AS {target})")
        case _:
            raise UnsupportedPlanError(f"wrapping_cast takes numbers, not {source}")


def integer_of_text(call: Call) -> str:
    x, target = call.sql(0), spark_type(call.output)
    parts = "'([+-]?)([0-9]*)[.]'"
    whole = f"concat(regexp_extract({x}, {parts}, 1), '0', regexp_extract({x}, {parts}, 2))"
    cut = f"CASE WHEN {x} RLIKE {_FRACTION} THEN try_cast({whole} AS {target}) END"
    return Atom(f"coalesce(try_cast({x} AS {target}), {cut})")


def of_text(cast: str) -> Callable[[Call], str]:
    """Return the instant in a text."""

    def body(call: Call) -> str:
        x, zone = call.sql(0), call.sql(1)
        today = f"CAST({local('current_timestamp()', zone)} AS DATE)"
        text = f"if({x} RLIKE {_TIME}, concat({today}, 'T', ltrim('T', ltrim({x}))), {x})"
        there = instant(f"{cast}({text} AS TIMESTAMP_NTZ)", zone)
        return Atom(f"if({x} RLIKE {_ZONED}, {cast}({x} AS TIMESTAMP), {there})")

    return body


TABLE = Table(
    "extension:pyspark_substrait:functions_spark_cast",
    (
        row("cast", "CAST({x} AS {output})"),
        row("try_cast", "try_cast({x} AS {output})"),
        row("wrapping_cast", wrapping_cast),
        row("integer_of_text", integer_of_text),
        row("timestamp_of_text", of_text("CAST")),
        row("try_timestamp_of_text", of_text("try_cast")),
        row("to_local", lambda call: local(call.sql(0), call.sql(1))),
        row("from_local", lambda call: instant(call.sql(0), call.sql(1))),
    ),
)
