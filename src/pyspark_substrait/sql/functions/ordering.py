"""The values of an aggregate in the order of its sorts, as an array."""

from __future__ import annotations

from dataclasses import replace

from pyspark_substrait.errors import UnsupportedPlanError
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
        if any(text != value for text, _ in call.sorts):
            raise UnsupportedPlanError(
                "distinct values can be sorted by themselves only: the records that one stands for differ in the rest",
                path="sorts",
            )
        # there are no nulls, and the keys after the first one compare equal values
        return f"sort_array({values}, {'true' if call.sorts[0][1].startswith('ASC') else 'false'})"
    if not call.sorts:
        return call.aggregate("collect_list", value)
    fields = [f"{text} AS k{position}" for position, (text, _) in enumerate(call.sorts)]
    known = f"{value} IS NOT NULL" if call.filter is None else f"({call.filter}) AND {value} IS NOT NULL"
    records = replace(call, filter=known).aggregate("collect_list", f"struct({', '.join(fields)}, {value} AS v)")
    return f"{_sorted(records, [direction for _, direction in call.sorts])}.v"


def _sorted(records: str, directions: list[str]) -> str:
    """The array of structs of keys ``k0``, ``k1``, … and a value ``v``, sorted."""
    if set(directions) == {"ASC NULLS FIRST"}:  # as Spark compares structs
        return f"sort_array({records})"
    if set(directions) == {"DESC NULLS LAST"}:
        return f"sort_array({records}, false)"
    text = "0"
    for position, direction in reversed(list(enumerate(directions))):
        left, right = f"l.k{position}", f"r.k{position}"
        lower, higher = ("-1", "1") if direction.startswith("ASC") else ("1", "-1")
        left_null, right_null = ("-1", "1") if direction.endswith("NULLS FIRST") else ("1", "-1")
        text = (
            f"CASE WHEN {left} <=> {right} THEN {text} WHEN {left} IS NULL THEN {left_null} "
            f"WHEN {right} IS NULL THEN {right_null} WHEN {left} < {right} THEN {lower} ELSE {higher} END"
        )
    return f"array_sort({records}, (l, r) -> {text})"
