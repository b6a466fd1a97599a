"""Translate samples: records by random numbers, the same ones as in Spark for the same partitions."""

from __future__ import annotations

import random
from typing import Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Filter, Project, Relation, Sort
from pyspark_substrait.model.types import FP64, I64
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions.sorting import sort_fields
from pyspark_substrait.spark.producer.relations import relation
from pyspark_substrait.spark.producer.relations.columns import selected
from pyspark_substrait.spark.producer.scope import Output, Production, Scope, field_of, scope_of

__all__ = ["FORMS"]

_OWN: Final = "extension:pyspark_substrait:functions_spark"


def sample(node: Node, production: Production, outer: Scope | None) -> Output:
    """``Sample`` without replacement: keeps a record if its number is within the bounds, the upper one excluded.

    If the query has no seed, the plan gets a random one. A sort within partitions below, which ``randomSplit`` adds so
    that its parts are disjoint, becomes a sort of all records in the plan.

    Raises:
        UnsupportedPlanError: it is with replacement, or samples whole blocks.
    """
    if node.value("withReplacement"):
        raise UnsupportedPlanError(
            "a sample with replacement has no Substrait form", hint="Sample without replacement: sample(fraction, seed)"
        )
    method = node.object_name("sampleMethod").rsplit("$", 1)[-1]
    if method not in ("", "Bernoulli"):
        raise UnsupportedPlanError(
            f"TABLESAMPLE {method.upper()} has no Substrait form", hint="Sample single rows: TABLESAMPLE (n PERCENT)"
        )
    below = _sorted(node.children[0], production, outer)
    width = len(below.columns)
    given = node.value("seed")
    seed = Literal(type=I64(), value=random.getrandbits(63) if given is None else int(given))
    numbered = Project(input=below.relation, expressions=(production.call(_OWN, "rand", (seed,)),))
    number = field_of(numbered.schema, width)
    kept: list[Expression] = []
    lower, upper = float(node.value("lowerBound")), float(node.value("upperBound"))
    if lower > 0.0:
        kept.append(production.call("functions_comparison", "gte", (number, _number(lower))))
    kept.append(production.call("functions_comparison", "lt", (number, _number(upper))))
    condition = kept[0] if len(kept) == 1 else production.call("functions_boolean", "and", kept)
    return Output(selected(Filter(input=numbered, condition=condition), range(width)), below.columns)


def _sorted(node: Node, production: Production, outer: Scope | None) -> Output:
    """Translate the input of a sample; a sort within partitions becomes a global one."""
    below = relation(node, production, outer)
    if node.name != "Sort" or node.value("global", True):
        return below
    sorts = sort_fields(node.trees("order"), scope_of(below, production, outer))
    sorted_: Relation = Sort(input=below.relation, sorts=sorts)
    return Output(sorted_, below.columns)


def _number(value: float) -> Literal:
    return Literal(type=FP64(), value=value)


FORMS: Final = {"Sample": sample}
