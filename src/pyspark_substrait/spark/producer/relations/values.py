"""Convert Arrow data from Spark to literals, exactly and for every type."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.literals import Compound, DayTime, Literal
from pyspark_substrait.model.types import (
    Date,
    IntervalCompound,
    IntervalDay,
    List,
    Map,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    Struct,
    Type,
)

__all__ = ["arrow_form", "day_time", "literals", "whole_months"]


def arrow_form(json: Any) -> str | None:
    """Return the Spark type that a type is cast to before its conversion to Arrow; None if no cast is needed.

    pyarrow has no interval of months, no structs with repeated names, and no null structs with required fields; and
    Spark doesn't convert calendar intervals to Arrow: these are cast to their text, which is exact.
    """
    return _written(json) if _months(json) or _has_structs(json) or "interval" in _simple(json) else None


def whole_months(json: Any) -> str | None:
    """Return the type with intervals of months, which can be cast to numbers; None for a type without them."""
    return _written(json, months="INTERVAL MONTH") if _months(json) else None


def _months(json: Any) -> bool:
    return any(isinstance(one, str) and one.startswith("interval ") and _is_months(one) for one in _simple(json))


def _is_months(json: str) -> bool:
    return json.startswith("interval ") and ("year" in json or "month" in json)


def _simple(json: Any) -> Iterator[Any]:
    """Yield the types without parts that a type consists of."""
    match json:
        case {"type": "array"}:
            yield from _simple(json["elementType"])
        case {"type": "map"}:
            yield from _simple(json["keyType"])
            yield from _simple(json["valueType"])
        case {"type": "struct"}:
            for field in json["fields"]:
                yield from _simple(field["type"])
        case _:
            yield json


def _has_structs(json: Any) -> bool:
    match json:
        case {"type": "array"}:
            return _has_structs(json["elementType"])
        case {"type": "map"}:
            return _has_structs(json["keyType"]) or _has_structs(json["valueType"])
        case {"type": type}:
            return bool(type == "struct")
        case _:
            return False


def _written(json: Any, months: str = "INT") -> str:
    match json:
        case {"type": "array"}:
            return f"ARRAY<{_written(json['elementType'], months)}>"
        case {"type": "map"}:
            return f"MAP<{_written(json['keyType'], months)}, {_written(json['valueType'], months)}>"
        case {"type": "struct"}:
            fields = (f"_{number}: {_written(field['type'], months)}" for number, field in enumerate(json["fields"]))
            return f"STRUCT<{', '.join(fields)}>"
        case str() if _is_months(json):
            return months
        case str():
            return _SQL.get(json, json)
        case _:
            raise UnsupportedPlanError(f"Substrait has no type for Spark's {json.get('type')}")


_SQL: Final = {"interval": "STRING", "byte": "TINYINT", "short": "SMALLINT", "integer": "INT", "long": "BIGINT"}


def literals(array: pa.Array | pa.ChunkedArray, type: Type) -> list[Literal]:
    """Convert the values of an Arrow array to literals of a type.

    Raises:
        UnsupportedPlanError: a value of a required type is null, or a plan can't hold it.
    """
    whole = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if whole.null_count and not type.nullable:
        raise UnsupportedPlanError(
            f"a value of in-memory data is null, but its type says that none is ({type})",
            hint="Declare it nullable in the schema",
        )
    valid = whole.is_valid().to_pylist() if whole.null_count else itertools.repeat(True)
    return [
        Literal(type=type, value=value if present else None)
        for value, present in zip(_values(whole, type), valid)  # noqa: B905 - one of them may be endless
    ]


def _values(array: pa.Array, type: Type) -> Sequence[Any]:
    """Convert the values to those of literals; the ones for nulls are undefined."""
    match type:
        case Struct(types=types):
            return _structs(array, types)
        case List(type=element):
            return _slices(array, literals(array.flatten(), element))
        case Map(key=key, value=value):
            entries = _flat_entries(array)
            pairs = zip(literals(entries[0], key), literals(entries[1], value), strict=True)
            return _slices(array, list(pairs))
        case Date():
            return _plain(array.cast(pa.int32()))
        case PrecisionTimestamp() | PrecisionTimestampTZ():
            return _plain(array.cast(pa.int64()))
        case PrecisionTime(precision=precision):
            return _each(array.cast(pa.int64()), lambda nanoseconds: nanoseconds // 10 ** (9 - precision))
        case IntervalDay():
            return _each(array.cast(pa.int64()), day_time)
        case IntervalCompound():
            return _each(array, _compound)
        case _:
            return _plain(array)


def _plain(array: pa.Array) -> Sequence[Any]:
    try:
        values: list[Any] = array.to_pylist()
    except UnicodeDecodeError as error:
        raise UnsupportedPlanError("a string of in-memory data is not UTF-8", hint="Make it binary") from error
    return values


def _each(array: pa.Array, change: Callable[[Any], Any]) -> Sequence[Any]:
    return [None if value is None else change(value) for value in array.to_pylist()]


def _structs(array: pa.StructArray, types: Sequence[Type]) -> Sequence[Any]:
    """Convert structs. The fields of null structs are ignored, because they may have any values."""
    present = array.is_valid()
    some = bool(array.null_count)
    parts = [array.field(number) for number in range(len(types))]
    fields = [literals(part.filter(present) if some else part, type) for part, type in zip(parts, types, strict=True)]
    made = iter(zip(*fields, strict=True)) if fields else itertools.repeat(())
    return [next(made) if valid else None for valid in present.to_pylist()]


def _flat_entries(array: pa.MapArray) -> tuple[pa.Array, pa.Array]:
    """Return the keys and the values of all maps that aren't null, concatenated."""
    offsets, valid = array.offsets.to_pylist(), array.is_valid().to_pylist()
    places = [
        place
        for start, end, present in zip(offsets[:-1], offsets[1:], valid, strict=True)
        if present
        for place in range(start, end)
    ]
    return array.keys.take(pa.array(places, pa.int64())), array.items.take(pa.array(places, pa.int64()))


def _slices(array: pa.Array, parts: list[Any]) -> Sequence[Any]:
    """Split the concatenated parts of all values that aren't null into the values."""
    found: list[Any] = []
    start = 0
    for length in _lengths(array):
        if length is None:
            found.append(None)
            continue
        found.append(tuple(parts[start : start + length]))
        start += length
    return found


def _lengths(array: pa.Array) -> list[int | None]:
    if not pa.types.is_map(array.type):
        lengths: list[int | None] = pc.list_value_length(array).to_pylist()
        return lengths
    offsets = array.offsets.to_pylist()
    return [
        end - start if valid else None
        for start, end, valid in zip(offsets[:-1], offsets[1:], array.is_valid().to_pylist(), strict=True)
    ]


def day_time(microseconds: int) -> DayTime:
    """Split an interval of microseconds into its parts, which all have its sign."""
    sign = -1 if microseconds < 0 else 1
    seconds, rest = divmod(abs(microseconds), 1_000_000)
    days, seconds = divmod(seconds, 86_400)
    return DayTime(sign * days, sign * seconds, sign * rest)


def _compound(text: str) -> Compound:
    """Parse an interval in Spark's format: ``1 years -2 months 3 days -4 hours -5 minutes -6.7 seconds``."""
    words = text.split()
    parts = {unit: Decimal(number) for number, unit in zip(words[::2], words[1::2], strict=True)}
    microseconds = int(
        sum(parts.get(unit, Decimal(0)) * weight for unit, weight in _SECONDS.items()) * Decimal(1_000_000)
    )
    sign = -1 if microseconds < 0 else 1
    seconds, rest = divmod(abs(microseconds), 1_000_000)
    months = int(parts.get("years", Decimal(0)) * 12 + parts.get("months", Decimal(0)))
    return Compound(months, int(parts.get("days", Decimal(0))), sign * seconds, sign * rest)


_SECONDS: Final = {"hours": 3600, "minutes": 60, "seconds": 1}
