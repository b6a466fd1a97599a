"""Values of every type: random types and values, as literals of the model and as Arrow has them.

The Arrow side is written down here once more, by the table in docs/types.md.
"""

from __future__ import annotations

import decimal
import math
import struct
from collections.abc import Iterator
from itertools import count
from typing import Any, TypeVar

import pyarrow as pa
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from pyspark_substrait.model.literals import Compound, DayTime, Literal
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    UUID,
    AliasedType,
    Binary,
    Boolean,
    Date,
    Decimal,
    FixedBinary,
    FixedChar,
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
    UserDefined,
    VarChar,
    concrete,
    with_nullability,
)
from pyspark_substrait.sql.compiler.literals import literal

T = TypeVar("T")

POINT = UserDefined(urn="extension:test:shapes", name="point", structure=Struct(types=(FP64(), I32(nullable=True))))
COUNTER = UserDefined(urn="extension:test:shapes", name="counter", structure=I64())


def unsigned(name: str) -> UserDefined:
    return UserDefined(urn="extension:io.substrait:unsigned_integers", name=name, structure=Struct(types=(String(),)))


# values as the literals of the model have them, and as Arrow has them ------------------------------------------------


def made(type: Type, value: Any) -> Literal:
    """A literal of a Python value: tuples for structs and user-defined types, lists, lists of pairs for maps."""
    if value is None:
        return Literal(type=with_nullability(type, True), value=None)
    match concrete(type):
        case List(type=element):
            return Literal(type=type, value=tuple(made(element, item) for item in value))
        case Map(key=key, value=kind):
            return Literal(type=type, value=tuple((made(key, one), made(kind, other)) for one, other in value))
        case Struct(types=types):
            return Literal(type=type, value=tuple(map(made, types, value)))
        case UserDefined(urn="extension:io.substrait:unsigned_integers"):
            return Literal(type=type, value=(made(String(), str(value)),))
        case UserDefined(structure=Struct(types=types)):
            return Literal(type=type, value=tuple(map(made, types, value)))
        case UserDefined(structure=structure) if structure is not None:
            return Literal(type=type, value=(made(structure, value),))
        case _:
            return Literal(type=type, value=value)


_UNITS = {0: "s", 1: "ms", 2: "ms", 3: "ms", 4: "us", 5: "us", 6: "us", 7: "ns", 8: "ns", 9: "ns"}
_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}


def natural(type: Type, names: Iterator[str]) -> pa.DataType:
    """The Arrow type that a user expects; without names of the plan, fields are called f0, f1, …."""
    match concrete(type):
        case Boolean() | I8() | I16() | I32() | I64() | FP32() | FP64() | String() | Binary() | Date() as simple:
            return _SIMPLE[simple.keyword]
        case VarChar() | FixedChar():
            return pa.string()
        case FixedBinary(length=length):
            return pa.binary(length)
        case UUID():
            return pa.binary(16)
        case Decimal(precision=precision, scale=scale):
            return pa.decimal128(precision, scale)
        case PrecisionTimestamp(precision=p):
            return pa.timestamp(_UNITS[p]) if p <= 9 else pa.int64()
        case PrecisionTimestampTZ(precision=p):
            return pa.timestamp(_UNITS[p], "UTC") if p <= 9 else pa.int64()
        case PrecisionTime(precision=p) if p <= 3:
            return pa.time32(_UNITS[p])
        case PrecisionTime(precision=p):
            return pa.time64(_UNITS[p]) if p <= 9 else pa.int64()
        case IntervalDay(precision=p):
            return pa.duration(_UNITS[p]) if p <= 9 else pa.decimal128(38, 0)
        case IntervalYear():
            return pa.month_day_nano_interval()
        case IntervalCompound(precision=p):
            beyond = pa.struct([("months", pa.int32()), ("units", pa.decimal128(38, 0))])
            return pa.month_day_nano_interval() if p <= 9 else beyond
        case List(type=element):
            return pa.list_(pa.field("element", natural(element, names), nullable=element.nullable))
        case Map(key=key, value=value):
            key_type = natural(key, names)
            return pa.map_(key_type, pa.field("value", natural(value, names), nullable=value.nullable))
        case Struct(types=types):
            fields = []
            for child in types:
                name = next(names)
                fields.append(pa.field(name, natural(child, names), nullable=child.nullable))
            return pa.struct(fields)
        case UserDefined(urn="extension:io.substrait:unsigned_integers", name=name):
            return {"u8": pa.uint8(), "u16": pa.uint16(), "u32": pa.uint32(), "u64": pa.uint64()}[name]
        case UserDefined(structure=structure) if structure is not None:
            return natural(structure, (f"f{position}" for position in count()))
        case other:
            raise AssertionError(other)


_SIMPLE = {
    "boolean": pa.bool_(),
    "i8": pa.int8(),
    "i16": pa.int16(),
    "i32": pa.int32(),
    "i64": pa.int64(),
    "fp32": pa.float32(),
    "fp64": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
}


def expected(type: Type, value: Any) -> Any:
    """What :func:`comparable` makes of the value in Arrow."""
    if value is None:
        return None
    match concrete(type):
        case FP32():
            return struct.pack(">f", math.nan if math.isnan(value) else value)
        case FP64():
            return struct.pack(">d", math.nan if math.isnan(value) else value)
        case FixedChar(length=length):
            return value + " " * (length - len(value))
        case UUID():
            return value.bytes
        case PrecisionTimestamp(precision=p) | PrecisionTimestampTZ(precision=p) | PrecisionTime(precision=p):
            return value if p > 9 else value * 10 ** (_DIGITS[_UNITS[p]] - p)
        case IntervalDay(precision=p):
            return _total(value, p) if p > 9 else _total(value, p) * 10 ** (_DIGITS[_UNITS[p]] - p)
        case IntervalYear():
            return (value, 0, 0)
        case IntervalCompound(precision=p):
            total = _total(DayTime(*value[1:]), p)
            if p > 9:
                return (value.months, total)
            nanos = total * 10 ** (9 - p)
            days = int(decimal.Decimal(nanos) / _NANOS_OF_DAY)  # towards zero
            return (value.months, days, nanos - days * _NANOS_OF_DAY)
        case List(type=element):
            return [expected(element, item) for item in value]
        case Map(key=key, value=kind):
            return [(expected(key, one), expected(kind, other)) for one, other in value]
        case Struct(types=types) | UserDefined(structure=Struct(types=types)) if isinstance(value, tuple):
            return tuple(map(expected, types, value))
        case UserDefined(structure=structure) if structure is not None and not isinstance(structure, Struct):
            return expected(structure, value)
        case _:
            return value


_NANOS_OF_DAY = 86_400 * 10**9


def _total(parts: DayTime, precision: int) -> int:
    second: int = 10**precision
    return (parts.days * 86_400 + parts.seconds) * second + parts.subseconds


def comparable(array: pa.Array | pa.ChunkedArray) -> list[Any]:
    """The values of an array as Python's, exactly: times as numbers of their units, floats by their bits."""
    if isinstance(array, pa.ChunkedArray):
        return [value for chunk in array.chunks for value in comparable(chunk)]
    type, valid = array.type, array.is_valid().to_pylist()
    if pa.types.is_struct(type):
        fields = [comparable(array.field(position)) for position in range(type.num_fields)]
        rows = list(zip(*fields, strict=True)) if fields else [()] * len(array)
        return [row if there else None for row, there in zip(rows, valid, strict=True)]
    if pa.types.is_map(type):
        keys, items = comparable(array.keys), comparable(array.items)
        pairs, start = list(zip(keys, items, strict=True)), array.offsets.to_pylist()
        return [pairs[start[i] - start[0] : start[i + 1] - start[0]] if valid[i] else None for i in range(len(array))]
    if pa.types.is_list(type):
        elements, start = comparable(array.values), array.offsets.to_pylist()
        return [elements[start[i] : start[i + 1]] if valid[i] else None for i in range(len(array))]
    if pa.types.is_timestamp(type) or pa.types.is_duration(type) or pa.types.is_time64(type):
        array = array.cast(pa.int64())
    if pa.types.is_time32(type) or pa.types.is_date32(type):
        array = array.cast(pa.int32())
    found: list[Any] = array.to_pylist()
    if pa.types.is_floating(type):
        code = ">f" if pa.types.is_float32(type) else ">d"
        return [None if value is None else struct.pack(code, value) for value in found]
    if pa.types.is_interval(type):
        return [None if value is None else tuple(value) for value in found]
    return found


# random types and values ---------------------------------------------------------------------------------------------

YEAR_1, YEAR_10000 = -62_135_596_800, 253_402_300_800


def timestamps(precision: int) -> SearchStrategy[int]:
    if precision <= 6:
        return st.integers(YEAR_1 * 10**precision, YEAR_10000 * 10**precision - 1)
    # what Arrow's nanoseconds hold
    narrower = int(10 ** max(9 - precision, 0))
    return st.integers(-(2**63) // narrower + 1, (2**63 - 1) // narrower)


def day_times(precision: int) -> SearchStrategy[DayTime]:
    most = 106_000 if 7 <= precision <= 9 else 3_640_000
    fraction = 10**precision - 1
    return st.builds(DayTime, st.integers(-most, most), st.integers(-86_399, 86_399), st.integers(-fraction, fraction))


def compounds(precision: int) -> SearchStrategy[Compound]:
    fraction = 10**precision - 1
    return st.builds(
        Compound,
        st.integers(-120_000, 120_000),
        st.integers(-3_640_000, 3_640_000),
        st.integers(-86_399, 86_399),
        st.integers(-fraction, fraction),
    )


def decimals(type: Decimal) -> SearchStrategy[decimal.Decimal]:
    most = 10**type.precision - 1
    return st.integers(-most, most).map(lambda digits: decimal.Decimal(digits).scaleb(-type.scale, EXACT))


EXACT = decimal.Context(prec=76)
_CHARACTERS = st.characters(exclude_categories=["Cs"])


def of_type(type: Type) -> SearchStrategy[Any]:
    """Values of a type, null where it is nullable."""
    found = _of_type(concrete(type))
    return st.none() | found if type.nullable else found


def _of_type(type: Type) -> SearchStrategy[Any]:
    match type:
        case Boolean():
            return st.booleans()
        case I8() | I16() | I32() | I64():
            bits = int(type.keyword[1:])
            return st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)
        case FP32():
            return st.floats(width=32)
        case FP64():
            return st.floats()
        case String():
            return st.text(_CHARACTERS, max_size=12)
        case VarChar(length=length) | FixedChar(length=length):
            return st.text(_CHARACTERS, max_size=length)
        case Binary():
            return st.binary(max_size=12)
        case FixedBinary(length=length):
            return st.binary(min_size=length, max_size=length)
        case UUID():
            return st.uuids()
        case Date():
            return st.integers(-719_162, 2_932_896)
        case Decimal():
            return decimals(type)
        case PrecisionTimestamp(precision=precision) | PrecisionTimestampTZ(precision=precision):
            return timestamps(precision)
        case PrecisionTime(precision=precision):
            return st.integers(0, 86_400 * 10**precision - 1)
        case IntervalYear():
            return st.integers(-120_000, 120_000)
        case IntervalDay(precision=precision):
            return day_times(precision)
        case IntervalCompound(precision=precision):
            return compounds(precision)
        case List(type=element):
            return st.lists(of_type(element), max_size=3)
        case Map(key=key, value=value):
            pairs = st.tuples(of_type(with_nullability(key, False)), of_type(value))
            return st.lists(pairs, max_size=3, unique_by=lambda pair: literal(made(key, pair[0])))
        case Struct(types=types) | UserDefined(structure=Struct(types=types)) if not _is_unsigned(type):
            return st.tuples(*map(of_type, types))
        case UserDefined(structure=structure) if structure is not None and not _is_unsigned(type):
            return of_type(structure)
        case other:
            bits = int(str(other).strip("u!?"))
            return st.integers(0, (1 << bits) - 1)


def _is_unsigned(type: Type) -> bool:
    return isinstance(type, UserDefined) and "unsigned" in type.urn


_PRECISION = st.integers(0, 12)
_KEYS: SearchStrategy[Type] = st.one_of(
    st.sampled_from([Boolean(), I8(), I16(), I32(), I64(), String(), Binary(), Date(), IntervalYear(), UUID()]),
    st.sampled_from([unsigned(name) for name in ("u8", "u16", "u32", "u64")]),
    st.builds(lambda length: VarChar(length=length), st.integers(1, 20)),
    st.builds(lambda length: FixedChar(length=length), st.integers(1, 20)),
    st.builds(lambda length: FixedBinary(length=length), st.integers(1, 20)),
    st.integers(1, 38).flatmap(
        lambda digits: st.builds(lambda scale: Decimal(precision=digits, scale=scale), st.integers(0, digits))
    ),
    *(
        st.builds(lambda precision, cls=cls: cls(precision=precision), _PRECISION)
        for cls in (PrecisionTime, PrecisionTimestamp, PrecisionTimestampTZ, IntervalDay, IntervalCompound)
    ),
)
_LEAVES: SearchStrategy[Type] = _KEYS | st.sampled_from([FP32(), FP64(), POINT, COUNTER])


def _nullable(types: SearchStrategy[Type]) -> SearchStrategy[Type]:
    return st.builds(with_nullability, types, st.booleans())


def _around(types: SearchStrategy[Type]) -> SearchStrategy[Type]:
    return _nullable(
        st.builds(lambda type: List(type=type), types)
        | st.builds(lambda key, value: Map(key=key, value=value), _KEYS, types)
        | st.builds(lambda fields: Struct(types=tuple(fields)), st.lists(types, max_size=3))
        | st.builds(lambda type: AliasedType(type=type, nullable=type.nullable), types)
    )


TYPES = st.recursive(_nullable(_LEAVES), _around, max_leaves=5)
LEAF_KINDS: list[Type] = [
    *(Boolean(), I8(), I16(), I32(), I64(), FP32(), FP64(), String(), Binary(), Date(), UUID(), IntervalYear()),
    *(VarChar(length=5), FixedChar(length=5), FixedBinary(length=3), POINT, COUNTER),
    *(Decimal(precision=1, scale=1), Decimal(precision=18, scale=2), Decimal(precision=38, scale=19)),
    *(unsigned(name) for name in ("u8", "u16", "u32", "u64")),
    *(
        cls(precision=precision)
        for cls in (PrecisionTime, PrecisionTimestamp, PrecisionTimestampTZ, IntervalDay, IntervalCompound)
        for precision in range(13)
    ),
]


def drawn(strategy: SearchStrategy[T], number: int) -> list[T]:
    """Values of a strategy, the same in each run: they are collected first and go to Spark together."""
    found: list[T] = []

    @settings(
        max_examples=number,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(value: T) -> None:
        found.append(value)

    collect()
    return found
