"""Plans for the consumers of substrait-java: Isthmus and substrait-spark."""

from __future__ import annotations

from dataclasses import replace

import pytest

import pyspark_substrait as ps
from fuzz.plans import rooted
from fuzz.relations import column
from fuzz.tables import TABLES, read
from pyspark_substrait.engines.constructors import compared
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import (
    Cast,
    CurrentRow,
    Expression,
    FailureBehavior,
    FieldReference,
    Following,
    Function,
    IfClause,
    IfThen,
    InPredicate,
    OuterReference,
    Preceding,
    PredicateOp,
    ScalarFunction,
    ScalarSubquery,
    SetPredicate,
    SortDirection,
    SortField,
    StructField,
    WindowFunction,
)
from pyspark_substrait.model.literals import DayTime, Literal
from pyspark_substrait.model.relations import (
    Aggregate,
    ConsistentPartitionWindow,
    Filter,
    Grouping,
    Join,
    JoinType,
    Measure,
    Project,
    Reference,
    Relation,
    RelCommon,
    Set,
    SetOp,
)
from pyspark_substrait.model.types import I32, I64, Boolean, Date, Decimal, IntervalDay, PrecisionTimestamp
from tests.engines.test_targets import DAY, NUMBER, TABLE, TEXT, TRUTH, call, plan, projected, relations, root
from tests.reference import Choices, evaluate
from tests.spark.plans import aggregate, lit, number

BOTH = pytest.mark.parametrize("target", ["isthmus", "substrait-spark"])
OWN = "extension:pyspark_substrait:functions_spark_arithmetic"


def adapted(input: Relation, target: str = "substrait-spark") -> Relation:
    return root(ps.for_target(plan(input), target))


def expression(value: Expression, target: str = "substrait-spark") -> Expression:
    made = adapted(projected(value), target)
    assert isinstance(made, Project)
    return made.expressions[0]


@BOTH
def test_the_filter_of_a_read_stands_above_it(target: str) -> None:
    """Both look at nothing but the name of a read."""
    made = adapted(replace(TABLE, filter=TRUTH, common=RelCommon(emit=(2, 0))), target)
    assert isinstance(made, Filter)
    assert made.condition == TRUTH
    assert made.common.emit == (2, 0)
    assert made.input == TABLE
    assert adapted(replace(TABLE, best_effort_filter=TRUTH), target) == TABLE


def test_a_global_aggregate_has_an_empty_grouping_set() -> None:
    made = adapted(Aggregate(input=TABLE, measures=(Measure(measure=aggregate("count")),)))
    assert isinstance(made, Aggregate)
    assert made.groupings == (Grouping(()),)


def test_every_aggregate_has_an_emit() -> None:
    """substrait-spark drops the emit of a projection over an aggregate without one; those of subqueries count too."""
    counted = Aggregate(input=TABLE, groupings=(Grouping((0,)),), grouping_expressions=(TEXT,))
    within = ScalarSubquery(input=counted)
    for found in relations(adapted(Project(common=RelCommon(emit=(4, 0)), input=TABLE, expressions=(within,)))):
        assert not isinstance(found, Aggregate) or found.common.emit is not None
    made = adapted(Project(common=RelCommon(emit=(1,)), input=counted, expressions=(lit(I64(), 1),)))
    assert isinstance(made.inputs[0], Aggregate)
    assert made.inputs[0].common.emit == (0,)


@pytest.mark.parametrize(
    "op",
    [
        SetOp.UNION_DISTINCT,
        SetOp.INTERSECTION_PRIMARY,
        SetOp.INTERSECTION_MULTISET,
        SetOp.MINUS_PRIMARY,
        SetOp.INTERSECTION_MULTISET_ALL,
        SetOp.MINUS_PRIMARY_ALL,
    ],
)
def test_set_operations_are_groupings(op: SetOp) -> None:
    facts = read("facts")
    some = [Filter(input=facts, condition=compared("lt", column(0, facts.schema), number(n))) for n in (7, 8)]
    inputs: list[Relation] = [facts, *some]
    members = [Project.only(input, [column(1, facts.schema), column(3, facts.schema)]) for input in inputs]
    given = rooted(Set(members=tuple(members), op=op, common=RelCommon(emit=(1, 0))))
    made = ps.for_target(given, "substrait-spark")
    assert root(made).schema == root(given).schema
    assert {found.op for found in relations(root(made)) if isinstance(found, Set)} == {SetOp.UNION_ALL}
    if op.name.endswith("_ALL"):  # the number of a copy is any of several to the evaluator
        return
    expected, found = (evaluate(one, TABLES, choices=Choices()) for one in (given, made))
    assert expected.difference_of_rows(found.rows) is None
    assert found.rows


def test_isthmus_has_set_operations() -> None:
    given = Set(members=(TABLE, TABLE), op=SetOp.MINUS_PRIMARY)
    assert adapted(given, "isthmus") == given


def window(name: str, *sorts: Expression, by: tuple[Expression, ...] = ()) -> WindowFunction:
    return WindowFunction(
        function=Function("extension:io.substrait:functions_arithmetic", name, ""),
        arguments=(),
        output_type=I64(),
        derived_type=I64(),
        partitions=by,
        sorts=tuple(SortField(expr=sort, sort_kind=SortDirection.ASC_NULLS_FIRST) for sort in sorts),
    )


def test_window_functions_stand_in_relations() -> None:
    ranks = window("rank", NUMBER, by=(TEXT,)), window("row_number", NUMBER, by=(TEXT,)), window("rank", TEXT)
    sum = call("add", ranks[0], ranks[1])
    given = Project(common=RelCommon(emit=(0, 5, 4)), input=TABLE, expressions=(sum, ranks[2]))
    made = adapted(given)
    assert made.schema == given.schema
    assert isinstance(made, Project)
    frames = [found for found in relations(made) if isinstance(found, ConsistentPartitionWindow)]
    assert [[one.function.name for one in found.window_functions] for found in frames] == [
        ["rank"],
        ["rank", "row_number"],
    ]
    assert frames[1].partition_expressions == (TEXT,)
    assert all(one.upper_bound == CurrentRow() for found in frames for one in found.window_functions), "as Spark wants"
    assert adapted(given, "isthmus") == replace(
        given, common=RelCommon(emit=(4, 5, 6)), expressions=(NUMBER, ranks[2], sum)
    )


@BOTH
def test_frames_have_their_offsets_where_substrait_java_looks_for_them(target: str) -> None:
    sum = replace(
        window("sum", TEXT),
        arguments=(NUMBER,),
        lower_bound=Preceding(lit(I64(), 2)),
        upper_bound=Following(lit(I64(), 1)),
    )
    text = ps.for_target(plan(projected(sum)), target).to_json()
    assert {'"offset": "2"' in text, '"offset": "1"' in text} == {True}, text


@BOTH
def test_post_join_filters_are_filters(target: str) -> None:
    given = Join(left=TABLE, right=TABLE, type=JoinType.LEFT, expression=lit(Boolean(), True), post_join_filter=TRUTH)
    made = adapted(given, target)
    assert isinstance(made, Filter)
    assert isinstance(made.input, Join)
    assert made.input.post_join_filter is None


def test_in_is_only_where_nulls_count_as_false() -> None:
    one = Project.only(TABLE, [NUMBER])
    contains = InPredicate(needles=(NUMBER,), haystack=one)
    kept = adapted(Filter(input=TABLE, condition=contains))
    assert isinstance(kept, Filter)
    assert isinstance(kept.condition, InPredicate)
    with pytest.raises(UnsupportedPlanError, match=r"gives false where IN is null.*optimized=True"):
        adapted(projected(contains))


@BOTH
def test_conditions_have_an_else(target: str) -> None:
    made = expression(IfThen(ifs=(IfClause(TRUTH, NUMBER),)), target)
    assert isinstance(made, IfThen)
    assert made.else_ == Literal(type=I64(nullable=True), value=None)


def test_functions_that_substrait_spark_lacks_are_made_of_others() -> None:
    equal = call("equal", NUMBER, NUMBER)
    assert expression(call("not_equal", NUMBER, NUMBER)) == call("not", equal)
    assert expression(call("between", NUMBER, NUMBER, lit(I64(), 3))) == call(
        "and", call("gte", NUMBER, NUMBER), call("lte", NUMBER, lit(I64(), 3))
    )
    assert expression(call("not_equal", NUMBER, NUMBER), "isthmus") == call("not_equal", NUMBER, NUMBER)


@BOTH
def test_sparks_division_is_that_of_the_specification(target: str) -> None:
    number = Decimal(precision=7, scale=2)
    type = Decimal(precision=17, scale=10)
    values = (Literal(type=number, value=None), Literal(type=number, value=None))
    given = ScalarFunction(
        function=Function(OWN, "divide", "dec_dec"), arguments=values, output_type=type, derived_type=type
    )
    made = expression(given, target)
    if target == "substrait-spark":
        assert isinstance(made, Cast)
        assert made.type == type
        made = made.input
    assert isinstance(made, ScalarFunction)
    assert made.function == Function("extension:io.substrait:functions_arithmetic_decimal", "divide", "dec_dec")
    other = replace(given, function=Function(OWN, "try_divide", "dec_dec"))
    with pytest.raises(UnsupportedPlanError, match="has no function try_divide:dec_dec"):
        expression(other, target)


def test_a_date_and_days_are_a_function_of_substrait_spark() -> None:
    days = Literal(type=IntervalDay(precision=6), value=DayTime(days=5, seconds=0, subseconds=0))
    type = PrecisionTimestamp(precision=6, nullable=True)
    later = ScalarFunction(
        function=Function("extension:io.substrait:functions_datetime", "add", "date_iday"),
        arguments=(DAY, days),
        output_type=type,
        derived_type=type,
    )
    day = Cast(type=Date(nullable=True), input=later, failure_behavior=FailureBehavior.THROW_EXCEPTION)
    made = expression(day)
    assert isinstance(made, ScalarFunction)
    assert made.function == Function("extension:substrait:spark", "add", "date_i32")
    assert made.arguments == (DAY, Literal(type=I32(), value=5))
    with pytest.raises(UnsupportedPlanError, match="no form for add:date_iday"):
        expression(later)


def test_a_column_that_is_there_twice_is_computed_once_more() -> None:
    """Spark tells columns by their identity: those of a union would be one."""
    made = adapted(projected(NUMBER, NUMBER))
    assert isinstance(made, Project)
    assert made.expressions[0] == NUMBER
    assert made.expressions[1] == Cast(type=NUMBER.type, input=NUMBER, failure_behavior=FailureBehavior.THROW_EXCEPTION)


@BOTH
def test_shared_subtrees_are_repeated(target: str) -> None:
    shared = Reference(subtree_ordinal=0, subtree=TABLE)
    given = replace(plan(Filter(input=shared, condition=TRUTH)))
    made = ps.for_target(given, target)
    assert root(made) == Filter(input=TABLE, condition=TRUTH)


OUTER = FieldReference(root=OuterReference(steps_out=1), reference=(StructField(0),), type=I64())


@pytest.mark.parametrize(
    ("target", "given", "message"),
    [
        (
            "substrait-spark",
            Filter(input=TABLE, condition=SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=TABLE)),
            "does not take SetPredicate.*optimized=True",
        ),
        (
            "substrait-spark",
            Filter(input=TABLE, condition=call("equal", OUTER, NUMBER)),
            "takes no correlated subqueries.*optimized=True",
        ),
        (
            "substrait-spark",
            projected(Cast(type=I32(nullable=True), input=TEXT, failure_behavior=FailureBehavior.RETURN_NULL)),
            "no casts that give null",
        ),
        (
            "isthmus",
            Join(left=TABLE, right=TABLE, type=JoinType.LEFT_MARK, expression=lit(I64(), 1)),
            "no left mark join",
        ),
        ("isthmus", Set(members=(TABLE, TABLE), op=SetOp.MINUS_MULTISET), "no set operation `minus multiset`"),
    ],
)
def test_what_they_lack_is_refused(target: str, given: Relation, message: str) -> None:
    with pytest.raises(UnsupportedPlanError, match=message):
        adapted(given, target)
