"""The translation function of each class of Catalyst: the forms of all modules of this folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import (
    arithmetic,
    calls,
    casts,
    collations,
    collections,
    conditions,
    datetimes,
    expression,
    lambdas,
    literals,
    math,
    normalizing,
    nulls,
    own,
    references,
    regexps,
    session,
    strings,
    subqueries,
    table_inserts,
    windows,
)
from pyspark_substrait.spark.producer.refusals import refused_expression, written
from pyspark_substrait.spark.producer.scope import Scope

__all__ = ["translated"]

#: returns None to use the function tables
Form: TypeAlias = Callable[[Node, Scope], "Expression | None"]

_FORMS: Final[Mapping[str, Form]] = {
    **own.FORMS,
    **literals.FORMS,
    **references.FORMS,
    **session.FORMS,
    **conditions.FORMS,
    **casts.FORMS,
    **arithmetic.FORMS,
    **math.FORMS,
    **normalizing.FORMS,
    **nulls.FORMS,
    **collations.FORMS,
    **collections.FORMS,
    **lambdas.FORMS,
    **strings.FORMS,
    **regexps.FORMS,
    **datetimes.FORMS,
    **subqueries.FORMS,
    **table_inserts.FORMS,
    **windows.FORMS,
}


def translated(node: Node, scope: Scope) -> Expression:
    """Translate an expression by its form, by the function tables, or as what Spark replaces it by.

    Raises:
        UnsupportedPlanError: it can't be translated.
    """
    scope = collations.keyed(node, scope)
    form = _FORMS.get(node.name)
    made = None if form is None else form(node, scope)
    if made is not None:
        return made
    called = calls.scalar(node, scope)
    if called is not None:
        return called
    if "replacement" in node.fields and len(node.children) == 1:
        return expression(node.children[0], scope)
    raise refused_expression(node, written(node))
