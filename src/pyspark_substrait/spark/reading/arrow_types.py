"""Find a common type for two Arrow types."""

from __future__ import annotations

import pyarrow as pa

__all__ = ["common_type", "decoded_type"]

_UNITS = ("s", "ms", "us", "ns")
_WIDTHS = {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}
_PLAIN = {
    pa.large_string(): pa.string(),
    pa.string_view(): pa.string(),
    pa.large_binary(): pa.binary(),
    pa.binary_view(): pa.binary(),
}
_MOST_DIGITS = 38


def decoded_type(type: pa.DataType) -> pa.DataType:
    """Return the type of the values, without dictionary or run-end encoding, large offsets and views."""
    if pa.types.is_dictionary(type) or pa.types.is_run_end_encoded(type):
        return decoded_type(type.value_type)
    return _PLAIN.get(type, type)


def common_type(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """Return the narrowest type that holds all values of two decoded types; None if there is none of their kind."""
    if one == other or pa.types.is_null(other):
        return one
    if pa.types.is_null(one):
        return other
    if pa.types.is_integer(one) and pa.types.is_integer(other):
        return _integer(one, other)
    if pa.types.is_floating(one) and pa.types.is_floating(other):
        return max(one, other, key=lambda type: type.bit_width)
    if pa.types.is_decimal(one) and pa.types.is_decimal(other):
        scale = max(one.scale, other.scale)
        digits = scale + max(one.precision - one.scale, other.precision - other.scale)
        return pa.decimal128(digits, scale) if digits <= _MOST_DIGITS else None
    if pa.types.is_timestamp(one) and pa.types.is_timestamp(other) and one.tz == other.tz:
        return pa.timestamp(_finer(one, other), one.tz)
    if pa.types.is_duration(one) and pa.types.is_duration(other):
        return pa.duration(_finer(one, other))
    if pa.types.is_time(one) and pa.types.is_time(other):
        unit = _finer(one, other)
        return pa.time64(unit) if unit in ("us", "ns") else pa.time32(unit)
    return None


def _integer(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    if pa.types.is_signed_integer(one) == pa.types.is_signed_integer(other):
        return max(one, other, key=lambda type: type.bit_width)
    # together with signed integers, unsigned ones need one bit more
    bits = max(type.bit_width * (1 if pa.types.is_signed_integer(type) else 2) for type in (one, other))
    return _WIDTHS.get(bits, pa.decimal128(20, 0))


def _finer(one: pa.DataType, other: pa.DataType) -> str:
    return str(max(one.unit, other.unit, key=_UNITS.index))
