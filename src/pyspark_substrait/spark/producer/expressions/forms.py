"""The translation function of each class of Catalyst: the forms of all modules of this folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import (
    arithmetic,
    casts,
    collations,
    collections,
    conditions,
    datetimes,
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
from pyspark_substrait.spark.producer.scope import Scope

__all__ = ["FORMS", "Form"]

#: returns None to use the function tables
Form: TypeAlias = Callable[[Node, Scope], "Expression | None"]

FORMS: Final[Mapping[str, Form]] = {
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
