"""The translation function of each class of Catalyst: the forms of all modules of this folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.relations import (
    aggregates,
    ctes,
    generate,
    grouping_sets,
    joins,
    laterals,
    memory,
    pivots,
    reads,
    sampling,
    sets,
    single_input,
    windows,
    writes,
)
from pyspark_substrait.spark.producer.scope import Output, Production, Scope

__all__ = ["FORMS", "Form"]

Form: TypeAlias = Callable[[Node, Production, "Scope | None"], Output]

FORMS: Final[Mapping[str, Form]] = {
    **single_input.FORMS,
    **memory.FORMS,
    **reads.FORMS,
    **joins.FORMS,
    **generate.FORMS,
    **laterals.FORMS,
    **sets.FORMS,
    **sampling.FORMS,
    **ctes.FORMS,
    **aggregates.FORMS,
    **grouping_sets.FORMS,
    **pivots.FORMS,
    **windows.FORMS,
    **writes.FORMS,
}
