"""Execution context variables: the time, the date and the zone, once per plan or once per record."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import ExecutionError, UnsupportedPlanError
from pyspark_substrait.model.expressions import (
    ContextVariable,
    ExecutionContextVariable,
    Expression,
    IfClause,
    IfThen,
    Lambda,
    NestedList,
    ScalarSubquery,
)
from pyspark_substrait.model.plan import VariableEvaluationMode
from pyspark_substrait.model.relations import JoinType, Relation, Sort
from pyspark_substrait.model.types import Date, PrecisionTimestampTZ, String, Struct
from tests.spark.plans import (
    INT,
    aggregate,
    call,
    col,
    group,
    join,
    number,
    plan,
    project,
    sort,
    tuples,
    values,
    where,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TODAY = ExecutionContextVariable(variable=ContextVariable.CURRENT_DATE, type=Date())
ZONE = ExecutionContextVariable(variable=ContextVariable.CURRENT_TIMEZONE, type=String())
TABLE = values([INT], [(n,) for n in range(200)])
PER_RECORD = VariableEvaluationMode.PER_RECORD


def now(precision: int = 6) -> ExecutionContextVariable:
    return ExecutionContextVariable(
        variable=ContextVariable.CURRENT_TIMESTAMP, type=PrecisionTimestampTZ(precision=precision)
    )


@pytest.fixture
def zone(spark: SparkSession) -> Iterator[str]:
    """The session in a zone whose date is another one than that of UTC at some hour of every day."""
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Pacific/Kiritimati")
    yield "Pacific/Kiritimati"
    spark.conf.set("spark.sql.session.timeZone", before or "UTC")


def found(spark: SparkSession, node: Relation, mode: VariableEvaluationMode) -> list[tuple[object, ...]]:
    return tuples(ps.run_query(plan(node, execution_behavior=mode), spark=spark))


def stamps(value: object) -> datetime.datetime:
    assert isinstance(value, datetime.datetime)
    return value


def test_once_per_plan(spark: SparkSession, zone: str) -> None:
    """One instant for the whole plan, in every relation; the date is that of the instant in the session's zone."""
    other = values([INT], [(1,)])
    query = ScalarSubquery(input=project(other, now()))
    kept = where(TABLE, call("gte", now(), query))
    inner = project(kept, col(kept, 0), now(), TODAY, ZONE)
    node = project(inner, now(), TODAY, call("equal", query, col(inner, 1)), ZONE, keep=True)
    before = datetime.datetime.now(datetime.timezone.utc)
    rows = found(spark, node, VariableEvaluationMode.PER_PLAN)
    after = datetime.datetime.now(datetime.timezone.utc)
    assert len(rows) == 200
    [rest] = {row[1:] for row in rows}
    first, date, name, second, same_date, same, same_name = rest
    assert first == second
    assert same is True
    assert (date, name) == (same_date, same_name)
    assert name == zone
    assert before - datetime.timedelta(seconds=1) <= stamps(first) <= after
    assert date == stamps(first).astimezone(ZoneInfo(zone)).date()


@pytest.mark.parametrize("mode", [VariableEvaluationMode.PER_PLAN, PER_RECORD])
def test_every_precision(spark: SparkSession, mode: VariableEvaluationMode) -> None:
    """Coarser ones are cut off, finer ones filled up."""
    frame = ps.from_substrait(
        plan(project(values([INT], [(1,)]), *map(now, range(10))), execution_behavior=mode), spark
    )
    expressions = [f"unix_micros({name})" for name in frame.columns[:7]] + frame.columns[7:]
    [row] = frame.selectExpr(*expressions).collect()
    exact = row[6]
    assert exact > 1_700_000_000_000_000
    for precision in range(7):
        unit = 10 ** (6 - precision)
        assert row[precision] == exact // unit * unit
    assert [row[7], row[8], row[9]] == [exact * 10, exact * 100, exact * 1000]
    table = ps.run_query(plan(project(TABLE, now(0), now(3), now(9))), spark=spark, limit=1)
    assert [str(field.type) for field in table.schema] == [
        "timestamp[s, tz=UTC]",
        "timestamp[ms, tz=UTC]",
        "timestamp[ns, tz=UTC]",
    ]


def test_once_per_record(spark: SparkSession, zone: str) -> None:
    """Records are evaluated one after the other, and all variables in the expressions of one agree."""
    same = IfThen(ifs=(IfClause(call("equal", now(), now()), now()),))
    inside = call(
        "transform", NestedList(values=(number(1), number(2))), Lambda(parameters=Struct(types=(INT,)), body=now())
    )
    node = project(TABLE, col(TABLE, 0), now(), now(), TODAY, same, now(0), inside, ZONE)
    before = datetime.datetime.now(datetime.timezone.utc)
    rows = found(spark, node, PER_RECORD)
    after = datetime.datetime.now(datetime.timezone.utc)
    moments = [stamps(row[1]) for row in rows]
    assert len(set(moments)) > 1
    assert before <= min(moments)
    assert max(moments) <= after
    for row in rows:
        moment = stamps(row[1])
        assert row[2] == row[4] == moment
        assert row[3] == moment.astimezone(ZoneInfo(zone)).date()
        assert row[5] == moment.replace(microsecond=0)
        assert row[6] == [moment, moment]
        assert row[7] == zone


def test_once_per_record_in_filters(spark: SparkSession) -> None:
    always = where(TABLE, call("equal", now(), now()))
    never = where(always, call("lt", now(), now()))
    assert len(found(spark, always, PER_RECORD)) == 200
    assert found(spark, never, PER_RECORD) == []
    # filters above and below see instants of their own, but columns that were computed stay what they are
    timed = project(TABLE, now())
    later = where(timed, call("lte", col(timed, 0), now()))
    assert len(found(spark, project(later, call("lte", col(later, 0), now())), PER_RECORD)) == 200


def test_once_per_record_in_groups_and_orders(spark: SparkSession) -> None:
    measured = group(TABLE, [], [aggregate("min", now()), aggregate("max", now()), aggregate("count", TODAY)])
    [(first, last, count)] = found(spark, measured, PER_RECORD)
    assert stamps(first) < stamps(last)
    assert count == 200
    grouped = group(TABLE, [call("equal", now(), now())], [aggregate("count", col(TABLE, 0))])
    assert found(spark, grouped, PER_RECORD) == [(True, 200)]
    ordered_ = Sort(input=TABLE, sorts=(sort(now()), sort(call("equal", TODAY, TODAY))))
    assert len(found(spark, ordered_, PER_RECORD)) == 200


def test_where_records_have_no_instant_is_refused() -> None:
    record = values([PrecisionTimestampTZ(precision=6)], [(now(),)])
    with pytest.raises(UnsupportedPlanError, match="current_timestamp cannot be evaluated once per record in this"):
        ps.to_sql(plan(record, execution_behavior=PER_RECORD))
    joined = join(TABLE, values([INT], [(1,)]), call("lt", TODAY, TODAY), JoinType.LEFT)
    with pytest.raises(UnsupportedPlanError, match="current_date cannot be evaluated once per record in this"):
        ps.to_sql(plan(joined, execution_behavior=PER_RECORD))
    for precision in (10, 11, 12):
        with pytest.raises(UnsupportedPlanError, match="beyond the 64 bits"):
            ps.to_sql(plan(project(TABLE, now(precision))))


def test_everywhere_once_per_plan(spark: SparkSession) -> None:
    record = values([PrecisionTimestampTZ(precision=6), Date(), String()], [(now(), TODAY, ZONE)])
    grouped = group(TABLE, [TODAY], [aggregate("count", col(TABLE, 0)), aggregate("max", now())])
    cells: list[Expression] = [col(record, 0), col(record, 1), col(record, 2)]
    [row] = found(spark, project(record, *cells), VariableEvaluationMode.PER_PLAN)
    assert row[1] == stamps(row[0]).astimezone(ZoneInfo(str(row[2]))).date()
    [(_, count, latest)] = found(spark, grouped, VariableEvaluationMode.PER_PLAN)
    assert count == 200
    assert stamps(latest).year >= 2024


@pytest.mark.parametrize(("name", "fine"), [("+05:30", False), ("GMT+2", False), ("Etc/GMT-2", True), ("CET", True)])
def test_names_of_zones_are_those_of_the_database(spark: SparkSession, zone: str, name: str, fine: bool) -> None:
    spark.conf.set("spark.sql.session.timeZone", name)
    node = project(values([INT], [(1,)]), ZONE)
    if fine:
        assert found(spark, node, VariableEvaluationMode.PER_PLAN) == [(name,)]
    else:
        with pytest.raises(ExecutionError, match="not a name of the IANA database"):
            found(spark, node, VariableEvaluationMode.PER_PLAN)
