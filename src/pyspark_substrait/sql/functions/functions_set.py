"""Membership functions (``functions_set.yaml``)."""

from __future__ import annotations

from collections.abc import Callable

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import FP32, FP64, concrete
from pyspark_substrait.sql.compiler.types import has_map
from pyspark_substrait.sql.functions.table import Call, Foreign, Table, row

__all__ = ["TABLE"]


def index_in(nan_is_nan: bool) -> Callable[[Call], str]:
    """Return the index of the first equal element. Structs and lists are equal by their parts; null equals null."""

    def body(call: Call) -> str:
        needle, haystack, type = call.sql(0), call.sql(1), concrete(call.type(0))
        if has_map(type):
            raise UnsupportedPlanError(f"index_in of {type}: Spark cannot compare maps")
        # array_position counts from 1 and gives 0 for a missing value; for it, NaN equals NaN
        index = f"nullif(array_position({haystack}, {needle}), 0L) - 1L"
        return index if nan_is_nan or not isinstance(type, FP32 | FP64) else f"if(isnan({needle}), NULL, {index})"

    return body


TABLE = Table(
    "extension:io.substrait:functions_set",
    (
        row("index_in", index_in(True), nan_equality="NAN_IS_NAN", foreign=Foreign.COMPARED),
        row("index_in", index_in(False), nan_equality="NAN_IS_NOT_NAN", foreign=Foreign.COMPARED),
    ),
)
