"""Plans of Ibis over tables of TPC-H, and the SQL that Ibis has for the same expressions, as files in a folder.

Run in an environment of its own, with ``ibis-substrait==4.0.1 substrait==0.21.0 ibis-framework[duckdb]``:

    python ibis_plans.py FOLDER
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ibis
from ibis import _
from ibis_substrait.compiler.core import SubstraitCompiler

LINES = ibis.table(
    {
        "l_orderkey": "int64",
        "l_partkey": "int64",
        "l_suppkey": "int64",
        "l_linenumber": "int32",
        "l_quantity": "decimal(15, 2)",
        "l_extendedprice": "decimal(15, 2)",
        "l_discount": "decimal(15, 2)",
        "l_tax": "decimal(15, 2)",
        "l_returnflag": "string",
        "l_linestatus": "string",
        "l_shipdate": "date",
        "l_commitdate": "date",
        "l_receiptdate": "date",
        "l_shipinstruct": "string",
        "l_shipmode": "string",
        "l_comment": "string",
    },
    name="lineitem",
)
ORDERS = ibis.table(
    {
        "o_orderkey": "int64",
        "o_custkey": "int64",
        "o_orderstatus": "string",
        "o_totalprice": "decimal(15, 2)",
        "o_orderdate": "date",
        "o_orderpriority": "string",
        "o_clerk": "string",
        "o_shippriority": "int32",
        "o_comment": "string",
    },
    name="orders",
)
CUSTOMERS = ibis.table(
    {
        "c_custkey": "int64",
        "c_name": "string",
        "c_address": "string",
        "c_nationkey": "int64",
        "c_phone": "string",
        "c_acctbal": "decimal(15, 2)",
        "c_mktsegment": "string",
        "c_comment": "string",
    },
    name="customer",
)
NATIONS = ibis.table(
    {"n_nationkey": "int64", "n_name": "string", "n_regionkey": "int64", "n_comment": "string"}, name="nation"
)


def _pricing() -> Any:
    kept = LINES.filter(_.l_shipdate <= ibis.date("1998-09-02"))
    return (
        kept.group_by(["l_returnflag", "l_linestatus"])
        .aggregate(
            quantity=_.l_quantity.sum(),
            price=_.l_extendedprice.sum(),
            largest=_.l_extendedprice.max(),
            smallest=_.l_discount.min(),
            lines=_.count(),
        )
        .order_by(["l_returnflag", "l_linestatus"])
    )


def _joined() -> Any:
    return ORDERS.join(CUSTOMERS, ORDERS.o_custkey == CUSTOMERS.c_custkey)


EXPRESSIONS: dict[str, Callable[[], Any]] = {
    "scan": lambda: NATIONS,
    "projection": lambda: NATIONS.select("n_name", key=NATIONS.n_nationkey * 2 + 1),
    "filter": lambda: LINES.filter((_.l_quantity < 5) & (_.l_shipmode == "AIR"))[["l_orderkey", "l_linenumber"]],
    "filter_or_not": lambda: CUSTOMERS.filter((_.c_nationkey == 3) | ~(_.c_acctbal > 0))[["c_custkey"]],
    "is_in": lambda: LINES.filter(_.l_shipmode.isin(["AIR", "RAIL"]))[["l_orderkey", "l_shipmode"]],
    "between": lambda: ORDERS.filter(_.o_totalprice.between(1000, 2000))[["o_orderkey", "o_totalprice"]],
    "dates": lambda: ORDERS.filter(_.o_orderdate >= ibis.date("1998-01-01"))[["o_orderkey", "o_orderdate"]],
    "year": lambda: ORDERS.select("o_orderkey", year=ORDERS.o_orderdate.year()),
    "like": lambda: ORDERS.filter(_.o_comment.like("%special%"))[["o_orderkey"]],
    "text": lambda: NATIONS.select(up=NATIONS.n_name.upper(), low=NATIONS.n_name.lower(), n=NATIONS.n_name.length()),
    "substring": lambda: CUSTOMERS.select("c_custkey", code=CUSTOMERS.c_phone.substr(0, 2)),
    "concat": lambda: NATIONS.select(both=NATIONS.n_name + NATIONS.n_comment),
    "case": lambda: CUSTOMERS.select(
        "c_custkey",
        kind=ibis.cases((CUSTOMERS.c_acctbal < 0, "debt"), (CUSTOMERS.c_acctbal > 5000, "rich"), else_="-")
        if hasattr(ibis, "cases")
        else ibis.case()
        .when(CUSTOMERS.c_acctbal < 0, "debt")
        .when(CUSTOMERS.c_acctbal > 5000, "rich")
        .else_("-")
        .end(),
    ),
    "cast": lambda: NATIONS.select(text=NATIONS.n_nationkey.cast("string"), real=NATIONS.n_nationkey.cast("float64")),
    "arithmetic": lambda: NATIONS.select(
        a=NATIONS.n_nationkey + 1, b=NATIONS.n_nationkey - 2, c=NATIONS.n_nationkey * 3, d=-NATIONS.n_nationkey
    ),
    "quotient": lambda: NATIONS.select(half=NATIONS.n_nationkey.cast("float64") / 2.0),
    "coalesce": lambda: NATIONS.select(name=ibis.coalesce(NATIONS.n_name, "none")),
    "sort_limit": lambda: ORDERS.order_by([ibis.desc("o_totalprice"), "o_orderkey"]).limit(10),
    "offset": lambda: NATIONS.order_by("n_nationkey").limit(5, offset=10),
    "distinct": lambda: LINES[["l_shipmode", "l_returnflag"]].distinct(),
    "pricing": _pricing,
    "means": lambda: LINES.group_by("l_shipmode").aggregate(mean=_.l_linenumber.cast("float64").mean()),
    "deviation": lambda: LINES.aggregate(deviation=_.l_linenumber.cast("float64").std()),
    "count_distinct": lambda: ORDERS.group_by("o_orderstatus").aggregate(customers=_.o_custkey.nunique()),
    "total": lambda: LINES.aggregate(total=_.l_quantity.sum(), lines=_.count()),
    "having": lambda: ORDERS.group_by("o_custkey").aggregate(n=_.count()).filter(_.n > 25),
    "join": lambda: _joined()[["o_orderkey", "c_name"]],
    "left_join": lambda: CUSTOMERS.left_join(ORDERS, CUSTOMERS.c_custkey == ORDERS.o_custkey)[["c_name", "o_orderkey"]],
    "semi_join": lambda: CUSTOMERS.semi_join(ORDERS, CUSTOMERS.c_custkey == ORDERS.o_custkey)[["c_custkey"]],
    "anti_join": lambda: CUSTOMERS.anti_join(ORDERS, CUSTOMERS.c_custkey == ORDERS.o_custkey)[["c_custkey"]],
    "join_of_three": lambda: (
        _joined()
        .join(NATIONS, _.c_nationkey == NATIONS.n_nationkey)
        .group_by("n_name")
        .aggregate(revenue=_.o_totalprice.sum())
        .order_by("n_name")
    ),
    "union": lambda: NATIONS[["n_nationkey"]].union(NATIONS[["n_regionkey"]].rename(n_nationkey="n_regionkey")),
    "union_distinct": lambda: NATIONS[["n_regionkey"]].union(NATIONS[["n_regionkey"]], distinct=True),
    "window": lambda: ORDERS.select(
        "o_orderkey", total=ORDERS.o_totalprice.sum().over(ibis.window(group_by=ORDERS.o_custkey))
    ),
    "rank": lambda: ORDERS.select(
        "o_orderkey",
        place=ibis.row_number().over(ibis.window(group_by=ORDERS.o_custkey, order_by=ORDERS.o_orderkey)),
    ),
}


def write(folder: Path) -> None:
    """Write a plan, or why there is none, and the SQL of each expression."""
    for name, make in EXPRESSIONS.items():
        try:
            expression = make()
            (folder / f"{name}.sql").write_text(str(ibis.to_sql(expression, dialect="duckdb")), encoding="utf-8")
            (folder / f"{name}.pb").write_bytes(SubstraitCompiler().compile(expression).SerializeToString())
        except Exception as error:
            (folder / f"{name}.fault").write_text(f"{type(error).__name__}: {error}", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
