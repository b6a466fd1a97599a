"""DataFusion's functions of lists."""

from __future__ import annotations

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import List, concrete
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.table import Call, Foreign, row

__all__ = ["ROWS"]


def make_array(call: Call) -> str:
    return Atom(f"array({', '.join(operand.sql for operand in call.operands)})")


def cardinality(call: Call) -> str:
    type = concrete(call.type(0))
    if isinstance(type, List) and isinstance(concrete(type.type), List):
        raise UnsupportedPlanError("DataFusion's cardinality of lists of lists, which counts the elements of those")
    return Atom(f"CAST(array_size({call.sql(0)}) AS BIGINT)")


ROWS = (
    row("get_field", "try_element_at({map}, {key})"),
    row("make_array", make_array, foreign=Foreign.MOVED),
    # a position that isn't an INT is an error in DataFusion, too
    row("array_element", "try_element_at({list}, nullif(CAST({position} AS INT), 0))", foreign=Foreign.MOVED),
    row("array_length", "CAST(array_size({list}) AS BIGINT)", foreign=Foreign.MOVED),
    row("cardinality", cardinality, foreign=Foreign.MOVED),
)
