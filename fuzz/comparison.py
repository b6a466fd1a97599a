"""Whether two tables have the same rows: as bags, with a tolerance for floats, and maps in any order."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from tests.peers.plan_outcomes import rows, rows_difference

__all__ = ["difference"]


def difference(found: pa.Table, expected: pa.Table) -> str | None:
    """Return the first difference between the rows of two tables; None if there is none. Columns go by position."""
    if found.num_columns != expected.num_columns:
        return f"{found.num_columns} columns instead of {expected.num_columns}"
    return rows_difference(_rows(found), _rows(expected), False)


def _rows(table: pa.Table) -> list[tuple[Any, ...]]:
    maps = {place for place, item in enumerate(table.schema) if pa.types.is_map(item.type)}
    return [
        tuple(
            tuple(sorted(value, key=repr)) if place in maps and value is not None else value
            for place, value in enumerate(row)
        )
        for row in rows(table)
    ]
