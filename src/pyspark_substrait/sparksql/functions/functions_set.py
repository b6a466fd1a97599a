"""Membership functions (``functions_set.yaml``)."""

from __future__ import annotations

from pyspark_substrait.model.types import FP32, FP64, concrete
from pyspark_substrait.sparksql.functions.table import Call, Foreign, Table, row

__all__ = ["TABLE"]


def index_in_without_nan(call: Call) -> str:
    index = _INDEX.format(needle=call.sql(0), haystack=call.sql(1))
    return f"if(isnan({call.sql(0)}), NULL, {index})" if isinstance(concrete(call.type(0)), FP32 | FP64) else index


# array_position counts from 1 and gives 0 for a value that isn't there; NaN equals NaN to it
_INDEX = "nullif(array_position({haystack}, {needle}), 0L) - 1L"

TABLE = Table(
    "extension:io.substrait:functions_set",
    (
        row("index_in", _INDEX, nan_equality="NAN_IS_NAN", foreign=Foreign.COMPARED),
        row("index_in", index_in_without_nan, nan_equality="NAN_IS_NOT_NAN", foreign=Foreign.COMPARED),
    ),
)
