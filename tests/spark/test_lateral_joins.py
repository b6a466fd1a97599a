"""Lateral joins: DuckDB says which right records a left one has, the specification what a join makes of them.

The right inputs refer to the left record by its anchor, from all kinds of relations.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import ExecutionError, InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.model.expressions import (
    Expression,
    Function,
    PredicateOp,
    ScalarSubquery,
    SetPredicate,
    SortDirection,
    WindowFunction,
)
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.relations import (
    AdvancedExtension,
    ComparisonJoinKey,
    Fetch,
    HashJoin,
    JoinType,
    LateralJoin,
    Read,
    RelCommon,
    Set,
    SetOp,
    SimpleComparisonType,
    Sort,
)
from tests.spark.joining import LATERAL, compared, mark
from tests.spark.plans import (
    INT,
    INT_,
    LONG_,
    aggregate,
    answers,
    both,
    both_true,
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
    run,
    sort,
    text,
    tuples,
    values,
    where,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.sweep

Row = tuple[Any, ...]

LEFT = [(1, 10), (1, 10), (2, None), (None, 4), (3, 1), (7, 0)]
TABLES: dict[str, list[Row]] = {
    "r": [(1, 5), (1, 10), (1, None), (2, 2), (2, 2), (None, 4), (3, 0)],
    "s": [(5, 1), (2, 7), (10, 2), (4, None), (2, 3)],
}
L: Read = values([INT_, INT_], LEFT)
R: Read = values([INT_, INT_], TABLES["r"])
S: Read = values([INT_, INT_], TABLES["s"])
HERE = RelCommon(rel_anchor=1)

la, lb = (outer(L, place, rel_reference=1) for place in range(2))
ra, rb = col(R, 0), col(R, 1)
sa, sb = col(S, 0), col(S, 1)


def eq(left: Expression, right: Expression) -> Expression:
    return call("equal", left, right)


def exists(input: Any) -> SetPredicate:
    return SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=input)


def first(input: Any, count: int, *, offset: int | None = None) -> Fetch:
    """The records with the largest second column, and of these the largest first one."""
    down = SortDirection.DESC_NULLS_LAST
    ordered_by = Sort(input=input, sorts=(sort(col(input, 1), down), sort(col(input, 0), down)))
    return Fetch(input=ordered_by, count_expr=number(count), offset_expr=None if offset is None else number(offset))


def numbered(input: Any) -> Any:
    """The position of each record among those with the same first column."""
    window = WindowFunction(
        function=Function("extension:io.substrait:functions_arithmetic", "rank", ""),
        arguments=(),
        output_type=LONG_,
        derived_type=LONG_,
        partitions=(col(input, 0),),
        sorts=(sort(call("add", col(input, 1), number(0))),),
    )
    return project(input, col(input, 0), window)


OF_LEFT = where(R, eq(ra, la))
NESTED = LateralJoin(
    left=OF_LEFT,
    right=where(
        S, both_true(eq(sa, outer(OF_LEFT, 1, rel_reference=2)), call("lt", sb, call("coalesce", lb, number(3))))
    ),
    type=JoinType.INNER,
    common=RelCommon(rel_anchor=2, emit=(0, 3)),
)
HASHED = HashJoin(
    left=OF_LEFT,
    right=S,
    type=JoinType.LEFT,
    keys=(ComparisonJoinKey(left=col(OF_LEFT, 1), right=sa, comparison=SimpleComparisonType.EQ),),
    residual_expression=call("lt", col(both(OF_LEFT, S), 3), lb),
    common=RelCommon(emit=(1, 3)),
)
#: a right input, and the same in SQL over the left record l
RIGHTS: dict[str, tuple[Any, str]] = {
    "a filter": (OF_LEFT, "SELECT a, b FROM r WHERE r.a = l.a"),
    "another comparison": (
        where(R, call("or", call("gt", rb, lb), call("is_null", la))),
        "SELECT a, b FROM r WHERE r.b > l.b OR l.a IS NULL",
    ),
    "a projection": (project(R, call("add", ra, la), lb), "SELECT r.a + l.a, l.b FROM r"),
    "an aggregate": (
        group(OF_LEFT, [], [aggregate("count"), aggregate("max", call("add", col(OF_LEFT, 1), lb))]),
        "SELECT count(*), max(r.b + l.b) FROM r WHERE r.a = l.a",
    ),
    "an aggregate with keys": (
        group(OF_LEFT, [col(OF_LEFT, 1)], [aggregate("count")]),
        "SELECT b, count(*) FROM r WHERE r.a = l.a GROUP BY b",
    ),
    "the first records": (
        first(OF_LEFT, 2),
        "SELECT a, b FROM r WHERE r.a = l.a ORDER BY b DESC NULLS LAST, a DESC NULLS LAST LIMIT 2",
    ),
    "the second record": (
        first(where(R, call("gte", call("coalesce", rb, number(0)), la)), 1, offset=1),
        "SELECT a, b FROM r WHERE coalesce(r.b, 0) >= l.a "
        "ORDER BY b DESC NULLS LAST, a DESC NULLS LAST LIMIT 1 OFFSET 1",
    ),
    "a window": (
        numbered(OF_LEFT),
        "SELECT a, rank() OVER (PARTITION BY a ORDER BY b + 0 NULLS FIRST) FROM r WHERE r.a = l.a",
    ),
    "no reference": (where(R, call("gt", rb, number(3))), "SELECT a, b FROM r WHERE b > 3"),
    "its own values": (
        values([INT_, INT_], [(la, lb), (number(1), la)]),
        "SELECT l.a, l.b UNION ALL SELECT 1, l.a",
    ),
    "a union": (
        Set(op=SetOp.UNION_ALL, members=(OF_LEFT, where(S, eq(sb, la)))),
        "SELECT a, b FROM r WHERE r.a = l.a UNION ALL SELECT a, b FROM s WHERE s.b = l.a",
    ),
    "a subquery": (
        where(R, exists(where(S, both_true(eq(sa, outer(R, 1, steps_out=1)), call("not_equal", sb, la))))),
        "SELECT a, b FROM r WHERE EXISTS (SELECT 1 FROM s WHERE s.a = r.b AND s.b <> l.a)",
    ),
    "a join": (
        join(
            OF_LEFT,
            S,
            eq(col(both(OF_LEFT, S), 1), col(both(OF_LEFT, S), 2)),
            JoinType.LEFT,
            common=RelCommon(emit=(1, 3)),
        ),
        "SELECT r.b, s.b FROM r LEFT JOIN s ON r.b = s.a WHERE r.a = l.a",
    ),
    "a physical join": (
        HASHED,
        "SELECT x.b, s.b FROM (FROM r WHERE r.a = l.a) x LEFT JOIN s ON x.b = s.a AND s.b < l.b",
    ),
    "another lateral join": (
        NESTED,
        "SELECT x.a, y.b FROM (SELECT a, b FROM r WHERE r.a = l.a) x, "
        "LATERAL (SELECT a, b FROM s WHERE s.a = x.b AND s.b < coalesce(l.b, 3)) y",
    ),
}

PAIR = both(L, R)
#: a condition over the left and right record, None for none
CONDITIONS: dict[str, tuple[Expression | None, Callable[[Row, Row], bool | None]]] = {
    "none": (None, lambda *_: True),
    "unequal": (
        call("not_equal", col(PAIR, 1), col(PAIR, 3)),
        lambda left, right: compared(lambda one, other: one != other, left[1], right[1]),
    ),
}


@pytest.fixture(scope="module")
def matches() -> Iterator[dict[str, list[list[Row]]]]:
    """For each right input the records that it has for each left record."""
    with duckdb.connect() as connection:
        for name, data in TABLES.items():
            connection.execute(f"CREATE TABLE {name} (a INT, b INT)")
            connection.executemany(f"INSERT INTO {name} VALUES (?, ?)", data)
        connection.execute("CREATE TABLE l (n INT, a INT, b INT)")
        connection.executemany("INSERT INTO l VALUES (?, ?, ?)", [(n, *row) for n, row in enumerate(LEFT)])
        found = {}
        for name, (_, sql) in RIGHTS.items():
            records: list[list[Row]] = [[] for _ in LEFT]
            for n, *row in connection.execute(f"SELECT l.n, q.* FROM l, LATERAL ({sql}) AS q").fetchall():
                records[n].append(tuple(row))
            found[name] = records
        yield found


def expected(
    type: JoinType, rights: Sequence[Sequence[Row]], match: Callable[[Row, Row], bool | None]
) -> list[Row] | None:
    """The records of a join with the right records for each left one; None for an error."""
    found: list[Row] = []
    for left, candidates in zip(LEFT, rights, strict=True):
        outcomes = [match(left, right) for right in candidates]
        partners = [right for right, outcome in zip(candidates, outcomes, strict=True) if outcome is True]
        match type:
            case JoinType.INNER:
                found += [left + right for right in partners]
            case JoinType.LEFT:
                found += [left + right for right in partners or [(None, None)]]
            case JoinType.LEFT_SINGLE:
                if len(partners) > 1:
                    return None
                found += [left + right for right in partners or [(None, None)]]
            case JoinType.LEFT_SEMI:
                found += [left] * bool(partners)
            case JoinType.LEFT_ANTI:
                found += [left] * (not partners)
            case _:
                found.append((*left, mark(outcomes)))
    return found


def lateral(right: Any, type: JoinType, **more: Any) -> LateralJoin:
    return LateralJoin(left=L, right=right, type=type, common=HERE, **more)


def post_filter(node: LateralJoin) -> Expression:
    """A condition that every output has the columns for."""
    width = len(node.direct_schema.types)
    return call("not", col(node.direct_schema, 2)) if width == 3 else call("gt", col(node.direct_schema, 0), number(1))


def kept(row: Row) -> bool:
    return row[2] is False if len(row) == 3 else row[0] is not None and row[0] > 1


@pytest.mark.parametrize("type", LATERAL, ids=lambda type: type.name)
def test_every_type_with_every_right_input(
    spark: SparkSession, type: JoinType, matches: dict[str, list[list[Row]]]
) -> None:
    """With a condition and without in turn, and with a filter of the output every other time."""
    nodes, wanted, refused = [], [], []
    for turn, (name, (right, _)) in enumerate(RIGHTS.items(), LATERAL.index(type)):
        expression, match = CONDITIONS["unequal" if turn % 2 else "none"]
        node = lateral(right, type, expression=expression)
        records = expected(type, matches[name], match)
        if records is None:
            refused.append(node)
            continue
        if turn // 2 % 2:
            node = replace(node, post_join_filter=post_filter(node))
            records = [row for row in records if kept(row)]
        nodes.append(node)
        wanted.append((name, records))
    for found, (name, records) in zip(answers(spark, nodes), wanted, strict=True):
        assert ordered(found) == ordered(records), name
    assert bool(refused) == (type is JoinType.LEFT_SINGLE)
    for node in refused[:2]:
        with pytest.raises(ExecutionError, match="more than one match"):
            rows(spark, node)


def test_subqueries_beside_lateral_inputs(spark: SparkSession) -> None:
    """In the condition and in the filter, over both records and over the output."""
    among = exists(where(S, both_true(eq(sa, outer(PAIR, 3, steps_out=1)), eq(sb, outer(PAIR, 0, steps_out=1)))))
    highest = ScalarSubquery(input=group(S, [], [aggregate("max", sb)]))
    nodes = [
        lateral(OF_LEFT, JoinType.LEFT, expression=among),
        lateral(OF_LEFT, JoinType.LEFT_MARK, expression=among),
        lateral(OF_LEFT, JoinType.INNER, post_join_filter=call("lt", col(PAIR, 3), highest)),
    ]
    partners = {row: [other for other in TABLES["r"] if row[0] is not None and other[0] == row[0]] for row in LEFT}

    def is_among(left: Row, right: Row) -> bool:
        return (right[1], left[0]) in TABLES["s"]

    pairs = [(left, right) for left in LEFT for right in partners[left]]
    wanted: list[list[Row]] = [
        [
            left + right
            for left in LEFT
            for right in [other for other in partners[left] if is_among(left, other)] or [(None, None)]
        ],
        [(*left, any(is_among(left, right) for right in partners[left])) for left in LEFT],
        [left + right for left, right in pairs if right[1] is not None and right[1] < 7],
    ]
    for found, records in zip(answers(spark, nodes), wanted, strict=True):
        assert ordered(found) == ordered(records)


def test_the_enclosing_query_is_one_step_out(spark: SparkSession) -> None:
    """A lateral join is no subquery: from its right input, too, steps lead out of the query that it stands in."""
    enclosing = where(R, call("and", eq(ra, outer(S, 1, steps_out=1)), eq(rb, lb)))
    found = where(S, exists(lateral(enclosing, JoinType.INNER)))
    pairs = [(r, left) for r in TABLES["r"] for left in LEFT if r[1] is not None and r[1] == left[1]]
    wanted = [row for row in TABLES["s"] if row[1] is not None and any(row[1] == r[0] for r, _ in pairs)]
    document = ps.load(plan(found).to_json())
    assert wanted and ordered(tuples(ps.run_query(document, spark=spark))) == ordered(wanted)


def test_a_chain_of_lateral_joins(spark: SparkSession) -> None:
    """Each sees the records of those before it, which are its left input."""
    node: Any = values([INT], [(1,), (2,), (3,)])
    for anchor in range(1, 6):
        last = len(node.schema.types) - 1
        more = project(values([INT], [(0,), (1,)]), call("add", outer(node, last, rel_reference=anchor), col(ONE, 0)))
        node = LateralJoin(left=node, right=more, type=JoinType.INNER, common=RelCommon(rel_anchor=anchor))
    wanted = [
        (start, *itertools.accumulate(steps, initial=start))[1:]
        for start in (1, 2, 3)
        for steps in itertools.product((0, 1), repeat=5)
    ]
    assert ordered(rows(spark, node)) == ordered(wanted)


ONE = values([INT], [(1,)])


def test_nullability_and_types_that_are_none(spark: SparkSession) -> None:
    left = values([INT], [(1,)])
    right = where(left, eq(col(left, 0), outer(left, 0, rel_reference=1)))
    for type in LATERAL:
        node = LateralJoin(left=left, right=right, type=type, common=HERE)
        wanted = {
            JoinType.INNER: [False, False],
            JoinType.LEFT: [False, True],
            JoinType.LEFT_SINGLE: [False, True],
            JoinType.LEFT_MARK: [False, True],
        }.get(type, [False])
        assert [field.nullable for field in run(spark, node).schema] == wanted, type
    message = json.loads(plan(lateral(OF_LEFT, JoinType.INNER)).to_json())
    message["relations"][0]["root"]["input"]["lateralJoin"]["type"] = "JOIN_TYPE_RIGHT"
    with pytest.raises(InvalidPlanError, match="cannot be of type right") as caught:
        ps.load(json.dumps(message))
    assert caught.value.path.endswith("lateral_join.type")


def test_what_is_wrong_is_said_in_its_place(spark: SparkSession) -> None:
    meaning = AdvancedExtension(enhancement=AnyMessage("type.example/Magic", b""))
    unknown = call("lower", text("a"))
    unknown = replace(unknown, function=Function("extension:org.example:none", "f", "str"))
    wrong = where(R, both_true(eq(ra, la), eq(text("a"), unknown)))
    for node, path in (
        (lateral(OF_LEFT, JoinType.LEFT, advanced_extension=meaning), ".advanced_extension.enhancement"),
        (
            lateral(replace(OF_LEFT, advanced_extension=meaning), JoinType.LEFT),
            ".right.filter.advanced_extension.enhancement",
        ),
        (lateral(wrong, JoinType.LEFT_MARK), ".right.filter.condition"),
        (lateral(OF_LEFT, JoinType.INNER, expression=eq(text("a"), unknown)), ".expression"),
    ):
        with pytest.raises(UnsupportedPlanError, match=r"Magic|has no Spark form") as caught:
            rows(spark, node)
        assert caught.value.path.startswith(f"relations[0].root.input.lateral_join{path}")
    # a relation that is only found when it is rewritten
    hidden = replace(OF_LEFT, advanced_extension=meaning)
    deep = where(S, exists(where(R, exists(where(hidden, eq(col(hidden, 0), outer(S, 0, steps_out=2)))))))
    with pytest.raises(UnsupportedPlanError, match="Magic"):
        rows(spark, lateral(deep, JoinType.LEFT))
