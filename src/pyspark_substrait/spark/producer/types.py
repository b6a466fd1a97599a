"""Convert Spark types, in their JSON form, to Substrait types."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    Binary,
    Boolean,
    Date,
    Decimal,
    IntervalCompound,
    IntervalDay,
    IntervalYear,
    List,
    Map,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Struct,
    Type,
    with_nullability,
)
from pyspark_substrait.spark.producer.collated import refuse_collation

__all__ = ["names_of", "type_of"]

_SIMPLE: Final[dict[str, Type]] = {
    "boolean": Boolean(),
    "byte": I8(),
    "short": I16(),
    "integer": I32(),
    "long": I64(),
    "float": FP32(),
    "double": FP64(),
    "string": String(),
    "string collate UTF8_BINARY": String(),
    "binary": Binary(),
    "date": Date(),
    "timestamp": PrecisionTimestampTZ(precision=6),
    "timestamp_ntz": PrecisionTimestamp(precision=6),
    "interval": IntervalCompound(precision=6),
}
_DECIMAL: Final = re.compile(r"decimal\((\d+),\s*(-?\d+)\)")
_TIME: Final = re.compile(r"time\((\d+)\)")
_TEXT: Final = re.compile(r"(?:var)?char\(\d+\)")  # Spark pads and checks these when it reads and writes tables


def type_of(json: Any, nullable: bool) -> Type:
    """Convert a Spark type (``DataType.jsonValue``) to the Substrait type with the same values.

    Raises:
        UnsupportedPlanError: Substrait has no such type.
    """
    return _named(json, nullable) if isinstance(json, str) else with_nullability(_type(json), nullable)


@lru_cache(maxsize=1024)
def _named(name: str, nullable: bool) -> Type:
    return with_nullability(_type(name), nullable)


def _type(json: Any) -> Type:
    match json:
        case str() if json in _SIMPLE:
            return _SIMPLE[json]
        case str() if (found := _DECIMAL.fullmatch(json)) and int(found[2]) >= 0:
            return Decimal(precision=int(found[1]), scale=int(found[2]))
        case str() if found := _TIME.fullmatch(json):
            return PrecisionTime(precision=int(found[1]))
        case str() if _TEXT.fullmatch(json):
            return String()
        case str() if json.startswith("interval "):
            return IntervalYear() if "year" in json or "month" in json else IntervalDay(precision=6)
        case {"type": "array"}:
            return List(type=type_of(json["elementType"], json["containsNull"]))
        case {"type": "map"}:
            return Map(key=_type(json["keyType"]), value=type_of(json["valueType"], json["valueContainsNull"]))
        case {"type": "struct"}:
            for field in json["fields"]:
                refuse_collation(field)
            return Struct(types=tuple(type_of(field["type"], field["nullable"]) for field in json["fields"]))
        case _:
            refuse_collation(json)
            raise UnsupportedPlanError(
                f"Substrait has no type for Spark's {json if isinstance(json, str) else json.get('type')}",
                hint="Cast the value to a type, such as CAST(NULL AS INT)" if json == "void" else None,
            )


def names_of(json: Any) -> Iterator[str]:
    """The names of the fields inside a type, depth first, as plans write them."""
    match json:
        case {"type": "array"}:
            yield from names_of(json["elementType"])
        case {"type": "map"}:
            yield from names_of(json["keyType"])
            yield from names_of(json["valueType"])
        case {"type": "struct"}:
            for field in json["fields"]:
                yield field["name"]
                yield from names_of(field["type"])
        case _:
            return
