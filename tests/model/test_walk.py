"""What is found by walking: the subqueries of a relation, wherever in an expression they stand."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace

from pyspark_substrait.model.expressions import Expression, InPredicate, ScalarSubquery, SetComparison, SetPredicate
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Filter, Reference, Relation
from pyspark_substrait.model.relations.base import RelationBase
from pyspark_substrait.model.types import Boolean
from pyspark_substrait.model.walk import (
    holds_query,
    mapped,
    relation_expressions,
    relation_subqueries,
    relations_within,
    subqueries,
)
from tests.samples.expressions import EXPRESSIONS
from tests.samples.relations import RELATIONS

_SUBQUERIES = (ScalarSubquery, InPredicate, SetPredicate, SetComparison)


def _by_fields(node: object) -> list[RelationBase]:
    """The relations in an expression by its fields, whatever these mean; but not what a lambda's name stands for."""
    if isinstance(node, RelationBase):
        return [node]
    if isinstance(node, tuple):
        return [found for part in node for found in _by_fields(part)]
    if is_dataclass(node) and "lambda_" not in {field.name for field in fields(node)}:
        return [found for field in fields(node) for found in _by_fields(getattr(node, field.name))]
    return []


def test_subqueries_are_found_wherever_they_stand() -> None:
    found = 0
    for name, sample in EXPRESSIONS.items():
        expected = [id(relation) for relation in _by_fields(sample)]
        assert sorted(map(id, subqueries((sample,)))) == sorted(expected), name
        assert holds_query(sample) is bool(expected), name
        found += len(expected)
    assert found >= len(_SUBQUERIES)


def test_the_subqueries_of_a_relation_are_those_of_its_expressions() -> None:
    for name, sample in RELATIONS.items():
        expected = [id(found) for item in relation_expressions(sample) for found in subqueries((item,))]
        assert sorted(map(id, relation_subqueries(sample))) == sorted(expected), name


def test_what_is_kept_on_a_relation_is_not_kept_on_one_made_of_it() -> None:
    query = next(sample for sample in EXPRESSIONS.values() if isinstance(sample, SetPredicate))
    true: Expression = Literal(type=Boolean(), value=True)
    some: Relation = next(iter(RELATIONS.values()))
    with_query = Filter(input=some, condition=query)
    assert relation_subqueries(with_query) == (query.tuples,)
    assert relation_subqueries(replace(with_query, condition=true)) == ()
    assert with_query == Filter(input=some, condition=query)


def test_mapping_meets_every_relation_once() -> None:
    for name, sample in RELATIONS.items():
        met: list[Relation] = []

        def change(node: Relation, met: list[Relation] = met) -> Relation:
            met.append(node)
            return node

        assert mapped(sample, change=change) == (sample,), name
        expected = [node for node in relations_within(sample) if not isinstance(node, Reference)]
        assert sorted(map(str, met)) == sorted(map(str, expected)), name
