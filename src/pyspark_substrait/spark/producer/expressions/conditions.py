"""Choices and membership."""

from __future__ import annotations

from typing import Final

from pyspark_substrait.model.expressions import Expression, IfClause, IfThen, SingularOrList
from pyspark_substrait.model.types import Type
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import expression, expressions, typed
from pyspark_substrait.spark.producer.scope import Scope

__all__ = ["FORMS"]


def case_when(node: Node, scope: Scope) -> Expression:
    """``CASE WHEN``: condition and value in turn, and behind them the value for else, if there is one."""
    parts = expressions(node.children, scope)
    pairs, rest = divmod(len(parts), 2)
    type: Type = parts[1].type
    clauses = tuple(IfClause(parts[2 * pair], typed(parts[2 * pair + 1], type)) for pair in range(pairs))
    return IfThen(ifs=clauses, else_=typed(parts[-1], type) if rest else None)


def if_(node: Node, scope: Scope) -> Expression:
    """``if(condition, value, otherwise)``."""
    condition, value, otherwise = expressions(node.children, scope)
    return IfThen(ifs=(IfClause(condition, value),), else_=typed(otherwise, value.type))


def in_(node: Node, scope: Scope) -> Expression:
    """``value IN (...)`` of values."""
    value, *options = expressions(node.children, scope)
    return SingularOrList(value=value, options=tuple(typed(option, value.type) for option in options))


FORMS: Final = {"CaseWhen": case_when, "If": if_, "In": in_, "KnownNotNull": lambda n, s: expression(n.children[0], s)}
