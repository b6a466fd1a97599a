"""Expand: each record once for each duplicate. Expected rows are DuckDB's of a UNION ALL, or worked out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.expressions import Expression, NestedList, NestedStruct, ScalarSubquery, SortDirection
from pyspark_substrait.model.relations import Expand, Fetch, JoinType, Relation, Sort, SwitchingField
from pyspark_substrait.model.types import Decimal, List, Map, Struct
from tests.spark.plans import (
    INT,
    INT_,
    LONG,
    TEXT,
    TEXT_,
    aggregate,
    answers,
    both,
    call,
    col,
    emit,
    group,
    join,
    lit,
    number,
    ordered,
    outer,
    plan,
    project,
    rows,
    run,
    sort,
    text,
    truth,
    values,
    where,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CELLS: list[tuple[Any, ...]] = [(1, "a", 10), (2, None, 20), (3, "c", None), (4, "a", 40)]
TABLE = values([INT, TEXT_, INT_], CELLS, names=("id", "t", "x"))


def switching(*duplicates: Expression) -> SwitchingField:
    return SwitchingField(duplicates)


def expand(*fields: SwitchingField | Expression, input: Relation = TABLE, **more: Any) -> Expand:
    return Expand(input=input, fields=fields, **more)


@pytest.fixture(scope="module")
def duck() -> Any:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (id INTEGER, t VARCHAR, x INTEGER)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", CELLS)
        yield connection


def c(position: int) -> Expression:
    return col(TABLE, position)


def test_each_record_once_for_each_duplicate(spark: SparkSession, duck: Any) -> None:
    """The fields in their order, other columns of the input, and which duplicate a record is, counted from 0."""
    add = call("add", c(0), c(0))
    cases: list[tuple[Relation, str]] = [
        (
            expand(switching(c(0), number(None), add), c(1), switching(text("a"), c(1), text(None))),
            "SELECT id, t, 'a', 0 FROM t UNION ALL SELECT NULL, t, t, 1 FROM t "
            "UNION ALL SELECT id + id, t, NULL, 2 FROM t",
        ),
        # "Any fields beyond the provided definitions will be emitted as is": those of the input
        (expand(switching(c(2)), c(0)), "SELECT x, id, x, 0 FROM t"),
        (expand(c(0), c(0), add), "SELECT id, id, id + id, 0 FROM t"),
        (expand(), "SELECT *, 0 FROM t"),
        (expand(c(2)), "SELECT x, t, x, 0 FROM t"),
        (expand(c(2), common=emit(1)), "SELECT t FROM t"),
        # a column as several fields, and the same one as several duplicates
        (
            expand(c(0), c(0), switching(c(0), c(0)), switching(c(0), c(2))),
            "SELECT id, id, id, id, 0 FROM t UNION ALL SELECT id, id, id, x, 1 FROM t",
        ),
        # records that a filter leaves, before and behind
        (
            where(expand(switching(c(0), c(2)), input=where(TABLE, call("gt", c(0), number(1)))), _above(20)),
            "SELECT * FROM (SELECT id AS a, t, x, 0 FROM t WHERE id > 1 UNION ALL SELECT x, t, x, 1 FROM t "
            "WHERE id > 1) WHERE a > 20",
        ),
        # emit picks, repeats and leaves out
        (
            expand(switching(c(0), c(2)), c(1), common=emit(3, 0, 0)),
            "SELECT 0, id, id FROM t UNION ALL SELECT 1, x, x FROM t",
        ),
        (
            expand(switching(c(0), c(2)), c(1), common=emit(2, 3)),
            "SELECT x, 0 FROM t UNION ALL SELECT x, 1 FROM t",
        ),
        (expand(switching(c(0), c(2)), c(1), common=emit(1)), "SELECT t FROM t UNION ALL SELECT t FROM t"),
    ]
    for found, (_, sql) in zip(answers(spark, [relation for relation, _ in cases]), cases, strict=True):
        assert ordered(found) == ordered(duck.execute(sql).fetchall()), sql


def _above(bound: int) -> Expression:
    expanded = expand(switching(c(0), c(2)))
    return call("gt", col(expanded, 0), number(bound))


def test_grouping_sets_by_hand(spark: SparkSession, duck: Any) -> None:
    """What expand is made for: ROLLUP (t, id), the sets told apart by their number."""
    expanded = expand(switching(c(1), c(1), text(None)), switching(c(0), number(None), number(None)), c(2))
    keys = [col(expanded, 0), col(expanded, 1), col(expanded, 3)]
    grouped = group(expanded, keys, [aggregate("sum", col(expanded, 2))])
    sql = "SELECT t, id, grouping(t) + grouping(id), CAST(sum(x) AS BIGINT) FROM t GROUP BY ROLLUP (t, id)"
    assert ordered(rows(spark, grouped)) == ordered(duck.execute(sql).fetchall())


def test_expands_in_joins_and_of_expands(spark: SparkSession, duck: Any) -> None:
    one = expand(switching(c(0), c(2)), common=emit(0, 3))
    twice = expand(switching(col(one, 0), number(0)), input=one)
    both_ = both(one, twice)
    joined = join(one, twice, call("equal", col(both_, 0), col(both_, 2)), JoinType.INNER)
    e = "(SELECT id AS v, 0 AS n FROM t UNION ALL SELECT x, 1 FROM t)"
    f = f"(SELECT v, n, 0 AS m FROM {e} UNION ALL SELECT 0, n, 1 FROM {e})"
    sql = f"SELECT * FROM {e} a JOIN {f} b ON a.v = b.v"
    assert ordered(rows(spark, joined)) == ordered(duck.execute(sql).fetchall())


def test_types_are_those_of_the_plan(spark: SparkSession) -> None:
    pair = Struct(types=(INT_, List(type=TEXT)))
    made = NestedStruct(fields=(c(0), NestedList(values=(text("x"),))))
    cases = [
        (switching(lit(pair, (1, ["p", "q"])), made), [(1, ["p", "q"]), (5, ["x"])]),
        (switching(lit(Map(key=TEXT, value=INT), {"k": 1}), lit(Map(key=TEXT, value=INT), {})), [[("k", 1)], []]),
        (
            switching(
                lit(Decimal(precision=5, scale=2), "1.50"), lit(Decimal(precision=5, scale=2, nullable=True), None)
            ),
            ...,
        ),
        (switching(lit(LONG, 2**40), lit(LONG, -1)), [2**40, -1]),
        (switching(truth(None), truth(False)), [None, False]),
    ]
    one = values([INT], [(5,)])
    expanded = expand(*(field for field, _ in cases), input=one)
    table = run(spark, expanded)
    for position, (_, wanted) in enumerate(cases):
        found = [_plain(value) for value in table.column(position).to_pylist()]
        if wanted is not ...:
            assert found == wanted
    assert [str(value) for value in table.column(2).to_pylist()] == ["1.50", "None"]
    assert [field.nullable for field in table.schema] == [False, False, True, False, True, False]
    assert table.schema.field(2).type == pa.decimal128(5, 2)
    assert table.schema.field(5).type == pa.int32() and table.column(5).to_pylist() == [0, 1]


def _plain(value: Any) -> Any:
    return tuple(value.values()) if isinstance(value, dict) else value


def test_subqueries_and_windows_in_fields(spark: SparkSession, duck: Any) -> None:
    other = values([INT_, INT], [(10, 1), (40, 2), (40, 3)])
    best = group(
        where(other, call("equal", col(other, 0), outer(TABLE, 2, steps_out=1))), [], [aggregate("max", col(other, 1))]
    )
    whole = group(other, [], [aggregate("sum", col(other, 1))])
    correlated = ScalarSubquery(input=best)
    plain = ScalarSubquery(input=project(whole, call("add", col(whole, 0), lit(LONG, 1))))
    duck.execute("CREATE OR REPLACE TABLE o AS SELECT * FROM (VALUES (10, 1), (40, 2), (40, 3)) v(a, b)")
    relation = expand(switching(c(0), correlated), plain)
    m = "(SELECT CAST(sum(b) AS BIGINT) + 1 FROM o)"
    sql = f"SELECT id, {m}, x, 0 FROM t UNION ALL SELECT (SELECT max(b) FROM o WHERE a = x), {m}, x, 1 FROM t"
    assert ordered(rows(spark, relation)) == ordered(duck.execute(sql).fetchall())


def test_an_expand_that_refers_to_an_outer_query(spark: SparkSession, duck: Any) -> None:
    """The subquery is no scalar aggregate at its top, so that it is rewritten."""
    inner = expand(switching(c(0), outer(TABLE, 0, steps_out=1)), c(1))
    numbers = where(inner, call("equal", col(inner, 0), outer(TABLE, 0, steps_out=1)))
    counted = group(numbers, [], [aggregate("sum", col(numbers, 3))])
    relation = project(TABLE, c(0), ScalarSubquery(input=counted))
    # the record itself once as duplicate 0, and all four as duplicate 1
    assert ordered(rows(spark, relation)) == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_a_subquery_that_spark_does_not_take_puts_no_further_column_out(spark: SparkSession, duck: Any) -> None:
    """Columns joined for the subquery are not among the input's columns that come out unchanged."""
    other = values([INT_, INT], [(10, 1), (40, 2), (40, 3)])
    # a correlated subquery whose condition isn't an equality, below a limit
    near = sort(col(other, 1), SortDirection.DESC_NULLS_LAST)
    above = where(other, call("gte", col(other, 0), outer(TABLE, 2, steps_out=1)))
    least = Fetch(input=Sort(input=above, sorts=(near,)), count_expr=lit(LONG, 1))
    best = ScalarSubquery(input=project(least, col(other, 1)))
    duck.execute("CREATE OR REPLACE TABLE o AS SELECT * FROM (VALUES (10, 1), (40, 2), (40, 3)) v(a, b)")
    m = "(SELECT max(b) FROM o WHERE a >= x)"
    cases: list[tuple[Relation, str]] = [
        (expand(best), f"SELECT {m}, t, x, 0 FROM t"),
        (
            expand(switching(c(0), best), common=emit(2, 0, 3)),
            f"SELECT x, id, 0 FROM t UNION ALL SELECT x, {m}, 1 FROM t",
        ),
    ]
    for found, (_, sql) in zip(answers(spark, [relation for relation, _ in cases]), cases, strict=True):
        assert ordered(found) == ordered(duck.execute(sql).fetchall()), sql


def test_columns_without_a_field_in_a_subquery_that_refers_out(spark: SparkSession) -> None:
    """They come out as they are where what the subquery refers to is carried through the expand, too."""
    inner = expand(switching(c(0), outer(TABLE, 0, steps_out=1)))
    mine = where(inner, call("equal", col(inner, 0), outer(TABLE, 0, steps_out=1)))
    counted = group(mine, [], [aggregate("sum", col(mine, 2)), aggregate("sum", col(mine, 3))])
    numbers = project(counted, call("add", col(counted, 0), col(counted, 1)))
    relation = project(TABLE, c(0), ScalarSubquery(input=numbers))
    # 10 + 20 + 40 for the duplicates that are the outer number, what the record itself has, and four duplicates 1
    assert ordered(rows(spark, relation)) == [(1, 84), (2, 94), (3, 74), (4, 114)]


def test_spark_runs_its_own_operator(spark: SparkSession) -> None:
    frame = ps.from_substrait(plan(expand(switching(c(0), c(2)), c(1))), spark)
    physical = _physical(frame)
    assert physical.count("Expand [") == 1 and physical.count("Scan") == 1
    # without switching fields there is nothing to expand
    assert "Expand" not in _physical(ps.from_substrait(plan(expand(c(0))), spark))


def _physical(frame: Any) -> str:
    import contextlib
    import io

    with contextlib.redirect_stdout(io.StringIO()) as out:
        frame.explain()
    return out.getvalue()


def test_the_order_of_the_input_lasts(spark: SparkSession) -> None:
    backwards = Sort(input=TABLE, sorts=(sort(c(0), SortDirection.DESC_NULLS_LAST),))
    found = rows(spark, expand(c(0), switching(text("p"), text("q")), input=backwards))
    assert [row[0] for row in found] == [4, 4, 3, 3, 2, 2, 1, 1]


def test_a_thousand_duplicates(spark: SparkSession) -> None:
    expanded = expand(switching(*map(number, range(1000))))
    counted = group(expanded, [], [aggregate("sum", col(expanded, 0)), aggregate("sum", col(expanded, 3))])
    assert rows(spark, counted) == [(4 * 499500, 4 * 499500)]


def test_switching_fields_of_different_lengths_are_refused(spark: SparkSession) -> None:
    for fields, place in (
        ((switching(c(0), c(2)), c(1), switching(c(1))), 2),
        ((c(0), switching(c(0)), switching(c(0), c(2), c(2))), 2),
    ):
        with pytest.raises(InvalidPlanError, match="the first switching field has") as caught:
            rows(spark, expand(*fields))
        wanted = f"relations[0].root.input.expand.fields[{place}].switching_field.duplicates"
        assert caught.value.path == wanted


def test_faults_have_the_path_of_the_duplicate(spark: SparkSession) -> None:
    bad = col(values([INT] * 9, []), 8)
    for fields, path in (
        ((switching(c(0), bad),), "fields[0].switching_field.duplicates[1]"),
        ((c(0), bad), "fields[1].consistent_field"),
    ):
        with pytest.raises(InvalidPlanError) as caught:
            rows(spark, expand(*fields))
        assert caught.value.path.startswith(f"relations[0].root.input.expand.{path}")
