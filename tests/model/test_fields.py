"""What follows from the fields of nodes, against a look at the objects themselves that knows nothing of annotations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Annotated, Any, get_args

import pytest

from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model.expressions import Expression, SortField
from pyspark_substrait.model.fields import SHARED, Over
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.relations.logical import PassThrough
from pyspark_substrait.model.types import I64, Boolean
from pyspark_substrait.model.walk import (
    expression_children,
    placed_expressions,
    relation_expressions,
    subquery_relation,
    with_children,
    with_expressions,
    with_inputs,
    with_query,
)
from tests.samples.expressions import EXPRESSIONS
from tests.samples.relations import RELATIONS

FAMILY, TREES = get_args(Expression), get_args(Relation)
#: values that are literals by themselves, not as expressions; and what stands elsewhere in the plan
LEFT_OUT = {(e.IfValue, "if_"), (e.NamedLambdaReference, "lambda_"), (r.Reference, "subtree")}


def found_in(value: object) -> Iterator[object]:
    """The expressions and relations in the value of a field, before any others."""
    if isinstance(value, tuple):
        for item in value:
            yield from found_in(item)
    elif isinstance(value, (*FAMILY, *TREES)):
        yield value
    elif is_dataclass(value):
        yield from within(value)


def within(node: object) -> Iterator[object]:
    for field in fields(node):  # type: ignore[arg-type]
        value = getattr(node, field.name)
        if (node.__class__, field.name) in LEFT_OUT or isinstance(value, e.MapKey):
            continue
        if isinstance(node, r.VirtualTable):
            yield from (item for record in node.expressions for item in record.fields)
        elif not isinstance(node, Literal) and field.name != "reference":  # the keys of maps are literals
            yield from found_in(value)


def test_all_that_stands_in_a_node_is_found() -> None:
    samples: dict[str, Any] = {**EXPRESSIONS, **RELATIONS}
    for name, sample in samples.items():
        below = [*within(sample)]
        direct = relation_expressions(sample) if isinstance(sample, TREES) else expression_children(sample)
        assert sorted(map(id, direct)) == sorted(id(item) for item in below if isinstance(item, FAMILY)), name
        trees = [item for item in below if isinstance(item, TREES)]
        inputs = sample.inputs if isinstance(sample, TREES) else [subquery_relation(sample)]
        assert [id(item) for item in inputs if item is not None] == [*map(id, trees)], name


TRUE = Literal(type=Boolean(), value=True)


def test_everything_that_is_found_can_be_replaced() -> None:
    other = RELATIONS["named table"]
    for name, sample in EXPRESSIONS.items():
        if not isinstance(sample, e.LambdaInvocation):
            changed = with_children(sample, lambda _: TRUE)
            assert set(expression_children(changed)) <= {TRUE}, name
            assert len(expression_children(changed)) == len(expression_children(sample)), name
        if subquery_relation(sample) is not None:
            assert subquery_relation(with_query(sample, other)) is other, name
    for name, tree in RELATIONS.items():
        assert with_inputs(tree, lambda _: other).inputs == (other,) * len(tree.inputs), name
        if not any(isinstance(item, r.HashJoin | r.MergeJoin | r.Exchange) for item in (tree,)):
            changed_tree = with_expressions(tree, lambda _: TRUE)
            assert relation_expressions(changed_tree) == (TRUE,) * len(relation_expressions(tree)), name


@pytest.mark.parametrize(
    ("sample", "field"),
    [("hash join inner", "ComparisonJoinKey.left"), ("exchange by fields", "ScatterFields.fields")],
)
def test_a_key_must_stay_a_reference(sample: str, field: str) -> None:
    with pytest.raises(TypeError, match=f"{field} must stay a FieldReference, and became a Literal"):
        with_expressions(RELATIONS[sample], lambda _: TRUE)


def test_an_expression_has_a_place() -> None:
    def places(name: str) -> list[Over]:
        placed = placed_expressions(RELATIONS[name])
        assert tuple(item for item, _ in placed) == relation_expressions(RELATIONS[name])
        return [place for _, place in placed]

    assert places("hash join with filters") == [Over.LEFT, Over.RIGHT, Over.INPUT, Over.OUTPUT]
    assert places("read with filters and projection") == [Over.TABLE, Over.TABLE]
    assert places("top n") == [Over.INPUT, Over.NOTHING, Over.NOTHING]
    assert places("update") == [Over.TABLE, Over.TABLE]
    assert set(places("virtual table")) == {Over.NOTHING}


@dataclass(frozen=True, slots=True)
class Bounds:
    low: Expression | None
    high: Expression | None


@dataclass(frozen=True, kw_only=True)
class Sampled(PassThrough):
    """A relation of nobody's, with a field of every form."""

    pairs: tuple[tuple[Expression, Annotated[Expression, Over.OUTPUT]], ...] = ()
    bounds: Annotated[Bounds | None, Over.NOTHING] = None
    keys: tuple[SortField | int, ...] = ()
    several: tuple[Expression, ...] | None = None
    defaults: Annotated[Literal, Over.TABLE] = TRUE
    plain: tuple[Literal, ...] = ()
    base: Annotated[Relation, SHARED]
    seed: int | str = 0


def test_a_new_relation_says_only_what_its_fields_are() -> None:
    numbers = [Literal(type=I64(), value=number) for number in range(9)]
    key = SortField(expr=numbers[4], sort_kind=e.SortDirection.ASC_NULLS_FIRST)
    table, other = RELATIONS["named table"], RELATIONS["empty virtual table"]
    node = Sampled(
        input=table,
        base=other,
        pairs=((numbers[0], numbers[1]),),
        bounds=Bounds(None, numbers[2]),
        keys=(key, 7),
        several=(numbers[5], numbers[6]),
        defaults=numbers[7],
        plain=(numbers[8],),
    )
    assert node.inputs == (table,)
    placed = placed_expressions(node)  # type: ignore[arg-type]
    assert placed == (
        (numbers[0], Over.INPUT),
        (numbers[1], Over.OUTPUT),
        (numbers[2], Over.NOTHING),
        (numbers[4], Over.INPUT),
        (numbers[5], Over.INPUT),
        (numbers[6], Over.INPUT),
        (numbers[7], Over.TABLE),
    )
    assert with_expressions(node, lambda _: TRUE) == replace(  # type: ignore[type-var]
        node,
        pairs=((TRUE, TRUE),),
        bounds=Bounds(None, TRUE),
        keys=(replace(key, expr=TRUE), 7),
        several=(TRUE, TRUE),
        defaults=TRUE,
    )
    assert with_inputs(node, lambda _: other) == replace(node, input=other)  # type: ignore[type-var]
    bare = Sampled(input=table, base=other)
    assert with_expressions(bare, lambda item: item) == bare  # type: ignore[type-var]
