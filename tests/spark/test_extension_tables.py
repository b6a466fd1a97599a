"""Extension tables through handlers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import ExecutionError, InvalidPlanError, SubstraitError, TableError, UnsupportedPlanError
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.masks import MaskExpression, StructItem, StructSelect
from pyspark_substrait.model.relations import ExtensionTable, JoinType, Read
from pyspark_substrait.model.types import Type
from tests.spark import plans
from tests.spark.extension_messages import Range, packed, url
from tests.spark.plans import LONG, TEXT, call, col, long

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

READ = "relations[0].root.input.read"


def numbers(detail: AnyMessage, spark: SparkSession) -> DataFrame:
    wanted = Range.FromString(detail.value)
    return spark.range(wanted.start, wanted.stop).selectExpr("string(id) AS Text", "id AS number")


REGISTRY = ps.Registry.default().with_table(url(Range), rows=numbers)


def table(stop: int, *types: Type, **more: Any) -> Read:
    """A read of the numbers below ``stop``."""
    return Read(
        base_schema=plans.schema(types or (LONG, TEXT), ("number", "text")[: len(types) or 2]),
        read_type=ExtensionTable(detail=packed(Range(stop=stop))),
        **more,
    )


def registered(rows: Callable[..., Any]) -> ps.Registry:
    return ps.Registry.default().with_table(url(Range), rows=rows)


def rows(spark: SparkSession, node: Any, registry: ps.Registry = REGISTRY) -> list[tuple[Any, ...]]:
    found = ps.run_query(plans.plan(node).to_bytes(), spark=spark, registry=registry)
    return plans.ordered(plans.tuples(found))


def test_columns_by_name_filters_and_projections(spark: SparkSession) -> None:
    read = table(4)
    assert rows(spark, read) == [(0, "0"), (1, "1"), (2, "2"), (3, "3")]
    mask = MaskExpression(select=StructSelect(struct_items=(StructItem(field=1),)))
    condition = call("gt", col(read, 0), long(1))
    assert rows(spark, replace(read, filter=condition, projection=mask)) == [("2",), ("3",)]
    assert rows(spark, table(2, LONG)) == [(0,), (1,)]
    found = ps.run_query(plans.plan(read).to_json(), spark=spark, registry=REGISTRY)
    assert not any(field.nullable for field in found.schema)


def test_a_handler_is_called_once_for_each_table(spark: SparkSession) -> None:
    calls: list[AnyMessage] = []

    def counted(detail: AnyMessage, session: SparkSession) -> DataFrame:
        calls.append(detail)
        return numbers(detail, session)

    one, other = table(3), table(2)
    pairs = plans.join(one, one, call("equal", col(one, 0), col(plans.both(one, one), 2)), JoinType.INNER)
    three = plans.join(pairs, other, call("equal", col(pairs, 0), col(plans.both(pairs, other), 4)), JoinType.INNER)
    wanted = [(0, "0", 0, "0", 0, "0"), (1, "1", 1, "1", 1, "1")]
    assert rows(spark, three, registered(counted)) == wanted
    assert sorted(Range.FromString(detail.value).stop for detail in calls) == [2, 3]


def test_arrow_data_and_files(spark: SparkSession, tmp_path: Path) -> None:
    data = pa.table({"number": [5, 6], "text": ["five", "six"]})
    file = tmp_path / "numbers.parquet"
    pq.write_table(data, file)
    wanted = [(5, "five"), (6, "six")]
    assert rows(spark, table(0), registered(lambda detail, session: data)) == wanted
    assert rows(spark, table(0), registered(lambda detail, session: str(file))) == wanted


def broken(detail: AnyMessage, session: SparkSession) -> DataFrame:
    raise ValueError("no such numbers\nand more")


@pytest.mark.parametrize(
    ("made", "kind", "message"),
    [
        (lambda detail, session: session.range(2), TableError, "has no column number"),
        (lambda detail, session: pa.table({"number": ["1"], "text": ["1"]}), TableError, "cannot be read as i64"),
        (lambda detail, session: {"number": [1]}, TableError, "given as a dict"),
        (broken, ExecutionError, f"the handler of the table {url(Range)} raised ValueError: no such numbers"),
    ],
    ids=["columns", "types", "kind", "raised"],
)
def test_what_is_wrong(spark: SparkSession, made: Callable[..., Any], kind: type[SubstraitError], message: str) -> None:
    with pytest.raises(kind) as caught:
        rows(spark, table(2), registered(made))
    assert message in caught.value.message
    assert url(Range) in caught.value.message
    assert caught.value.path == f"{READ}.extension_table"


def test_nulls_are_found(spark: SparkSession) -> None:
    with_null = pa.table({"number": [1, None], "text": ["1", "2"]})
    with pytest.raises(ExecutionError, match=r"number is null, but the plan says it never is"):
        rows(spark, table(2), registered(lambda detail, session: with_null))


def test_unknown_kinds(spark: SparkSession) -> None:
    plan = plans.plan(table(2)).to_bytes()
    # a relation of that name is another thing
    other = ps.Registry.default().with_relation(url(Range), schema=lambda detail: pa.schema([]), rows=numbers)
    for registry in (ps.Registry.default(), other):
        with pytest.raises(UnsupportedPlanError) as caught:
            ps.run_query(plan, spark=spark, registry=registry)
        assert caught.value.path == f"{READ}.extension_table.detail"
        assert url(Range) in caught.value.message
        assert caught.value.hint is not None and "with_table" in caught.value.hint
    with pytest.raises(UnsupportedPlanError, match="only with a Spark session"):
        ps.to_sql(plan, registry=REGISTRY)
    with pytest.raises(InvalidPlanError, match="known already"):
        REGISTRY.with_table(url(Range), rows=numbers)
