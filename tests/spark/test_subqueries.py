"""Subqueries of every form, uncorrelated and correlated, against DuckDB's three-valued answers."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from pyspark_substrait.errors import ExecutionError, InvalidPlanError, SubstraitError
from pyspark_substrait.model.expressions import (
    ComparisonOp,
    Expression,
    InPredicate,
    PredicateOp,
    ReductionOp,
    ScalarSubquery,
    SetComparison,
    SetPredicate,
)
from pyspark_substrait.model.relations import Fetch, JoinType, Read, Reference, Relation, RelCommon, Sort
from tests.spark.plans import (
    INT,
    INT_,
    TEXT,
    aggregate,
    answers,
    both,
    call,
    col,
    group,
    join,
    number,
    ordered,
    outer,
    plan,
    project,
    rows,
    sort,
    truth,
    tuples,
    values,
    where,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OUTER = [(1, 1, "a"), (2, None, "b"), (None, 3, "c"), (4, 9, "d")]
# g is what correlated queries compare with the outer x; g = 4 has no records, g = 2 a null
INNER = [(1, 1), (1, 1), (1, 2), (2, None), (2, 5), (3, 9)]

T1: Read = values([INT_, INT_, TEXT], OUTER)
T2: Read = values([INT_, INT_], INNER)
WITHOUT_NULLS: Read = values([INT], [(1,), (5,)])
NOTHING: Read = values([INT_], [])
NULLS: Read = values([INT_], [(None,), (1,)])


@pytest.fixture(scope="module")
def duck() -> Any:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t1 (x INT, y INT, t VARCHAR)")
        connection.executemany("INSERT INTO t1 VALUES (?, ?, ?)", OUTER)
        connection.execute("CREATE TABLE t2 (g INT, v INT)")
        connection.executemany("INSERT INTO t2 VALUES (?, ?)", INNER)
        connection.execute("CREATE TABLE few AS SELECT * FROM (VALUES (1), (5)) AS s(v)")
        connection.execute("CREATE TABLE nothing (v INT)")
        connection.execute("CREATE TABLE nulls AS SELECT * FROM (VALUES (NULL), (1)) AS s(v)")
        yield connection


x, y = col(T1, 0), col(T1, 1)


def scalar(input: Relation) -> ScalarSubquery:
    return ScalarSubquery(input=input)


def among(haystack: Relation, *needles: Expression) -> InPredicate:
    return InPredicate(needles=needles, haystack=haystack)


def exists(input: Relation) -> SetPredicate:
    return SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=input)


def unique(input: Relation) -> SetPredicate:
    return SetPredicate(predicate_op=PredicateOp.UNIQUE, tuples=input)


def compare(left: Expression, op: ComparisonOp, reduction: ReductionOp, right: Relation) -> SetComparison:
    return SetComparison(left=left, comparison_op=op, reduction_op=reduction, right=right)


def negated(condition: Expression) -> Expression:
    return call("not", condition)


def of_group(*, steps_out: int | None = 1, rel_reference: int | None = None, keep: int | None = 1) -> Relation:
    """The records of T2 whose g is the x of the outer record: their v, or with ``keep=None`` both columns."""
    own = where(T2, call("equal", col(T2, 0), outer(T1, 0, steps_out=steps_out, rel_reference=rel_reference)))
    return own if keep is None else project(own, col(own, keep))


# each predicate: the expression, and DuckDB's SQL
def predicates() -> list[tuple[Expression, str]]:
    found: list[tuple[Expression, str]] = []
    for relation, name in ((WITHOUT_NULLS, "few"), (NULLS, "nulls"), (NOTHING, "nothing")):
        found.append((among(relation, x), f"x IN (SELECT v FROM {name})"))
        for op, reduction in itertools.product(ComparisonOp, ReductionOp):
            sql = f"x {op.value} {reduction.name} (SELECT v FROM {name})"
            found.append((compare(x, op, reduction, relation), sql))
    correlated = of_group()
    found.append((among(correlated, y), "y IN (SELECT v FROM t2 WHERE g = x)"))
    for op, reduction in itertools.product((ComparisonOp.EQ, ComparisonOp.LT, ComparisonOp.NE), ReductionOp):
        sql = f"y {op.value} {reduction.name} (SELECT v FROM t2 WHERE g = x)"
        found.append((compare(y, op, reduction, correlated), sql))
    found.append((exists(T2), "EXISTS (SELECT * FROM t2)"))
    found.append((exists(NOTHING), "EXISTS (SELECT * FROM nothing)"))
    found.append((exists(correlated), "EXISTS (SELECT * FROM t2 WHERE g = x)"))
    return found


@pytest.mark.sweep
def test_predicates_as_values(spark: SparkSession, duck: Any) -> None:
    listed = predicates()
    nodes, wanted = [], []
    for start in range(0, len(listed), 6):
        part = listed[start : start + 6]
        nodes.append(project(T1, col(T1, 2), *(expression for expression, _ in part)))
        wanted.append(duck.execute(f"SELECT t, {', '.join(sql for _, sql in part)} FROM t1").fetchall())
    for found, records in zip(answers(spark, nodes), wanted, strict=True):
        assert ordered(found) == ordered(records)


@pytest.mark.sweep
def test_predicates_as_conditions(spark: SparkSession, duck: Any) -> None:
    nodes, wanted, queries = [], [], []
    for expression, sql in predicates():
        if isinstance(expression, SetComparison) and expression.comparison_op in (ComparisonOp.LE, ComparisonOp.GT):
            continue
        large = call("equal", y, number(3))
        for condition, text_of in (
            (expression, sql),
            (negated(expression), f"NOT ({sql})"),
            (call("or", large, negated(expression)), f"y = 3 OR NOT ({sql})"),
        ):
            nodes.append(project(where(T1, condition), col(T1, 2)))
            queries.append(text_of)
            wanted.append(duck.execute(f"SELECT t FROM t1 WHERE {text_of}").fetchall())
    for found, records, query in zip(answers(spark, nodes), wanted, queries, strict=True):
        assert ordered(found) == ordered(records), query


def test_tuples_in_a_query(spark: SparkSession) -> None:
    """Field by field, as SQL has it: (2, null) may be (2, 5), but (4, 9) can't be."""
    nodes: list[Relation] = []
    for haystack in (T2, of_group(keep=None)):
        inside = among(haystack, x, y)
        nodes.append(where(T1, inside))
        nodes.append(where(T1, negated(inside)))
        nodes.append(where(T1, call("or", inside, call("is_null", x))))
        nodes.append(project(T1, col(T1, 2), inside))
    for position, found in enumerate(answers(spark, nodes)):
        haystacks = [INNER if position < 4 else [row for row in INNER if row[0] == one] for one, _, _ in OUTER]
        outcomes = [(row, within(row[:2], haystack)) for row, haystack in zip(OUTER, haystacks, strict=True)]
        wanted: list[list[Any]] = [
            [row for row, outcome in outcomes if outcome is True],
            [row for row, outcome in outcomes if outcome is False],
            [row for row, outcome in outcomes if outcome is True or row[0] is None],
            [(row[2], outcome) for row, outcome in outcomes],
        ]
        assert ordered(found) == ordered(wanted[position % 4]), position


def within(needle: Any, haystack: list[Any]) -> bool | None:
    """Whether a record is among others, in three values."""
    outcomes = []
    for row in haystack:
        fields = [None if a is None or b is None else a == b for a, b in zip(needle, row, strict=True)]
        outcomes.append(False if False in fields else None if None in fields else True)
    return True if True in outcomes else None if None in outcomes else False


def test_unique(spark: SparkSession) -> None:
    nodes = [
        project(number_table(), unique(input))
        for input in (
            T2,  # (1, 1) twice
            project(T2, col(T2, 0)),
            WITHOUT_NULLS,
            NOTHING,
            values([INT_], [(None,), (None,), (1,)]),  # null equals no null
            values([INT, INT_], [(1, None), (1, None)]),
            Fetch(input=Sort(input=T2, sorts=(sort(col(T2, 1)),)), count_expr=number(2)),
        )
    ]
    nodes.append(project(T1, col(T1, 2), unique(of_group())))
    nodes.append(project(where(T1, negated(unique(of_group()))), col(T1, 2)))
    found = answers(spark, nodes)
    assert [item[0][0] for item in found[:7]] == [False, False, True, True, True, True, True]
    assert ordered(found[7]) == [("a", False), ("b", True), ("c", True), ("d", True)]
    assert found[8] == [("a",)]


def number_table() -> Read:
    return values([INT], [(0,)])


def test_scalar_subqueries(spark: SparkSession, duck: Any) -> None:
    largest = group(of_group(), [], [aggregate("max", col(of_group(), 0))])
    counted = group(of_group(), [], [aggregate("count")])
    one_row = Fetch(input=Sort(input=WITHOUT_NULLS, sorts=(sort(col(WITHOUT_NULLS, 0)),)), count_expr=number(1))
    nodes = [
        project(T1, col(T1, 2), scalar(largest), scalar(counted), scalar(one_row), scalar(NOTHING)),
        where(T1, call("gt", scalar(largest), number(1))),
        where(T1, call("equal", scalar(counted), values_long(0))),
        project(T1, col(T1, 2), call("add", y, scalar(largest))),
        where(T1, call("equal", y, scalar(NOTHING))),
    ]
    group_of = "FROM t2 WHERE g = x"
    queries = [
        f"SELECT t, (SELECT max(v) {group_of}), (SELECT count(*) {group_of}), 1, NULL FROM t1",
        f"SELECT * FROM t1 WHERE (SELECT max(v) {group_of}) > 1",
        f"SELECT * FROM t1 WHERE (SELECT count(*) {group_of}) = 0",
        f"SELECT t, y + (SELECT max(v) {group_of}) FROM t1",
        "SELECT * FROM t1 WHERE y = (SELECT v FROM nothing)",
    ]
    for found, query in zip(answers(spark, nodes), queries, strict=True):
        assert ordered(found) == ordered(duck.execute(query).fetchall()), query


def values_long(value: int) -> Expression:
    from tests.spark.plans import long

    return long(value)


def test_a_correlated_scalar_subquery_need_not_aggregate(spark: SparkSession) -> None:
    keyed = values([INT, TEXT], [(1, "one"), (3, "three")])
    own = where(keyed, call("equal", col(keyed, 0), outer(T1, 0, steps_out=1)))
    node = project(T1, col(T1, 2), scalar(project(own, col(own, 1))))
    assert ordered(rows(spark, node)) == [("a", "one"), ("b", None), ("c", None), ("d", None)]


def test_more_than_one_row_of_a_scalar_subquery_is_an_error(spark: SparkSession) -> None:
    for node in (
        project(T1, scalar(WITHOUT_NULLS)),
        where(T1, call("equal", x, scalar(WITHOUT_NULLS))),
        project(T1, scalar(of_group())),
        where(T1, call("equal", x, scalar(of_group()))),
    ):
        with pytest.raises(ExecutionError, match="ore than one row"):
            rows(spark, node)


def test_correlation_by_reference(spark: SparkSession, duck: Any) -> None:
    here = RelCommon(rel_anchor=7)
    referring = of_group(steps_out=None, rel_reference=7)
    node = where(T1, exists(referring), common=here)
    assert ordered(rows(spark, node)) == ordered(
        duck.execute("SELECT * FROM t1 WHERE EXISTS (SELECT * FROM t2 WHERE g = x)").fetchall()
    )
    with pytest.raises(InvalidPlanError, match="no enclosing relation has the rel_anchor 8"):
        rows(spark, where(T1, exists(of_group(steps_out=None, rel_reference=8)), common=here))
    with pytest.raises(InvalidPlanError, match="goes 2 queries out, but there are 1"):
        rows(spark, where(T1, exists(of_group(steps_out=2))))


def test_two_levels_of_one_step_each(spark: SparkSession) -> None:
    inner = where(T2, call("equal", col(T2, 1), outer(T2, 1, steps_out=1)))
    middle = where(T2, call("and", call("equal", col(T2, 0), outer(T1, 0, steps_out=1)), exists(inner)))
    assert ordered(rows(spark, project(where(T1, exists(middle)), col(T1, 2)))) == [("a",), ("b",)]


def test_a_subquery_of_every_kind_in_every_place(spark: SparkSession, duck: Any) -> None:
    """In a join's condition, a measure's argument and filter, a sort key and a key of grouping."""
    pair = both(T1, WITHOUT_NULLS)
    of_pair = call("equal", col(T2, 0), outer(pair, 0, steps_out=1))
    joined = join(
        T1,
        WITHOUT_NULLS,
        call("and", exists(where(T2, of_pair)), call("lte", col(pair, 0), col(pair, 3))),
        JoinType.INNER,
    )
    not_in = join(T1, WITHOUT_NULLS, call("and", negated(among(NULLS, col(pair, 0))), truth(True)), JoinType.INNER)
    left = join(
        T1, WITHOUT_NULLS, call("and", call("equal", col(pair, 0), col(pair, 3)), exists(NOTHING)), JoinType.LEFT
    )
    marked = join(
        T1,
        WITHOUT_NULLS,
        call("equal", col(pair, 0), scalar(group(T2, [], [aggregate("min", col(T2, 1))]))),
        JoinType.LEFT_MARK,
    )
    counted = group(of_group(), [], [aggregate("count")])
    measured = group(T1, [], [aggregate("sum", scalar(counted))])
    sorted_by = Sort(input=T1, sorts=(sort(scalar(counted)), sort(col(T1, 2))))
    keyed = group(T1, [exists(of_group())], [aggregate("count")])
    filtered = group(T1, [], [measure_where(exists(of_group()))])
    count = "(SELECT count(*) FROM t2 WHERE g = x)"
    wanted = {
        "joined": (joined, "SELECT t1.*, v FROM t1 JOIN few ON EXISTS (SELECT * FROM t2 WHERE g = x) AND x <= v"),
        "not in": (not_in, "SELECT t1.*, v FROM t1 JOIN few ON false"),
        "left": (left, "SELECT t1.*, NULL FROM t1"),
        "marked": (marked, "SELECT *, x = 1 FROM t1"),
        "measured": (measured, f"SELECT sum(n) FROM (SELECT {count} AS n FROM t1)"),
        "sorted": (sorted_by, "SELECT * FROM t1"),
        "keyed": (keyed, "SELECT EXISTS (SELECT * FROM t2 WHERE g = x) AS e, count(*) FROM t1 GROUP BY e"),
        "filtered": (filtered, "SELECT count(*) FROM t1 WHERE EXISTS (SELECT * FROM t2 WHERE g = x)"),
    }
    for name, (node, query) in wanted.items():
        assert ordered(rows(spark, node)) == ordered(duck.execute(query).fetchall()), name
    assert [row[2] for row in rows(spark, sorted_by)] == ["c", "d", "b", "a"]


def measure_where(condition: Expression) -> Any:
    from pyspark_substrait.model.relations import Measure

    return Measure(measure=aggregate("count"), filter=condition)


def test_correlated_queries_with_limits_and_aggregates(spark: SparkSession, duck: Any) -> None:
    own = of_group()
    nothing_left = Fetch(input=own, count_expr=number(0))
    second = Fetch(input=own, offset_expr=number(2))
    first = Fetch(input=Sort(input=own, sorts=(sort(col(own, 0)),)), count_expr=number(1))
    always = group(own, [], [aggregate("count")])
    cases = {
        "limit 0": (where(T1, exists(nothing_left)), "false"),
        "offset": (where(T1, exists(second)), "EXISTS (SELECT * FROM t2 WHERE g = x OFFSET 2)"),
        "first": (where(T1, call("equal", scalar(first), number(1))), "(SELECT min(v) FROM t2 WHERE g = x) = 1"),
        "aggregate": (where(T1, exists(always)), "true"),
        "in limit": (where(T1, among(first, y)), "y IN (SELECT v FROM t2 WHERE g = x ORDER BY v NULLS FIRST LIMIT 1)"),
        "outer in the select list": (
            where(T1, among(project(T2, call("add", col(T2, 1), outer(T1, 0, steps_out=1))), y)),
            "y IN (SELECT v + x FROM t2)",
        ),
        "unequal": (
            where(T1, exists(where(T2, call("lt", col(T2, 0), outer(T1, 0, steps_out=1))))),
            "EXISTS (SELECT * FROM t2 WHERE g < x)",
        ),
        "join inside": (
            where(T1, exists(joined_inside())),
            "EXISTS (SELECT * FROM t2 JOIN few ON t2.v = few.v AND g = x)",
        ),
    }
    for name, (node, sql) in cases.items():
        found = rows(spark, node)
        assert ordered(found) == ordered(duck.execute(f"SELECT * FROM t1 WHERE {sql}").fetchall()), name


def joined_inside() -> Relation:
    pair = both(T2, WITHOUT_NULLS)
    condition = call(
        "and", call("equal", col(pair, 1), col(pair, 2)), call("equal", col(pair, 0), outer(T1, 0, steps_out=1))
    )
    return join(T2, WITHOUT_NULLS, condition, JoinType.INNER)


def test_a_shared_subtree_inside_subqueries(spark: SparkSession) -> None:
    import pyspark_substrait as ps

    shared = where(T2, call("gt", col(T2, 1), number(1)))
    one, other = (Reference(subtree_ordinal=1, subtree=shared) for _ in range(2))
    condition = call(
        "or",
        among(project(one, col(one, 0)), x),
        exists(where(other, call("equal", col(other, 1), outer(T1, 1, steps_out=1)))),
    )
    document = plan(project(where(T1, condition), col(T1, 2)), (), shared)
    assert ordered(tuples(ps.run_query(document, spark=spark))) == [("a",), ("b",), ("d",)]


def test_an_outer_reference_in_a_shared_subtree(spark: SparkSession) -> None:
    """It is resolved at each use."""
    import pyspark_substrait as ps

    shared = of_group(steps_out=None, rel_reference=3)
    reference = Reference(subtree_ordinal=1, subtree=shared)
    node = where(T1, exists(reference), common=RelCommon(rel_anchor=3))
    document = plan(project(node, col(node, 2)), (), shared)
    assert ordered(tuples(ps.run_query(document, spark=spark))) == [("a",), ("b",)]


def test_subqueries_that_do_not_fit_are_refused(spark: SparkSession) -> None:
    cases: list[tuple[Expression, type[SubstraitError], str]] = [
        (among(T2, x), InvalidPlanError, "there are 1 needles, but the haystack has 2 columns"),
        (among(values([TEXT], [("a",)]), x), InvalidPlanError, r"the needle is i32\?, the haystack's column string"),
        (
            compare(x, ComparisonOp.EQ, ReductionOp.ANY, values([TEXT], [("a",)])),
            InvalidPlanError,
            "the left side is",
        ),
        (compare(x, ComparisonOp.EQ, ReductionOp.ANY, T2), InvalidPlanError, "the query has 2 columns"),
    ]
    for condition, kind, message in cases:
        with pytest.raises(kind, match=message):
            rows(spark, where(T1, condition))
