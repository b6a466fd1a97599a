"""Which columns each kind of expression is made of, and where references out of a query lead. Worked out by hand."""

from __future__ import annotations

from typing import get_args

import pytest

from pyspark_substrait.analysis.lineage import BASE_SCHEMA, EXPRESSIONS, Kind, Origin, Source, lineage
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model import types as t
from pyspark_substrait.model.expressions import Expression, FieldReference, StructField
from pyspark_substrait.model.masks import MaskExpression, StructItem, StructSelect
from pyspark_substrait.model.plan import ExpressionReference, ExtendedExpression, Plan, RelRoot
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.types import Struct
from tests.lineage.small import (
    FUNCTION,
    ONE,
    by,
    col,
    columns_of,
    conditions_of,
    emit,
    f,
    measure,
    outer,
    plan,
    table,
)

TYPES = {"output_type": t.I64(), "derived_type": t.I64()}
A, QUERY = table("a", 5), table("q", 2)
RECORD = e.Lambda(parameters=Struct(types=(t.I64(),)), body=f(col(1), ONE))
NAMED = e.NamedLambda(lambda_=e.Lambda(parameters=Struct(types=()), body=f(e.ScalarSubquery(input=table("n", 1)), ONE)))


def reference(root: Expression, *path: int) -> FieldReference:
    return FieldReference(root=root, reference=tuple(map(StructField, path)), type=t.I64())


def window(**parts: object) -> e.WindowFunction:
    return e.WindowFunction(function=FUNCTION, arguments=(col(0),), **TYPES, **parts)  # type: ignore[arg-type]


CASES: list[tuple[Expression, str]] = [
    (ONE, ""),
    (col(3), "a3"),
    (reference(e.NestedStruct(fields=(col(0), f(col(1), col(2)))), 1), "a1 a2"),
    (reference(f(col(0)), 1), "a0"),
    (FieldReference(root=e.RootReference(), reference=(StructField(2), e.ListElement(0)), type=t.I64()), "a2"),
    (
        FieldReference(
            root=e.RootReference(),
            reference=MaskExpression(select=StructSelect((StructItem(4), StructItem(1, StructSelect(()))))),
            type=t.I64(),
        ),
        "a1 a4",
    ),
    (FieldReference(root=e.RootReference(), reference=(), type=t.I64()), "a0 a1 a2 a3 a4"),
    (f(col(0), e.EnumArgument("x"), e.TypeArgument(t.I64()), f(col(2), col(0))), "a0 a2"),  # type: ignore[arg-type]
    (window(), "a0"),
    (window(partitions=(col(1),), sorts=by(f(col(2)))), "a0 ~a1 ~a2"),
    (window(partitions=(col(0),), lower_bound=e.Preceding(col(3)), upper_bound=e.Following(col(4))), "a0 ~a3 ~a4"),
    (f(col(1), window(partitions=(col(1), col(2)))), "a0 a1 ~a2"),
    (window(sorts=by(e.InPredicate(needles=(col(4),), haystack=table("q", 1)))), "a0 ~a4 ~q0"),
    # a value is made of what it is tested by, too
    (e.IfThen(ifs=(e.IfClause(col(0), col(1)),), else_=col(2)), "a0 a1 a2"),
    (e.SwitchExpression(match=col(0), ifs=(e.IfValue(ONE, col(3)),), else_=ONE), "a0 a3"),
    (e.SingularOrList(value=col(0), options=(ONE, col(4))), "a0 a4"),
    (e.MultiOrList(value=(col(0), col(1)), options=((ONE, col(2)), (col(3), ONE))), "a0 a1 a2 a3"),
    (e.Cast(type=t.I8(), input=col(2)), "a2"),
    (e.NestedStruct(fields=(col(0), col(1))), "a0 a1"),
    (e.NestedList(values=(col(0), ONE)), "a0"),
    (e.NestedMap(key_values=((col(0), col(1)), (ONE, col(2)))), "a0 a1 a2"),
    (e.ScalarSubquery(input=QUERY), "q0 q1"),
    (e.InPredicate(needles=(col(0), col(1)), haystack=QUERY), "a0 a1 q0 q1"),
    (
        e.SetComparison(reduction_op=e.ReductionOp.ANY, comparison_op=e.ComparisonOp.LT, left=col(3), right=QUERY),
        "a3 q0 q1",
    ),
    # EXISTS: not of columns, but of what decides whether there is a record
    (e.SetPredicate(predicate_op=e.PredicateOp.EXISTS, tuples=QUERY), ""),
    (
        e.SetPredicate(
            predicate_op=e.PredicateOp.EXISTS,
            tuples=r.Project(
                input=r.Filter(input=QUERY, condition=f(col(1), outer(4, steps=1))), expressions=(col(0),)
            ),
        ),
        "q1 a4",
    ),
    (e.SetPredicate(predicate_op=e.PredicateOp.UNIQUE, tuples=QUERY), "q0 q1"),
    (e.DynamicParameter(type=t.I64(), parameter_reference=1), ""),
    (e.ExecutionContextVariable(variable=e.ContextVariable.CURRENT_DATE, type=t.Date()), ""),
    (RECORD, "a1"),
    (e.LambdaInvocation(lambda_=RECORD, arguments=(col(3),)), "a1 a3"),
    (FieldReference(root=e.LambdaParameterReference(), reference=(StructField(2),), type=t.I64()), ""),
    (e.NamedLambdaReference(lambda_=NAMED), "n0"),
    (e.LambdaInvocation(lambda_=e.NamedLambdaReference(lambda_=NAMED), arguments=(col(0),)), "a0 n0"),
    (e.DetachedExpression(expression=f(col(2))), "a2"),
    (e.BrokenExpression(kind="cast", fault="", parts=(col(1),)), "a1"),
    # what leads nowhere leads nowhere
    (f(col(5), col(-1), outer(0, steps=1), outer(0, steps=0), outer(0, anchor=3), outer(0)), ""),
]


@pytest.mark.parametrize(("expression", "columns"), CASES)
def test_columns_of_an_expression(expression: Expression, columns: str) -> None:
    project = r.Project(input=A, expressions=(expression,), common=emit(5))
    assert columns_of(lineage(plan(project)), project) == [set(columns.split())]
    # as a condition, it depends on the same ones
    chosen = r.Filter(input=A, condition=expression)
    assert conditions_of(lineage(plan(chosen)), chosen) == set(columns.replace("~", "").split())


def test_every_expression_is_in_the_table() -> None:
    assert {type(expression) for expression, _ in CASES} == set(get_args(Expression))


# --- out of the query -------------------------------------------------------------------------------------------------


def exists(relation: Relation) -> Expression:
    return e.SetPredicate(predicate_op=e.PredicateOp.EXISTS, tuples=relation)


def over(name: str, condition: Expression, anchor: int | None = None, **parts: object) -> Relation:
    common = r.RelCommon(rel_anchor=anchor)
    return r.Filter(input=table(name), condition=condition, common=common, **parts)  # type: ignore[arg-type]


SHARED = over("s", outer(1, anchor=7))
#: conditions of the relation at the top, which stands first
OUT: dict[str, tuple[Relation, str]] = {
    "one query": (over("a", exists(over("b", outer(2, steps=1)))), "a2"),
    "two queries": (
        over("a", exists(over("b", exists(over("c", f(outer(0, steps=1), outer(1, steps=2))))))),
        "b0 a1",
    ),
    "through the inputs of the query": (
        over("a", exists(r.Sort(input=r.Cross(left=table("c"), right=over("b", outer(2, steps=1))), sorts=()))),
        "a2",
    ),
    "by an anchor": (over("a", exists(over("b", exists(over("c", outer(1, anchor=4))))), 4), "a1"),
    # the right side sees the left record of the lateral join by its anchor; steps only count queries
    "out of a lateral join": (
        over(
            "a",
            exists(
                r.LateralJoin(
                    left=table("b"),
                    right=over("c", f(outer(0, anchor=3), outer(1, steps=1))),
                    type=r.JoinType.INNER,
                    common=r.RelCommon(rel_anchor=3),
                )
            ),
        ),
        "b0 a1",
    ),
    "into what a join compares": (
        r.Join(
            left=table("a"),
            right=table("b"),
            type=r.JoinType.LEFT_ANTI,
            expression=exists(over("c", outer(4, steps=1))),
        ),
        "b1",
    ),
    # what stands above the join sees what it puts out: here the right columns only
    "into what a join puts out": (
        r.Join(
            left=table("a"),
            right=table("b"),
            type=r.JoinType.RIGHT_SEMI,
            expression=exists(over("c", outer(0, anchor=2))),
            post_join_filter=exists(over("c", outer(1, anchor=2))),
            common=r.RelCommon(rel_anchor=2),
        ),
        "a0 b1",
    ),
    "into the table of a read": (table("a", filter=exists(over("b", outer(1, steps=1))), common=emit(2, 1)), "a1"),
    "out of a shared relation": (over("a", exists(r.Reference(subtree_ordinal=1, subtree=SHARED)), 7), "a1"),
    "not out of a shared relation by steps": (
        over("a", exists(r.Reference(subtree_ordinal=1, subtree=over("b", outer(1, steps=1))))),
        "",
    ),
    "out of a detached relation": (over("a", exists(r.DetachedRel(relation=over("b", outer(2, steps=1))))), "a2"),
    "out of one query that stands in two places": (
        r.Set(
            members=tuple(over(name, exists(same)) for same in [over("c", outer(2, steps=1))] for name in "ab"),
            op=r.SetOp.UNION_ALL,
        ),
        "a2 b2",
    ),
}


@pytest.mark.parametrize("name", OUT)
def test_out_of_the_query(name: str) -> None:
    relation, conditions = OUT[name]
    found = lineage(plan(relation))
    first = relation.inputs if isinstance(relation, r.Set) else [relation]
    assert {word for item in first for word in conditions_of(found, item)} == set(conditions.split())


# --- extended expressions ---------------------------------------------------------------------------------------------


def test_an_extended_expression() -> None:
    queried = over("q", f(col(1), outer(2, steps=1)))
    found = lineage(
        ExtendedExpression(
            referred_expr=(
                ExpressionReference(expr=f(col(0), col(2)), output_names=("both", "inside")),
                ExpressionReference(expr=measure(col(1), sorts=by(col(0))), output_names=()),
                ExpressionReference(expr=exists(queried), output_names=("some",)),
            ),
            base_schema=A.base_schema,
        )
    )
    (output,) = found.results()
    assert output.names == ("both", None, "some")
    assert found.outputs == (output.ports,) == (((EXPRESSIONS, 0), (EXPRESSIONS, 1), (EXPRESSIONS, 2)),)
    value, condition = Kind.VALUE, Kind.CONDITION
    assert [found.origins(port) for port in output.ports] == [
        (Origin((BASE_SCHEMA, 0), value), Origin((BASE_SCHEMA, 2), value)),
        (Origin((BASE_SCHEMA, 1), value), Origin((BASE_SCHEMA, 0), condition)),
        (Origin((1, 1), value), Origin((BASE_SCHEMA, 2), value)),
    ]
    assert found.sources(output.ports[0]) == (
        Source(BASE_SCHEMA, "base schema", "x0"),
        Source(BASE_SCHEMA, "base schema", "x2"),
    )
    assert (EXPRESSIONS, 2) in found.downstream((BASE_SCHEMA, 2))
    assert found.conditions(BASE_SCHEMA) == () == found.fed_by(EXPRESSIONS)


def test_a_named_lambda_that_nothing_uses_is_there() -> None:
    found = lineage(Plan(relations=(RelRoot(input=A, names=()),), named_lambdas=(NAMED,)))
    assert [item.base_schema.names for item in found.relations if isinstance(item, r.Read)] == [
        A.base_schema.names,
        ("x0",),
    ]
