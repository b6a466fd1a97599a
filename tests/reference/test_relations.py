"""The evaluator's relations: the examples of the specification (site/docs/relations), and rows worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from pyspark_substrait.model.expressions import (
    AggregateFunction,
    AggregationPhase,
    FieldReference,
    FunctionOption,
    SortDirection,
)
from pyspark_substrait.model.masks import MaskExpression, StructItem, StructSelect
from pyspark_substrait.model.relations import (
    Broadcast,
    ComparisonJoinKey,
    Cross,
    Exchange,
    Expand,
    Fetch,
    FetchMode,
    HashJoin,
    JoinType,
    Measure,
    MergeJoin,
    NestedLoopJoin,
    Read,
    Reference,
    RelationBase,
    Set,
    SetOp,
    SimpleComparisonType,
    SingleBucketExpression,
    Sort,
    SwitchingField,
    TopN,
    VirtualTable,
)
from pyspark_substrait.model.types import (
    Struct,
    Type,
)
from tests.reference import Choices, Failure, NotCovered, Result, Undetermined, evaluate
from tests.spark import plans
from tests.spark.plans import INT, INT_, LONG, REAL_, TEXT, TEXT_, col, emit, number, values

NAN = float("nan")


def run(relation: RelationBase, *others: RelationBase, **tables: pa.Table) -> Result:
    return evaluate(plans.plan(relation, (), *others), tables)


def rows(relation: RelationBase, **tables: pa.Table) -> list[tuple[Any, ...]]:
    """The rows, in an order of their own."""
    return plans.ordered(run(relation, **tables).rows)


def column(*numbers: int | None) -> Read:
    return values([INT_], [(item,) for item in numbers])


# sets ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "primary", "first", "second", "expected"),
    [
        (SetOp.MINUS_PRIMARY, [1, 2, 2, 3, 3, 3, 4], [1, 2], [3], [4]),
        (SetOp.MINUS_PRIMARY_ALL, [1, 2, 2, 3, 3, 3, 3], [1, 2, 3, 4], [3], [2, 3, 3]),
        (SetOp.MINUS_MULTISET, [1, 2, 3, 4], [1, 2], [1, 2, 3], [3, 4]),
        (SetOp.INTERSECTION_PRIMARY, [1, 2, 2, 3, 3, 3, 4], [1, 2, 3, 5], [2, 3, 6], [1, 2, 3]),
        (SetOp.INTERSECTION_MULTISET, [1, 2, 3, 4], [2, 3], [3, 4], [3]),
        (SetOp.INTERSECTION_MULTISET_ALL, [1, 2, 2, 3, 3, 3, 4], [1, 2, 3, 3, 5], [2, 3, 3, 6], [2, 3, 3]),
        (SetOp.UNION_DISTINCT, [1, 2, 2, 3, 3, 3, 4], [2, 3, 5], [1, 6], [1, 2, 3, 4, 5, 6]),
        (SetOp.UNION_ALL, [1, 2, 2, 3, 3, 3, 4], [2, 3, 5], [1, 6], [1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 5, 6]),
    ],
)
def test_the_examples_of_the_set_operations(
    op: SetOp, primary: list[int], first: list[int], second: list[int], expected: list[int]
) -> None:
    relation = Set(members=(column(*primary), column(*first), column(*second)), op=op)
    assert rows(relation) == [(item,) for item in expected]


def test_null_matches_null_in_sets() -> None:
    one, other = column(None, 1, 3), column(None, 2, 4)
    assert rows(Set(members=(one, other), op=SetOp.MINUS_PRIMARY)) == [(1,), (3,)]
    assert rows(Set(members=(one, other), op=SetOp.INTERSECTION_MULTISET)) == [(None,)]
    assert rows(Set(members=(one, other), op=SetOp.UNION_DISTINCT)) == [(1,), (2,), (3,), (4,), (None,)]


# joins ---------------------------------------------------------------------------------------------------------------

LEFT = values([INT_, TEXT], [(1, "a"), (2, "b"), (2, "c"), (None, "d")])
RIGHT = values([INT_, TEXT], [(2, "x"), (3, "y"), (None, "z")])
ON = plans.call("equal", col(plans.both(LEFT, RIGHT), 0), col(plans.both(LEFT, RIGHT), 2))
MATCHES = [(2, "b", 2, "x"), (2, "c", 2, "x")]
ALONE = [(1, "a", None, None), (None, "d", None, None)]
ALONE_RIGHT = [(None, None, 3, "y"), (None, None, None, "z")]


@pytest.mark.parametrize(
    ("type", "expected"),
    [
        ("INNER", MATCHES),
        ("OUTER", MATCHES + ALONE + ALONE_RIGHT),
        ("LEFT", MATCHES + ALONE),
        ("RIGHT", MATCHES + ALONE_RIGHT),
        ("LEFT_SEMI", [(2, "b"), (2, "c")]),
        ("RIGHT_SEMI", [(2, "x")]),
        ("LEFT_ANTI", [(1, "a"), (None, "d")]),
        ("RIGHT_ANTI", [(3, "y"), (None, "z")]),
        ("LEFT_SINGLE", MATCHES + ALONE),
        # 1 = null and 2 = null are null; without any true one, the mark is null then
        ("LEFT_MARK", [(1, "a", None), (2, "b", True), (2, "c", True), (None, "d", None)]),
        ("RIGHT_MARK", [(2, "x", True), (3, "y", None), (None, "z", None)]),
    ],
)
def test_join_types(type: str, expected: list[tuple[Any, ...]]) -> None:
    relation = plans.join(LEFT, RIGHT, ON, getattr(JoinType, type))
    assert rows(relation) == plans.ordered(expected)


def test_a_single_join_fails_on_several_partners() -> None:
    with pytest.raises(Failure):
        run(plans.join(LEFT, RIGHT, ON, JoinType.RIGHT_SINGLE))


def test_a_mark_is_false_without_a_partner() -> None:
    left, right = values([INT], [(1,)]), values([INT], [(2,)])
    on = plans.call("equal", col(plans.both(left, right), 0), col(plans.both(left, right), 1))
    assert rows(plans.join(left, right, on, JoinType.LEFT_MARK)) == [(1, False)]
    nothing = values([INT], [])
    assert rows(plans.join(left, nothing, on, JoinType.LEFT_MARK)) == [(1, False)]


def test_a_post_join_filter_is_a_filter_above() -> None:
    both = plans.both(LEFT, RIGHT)
    late = plans.call("is_null", col(both, 2))
    assert rows(plans.join(LEFT, RIGHT, ON, JoinType.LEFT, post_join_filter=late)) == plans.ordered(ALONE)


def test_cross_products() -> None:
    assert rows(Cross(left=column(1, 2), right=column(3), common=emit(1, 0))) == [(3, 1), (3, 2)]


# aggregates ----------------------------------------------------------------------------------------------------------

SALES = values([TEXT_, TEXT, INT_], [("n", "x", 1), ("n", "y", 2), ("s", "x", None), (None, "x", 4)])


def test_grouping_sets_and_their_numbers() -> None:
    relation = plans.group(
        SALES,
        [col(SALES, 0), col(SALES, 1)],
        [plans.aggregate("sum", col(SALES, 2)), plans.aggregate("count", col(SALES, 2))],
        sets=[[0, 1], [0], []],
    )
    assert rows(relation) == plans.ordered(
        [
            ("n", "x", 1, 1, 0),
            ("n", "y", 2, 1, 0),
            ("s", "x", None, 0, 0),
            (None, "x", 4, 1, 0),
            ("n", None, 3, 2, 1),
            ("s", None, None, 0, 1),
            (None, None, 4, 1, 1),
            (None, None, 7, 3, 2),
        ]
    )


def test_no_records_make_one_group_without_keys_and_none_with() -> None:
    nothing = values([INT], [])
    total = [plans.aggregate("count"), plans.aggregate("sum", col(nothing, 0))]
    assert rows(plans.group(nothing, [], total)) == [(0, None)]
    assert rows(plans.group(nothing, [col(nothing, 0)], total)) == []


def test_filters_and_distinct_values_of_measures() -> None:
    source = column(1, 1, 2, None)
    large = plans.call("gt", col(source, 0), number(1))
    counted = plans.aggregate("count", col(source, 0), distinct=True)
    measures: list[Any] = [counted, Measure(measure=plans.aggregate("count"), filter=large)]
    assert rows(plans.group(source, [], measures)) == [(2, 1)]


def test_only_determined_aggregates() -> None:
    reals = values([REAL_], [(0.1,), (0.2,), (0.3,)])
    total = plans.group(reals, [], [plans.aggregate("sum", col(reals, 0))])
    with pytest.raises(Undetermined):
        run(total)
    nearest = evaluate(plans.plan(total), {}, choices=Choices(nearest=True))
    assert nearest.difference(pa.table({"n": [0.6000000000000001]}), tolerance=1e-9) is None
    assert nearest.difference(pa.table({"n": [0.61]}), tolerance=1e-9) is not None
    halves = values([REAL_], [(0.5,), (1e6,), (-0.25,)])
    assert rows(plans.group(halves, [], [plans.aggregate("sum", col(halves, 0))])) == [(1000000.25,)]
    some = column(1, 2)
    with pytest.raises(Undetermined):
        run(plans.group(some, [], [plans.aggregate("any_value", col(some, 0))]))
    same = column(2, 2)
    assert rows(plans.group(same, [], [plans.aggregate("any_value", col(same, 0))])) == [(2,)]


def test_an_overflow_in_between_depends_on_the_order() -> None:
    top = 2**63 - 1
    for items, options in (([top, 1, -1], ()), ([top, 1, -1], ERROR), ([-top, -2, 1], ERROR)):
        source = values([LONG], [(item,) for item in items])
        total = replace(plans.aggregate("sum", col(source, 0)), options=options)
        with pytest.raises(Undetermined):
            run(plans.group(source, [], [total]))
    source = values([LONG], [(top,), (-1,), (1 - top,)])
    total = replace(plans.aggregate("sum", col(source, 0)), options=ERROR)
    assert rows(plans.group(source, [], [total])) == [(0,)]


ERROR = (FunctionOption("overflow", ("ERROR",)),)


def test_any_value_beside_nulls() -> None:
    source = column(None, 4, None)
    call = plans.aggregate("any_value", col(source, 0))
    with pytest.raises(Undetermined):
        run(plans.group(source, [], [call]))
    ignoring = replace(call, options=(FunctionOption("ignore_nulls", ("TRUE",)),))
    assert rows(plans.group(source, [], [ignoring])) == [(4,)]


def test_an_ordered_aggregate_needs_an_order() -> None:
    words = values([TEXT, INT], [("a", 2), ("b", 1), ("c", 1)])

    def joined(*sorts: Any) -> RelationBase:
        measure = plans.aggregate("string_agg", col(words, 0), plans.text(","), sorts=sorts)
        return plans.group(words, [], [measure])

    with pytest.raises(Undetermined):
        run(joined())
    with pytest.raises(Undetermined):
        run(joined(plans.sort(col(words, 1))))
    assert rows(joined(plans.sort(col(words, 1)), plans.sort(col(words, 0)))) == [("b,c,a",)]


# orders --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("direction", "expected"),
    [
        (SortDirection.ASC_NULLS_FIRST, [None, 1, 2]),
        (SortDirection.ASC_NULLS_LAST, [1, 2, None]),
        (SortDirection.DESC_NULLS_FIRST, [None, 2, 1]),
        (SortDirection.DESC_NULLS_LAST, [2, 1, None]),
    ],
)
def test_sort_directions(direction: SortDirection, expected: list[int | None]) -> None:
    source = column(2, None, 1)
    result = run(Sort(input=source, sorts=(plans.sort(col(source, 0), direction),)))
    assert result.runs == tuple(((item,),) for item in expected)


def test_equal_keys_are_in_no_order() -> None:
    source = values([INT, TEXT], [(2, "a"), (1, "b"), (2, "c")])
    ordered = Sort(input=source, sorts=(plans.sort(col(source, 0)),))
    result = run(ordered)
    assert [len(part) for part in result.runs] == [1, 2]
    assert result.difference(pa.table({"n": [1, 2, 2], "m": ["b", "c", "a"]})) is None
    assert result.difference(pa.table({"n": [2, 1, 2], "m": ["a", "b", "c"]})) is not None
    assert rows(Fetch(input=ordered, count_expr=plans.long(1))) == [(1, "b")]
    with pytest.raises(Undetermined):
        run(Fetch(input=ordered, count_expr=plans.long(2)))


def test_zeros_are_equal_and_nan_is_open() -> None:
    zeros = values([REAL_], [(0.0,), (-0.0,), (-1.0,)])
    sorts = (plans.sort(col(zeros, 0)),)
    assert [len(part) for part in run(Sort(input=zeros, sorts=sorts)).runs] == [1, 2]
    source = values([REAL_], [(NAN,), (1.0,), (None,)])
    relation = Sort(input=source, sorts=(plans.sort(col(source, 0), SortDirection.DESC_NULLS_LAST),))
    with pytest.raises(Undetermined):
        run(relation)
    largest = evaluate(plans.plan(relation), {}, choices=Choices(nan_is_largest=True))
    assert str(largest.rows) == "[(nan,), (1.0,), (None,)]"


def test_fetch() -> None:
    source = column(3, 1, 2)
    ordered = Sort(input=source, sorts=(plans.sort(col(source, 0)),))
    assert run(Fetch(input=ordered, offset_expr=plans.long(1), count_expr=plans.long(1))).rows == [(2,)]
    assert run(Fetch(input=ordered, offset_expr=plans.long(2), count_expr=plans.long(None))).rows == [(3,)]
    assert run(Fetch(input=ordered, offset_expr=plans.long(None), count_expr=plans.long(0))).rows == []
    assert len(run(Fetch(input=source, count_expr=plans.long(3))).rows) == 3
    with pytest.raises(Undetermined):
        run(Fetch(input=source, count_expr=plans.long(1)))
    with pytest.raises(Failure):
        run(Fetch(input=ordered, count_expr=plans.long(-1)))


def test_which_of_equal_records_a_fetch_takes_is_no_question() -> None:
    assert run(Fetch(input=column(5, 5, 5), offset_expr=plans.long(1), count_expr=plans.long(1))).rows == [(5,)]


def test_the_first_with_their_ties() -> None:
    source = values([INT, TEXT], [(2, "a"), (1, "b"), (2, "c"), (3, "d")])
    sorts = (plans.sort(col(source, 0)),)
    ties = TopN(input=source, sorts=sorts, count=plans.long(2), mode=FetchMode.WITH_TIES)
    assert rows(ties) == [(1, "b"), (2, "a"), (2, "c")]
    with pytest.raises(Undetermined):
        run(TopN(input=source, sorts=sorts, count=plans.long(2), mode=FetchMode.ROWS_ONLY))


# reads, emit, expand, references -------------------------------------------------------------------------------------


def test_a_filter_sees_the_columns_before_the_projection() -> None:
    table = pa.table({"b": ["x", "y"], "a": pa.array([1, 2], pa.int32())})
    read = plans.stored("t", {"a": INT, "b": TEXT})
    projection = MaskExpression(select=StructSelect((StructItem(1),)))
    condition = plans.call("gt", col(read, 0), number(1))
    read = plans.stored("t", {"a": INT, "b": TEXT}, filter=condition, projection=projection)
    assert rows(read, t=table) == [("y",)]
    with pytest.raises(NotCovered, match="table t"):
        run(read)
    with pytest.raises(NotCovered, match=r"None in a column of i32"):
        run(read, t=pa.table({"b": ["x"], "a": pa.array([None], pa.int32())}))


def test_a_mask_unwraps_a_single_field_of_a_nested_struct() -> None:
    kind = Struct(types=(INT, TEXT))
    read = values([kind, INT], [((1, "a"), 2)])
    inner = StructSelect((StructItem(0, StructSelect((StructItem(1),))),))
    for maintain, expected in ((False, ("a",)), (True, (("a",),))):
        mask = MaskExpression(select=inner, maintain_singular_struct=maintain)
        masked = Read(base_schema=read.base_schema, read_type=read.read_type, projection=mask)
        assert rows(masked) == [expected]


def test_a_virtual_table_computes_its_records() -> None:
    assert isinstance(column().read_type, VirtualTable)
    sum_ = plans.call("add", number(1), number(2))
    assert rows(values([INT], [(sum_,)])) == [(3,)]


def test_emit_of_any_relation() -> None:
    source = values([INT, TEXT], [(2, "a"), (1, "b")], common=emit(1, 0, 1))
    assert rows(source) == [("a", 2, "a"), ("b", 1, "b")]
    kept = plans.where(source, plans.call("gt", col(source, 1), number(1)), common=emit(1))
    assert rows(kept) == [(2,)]


def test_expand() -> None:
    source = values([INT, TEXT], [(1, "a"), (2, "b")])
    switching = SwitchingField((col(source, 0), plans.number(None)))
    relation = Expand(input=source, fields=(switching,))
    assert rows(relation) == plans.ordered([(1, "a", 0), (None, "a", 1), (2, "b", 0), (None, "b", 1)])


def test_references_to_another_tree() -> None:
    shared = column(1, 2)
    one = Reference(subtree_ordinal=1, subtree=shared)
    union = Set(members=(one, one), op=SetOp.UNION_ALL)
    assert plans.ordered(run(union, shared).rows) == [(1,), (1,), (2,), (2,)]


def test_columns_of_tables_are_found_by_name() -> None:
    read = plans.stored(("s", "t"), {"b": LONG, "a": LONG})
    table = pa.table({"a": [1], "b": [2], "c": [3]})
    assert evaluate(plans.plan(read), {"s.t": table}).rows == [(2, 1)]


# physical relations --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("comparison", "expected"),
    [
        (SimpleComparisonType.EQ, [(2, "b", 2, "x"), (2, "c", 2, "x")]),
        (SimpleComparisonType.IS_NOT_DISTINCT_FROM, [(2, "b", 2, "x"), (2, "c", 2, "x"), (None, "d", None, "z")]),
        (
            # a = b OR isnull(a = b)
            SimpleComparisonType.MIGHT_EQUAL,
            [
                (1, "a", None, "z"),
                (2, "b", 2, "x"),
                (2, "b", None, "z"),
                (2, "c", 2, "x"),
                (2, "c", None, "z"),
                (None, "d", 2, "x"),
                (None, "d", 3, "y"),
                (None, "d", None, "z"),
            ],
        ),
    ],
)
def test_comparisons_of_join_keys(comparison: SimpleComparisonType, expected: list[tuple[Any, ...]]) -> None:
    key = ComparisonJoinKey(left=col(LEFT, 0), right=col(RIGHT, 0), comparison=comparison)
    for kind in (HashJoin, MergeJoin):
        join = kind(left=LEFT, right=RIGHT, type=JoinType.INNER, keys=(key,))
        assert rows(join) == plans.ordered(expected)


def test_a_residual_decides_which_records_match() -> None:
    key = ComparisonJoinKey(left=col(LEFT, 0), right=col(RIGHT, 0))
    residual = plans.call("equal", col(plans.both(LEFT, RIGHT), 1), plans.text("b"))
    join = HashJoin(left=LEFT, right=RIGHT, type=JoinType.LEFT, keys=(key,), residual_expression=residual)
    assert rows(join) == plans.ordered([*ALONE, (2, "b", 2, "x"), (2, "c", None, None)])


def test_a_nested_loop_join_without_an_expression_pairs_everything() -> None:
    join = NestedLoopJoin(left=column(1, 2), right=column(3), type=JoinType.INNER)
    assert rows(join) == [(1, 3), (2, 3)]


def test_an_exchange_moves_records_only() -> None:
    source = column(2, 1)
    ordered = Sort(input=source, sorts=(plans.sort(col(source, 0)),))
    exchange = Exchange(input=ordered, exchange_kind=SingleBucketExpression(col(source, 0)))
    assert run(exchange).runs == (((1,),), ((2,),))
    with pytest.raises(NotCovered):
        run(Exchange(input=source, exchange_kind=Broadcast()))


def test_aggregation_in_two_steps() -> None:
    source = values([INT, INT_], [(1, 5), (1, None), (2, 7)])
    parts = plans.group(
        source, [col(source, 0)], [_step("count", col(source, 1), to_result=False), _step("sum", col(source, 1))]
    )
    whole = plans.group(
        parts, [], [_step("count", col(parts, 1), to_result=True), _step("sum", col(parts, 2), to_result=True)]
    )
    assert rows(parts) == [(1, 1, 5), (2, 1, 7)]
    assert rows(whole) == [(2, 12)]


def test_a_part_of_a_sum_cannot_saturate() -> None:
    # the bound in the place of the part would make the whole wrong
    source = values([LONG], [(2**63 - 1,), (1,)])
    saturating = replace(_step("sum", col(source, 0)), options=(FunctionOption("overflow", ("SATURATE",)),))
    with pytest.raises(Undetermined):
        run(plans.group(source, [], [saturating]))
    assert rows(plans.group(source, [], [replace(saturating, phase=FINAL)])) == [(2**63 - 1,)]


def test_an_average_in_two_steps() -> None:
    # the extension's intermediate type: the sum and the count
    source = values([INT, INT_], [(1, 5), (1, None), (2, 7), (2, 8)])
    parts = plans.group(source, [col(source, 0)], [_average(col(source, 1), PARTIAL, SUM_AND_COUNT)])
    assert rows(parts) == [(1, (5, 1)), (2, (15, 2))]
    whole = plans.group(parts, [], [_average(col(parts, 1), FINAL, INT_)])
    # 20 / 3, truncated
    assert rows(whole) == [(6,)]


PARTIAL, FINAL = AggregationPhase.INITIAL_TO_INTERMEDIATE, AggregationPhase.INTERMEDIATE_TO_RESULT
SUM_AND_COUNT = Struct(types=(LONG, LONG))


def _average(argument: FieldReference, phase: AggregationPhase, type: Type) -> AggregateFunction:
    call = plans.aggregate("avg", plans.number(0))
    return replace(call, arguments=(argument,), phase=phase, output_type=type, derived_type=type)


def _step(name: str, argument: FieldReference, *, to_result: bool = False) -> AggregateFunction:
    phase = AggregationPhase.INTERMEDIATE_TO_RESULT if to_result else AggregationPhase.INITIAL_TO_INTERMEDIATE
    return replace(plans.aggregate(name, argument), phase=phase)
