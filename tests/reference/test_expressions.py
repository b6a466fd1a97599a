"""The evaluator's expressions: the examples of the specification (site/docs/expressions), and values by hand."""

from __future__ import annotations

import decimal
import math
from dataclasses import replace
from typing import Any

import pytest

from pyspark_substrait.model.expressions import (
    Cast,
    ComparisonOp,
    DynamicParameter,
    Expression,
    FailureBehavior,
    FieldReference,
    IfClause,
    IfThen,
    IfValue,
    InPredicate,
    Lambda,
    LambdaInvocation,
    LambdaParameterReference,
    ListElement,
    MapKey,
    MultiOrList,
    NestedList,
    NestedStruct,
    PredicateOp,
    ReductionOp,
    RootReference,
    ScalarSubquery,
    SetComparison,
    SetPredicate,
    SingularOrList,
    StructField,
    SwitchExpression,
)
from pyspark_substrait.model.literals import DayTime, Literal
from pyspark_substrait.model.masks import ListItem, ListSelect, MaskExpression, StructItem, StructSelect
from pyspark_substrait.model.plan import DynamicParameterBinding
from pyspark_substrait.model.relations import JoinType, LateralJoin, Project, Reference, RelCommon, Set, SetOp
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    Binary,
    Boolean,
    Date,
    Decimal,
    FixedBinary,
    FixedChar,
    IntervalDay,
    List,
    Map,
    PrecisionTimestamp,
    Struct,
    Type,
    VarChar,
    with_nullability,
)
from tests.reference import STRICT, Choices, Failure, NotCovered, Undetermined, evaluate
from tests.spark import plans
from tests.spark.plans import INT, INT_, LONG, TEXT, TEXT_, call, col, lit, number, text, truth, values

RETURN_NULL, THROW = FailureBehavior.RETURN_NULL, FailureBehavior.THROW_EXCEPTION
FAILING = Cast(type=INT, input=text("hello"), failure_behavior=THROW)


def value(expression: Expression, choices: Choices = STRICT) -> Any:
    """The value of an expression without input."""
    one = values([INT], [(0,)])
    ((found,),) = evaluate(plans.plan(plans.project(one, expression)), {}, choices=choices).rows
    return found


# choices and membership ----------------------------------------------------------------------------------------------


def test_roads_not_taken_cannot_fail() -> None:
    assert value(IfThen(ifs=(IfClause(truth(True), number(0)),), else_=FAILING)) == 0
    assert value(SwitchExpression(match=number(1), ifs=(IfValue(number(1), number(5)),), else_=FAILING)) == 5
    assert value(call("coalesce", number(3), FAILING)) == 3
    with pytest.raises(Failure):
        value(FAILING)
    # nothing says that a false operand spares the other one
    with pytest.raises(Undetermined):
        value(call("and", truth(False), call("equal", FAILING, number(0))))


def test_null_matches_no_arm() -> None:
    assert value(SwitchExpression(match=number(None), ifs=(IfValue(number(1), number(5)),), else_=number(6))) == 6
    assert value(IfThen(ifs=(IfClause(truth(None), number(1)),))) is None


@pytest.mark.parametrize(
    ("needle", "options", "expected"),
    [(1, [1, None], True), (2, [1, None], None), (2, [1, 3], False), (None, [1], None), (None, [None], None)],
)
def test_membership_is_three_valued(needle: int | None, options: list[int | None], expected: bool | None) -> None:
    assert value(SingularOrList(value=number(needle), options=tuple(map(number, options)))) is expected
    haystack = values([INT_], [(item,) for item in options])
    assert value(InPredicate(needles=(number(needle),), haystack=haystack)) is expected


def test_membership_of_several_values() -> None:
    def among(*records: tuple[int | None, int | None]) -> Any:
        options = tuple((number(one), number(other)) for one, other in records)
        return value(MultiOrList(value=(number(1), number(2)), options=options))

    assert among((1, 2), (None, 2)) is True
    assert among((1, None)) is None
    assert among((2, None)) is False


# references ----------------------------------------------------------------------------------------------------------


def test_the_compound_reference_of_the_specification() -> None:
    # a.b[2].c['my_map_key'].x
    inner = Struct(types=(INT,))
    entry = Struct(types=(Map(key=TEXT, value=inner),))
    a = Struct(types=(List(type=entry),))
    record = lit(a, ([({"other": (1,)},), ({},), ({"my_map_key": (7,)},)],))
    path = (StructField(0), StructField(0), ListElement(2), StructField(0), MapKey(text("my_map_key")), StructField(0))
    table = values([a], [(record,)])
    assert evaluate(plans.plan(plans.project(table, col(table, *_positions(path)))), {}).rows == [(7,)]


def _positions(path: tuple[Any, ...]) -> tuple[Any, ...]:
    return path[0].field, *path[1:]


@pytest.mark.parametrize(("offset", "expected"), [(0, 1), (2, 3), (-1, 3), (3, None), (-4, None)])
def test_list_elements_do_not_wrap(offset: int, expected: int | None) -> None:
    table = values([List(type=INT)], [([1, 2, 3],)])
    assert evaluate(plans.plan(plans.project(table, col(table, 0, ListElement(offset)))), {}).rows == [(expected,)]


def test_a_masked_reference() -> None:
    kind = List(type=Struct(types=(INT, TEXT, TEXT)))
    table = values([kind], [([(1, "a", "b"), (2, "c", "d")],)])
    elements = ListSelect((ListItem(1), ListItem(0)), StructSelect((StructItem(0), StructItem(2))))
    mask = MaskExpression(select=StructSelect((StructItem(0, elements),)))
    reference = FieldReference(root=RootReference(), reference=mask, type=Struct(types=(kind,)))
    assert evaluate(plans.plan(plans.project(table, reference)), {}).rows == [((((2, "d"), (1, "b")),),)]


def test_the_equality_of_lists() -> None:
    kind = List(type=INT_)

    def same(left: list[int | None], right: list[int | None]) -> Any:
        return value(call("equal", lit(kind, left), lit(kind, right)))

    assert same([1, 2], [1, 2]) is True
    assert same([1, 2], [1, 3]) is False
    assert same([1, 2], [1]) is False
    with pytest.raises(Undetermined):
        same([None], [None])


# subqueries ----------------------------------------------------------------------------------------------------------


def test_scalar_subqueries() -> None:
    assert value(ScalarSubquery(input=values([INT], [(4,)]))) == 4
    assert value(ScalarSubquery(input=values([INT], []))) is None
    with pytest.raises(Failure):
        value(ScalarSubquery(input=values([INT], [(4,), (4,)])))


def test_predicates_over_sets() -> None:
    def unique(*items: int | None) -> Any:
        tuples = values([INT_], [(item,) for item in items])
        return value(SetPredicate(predicate_op=PredicateOp.UNIQUE, tuples=tuples))

    assert value(SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=values([INT_], [(None,)]))) is True
    assert value(SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=values([INT_], []))) is False
    assert unique(1, None) is True
    assert unique(1, 1, None, None) is False
    with pytest.raises(Undetermined):
        unique(None, None)


@pytest.mark.parametrize(
    ("reduction", "operator", "items", "expected"),
    [
        (ReductionOp.ANY, ComparisonOp.LT, [1, 3], True),
        (ReductionOp.ANY, ComparisonOp.LT, [1, None], None),
        (ReductionOp.ANY, ComparisonOp.LT, [], False),
        (ReductionOp.ALL, ComparisonOp.GE, [1, 2], True),
        (ReductionOp.ALL, ComparisonOp.GE, [3, None], False),
        (ReductionOp.ALL, ComparisonOp.NE, [], True),
        (ReductionOp.ALL, ComparisonOp.NE, [1, None], None),
        (ReductionOp.ANY, ComparisonOp.EQ, [None, 2], True),
        (ReductionOp.ANY, ComparisonOp.GT, [2, 3], False),
        (ReductionOp.ANY, ComparisonOp.GT, [1, 3], True),
        (ReductionOp.ANY, ComparisonOp.LT, [2, 1], False),
        (ReductionOp.ALL, ComparisonOp.LE, [2, 3], True),
        (ReductionOp.ALL, ComparisonOp.LE, [1], False),
    ],
)
def test_set_comparisons_of_2(
    reduction: ReductionOp, operator: ComparisonOp, items: list[int | None], expected: bool | None
) -> None:
    right = values([INT_], [(item,) for item in items])
    made = SetComparison(reduction_op=reduction, comparison_op=operator, left=number(2), right=right)
    assert value(made) is expected


A = values([INT], [(1,), (3,)])
B = values([INT], [(1,), (2,), (3,)])


def test_a_correlated_subquery_by_steps() -> None:
    smaller = plans.where(B, call("lt", col(B, 0), plans.outer(A, 0, steps_out=1)))
    count = plans.group(smaller, [], [plans.aggregate("count")])
    found = evaluate(plans.plan(plans.project(A, ScalarSubquery(input=count), keep=True)), {})
    assert plans.ordered(found.rows) == [(1, 0), (3, 2)]


def test_the_shared_relation_of_the_specification() -> None:
    # expressions/field_references: x is reached by ways of different depth, so that it names tableA by its anchor
    x = plans.where(B, call("gt", col(B, 0), plans.outer(A, 0, rel_reference=7)))
    shared = Reference(subtree_ordinal=1, subtree=x)
    one = values([INT], [(0,)])
    most = plans.group(shared, [], [plans.aggregate("max", col(shared, 0))])
    deep = plans.project(one, ScalarSubquery(input=most))
    minus = Set(members=(deep, plans.project(shared, Cast(type=INT_, input=col(shared, 0)))), op=SetOp.MINUS_PRIMARY)
    exists = SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=minus)
    project = Project(input=A, expressions=(exists,), common=RelCommon(rel_anchor=7))
    # of 1: {3} minus {2, 3} is empty; of 3: {null} minus {} is not
    assert plans.ordered(evaluate(plans.plan(project, (), x), {}).rows) == [(1, False), (3, True)]


@pytest.mark.parametrize(
    ("type", "expected"),
    [
        ("INNER", [(1, 2), (1, 3)]),
        ("LEFT", [(1, 2), (1, 3), (3, None)]),
        ("LEFT_SEMI", [(1,)]),
        ("LEFT_ANTI", [(3,)]),
        ("LEFT_MARK", [(1, True), (3, False)]),
    ],
)
def test_lateral_joins(type: str, expected: list[tuple[Any, ...]]) -> None:
    larger = plans.where(B, call("gt", col(B, 0), plans.outer(A, 0, rel_reference=1)))
    join = LateralJoin(left=A, right=larger, type=getattr(JoinType, type), common=RelCommon(rel_anchor=1))
    assert plans.ordered(evaluate(plans.plan(join), {}).rows) == plans.ordered(expected)


def test_a_lateral_join_is_no_subquery() -> None:
    # steps_out counts subqueries only: from the filter of the right input, one step leads to the project around
    right = plans.where(B, call("gt", col(B, 0), plans.outer(A, 0, steps_out=1)))
    one = values([INT], [(9,)])
    join = LateralJoin(left=one, right=right, type=JoinType.INNER, common=RelCommon(rel_anchor=1))
    count = plans.group(join, [], [plans.aggregate("count")])
    found = evaluate(plans.plan(plans.project(A, ScalarSubquery(input=count), keep=True)), {})
    assert plans.ordered(found.rows) == [(1, 2), (3, 0)]


def test_parameters_and_nested_constructors() -> None:
    parameter = DynamicParameter(type=INT, parameter_reference=3)
    nested = NestedStruct(fields=(NestedList(values=(parameter, number(2))), NestedStruct(fields=(text("a"),))))
    plan = plans.plan(plans.project(values([INT], [(0,)]), nested))
    bound = replace(plan, parameter_bindings=(DynamicParameterBinding(parameter_anchor=3, value=number(7)),))
    assert evaluate(bound, {}).rows == [(((7, 2), ("a",)),)]
    with pytest.raises(NotCovered):
        evaluate(plan, {})


def test_a_lambda_invoked_in_place() -> None:
    parameters = Struct(types=(INT, INT))
    first, second = (
        FieldReference(root=LambdaParameterReference(0), reference=(StructField(position),), type=INT)
        for position in range(2)
    )
    body = call("subtract", first, second)
    invoked = LambdaInvocation(lambda_=Lambda(parameters=parameters, body=body), arguments=(number(5), number(3)))
    assert value(invoked) == 2


# casts ---------------------------------------------------------------------------------------------------------------

I8_, DEC = I8(nullable=True), Decimal(precision=4, scale=2, nullable=True)


@pytest.mark.parametrize(
    ("literal", "type", "expected"),
    [
        (number(100), I8_, 100),
        (number(200), I8_, None),
        (number(7), DEC, decimal.Decimal("7.00")),
        (number(100), DEC, None),
        (lit(FP64(), 3.0), INT_, 3),
        (lit(FP64(), math.nan), INT_, None),
        (lit(FP64(), 1e300), INT_, None),
        (lit(FP64(), 0.1), FP32(nullable=True), 0.10000000149011612),
        (number(2**24 + 1), FP32(nullable=True), 16777216.0),
        (text("-12"), INT_, -12),
        (text("word"), INT_, None),
        (text("1.5"), DEC, decimal.Decimal("1.50")),
        (text("2024-02-29"), Date(nullable=True), 19782),
        (text("2023-02-29"), Date(nullable=True), None),
        (text("true"), Boolean(nullable=True), True),
        (truth(True), INT_, 1),
        (number(12), TEXT_, "12"),
        (text("ab"), FixedChar(length=3, nullable=True), "ab "),
        (lit(Binary(), b"ab"), FixedBinary(length=3, nullable=True), b"ab\0"),
        (lit(Binary(), b"abcd"), FixedBinary(length=3, nullable=True), b"abc"),
        (lit(Date(), -1), PrecisionTimestamp(precision=3, nullable=True), -86_400_000),
        (lit(PrecisionTimestamp(precision=0), -1), Date(nullable=True), -1),
        (lit(IntervalDay(precision=0), DayTime(1, 1, 0)), IntervalDay(precision=3, nullable=True), 86_401_000),
    ],
)
def test_casts(literal: Literal, type: Type, expected: Any) -> None:
    assert value(Cast(type=type, input=literal, failure_behavior=RETURN_NULL)) == expected
    if expected is None:
        with pytest.raises(Failure):
            value(Cast(type=type, input=literal, failure_behavior=THROW))
        with pytest.raises(Undetermined):
            value(Cast(type=type, input=literal))


@pytest.mark.parametrize(
    ("literal", "type"),
    [
        (lit(FP64(), 2.5), INT_),
        (lit(Decimal(precision=3, scale=2), "1.25"), Decimal(precision=2, scale=1, nullable=True)),
        (lit(FP64(), 1.0), TEXT_),
        (text("abcd"), VarChar(length=3, nullable=True)),
        (text(" 1"), INT_),
        (lit(PrecisionTimestamp(precision=3), 1), PrecisionTimestamp(precision=0, nullable=True)),
    ],
)
def test_open_casts(literal: Literal, type: Type) -> None:
    with pytest.raises(Undetermined):
        value(Cast(type=type, input=literal, failure_behavior=RETURN_NULL))


def test_the_choice_how_decimals_are_rounded() -> None:
    cast = Cast(type=Decimal(precision=2, scale=1), input=lit(Decimal(precision=3, scale=2), "1.25"))
    assert value(cast, Choices(decimal_rounding=decimal.ROUND_HALF_UP)) == decimal.Decimal("1.3")
    divided = call("divide", lit(Decimal(precision=2, scale=0), 1), lit(Decimal(precision=2, scale=0), 3))
    assert value(divided, Choices(decimal_rounding=decimal.ROUND_HALF_UP)) == decimal.Decimal("0.333333")
    with pytest.raises(Undetermined):
        value(divided)


def test_what_is_not_covered_is_named() -> None:
    with pytest.raises(NotCovered, match=r"functions_string\.regexp_replace"):
        value(call("regexp_replace", text("a"), text("b"), text("c")))


def test_plans_nested_deep() -> None:
    deep: Expression = number(0)
    for _ in range(2000):
        deep = call("negate", deep)
    assert value(deep) == 0


def test_decimals_are_exact() -> None:
    wide = Decimal(precision=38, scale=0)
    nines = 10**38 - 1
    assert value(call("subtract", lit(wide, nines), lit(wide, nines - 1))) == 1
    table = values([wide], [(nines,), (nines - 1,)])
    top = plans.group(table, [], [plans.aggregate("min", col(table, 0))])
    assert evaluate(plans.plan(top), {}).rows == [(decimal.Decimal(nines - 1),)]


def test_an_overflow_is_open_without_its_option() -> None:
    with pytest.raises(Undetermined):
        value(call("add", lit(with_nullability(LONG, False), 2**63 - 1), plans.long(1)))
