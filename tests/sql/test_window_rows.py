"""The rows of window functions, as text: what Spark has as a constant stays native, and every overload has a row."""

from __future__ import annotations

import pytest

import pyspark_substrait as ps
from pyspark_substrait.extensions.definitions import ValueArgument
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.expressions import Expression, SortDirection
from pyspark_substrait.model.relations import Read
from pyspark_substrait.model.types import I32, I64
from tests.spark.plans import INT, INT_, LONG_, call, col, long, number, plan, project, sort, stored
from tests.spark.windowing import CURRENT, RANGE, ROWS, UNBOUNDED, after, before, over

WHOLE = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"


@pytest.fixture
def table() -> Read:
    return stored("t", {"a": INT_, "b": LONG_, "n": INT})


def text(input: Read, *expressions: Expression) -> str:
    """The SELECT list of a projection that needs nothing below it."""
    written = ps.to_sql(plan(project(input, *expressions)), formatted=False)
    assert written.count("FROM") == 1 + written.count("(SELECT")
    return written.split(" FROM ")[0].removeprefix("SELECT ")


def test_every_window_function_has_a_form(table: Read) -> None:
    names = set()
    for _, name, overloads in Registry.default().functions():
        for overload in overloads:
            if overload.kind != "window":
                continue
            names.add(name)
            wanted = [number(1) if "i32" in str(item) else col(table, 1) for item in overload.arguments]
            assert all(isinstance(item, ValueArgument) for item in overload.arguments)
            if name == "ntile":
                wanted = [number(2) if overload.key.endswith("i32") else long(2)]
            assert " OVER (" in text(table, over(name, *wanted, sorts=[sort(col(table, 0))])), overload.key
    assert len(names) == 11


def test_constants_stay_native(table: Read) -> None:
    a, sorts = col(table, 0), [sort(col(table, 1), SortDirection.DESC_NULLS_LAST)]
    written = text(
        table,
        over("lead", a, number(2), sorts=sorts),
        over("nth_value", a, number(3), sorts=sorts),
        over("ntile", number(4), sorts=sorts),
        over("last_value", a, sorts=sorts, bounds=(ROWS, CURRENT, after(long(3)))),
    )
    for part in (
        "lead(c1, 2) OVER (ORDER BY c2 DESC NULLS LAST)",
        f"nth_value(c1, 3) OVER (ORDER BY c2 DESC NULLS LAST {WHOLE})",
        "ntile(4) OVER (ORDER BY c2 DESC NULLS LAST)",
        "last_value(c1) OVER (ORDER BY c2 DESC NULLS LAST ROWS BETWEEN CURRENT ROW AND 3 FOLLOWING)",
    ):
        assert part in written


def test_what_is_computed_needs_a_list(table: Read) -> None:
    a, n = col(table, 0), col(table, 2)
    assert "collect_list" in text(table, over("lag", a, n))
    assert "collect_list" in text(table, over("nth_value", a, n))
    assert "collect_list" not in text(table, over("ntile", n))


def test_a_whole_partition_needs_no_order(table: Read) -> None:
    b = col(table, 1)
    written = text(table, over("sum", b, partitions=[col(table, 0)], sorts=[sort(b)]))
    assert f"sum(c2) OVER (PARTITION BY c1 {WHOLE})" in written


def test_bounds(table: Read) -> None:
    b = col(table, 1)
    for bounds, words in (
        ((ROWS, before(long(2)), before(long(1))), "ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING"),
        ((ROWS, UNBOUNDED, CURRENT), "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"),
        ((RANGE, UNBOUNDED, CURRENT), "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"),
        ((RANGE, before(long(5)), after(long(0))), "RANGE BETWEEN 5L PRECEDING AND CURRENT ROW"),
        ((RANGE, after(number(5)), UNBOUNDED), "RANGE BETWEEN CAST(5 AS BIGINT) FOLLOWING AND UNBOUNDED FOLLOWING"),
    ):
        assert words in text(table, over("count", b, sorts=[sort(b)], bounds=bounds))


def test_a_repeated_value_is_counted_where_it_comes_first(table: Read) -> None:
    counted = over("count", col(table, 0), distinct=True, partitions=[col(table, 1)])
    written = ps.to_sql(plan(project(table, counted)), formatted=False)
    assert "row_number() OVER (PARTITION BY c2, c1 ORDER BY NULL) = 1" in written
    assert "posexplode" not in written


def test_signatures_of_ntile() -> None:
    for type, argument in ((I32, number(1)), (I64, long(1))):
        assert isinstance(over("ntile", argument).derived_type, type)


def test_a_window_stays_where_it_stands(table: Read) -> None:
    """Inside of other expressions of a projection it needs no query of its own."""
    numbered = over("row_number", sorts=[sort(col(table, 0))])
    assert ps.to_sql(plan(project(table, call("add", numbered, long(1))))).count("SELECT") == 2
