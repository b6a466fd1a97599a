"""DataFusion's functions that make a list of values, or take one out of a list or a map."""

from __future__ import annotations

from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.table import Call, Foreign, row

__all__ = ["ROWS"]


def make_array(call: Call) -> str:
    return Atom(f"array({', '.join(operand.sql for operand in call.operands)})")


ROWS = (
    row("get_field", "try_element_at({map}, {key})"),
    row("make_array", make_array, foreign=Foreign.MOVED),
    # a position that isn't an INT is an error in DataFusion, too
    row("array_element", "try_element_at({list}, nullif(CAST({position} AS INT), 0))", foreign=Foreign.MOVED),
)
