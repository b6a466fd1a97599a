"""Functions of lists and maps that only Spark has (``functions_spark_collection.yaml``)."""

from __future__ import annotations

from typing import Final

from pyspark_substrait.sql.compiler.types import MAP_SETTINGS, field_name
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.sizes import MOST_ELEMENTS, bounded_length, bounded_range
from pyspark_substrait.sql.functions.table import Call, Foreign, Row, Table, row

__all__ = ["TABLE"]


def zipped(call: Call) -> str:
    """``arrays_zip``, its fields by position: Spark names the fields of arguments that aren't names by number."""
    lists = [f"coalesce({operand.sql})" for operand in call.operands]
    fields = ", ".join(f"'{field_name(position)}', e.`{position}`" for position in range(len(lists)))
    return Atom(f"transform(arrays_zip({', '.join(lists)}), e -> named_struct({fields}))")


def with_named_fields(call: Call) -> str:
    """``map_entries`` with its fields named like those of all structs."""
    key, value = field_name(0), field_name(1)
    return f"transform(map_entries({call.sql(0)}), e -> named_struct('{key}', e.key, '{value}', e.value))"


def concatenated(call: Call) -> str:
    return Atom(f"concat({', '.join(operand.sql for operand in call.operands)})")


def maps_concatenated(call: Call) -> str:
    return f"map_concat({', '.join(operand.sql for operand in call.operands)})"


_MOVED: Final = Foreign.MOVED

_ELEMENTS: Final[tuple[Row, ...]] = (
    row("element", "{input}[{index}]", foreign=_MOVED),
    row("get", "get({input}, {index})", foreign=_MOVED),
    row("element_at", "element_at({input}, {index})", foreign=_MOVED),
    row("try_element_at", "try_element_at({input}, {index})", foreign=_MOVED),
    row("map_value", "try_element_at({input}, {key})"),
)

_LISTS: Final[tuple[Row, ...]] = (
    row("contains", "array_contains({input}, {value})"),
    row("distinct", "array_distinct({input})", catalyst="ArrayDistinct"),
    row("union", "array_union({left}, {right})", catalyst="ArrayUnion"),
    row("intersect", "array_intersect({left}, {right})", catalyst="ArrayIntersect"),
    row("except", "array_except({left}, {right})", catalyst="ArrayExcept"),
    row("overlap", "arrays_overlap({left}, {right})", catalyst="ArraysOverlap"),
    row("zip", zipped, foreign=_MOVED, catalyst="ArraysZip"),
    row("position", "array_position({input}, {value})", catalyst="ArrayPosition"),
    row("remove", "array_remove({input}, {value})", catalyst="ArrayRemove"),
    row(
        "repeat",
        lambda call: Atom(f"array_repeat({call.sql(0)}, {bounded_length(call, 1, MOST_ELEMENTS, 'elements')})"),
        foreign=_MOVED,
        catalyst="ArrayRepeat",
    ),
    row("slice", "slice({input}, {start}, {length})", foreign=_MOVED, catalyst="Slice"),
    row("flatten", "flatten({input})", foreign=_MOVED, catalyst="Flatten"),
    row("min", "array_min({input})", catalyst="ArrayMin"),
    row("max", "array_max({input})", catalyst="ArrayMax"),
    row("join", "array_join({0}, {1})", signatures=("list_str",), catalyst="ArrayJoin"),
    row("join", "array_join({0}, {1}, {2})", catalyst="ArrayJoin"),
    row("append", "array_append({input}, {value})", foreign=_MOVED, catalyst="ArrayAppend"),
    row("prepend", "array_prepend({input}, {value})", foreign=_MOVED, catalyst="ArrayPrepend"),
    row("insert", "array_insert({input}, {position}, {value})", foreign=_MOVED),
    row("compact", "array_compact({input})", foreign=_MOVED, catalyst="ArrayCompact"),
    row("reverse", "reverse({input})", foreign=_MOVED, catalyst="Reverse"),
    row("concat", concatenated, foreign=_MOVED, catalyst="Concat"),
    row(
        "sequence",
        lambda call: Atom(f"sequence({bounded_range(call)}, {call.sql(1)})"),
        signatures=("any_any",),
        catalyst="Sequence",
    ),
    row(
        "sequence",
        lambda call: Atom(f"sequence({bounded_range(call)}, {call.sql(1)}, {call.sql(2)})"),
        catalyst="Sequence",
    ),
)

_MAPS: Final[tuple[Row, ...]] = (
    row("map_size", "size({input})", foreign=_MOVED),
    row("map_keys", "map_keys({input})", foreign=_MOVED, catalyst="MapKeys"),
    row("map_values", "map_values({input})", foreign=_MOVED, catalyst="MapValues"),
    row("map_entries", with_named_fields, foreign=_MOVED, catalyst="MapEntries"),
    row("map_from_entries", "map_from_entries({input})", settings=MAP_SETTINGS, catalyst="MapFromEntries"),
    row("map_from_arrays", "map_from_arrays({keys}, {values})", settings=MAP_SETTINGS, catalyst="MapFromArrays"),
    row("map_concat", maps_concatenated, settings=MAP_SETTINGS, catalyst="MapConcat"),
    row("map_contains_key", "map_contains_key({input}, {key})", catalyst="MapContainsKey"),
    row(
        "str_to_map",
        "str_to_map({text}, {pair_delimiter}, {key_value_delimiter})",
        settings=MAP_SETTINGS,
        catalyst="StringToMap",
    ),
)

_WITH_FUNCTIONS: Final[tuple[Row, ...]] = (
    row("transform_with_index", "transform({0}, {1})", foreign=_MOVED),
    row("filter_with_index", "filter({0}, {1})", foreign=_MOVED),
    row("sort_by", "array_sort({0}, {1})", foreign=_MOVED),
    row("aggregate", "aggregate({0}, {1}, {2}, {3})", foreign=_MOVED),
    row("zip_with", "zip_with({0}, {1}, {2})", foreign=_MOVED),
    row("map_filter", "map_filter({0}, {1})", foreign=_MOVED),
    row("transform_keys", "transform_keys({0}, {1})", settings=MAP_SETTINGS),
    row("transform_values", "transform_values({0}, {1})", foreign=_MOVED),
    row("map_zip_with", "map_zip_with({0}, {1}, {2})"),
)

TABLE = Table("extension:pyspark_substrait:functions_spark_collection", (*_ELEMENTS, *_LISTS, *_MAPS, *_WITH_FUNCTIONS))
