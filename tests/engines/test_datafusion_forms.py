"""Relations, expressions and subqueries that DataFusion lacks, or answers differently: what the target gives it instead
has the rows of the reference evaluator, or is refused with its place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import pyspark_substrait as ps
from fuzz.plans import OF_RELATIONS, rooted
from fuzz.plans import plan as random_plan
from fuzz.relations import column
from fuzz.tables import TABLES, read
from pyspark_substrait.documents import Plan
from pyspark_substrait.engines import sessions
from pyspark_substrait.engines.constructors import boolean_call, equal
from pyspark_substrait.engines.inner_joins import conjunction
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model import types as t
from pyspark_substrait.model.expressions import Expression, Function
from pyspark_substrait.model.literals import DayTime, Literal
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.types import Struct
from tests.reference import Choices, Failure, NotCovered, Undetermined, evaluate

pytest.importorskip("datafusion")

FEW, FACTS, NESTED, TIMES = (read(name) for name in ("few", "facts", "nested", "times"))
BOTH = Struct(types=(*FEW.schema.types, *FACTS.schema.types))
I32, I64, TEXT = t.I32(), t.I64(), t.String()
CHOICES = Choices(nearest=True, nan_is_largest=True)
THROW = e.FailureBehavior.THROW_EXCEPTION


def number(value: int | None, type: Any = I64) -> Literal:
    return Literal(type=replace(type, nullable=value is None), value=value)


def ascending(*places: int, of: Relation = FACTS, kind: e.SortDirection = e.SortDirection.ASC_NULLS_LAST) -> Any:
    return tuple(e.SortField(expr=column(place, of.schema), sort_kind=kind) for place in places)


def outer(place: int, of: Relation = FEW, steps: int | None = 1, anchor: int | None = None) -> e.FieldReference:
    root = e.OuterReference(steps_out=steps) if anchor is None else e.OuterReference(rel_reference=anchor)
    return e.FieldReference(root=root, reference=(e.StructField(place),), type=of.schema.types[place])


def compared(name: str, left: Expression, right: Expression) -> Expression:
    function = Function("extension:io.substrait:functions_comparison", name, "any_any")
    return boolean_call(function, (left, right), left.type.nullable or right.type.nullable)


def matching(steps: int | None = 1, anchor: int | None = None) -> Relation:
    """The facts whose group is the outer record's key."""
    return r.Filter(input=FACTS, condition=equal(column(1, FACTS.schema), outer(0, steps=steps, anchor=anchor)))


OR, NOT = (Function("extension:io.substrait:functions_boolean", name, "bool") for name in ("or", "not"))


def within(query: Relation) -> Expression:
    """Whether ``n`` of the facts is among ``v`` of a query over the few, which has a null."""
    haystack = r.Project.only(query, [column(1, FEW.schema)])
    return e.InPredicate(needles=(column(2, FACTS.schema),), haystack=haystack)


def negated(condition: Expression) -> Expression:
    return boolean_call(NOT, (condition,), True)


def difference(plan: Plan) -> str | None:
    made = ps.for_target(plan, "datafusion", tables=TABLES)
    assert not [note for note in made.notes if note.rule == "target-value"]
    found = sessions.session("datafusion", TABLES).run(made.to_bytes())
    return evaluate(plan, TABLES, choices=CHOICES).difference(found, tolerance=1e-9)


STRUCTS = r.Project.only(NESTED, [column(0, NESTED.schema), column(2, NESTED.schema)])
COUNT = r.Measure(
    measure=e.AggregateFunction(
        function=Function("extension:io.substrait:functions_aggregate_generic", "count", ""),
        arguments=(),
        output_type=I64,
        derived_type=I64,
    )
)
PAIR = equal(column(1, BOTH), column(5, BOTH))  # few.v = facts.n, which may both be null
RELATIONS: dict[str, Relation] = {
    "top-n": r.TopN(input=FACTS, sorts=ascending(2, 0), count=number(3), offset=number(1)),
    "top-n with ties": r.TopN(input=FACTS, sorts=ascending(2), count=number(3), mode=r.FetchMode.WITH_TIES),
    "top-n with ties and an offset": r.TopN(
        common=r.RelCommon(emit=(2,)), input=FACTS, sorts=ascending(2), count=number(3), offset=number(1),
        mode=r.FetchMode.WITH_TIES,
    ),
    "expand": r.Expand(
        common=r.RelCommon(emit=(3, 1, 0)), input=FEW,
        fields=(r.SwitchingField((column(0, FEW.schema), number(7, I32))), column(1, FEW.schema)),
    ),
    "expand without switching fields": r.Expand(input=FEW, fields=(column(0, FEW.schema),)),
    "a window relation": r.ConsistentPartitionWindow(
        input=FEW,
        window_functions=(
            r.WindowRelFunction(
                function=Function("extension:io.substrait:functions_arithmetic", "rank", ""), arguments=(),
                output_type=t.I64(nullable=True), derived_type=t.I64(nullable=True),
            ),
        ),
        sorts=ascending(0, of=FEW),
    ),
    "a hash join": r.HashJoin(
        left=FEW, right=FACTS, type=r.JoinType.OUTER,
        keys=(
            r.ComparisonJoinKey(
                left=column(1, FEW.schema), right=column(2, FACTS.schema), comparison=r.SimpleComparisonType.EQ
            ),
        ),
    ),
    "a nested loop join": r.NestedLoopJoin(
        left=FEW, right=FACTS, type=r.JoinType.LEFT_SEMI, expression=compared("lt", column(1, BOTH), column(5, BOTH))
    ),
    "a filter after a join": r.Join(
        left=FEW, right=FACTS, type=r.JoinType.LEFT, expression=PAIR,
        post_join_filter=compared("is_not_distinct_from", column(0, BOTH), column(3, BOTH)),
    ),
    "a sort that clusters": r.Aggregate(
        input=r.Sort(input=FACTS, sorts=ascending(1, kind=e.SortDirection.CLUSTERED)), groupings=(r.Grouping((0,)),),
        grouping_expressions=(column(1, FACTS.schema),),
    ),
    "EXISTS above a sort": r.Fetch(
        input=r.Filter(
            common=r.RelCommon(emit=(1, 0)),
            input=r.Sort(input=FEW, sorts=ascending(0, 1, 2, of=FEW, kind=e.SortDirection.DESC_NULLS_LAST)),
            condition=e.SetPredicate(predicate_op=e.PredicateOp.EXISTS, tuples=matching()),
        ),
        count_expr=number(2),
    ),
    "an offset below two sorts and a fetch of all records": r.Fetch(
        input=r.Sort(
            input=r.Fetch(
                input=r.Sort(
                    input=r.Fetch(
                        input=r.Sort(input=FEW, sorts=ascending(0, 1, 2, of=FEW)),
                        offset_expr=number(3), count_expr=number(1),
                    ),
                    sorts=ascending(0, of=FEW, kind=e.SortDirection.DESC_NULLS_LAST),
                ),
            ),
            sorts=ascending(0, of=FEW),
        ),
        count_expr=number(1),
    ),
    "an offset below a sort": r.Sort(
        input=r.Fetch(input=r.Sort(input=TIMES, sorts=ascending(2, 3, of=TIMES)), offset_expr=number(3)),
        sorts=ascending(3, of=TIMES, kind=e.SortDirection.DESC_NULLS_LAST),
    ),
    "an offset without a sort above it": r.Fetch(
        input=r.Sort(
            input=r.Aggregate(
                input=FACTS, groupings=(r.Grouping((0,)),), grouping_expressions=(column(1, FACTS.schema),)
            ),
            sorts=ascending(0, of=r.Project.only(FACTS, [column(1, FACTS.schema)])),
        ),
        offset_expr=number(1),
    ),
    "a join of an aggregate of all records by a condition without columns": r.Join(
        left=r.Aggregate(input=FACTS, groupings=(r.Grouping(()),), measures=(COUNT,)), right=FEW,
        type=r.JoinType.LEFT_SEMI, expression=compared("gt", number(1), number(2)),
    ),
    **{
        f"{op.value} of structs with nulls in order": r.Set(
            members=(r.Sort(input=STRUCTS, sorts=ascending(0, 1, of=STRUCTS)),
                     r.Filter(input=STRUCTS, condition=compared("gt", column(0, STRUCTS.schema), number(1, I32)))),
            op=op,
        )
        for op in (r.SetOp.INTERSECTION_PRIMARY, r.SetOp.INTERSECTION_MULTISET_ALL, r.SetOp.MINUS_MULTISET)
    },
    "a join by columns of one side": r.Join(
        left=FEW, right=FACTS, type=r.JoinType.RIGHT,
        expression=conjunction([PAIR, equal(column(3, BOTH), column(4, BOTH))]),
    ),
    "the same names in inputs of a set": r.Set(
        members=(r.Cross(left=FEW, right=FEW), r.Cross(left=FEW, right=FEW)), op=r.SetOp.MINUS_PRIMARY_ALL
    ),
    "an unknown NOT IN beside another condition": r.Filter(
        input=FACTS, condition=boolean_call(
            OR, (compared("lt", column(0, FACTS.schema), number(2, I32)), negated(within(FEW))), True
        ),
    ),
    "NOT IN a query with outer columns": r.Filter(
        input=FACTS, condition=negated(within(r.Filter(
            input=FEW, condition=compared("lt", outer(0, of=FACTS), column(0, FEW.schema)),
        ))),
    ),
    "a lateral join": r.LateralJoin(
        common=r.RelCommon(rel_anchor=5), left=FEW, right=matching(anchor=5), type=r.JoinType.LEFT, expression=None
    ),
    "a lateral join over an aggregate": r.LateralJoin(
        common=r.RelCommon(rel_anchor=5), left=FEW, type=r.JoinType.INNER, expression=None,
        right=r.Aggregate(input=matching(anchor=5), groupings=(r.Grouping(()),), measures=(COUNT,)),
    ),
    **{
        f"a {kind.value} join whose condition may be null": r.Join(left=FEW, right=FACTS, type=kind, expression=PAIR)
        for kind in (r.JoinType.LEFT_MARK, r.JoinType.RIGHT_MARK)
    },
}  # fmt: skip

V = column(1, FEW.schema)
TEXTS = t.VarChar(length=5)
ONE = r.Project.only(FACTS, [column(2, FACTS.schema)])
EXPRESSIONS: dict[str, Expression] = {
    "a list of records": e.MultiOrList(
        value=(column(0, FEW.schema), V), options=((number(1, I32), number(7)), (number(3, I32), number(None)))
    ),
    "computed alternatives": e.SingularOrList(
        value=number(2, I32),
        options=(
            number(0, I32),
            e.IfThen(ifs=(e.IfClause(compared("gt", V, number(8)), number(None, I32)),), else_=column(0, FEW.schema)),
        ),
    ),
    "a literal of varchar": Literal(type=TEXTS, value="ab"),
    "literals of varchar in a list": Literal(type=t.List(type=TEXTS), value=(Literal(type=TEXTS, value="ab"),)),
    "a literal of time": Literal(type=t.PrecisionTime(precision=6), value=86_399_999_999),
    "a padded text": e.Cast(type=t.FixedChar(length=5), input=Literal(type=TEXTS, value="ab"), failure_behavior=THROW),
    "a map": e.NestedMap(key_values=((Literal(type=TEXT, value="a"), V),)),
    "one condition": boolean_call(
        Function("extension:io.substrait:functions_boolean", "or", "bool"), (compared("gt", V, number(8)),), True
    ),
    "the bits of x and x": e.ScalarFunction(
        function=Function("extension:io.substrait:functions_arithmetic", "bitwise_xor", "i64_i64"),
        arguments=(V, V), output_type=V.type, derived_type=V.type,
    ),
    "a date and hours": e.ScalarFunction(
        function=Function("extension:io.substrait:functions_datetime", "add", "date_iday"),
        arguments=(
            Literal(type=t.Date(), value=1), Literal(type=t.IntervalDay(precision=6), value=DayTime(1, 3600, 0))
        ),
        output_type=t.PrecisionTimestamp(precision=6), derived_type=t.PrecisionTimestamp(precision=6),
    ),
    "unique": e.SetPredicate(
        predicate_op=e.PredicateOp.UNIQUE, tuples=r.Project.only(matching(), [column(2, FACTS.schema)])
    ),
    "several needles": e.InPredicate(
        needles=(column(0, FEW.schema), V),
        haystack=r.Project.only(FACTS, [column(0, FACTS.schema), column(2, FACTS.schema)]),
    ),
    "a needle that is a literal": e.InPredicate(needles=(number(7),), haystack=ONE),
    "a comparison with all": e.SetComparison(
        reduction_op=e.ReductionOp.ALL, comparison_op=e.ComparisonOp.GE, left=V, right=ONE
    ),
    "exists in a column": e.SetPredicate(predicate_op=e.PredicateOp.EXISTS, tuples=matching()),
    "in a list, by an anchor": e.SingularOrList(
        value=number(1, I32),
        options=(e.ScalarSubquery(input=r.Fetch(
            input=r.Sort(
                input=r.Project.only(matching(anchor=9), [column(0, FACTS.schema)]),
                sorts=ascending(0, of=r.Project.only(FACTS, [column(0, FACTS.schema)])),
            ),
            count_expr=number(1),
        )),),
    ),
    "a scalar one without records": e.ScalarSubquery(
        input=r.Project.only(read("empty"), [number(1)])
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RELATIONS)
def test_a_relation_in_terms_of_others(name: str) -> None:
    assert difference(rooted(RELATIONS[name])) is None


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_an_expression_as_a_column_and_as_a_condition(name: str) -> None:
    made = EXPRESSIONS[name]
    projected = replace(r.Project.only(FEW, [column(0, FEW.schema), made]))
    anchored = replace(projected, common=replace(projected.common, rel_anchor=9))
    assert difference(rooted(anchored)) is None
    if isinstance(made.type, t.Boolean):
        condition = boolean_call(Function("extension:io.substrait:functions_boolean", "not", "bool"), (made,), True)
        filtered = r.Filter(common=r.RelCommon(rel_anchor=9), input=FEW, condition=condition)
        assert difference(rooted(filtered)) is None


def test_timestamps_as_texts() -> None:
    """The texts are those of the conversions that ``docs/casts.md`` has: no T, no needless digits, an offset."""
    casts = [
        e.Cast(type=t.String(nullable=True), input=column(place, TIMES.schema), failure_behavior=THROW)
        for place in (0, 1)
    ]
    made = ps.for_target(rooted(r.Project.only(TIMES, casts)), "datafusion", tables=TABLES)
    assert not made.notes
    local, instant = sessions.session("datafusion", TABLES).run(made.to_bytes()).columns
    assert local.to_pylist() == [
        "2024-02-29 23:59:59.999999", "1970-01-01 00:00:00", None, "1969-12-31 23:59:59.000001", "1900-01-01 12:00:00"
    ]  # fmt: skip
    assert instant.to_pylist() == [
        "2024-03-31 01:30:00+00:00", "1970-01-01 00:00:00+00:00", "2038-01-19 03:14:08+00:00", None,
        "2000-02-29 00:00:00+00:00",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("target", "place", "form"),
    [("datafusion", 4, "1e16"), ("acero", 4, "10000000"), ("acero", None, "00:00:00.500000")],
)
def test_a_text_of_another_form_is_noted(target: str, place: int | None, form: str) -> None:
    of = TIMES if place is None else FACTS
    cast = e.Cast(type=t.String(nullable=True), input=column(place or 0, of.schema), failure_behavior=THROW)
    notes = ps.for_target(rooted(r.Project.only(of, [cast])), target).notes
    assert [form in str(note.after) for note in notes if note.rule == "target-value"] == [True]


def test_a_subquery_in_the_condition_of_a_join() -> None:
    inner = r.Filter(input=FACTS, condition=equal(column(1, FACTS.schema), replace(outer(0), type=BOTH.types[0])))
    exists = e.SetPredicate(predicate_op=e.PredicateOp.EXISTS, tuples=inner)
    for kind in (r.JoinType.INNER, r.JoinType.LEFT, r.JoinType.OUTER, r.JoinType.LEFT_ANTI):
        join = r.Join(left=FEW, right=FACTS, type=kind, expression=conjunction([PAIR, exists]))
        assert difference(rooted(join)) is None, kind


def test_a_scalar_subquery_with_several_records_fails() -> None:
    several = e.ScalarSubquery(input=r.Project.only(matching(), [column(0, FACTS.schema)]))
    made = ps.for_target(rooted(r.Project.only(FEW, [several])), "datafusion", tables=TABLES)
    with pytest.raises(Exception, match="a scalar subquery has several records"):
        sessions.session("datafusion", TABLES).run(made.to_bytes())


REFUSED: dict[str, tuple[Expression, str]] = {
    "a type": (Literal(type=t.UUID(nullable=True), value=None), "has no type uuid"),
    "digits of a time": (Literal(type=t.PrecisionTimestamp(precision=4), value=1), "digits"),
    "digits of an interval": (Literal(type=t.IntervalDay(precision=6), value=DayTime(0, 0, 1)), "3 digits"),
    "a place that is no literal": (
        e.WindowFunction(
            function=Function("extension:io.substrait:functions_arithmetic", "nth_value", "any_i32"),
            arguments=(V, column(0, FEW.schema)), output_type=V.type, derived_type=V.type, sorts=ascending(0, of=FEW),
        ),
        "takes literals only as argument 1 of nth_value",
    ),
    "a record that is nobody knows how many before": (
        e.WindowFunction(
            function=Function("extension:io.substrait:functions_arithmetic", "lag", "any_i32"),
            arguments=(V, number(None, I32)), output_type=V.type, derived_type=V.type, sorts=ascending(0, of=FEW),
        ),
        "no form for lag:any_i32 with the argument null",
    ),
    "an offset of a frame that is no whole number": (
        e.WindowFunction(
            function=Function("extension:io.substrait:functions_aggregate_generic", "count", ""), arguments=(),
            output_type=I64, derived_type=I64, sorts=ascending(0, of=FEW), bounds_type=e.BoundsType.RANGE,
            lower_bound=e.CurrentRow(), upper_bound=e.Following(Literal(type=t.FP64(), value=2.0)),
        ),
        "offsets that are whole numbers",
    ),
    "the largest list": (
        e.WindowFunction(
            function=Function("extension:io.substrait:functions_aggregate_generic", "max", "any"),
            arguments=(e.NestedList(values=(column(0, FEW.schema),)),), output_type=t.List(type=I32, nullable=True),
            derived_type=t.List(type=I32, nullable=True),
        ),
        "no form for max",
    ),
    "a power of integers": (
        e.ScalarFunction(
            function=Function("extension:io.substrait:functions_arithmetic", "power", "i64_i64"), arguments=(V, V),
            output_type=V.type, derived_type=V.type,
        ),
        "no form for power:i64_i64",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_has_its_place(name: str) -> None:
    expression, message = REFUSED[name]
    plan = rooted(r.Filter(input=r.Project.only(FEW, [expression]), condition=Literal(type=t.Boolean(), value=True)))
    with pytest.raises(ps.UnsupportedPlanError, match=message) as refused:
        ps.for_target(plan, "datafusion")
    assert refused.value.path.startswith("relations[0].root.input.filter.input.project.expressions[0]")


def test_structs_that_meet_with_fields_of_two_names_are_refused() -> None:
    made = e.NestedStruct(fields=(number(1, t.I64(nullable=True)), Literal(type=t.String(nullable=True), value="x")))
    other = e.Cast(type=column(2, NESTED.schema).type, input=replace(made, nullable=True))
    both = compared("equal", column(2, NESTED.schema), other)
    with pytest.raises(ps.UnsupportedPlanError, match=r"\(a, b\) and \(c0, c1\) meet") as refused:
        ps.for_target(rooted(r.Filter(input=NESTED, condition=both)), "datafusion", tables=TABLES)
    assert refused.value.path == "relations[0].root.input.filter.condition"


@pytest.mark.parametrize("first", [0, 40, 80, OF_RELATIONS, OF_RELATIONS + 40])
def test_random_plans_have_the_rows_of_the_evaluator(first: int) -> None:
    session = sessions.session("datafusion", TABLES)
    for seed in range(first, first + 40):
        plan = random_plan(seed)
        try:
            made = ps.for_target(plan, "datafusion", tables=TABLES)
            expected = evaluate(plan, TABLES, choices=CHOICES)
        except (ps.UnsupportedPlanError, NotCovered, Undetermined, Failure):
            continue
        try:
            different = expected.difference(session.run(made.to_bytes()), tolerance=1e-9)
        except (NotCovered, KeyError):  # pyarrow 22 has no arrays of intervals of days
            continue
        noted = any(note.rule in ("target-value", "target-option") for note in made.notes)
        assert different is None or noted, seed
