"""Plans over tables of TPC-H made with the builder of the PyPI package ``substrait``, and SQL that means the same.

Run in an environment of its own, with ``substrait[extensions,sql]==0.37.1``:

    python substrait_plans.py FOLDER
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from substrait.builders import extended_expression as e
from substrait.builders import plan as p
from substrait.builders import type as t
from substrait.extension_registry import ExtensionRegistry

ARITHMETIC = "extension:io.substrait:functions_arithmetic"
COMPARISON = "extension:io.substrait:functions_comparison"
BOOLEAN = "extension:io.substrait:functions_boolean"
STRING = "extension:io.substrait:functions_string"
GENERIC = "extension:io.substrait:functions_aggregate_generic"

LONG, TEXT = t.i64(nullable=False), t.string(nullable=False)
NATION = t.named_struct(
    ["n_nationkey", "n_name", "n_regionkey", "n_comment"], t.struct([LONG, TEXT, LONG, TEXT], nullable=False)
)
REGION = t.named_struct(["r_regionkey", "r_name", "r_comment"], t.struct([LONG, TEXT, TEXT], nullable=False))
INNER, LEFT, SEMI, ANTI = 1, 3, 5, 6  # JoinRel.JoinType
UNION_ALL = 6  # SetRel.SetOp
DESCENDING = 4  # SortField.SortDirection


def nations() -> Any:
    return p.read_named_table("nation", NATION)


def regions() -> Any:
    return p.read_named_table("region", REGION)


def long(value: int) -> Any:
    return e.literal(value, LONG)


def text(value: str) -> Any:
    return e.literal(value, TEXT)


def compared(name: str, one: Any, other: Any) -> Any:
    return e.scalar_function(COMPARISON, name, [one, other])


def joined(type: int) -> Any:
    same = compared("equal", e.column("n_regionkey"), e.column("r_regionkey"))
    return p.join(nations(), p.filter(regions(), compared("lt", e.column("r_regionkey"), long(3))), same, type)


def counted(measure: Any) -> Any:
    return p.aggregate(nations(), [e.column("n_regionkey")], [measure])


KEY, NAME = e.column("n_nationkey"), e.column("n_name")
PLANS: dict[str, tuple[Callable[[], Any], str]] = {
    "scan": (nations, "SELECT * FROM nation"),
    "select": (
        lambda: p.select(nations(), [NAME, e.scalar_function(ARITHMETIC, "add", [KEY, long(1)], alias="next")]),
        "SELECT n_name, n_nationkey + 1 FROM nation",
    ),
    "project": (
        lambda: p.project(nations(), [e.scalar_function(ARITHMETIC, "multiply", [KEY, KEY], alias="square")]),
        "SELECT *, n_nationkey * n_nationkey FROM nation",
    ),
    "filter": (
        lambda: p.filter(nations(), compared("gt", KEY, long(20))),
        "SELECT * FROM nation WHERE n_nationkey > 20",
    ),
    "filter_and": (
        lambda: p.filter(
            nations(),
            e.scalar_function(
                BOOLEAN, "and", [compared("gte", KEY, long(5)), compared("not_equal", NAME, text("CHINA"))]
            ),
        ),
        "SELECT * FROM nation WHERE n_nationkey >= 5 AND n_name <> 'CHINA'",
    ),
    "like": (
        lambda: p.filter(nations(), e.scalar_function(STRING, "like", [NAME, text("%IN%")])),
        "SELECT * FROM nation WHERE n_name LIKE '%IN%'",
    ),
    "case": (
        lambda: p.select(
            nations(), [NAME, e.if_then([(compared("lt", KEY, long(10)), text("low"))], text("high"), alias="kind")]
        ),
        "SELECT n_name, CASE WHEN n_nationkey < 10 THEN 'low' ELSE 'high' END FROM nation",
    ),
    "one_of": (
        lambda: p.filter(nations(), e.singular_or_list(KEY, [long(1), long(3), long(99)])),
        "SELECT * FROM nation WHERE n_nationkey IN (1, 3, 99)",
    ),
    "cast": (
        lambda: p.select(nations(), [e.cast(KEY, t.string(nullable=False), alias="key")]),
        "SELECT CAST(n_nationkey AS VARCHAR) FROM nation",
    ),
    "sort_limit": (
        lambda: p.fetch(p.sort(nations(), [(NAME, DESCENDING)]), long(2), long(5)),
        "SELECT * FROM nation ORDER BY n_name DESC LIMIT 5 OFFSET 2",
    ),
    "inner_join": (
        lambda: joined(INNER),
        "SELECT * FROM nation JOIN (SELECT * FROM region WHERE r_regionkey < 3) ON n_regionkey = r_regionkey",
    ),
    "left_join": (
        lambda: joined(LEFT),
        "SELECT * FROM nation LEFT JOIN (SELECT * FROM region WHERE r_regionkey < 3) ON n_regionkey = r_regionkey",
    ),
    "semi_join": (
        lambda: joined(SEMI),
        "SELECT * FROM nation WHERE n_regionkey IN (SELECT r_regionkey FROM region WHERE r_regionkey < 3)",
    ),
    "anti_join": (
        lambda: joined(ANTI),
        "SELECT * FROM nation WHERE n_regionkey NOT IN (SELECT r_regionkey FROM region WHERE r_regionkey < 3)",
    ),
    "cross": (lambda: p.cross(nations(), regions()), "SELECT * FROM nation, region"),
    "sum": (
        lambda: counted(e.aggregate_function(ARITHMETIC, "sum", [KEY], alias="total")),
        "SELECT n_regionkey, sum(n_nationkey) FROM nation GROUP BY n_regionkey",
    ),
    "count": (
        lambda: counted(e.aggregate_function(GENERIC, "count", [KEY], alias="n")),
        "SELECT n_regionkey, count(n_nationkey) FROM nation GROUP BY n_regionkey",
    ),
    "totals": (
        lambda: p.aggregate(
            nations(),
            [],
            [
                e.aggregate_function(ARITHMETIC, "min", [KEY], alias="low"),
                e.aggregate_function(ARITHMETIC, "max", [KEY], alias="high"),
            ],
        ),
        "SELECT min(n_nationkey), max(n_nationkey) FROM nation",
    ),
    "union_all": (
        lambda: p.set(
            [p.select(nations(), [e.column("n_regionkey")]), p.select(regions(), [e.column("r_regionkey")])], UNION_ALL
        ),
        "SELECT n_regionkey FROM nation UNION ALL SELECT r_regionkey FROM region",
    ),
    "rank": (
        lambda: p.select(nations(), [NAME, e.window_function(ARITHMETIC, "rank", [], partitions=[KEY], alias="place")]),
        "SELECT n_name, rank() OVER (PARTITION BY n_nationkey) FROM nation",
    ),
}


def write(folder: Path) -> None:
    """Write the plans, or why there are none, and the SQL."""
    registry = ExtensionRegistry(load_default_extensions=True)
    for name, (make, sql) in PLANS.items():
        (folder / f"{name}.sql").write_text(sql, encoding="utf-8")
        try:
            (folder / f"{name}.pb").write_bytes(make()(registry).SerializeToString())
        except Exception as error:
            (folder / f"{name}.fault").write_text(f"{type(error).__name__}: {error}", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
