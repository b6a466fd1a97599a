"""The window functions of ``functions_arithmetic.yaml``.

Numbers, ranks, ``ntile``, ``lead`` and ``lag`` use the whole partition whatever the frame, as in SQL; the values at
positions use the frame. Arguments that Spark requires to be constant are otherwise applied to the list of the records.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import FP32, FP64, I64, concrete
from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.common_expressions import constant, raised
from pyspark_substrait.sql.functions.over import WHOLE, Over
from pyspark_substrait.sql.functions.table import Call, Foreign, row

__all__ = ["ROWS", "at_end", "nth_value", "position_error", "shifted"]

_LARGEST = 2**31 - 1


def window(call: Call) -> Over:
    assert call.over is not None, f"{call.function.key} stands outside windows"
    return call.over


def over_order(call: Call, name: str, *arguments: str) -> str:
    """Return a call of one of Spark's ordered window functions, which take no frame."""
    return f"{name}({', '.join(arguments)}) OVER ({window(call).ordered})"


def ranked(name: str) -> Callable[[Call], str]:
    return lambda call: over_order(call, name)


def numbered(name: str) -> Callable[[Call], str]:
    """Return a rank function, which Spark computes as INT."""
    return lambda call: Atom(f"CAST({over_order(call, name)} AS BIGINT)")


def ntile(call: Call) -> str:
    """Return the number of the record's part of the partition; the first parts are larger by one if sizes differ."""
    n, literal = call.sql(0), call.operands[0].literal
    long = isinstance(concrete(call.output), I64)
    if isinstance(literal, int) and 0 < literal <= _LARGEST:
        text = over_order(call, "ntile", str(literal))
        return f"CAST({text} AS BIGINT)" if long else text
    parts = n if long else f"CAST({n} AS BIGINT)"
    number = f"CAST({over_order(call, 'row_number')} AS BIGINT)"
    count = f"count(1) OVER ({window(call).whole})"
    size, larger = f"({count} div {parts})", f"({count} % {parts})"
    among_larger = f"({number} - 1L) div ({size} + 1L) + 1L"
    behind = f"{larger} + ({number} - 1L - {larger} * ({size} + 1L)) div {size} + 1L"
    part = f"if({number} <= {larger} * ({size} + 1L), {among_larger}, {behind})"
    if not long:
        part = f"CAST({part} AS INT)"
    return f"CASE WHEN {n} < 1 THEN {raised(call, 'the number of parts must be positive')} ELSE {part} END"


# values at positions -------------------------------------------------------------------------------------------------


def at_end(name: str, position: int) -> Callable[[Call], str]:
    """The first or the last value of the frame; null for an empty one."""

    def body(call: Call) -> str:
        if window(call).frame is not None:
            return call.aggregate(name, call.sql(0))
        return f"try_element_at({window(call).elements(call.sql(0))}, {position}).f0"

    return body


def nth_value(otherwise: Callable[[Call], str]) -> Callable[[Call], str]:
    """Return the value at a position of the frame, null after its end; ``otherwise`` for invalid positions."""

    def body(call: Call) -> str:
        x, n, literal = call.sql(0), call.sql(1), call.operands[1].literal
        if isinstance(literal, int) and literal > 0 and window(call).frame is not None:
            return call.aggregate("nth_value", x, str(literal))
        found = f"try_element_at({window(call).elements(x)}, {n}).f0"
        return f"CASE WHEN {n} IS NULL OR {n} < 1 THEN {otherwise(call)} ELSE {found} END"

    return body


def position_error(call: Call) -> str:
    return raised(call, "the position must be positive")


def position_nan(call: Call) -> str:
    if not isinstance(concrete(call.output), FP32 | FP64):
        raise UnsupportedPlanError(f"on_domain_error=NAN cannot be delivered: {call.output} has no NaN")
    return constant(math.nan, call.output)


def shifted(name: str, sign: str) -> Callable[[Call], str]:
    """Return the value of the record some places ahead (``sign`` is +) or back (-), else the default."""

    def body(call: Call) -> str:
        x, count = call.sql(0), len(call.operands)
        offset = call.operands[1].literal if count > 1 else 1
        if isinstance(offset, int) and abs(offset) <= _LARGEST:
            return over_order(call, name, x, str(offset), *([call.sql(2)] if count > 2 else []))
        n = call.sql(1)
        default = call.sql(2) if count > 2 else f"CAST(NULL AS {spark_type(call.output)})"
        place = f"CAST({over_order(call, 'row_number')} AS BIGINT) - 1L {sign} CAST({n} AS BIGINT)"
        place = f"CAST(greatest(least({place}, {_LARGEST}L), -1L) AS INT)"
        values = replace(window(call), frame=WHOLE, cut=None).elements(x)
        found = f"coalesce(get({values}, {place}), named_struct('f0', {default})).f0"
        return Atom(f"if({n} IS NULL, NULL, {found})")

    return body


ROWS = (
    row("row_number", numbered("row_number")),
    row("rank", numbered("rank")),
    row("dense_rank", numbered("dense_rank")),
    row("percent_rank", ranked("percent_rank")),
    row("cume_dist", ranked("cume_dist")),
    row("ntile", ntile),
    row("first_value", at_end("first_value", 1), foreign=Foreign.MOVED),
    row("last_value", at_end("last_value", -1), foreign=Foreign.MOVED),
    row("nth_value", nth_value(position_error), on_domain_error="ERROR", foreign=Foreign.MOVED),
    row("nth_value", nth_value(position_nan), on_domain_error="NAN", foreign=Foreign.MOVED),
    row("lead", shifted("lead", "+"), foreign=Foreign.MOVED),
    row("lag", shifted("lag", "-"), foreign=Foreign.MOVED),
)
