"""Arithmetic that the function tables can't express: the function depends on the precision of decimals or on values.

A quotient of decimals is the specification's ``divide`` if that has the same scale as in Spark, else a function of our
own. Spark rounds the negative of a decimal beyond 34 digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import Cast, Expression, FieldReference, IfClause, IfThen
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import FP64, Boolean, Decimal, Type, concrete
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import decimals, expression, expressions, typed
from pyspark_substrait.spark.producer.refusals import written
from pyspark_substrait.spark.producer.scope import Scope
from pyspark_substrait.sql.compiler.types import INTEGERS

__all__ = ["FORMS", "OWN", "Form", "is_no_nan", "is_simple"]

OWN: Final = "extension:pyspark_substrait:functions_spark_arithmetic"
Form: TypeAlias = Callable[[Node, Scope], "Expression | None"]
#: digits beyond which Spark's unary minus and abs round
_EXACT_MINUS: Final = 34
_DIGITS_OF_LONG: Final = 18


def divide(node: Node, scope: Scope) -> Expression | None:
    """``/``, of decimals or doubles."""
    x, y = expressions(node.children, scope)
    match concrete(x.type), concrete(y.type):
        case Decimal(), Decimal() if node.mode == "ANSI":
            return _quotient_of_decimals(node, x, y, scope)
        case FP64(), FP64():
            return _quotient_of_doubles(node, x, y, scope)
        case _:
            return None


def _quotient_of_decimals(node: Node, x: Expression, y: Expression, scope: Scope) -> Expression:
    wanted = decimals.result(node, (x.type, y.type), scope.production)
    standard = scope.production.call("functions_arithmetic_decimal", "divide", (x, y), {"overflow": "ERROR"})
    found = concrete(standard.type)
    assert isinstance(wanted, Decimal) and isinstance(found, Decimal)
    if found.scale == wanted.scale:
        return typed(standard, wanted)
    return typed(scope.production.call(OWN, "divide", (x, y)), wanted)


def _quotient_of_doubles(node: Node, x: Expression, y: Expression, scope: Scope) -> Expression:
    """Translate ``/`` of doubles. Spark checks for a zero divisor first, the specification for NaN."""
    call = scope.production.call
    options = {"rounding": "TIE_TO_EVEN", "on_domain_error": "NAN"}
    zero = Literal(type=FP64(), value=0.0)
    if node.mode != "ANSI":
        if not _is_nonzero(y):
            y = call("functions_comparison", "nullif", (y, zero))
        return call("functions_arithmetic", "divide", (x, y), {**options, "on_division_by_zero": "NULL"})
    if not (_is_nonzero(y) or is_no_nan(x)):
        if not (is_simple(x) and is_simple(y)):
            return call(OWN, "divide", (x, y))
        no_number = call("functions_comparison", "is_nan", (x,))
        by_zero = call("functions_comparison", "equal", (y, zero))
        both = call("functions_boolean", "and", (no_number, by_zero))
        x = IfThen(ifs=(IfClause(both, Literal(type=FP64(), value=1.0)),), else_=x)
    return call("functions_arithmetic", "divide", (x, y), {**options, "on_division_by_zero": "ERROR"})


def is_simple(value: Expression) -> bool:
    """Whether an expression may be repeated: a column or a literal."""
    return isinstance(value, FieldReference | Literal)


def _is_nonzero(value: Expression) -> bool:
    return isinstance(value, Literal) and isinstance(value.value, float) and value.value != 0


def is_no_nan(value: Expression) -> bool:
    """Whether a double surely isn't NaN."""
    match value:
        case Literal(value=float() as number):
            return not math.isnan(number)
        case Cast(input=source):
            return isinstance(concrete(source.type), Decimal | Boolean) or _is_integer(source.type)
        case _:
            return False


def _is_integer(type: Type) -> bool:
    return concrete(type).__class__ in INTEGERS


def of_decimal(name: str) -> Form:
    """``negate`` or ``abs`` of a decimal."""

    def form(node: Node, scope: Scope) -> Expression | None:
        value = expression(node.children[0], scope)
        match concrete(value.type):
            case Decimal(precision=precision):
                urn = "functions_arithmetic_decimal" if precision <= _EXACT_MINUS else OWN
                return scope.production.call(urn, name, (value,))
            case _:
                return None

    return form


def integral_divide(node: Node, scope: Scope) -> Expression | None:
    """``div``; with ANSI mode off, decimals whose quotient may have more than 18 digits are refused."""
    if node.mode == "ANSI":
        return None
    x, y = expressions(node.children, scope)
    match concrete(x.type), concrete(y.type):
        case Decimal() as one, Decimal() as other:
            if one.precision - one.scale + other.scale > _DIGITS_OF_LONG:
                raise UnsupportedPlanError(
                    f"`{written(node)}` was analysed with ANSI mode off, and may have more digits than a BIGINT",
                    hint="Set spark.sql.ansi.enabled, or cast the operands to decimals of fewer digits",
                )
            return scope.production.call(OWN, "try_integral_divide", (x, y))
        case _:
            return None


def shift(name: str) -> Form:
    """A bit shift: the specification's function for a constant number of bits within the width, else our own."""

    def form(node: Node, scope: Scope) -> Expression | None:
        value, count = expressions(node.children, scope)
        bits = INTEGERS.get(concrete(value.type).__class__, 0)
        if isinstance(count, Literal) and isinstance(count.value, int) and 0 <= count.value < bits:
            return scope.production.call("functions_arithmetic", name, (value, count))
        return scope.production.call(OWN, name, (value, count))

    return form


def positive(node: Node, scope: Scope) -> Expression:
    """``+x``: x itself."""
    return expression(node.children[0], scope)


FORMS: Final[Mapping[str, Form]] = {
    "Divide": divide,
    "IntegralDivide": integral_divide,
    "UnaryMinus": of_decimal("negate"),
    "UnaryPositive": positive,
    "Abs": of_decimal("abs"),
    "ShiftLeft": shift("shift_left"),
    "ShiftRight": shift("shift_right"),
    "ShiftRightUnsigned": shift("shift_right_unsigned"),
}
