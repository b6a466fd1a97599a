"""Rewriting visits the same expressions as walking, and changes nothing when told to change nothing."""

from __future__ import annotations

from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.walk import (
    expression_children,
    relation_expressions,
    with_children,
    with_expressions,
    with_inputs,
)
from tests.samples.expressions import EXPRESSIONS
from tests.samples.relations import RELATIONS


def test_every_child_is_visited_and_kept() -> None:
    for name, sample in EXPRESSIONS.items():
        seen: list[Expression] = []

        def keep(child: Expression, seen: list[Expression] = seen) -> Expression:
            seen.append(child)
            return child

        assert with_children(sample, keep) == sample, name
        assert seen == list(expression_children(sample)), name


def test_every_expression_of_a_relation_is_visited_and_kept() -> None:
    for name, sample in RELATIONS.items():
        seen: list[Expression] = []

        def keep(expression: Expression, seen: list[Expression] = seen) -> Expression:
            seen.append(expression)
            return expression

        assert with_expressions(sample, keep) == sample, name
        assert seen == list(relation_expressions(sample)), name


def test_every_input_is_visited_and_kept() -> None:
    for name, sample in RELATIONS.items():
        seen: list[Relation] = []

        def keep(input: Relation, seen: list[Relation] = seen) -> Relation:
            seen.append(input)
            return input

        assert with_inputs(sample, keep) == sample, name
        assert seen == list(sample.inputs), name
