"""Plans at whose edges engines part: each has the rows that are worked out here, or is refused."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyspark_substrait.engines import dialects
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import (
    Cast,
    DynamicParameter,
    Expression,
    InPredicate,
    ScalarSubquery,
    SortDirection,
)
from pyspark_substrait.model.relations import Fetch, JoinType, LateralJoin, Measure, RelationBase, Set, SetOp, Sort
from tests.dialects.engines import Engine, EngineFault
from tests.spark.plans import (
    INT,
    INT_,
    LONG,
    REAL,
    REAL_,
    TEXT,
    aggregate,
    call,
    col,
    emit,
    group,
    join,
    long,
    number,
    outer,
    plan,
    project,
    sort,
    text,
    truth,
    values,
    where,
)

#: the cases that a dialect refuses, or that its engine doesn't run
LACKING = {
    "duckdb": frozenset(),
    "postgres": frozenset(),
    "datafusion": {
        "a lateral join without a match",
        "an outer column as a key",
        "in an ordered and limited query",
        "an aggregate of outer columns",
        "an aggregate with outer columns: its argument",
        "an aggregate with outer columns: its condition",
        "an aggregate with outer columns: both",
    },
    "sqlite": {
        "a lateral join without a match",
        "an outer column as a key",
        "replace of nothing",
        "order of numbers",
        "extremes",
    },
}


@dataclass(frozen=True)
class Case:
    """A plan and its rows.

    Args:
        name: what is tried.
        relation: the plan.
        expected: its rows, in any order unless they are sorted.
        parameters: values of dynamic parameters.
        is_sorted: whether the order of rows counts.
    """

    name: str
    relation: RelationBase
    expected: list[tuple[Any, ...]]
    parameters: dict[int, object] | None = None
    is_sorted: bool = False


def _numbers(*numbers: int | None) -> RelationBase:
    return values([INT_], [(one,) for one in numbers])


def _limited(count: int) -> Fetch:
    table = values([INT, INT], [(1, 9), (2, 8), (3, 7)])
    ordered = Sort(input=table, sorts=(sort(col(table, 1)),))
    return Fetch(input=project(ordered, col(ordered, 0)), count_expr=long(count))


def cases() -> Iterator[Case]:
    """Yield the cases."""
    three = _numbers(1, None, 3)
    # distinct arguments
    yield Case("count of distinct constants", group(three, [], [aggregate("count", text("x"), distinct=True)]), [(1,)])
    never = where(three, truth(False))
    yield Case("the same of nothing", group(never, [], [aggregate("count", text("x"), distinct=True)]), [(0,)])
    yield Case("count of a null constant", group(three, [], [aggregate("count", number(None))]), [(0,)])
    zeros = values([REAL], [(0.0,), (-0.0,), (1.0,)])
    yield Case("distinct zeros", group(zeros, [], [aggregate("count", col(zeros, 0), distinct=True)]), [(2,)])
    yield Case("groups of zeros", group(zeros, [col(zeros, 0)], [aggregate("count")]), [(0.0, 2), (1.0, 1)])
    pairs = values([REAL, REAL], [(0.0, -0.0), (1.0, 2.0)])
    yield Case("nullif of zeros", project(pairs, call("nullif", col(pairs, 0), col(pairs, 1))), [(None,), (1.0,)])
    # subqueries
    haystack = _limited(1)
    needle = values([INT], [(1,), (3,)])
    found = InPredicate(needles=(col(needle, 0),), haystack=haystack)
    yield Case("in an ordered and limited query", project(needle, col(needle, 0), found), [(1, False), (3, True)])
    yield Case("a filter by it", where(needle, found), [(3,)])
    yield Case("a scalar of one", project(needle, ScalarSubquery(input=haystack)), [(3,), (3,)])
    # outer columns as they are, in the places of columns
    inner = values([INT], [(1,)])
    of_outer = project(inner, outer(needle, 0, steps_out=1))
    total = group(of_outer, [], [aggregate("sum", col(of_outer, 0))])
    yield Case("an aggregate of outer columns", project(needle, ScalarSubquery(input=total)), [(1,), (3,)])
    own = col(inner, 0)
    above = outer(needle, 0, steps_out=1)
    larger = call("gt", above, number(2))
    for name, measure, expected in (
        ("its argument", aggregate("sum", above), [(1, 1), (3, 3)]),
        ("its condition", Measure(measure=aggregate("count"), filter=larger), [(1, 0), (3, 1)]),
        ("both", Measure(measure=aggregate("sum", call("add", above, own)), filter=larger), [(1, None), (3, 4)]),
    ):
        one = ScalarSubquery(input=group(inner, [], [measure]))
        yield Case(f"an aggregate with outer columns: {name}", project(needle, col(needle, 0), one), expected)
    keyed = ScalarSubquery(input=group(inner, [above], [], common=emit(0)))
    yield Case("an outer column as a key", project(needle, keyed), [(1,), (3,)])
    unmatched = join(values([INT], [(7,)]), of_outer, truth(False), JoinType.LEFT)
    missing = ScalarSubquery(input=Fetch(input=project(unmatched, col(unmatched, 1)), count_expr=long(1)))
    yield Case("outer columns without a match", project(needle, missing), [(None,), (None,)])
    right = project(inner, outer(needle, 0, steps_out=1))
    lateral = LateralJoin(left=needle, right=right, type=JoinType.LEFT, expression=truth(False))
    yield Case("a lateral join without a match", lateral, [(1, None), (3, None)])
    # constants as sort keys
    table = values([INT, INT], [(1, 3), (2, 2), (3, 1)])
    constants: list[tuple[Expression, dict[int, object] | None]] = [
        (Cast(input=number(1), type=INT), None),
        (DynamicParameter(type=INT, parameter_reference=0), {0: 1}),
        (call("coalesce", number(1), number(2)), None),
    ]
    for constant, parameters in constants:
        ordered = Sort(input=table, sorts=(sort(constant), sort(col(table, 1))))
        first = Fetch(input=ordered, count_expr=long(1))
        yield Case("a constant as a sort key", first, [(3, 1)], parameters=parameters)
    # names
    swapped = values([INT, INT], [(1, 3), (2, 2), (3, 1)], names=["n1", "n0"])
    ordered = Sort(input=swapped, sorts=(sort(col(swapped, 0), SortDirection.DESC_NULLS_LAST),))
    yield Case("columns with the names of others", ordered, [(3, 1), (2, 2), (1, 3)], is_sorted=True)
    odd = values([TEXT], [("a\n   b",), ("'\\%\"",), ("𝄞é",), ("",)], names=['sel"ect\n  x'])
    kept = Fetch(input=odd, count_expr=long(9))
    yield Case(
        "texts and names of several lines",
        where(kept, call("not_equal", col(kept, 0), text("a\n b"))),
        [("a\n   b",), ("'\\%\"",), ("𝄞é",), ("",)],
    )
    # grouping
    keyed = values([INT, INT], [(1, 1), (1, 2)])
    measure = aggregate("count")
    groupings: list[tuple[list[list[int]], list[tuple[Any, ...]]]] = [
        ([[]], [(None, 2)]),
        ([[0], [0]], [(1, 2, 0), (1, 2, 1)]),
        ([[], []], [(None, 2, 0), (None, 2, 1)]),
    ]
    for sets, rows in groupings:
        yield Case(f"grouping sets {sets}", group(keyed, [col(keyed, 0)], [measure], sets=sets), rows)
    nothing = where(keyed, truth(False))
    yield Case("grouping sets of nothing", group(nothing, [col(nothing, 0)], [measure], sets=[[0], []]), [(None, 0, 1)])
    yield Case("the empty set of nothing", group(nothing, [col(nothing, 0)], [measure], sets=[[]]), [(None, 0)])
    for table in (keyed, nothing):
        key = group(table, [col(table, 0)], [measure], sets=[[]], common=emit(0))
        yield Case("only the key of an empty set", key, [(None,)])
        yield Case("an empty set without measures", group(table, [col(table, 0)], [], sets=[[]]), [(None,)])
    two = group(keyed, [col(keyed, 0), col(keyed, 1)], [measure], sets=[[0]])
    yield Case("one set of some keys", two, [(1, None, 2)])

    # set operations
    def of(op: SetOp, *members: tuple[int | None, ...]) -> Set:
        return Set(members=tuple(_numbers(*one) for one in members), op=op)

    first, second, third = (1, 1, None, None, 2, 4), (1, None, 3), (1, 1, 1, 2)
    for op, expected in (
        (SetOp.MINUS_PRIMARY, [4]),
        (SetOp.MINUS_PRIMARY_ALL, [None, 4]),
        (SetOp.MINUS_MULTISET, [None, None, 2, 4]),
        (SetOp.INTERSECTION_PRIMARY, [1, None, 2]),
        (SetOp.INTERSECTION_MULTISET, [1]),
        (SetOp.INTERSECTION_MULTISET_ALL, [1]),
        (SetOp.UNION_DISTINCT, [1, None, 2, 3, 4]),
    ):
        yield Case(op.value, of(op, first, second, third), [(one,) for one in expected])
    # functions
    words = values([TEXT, TEXT], [("abc", ""), ("", ""), ("𝄞b", "b")])
    yield Case(
        "replace of nothing",
        project(words, call("replace", col(words, 0), col(words, 1), text("-"))),
        [("abc",), ("",), ("𝄞-",)],
    )
    yield Case("position", project(words, call("strpos", col(words, 0), col(words, 1))), [(1,), (1,), (2,)])
    yield Case("contains", project(words, call("contains", col(words, 0), col(words, 1))), [(True,)] * 3)
    yield Case("like", project(words, call("like", col(words, 0), text("_b%"))), [(True,), (False,), (True,)])
    floats = values([REAL_], [(math.nan,), (math.inf,), (None,), (-0.0,)])
    yield Case(
        "order of numbers",
        Sort(input=floats, sorts=(sort(col(floats, 0), SortDirection.DESC_NULLS_LAST),)),
        [(math.nan,), (math.inf,), (-0.0,), (None,)],
        is_sorted=True,
    )
    yield Case(
        "extremes",
        group(floats, [], [aggregate("min", col(floats, 0)), aggregate("max", col(floats, 0))]),
        [(0.0, math.nan)],
    )
    smallest = values([LONG, LONG], [(-(2**63), -1)])
    yield Case(
        "remainder of the smallest", project(smallest, call("modulus", col(smallest, 0), col(smallest, 1))), [(0,)]
    )


def _written(rows: list[tuple[Any, ...]]) -> list[str]:
    """Return rows as texts, in which zeros are the same."""
    return [repr(tuple(0.0 if cell == 0.0 and isinstance(cell, float) else cell for cell in row)) for row in rows]


def test_rows(engine: Engine) -> None:
    lacking, wrong = set(), []
    for case in cases():
        try:
            text = dialects.statement(plan(case.relation), dialects.dialect(engine.name), parameters=case.parameters)
            rows = engine.rows(text, case.relation.schema.types)
        except (UnsupportedPlanError, EngineFault):
            lacking.add(case.name)
            continue
        found, expected = _written(rows), _written(case.expected)
        if (found if case.is_sorted else sorted(found)) != (expected if case.is_sorted else sorted(expected)):
            wrong.append(f"{case.name}: {rows} instead of {case.expected}\n{text}")
    assert not wrong, "\n".join(wrong)
    assert lacking == LACKING[engine.name]
