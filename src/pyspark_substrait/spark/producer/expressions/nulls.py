"""The number of values of a record that are neither null nor NaN, for ``DataFrame.dropna``."""

from __future__ import annotations

from functools import reduce
from typing import Final

from pyspark_substrait.model.expressions import Expression, IfClause, IfThen
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import FP32, FP64, I32, Boolean, concrete
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import expressions
from pyspark_substrait.spark.producer.scope import Production, Scope

__all__ = ["FORMS"]


def at_least_n_non_nulls(node: Node, scope: Scope) -> Expression:
    """``AtLeastNNonNulls``: whether at least ``n`` values are neither null nor NaN."""
    wanted, production = int(node.value("n")), scope.production
    known = [_is_known(value, production) for value in expressions(node.children, scope)]
    if wanted <= 0:
        return Literal(type=Boolean(), value=True)
    if wanted > len(known):
        return Literal(type=Boolean(), value=False)
    if len(known) == 1:
        return known[0]
    if wanted in (1, len(known)):
        return production.call("functions_boolean", "or" if wanted == 1 else "and", known)
    one, zero = Literal(type=I32(), value=1), Literal(type=I32(), value=0)
    counts: list[Expression] = [IfThen(ifs=(IfClause(value, one),), else_=zero) for value in known]
    number = reduce(lambda left, right: production.call("functions_arithmetic", "add", (left, right)), counts)
    return production.call("functions_comparison", "gte", (number, Literal(type=I32(), value=wanted)))


def _is_known(value: Expression, production: Production) -> Expression:
    given = production.call("functions_comparison", "is_not_null", (value,))
    match concrete(value.type):
        case FP32() | FP64():
            number = production.call(
                "functions_boolean", "not", [production.call("functions_comparison", "is_nan", (value,))]
            )
            return production.call("functions_boolean", "and", (given, number))
        case _:
            return given


FORMS: Final = {"AtLeastNNonNulls": at_least_n_non_nulls}
