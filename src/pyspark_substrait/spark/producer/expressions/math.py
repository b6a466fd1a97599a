"""Logarithms and roundings whose types, or results outside the domain, the function tables can't express."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import Cast as _Cast
from pyspark_substrait.model.expressions import Expression, FailureBehavior, IfClause, IfThen
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import FP32, FP64, I32, I64, Boolean, Decimal, concrete, with_nullability
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import expression, expressions, typed
from pyspark_substrait.spark.producer.expressions.arithmetic import OWN, Form, is_no_nan, is_simple
from pyspark_substrait.spark.producer.refusals import written
from pyspark_substrait.spark.producer.scope import Scope
from pyspark_substrait.sql.compiler.types import INTEGERS

__all__ = ["FORMS"]

_MOST: Final = 38
#: the options of logarithms; where Spark returns null for zero, zero is replaced by null before
_OPTIONS: Final = {"rounding": "TIE_TO_EVEN", "on_domain_error": "NULL", "on_log_zero": "NAN"}


def logarithm(name: str, limit: float) -> Form:
    """Return the form of a logarithm that is null for numbers up to a limit."""

    def form(node: Node, scope: Scope) -> Expression:
        value = expression(node.children[0], scope)
        return scope.production.call("functions_logarithmic", name, (_or_null(value, limit, scope),), _OPTIONS)

    return form


def _or_null(value: Expression, limit: float, scope: Scope) -> Expression:
    """Replace a double by null if it equals ``limit``."""
    if isinstance(value, Literal) and value.value is not None and value.value != limit:
        return value
    return scope.production.call("functions_comparison", "nullif", (value, Literal(type=FP64(), value=limit)))


def logarithm_of_base(node: Node, scope: Scope) -> Expression | None:
    """``log(base, x)`` of a constant base; None for base 1, which the specification doesn't allow."""
    base, value = expressions(node.children, scope)
    if not isinstance(base, Literal) or not isinstance(base.value, float) or not base.value > 0 or base.value == 1:
        return None
    return scope.production.call("functions_logarithmic", "logb", (_or_null(value, 0.0, scope), base), _OPTIONS)


def constant(value: float) -> Form:
    """Return the form of a named constant."""
    return lambda node, scope: Literal(type=FP64(), value=value)


def is_nan(node: Node, scope: Scope) -> Expression:
    """``isnan``: false for null."""
    found: Expression = scope.production.call("functions_comparison", "is_nan", expressions(node.children, scope))
    if not found.type.nullable:
        return found
    return scope.production.call("functions_comparison", "coalesce", (found, Literal(type=Boolean(), value=False)))


def nanvl(node: Node, scope: Scope) -> Expression:
    """``nanvl``: the first number, or the second one if the first is NaN."""
    value, instead = expressions(node.children, scope)
    condition = scope.production.call("functions_comparison", "is_nan", (value,))
    return IfThen(ifs=(IfClause(condition, typed(instead, value.type)),), else_=value)


# roundings -----------------------------------------------------------------------------------------------------------


def whole(name: str) -> Form:
    """``ceil`` or ``floor``: of a double, a BIGINT; 0 for NaN."""

    def form(node: Node, scope: Scope) -> Expression | None:
        value = expression(node.children[0], scope)
        match concrete(value.type):
            case Decimal(precision=precision, scale=scale):
                call = scope.production.call("functions_rounding_decimal", name, (value,))
                digits = min(precision - scale + 1, _MOST) if scale else precision
                return typed(call, Decimal(precision=digits, scale=0))
            case FP64() if node.mode == "ANSI" and (is_simple(value) or is_no_nan(value)):
                call = scope.production.call("functions_rounding", name, (value,))
                type = with_nullability(I64(), value.type.nullable)
                cast = _Cast(type=type, input=call, failure_behavior=FailureBehavior.THROW_EXCEPTION)
                if is_no_nan(value):
                    return cast
                no_number = scope.production.call("functions_comparison", "is_nan", (value,))
                return IfThen(ifs=(IfClause(no_number, Literal(type=I64(), value=0)),), else_=cast)
            case type if type.__class__ in INTEGERS:
                return typed(value, I64())
            case _:
                return None

    return form


def rounding(mode: str, own: str | None) -> Form:
    """Return the form of a rounding to decimal places.

    Args:
        mode: the value of the option.
        own: our own function for the cases that the specification's can't express; None without one.
    """

    def form(node: Node, scope: Scope) -> Expression | None:
        value, places = expression(node.children[0], scope), _places(node.children[1], scope)
        options = {"rounding": mode}
        match concrete(value.type), places:
            case Decimal() as type, Literal(value=int(count)):
                wanted = _rounded(type, count)
                if type.precision < _MOST or count >= type.scale:
                    if count < 0 and type.scale + 1 - count < _MOST:  # room for a value that is rounded up
                        room = max(type.precision, type.scale + 1 - count)
                        value = typed(value, Decimal(precision=room, scale=type.scale))
                    call = scope.production.call("functions_rounding_decimal", "round", (value, places), options)
                    return typed(call, wanted)
                if own is not None:
                    return typed(scope.production.call(OWN, own, (value, places)), wanted)
                raise UnsupportedPlanError(
                    f"`{written(node)}` has no Substrait form: it may need more than 38 digits on the way",
                    hint="Cast the number to a decimal of fewer digits",
                )
            case FP32(), Literal() if own is not None:
                return scope.production.call(OWN, own, (value, places))
            case FP64(), _:
                return scope.production.call("functions_rounding", "round", (value, places), options)
            case type, Literal(value=int(count)) if type.__class__ in INTEGERS:
                if count >= 0 or node.mode == "ANSI":
                    return scope.production.call("functions_rounding", "round", (value, places), options)
        return None

    return form


def _places(node: Node, scope: Scope) -> Expression:
    """Return the number of places, which is constant in Spark, as a literal."""
    value = expression(node, scope)
    if isinstance(value, Literal):
        return value
    computed = node.java.eval(None)
    return Literal(type=I32(nullable=computed is None), value=None if computed is None else int(computed))


def _rounded(type: Decimal, places: int) -> Decimal:
    """Return Spark's type of a rounded decimal."""
    digits = type.precision - type.scale + 1
    if places < 0:
        return Decimal(precision=min(max(digits, 1 - places), _MOST), scale=0)
    scale = min(type.scale, places)
    return Decimal(precision=min(digits + scale, _MOST), scale=scale)


FORMS: Final[Mapping[str, Form]] = {
    "Log": logarithm("ln", 0.0),
    "Log10": logarithm("log10", 0.0),
    "Log2": logarithm("log2", 0.0),
    "Log1p": logarithm("log1p", -1.0),
    "Logarithm": logarithm_of_base,
    "EulerNumber": constant(math.e),
    "Pi": constant(math.pi),
    "IsNaN": is_nan,
    "NaNvl": nanvl,
    "Ceil": whole("ceil"),
    "Floor": whole("floor"),
    "Round": rounding("TIE_AWAY_FROM_ZERO", "round"),
    "BRound": rounding("TIE_TO_EVEN", "bround"),
    "RoundCeil": rounding("CEILING", None),
    "RoundFloor": rounding("FLOOR", None),
}
