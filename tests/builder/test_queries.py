"""Joins, queries in queries, sets and sorts of built plans give the rows that DuckDB gives for the same in SQL."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pyspark_substrait.builder import (
    Frame,
    all_of,
    any_of,
    count,
    exists,
    is_in,
    lit,
    min_,
    scalar,
    sum_,
    switching,
    values,
)
from tests.builder.conftest import Results
from tests.builder.tables import customers, orders

Make = Callable[[], Frame]

JOINS: dict[str, tuple[Make, str]] = {
    "inner": (
        lambda: (
            orders()
            .join(customers(), lambda o, c: o.customer == c.customer, suffixes=("", "_c"))
            .select("id", "customer_c", "name")
        ),
        "SELECT id, c.customer, name FROM orders o JOIN customers c ON o.customer = c.customer",
    ),
    "using": (
        lambda: orders().join(customers(), "customer").select("id", "customer", "name"),
        "SELECT id, customer, name FROM orders JOIN customers USING (customer)",
    ),
    "left": (
        lambda: orders().join(customers(), "customer", "left").select("customer", "id", "name"),
        "SELECT customer, id, name FROM orders LEFT JOIN customers USING (customer)",
    ),
    "right": (
        lambda: orders().join(customers(), "customer", "right").select("customer", "id", "name"),
        "SELECT customer, id, name FROM orders RIGHT JOIN customers USING (customer)",
    ),
    "outer": (
        lambda: orders().join(customers(), ["customer"], "outer").select("customer", "id", "name"),
        "SELECT customer, id, name FROM orders FULL JOIN customers USING (customer)",
    ),
    "semi": (
        lambda: orders().join(customers(), "customer", "left_semi").select("id"),
        "SELECT id FROM orders SEMI JOIN customers USING (customer)",
    ),
    "anti": (
        lambda: orders().join(customers(), lambda o, c: o.customer == c.customer, "anti").select("id"),
        "SELECT id FROM orders o WHERE NOT EXISTS (FROM customers c WHERE c.customer = o.customer)",
    ),
    "right semi": (
        lambda: orders().join(customers(), "customer", "right semi").select("name"),
        "SELECT name FROM customers SEMI JOIN orders USING (customer)",
    ),
    "right anti": (
        lambda: orders().join(customers(), "customer", "right anti").select("customer"),
        "SELECT customer FROM customers ANTI JOIN orders USING (customer)",
    ),
    "left single": (
        lambda: orders().join(customers(), "customer", "single").select("id", "name"),
        "SELECT id, name FROM orders LEFT JOIN customers USING (customer)",
    ),
    "right single": (
        lambda: customers().join(orders(), "customer", "right single").select("id", "name"),
        "SELECT id, name FROM orders LEFT JOIN customers USING (customer)",
    ),
    "left mark": (
        lambda: (
            orders()
            .filter(lambda o: o.customer.is_not_null())
            .join(customers(), "customer", "left mark", mark="known")
            .select("id", "known")
        ),
        "SELECT id, customer IN (SELECT customer FROM customers) FROM orders WHERE customer IS NOT NULL",
    ),
    "right mark": (
        lambda: (
            orders()
            .filter(lambda o: o.customer.is_not_null())
            .join(customers(), "customer", "right mark")
            .select("customer", "mark")
        ),
        """SELECT customer, customer IN (SELECT customer FROM orders WHERE customer IS NOT NULL) FROM customers""",
    ),
    "self": (
        lambda: (
            orders()
            .join(orders(), lambda a, b: (a.id == b.id - 1) & (a.customer == b.customer))
            .select(a=lambda o: o[0], b=lambda o: o[9])
        ),
        "SELECT a.id, b.id FROM orders a JOIN orders b ON a.id = b.id - 1 AND a.customer = b.customer",
    ),
    "post filter": (
        lambda: orders().join(customers(), "customer", "left", post_filter=lambda j: j.name.is_null()).select("id"),
        "SELECT id FROM orders LEFT JOIN customers USING (customer) WHERE name IS NULL",
    ),
    "cross": (
        lambda: orders().select("id").cross_join(customers().select("name")),
        "SELECT id, name FROM orders, customers",
    ),
    "hash": (
        lambda: (
            orders().hash_join(customers(), ["customer"], "left", suffixes=("", "2"), build="left").select("id", "name")
        ),
        "SELECT id, name FROM orders LEFT JOIN customers USING (customer)",
    ),
    "hash with residual": (
        lambda: (
            orders()
            .hash_join(customers(), [("customer", "customer")], residual=lambda o, c: o.id > 2)
            .select("id", "name")
        ),
        "SELECT id, name FROM orders JOIN customers USING (customer) WHERE id > 2",
    ),
    "null-safe keys": (
        lambda: (
            orders()
            .merge_join(orders().rename(id="other"), [("customer", "customer", "is not distinct from")])
            .select("id", "other")
        ),
        "SELECT a.id, b.id FROM orders a JOIN orders b ON a.customer IS NOT DISTINCT FROM b.customer",
    ),
    "nested loop": (
        lambda: orders().nested_loop_join(customers(), lambda o, c: o.id > c.customer / 4).select("id", "name"),
        "SELECT id, name FROM orders o JOIN customers c ON o.id > c.customer // 4",
    ),
    "lateral": (
        lambda: (
            customers()
            .lateral_join(
                lambda c: orders().filter(lambda o: o.customer == c.customer).sort(lambda o: o.id.desc()).limit(1),
                suffixes=("", "_o"),
            )
            .select("name", "id")
        ),
        """SELECT name, id FROM customers c,
           LATERAL (SELECT id FROM orders o WHERE o.customer = c.customer ORDER BY id DESC LIMIT 1)""",
    ),
    "lateral left": (
        lambda: (
            customers()
            .lateral_join(
                lambda c: (
                    orders().filter(lambda o: o.customer == c.customer).agg(n=count(), s=sum_(lambda o: o.quantity))
                ),
                how="left",
            )
            .select("customer", "n", "s")
        ),
        """SELECT c.customer, (SELECT count(*) FROM orders o WHERE o.customer = c.customer),
           (SELECT sum(quantity) FROM orders o WHERE o.customer = c.customer) FROM customers c""",
    ),
}

QUERIES: dict[str, tuple[Make, str]] = {
    "exists": (
        lambda: (
            customers().filter(lambda c: exists(orders().filter(lambda o: o.customer == c.customer))).select("customer")
        ),
        "SELECT customer FROM customers c WHERE EXISTS (FROM orders o WHERE o.customer = c.customer)",
    ),
    "not exists, same table": (
        lambda: (
            orders()
            .filter(lambda a: ~exists(orders().filter(lambda b: (b.customer == a.customer) & (b.id > a.id))))
            .select("id")
        ),
        "SELECT id FROM orders a WHERE NOT EXISTS (FROM orders b WHERE b.customer = a.customer AND b.id > a.id)",
    ),
    "scalar": (
        lambda: orders().filter(lambda o: o.price > scalar(orders().agg(a=lambda i: min_(i.price)))).select("id"),
        "SELECT id FROM orders WHERE price > (SELECT min(price) FROM orders)",
    ),
    "scalar in select": (
        lambda: customers().select(
            "customer",
            n=lambda c: scalar(orders().filter(lambda o: o.customer == c.customer).agg(n=count())),
        ),
        "SELECT customer, (SELECT count(*) FROM orders o WHERE o.customer = c.customer) FROM customers c",
    ),
    "in": (
        lambda: orders().select("id", a=lambda o: o.customer.isin(customers().select("customer"))),
        "SELECT id, customer IN (SELECT customer FROM customers) FROM orders",
    ),
    "in, other types": (
        lambda: orders().filter(lambda o: o.id.isin(orders().select("quantity"))).select("id"),
        "SELECT id FROM orders WHERE id IN (SELECT quantity FROM orders)",
    ),
    "rows in": (
        lambda: orders().filter(lambda o: is_in((o.id, 2), orders().select("id", "quantity"))).select("id"),
        "SELECT id FROM orders WHERE (id, 2) IN (SELECT (id, quantity) FROM orders)",
    ),
    "any": (
        lambda: orders().filter(lambda o: o.price > any_of(orders().filter("paid").select("price"))).select("id"),
        "SELECT id FROM orders WHERE price > ANY (SELECT price FROM orders WHERE paid)",
    ),
    "all": (
        lambda: orders().filter(lambda o: o.id >= all_of(orders().select("id"))).select("id"),
        "SELECT id FROM orders WHERE id >= ALL (SELECT id FROM orders)",
    ),
    "two levels": (
        lambda: (
            customers()
            .filter(
                lambda c: exists(
                    orders().filter(
                        lambda o: (
                            (o.customer == c.customer)
                            & exists(orders().filter(lambda i: (i.customer == c.customer) & (i.id > o.id)))
                        )
                    )
                )
            )
            .select("name")
        ),
        "SELECT name FROM customers WHERE customer IN (SELECT customer FROM orders GROUP BY 1 HAVING count(*) > 1)",
    ),
    "over groups": (
        lambda: (
            orders()
            .group_by("customer")
            .agg(
                n=count(), name=lambda o: scalar(customers().filter(lambda c: c.customer == o.customer).select("name"))
            )
        ),
        """SELECT customer, count(*), (SELECT name FROM customers c WHERE c.customer = o.customer)
           FROM orders o GROUP BY customer""",
    ),
    "shared": (
        lambda: (lambda s: s.join(s, lambda a, b: a.id == b.id + 1).select(a=lambda j: j[0], b=lambda j: j[1]))(
            orders().filter(lambda o: o.id > 2).select("id").shared()
        ),
        "SELECT a.id, b.id FROM orders a JOIN orders b ON a.id = b.id + 1 WHERE a.id > 2 AND b.id > 2",
    ),
    "shared, used once": (
        lambda: orders().shared().select("id"),
        "SELECT id FROM orders",
    ),
    "union": (
        lambda: orders().select("customer").union(customers().select("customer")),
        "SELECT customer FROM orders UNION SELECT customer FROM customers",
    ),
    "union all, widened": (
        lambda: orders().select("id").union_all(customers().select("customer"), orders().select("quantity")),
        "SELECT id FROM orders UNION ALL SELECT customer FROM customers UNION ALL SELECT quantity FROM orders",
    ),
    "intersect": (
        lambda: orders().select("customer").intersect(customers().select("customer")),
        "SELECT customer FROM orders INTERSECT SELECT customer FROM customers",
    ),
    "except": (
        lambda: orders().select("customer").except_(customers().select("customer")),
        "SELECT customer FROM orders EXCEPT SELECT customer FROM customers",
    ),
    "except all": (
        lambda: orders().select("customer").except_(customers().select("customer"), all=True),
        "SELECT customer FROM orders EXCEPT ALL SELECT customer FROM customers",
    ),
    "values": (
        lambda: values([(1, "a"), {"x": 2}, (lit(3), "c")], {"x": "i32", "y": "string?"}),
        "VALUES (1, 'a'), (2, NULL), (3, 'c')",
    ),
    "values with names inside": (
        lambda: values([((1, "a"), [1.5])], {"s": {"p": "i32", "q": "string"}, "l": "list<fp64>"}).select(
            q=lambda v: v.s.q, e=lambda v: v.l[0]
        ),
        "SELECT 'a', 1.5::DOUBLE",
    ),
    "read with options": (
        lambda: orders().with_read_options(
            filter=lambda o: o.quantity > 1, best_effort_filter=lambda o: o.id > 0, columns=["note", "id"]
        ),
        "SELECT note, id FROM orders WHERE quantity > 1",
    ),
    "expand": (
        lambda: orders().expand(
            lambda o: {
                "id": o.id,
                "what": switching("quantity", "customer"),
                "value": switching(o.quantity, o.customer),
            }
        ),
        """SELECT id, 'quantity', quantity, 0 FROM orders UNION ALL
           SELECT id, 'customer', customer, 1 FROM orders""",
    ),
    "exchange": (
        lambda: orders().exchange(by="customer", partitions=3).select("id"),
        "SELECT id FROM orders",
    ),
    "exchange by buckets": (
        lambda: orders().exchange(bucket=lambda o: (o.id % 2).cast("i32"), partitions=2).select("id"),
        "SELECT id FROM orders",
    ),
    "hint": (lambda: orders().hint(alias="o", row_count=7).select("id"), "SELECT id FROM orders"),
}

ORDERED: dict[str, tuple[Make, str]] = {
    "sort": (
        lambda: orders().sort("customer", lambda o: o.price.desc(nulls="first"), "id").select("id"),
        "SELECT id FROM orders ORDER BY customer NULLS FIRST, price DESC NULLS FIRST, id",
    ),
    "limit": (lambda: orders().sort("id").limit(2, offset=1).select("id"), "VALUES (2), (3)"),
    "offset": (lambda: orders().sort("id").offset(5).select("id"), "VALUES (6), (7)"),
    "top": (lambda: orders().top_n(2, lambda o: o.id.desc()).select("id"), "VALUES (7), (6)"),
    "top with ties": (
        lambda: orders().top_n(2, lambda o: o.score.desc(), with_ties=True).select("score"),
        "VALUES (100), (2.5), (2.5)",
    ),
}

CASES = {
    f"{area}: {name}": case
    for area, cases in [
        ("join", JOINS),
        ("query", QUERIES),
        ("order", ORDERED),
    ]
    for name, case in cases.items()
}


@pytest.mark.parametrize("name", CASES)
def test_a_built_query_has_the_rows_of_its_sql(name: str, results: Results) -> None:
    make, sql = CASES[name]
    found, expected = results(make(), sql)
    if not name.startswith("order"):
        found, expected = sorted(found, key=repr), sorted(expected, key=repr)
    assert found == expected
