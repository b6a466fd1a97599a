"""The types of Arrow that DataFusion writes as variations of others, of the tables of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa

from pyspark_substrait.binding.schemas import arrow_schema, datafusion_tables
from pyspark_substrait.model.variations import Variation

__all__ = ["as_written", "variations"]

_PLAIN: Final = {
    pa.uint8(): pa.int8(), pa.uint16(): pa.int16(), pa.uint32(): pa.int32(), pa.uint64(): pa.int64(),
    pa.large_string(): pa.string(), pa.large_binary(): pa.binary(), pa.date64(): pa.date32(),
    pa.string_view(): pa.string(), pa.binary_view(): pa.binary(),
}  # fmt: skip
_VIEWS: Final = (pa.string_view(), pa.binary_view())
_VARIED: Final = (pa.types.is_unsigned_integer, pa.types.is_decimal256, pa.types.is_duration)


def as_written(tables: Any) -> Any:
    """Return tables with the schemas that DataFusion's plans have; what has no schema of Arrow stays."""
    given = _by_name(tables)
    if given is None:
        return tables
    schemas = {name: arrow_schema(source) for name, source in given.items()}
    return {name: given[name] if schema is None else _plain_schema(schema) for name, schema in schemas.items()}


def variations(tables: Any) -> dict[str, dict[str, Variation]]:
    """Return the variations of the columns of tables, by the dotted names of these."""
    schemas = {name: arrow_schema(source) for name, source in (_by_name(tables) or {}).items()}
    return {
        name if isinstance(name, str) else ".".join(name): {field.name: _variation(field.type) for field in schema}
        for name, schema in schemas.items()
        if schema is not None
    }


def _by_name(tables: Any) -> Mapping[Any, Any] | None:
    if isinstance(tables, Mapping):
        return tables
    engine = type(tables).__module__.split(".")[0].lstrip("_")
    return datafusion_tables(tables) if engine == "datafusion" and hasattr(tables, "catalog") else None


def _variation(type: pa.DataType) -> Variation:
    large = pa.types.is_large_list(type) or type in (pa.large_string(), pa.large_binary())
    other = type == pa.date64() or any(is_one(type) for is_one in _VARIED)
    return Variation(2 if type in _VIEWS else int(large or other), tuple(map(_variation, _parts(type))))


def _parts(type: pa.DataType) -> list[pa.DataType]:
    if pa.types.is_map(type):
        return [type.key_type, type.item_type]
    if pa.types.is_struct(type):
        return [field.type for field in type]
    return [type.value_type] if pa.types.is_list(type) or pa.types.is_large_list(type) else []


def _plain_schema(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field.with_type(_plain(field.type)) for field in schema])


def _plain(type: pa.DataType) -> pa.DataType:
    if type in _PLAIN:
        return _PLAIN[type]
    if pa.types.is_list(type) or pa.types.is_large_list(type):
        return pa.list_(type.value_field.with_type(_plain(type.value_type)))
    if pa.types.is_struct(type):
        return pa.struct([field.with_type(_plain(field.type)) for field in type])
    if pa.types.is_decimal256(type) and type.precision <= 38:
        return pa.decimal128(type.precision, type.scale)
    return type
