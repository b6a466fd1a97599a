"""Columns, groups and windows of built plans have the values that DuckDB computes for the same in SQL."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal as D

import pytest

from pyspark_substrait.builder import (
    Frame,
    among,
    array,
    avg,
    call,
    count,
    dictionary,
    fn,
    invoke,
    lag,
    lit,
    max_,
    min_,
    preceding,
    rank,
    row_number,
    struct,
    sum_,
    switch,
    when,
)
from tests.builder.conftest import Results
from tests.builder.tables import customers, orders

Make = Callable[[], Frame]

COLUMNS: dict[str, tuple[Make, str]] = {
    "all": (lambda: orders(), "FROM orders"),
    "chosen": (lambda: orders().select("note", "id"), "SELECT note, id FROM orders"),
    "computed": (
        lambda: orders().select("id", twice=lambda o: o.quantity * 2, more=lambda o: 1 + o.id),
        "SELECT id, quantity * 2, 1 + id FROM orders",
    ),
    "with_columns": (
        lambda: orders().select("id", "quantity").with_columns(id=lambda o: -o.id, half=lambda o: o.quantity / 2),
        "SELECT -id, quantity, quantity // 2 FROM orders",
    ),
    "drop": (
        lambda: orders().drop("moment", "day", "paid", "score", "price"),
        "SELECT id, customer, quantity, note FROM orders",
    ),
    "rename": (lambda: orders().select("id").rename(id="key").select("key"), "SELECT id FROM orders"),
    "int and decimal": (
        lambda: orders().select("id", total=lambda o: o.quantity * o.price),
        "SELECT id, quantity * price FROM orders",
    ),
    "decimal and float literal": (
        lambda: orders().filter(lambda o: o.price > 9.99).select("id", x=lambda o: o.price + D("0.01")),
        "SELECT id, price + 0.01 FROM orders WHERE price > 9.99",
    ),
    "float and int literal": (
        lambda: orders().filter(lambda o: o.score >= 1).select("id", x=lambda o: o.score - 1),
        "SELECT id, score - 1 FROM orders WHERE score >= 1",
    ),
    "widened": (
        lambda: orders().filter(lambda o: o.id > o.customer - 9).select("id"),
        "SELECT id FROM orders WHERE id > customer - 9",
    ),
    "literal that only i64 holds": (
        lambda: orders().select("id", x=lambda o: o.quantity < 2**40),
        "SELECT id, quantity < 1099511627776 FROM orders",
    ),
    "three-valued": (
        lambda: orders().select("id", a=lambda o: o.paid & (o.quantity > 1), b=lambda o: o.paid | (o.price > 5)),
        "SELECT id, paid AND quantity > 1, paid OR price > 5 FROM orders",
    ),
    "not": (lambda: orders().filter(lambda o: ~o.paid).select("id"), "SELECT id FROM orders WHERE NOT paid"),
    "several conditions": (
        lambda: orders().filter(lambda o: o.id > 1, lambda o: o.id < 5, "paid").select("id"),
        "SELECT id FROM orders WHERE id > 1 AND id < 5 AND paid",
    ),
    "is null": (
        lambda: orders().select("id", a=lambda o: o.note.is_null(), b=lambda o: o.price.is_not_null()),
        "SELECT id, note IS NULL, price IS NOT NULL FROM orders",
    ),
    "isin": (
        lambda: orders().select("id", a=lambda o: o.customer.isin(10, 30, None), b=lambda o: o.price.isin([10, 0])),
        "SELECT id, customer IN (10, 30, NULL), price IN (10, 0) FROM orders",
    ),
    "among": (
        lambda: orders().select("id", a=lambda o: among((o.customer, o.note), [(10, "a"), (20, "x")])),
        "SELECT id, (customer = 10 AND note = 'a') OR (customer = 20 AND note = 'x') FROM orders",
    ),
    "between": (
        lambda: orders().select("id", a=lambda o: o.price.between(0, 10)),
        "SELECT id, price BETWEEN 0 AND 10 FROM orders",
    ),
    "cast": (
        lambda: orders().select("id", a=lambda o: o.id.cast("string"), b=lambda o: o.price.cast("decimal<12, 4>")),
        "SELECT id, id::VARCHAR, price::DECIMAL(12, 4) FROM orders",
    ),
    "cast that gives null": (
        lambda: orders().select("id", a=lambda o: o.note.cast("i32", on_failure="null")),
        "SELECT id, TRY_CAST(note AS INTEGER) FROM orders",
    ),
    "when": (
        lambda: orders().select("id", a=lambda o: when(o.price > 5, "dear").when(o.price > 0, "cheap").otherwise("?")),
        "SELECT id, CASE WHEN price > 5 THEN 'dear' WHEN price > 0 THEN 'cheap' ELSE '?' END FROM orders",
    ),
    "when without otherwise": (
        lambda: orders().select("id", a=lambda o: when(o.quantity > 1, o.price)),
        "SELECT id, CASE WHEN quantity > 1 THEN price END FROM orders",
    ),
    "when of other types": (
        lambda: orders().select("id", a=lambda o: when(o.paid, o.quantity).otherwise(o.id)),
        "SELECT id, CASE WHEN paid THEN quantity ELSE id END FROM orders",
    ),
    "switch": (
        lambda: orders().select("id", a=lambda o: switch(o.customer, {10: "ten", 20: "twenty"}, "more")),
        "SELECT id, CASE customer WHEN 10 THEN 'ten' WHEN 20 THEN 'twenty' ELSE 'more' END FROM orders",
    ),
    "functions": (
        lambda: orders().select("id", a=lambda o: fn.upper(o.note), b=lambda o: fn.substring(o.note, 1, 1)),
        "SELECT id, upper(note), substring(note, 1, 1) FROM orders",
    ),
    "function by its signature": (
        lambda: orders().select("id", a=lambda o: call("add:i32_i32", o.quantity, 1, overflow="ERROR")),
        "SELECT id, quantity + 1 FROM orders",
    ),
    "options": (
        lambda: orders().select("id", a=lambda o: fn.like(o.note, "A%", case_sensitivity="CASE_INSENSITIVE")),
        "SELECT id, note ILIKE 'A%' FROM orders",
    ),
    "enumeration": (
        lambda: orders().select("id", a=lambda o: fn.extract("YEAR", o.day), b=lambda o: fn.extract("YEAR", o.moment)),
        "SELECT id, extract(year FROM day), extract(year FROM moment) FROM orders",
    ),
    "coalesce": (
        lambda: orders().select("id", a=lambda o: fn.coalesce(o.price, 0), b=lambda o: fn.coalesce(o.note, "none")),
        "SELECT id, coalesce(price, 0), coalesce(note, 'none') FROM orders",
    ),
    "concat": (
        lambda: orders().select("id", a=lambda o: fn.concat(o.note, "-", o.note, null_handling="ACCEPT_NULLS")),
        "SELECT id, note || '-' || note FROM orders",
    ),
    "dates": (
        lambda: orders().filter(lambda o: o.day >= datetime.date(2024, 1, 1)).select("id", "day"),
        "SELECT id, day FROM orders WHERE day >= DATE '2024-01-01'",
    ),
    "times": (
        lambda: orders().filter(lambda o: o.moment < datetime.datetime(2024, 1, 1)).select("id"),
        "SELECT id FROM orders WHERE moment < TIMESTAMP '2024-01-01'",
    ),
    "date and interval": (
        lambda: orders().select("id", a=lambda o: o.moment + datetime.timedelta(days=1, hours=2)),
        "SELECT id, moment + INTERVAL 26 HOUR FROM orders",
    ),
    "constants": (
        lambda: orders().limit(1).select(a=1, b="x", c=lit(None, "i32"), d=D("1.50"), e=True, f=lit([1, 2])),
        "SELECT 1, 'x', NULL::INTEGER, 1.50, true, [1, 2]",
    ),
    "struct field": (
        lambda: customers().select("customer", a=lambda c: c.address.city, b=lambda c: c["address"]["zip"] + 1),
        "SELECT customer, address.city, address.zip + 1 FROM customers",
    ),
    "list element": (
        lambda: customers().select("customer", a=lambda c: c.tags[0], b=lambda c: c.points[-1]),
        "SELECT customer, tags[1], points[-1] FROM customers",
    ),
    "map value": (
        lambda: customers().select("customer", a=lambda c: c.limits["high"]),
        "SELECT customer, limits['high'] FROM customers",
    ),
    "struct, array, map": (
        lambda: orders().select("id", s=lambda o: struct(a=o.id, b=o.note), l=lambda o: array(o.quantity, 0, o.id)),
        "SELECT id, {'a': id, 'b': note}, [quantity, 0, id] FROM orders",
    ),
    "map of columns": (
        lambda: (
            orders()
            .select("id", m=lambda o: dictionary(("a", o.quantity), ("b", 2)))
            .select("id", v=lambda o: o.m["a"])
        ),
        "SELECT id, quantity FROM orders",
    ),
    "lambda": (
        lambda: customers().select("customer", a=lambda c: fn.transform(c.points, lambda x: x * 2 + c.customer)),
        "SELECT customer, list_transform(points, lambda x: x * 2 + customer) FROM customers",
    ),
    "lambda in a lambda": (
        lambda: customers().select(
            "customer",
            a=lambda c: fn.transform(c.points, lambda x: fn.transform(c.points, lambda y: x + y)),
        ),
        "SELECT customer, list_transform(points, lambda x: list_transform(points, lambda y: x + y)) FROM customers",
    ),
    "filter of a list": (
        lambda: customers().select("customer", a=lambda c: fn.filter(c.points, lambda x: x > 1)),
        "SELECT customer, list_filter(points, lambda x: x > 1) FROM customers",
    ),
    "lambda in place": (
        lambda: orders().select("id", a=lambda o: invoke(lambda x, y: x + y + o.id, o.quantity, o.customer)),
        "SELECT id, quantity + customer + id FROM orders",
    ),
}

GROUPS: dict[str, tuple[Make, str]] = {
    "sum": (
        lambda: orders().group_by("customer").agg(total=sum_(lambda o: o.quantity * o.price), n=count()),
        "SELECT customer, sum(quantity * price), count(*) FROM orders GROUP BY customer",
    ),
    "of all": (
        lambda: orders().agg(low=min_(lambda o: o.price), high=max_(lambda o: o.day), n=count(lambda o: o.note)),
        "SELECT min(price), max(day), count(note) FROM orders",
    ),
    "computed key": (
        lambda: orders().group_by(even=lambda o: o.id % 2 == 0).agg(s=lambda o: sum_(o.quantity)),
        "SELECT id % 2 = 0, sum(quantity) FROM orders GROUP BY 1",
    ),
    "filter": (
        lambda: orders().group_by("customer").agg(s=lambda o: sum_(o.quantity).filter(o.price > 5)),
        "SELECT customer, sum(quantity) FILTER (WHERE price > 5) FROM orders GROUP BY customer",
    ),
    "distinct": (
        lambda: orders().agg(n=lambda o: count(o.price).distinct(), s=lambda o: sum_(o.quantity).distinct()),
        "SELECT count(DISTINCT price), sum(DISTINCT quantity) FROM orders",
    ),
    "ordered": (
        lambda: orders().group_by("customer").agg(s=lambda o: fn.string_agg(o.note, ",").order_by(o.id.desc())),
        "SELECT customer, string_agg(note, ',' ORDER BY id DESC) FROM orders GROUP BY customer",
    ),
    "computed from aggregates": (
        lambda: (
            orders()
            .group_by("customer")
            .agg(a=lambda o: sum_(o.quantity) + count() * 2, b=lambda o: o.customer + 1, n=count())
        ),
        "SELECT customer, sum(quantity) + count(*) * 2, customer + 1, count(*) FROM orders GROUP BY customer",
    ),
    "average": (
        lambda: orders().agg(a=avg(lambda o: o.score)),
        "SELECT avg(score) FROM orders",
    ),
    "having": (
        lambda: orders().group_by("customer").agg(n=count()).filter(lambda g: g.n > 1),
        "SELECT customer, count(*) FROM orders GROUP BY customer HAVING count(*) > 1",
    ),
    "rollup": (
        lambda: orders().rollup("customer", "paid").agg(n=count()),
        "SELECT customer, paid, count(*) FROM orders GROUP BY ROLLUP (customer, paid)",
    ),
    "cube": (
        lambda: orders().cube("customer", "paid").agg(n=count()),
        "SELECT customer, paid, count(*) FROM orders GROUP BY CUBE (customer, paid)",
    ),
    "grouping sets": (
        lambda: orders().grouping_sets(["customer"], ["paid"], []).with_set_id("set").agg(n=count()),
        """SELECT customer, paid, count(*),
           CASE grouping(customer, paid) WHEN 1 THEN 0 WHEN 2 THEN 1 ELSE 2 END
           FROM orders GROUP BY GROUPING SETS ((customer), (paid), ())""",
    ),
    "rollup with computed": (
        lambda: orders().rollup("customer").agg(x=lambda o: count() + 1),
        "SELECT customer, count(*) + 1 FROM orders GROUP BY ROLLUP (customer)",
    ),
    "distinct records": (
        lambda: orders().select("customer", "paid").distinct(),
        "SELECT DISTINCT customer, paid FROM orders",
    ),
}

WINDOWS: dict[str, tuple[Make, str]] = {
    "rank": (
        lambda: orders().select("id", r=lambda o: rank().over(o.customer, o.price.desc(nulls="last"))),
        "SELECT id, rank() OVER (PARTITION BY customer ORDER BY price DESC NULLS LAST) FROM orders",
    ),
    "running sum": (
        lambda: orders().select("id", s=lambda o: sum_(o.quantity).over(o.customer, o.id)),
        "SELECT id, sum(quantity) OVER (PARTITION BY customer ORDER BY id) FROM orders",
    ),
    "whole partition": (
        lambda: orders().select("id", s=lambda o: count(o.note).over([o.customer, o.paid])),
        "SELECT id, count(note) OVER (PARTITION BY customer, paid) FROM orders",
    ),
    "rows": (
        lambda: orders().select("id", s=lambda o: sum_(o.quantity).over(order_by=o.id, rows=(-1, 1))),
        "SELECT id, sum(quantity) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM orders",
    ),
    "range": (
        lambda: orders().select("id", s=lambda o: sum_(o.quantity).over(order_by=o.id, range=(preceding(2), 0))),
        "SELECT id, sum(quantity) OVER (ORDER BY id RANGE BETWEEN 2 PRECEDING AND CURRENT ROW) FROM orders",
    ),
    "range of numbers": (
        lambda: orders().select("id", s=lambda o: max_(o.id).over(order_by=o.score, range=(-1, None))),
        """SELECT id, max(id) OVER (ORDER BY score NULLS FIRST RANGE BETWEEN 1 PRECEDING AND UNBOUNDED FOLLOWING)
           FROM orders""",
    ),
    "lag": (
        lambda: orders().select("id", p=lambda o: lag(o.quantity).over(order_by=o.id)),
        "SELECT id, lag(quantity) OVER (ORDER BY id) FROM orders",
    ),
    "computed from a window": (
        lambda: orders().select("id", x=lambda o: o.id + row_number().over(order_by=o.id.desc()) * 2),
        "SELECT id, id + row_number() OVER (ORDER BY id DESC) * 2 FROM orders",
    ),
    "window relation": (
        lambda: (
            orders()
            .window(
                "customer", lambda o: o.id.asc(), rows=(None, 0), n=lambda o: row_number(), s=sum_(lambda o: o.quantity)
            )
            .select("id", "n", "s")
        ),
        """SELECT id, row_number() OVER w, sum(quantity) OVER (w ROWS UNBOUNDED PRECEDING) FROM orders
           WINDOW w AS (PARTITION BY customer ORDER BY id)""",
    ),
}

CASES = {
    f"{area}: {name}": case
    for area, cases in [
        ("column", COLUMNS),
        ("group", GROUPS),
        ("window", WINDOWS),
    ]
    for name, case in cases.items()
}


@pytest.mark.parametrize("name", CASES)
def test_a_built_query_has_the_rows_of_its_sql(name: str, results: Results) -> None:
    make, sql = CASES[name]
    found, expected = results(make(), sql)
    assert sorted(found, key=repr) == sorted(expected, key=repr)
