"""The values of an aggregate in the order of its sorts, as an array."""

from __future__ import annotations

from dataclasses import replace

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.sql.functions.over import SortKey
from pyspark_substrait.sql.functions.table import Call

__all__ = ["in_order"]


def in_order(call: Call, value: str) -> str:
    """Return an array of the non-null values of ``value``, an atom, in the order of the call's sorts.

    Records that the sorts treat as equal are in no particular order. With DISTINCT, equal values count once; then only
    the values themselves can determine the order.

    Raises:
        UnsupportedPlanError: DISTINCT with a sort key that may differ for equal values.
    """
    if call.distinct:
        values = f"array_distinct({replace(call, distinct=False).aggregate('collect_list', value)})"
        if not call.sorts:
            return values
        if any(key.text != value for key in call.sorts):
            raise UnsupportedPlanError(
                "distinct values can be sorted by themselves only: the records that one stands for differ in the rest",
                path="sorts",
            )
        # there are no nulls, and the keys after the first one compare equal values
        return f"sort_array({values}, {'false' if call.sorts[0].descending else 'true'})"
    if not call.sorts:
        return call.aggregate("collect_list", value)
    fields = [f"{key.text} AS k{position}" for position, key in enumerate(call.sorts)]
    known = f"{value} IS NOT NULL" if call.filter is None else f"({call.filter}) AND {value} IS NOT NULL"
    records = replace(call, filter=known).aggregate("collect_list", f"struct({', '.join(fields)}, {value} AS v)")
    return f"{_sorted(records, call.sorts)}.v"


def _sorted(records: str, keys: tuple[SortKey, ...]) -> str:
    """The array of structs of keys ``k0``, ``k1``, … and a value ``v``, sorted."""
    if all(key.nulls_first and not key.descending for key in keys):  # as Spark compares structs
        return f"sort_array({records})"
    if all(key.descending and not key.nulls_first for key in keys):
        return f"sort_array({records}, false)"
    text = "0"
    for position, key in reversed(list(enumerate(keys))):
        left, right = f"l.k{position}", f"r.k{position}"
        lower, higher = ("1", "-1") if key.descending else ("-1", "1")
        left_null, right_null = ("-1", "1") if key.nulls_first else ("1", "-1")
        text = (
            f"CASE WHEN {left} <=> {right} THEN {text} WHEN {left} IS NULL THEN {left_null} "
            f"WHEN {right} IS NULL THEN {right_null} WHEN {left} < {right} THEN {lower} ELSE {higher} END"
        )
    return f"array_sort({records}, (l, r) -> {text})"
