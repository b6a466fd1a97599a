"""Definitions of the session that queries use: variables and SQL functions."""

from __future__ import annotations

from typing import Final

from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.spark.producer.catalyst import Node, plan_of
from pyspark_substrait.spark.producer.expressions import expression
from pyspark_substrait.spark.producer.scope import Scope

__all__ = ["FORMS"]


def variable(node: Node, scope: Scope) -> Expression:
    """``VariableReference``: the value that a variable of the session had when the query was analysed."""
    return expression(plan_of(node.java.varDef().currentValue()), scope)


def function(node: Node, scope: Scope) -> Expression:
    """``SQLScalarFunction``: the body of a function written in SQL; its arguments are columns below."""
    return expression(node.children[-1], scope)


FORMS: Final = {"VariableReference": variable, "SQLScalarFunction": function}
