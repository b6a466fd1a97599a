"""Window functions: every standard one against DuckDB, aggregates over windows, and windows wherever they may stand."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import ExecutionError, UnsupportedPlanError
from pyspark_substrait.model.expressions import (
    AggregationPhase,
    EnumArgument,
    Expression,
    IfClause,
    IfThen,
    InPredicate,
    SingularOrList,
    SortDirection,
)
from pyspark_substrait.model.relations import (
    ConsistentPartitionWindow,
    Fetch,
    JoinType,
    Measure,
    Read,
    Relation,
    Sort,
    WindowRelFunction,
)
from pyspark_substrait.model.types import I32, with_nullability
from tests.spark.plans import (
    INT,
    INT_,
    LONG_,
    REAL_,
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
    long,
    number,
    plan,
    project,
    rows,
    sort,
    text,
    values,
    where,
)
from tests.spark.windowing import CURRENT, RANGE, ROWS, UNBOUNDED, after, before, over

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ID, PART, KEY, X, R, OFFSET, NAME = range(7)
TYPES = (INT, TEXT_, LONG_, LONG_, REAL_, INT_, TEXT_)


def data() -> list[tuple[Any, ...]]:
    chance = random.Random(11)

    def some(*choices: Any) -> Any:
        return chance.choice((None, *choices))

    return [
        (
            number,
            some("a", "b", "c"),
            some(1, 2, 3, 4, 5),
            some(*range(-3, 4)),
            some(0.25, 0.5, 1.0, -2.5),
            some(-1, 0, 1, 2, 9),
            some("p", "q", "r"),
        )
        for number in range(48)
    ]


@pytest.fixture(scope="module")
def table() -> Read:
    return values(TYPES, data())


@pytest.fixture(scope="module")
def duck() -> Any:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (id INT, p VARCHAR, k BIGINT, x BIGINT, r DOUBLE, o INT, s VARCHAR)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)", data())
        yield connection


def ordered(input: Relation, *, total: bool = True) -> dict[str, Any]:
    """PARTITION BY p ORDER BY k NULLS FIRST, id; without ``total``, records with the same k are peers."""
    sorts = [sort(col(input, KEY)), *([sort(col(input, ID))] if total else [])]
    return {"partitions": [col(input, PART)], "sorts": sorts}


TOTAL = "PARTITION BY p ORDER BY k NULLS FIRST, id"
PEERS = "PARTITION BY p ORDER BY k NULLS FIRST"


def same(found: Any, expected: Any) -> bool:
    if isinstance(found, float) and isinstance(expected, int | float):
        return math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-12)
    return bool(found == expected)


def agree(
    spark: SparkSession, duck: Any, input: Read, pairs: Sequence[tuple[Expression, str]], *, at_once: int = 40
) -> None:
    """Compare expressions over the table with expressions of DuckDB, record by record."""
    chunks = [pairs[start : start + at_once] for start in range(0, len(pairs), at_once)]
    plans = [project(input, col(input, ID), *(expression for expression, _ in chunk)) for chunk in chunks]
    for found, chunk in zip(answers(spark, plans), chunks, strict=True):
        expected = duck.execute(f"SELECT id, {', '.join(sql for _, sql in chunk)} FROM t ORDER BY id").fetchall()
        found = sorted(found)
        assert [row[0] for row in found] == [row[0] for row in expected]
        for column, (_, sql) in enumerate(chunk, start=1):
            pairs_ = [(row[0], got[column], row[column]) for got, row in zip(found, expected, strict=True)]
            assert not [pair for pair in pairs_ if not same(pair[1], pair[2])], sql


def test_ranks_and_numbers(spark: SparkSession, duck: Any, table: Read) -> None:
    total, peers = ordered(table), ordered(table, total=False)
    unordered: dict[str, Any] = {"partitions": [col(table, PART)]}
    parts = call("add", call("coalesce", call("abs", col(table, OFFSET)), number(3)), number(1))
    pairs = [
        (over("row_number", **total), f"row_number() OVER ({TOTAL})"),
        (over("rank", **peers), f"rank() OVER ({PEERS})"),
        (over("dense_rank", **peers), f"dense_rank() OVER ({PEERS})"),
        (over("percent_rank", **peers), f"percent_rank() OVER ({PEERS})"),
        (over("cume_dist", **peers), f"cume_dist() OVER ({PEERS})"),
        (over("rank", **unordered), "rank() OVER (PARTITION BY p)"),
        (over("dense_rank"), "dense_rank() OVER ()"),
        (over("percent_rank", **unordered), "percent_rank() OVER (PARTITION BY p)"),
        (over("cume_dist"), "cume_dist() OVER ()"),
        (over("ntile", number(3), **total), f"ntile(3) OVER ({TOTAL})"),
        (over("ntile", long(5), **total), f"ntile(5) OVER ({TOTAL})"),
        (over("ntile", number(100), **total), f"ntile(100) OVER ({TOTAL})"),
        # frames mean nothing to them
        (over("rank", bounds=(ROWS, before(long(1)), CURRENT), **peers), f"rank() OVER ({PEERS})"),
        (over("ntile", number(2), bounds=(ROWS, CURRENT, CURRENT), **total), f"ntile(2) OVER ({TOTAL})"),
    ]
    agree(spark, duck, table, pairs)
    # each record's own number of parts, by the definition: the first parts have one record more
    found = rows(
        spark,
        project(
            table,
            over("ntile", parts, **total),
            over("ntile", call("add", parts, call("multiply", number(0), col(table, ID))), **total),
            parts,
            over("row_number", **total),
            over("count", partitions=[col(table, PART)]),
        ),
    )
    for tile, again, count, place, size in found:
        sizes = [size // count + (part < size % count) for part in range(count)]
        assert tile == again == next(part + 1 for part in range(count) if place <= sum(sizes[: part + 1]))


def test_values_at_positions(spark: SparkSession, duck: Any, table: Read) -> None:
    total, x = ordered(table), col(table, X)
    place = call("add", call("abs", call("coalesce", col(table, OFFSET), number(2))), number(1))
    spot = "abs(coalesce(o, 2)) + 1"
    pairs = []
    for bounds, frame in (
        ((None, UNBOUNDED, UNBOUNDED), "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"),
        ((ROWS, before(long(2)), after(long(1))), "ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING"),
        ((ROWS, after(long(1)), after(long(2))), "ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING"),
        ((RANGE, before(long(1)), CURRENT), None),
    ):
        window = {**total, "bounds": bounds}
        words = f"{TOTAL} {frame}"
        if frame is None:
            # by one key only; the id makes the order of its ties known
            window = {"partitions": [col(table, PART)], "sorts": [sort(col(table, ID))], "bounds": bounds}
            window["bounds"] = (RANGE, before(number(4)), CURRENT)
            words = "PARTITION BY p ORDER BY id RANGE BETWEEN 4 PRECEDING AND CURRENT ROW"
        pairs += [
            (over("first_value", x, **window), f"first_value(x) OVER ({words})"),
            (over("last_value", x, **window), f"last_value(x) OVER ({words})"),
            (over("nth_value", x, number(2), **window), f"nth_value(x, 2) OVER ({words})"),
            (over("nth_value", x, place, **window), f"nth_value(x, {spot}) OVER ({words})"),
        ]
    agree(spark, duck, table, pairs)


def test_other_records(spark: SparkSession, duck: Any, table: Read) -> None:
    total, x, offset = ordered(table), col(table, X), col(table, OFFSET)
    default = call("add", col(table, X), long(100))
    pairs = []
    for name in ("lead", "lag"):
        pairs += [
            (over(name, x, **total), f"{name}(x) OVER ({TOTAL})"),
            (over(name, x, number(2), **total), f"{name}(x, 2) OVER ({TOTAL})"),
            (over(name, x, number(-1), **total), f"{name}(x, -1) OVER ({TOTAL})"),
            (over(name, x, number(0), **total), f"{name}(x, 0) OVER ({TOTAL})"),
            (over(name, x, number(3), default, **total), f"{name}(x, 3, x + 100) OVER ({TOTAL})"),
            (over(name, x, number(None), **total), "NULL"),
            (
                over(name, x, offset, **total),
                f"CASE WHEN o IS NOT NULL THEN {name}(x, coalesce(o, 0)) OVER ({TOTAL}) END",
            ),
            (
                over(name, col(table, NAME), offset, text("none"), **total),
                f"CASE WHEN o IS NOT NULL THEN {name}(s, coalesce(o, 0), 'none') OVER ({TOTAL}) END",
            ),
        ]
    agree(spark, duck, table, pairs)


FRAMES = [
    ((None, UNBOUNDED, UNBOUNDED), "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"),
    ((ROWS, UNBOUNDED, CURRENT), "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"),
    ((ROWS, CURRENT, UNBOUNDED), "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"),
    ((ROWS, before(long(2)), after(long(1))), "ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING"),
    ((ROWS, after(long(2)), after(long(3))), "ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING"),
]


def test_aggregates_over_windows(spark: SparkSession, duck: Any, table: Read) -> None:
    x, r = col(table, X), col(table, R)
    positive = call("gt", x, long(0))
    sample, population = EnumArgument("SAMPLE"), EnumArgument("POPULATION")
    pairs = []
    for bounds, frame in FRAMES:
        window, words = {**ordered(table), "bounds": bounds}, f"OVER ({TOTAL} {frame})"
        pairs += [
            (over("count", **window), f"count(*) {words}"),
            (over("count", x, **window), f"count(x) {words}"),
            (over("sum", x, **window), f"CAST(sum(x) {words} AS BIGINT)"),
            (over("sum", x, overflow="SATURATE", **window), f"CAST(sum(x) {words} AS BIGINT)"),
            (over("sum0", x, **window), f"CAST(coalesce(sum(x) {words}, 0) AS BIGINT)"),
            (over("avg", x, **window), f"CAST(trunc(sum(x) {words} / count(x) {words}) AS BIGINT)"),
            (over("avg", r, **window), f"avg(r) {words}"),
            (over("min", x, **window), f"min(x) {words}"),
            (over("max", r, **window), f"max(r) {words}"),
            (over("std_dev", sample, r, **window), f"stddev_samp(r) {words}"),
            (over("variance", population, r, **window), f"var_pop(r) {words}"),
            (over("corr", r, call("add", r, r), **window), f"nullif(corr(r, r + r) {words}, 'NaN'::DOUBLE)"),
            (over("bool_and", positive, **window), f"bool_and(x > 0) {words}"),
            (over("bool_or", positive, **window), f"bool_or(x > 0) {words}"),
            (over("median", EnumArgument("EXACT"), r, **window), f"median(r) {words}"),
            (over("string_agg", col(table, NAME), text(","), **window), f"string_agg(s, ',') {words}"),
            (over("approx_count_distinct", col(table, NAME), **window), f"count(DISTINCT s) {words}"),
        ]
    agree(spark, duck, table, pairs, at_once=100)


@pytest.mark.sweep
def test_distinct_values_over_windows(spark: SparkSession, duck: Any, table: Read) -> None:
    x, r = col(table, X), col(table, R)
    pairs = []
    for bounds, frame in FRAMES:
        window, words = {**ordered(table), "bounds": bounds, "distinct": True}, f"OVER ({TOTAL} {frame})"
        pairs += [
            (over("count", x, **window), f"count(DISTINCT x) {words}"),
            (over("sum", x, **window), f"CAST(sum(DISTINCT x) {words} AS BIGINT)"),
            (over("avg", r, **window), f"avg(DISTINCT r) {words}"),
            (over("max", r, **window), f"max(r) {words}"),
        ]
    peers = {**ordered(table, total=False), "distinct": True}
    for bounds, frame in (
        ((RANGE, UNBOUNDED, CURRENT), "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"),
        ((RANGE, CURRENT, UNBOUNDED), "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"),
        ((RANGE, before(long(1)), CURRENT), "RANGE BETWEEN 1 PRECEDING AND CURRENT ROW"),
        ((RANGE, before(long(1)), UNBOUNDED), "RANGE BETWEEN 1 PRECEDING AND UNBOUNDED FOLLOWING"),
    ):
        pairs.append(
            (over("sum", x, bounds=bounds, **peers), f"CAST(sum(DISTINCT x) OVER ({PEERS} {frame}) AS BIGINT)")
        )
    agree(spark, duck, table, pairs, at_once=12)


def test_positions_that_are_none(spark: SparkSession, table: Read) -> None:
    total, place = ordered(table), call("negate", number(1))
    for wrong in (
        over("nth_value", col(table, X), place, **total),
        over("nth_value", col(table, X), number(None), **total),
        over("ntile", place, **total),
    ):
        with pytest.raises(ExecutionError, match="must be positive"):
            rows(spark, project(table, wrong))
    found = rows(spark, project(table, over("nth_value", col(table, R), place, on_domain_error="NAN", **total)))
    assert all(math.isnan(value) for (value,) in found)
    with pytest.raises(UnsupportedPlanError, match="NaN"):
        ps.to_sql(plan(project(table, over("nth_value", col(table, X), place, on_domain_error="NAN", **total))))


# where they may stand ------------------------------------------------------------------------------------------------


@pytest.mark.sweep
def test_places(spark: SparkSession, duck: Any, table: Read) -> None:
    total = ordered(table)
    numbered, name = over("row_number", **total), f"row_number() OVER ({TOTAL})"
    few = call("lte", numbered, long(2))
    x = col(table, X)
    second = call("equal", numbered, long(2))
    choice = IfThen(ifs=(IfClause(few, text("few")),), else_=text("more"))
    listed = SingularOrList(value=numbered, options=(long(1), long(3)))
    needles = values([with_nullability(numbered.type, False)], [(1,), (4,)])
    nested = over("sum", numbered, partitions=[over("ntile", number(2), **total)])
    ranked = over("row_number", sorts=[sort(numbered, SortDirection.DESC_NULLS_LAST), sort(col(table, ID))])
    cases: list[tuple[Relation, str]] = [
        (where(table, few), f"SELECT * FROM t QUALIFY {name} <= 2"),
        (where(table, call("and", few, call("gt", x, long(0)))), f"SELECT * FROM t QUALIFY {name} <= 2 AND x > 0"),
        (
            where(where(table, call("gt", x, long(0))), few),
            f"SELECT * FROM (SELECT * FROM t WHERE x > 0) QUALIFY {name} <= 2",
        ),
        (project(table, col(table, ID), choice), f"SELECT id, CASE WHEN {name} <= 2 THEN 'few' ELSE 'more' END FROM t"),
        (project(table, col(table, ID), listed), f"SELECT id, {name} IN (1, 3) FROM t"),
        (
            where(table, InPredicate(needles=(numbered,), haystack=needles)),
            f"SELECT * FROM t QUALIFY {name} IN (1, 4)",
        ),
        (
            project(table, col(table, ID), nested, ranked),
            f"SELECT id, CAST(sum(n) OVER (PARTITION BY m) AS BIGINT), row_number() OVER (ORDER BY n DESC, id) "
            f"FROM (SELECT id, {name} AS n, ntile(2) OVER ({TOTAL}) AS m FROM t)",
        ),
        (
            group(table, [over("ntile", number(2), **total)], [aggregate("sum", x), aggregate("count")]),
            "SELECT n, CAST(sum(x) AS BIGINT), count(*) "
            f"FROM (SELECT ntile(2) OVER ({TOTAL}) AS n, x FROM t) GROUP BY n",
        ),
        (
            group(
                table,
                [col(table, PART)],
                [aggregate("sum", numbered), Measure(measure=aggregate("count"), filter=few)],
            ),
            "SELECT p, CAST(sum(n) AS BIGINT), count(*) FILTER (n <= 2) "
            f"FROM (SELECT p, {name} AS n FROM t) GROUP BY p",
        ),
        (
            group(
                table,
                [],
                [aggregate("string_agg", col(table, NAME), text(""), sorts=(sort(numbered), sort(col(table, ID))))],
            ),
            f"SELECT string_agg(s, '' ORDER BY n, id) FROM (SELECT id, s, {name} AS n FROM t)",
        ),
        (
            Read(base_schema=table.base_schema, read_type=table.read_type, filter=second),
            f"SELECT * FROM t QUALIFY {name} = 2",
        ),
    ]
    other = values([INT], [(1,), (2,)])
    condition = call("equal", call("modulus", col(table, ID), number(3)), col(both(table, other), 7))
    joined = join(table, other, condition, JoinType.INNER)
    pairs = over("row_number", sorts=[sort(col(joined, ID), SortDirection.DESC_NULLS_LAST)])
    cases.append(
        (
            join(table, other, condition, JoinType.INNER, post_join_filter=call("lte", pairs, long(5))),
            "SELECT * FROM t, (VALUES (1), (2)) v(y) WHERE id % 3 = y "
            "QUALIFY row_number() OVER (ORDER BY id DESC) <= 5",
        )
    )
    found = answers(spark, [relation for relation, _ in cases])
    for rows_, (_, sql) in zip(found, cases, strict=True):
        assert sorted(rows_, key=repr) == sorted(duck.execute(sql).fetchall(), key=repr), sql


def test_sorting_by_a_window(spark: SparkSession, duck: Any, table: Read) -> None:
    numbered = over("row_number", **ordered(table))
    relation = Sort(input=table, sorts=(sort(numbered, SortDirection.DESC_NULLS_LAST), sort(col(table, ID))))
    found = [row[0] for row in rows(spark, project(relation, col(relation, ID)))]
    words = f"SELECT id FROM (SELECT id, row_number() OVER ({TOTAL}) AS n FROM t) ORDER BY n DESC, id"
    assert found == [row[0] for row in duck.execute(words).fetchall()]


def test_window_relation(spark: SparkSession, duck: Any, table: Read) -> None:
    """Its functions share partitions and sorts, and the order of the input stays."""
    shuffled = Sort(input=table, sorts=(sort(col(table, X)), sort(col(table, ID), SortDirection.DESC_NULLS_LAST)))

    def function(call: Any) -> WindowRelFunction:
        fields = ("function", "arguments", "output_type", "derived_type", "invocation")
        bounds = ("bounds_type", "lower_bound", "upper_bound")
        return WindowRelFunction(**{field: getattr(call, field) for field in (*fields, *bounds)})

    total = ordered(table)
    relation = ConsistentPartitionWindow(
        input=shuffled,
        window_functions=(
            function(over("row_number")),
            function(over("sum", col(table, X), bounds=(ROWS, UNBOUNDED, CURRENT))),
            function(over("count", col(table, X), distinct=True)),
        ),
        partition_expressions=tuple(total["partitions"]),
        sorts=tuple(total["sorts"]),
        common=emit(ID, 7, 8, 9),
    )
    running = f"sum(x) OVER ({TOTAL} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    words = (
        f"SELECT id, row_number() OVER ({TOTAL}), CAST({running} AS BIGINT), count(DISTINCT x) OVER (PARTITION BY p) "
        "FROM t ORDER BY x NULLS FIRST, id DESC"
    )
    expected = duck.execute(words).fetchall()
    assert rows(spark, relation) == expected
    first = Fetch(input=relation, count_expr=long(5))
    assert rows(spark, first) == expected[:5]


def test_no_records(spark: SparkSession, table: Read) -> None:
    none = where(table, call("gt", col(table, ID), number(1000)))
    calls = [
        over("row_number", **ordered(none)),
        over("count", col(none, X), distinct=True, **ordered(none)),
        over("sum", col(none, X), bounds=(ROWS, before(call("add", long(1), col(none, X))), CURRENT), **ordered(none)),
    ]
    assert rows(spark, project(none, *calls)) == []


# what is refused -----------------------------------------------------------------------------------------------------


def refusal(relation: Relation) -> UnsupportedPlanError:
    with pytest.raises(UnsupportedPlanError) as caught:
        ps.to_sql(plan(relation))
    return caught.value


def test_refusals(table: Read) -> None:
    first = call("equal", over("row_number"), long(1))
    other = values([INT], [(1,)])
    assert refusal(join(table, other, first, JoinType.INNER)).path.endswith("arguments[0].window_function")
    assert refusal(Fetch(input=table, count_expr=over("row_number"))).path.endswith("count_expr.window_function")
    partial = over("sum", col(table, X))
    partial = type(partial)(**{**_fields(partial), "phase": AggregationPhase.INITIAL_TO_INTERMEDIATE})
    assert refusal(project(table, partial)).path.endswith("window_function.phase")
    assert refusal(project(table, over("count", distinct=True))).path.endswith("window_function.invocation")
    assert refusal(project(table, over("rank", distinct=True))).path.endswith("window_function.invocation")


def _fields(call: Any) -> dict[str, Any]:
    return {name: getattr(call, name) for name in call.__dataclass_fields__}


def test_plans_without_windows_stay_flat(table: Read) -> None:
    relation = where(table, call("gt", col(table, ID), lit(I32(), 1)))
    text_ = ps.to_sql(plan(project(relation, col(relation, ID))))
    assert text_.count("SELECT") == 1
