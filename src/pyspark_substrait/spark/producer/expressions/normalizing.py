"""Floating-point numbers as keys: 0.0 for -0.0, to which it is equal."""

from __future__ import annotations

from typing import Final

from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import FP32, FP64, concrete, with_nullability
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import expression
from pyspark_substrait.spark.producer.scope import Production, Scope

__all__ = ["FORMS", "normal"]


def normal(value: Expression, production: Production) -> Expression:
    """Normalise a floating-point key like Spark: -0.0 becomes 0.0. Other types are returned unchanged."""
    match concrete(value.type):
        case FP32() | FP64() as type:
            zero = Literal(type=with_nullability(type, False), value=0.0)
            return production.call("functions_arithmetic", "add", (value, zero))
        case _:
            return value


def known(node: Node, scope: Scope) -> Expression:
    """``KnownFloatingPointNormalized``, a marker of Spark's optimizer."""
    return expression(node.children[0], scope)


def normalized(node: Node, scope: Scope) -> Expression:
    """``NormalizeNaNAndZero``, which Spark's optimizer puts around keys."""
    return normal(expression(node.children[0], scope), scope.production)


FORMS: Final = {"KnownFloatingPointNormalized": known, "NormalizeNaNAndZero": normalized}
