"""Rounding of decimals (``functions_rounding_decimal.yaml``)."""

from __future__ import annotations

from collections.abc import Callable

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import Decimal, concrete
from pyspark_substrait.sparksql.compiler.types import spark_type
from pyspark_substrait.sparksql.functions.functions_rounding import places
from pyspark_substrait.sparksql.functions.table import Call, Row, Table, row

__all__ = ["TABLE"]

# each mode as an expression of a decimal {x}, rounded to {s} places; {h} is half of the last place
_TIE_UP = "floor({x} + {h}, {s})"
_TIE_DOWN = "ceil({x} - {h}, {s})"
_MODES = {
    "TIE_AWAY_FROM_ZERO": "round({x}, {s})",
    "TIE_TO_EVEN": "bround({x}, {s})",
    "CEILING": "ceil({x}, {s})",
    "FLOOR": "floor({x}, {s})",
    "TRUNCATE": "if({x} < 0, ceil({x}, {s}), floor({x}, {s}))",
    "AWAY_FROM_ZERO": "if({x} < 0, floor({x}, {s}), ceil({x}, {s}))",
    "TIE_UP": _TIE_UP,
    "TIE_DOWN": _TIE_DOWN,
    "TIE_TOWARDS_ZERO": f"if({{x}} < 0, {_TIE_UP}, {_TIE_DOWN})",
    # a tie has one even and one odd neighbour
    "TIE_TO_ODD": f"if({_TIE_UP} = {_TIE_DOWN}, {_TIE_UP}, {_TIE_UP} + {_TIE_DOWN} - bround({{x}}, {{s}}))",
}


def whole(name: str) -> Callable[[Call], str]:
    def body(call: Call) -> str:
        type, text = concrete(call.type(0)), f"{name}({call.sql(0)})"
        assert isinstance(type, Decimal)
        # Spark adds the digit for a carry only where there is something to carry from
        return text if type.scale else f"CAST({text} AS {spark_type(call.output)})"

    return body


def rounded(mode: str) -> Callable[[Call], str]:
    template = _MODES[mode]

    def body(call: Call) -> str:
        count, type = places(call), concrete(call.type(0))
        assert isinstance(type, Decimal)
        carrier = spark_type(call.output)
        if count >= type.scale:
            return f"CAST({call.sql(0)} AS {carrier})"
        if "{h}" in template and type.precision >= 37:
            raise UnsupportedPlanError(f"round of {type} with rounding={mode} has no room for the digits it needs")
        half = f"0.{'0' * count}5BD" if count >= 0 else f"5{'0' * (-count - 1)}BD"
        return f"CAST({template.format(x=call.sql(0), s=count, h=half)} AS {carrier})"

    return body


def _rounding() -> tuple[Row, ...]:
    return tuple(row("round", rounded(mode), rounding=mode) for mode in _MODES)


TABLE = Table(
    "extension:io.substrait:functions_rounding_decimal",
    (row("ceil", whole("ceil")), row("floor", whole("floor")), *_rounding()),
)
