"""Every relation inside of a correlated subquery, with the outer column in places other than a filter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import ExecutionError
from pyspark_substrait.model.expressions import (
    Cast,
    Expression,
    Function,
    InPredicate,
    PredicateOp,
    ScalarSubquery,
    SetPredicate,
    WindowFunction,
)
from pyspark_substrait.model.relations import (
    Cross,
    Fetch,
    JoinType,
    LateralJoin,
    Read,
    Reference,
    Relation,
    RelCommon,
    Set,
    SetOp,
    Sort,
)
from tests.spark.correlated import TABLES, generated
from tests.spark.plans import (
    INT_,
    LONG_,
    aggregate,
    answers,
    both,
    call,
    col,
    group,
    join,
    lit,
    number,
    ordered,
    outer,
    plan,
    project,
    rows,
    sort,
    tuples,
    values,
    where,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.sweep

R: Read = values([INT_, INT_], TABLES["r"])
S: Read = values([INT_, INT_], TABLES["s"])
T: Read = values([INT_, INT_], TABLES["t"])

ra, rb, sa, sb, ta, tb = col(R, 0), col(R, 1), col(S, 0), col(S, 1), col(T, 0), col(T, 1)
ra1, rb1, sa1, sb1 = (outer(table, place, steps_out=1) for table in (R, S) for place in (0, 1))
ra2, rb2 = outer(R, 0, steps_out=2), outer(R, 1, steps_out=2)


@pytest.fixture(scope="module")
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        for name, records in TABLES.items():
            connection.execute(f"CREATE TABLE {name} (a INT, b INT)")
            connection.executemany(f"INSERT INTO {name} VALUES (?, ?)", records)
        yield connection


def scalar(input: Relation) -> ScalarSubquery:
    return ScalarSubquery(input=input)


def among(haystack: Relation, *needles: Expression) -> InPredicate:
    return InPredicate(needles=needles, haystack=haystack)


def exists(input: Relation) -> SetPredicate:
    return SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=input)


def eq(left: Expression, right: Expression) -> Expression:
    return call("equal", left, right)


def every(*conditions: Expression) -> Expression:
    return call("and", *conditions)


def first(input: Relation) -> Relation:
    return project(input, col(input, 0))


def count_of(input: Relation) -> Relation:
    counted = group(input, [], [aggregate("count")])
    return project(counted, Cast(type=INT_, input=col(counted, 0)))


def largest(input: Relation, value: Expression) -> Relation:
    return group(input, [], [aggregate("max", value)])


def check(
    spark: SparkSession, duck: duckdb.DuckDBPyConnection, nodes: list[Any], queries: list[tuple[str, str]]
) -> None:
    for found, (name, query) in zip(answers(spark, nodes), queries, strict=True):
        assert ordered(found) == ordered(duck.execute(query).fetchall()), name


def inner_relations() -> dict[str, tuple[Any, str]]:
    """The outer column in every relation, and in places other than a filter. Each is the relation of an EXISTS or IN,
    whose first column is compared."""
    pair = both(S, T)
    pa, pb, pc, pd = (col(pair, place) for place in range(4))
    near_left = where(S, eq(sa, ra1))
    near_right = where(T, call("lte", ta, ra1))
    near_left_sql, near_right_sql = "(SELECT * FROM s WHERE s.a = r.a) AS s", "(SELECT * FROM t WHERE t.a <= r.a) AS t"
    found: dict[str, tuple[Any, str]] = {
        "project": (project(S, call("add", sb, ra1)), "SELECT s.b + r.a FROM s"),
        "argument": (largest(S, call("add", sb, ra1)), "SELECT (SELECT max(s.b + x) FROM s) FROM (SELECT r.a AS x)"),
        "grouping": (
            group(S, [call("add", sa, ra1)], [aggregate("count")], None),
            "SELECT k FROM (SELECT s.a + r.a AS k FROM s) GROUP BY k",
        ),
        "group": (group(near_left, [sb], []), "SELECT s.b FROM s WHERE s.a = r.a GROUP BY s.b"),
        "count": (count_of(where(S, call("gt", sb, rb1))), "SELECT CAST(count(*) AS INT) FROM s WHERE s.b > r.b"),
        "values": (
            values([INT_, INT_], [(rb1, 1), (1, 1), (call("add", ra1, number(1)), 1)]),
            "SELECT r.b UNION ALL SELECT 1 UNION ALL SELECT r.a + 1",
        ),
        "cross": (Cross(left=near_left, right=near_right), f"SELECT s.a FROM {near_left_sql}, {near_right_sql}"),
    }
    kinds = {
        JoinType.INNER: "JOIN",
        JoinType.LEFT: "LEFT JOIN",
        JoinType.RIGHT: "RIGHT JOIN",
        JoinType.OUTER: "FULL JOIN",
    }
    for kind, words in kinds.items():
        for name, left, right, condition, left_sql, right_sql, sql in (
            ("left", near_left, T, eq(pb, pd), near_left_sql, "t", "s.b = t.b"),
            ("right", S, near_right, eq(pb, pd), "s", near_right_sql, "s.b = t.b"),
            ("both", near_left, near_right, call("lt", pb, pd), near_left_sql, near_right_sql, "s.b < t.b"),
            ("on", S, T, every(eq(pa, pc), eq(pb, rb1)), "s", "t", "s.a = t.a AND s.b = r.b"),
        ):
            if kind is JoinType.OUTER and name in ("on", "left"):
                continue  # DuckDB takes no outer column there; these are tried below, by hand
            whole = join(left, right, condition, kind)
            value = call("coalesce", col(whole, 1), col(whole, 2))
            found[f"{kind.value} {name}"] = (
                project(whole, value),
                f"SELECT coalesce(s.b, t.a) FROM {left_sql} {words} {right_sql} ON {sql}",
            )
    for name, left, right, left_sql, right_sql in (
        ("left", near_left, T, near_left_sql, "t"),
        ("right", S, near_right, "s", near_right_sql),
    ):
        condition, sql = every(call("lte", pb, pd), call("gte", rb1, pc)), "s.b <= t.b AND r.b >= t.a"
        of_left, of_right = f"SELECT 1 FROM {right_sql} WHERE {sql}", f"SELECT 1 FROM {left_sql} WHERE {sql}"
        found[f"left semi {name}"] = (
            join(left, right, condition, JoinType.LEFT_SEMI),
            f"SELECT s.a FROM {left_sql} WHERE EXISTS ({of_left})",
        )
        found[f"left anti {name}"] = (
            join(left, right, condition, JoinType.LEFT_ANTI),
            f"SELECT s.a FROM {left_sql} WHERE NOT EXISTS ({of_left})",
        )
        found[f"right semi {name}"] = (
            join(left, right, condition, JoinType.RIGHT_SEMI),
            f"SELECT t.a FROM {right_sql} WHERE EXISTS ({of_right})",
        )
        found[f"right anti {name}"] = (
            join(left, right, condition, JoinType.RIGHT_ANTI),
            f"SELECT t.a FROM {right_sql} WHERE NOT EXISTS ({of_right})",
        )
        marked = join(left, right, condition, JoinType.LEFT_MARK)
        found[f"left mark {name}"] = (
            project(where(marked, call("is_null", col(marked, 2))), col(marked, 0)),
            f"SELECT s.a FROM {left_sql} WHERE NOT EXISTS ({of_left}) "
            f"AND EXISTS (SELECT 1 FROM {right_sql} WHERE ({sql}) IS NULL)",
        )
    distinct_t = group(near_right, [tb], [aggregate("max", ta)])
    single = join(S, distinct_t, eq(sb, col(both(S, distinct_t), 2)), JoinType.LEFT_SINGLE)
    found["single"] = (
        project(single, col(single, 3)),
        f"SELECT m FROM s LEFT JOIN (SELECT t.b AS k, max(t.a) AS m FROM {near_right_sql} GROUP BY t.b) ON s.b = k",
    )
    for op, words in (
        (SetOp.UNION_ALL, "UNION ALL"),
        (SetOp.UNION_DISTINCT, "UNION"),
        (SetOp.MINUS_PRIMARY, "EXCEPT"),
        (SetOp.MINUS_PRIMARY_ALL, "EXCEPT ALL"),
        (SetOp.INTERSECTION_MULTISET, "INTERSECT"),
        (SetOp.INTERSECTION_MULTISET_ALL, "INTERSECT ALL"),
    ):
        members = (project(S, sb), project(near_right, ta))
        sql = f"SELECT s.b FROM s {words} SELECT t.a FROM {near_right_sql}"
        found[words] = (Set(members=members, op=op), sql)
    three = (project(S, sb), project(near_right, ta), project(near_right, ra1))
    found["minus multiset"] = (
        Set(members=three, op=SetOp.MINUS_MULTISET),
        "SELECT v FROM (SELECT s.b AS v FROM s) WHERE NOT EXISTS "
        f"(SELECT 1 FROM (SELECT t.a AS w FROM {near_right_sql} "
        f"INTERSECT SELECT r.a FROM {near_right_sql}) WHERE v IS NOT DISTINCT FROM w)",
    )
    found["intersection primary"] = (
        Set(members=three, op=SetOp.INTERSECTION_PRIMARY),
        f"SELECT s.b FROM s INTERSECT (SELECT t.a FROM {near_right_sql} UNION ALL SELECT r.a FROM {near_right_sql})",
    )
    last = Sort(input=near_right, sorts=(sort(call("add", tb, rb1)), sort(ta)))
    found["limit"] = (
        Fetch(input=last, count_expr=number(1)),
        "SELECT t.a FROM t WHERE t.a <= r.a ORDER BY t.b + r.b NULLS FIRST, t.a NULLS FIRST LIMIT 1",
    )
    found["offset"] = (
        Fetch(input=project(last, ta, tb), offset_expr=number(1)),
        "SELECT t.a FROM t WHERE t.a <= r.a ORDER BY t.b + r.b NULLS FIRST, t.a NULLS FIRST OFFSET 1",
    )
    return found


def test_every_relation_around_an_outer_column(spark: SparkSession, duck: duckdb.DuckDBPyConnection) -> None:
    """How many records there are for each outer record, and the largest value in the first column."""
    listed = list(inner_relations().items())
    nodes, queries = [], []
    for start in range(0, len(listed), 4):
        part = listed[start : start + 4]
        nodes.append(project(R, ra, rb, *(scalar(summary(node)) for _, (node, _) in part)))
        sql = ", ".join(
            f"(SELECT count(*) * 100 + coalesce(max(v), -1) FROM ({inner}) AS q(v))" for _, (_, inner) in part
        )
        queries.append((str([name for name, _ in part]), f"SELECT r.*, {sql} FROM r"))
    check(spark, duck, nodes, queries)


def summary(input: Relation) -> Relation:
    """The number of records, times 100, and the largest value in the first column (-1: none)."""
    both_ = group(input, [], [aggregate("count"), aggregate("max", col(input, 0))])
    count, most = (Cast(type=LONG_, input=col(both_, place)) for place in (0, 1))
    least = call("coalesce", most, lit(LONG_, -1))
    return project(both_, call("add", call("multiply", count, lit(LONG_, 100)), least))


def test_random_queries(spark: SparkSession, duck: duckdb.DuckDBPyConnection) -> None:
    """Queries of all these, nested at random. DuckDB takes almost all of them."""
    nodes, queries = [], []
    for seed in range(1000, 1024):
        query = generated(seed)
        try:
            duck.execute(query.sql)
        except duckdb.Error:
            continue
        nodes.append(query.node)
        queries.append((f"seed {seed}", query.sql))
    assert len(nodes) > 18
    check(spark, duck, nodes, queries)


# bounds of a fetch ----------------------------------------------------------------------------------------------------

IN_ORDER = Sort(input=S, sorts=(sort(sa), sort(sb)))
SORTED = sorted(TABLES["s"], key=lambda row: [(value is not None, value or 0) for value in row])


def fetch(input: Relation, offset: Expression | None, count: Expression | None) -> Fetch:
    return Fetch(input=input, offset_expr=offset, count_expr=count)


def test_a_subquery_as_a_bound(spark: SparkSession) -> None:
    three = scalar(count_of(T))
    nothing = scalar(largest(where(T, call("gt", ta, number(9))), ta))
    one = scalar(largest(where(T, exists(where(S, eq(sb, outer(T, 1, steps_out=1))))), call("add", ta, number(-1))))
    nodes = [fetch(IN_ORDER, None, three), fetch(IN_ORDER, three, None), fetch(IN_ORDER, one, three)]
    nodes += [fetch(IN_ORDER, nothing, three), fetch(IN_ORDER, three, nothing)]
    wanted = [SORTED[:3], SORTED[3:], SORTED[1:4], SORTED[:3], SORTED[3:]]
    for found, expected in zip(answers(spark, nodes), wanted, strict=True):
        assert ordered(found) == ordered(expected)
    assert rows(spark, nodes[0]) == SORTED[:3]


def test_a_negative_computed_bound_is_an_error(spark: SparkSession) -> None:
    """Even where there are no records to fetch."""
    below = call("add", number(1), number(-2))
    query = scalar(largest(T, call("add", ta, number(-9))))
    none = where(S, call("gt", sa, number(99)))
    empty = values([INT_, INT_], [])
    per_record = where(R, exists(fetch(where(S, eq(sa, ra1)), None, rb1)))
    assert ordered(rows(spark, per_record)) == ordered([(1, None), (2, 2), (2, 2)])
    negative = where(R, exists(fetch(S, call("add", rb1, number(-1)), None)))
    for node in (fetch(none, below, None), fetch(empty, None, below), fetch(empty, query, None), negative):
        with pytest.raises(ExecutionError, match="a bound of a fetch is negative"):
            rows(spark, node)


def test_outer_columns_as_bounds(spark: SparkSession) -> None:
    """For each record of R, so many of S's records as its b says, from its a on; null is no bound."""
    here = fetch(IN_ORDER, ra1, rb1)
    count = project(R, ra, rb, scalar(count_of(here)))
    total = project(R, ra, rb, scalar(largest(here, sb)))
    found = answers(spark, [count, total])
    expected, largest_of = [], []
    for a, b in TABLES["r"]:
        part = SORTED[a or 0 :]
        part = part if b is None else part[:b]
        known = [value for _, value in part if value is not None]
        expected.append((a, b, len(part)))
        largest_of.append((a, b, max(known) if known else None))
    assert ordered(found[0]) == ordered(expected)
    assert ordered(found[1]) == ordered(largest_of)


# windows --------------------------------------------------------------------------------------------------------------


def over(name: str, *arguments: Expression, type: Any = LONG_, **parts: Any) -> WindowFunction:
    signature = "_".join("i32" for _ in arguments)
    function = Function("extension:io.substrait:functions_arithmetic", name, signature)
    return WindowFunction(function=function, arguments=arguments, output_type=type, derived_type=type, **parts)


def test_windows(spark: SparkSession, duck: duckdb.DuckDBPyConnection) -> None:
    """Over the records of one outer record each; and over a subquery's values."""
    near = where(S, call("lte", sa, ra1))
    numbered = project(near, over("row_number", sorts=(sort(call("add", sb, rb1)), sort(sa))), sa)
    second = project(where(numbered, eq(col(numbered, 0), lit(LONG_, 2))), col(numbered, 1))
    deep = where(T, exists(where(S, every(eq(sa, outer(T, 0, steps_out=1)), call("lte", sb, ra2)))))
    ranked = project(deep, over("row_number", sorts=(sort(tb), sort(ta))))
    of_values = project(R, ra, over("max", scalar(largest(deep, tb)), type=INT_, partitions=(ra,)))
    check(
        spark,
        duck,
        [
            project(R, ra, rb, among(second, ra)),
            project(R, ra, rb, scalar(group(ranked, [], [aggregate("max", col(ranked, 0))]))),
            of_values,
        ],
        [
            (
                "numbers",
                "SELECT a, b, a IN (SELECT k FROM (SELECT row_number() OVER (ORDER BY s.b + r.b NULLS FIRST, "
                "s.a NULLS FIRST) AS n, s.a AS k FROM s WHERE s.a <= r.a) WHERE n = 2) FROM r",
            ),
            (
                "two levels",
                "SELECT a, b, (SELECT max(n) FROM (SELECT row_number() OVER (ORDER BY t.b) AS n FROM t "
                "WHERE EXISTS (SELECT 1 FROM s WHERE s.a = t.a AND s.b <= r.a))) FROM r",
            ),
            (
                "values",
                "SELECT a, max(v) OVER (PARTITION BY a) FROM (SELECT a, (SELECT max(t.b) FROM t "
                "WHERE EXISTS (SELECT 1 FROM s WHERE s.a = t.a AND s.b <= r.a)) AS v FROM r)",
            ),
        ],
    )


# lateral joins and shared relations -----------------------------------------------------------------------------------


def test_lateral_joins(spark: SparkSession, duck: duckdb.DuckDBPyConnection) -> None:
    """The right input refers to the left record by its anchor, from inside of subqueries, too."""
    here = RelCommon(rel_anchor=5)
    left_a, left_b = outer(R, 0, rel_reference=5), outer(R, 1, rel_reference=5)
    last = fetch(Sort(input=where(S, call("lte", sa, left_a)), sorts=(sort(sb), sort(sa))), None, number(1))
    deep = where(T, exists(where(S, every(eq(sa, outer(T, 0, steps_out=1)), call("lte", sb, left_b)))))

    def lateral(right: Any, type: JoinType, **more: Any) -> LateralJoin:
        return LateralJoin(left=R, right=right, type=type, common=here, **more)

    pair = both(R, T)
    last_sql = "(SELECT * FROM s WHERE s.a <= r.a ORDER BY s.b NULLS FIRST, s.a NULLS FIRST LIMIT 1) AS q"
    deep_sql = "(SELECT * FROM t WHERE EXISTS (SELECT 1 FROM s WHERE s.a = t.a AND s.b <= r.b)) AS q"
    on = eq(col(pair, 1), col(pair, 3))
    inside = where(S, exists(lateral(where(T, every(call("gte", ta, sa1), call("lte", tb, left_a))), JoinType.INNER)))
    check(
        spark,
        duck,
        [
            lateral(last, JoinType.INNER),
            lateral(last, JoinType.LEFT_SINGLE),
            lateral(deep, JoinType.LEFT, expression=on),
            lateral(deep, JoinType.LEFT_ANTI),
            lateral(deep, JoinType.LEFT_SEMI, expression=on),
            inside,
        ],
        [
            ("inner", f"SELECT r.*, q.* FROM r JOIN LATERAL {last_sql} ON true"),
            ("single", f"SELECT r.*, q.* FROM r LEFT JOIN LATERAL {last_sql} ON true"),
            ("left", f"SELECT r.*, q.* FROM r LEFT JOIN LATERAL {deep_sql} ON r.b = q.b"),
            ("anti", f"SELECT * FROM r WHERE NOT EXISTS (SELECT 1 FROM {deep_sql})"),
            ("semi", f"SELECT * FROM r WHERE EXISTS (SELECT 1 FROM {deep_sql} WHERE q.b = r.b)"),
            (
                "inside",
                "SELECT * FROM s WHERE EXISTS (SELECT 1 FROM r, t WHERE t.a >= s.a AND t.b <= r.a)",
            ),
        ],
    )


def test_a_shared_relation_at_two_depths(spark: SparkSession, duck: duckdb.DuckDBPyConnection) -> None:
    """What it refers to by its anchor is one query out at one use and two at the other."""
    shared = where(T, call("lte", ta, outer(R, 0, rel_reference=3)))
    near, far = (Reference(subtree_ordinal=1, subtree=shared) for _ in range(2))
    deep = where(S, exists(where(far, eq(tb, sb1))))
    members = (project(near, ta), project(deep, sa))
    both_uses = Set(members=members, op=SetOp.UNION_ALL)
    node = project(R, ra, rb, among(both_uses, rb), scalar(count_of(both_uses)))
    node = replace(node, common=replace(node.common, rel_anchor=3))
    document = plan(node, (), shared)
    sql = (
        "SELECT t.a AS v FROM t WHERE t.a <= r.a "
        "UNION ALL SELECT s.a FROM s WHERE EXISTS (SELECT 1 FROM t WHERE t.a <= r.a AND t.b = s.b)"
    )
    wanted = duck.execute(f"SELECT a, b, b IN ({sql}), (SELECT count(*) FROM ({sql})) FROM r").fetchall()
    assert ordered(tuples(ps.run_query(document, spark=spark))) == ordered(wanted)
