"""Decimals by their digits, for operations that exceed the limits of Spark's operators.

Spark gives a sum or difference of decimals one digit more than its operands and, if that is more than 38, cuts
fractional digits. Without fractional digits nothing is cut: such operations use the *digits* of a decimal, the whole
number ``value * 10**scale`` as a DECIMAL(38, 0).
"""

from __future__ import annotations

from pyspark_substrait.model.types import Decimal, Type, concrete
from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.common_expressions import constant

__all__ = ["WHOLE", "as_decimal", "decimal_of", "digits", "is_negative", "is_zero", "magnitude", "negated", "shifted"]

#: the Spark type of digits
WHOLE = "DECIMAL(38, 0)"
#: the number of digits beyond which Spark's unary minus and abs round
_EXACT_MINUS = 34


def decimal_of(type: Type) -> Decimal:
    """A type that is known to be a decimal."""
    found = concrete(type)
    assert isinstance(found, Decimal)
    return found


def digits(x: str, type: Decimal) -> str:
    """The digits of a decimal, with its sign."""
    return (
        Atom(f"CAST({x} AS {WHOLE})")
        if type.scale == 0
        else Atom(f"CAST(replace(CAST({x} AS STRING), '.', '') AS {WHOLE})")
    )


def magnitude(x: str) -> str:
    """Return the digits of a decimal without its sign, as text: at least one before the point."""
    return Atom(f"translate(CAST({x} AS STRING), '-.', '')")


def as_decimal(text: str, type: Type, cast: str = "CAST") -> str:
    """Return the decimal with these digits; ``try_cast`` gives null if they don't fit."""
    found = decimal_of(type)
    return (
        Atom(f"{cast}({text} AS {spark_type(found)})") if found.scale == 0 else shifted(text, -found.scale, found, cast)
    )


def shifted(x: str, places: int, type: Decimal, cast: str = "CAST") -> str:
    """A decimal times ``10**places``, exactly."""
    return Atom(f"{cast}(concat(CAST({x} AS STRING), 'E{places}') AS {spark_type(type)})")


def is_negative(x: str, type: Type) -> str:
    """The condition that a decimal is below zero."""
    return f"{x} < {_zero(type)}"


def is_zero(x: str, type: Type) -> str:
    """The condition that a decimal is zero."""
    return f"{x} = {_zero(type)}"


def _zero(type: Type) -> str:
    # compared with a number that has a digit before the point, a DECIMAL(38, 38) loses its last one
    found = decimal_of(type)
    return constant(0, found) if found.scale == 38 else "0"


def negated(x: str, type: Type) -> str:
    """The negative of a decimal, in its own type."""
    found = decimal_of(type)
    if found.precision <= _EXACT_MINUS:
        return Atom(f"negative({x})")
    if found.precision < 38 or found.scale == 0:
        return Atom(f"CAST({constant(0, found)} - {x} AS {spark_type(found)})")
    text = f"CAST({x} AS STRING)"
    return Atom(f"CAST(if({is_negative(x, found)}, substring({text}, 2), concat('-', {text})) AS {spark_type(found)})")
