"""Extended expressions and plans made with the PyPI package ``substrait``, as bytes in a folder.

Run in an environment of its own, since that package pins another release of the protobuf messages:

    python substrait_expressions.py FOLDER
"""

from __future__ import annotations

import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

from substrait.builders import extended_expression as e
from substrait.builders import type as t
from substrait.extension_registry import ExtensionRegistry
from substrait.sql.sql_to_substrait import convert

ARITHMETIC = "extension:io.substrait:functions_arithmetic"
COMPARISON = "extension:io.substrait:functions_comparison"
BOOLEAN = "extension:io.substrait:functions_boolean"
STRING = "extension:io.substrait:functions_string"

SCHEMA = t.named_struct(
    ["a", "b", "name", "ok"],
    t.struct([t.i64(), t.i64(nullable=False), t.string(), t.boolean()], nullable=False),
)

QUERIES = {
    "query": "SELECT name, a + b FROM numbers WHERE a > 1",
    "query_of_groups": "SELECT ok, SUM(b) FROM numbers GROUP BY ok",
}


def expressions() -> dict[str, Any]:
    a, b, name, ok = (e.column(column) for column in ("a", "b", "name", "ok"))
    big, small, none = (e.literal(text, t.string(nullable=False)) for text in ("big", "small", "none"))
    one, two = e.literal(1, t.i64(nullable=False)), e.literal(2, t.i64(nullable=False))
    given = e.dynamic_parameter(1, t.i64(nullable=False))
    less = e.scalar_function(COMPARISON, "lt", [a, b])
    return {
        "sum": e.scalar_function(ARITHMETIC, "add", [a, b], alias="total", options={"overflow": "ERROR"}),
        "compare": less,
        "both": e.scalar_function(BOOLEAN, "and", [less, ok]),
        "upper": e.scalar_function(STRING, "upper", [name]),
        "choice": e.if_then([(less, big)], small, alias="choice"),
        "switch": e.switch(b, [(two, big), (one, small)], none),
        "one_of": e.singular_or_list(b, [one, two]),
        "cast": e.cast(b, t.decimal(scale=2, precision=21), alias="as_decimal"),
        "decimal": e.literal(Decimal("-12.50"), t.decimal(scale=2, precision=4, nullable=False), alias="price"),
        "null": e.literal(None, t.date(), alias="day"),
        "running": e.window_function(ARITHMETIC, "row_number", [], partitions=[ok], alias="position"),
        "measure": e.aggregate_function(ARITHMETIC, "sum", [b], alias="all"),
        "parameter": e.scalar_function(ARITHMETIC, "add", [b, given], alias="more"),
    }  # fmt: skip


def write(folder: Path) -> None:
    registry = ExtensionRegistry(load_default_extensions=True)
    for name, made in expressions().items():
        bound = e.resolve_expression(made, SCHEMA, registry)
        (folder / f"{name}.sub").write_bytes(bound.SerializeToString())
    for name, query in QUERIES.items():
        plan = convert(query, "generic", schema_resolver=lambda table: SCHEMA, registry=registry)
        (folder / f"{name}.sub").write_bytes(plan.SerializeToString())


if __name__ == "__main__":
    write(Path(sys.argv[1]))
