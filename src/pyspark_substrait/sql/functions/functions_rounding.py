"""Rounding of integers and floating-point numbers (``functions_rounding.yaml``).

Rounding to decimal places uses the shortest decimal text of a floating-point number, in every mode, as Spark's
``round`` of a DOUBLE does: ``1.005`` is a tie between ``1.00`` and ``1.01``, though the number is a little below it,
and ``0.1`` to one place stays ``0.1`` with CEILING, though the number is a little above. The shortest text of an fp32
is that of the fp32: Spark's own ``round`` would use the nearest DOUBLE.

An integer whose rounded value doesn't fit its type is an error. A floating-point number that rounds to zero gives 0.0.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark_substrait.model.types import FP32, FP64, concrete
from pyspark_substrait.sql.compiler.types import INTEGERS, spark_type
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.common_expressions import bound, infinity, narrowed
from pyspark_substrait.sql.functions.decimals.digits import WHOLE
from pyspark_substrait.sql.functions.decimals.rounding_modes import MODES, rounded, sign
from pyspark_substrait.sql.functions.table import Call, Row, Table, row

__all__ = ["TABLE", "places"]

#: the modes that Spark has functions for, which take a literal number of places only
_NATIVE = {"TIE_AWAY_FROM_ZERO": "round", "TIE_TO_EVEN": "bround"}
#: every i64 is nearer to zero than to the next multiple of ten to this power
_INTEGER_DIGITS = 20
#: no floating-point number has more places, in front of the point or behind it
_FLOAT_PLACES = 400


def whole(comparison: str, step: str) -> Callable[[Call], str]:
    """``ceil`` or ``floor``; Spark's own give a BIGINT, which can't hold large numbers and has no -0.0."""

    def body(call: Call) -> str:
        nearest = f"rint({call.sql(0)})"
        moved = f"CASE WHEN {nearest} {comparison} {call.sql(0)} THEN {nearest} {step} 1.0D ELSE {nearest} END"
        return narrowed(moved, call.output)

    return body


def places(call: Call) -> int | None:
    """Return the number of decimal places if it is a literal, else None."""
    count = call.operands[1].literal
    return count if isinstance(count, int) else None


def rounded_integer(mode: str) -> Callable[[Call], str]:
    def body(call: Call) -> str:
        x, s, count = call.sql(0), call.sql(1), places(call)
        number, target = f"CAST({x} AS {WHOLE})", spark_type(call.output)
        if count is None:
            value = bound(f"-greatest({s}, -{_INTEGER_DIGITS})", "k", rounded(number, "k", mode))
            return f"CASE WHEN {s} >= 0 THEN {x} WHEN {s} < 0 THEN CAST({value} AS {target}) END"
        if count >= 0:
            return x
        count = max(count, -_INTEGER_DIGITS)
        return (
            Atom(f"{_NATIVE[mode]}({x}, {count})")
            if mode in _NATIVE
            else Atom(f"CAST({rounded(number, -count, mode)} AS {target})")
        )

    return body


def rounded_float(mode: str) -> Callable[[Call], str]:
    def body(call: Call) -> str:
        x, s, count = call.sql(0), call.sql(1), places(call)
        if count is None:
            # greatest and least ignore nulls
            limited = f"if({s} IS NULL, NULL, greatest(least({s}, {_FLOAT_PLACES}), -{_FLOAT_PLACES}))"
            return bound(limited, "s", f"CASE WHEN s IS NOT NULL THEN {_rounded_text(call, 's', mode)} END")
        limited = str(max(-_FLOAT_PLACES, min(count, _FLOAT_PLACES)))
        if mode not in _NATIVE:
            return _rounded_text(call, limited, mode)
        if isinstance(concrete(call.output), FP64):
            return Atom(f"{_NATIVE[mode]}({x}, {limited})")
        text = f"CAST({_NATIVE[mode]}(CAST(CAST({x} AS STRING) AS DOUBLE), {limited}) AS STRING)"
        return Atom(f"CAST({text} AS {spark_type(call.output)})")

    return body


def _rounded_text(call: Call, s: str, mode: str) -> str:
    """Return the number with the text of the first argument, like ``1.25`` or ``1.25E-7``, rounded to ``s`` places.

    It is ``n * 10**-p`` for a whole number ``n`` of at most 17 digits; ``k = p - s`` of them are cut.
    """
    x, target, most = call.sql(0), spark_type(call.output), 20
    number = f"CAST(replace(substring_index(t, 'E', 1), '.', '') AS {WHOLE})"
    exponent = "if(contains(t, 'E'), CAST(substring_index(t, 'E', -1) AS INT), 0)"
    fraction = "length(substring_index(substring_index(t, 'E', 1), '.', -1))"
    digits = rounded(f"if(k > {most}, {sign('n')}, n)", f"least(k, {most})", mode)
    value = f"CAST(concat({digits}, 'E', -({s}) - least(k, {most})) AS {target})"
    cut = bound(f"{fraction} - {exponent} - ({s})", "k", f"if(k <= 0, {x}, {value})")
    finite = bound(f"CAST({x} AS STRING)", "t", bound(number, "n", cut))
    return Atom(f"if(abs({x}) < {infinity(call.output)}, {finite}, {x})")


def _roundings() -> tuple[Row, ...]:
    integers = tuple(f"{type.short_name}_i32" for type in INTEGERS)
    floats = tuple(f"{type.short_name}_i32" for type in (FP32, FP64))
    return tuple(
        row("round", body(mode), signatures=signatures, rounding=mode)
        for signatures, body in ((integers, rounded_integer), (floats, rounded_float))
        for mode in MODES
    )


TABLE = Table(
    "extension:io.substrait:functions_rounding",
    (row("ceil", whole("<", "+")), row("floor", whole(">", "-")), *_roundings()),
)
