"""Rounding of decimals (``functions_rounding_decimal.yaml``)."""

from __future__ import annotations

from collections.abc import Callable

from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.common_expressions import bound
from pyspark_substrait.sql.functions.decimals.digits import as_decimal, decimal_of, digits, is_negative
from pyspark_substrait.sql.functions.decimals.rounding_modes import MODES, rounded, sign
from pyspark_substrait.sql.functions.functions_rounding import places
from pyspark_substrait.sql.functions.table import Call, Table, row

__all__ = ["TABLE"]

# each mode as an expression of a decimal {x}, rounded to a literal {s} places; {h} is half of the last place
_TIE_UP = "floor({x} + {h}, {s})"
_TIE_DOWN = "ceil({x} - {h}, {s})"
_NATIVE = {
    "TIE_AWAY_FROM_ZERO": "round({x}, {s})",
    "TIE_TO_EVEN": "bround({x}, {s})",
    "CEILING": "ceil({x}, {s})",
    "FLOOR": "floor({x}, {s})",
    "TRUNCATE": "if({negative}, ceil({x}, {s}), floor({x}, {s}))",
    "AWAY_FROM_ZERO": "if({negative}, floor({x}, {s}), ceil({x}, {s}))",
    "TIE_UP": _TIE_UP,
    "TIE_DOWN": _TIE_DOWN,
    "TIE_TOWARDS_ZERO": f"if({{negative}}, {_TIE_UP}, {_TIE_DOWN})",
    # a tie has one even and one odd neighbour
    "TIE_TO_ODD": f"if({_TIE_UP} = {_TIE_DOWN}, {_TIE_UP}, {_TIE_UP} + {_TIE_DOWN} - bround({{x}}, {{s}}))",
}
#: the precision from which there is no room to add half of a place
_NO_ROOM = 37


def whole(name: str) -> Callable[[Call], str]:
    def body(call: Call) -> str:
        text = Atom(f"{name}({call.sql(0)})")
        # Spark adds the digit for a carry only if there are fractional digits
        return text if decimal_of(call.type(0)).scale else Atom(f"CAST({text} AS {spark_type(call.output)})")

    return body


def rounded_decimal(mode: str) -> Callable[[Call], str]:
    """Return a decimal rounded to a number of places; a result that needs more than 38 digits is an error."""
    template = _NATIVE[mode]

    def body(call: Call) -> str:
        x, s, type, count = call.sql(0), call.sql(1), decimal_of(call.type(0)), places(call)
        same = f"CAST({x} AS {spark_type(call.output)})"
        number = digits(x, type)
        if count is None:
            # with more than 38 digits cut, a number of any size rounds like its sign
            number = bound(number, "n", f"if(k > 38, {sign('n')}, n)")
            value = bound(
                f"{type.scale} - greatest({s}, {type.scale - 39})",
                "k",
                as_decimal(rounded(number, "least(k, 38)", mode), call.output),
            )
            return f"CASE WHEN {s} >= {type.scale} THEN {same} WHEN {s} < {type.scale} THEN {value} END"
        cut = type.scale - count
        if cut <= 0:
            return same
        if cut <= 38 and ("{h}" not in template or type.precision < _NO_ROOM):
            half = f"0.{'0' * count}5BD" if count >= 0 else f"5{'0' * (-count - 1)}BD"
            text = template.format(x=x, s=count, h=half, negative=is_negative(x, type))
            return Atom(f"CAST({text} AS {spark_type(call.output)})")
        if cut > 38:
            number = bound(number, "n", sign("n"))
        return as_decimal(rounded(number, min(cut, 38), mode), call.output)

    return body


TABLE = Table(
    "extension:io.substrait:functions_rounding_decimal",
    (
        row("ceil", whole("ceil")),
        row("floor", whole("floor")),
        *(row("round", rounded_decimal(mode), rounding=mode) for mode in MODES),
    ),
)
