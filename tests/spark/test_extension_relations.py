"""Extension relations through handlers: leaf, single and multi, wherever a relation may stand."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import (
    ExecutionError,
    InvalidPlanError,
    SubstraitError,
    TableError,
    UnsupportedPlanError,
)
from pyspark_substrait.model.expressions import InPredicate, PredicateOp, ScalarSubquery, SetPredicate
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.relations import (
    ExtensionLeaf,
    Hint,
    JoinType,
    Reference,
    Relation,
    RelCommon,
    Set,
    SetOp,
)
from pyspark_substrait.model.types import NamedStruct, Struct
from tests.spark import plans
from tests.spark.extension_messages import Range, Sample, Unite, leaf, multi, packed, single, url
from tests.spark.plans import LONG, LONG_, TEXT, call, col, long

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROOT = Path(__file__).resolve().parents[2]
ID = pa.schema([pa.field("id", pa.int64(), nullable=False)])
INPUT = "relations[0].root.input"


def numbers(detail: AnyMessage, spark: SparkSession) -> DataFrame:
    wanted = Range.FromString(detail.value)
    return spark.range(wanted.start, wanted.stop)


def sampled(detail: AnyMessage, records: DataFrame) -> DataFrame:
    return records.where(records[records.columns[0]] % Sample.FromString(detail.value).every == 0)


def united(detail: AnyMessage, first: DataFrame, *others: DataFrame) -> DataFrame:
    for other in others:
        first = first.unionByName(other)
    return first


def same(detail: AnyMessage, first: NamedStruct, *others: NamedStruct) -> NamedStruct:
    return first


REGISTRY = (
    ps.Registry.default()
    .with_relation(url(Range), schema=lambda detail: ID, rows=numbers)
    .with_relation(url(Sample), schema=same, rows=sampled)
    .with_relation(url(Unite), schema=same, rows=united)
)


def with_range(
    rows: Callable[..., Any] = numbers, schema: Callable[..., Any] = lambda detail: ID
) -> tuple[ps.Registry, ExtensionLeaf]:
    """A registry in which a range is something else, and one from 0 to 3."""
    registry = ps.Registry.default().with_relation(url(Range), schema=schema, rows=rows)
    return registry, leaf(registry, Range(stop=3))


def loaded(node: Relation, *others: Relation, registry: ps.Registry = REGISTRY) -> Any:
    """The plan, read from its bytes with the registry."""
    return ps.load(plans.plan(node, (), *others).to_bytes(), registry=registry)


def rows(spark: SparkSession, node: Relation, *others: Relation, registry: ps.Registry = REGISTRY) -> Any:
    found = ps.run_query(loaded(node, *others, registry=registry), spark=spark, registry=registry)
    return plans.ordered(plans.tuples(found))


def ids(*found: int) -> list[tuple[int, ...]]:
    return [(value,) for value in sorted(found, key=lambda value: repr((value,)))]


def refused(spark: SparkSession, kind: type[SubstraitError], node: Relation, registry: ps.Registry) -> Any:
    with pytest.raises(kind) as caught:
        rows(spark, node, registry=registry)
    return caught.value


def test_the_example(spark: SparkSession) -> None:
    path = ROOT / "examples" / "extension_relations" / "gaps.py"
    spec = importlib.util.spec_from_file_location("gaps", path)
    assert spec is not None and spec.loader is not None
    gaps = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(gaps)
    start = datetime(2026, 3, 1)
    wanted = [(start + timedelta(hours=hour), value) for hour, value in enumerate([7.0, None, None, 8.5, None, 9.0])]
    assert plans.tuples(gaps.main()) == wanted


def test_leaf_single_and_multi(spark: SparkSession) -> None:
    table = plans.values([TEXT, LONG_], [("a", 1), ("b", None)], names=("t", "n"))
    turned = plans.values([LONG_, TEXT], [(3, "c")], names=("n", "t"))
    assert rows(spark, leaf(REGISTRY, Range(start=2, stop=5))) == ids(2, 3, 4)
    long_table = plans.values([LONG], [(0,), (3,), (4,), (6,)])
    assert rows(spark, single(REGISTRY, Sample(every=3), long_table)) == ids(0, 3, 6)
    assert rows(spark, multi(REGISTRY, Unite(), table, turned)) == [("a", 1), ("b", None), ("c", 3)]


def test_a_plan_in_json(spark: SparkSession) -> None:
    text = plans.plan(leaf(REGISTRY, Range(start=7, stop=9))).to_json()
    assert '"stop": "9"' in text
    found = ps.run_query(text, spark=spark, registry=REGISTRY)
    assert found.schema.equals(pa.schema([pa.field("n0", pa.int64(), nullable=False)]))
    assert plans.tuples(found) == ids(7, 8)


def test_nested_and_below_other_relations(spark: SparkSession) -> None:
    both = multi(REGISTRY, Unite(), leaf(REGISTRY, Range(stop=5)), leaf(REGISTRY, Range(start=3, stop=9)))
    sample = single(REGISTRY, Sample(every=2), both)
    assert rows(spark, sample) == ids(0, 2, 4, 4, 6, 8)
    counted = plans.group(sample, [col(sample, 0)], [plans.aggregate("count", col(sample, 0))])
    assert rows(spark, counted) == [(0, 1), (2, 1), (4, 2), (6, 1), (8, 1)]
    ten = plans.project(sample, call("multiply", col(sample, 0), long(10)))
    joined = plans.join(
        ten,
        leaf(REGISTRY, Range(start=38, stop=42)),
        call("equal", col(ten, 0), col(plans.both(ten, sample), 1)),
        JoinType.INNER,
    )
    assert rows(spark, joined) == [(40, 40), (40, 40)]
    assert rows(spark, single(REGISTRY, Sample(every=20), ten)) == ids(0, 20, 40, 40, 60, 80)


def test_an_input_without_columns(spark: SparkSession) -> None:
    def counted(detail: AnyMessage, records: DataFrame) -> DataFrame:
        assert records.columns == []
        return records.groupBy().count().withColumnRenamed("count", "id")

    registry = ps.Registry.default().with_relation(url(Sample), schema=lambda detail, records: ID, rows=counted)
    table = plans.project(plans.values([LONG], [(1,), (2,)]))
    assert rows(spark, single(registry, Sample(), table), registry=registry) == ids(2)


def test_emit_and_hints(spark: SparkSession) -> None:
    table = plans.values([LONG, TEXT], [(2, "two"), (3, "three")])
    hint = Hint(alias="evens", output_names=("text", "number", "again"))
    node = single(REGISTRY, Sample(every=2), table, common=RelCommon(emit=(1, 0, 0), hint=hint))
    assert rows(spark, node) == [("two", 2, 2)]
    assert loaded(node).relations[0].input.names == ("text", "number", "again")


def test_in_subqueries(spark: SparkSession) -> None:
    table = plans.values([LONG], [(1,), (4,), (9,)])
    three = leaf(REGISTRY, Range(start=1, stop=5))
    inside = InPredicate(needles=(col(table, 0),), haystack=single(REGISTRY, Sample(every=2), three))
    assert rows(spark, plans.where(table, inside)) == ids(4)
    largest = ScalarSubquery(input=plans.group(three, [], [plans.aggregate("max", col(three, 0))]))
    assert rows(spark, plans.project(table, call("subtract", col(table, 0), largest))) == [(-3,), (0,), (5,)]
    fewer = plans.where(three, call("lt", col(three, 0), plans.outer(table, 0, steps_out=1)))
    some = SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=fewer)
    assert rows(spark, plans.where(table, some)) == ids(4, 9)
    count = ScalarSubquery(input=plans.group(fewer, [], [plans.aggregate("count", col(fewer, 0))]))
    assert rows(spark, plans.project(table, count)) == [(0,), (3,), (4,)]


def test_an_outer_reference_out_of_it_is_refused(spark: SparkSession) -> None:
    table = plans.values([LONG], [(1,)])
    three = leaf(REGISTRY, Range(stop=3))
    fewer = plans.where(three, call("lt", col(three, 0), plans.outer(table, 0, steps_out=1)))
    some = SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=single(REGISTRY, Sample(every=1), fewer))
    error = refused(spark, UnsupportedPlanError, plans.where(table, some), REGISTRY)
    assert "leads out of an extension relation" in error.message
    assert error.path.startswith(f"{INPUT}.filter.condition.subquery.set_predicate.tuples.extension_single.input")


def test_a_shared_one_is_made_once(spark: SparkSession) -> None:
    calls: list[AnyMessage] = []

    def counted(detail: AnyMessage, session: SparkSession) -> DataFrame:
        calls.append(detail)
        return numbers(detail, session)

    registry, node = with_range(counted)
    shared = plans.where(node, call("gt", col(node, 0), long(0)))
    use = Reference(subtree_ordinal=1, subtree=shared)
    assert rows(spark, Set(members=(use, use), op=SetOp.UNION_ALL), shared, registry=registry) == ids(1, 1, 2, 2)
    assert calls == [packed(Range(stop=3))]


def test_in_a_plan_that_is_cut(spark: SparkSession) -> None:
    node: Any = leaf(REGISTRY, Range(stop=4))
    for step in range(120):
        grouped = plans.group(node, [call("add", col(node, 0), long(1))], [])
        node = single(REGISTRY, Sample(every=1), grouped) if step % 40 == 0 else grouped
    assert rows(spark, node) == ids(120, 121, 122, 123)


def test_names_that_a_handler_sees(spark: SparkSession) -> None:
    seen: list[tuple[str, ...]] = []

    def looked(detail: AnyMessage, records: DataFrame) -> DataFrame:
        seen.append(tuple(records.columns))
        return records

    registry = ps.Registry.default().with_relation(url(Sample), schema=same, rows=looked)
    pair = Struct(types=(LONG, TEXT))
    table = plans.values([LONG, LONG, LONG, pair], [(1, 2, 3, (4, "x"))], names=("a", "A", "column_0", "p", "k", "v"))
    wide = plans.project(table, long(5), keep=True)
    node = single(registry, Sample(), wide)
    assert node.schema == wide.schema
    assert rows(spark, node, registry=registry) == [(1, 2, 3, {"n4": 4, "n5": "x"}, 5)]
    assert seen == [("column_0", "column_1", "column_2", "p", "column_4")]


def test_types_of_an_arrow_schema(spark: SparkSession) -> None:
    table = pa.table(
        {
            "d": pa.array([Decimal("1.50"), None], pa.decimal128(9, 2)),
            "w": pa.array([datetime(2026, 1, 2, 3, 4, 5, 6), None], pa.timestamp("us")),
            "s": pa.array([{"x": 1, "y": ["a", None]}, None], pa.struct({"x": pa.int16(), "y": pa.list_(pa.string())})),
            "m": pa.array([[("k", 1.5)], []], pa.map_(pa.string(), pa.float64())),
            "b": pa.array([b"\x00", b""], pa.large_binary()),
        }
    )
    # columns are found by their names; there may be more of them
    registry, node = with_range(lambda detail, spark: table.select([4, 3, 2, 1, 0]), lambda detail: table.schema)
    plan = plans.plan(node, ("d", "w", "s", "x", "y", "m", "b"))
    found = ps.run_query(plan.to_bytes(), spark=spark, registry=registry)
    assert found.select(table.column_names[:4]).equals(table.select(table.column_names[:4]))
    assert found["b"].to_pylist() == table["b"].to_pylist()


@pytest.mark.parametrize(
    ("returned", "kind", "message"),
    [
        (lambda detail, spark: spark.range(3).toDF("other"), TableError, "has no column id"),
        (lambda detail, spark: pa.table({"id": ["x"]}), TableError, "is string, which cannot be read as i64"),
        (lambda detail, spark: [1, 2], TableError, "given as a list"),
        (
            lambda detail, spark: pa.table({"id": [1, None]}),
            ExecutionError,
            "id is null, but the plan says it never is",
        ),
        (lambda detail, spark: spark.range(3).select("nothing"), ExecutionError, "raised AnalysisException"),
        (lambda detail, spark: 1 // 0, ExecutionError, "raised ZeroDivisionError: integer division"),
    ],
    ids=["columns", "types", "kind", "nulls", "analysis", "raised"],
)
def test_rows_that_are_wrong(
    spark: SparkSession, returned: Callable[..., Any], kind: type[SubstraitError], message: str
) -> None:
    registry, node = with_range(returned)
    error = refused(spark, kind, node, registry)
    assert message in error.message
    assert url(Range) in error.message
    assert "\n" not in error.message
    if "id is null" not in message:  # that is found when the rows are read
        assert error.path == f"{INPUT}.extension_leaf"
    if "raised" in message:
        assert error.__cause__ is not None


def test_a_handler_may_refuse(spark: SparkSession) -> None:
    def never(detail: AnyMessage, session: SparkSession) -> DataFrame:
        raise UnsupportedPlanError("no ranges on Fridays", hint="Wait")

    registry, node = with_range(never)
    error = refused(spark, UnsupportedPlanError, single(REGISTRY, Sample(every=1), node), both(registry))
    assert str(error) == f"{INPUT}.extension_single.input.extension_leaf: no ranges on Fridays. Wait"


def both(registry: ps.Registry) -> ps.Registry:
    return registry.with_relation(url(Sample), schema=same, rows=sampled)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (lambda detail: Range.FromString(b"\xff"), "cannot be derived: DecodeError"),
        (lambda detail, one: one, "cannot be derived: TypeError"),
        (lambda detail: ["id"], "is a list"),
        (lambda detail: NamedStruct(names=("a", "b"), struct=Struct(types=(LONG,))), "2 names, but its columns"),
        (lambda detail: NamedStruct(names=("a",), struct=Struct(types=("i64",))), "the column a of no type"),  # type: ignore[arg-type]
        (lambda detail: plans.schema((LONG, TEXT), ("a", "a")), "two columns a"),
        (lambda detail: pa.schema([("a", pa.uint8())]), "a of the Arrow type uint8"),
    ],
)
def test_schemas_that_are_wrong(schema: Callable[..., Any], message: str) -> None:
    plan = plans.plan(leaf(REGISTRY, Range(stop=3)))
    registry = ps.Registry.default().with_relation(url(Range), schema=schema, rows=numbers)
    with pytest.raises(InvalidPlanError) as caught:
        ps.load(plan.to_bytes(), registry=registry)
    assert caught.value.path == f"{INPUT}.extension_leaf.detail"
    assert message in caught.value.message
    assert url(Range) in caught.value.message
    assert (caught.value.__cause__ is not None) == ("derived" in message)


def test_what_isnt_registered_is_refused_at_run_time(spark: SparkSession) -> None:
    bare = ps.Registry.default()
    plan = plans.plan(single(REGISTRY, Sample(every=1), leaf(REGISTRY, Range(stop=3))))
    error = refused_plan(spark, plan.to_bytes(), bare)
    assert error.path == f"{INPUT}.extension_single.detail"
    assert url(Sample) in error.message and error.hint is not None and "with_relation" in error.hint
    error = refused_plan(spark, plan.to_bytes(), bare.with_relation(url(Sample), schema=same, rows=sampled))
    assert error.path == f"{INPUT}.extension_single.input.extension_leaf.detail"
    assert url(Range) in error.message
    error = refused_plan(spark, plans.plan(ExtensionLeaf(), ()).to_bytes(), REGISTRY)
    assert "no detail" in error.message
    # it was loaded before anybody knew what it is
    error = refused_plan(spark, ps.load(plan.to_bytes()), REGISTRY)
    assert error.hint is not None and "load(plan, registry=registry)" in error.hint


def refused_plan(spark: SparkSession, plan: Any, registry: ps.Registry) -> UnsupportedPlanError:
    with pytest.raises(UnsupportedPlanError) as caught:
        ps.run_query(plan, spark=spark, registry=registry)
    return caught.value


def test_loading_showing_and_saving_need_no_handler() -> None:
    node = leaf(REGISTRY, Range(stop=3))
    plan = plans.plan(plans.where(node, call("gt", col(node, 0), long(1))), ("n",))
    bare, known = ps.load(plan.to_bytes()), ps.load(plan.to_bytes(), registry=REGISTRY)
    assert bare.to_bytes() == known.to_bytes() == plan.to_bytes()
    roots: list[Any] = [document.relations[0] for document in (bare, known)]
    assert roots[0].input.input == roots[1].input.input
    assert "columns unknown" in ps.explain(bare)
    assert "id: i64" in ps.explain(known)


def test_there_is_no_sql_without_a_session() -> None:
    plan = plans.plan(leaf(REGISTRY, Range(stop=3))).to_bytes()
    with pytest.raises(UnsupportedPlanError, match="needs a Spark session") as caught:
        ps.to_sql(plan, registry=REGISTRY)
    assert caught.value.path == f"{INPUT}.extension_leaf.detail"
    with pytest.raises(UnsupportedPlanError, match="is not known here"):
        ps.to_sql(plan)


def test_a_kind_is_registered_once_and_registries_are_apart() -> None:
    bare = ps.Registry.default()
    registry = bare.with_relation(url(Range), schema=lambda detail: ID, rows=numbers)
    assert bare.relation_handler(url(Range)) is None
    assert registry.relation_handler(url(Range)) is not None
    with pytest.raises(InvalidPlanError, match="known already"):
        registry.with_relation(url(Range), schema=lambda detail: ID, rows=numbers)
    yaml = "%YAML 1.2\n---\nurn: extension:org.example:none\n"
    assert registry.with_yaml(yaml).relation_handler(url(Range)) is not None


def test_the_schema_is_no_part_of_the_node() -> None:
    node = leaf(REGISTRY, Range(stop=3))
    assert node == replace(node, derived=None)
    assert "derived" not in repr(node)
