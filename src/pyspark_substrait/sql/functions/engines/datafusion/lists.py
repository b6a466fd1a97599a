"""DataFusion's functions that make a list of values, or take one out of a list or a map."""

from __future__ import annotations

from pyspark_substrait.sql.compiler.types import MAP_SETTINGS, field_name
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.table import Call, Foreign, row

__all__ = ["ROWS"]


def make_array(call: Call) -> str:
    return Atom(f"array({', '.join(operand.sql for operand in call.operands)})")


def entries(call: Call) -> str:
    key, value = field_name(0), field_name(1)
    return Atom(f"transform(map_entries({call.sql(0)}), e -> named_struct('{key}', e.key, '{value}', e.value))")


ROWS = (
    row("get_field", "try_element_at({map}, {key})"),
    row("map", "map_from_arrays({keys}, {values})", settings=MAP_SETTINGS),
    row("map_extract", "array(try_element_at({map}, {key}))"),
    row("map_keys", "map_keys({map})", foreign=Foreign.MOVED),
    row("map_values", "map_values({map})", foreign=Foreign.MOVED),
    row("map_entries", entries, foreign=Foreign.MOVED),
    row("make_array", make_array, foreign=Foreign.MOVED),
    # a position that isn't an INT is an error in DataFusion, too
    row("array_element", "try_element_at({list}, nullif(CAST({position} AS INT), 0))", foreign=Foreign.MOVED),
)
