"""Subqueries in the conditions of joins: of every type, referring to one side, to both or to none.

DuckDB says for each pair of records whether the condition is true, false or null; what a join of each type makes of
that is worked out here by the specification's words.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from pyspark_substrait.errors import ExecutionError
from pyspark_substrait.model.expressions import (
    Cast,
    ComparisonOp,
    Expression,
    IfClause,
    IfThen,
    InPredicate,
    PredicateOp,
    ReductionOp,
    ScalarSubquery,
    SetComparison,
    SetPredicate,
    SingularOrList,
)
from pyspark_substrait.model.relations import Cross, JoinType, Read, Relation
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
    number,
    ordered,
    outer,
    project,
    rows,
    truth,
    values,
    where,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.sweep

Row = tuple[Any, ...]

LEFT = [(0, 1), (1, None), (None, 2), (2, 2), (2, 2), (5, 0)]
RIGHT = [(1, 1), (2, 0), (None, 2), (2, None), (6, 6)]
THIRD = [(1, 1), (2, 2), (2, 0), (None, 2), (0, 0)]

L: Read = values([INT_, INT_], LEFT)
R: Read = values([INT_, INT_], RIGHT)
S: Read = values([INT_, INT_], THIRD)
PAIR = both(L, R)

la, lb, ra, rb = (col(PAIR, place) for place in range(4))
la1, lb1, ra1, rb1 = (outer(PAIR, place, steps_out=1) for place in range(4))
sa, sb = col(S, 0), col(S, 1)


def exists(input: Any) -> SetPredicate:
    return SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=input)


def scalar(input: Any) -> ScalarSubquery:
    return ScalarSubquery(input=input)


def among(needle: Expression, haystack: Any) -> InPredicate:
    return InPredicate(needles=(needle,), haystack=haystack)


def eq(left: Expression, right: Expression) -> Expression:
    return call("equal", left, right)


OF_BOTH = where(S, call("and", eq(sa, la1), call("gte", sb, rb1)))
CONDITIONS: dict[str, tuple[Expression, str]] = {
    "left": (
        call("and", eq(la, ra), exists(where(S, eq(sa, lb1)))),
        "la = ra AND EXISTS (SELECT 1 FROM s WHERE a = lb)",
    ),
    "right": (among(rb, project(where(S, eq(sa, ra1)), sb)), "rb IN (SELECT b FROM s WHERE a = ra)"),
    "both": (call("or", exists(OF_BOTH), eq(lb, ra)), "EXISTS (SELECT 1 FROM s WHERE a = la AND b >= rb) OR lb = ra"),
    "all": (
        SetComparison(
            reduction_op=ReductionOp.ALL,
            comparison_op=ComparisonOp.LE,
            left=lb,
            right=project(where(S, eq(sa, ra1)), sb),
        ),
        "lb <= ALL (SELECT b FROM s WHERE a = ra)",
    ),
    "none": (
        call("and", eq(la, scalar(group(S, [], [aggregate("max", sa)]))), call("not", among(ra, project(S, sa)))),
        "la = (SELECT max(a) FROM s) AND NOT (ra IN (SELECT a FROM s))",
    ),
    "two": (
        call(
            "and",
            exists(where(S, eq(sb, lb1))),
            call("gt", scalar(group(OF_BOTH, [], [aggregate("max", sb)])), number(1)),
        ),
        "EXISTS (SELECT 1 FROM s WHERE b = lb) AND (SELECT max(b) FROM s WHERE a = la AND b >= rb) > 1",
    ),
}


_MOST = scalar(group(S, [], [aggregate("max", sa)]))
_LEAST = scalar(group(S, [], [aggregate("min", sb)]))
_MOST_SQL = "(SELECT max(a) FROM s)"


def plus(left: Expression, right: Expression) -> Expression:
    return call("add", left, right)


def when(condition: Expression, then: Expression, otherwise: Expression) -> IfThen:
    return IfThen(ifs=(IfClause(if_=condition, then=then),), else_=otherwise)


#: scalar subqueries in what Spark may take for the keys of a join
KEYS: dict[str, tuple[Expression, str]] = {
    "both sides": (eq(plus(la, _MOST), plus(ra, _MOST)), f"la + {_MOST_SQL} = ra + {_MOST_SQL}"),
    "one side": (eq(plus(la, _MOST), ra), f"la + {_MOST_SQL} = ra"),
    "two of them": (eq(plus(la, _MOST), plus(_LEAST, ra)), f"la + {_MOST_SQL} = (SELECT min(b) FROM s) + ra"),
    "a cast": (
        eq(Cast(type=LONG_, input=plus(la, _MOST)), Cast(type=LONG_, input=ra)),
        f"CAST(la + {_MOST_SQL} AS BIGINT) = ra",
    ),
    "a function": (eq(call("coalesce", la, _MOST), call("abs", ra)), f"coalesce(la, {_MOST_SQL}) = abs(ra)"),
    "a case": (
        eq(when(call("gt", _MOST, number(1)), la, lb), ra),
        f"CASE WHEN {_MOST_SQL} > 1 THEN la ELSE lb END = ra",
    ),
    "nulls equal": (
        call("is_not_distinct_from", plus(la, _MOST), plus(ra, _MOST)),
        f"la + {_MOST_SQL} IS NOT DISTINCT FROM ra + {_MOST_SQL}",
    ),
    "not unequal": (call("not", call("not_equal", plus(la, _MOST), ra)), f"NOT (la + {_MOST_SQL} <> ra)"),
    "in a case": (when(eq(plus(la, _MOST), ra), truth(True), truth(False)), f"coalesce(la + {_MOST_SQL} = ra, false)"),
    "a common part": (
        call("or", *(call("and", eq(plus(la, _MOST), ra), eq(lb, number(value))) for value in (1, 2))),
        f"(la + {_MOST_SQL} = ra AND lb = 1) OR (la + {_MOST_SQL} = ra AND lb = 2)",
    ),
    "a list": (SingularOrList(value=plus(la, _MOST), options=(ra,)), f"la + {_MOST_SQL} IN (ra)"),
    "of the left record": (
        eq(plus(la, scalar(group(where(S, eq(sb, lb1)), [], [aggregate("max", sa)]))), ra),
        "la + (SELECT max(a) FROM s WHERE b = lb) = ra",
    ),
    "inside of a subquery": (
        exists(where(S, eq(plus(sa, _MOST), plus(la1, ra1)))),
        f"EXISTS (SELECT 1 FROM s WHERE a + {_MOST_SQL} = la + ra)",
    ),
}


def test_scalar_subqueries_within_keys(spark: SparkSession, outcomes: dict[str, list[list[bool | None]]]) -> None:
    """Spark evaluates such a key before the subquery in it has a value, wherever it makes a join's key of it."""
    nodes: list[Relation] = []
    wanted, names = [], []
    crossed = Cross(left=L, right=R)
    for name, (condition, _) in KEYS.items():
        for type in (JoinType.INNER, JoinType.RIGHT, JoinType.OUTER, JoinType.LEFT_ANTI):
            found = joined(type, outcomes[name])
            assert found is not None
            nodes.append(join(L, R, condition, type))
            wanted.append(found)
            names.append((name, type.value))
        found = joined(JoinType.INNER, outcomes[name])
        assert found is not None
        nodes.append(where(crossed, condition))
        wanted.append(found)
        names.append((name, "a filter"))
    for found_rows, expected, label in zip(answers(spark, nodes), wanted, names, strict=True):
        assert ordered(found_rows) == ordered(expected), label


@pytest.fixture(scope="module")
def outcomes() -> Iterator[dict[str, list[list[bool | None]]]]:
    """For each condition, left and right record: true, false or null."""
    with duckdb.connect() as connection:
        for name, columns, records in (
            ("l", "ln INT, la INT, lb INT", LEFT),
            ("r", "rn INT, ra INT, rb INT", RIGHT),
            ("s", "a INT, b INT", THIRD),
        ):
            connection.execute(f"CREATE TABLE {name} ({columns})")
            marks = ", ".join("?" * (2 if name == "s" else 3))
            numbered = records if name == "s" else [(place, *record) for place, record in enumerate(records)]
            connection.executemany(f"INSERT INTO {name} VALUES ({marks})", numbered)
        found = {}
        for name, (_, sql) in {**CONDITIONS, **KEYS}.items():
            table: list[list[bool | None]] = [[None] * len(RIGHT) for _ in LEFT]
            for left, right, outcome in connection.execute(f"SELECT ln, rn, {sql} FROM l, r").fetchall():
                table[left][right] = outcome
            found[name] = table
        yield found


def joined(type: JoinType, table: list[list[bool | None]]) -> list[Row] | None:
    """The records that a join of a type gives; None for an error."""
    if type in (JoinType.RIGHT, JoinType.RIGHT_SEMI, JoinType.RIGHT_ANTI, JoinType.RIGHT_SINGLE, JoinType.RIGHT_MARK):
        mirrored = JoinType[type.name.replace("RIGHT", "LEFT")]
        turned = [list(column) for column in zip(*table, strict=True)]
        found = of_kept(mirrored, RIGHT, LEFT, turned)
        if found is None or type not in (JoinType.RIGHT, JoinType.RIGHT_SINGLE):
            return found
        return [row[2:] + row[:2] for row in found]
    found = of_kept(JoinType.LEFT if type is JoinType.OUTER else type, LEFT, RIGHT, table)
    if type is JoinType.OUTER and found is not None:
        matched = [any(line[place] for line in table) for place in range(len(RIGHT))]
        found += [(None, None, *row) for row, match in zip(RIGHT, matched, strict=True) if not match]
    return found


def of_kept(type: JoinType, kept: list[Row], other: list[Row], table: list[list[bool | None]]) -> list[Row] | None:
    found: list[Row] = []
    for row, line in zip(kept, table, strict=True):
        matches = [(*row, *partner) for partner, outcome in zip(other, line, strict=True) if outcome]
        match type:
            case JoinType.INNER:
                found += matches
            case JoinType.LEFT:
                found += matches or [(*row, None, None)]
            case JoinType.LEFT_SINGLE:
                if len(matches) > 1:
                    return None
                found += matches or [(*row, None, None)]
            case JoinType.LEFT_SEMI:
                found += [row] if matches else []
            case JoinType.LEFT_ANTI:
                found += [] if matches else [row]
            case JoinType.LEFT_MARK:
                found.append((*row, True if matches else None if None in line else False))
    return found


def test_every_type_of_join(spark: SparkSession, outcomes: dict[str, list[list[bool | None]]]) -> None:
    nodes, wanted, names, failing = [], [], [], []
    for name, (condition, _) in CONDITIONS.items():
        for type in JoinType:
            found = joined(type, outcomes[name])
            if found is None:
                failing.append(join(L, R, condition, type))
                continue
            nodes.append(join(L, R, condition, type))
            wanted.append(found)
            names.append((name, type.value))
    for found_rows, expected, label in zip(answers(spark, nodes), wanted, names, strict=True):
        assert ordered(found_rows) == ordered(expected), label
    assert failing
    for node in failing[:2]:
        with pytest.raises(ExecutionError, match="more than one match"):
            rows(spark, node)


def test_post_join_filters(spark: SparkSession) -> None:
    """They see what the join puts out."""
    deep = where(S, exists(where(S, call("equal", sa, outer(PAIR, 2, steps_out=2)))))
    nodes = [
        join(L, R, eq(la, ra), JoinType.LEFT, post_join_filter=call("not", exists(deep))),
        join(L, R, eq(la, ra), JoinType.LEFT_MARK, post_join_filter=exists(where(S, eq(sa, la1)))),
    ]
    # no partner: the right columns are null, and nothing equals null
    found = answers(spark, nodes)
    assert ordered(found[0]) == ordered([(0, 1, None, None), (None, 2, None, None), (5, 0, None, None)])
    assert ordered(found[1]) == ordered([(0, 1, None), (1, None, True), (2, 2, True), (2, 2, True)])
