"""Which function translates which class of Catalyst: the forms of all modules of this folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.relations import aggregates, basic, joins, reads
from pyspark_substrait.spark.producer.scope import Output, Production, Scope

__all__ = ["FORMS", "Form"]

Form: TypeAlias = Callable[[Node, Production, "Scope | None"], Output]

FORMS: Final[Mapping[str, Form]] = {
    **basic.FORMS,
    **reads.FORMS,
    **joins.FORMS,
    **aggregates.FORMS,
}
