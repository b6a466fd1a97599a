"""Functions of lists in DuckDB, whose elements are counted from 1, or from -1 at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlglot import exp

from pyspark_substrait.engines.dialects.dialect import Call, Row, row
from pyspark_substrait.engines.dialects.standard import comparable
from pyspark_substrait.model.types import List, concrete

__all__ = ["ELEMENT", "LISTS", "SPARK_LISTS"]

#: an element by its position; null where there is none
ELEMENT: Final = "LIST_EXTRACT({0}, {1})"


def _compared(template: str) -> Callable[[Call], exp.Expression]:
    """Return the body of a function of a list whose elements are compared there as here."""

    def body(call: Call) -> exp.Expression:
        type = concrete(call.type(0))
        assert isinstance(type, List)
        comparable(type.type, call)
        return call.filled(template)

    return body


def _sorts() -> list[Row]:
    found = []
    for order in ("ASC", "DESC"):
        for nulls in ("FIRST", "LAST"):
            body = _compared(f"LIST_SORT({{0}}, '{order}', 'NULLS {nulls}')")
            found.append(row("sort", body, direction=f"{order}_NULLS_{nulls}"))
    return found


_CONTAINED: Final = (
    "CASE WHEN {0} IS NULL OR {1} IS NULL THEN NULL WHEN LIST_CONTAINS({0}, {1}) THEN TRUE "
    "WHEN LIST_COUNT({0}) < LEN({0}) THEN NULL ELSE FALSE END"
)
_FROM_ZERO: Final = "LIST_EXTRACT({0}, {1} + 1)"
_MISSING: Final = "error('the list has no element at this position')"

#: where no element decides, null if some are unknown
_MATCHED: Final = (
    "CASE WHEN {0} IS NULL THEN NULL WHEN LIST_CONTAINS(LIST_TRANSFORM({0}, {1}), DECISIVE) THEN DECISIVE "
    "WHEN LIST_COUNT(LIST_TRANSFORM({0}, {1})) < LEN({0}) THEN NULL ELSE NOT DECISIVE END"
)

LISTS: Final = [
    row("cardinality", "CAST(LEN({0}) AS {output})"),
    row("filter", "LIST_FILTER({0}, {1})"),
    row("transform", "LIST_TRANSFORM({0}, {1})"),
    row("any_match", _MATCHED.replace("DECISIVE", "TRUE")),
    row("all_match", _MATCHED.replace("DECISIVE", "FALSE")),
    *_sorts(),
]
"""The functions of the specification."""

SPARK_LISTS: Final = [
    row("element", f"CASE WHEN {{1}} < 0 OR {{1}} >= LEN({{0}}) THEN {_MISSING} ELSE {_FROM_ZERO} END"),
    row("get", f"CASE WHEN {{1}} < 0 THEN NULL ELSE {_FROM_ZERO} END"),
    row("element_at", f"CASE WHEN {{1}} = 0 OR ABS({{1}}) > LEN({{0}}) THEN {_MISSING} ELSE {ELEMENT} END"),
    row("try_element_at", f"CASE WHEN {{1}} = 0 THEN {_MISSING} ELSE {ELEMENT} END"),
    row("contains", _compared(_CONTAINED)),
    row("min", _compared("LIST_MIN({0})")),
    row("max", _compared("LIST_MAX({0})")),
    row("reverse", "LIST_REVERSE({0})"),
]
"""The functions that only Spark has."""
