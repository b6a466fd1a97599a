"""The translation function of each class of Catalyst: the forms of all modules of this folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.portability import check_relation
from pyspark_substrait.spark.producer.refusals import refused_relation
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

__all__ = ["translated"]

Form: TypeAlias = Callable[[Node, Production, "Scope | None"], Output]

_FORMS: Final[Mapping[str, Form]] = {
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


def translated(node: Node, production: Production, outer: Scope | None) -> Output:
    """Translate a relation to a read, if the plan reads it by name, or by its form.

    Raises:
        UnsupportedPlanError: it has no form.
    """
    if (found := reads.named(node, production)) is not None:
        return found
    form = _FORMS.get(node.name)
    if form is None:
        raise refused_relation(node)
    made = form(node, production, outer)
    if production.portable:
        check_relation(node, made.relation)
    return made
