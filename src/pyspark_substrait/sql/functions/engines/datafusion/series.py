"""DataFusion's ``generate_series`` and ``range``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pyspark_substrait.model.types import Date, Type, concrete
from pyspark_substrait.sql.compiler import temporal
from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.functions.arithmetic.float_rounding import let
from pyspark_substrait.sql.functions.common_expressions import any_null, bound, raised
from pyspark_substrait.sql.functions.engines.datafusion.counts import (
    DAY,
    NANOS,
    NANOS_OF_DAY,
    digits_of,
    interval_nanos,
    of_count,
    units_of,
)
from pyspark_substrait.sql.functions.table import Call, Foreign, row

__all__ = ["ROWS"]


def of_integers(inclusive: bool) -> Callable[[Call], str]:
    """``generate_series``, or ``range``, which goes up to but without the last number."""

    def body(call: Call) -> str:
        first = call.sql(0) if len(call.operands) > 1 else "0L"
        last = call.sql(min(len(call.operands) - 1, 1))
        fields = {"f": first, "t": last, "s": call.sql(2) if len(call.operands) > 2 else "1L"}
        compared = ("<", ">") if inclusive else ("<=", ">=")
        beyond = f"(v.s > 0 AND v.t {compared[0]} v.f) OR (v.s < 0 AND v.t {compared[1]} v.f)"
        end = "v.t" if inclusive else "v.t - if(v.s > 0, 1, -1)"
        wrong = f"WHEN v.s = 0 THEN {raised(call, 'the step is 0')}"
        found = f"WHEN {beyond} THEN CAST(array() AS {spark_type(call.output)}) ELSE sequence(v.f, {end}, v.s)"
        return let("v", fields, f"CASE WHEN {any_null('v.f', 'v.t', 'v.s')} THEN NULL {wrong} {found} END")

    return body


#: each step copies the ones before it
_MOST_MONTHS: Final = 12_000


def of_moments(inclusive: bool) -> Callable[[Call], str]:
    """The series of dates or timestamps in steps of an interval; each is computed from the one before it.

    ``range`` of dates ends with the last that is a step before the end, as there, though months have several lengths.
    """

    def body(call: Call) -> str:
        type = call.type(0)
        is_date = isinstance(concrete(type), Date)
        day = 1 if is_date else DAY * 10 ** digits_of(type)
        first, last = (f"unix_date({call.sql(n)})" if is_date else units_of(type, call.sql(n)) for n in (0, 1))
        step = NANOS_OF_DAY if is_date else 10 ** (NANOS - digits_of(type))
        fields = {
            "f": f"CAST({first} AS BIGINT)",
            "t": f"CAST({last} AS BIGINT)",
            "m": temporal.months_of_interval(f"{call.sql(2)}.f0"),
            "s": f"CAST({interval_nanos(call, 2)} DIV {step}BD AS BIGINT)",
        }

        def moved(value: str, sign: str = "+") -> str:
            date = f"date_from_unix_date(CAST({temporal.floored(value, day)} AS INT))"
            return f"(unix_date(add_months({date}, {sign}v.m)) * {day}L + pmod({value}, {day}L) {sign} v.s)"

        end = moved("v.t", "-") if is_date and not inclusive else "v.t"
        most = f"abs(v.t - v.f) DIV ({28 * day}L * abs(v.m) + abs(v.s)) + 2L"
        following = f"array({bound('a[array_size(a) - 1]', 'x', moved('x'))})"
        stepped = f"aggregate(sequence(1, CAST({most} AS INT)), array(v.f), (a, i) -> concat(a, {following}))"
        backwards = "(v.t - v.f) * sign(v.s) < 0"
        every = f"CASE WHEN v.m <> 0 THEN {stepped} WHEN {backwards} THEN array() ELSE sequence(v.f, v.t, v.s) END"
        beyond = ("<=", ">=") if inclusive or is_date else ("<", ">")
        kept = f"filter({every}, x -> if(v.m < 0 OR v.s < 0, x {beyond[1]} e, x {beyond[0]} e))"
        listed = f"transform({bound(end, 'e', kept)}, x -> {_of_units('x', type)})"
        none = raised(call, "the step is 0")
        mixed = raised(call, "the step goes forwards and backwards")
        long = raised(call, f"more than {_MOST_MONTHS} steps of months")
        faults = f"WHEN v.m = 0 AND v.s = 0 THEN {none} WHEN sign(v.m) * sign(v.s) < 0 THEN {mixed}"
        faults += f" WHEN v.m <> 0 AND {most} > {_MOST_MONTHS} THEN {long}"
        return let("v", fields, f"CASE WHEN {any_null('v.f', 'v.t', 'v.m')} THEN NULL {faults} ELSE {listed} END")

    return body


def _of_units(units: str, type: Type) -> str:
    return f"date_from_unix_date(CAST({units} AS INT))" if isinstance(concrete(type), Date) else of_count(units, type)


_OF_INTEGERS: Final = ("i64", "i64_i64", "i64_i64_i64")
_OF_MOMENTS: Final = ("date_date_icompound", "pts_pts_icompound")

ROWS = tuple(
    line
    for name, inclusive in (("range", False), ("generate_series", True))
    for line in (
        row(name, of_integers(inclusive), signatures=_OF_INTEGERS),
        row(name, of_moments(inclusive), signatures=_OF_MOMENTS, foreign=Foreign.MOVED),
    )
)
