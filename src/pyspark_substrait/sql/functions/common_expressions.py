"""Fragments of Spark SQL that several tables use."""

from __future__ import annotations

import decimal
import math
from typing import Final

from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import FP32, FP64, I64, Decimal, Type, concrete, with_nullability
from pyspark_substrait.sql.compiler.literals import literal, string_literal
from pyspark_substrait.sql.compiler.types import INTEGERS, spark_type
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.table import Call
from pyspark_substrait.sql.spark_version import SparkVersion

__all__ = [
    "LAMBDAS_SINCE",
    "any_null",
    "as_double",
    "as_int",
    "bound",
    "constant",
    "infinity",
    "largest",
    "narrowed",
    "raised",
    "smallest",
]

#: the first version of Spark whose analyser resolves the lambdas of the longest texts within its limit of 100 rounds
LAMBDAS_SINCE: Final = SparkVersion(4, 0)


def constant(value: int | float, type: Type) -> str:
    """A number as a literal of an integer, floating-point or decimal type."""
    type = with_nullability(concrete(type), False)
    match type:
        case Decimal(scale=scale):
            exact = decimal.Decimal(value).quantize(decimal.Decimal(1).scaleb(-scale), context=_WIDE)
            return literal(Literal(type=type, value=exact))
        case FP32() | FP64():
            return literal(Literal(type=type, value=float(value)))
        case _:
            return literal(Literal(type=type, value=int(value)))


_WIDE = decimal.Context(prec=80)


def largest(type: Type) -> str:
    """The largest value of an integer or decimal type."""
    return _extreme(type, 1)


def smallest(type: Type) -> str:
    """The smallest value of an integer or decimal type."""
    return _extreme(type, -1)


def _extreme(type: Type, sign: int) -> str:
    type = with_nullability(concrete(type), False)
    if isinstance(type, Decimal):
        nines = decimal.Decimal(sign * (10**type.precision - 1)).scaleb(-type.scale, _WIDE)
        return literal(Literal(type=type, value=nines))
    bound = 1 << INTEGERS[type.__class__] - 1
    return constant(bound - 1 if sign > 0 else -bound, type)


def raised(call: Call, reason: str) -> str:
    """Return an expression of the call's type that fails with a message when it is evaluated."""
    return Atom(f"CAST(raise_error({string_literal(f'{call.function.name}: {reason}')}) AS {spark_type(call.output)})")


def bound(value: str, name: str, text: str) -> str:
    """Return ``text`` with ``name`` bound to a value, which may be used several times."""
    return f"transform(array({value}), {name} -> {text})[0]"


def any_null(*operands: str) -> str:
    """The condition that one of the operands is null."""
    return " OR ".join(f"{operand} IS NULL" for operand in operands)


def narrowed(text: str, type: Type) -> str:
    """Return a DOUBLE as the type of a function's result: unchanged, or rounded to a FLOAT."""
    return text if isinstance(concrete(type), FP64) else Atom(f"CAST({text} AS {spark_type(type)})")


def infinity(type: Type) -> str:
    """Infinity as a literal of a floating-point type."""
    return constant(math.inf, type)


def as_double(call: Call, position: int) -> str:
    """A numeric argument as a DOUBLE."""
    operand = call.sql(position)
    return operand if isinstance(concrete(call.type(position)), FP64) else Atom(f"CAST({operand} AS DOUBLE)")


def as_int(call: Call, position: int) -> str:
    """Return an integer argument as an INT, which fails if it is too large for one."""
    operand = call.sql(position)
    return Atom(f"CAST({operand} AS INT)") if isinstance(concrete(call.type(position)), I64) else operand
