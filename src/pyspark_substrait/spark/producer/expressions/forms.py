"""Which function translates which class of Catalyst: the forms of all modules of this folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import casts, conditions, literals, references
from pyspark_substrait.spark.producer.scope import Scope

__all__ = ["FORMS", "Form"]

Form: TypeAlias = Callable[[Node, Scope], Expression]

FORMS: Final[Mapping[str, Form]] = {
    **literals.FORMS,
    **references.FORMS,
    **conditions.FORMS,
    **casts.FORMS,
}
