"""Values and the distances between them: the offset of a RANGE bound relative to a sort key.

Both become values of Spark types that have ``+`` and ``-``, exactly and in no time zone. A result outside the type's
range is an error when the query runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I64,
    Date,
    Decimal,
    IntervalCompound,
    IntervalDay,
    IntervalYear,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    Type,
    concrete,
    same_type,
)
from pyspark_substrait.sql.compiler.temporal import (
    MICROS_OF_DAY,
    local_of_instant,
    micros_of_interval,
    micros_of_local,
    months_of_interval,
)
from pyspark_substrait.sql.compiler.types import FINEST, INTEGERS, spark_type, unsigned_bits

__all__ = ["Distances", "Measure", "distances"]

Text = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Measure:
    """The Spark form of a value or a distance.

    Args:
        text: returns the text, an atom, from that of the value, which is an atom, too.
        type: its Spark type.
        units: the number of its units in a second or a month, for an interval that becomes a number.
    """

    text: Text
    type: str
    units: int = 0

    def constant(self, text: str, value: float | Fraction) -> str:
        """Return a literal with a value (in seconds or months, for an interval) as the bound of a frame.

        Spark's parser requires the value itself there, with nothing but casts around it.
        """
        if not self.units:
            return self.text(text)
        number = int(value * self.units)
        return f"{number}L" if self.type == "BIGINT" else f"CAST({number}BD AS {self.type})"

    @property
    def zero(self) -> str:
        """The distance zero, as a text of the type."""
        match self.type:
            case "BIGINT":
                return "0L"
            case "FLOAT" | "DOUBLE":
                return "0F" if self.type == "FLOAT" else "0D"
            case "INTERVAL DAY TO SECOND":
                return "INTERVAL '0 00:00:00' DAY TO SECOND"
            case "INTERVAL YEAR TO MONTH":
                return "INTERVAL '0-0' YEAR TO MONTH"
            case _:
                return "0BD"


@dataclass(frozen=True, slots=True)
class Distances:
    """The forms of the sort key and of the offsets that are present."""

    key: Measure
    offsets: tuple[Measure, ...]

    @property
    def uniform(self) -> bool:
        """Whether the offsets are of one type, so that they can be compared."""
        return len({offset.type for offset in self.offsets}) == 1


def distances(key: Type, offsets: Sequence[Type]) -> Distances:
    """Return the forms of a sort key and of the offsets of its bounds in which one can be added to the other.

    Raises:
        InvalidPlanError: one can't be added to the other.
        UnsupportedPlanError: it can, but not on Spark.
    """
    key, offsets = concrete(key), [concrete(offset) for offset in offsets]
    kinds = {offset.__class__ for offset in offsets}
    match key:
        case _ if key.__class__ in INTEGERS and kinds <= INTEGERS.keys():
            return Distances(_long(key), tuple(map(_long, offsets)))
        case FP32() | FP64() if kinds <= {FP32, FP64, *INTEGERS}:
            single = isinstance(key, FP32) and kinds == {FP32}
            return Distances(_float(key, single), tuple(_float(offset, single) for offset in offsets))
        case Decimal() if kinds <= {Decimal, *INTEGERS}:
            measures = _decimals([key, *offsets])
            return Distances(measures[0], measures[1:])
        case Date() | PrecisionTimestamp() | PrecisionTimestampTZ() if kinds <= {IntervalYear, IntervalDay}:
            return _instants(key, offsets)
        case IntervalYear() if kinds == {IntervalYear}:
            months = Measure(lambda text: f"CAST({months_of_interval(text)} AS BIGINT)", "BIGINT", 1)
            return Distances(months, (months,) * len(offsets))
        case IntervalDay() if kinds == {IntervalDay}:
            return _intervals(key, offsets)
        case _ if unsigned_bits(key) is not None and all(same_type(key, offset) for offset in offsets):
            measure = _same(key) if unsigned_bits(key) == 64 else _cast("BIGINT")
            return Distances(measure, (measure,) * len(offsets))
    shown = " and ".join(dict.fromkeys(map(str, offsets)))
    if isinstance(key, Date | PrecisionTimestamp | PrecisionTimestampTZ) and IntervalCompound in kinds:
        raise UnsupportedPlanError(
            f"{shown} cannot be a distance from {key} on Spark yet", hint="Use an interval of months, or one of days"
        )
    raise InvalidPlanError(f"an offset of type {shown} cannot be added to a sort key of type {key}")


def _same(type: Type) -> Measure:
    return Measure(lambda text: text, spark_type(type))


def _cast(wanted: str) -> Measure:
    return Measure(lambda text: f"CAST({text} AS {wanted})", wanted)


def _long(type: Type) -> Measure:
    return _same(type) if isinstance(type, I64) else _cast("BIGINT")


def _float(type: Type, single: bool) -> Measure:
    return _same(type) if single or isinstance(type, FP64) else _cast("DOUBLE")


_DIGITS = {8: 3, 16: 5, 32: 10, 64: 19}


def _decimals(types: Sequence[Type]) -> tuple[Measure, ...]:
    """Return one type for all, with a digit more than they have, unless it would exceed Spark's maximum."""
    whole = scale = 0
    for type in types:
        precision, digits = (_DIGITS[INTEGERS[type.__class__]], 0) if not isinstance(type, Decimal) else _shape(type)
        whole, scale = max(whole, precision - digits), max(scale, digits)
    if scale > 37:
        raise UnsupportedPlanError(f"Spark has no decimals with {scale} digits behind the point and one in front")
    wanted = f"DECIMAL({min(whole + scale, 37)}, {scale})"
    return tuple(_same(type) if spark_type(type) == wanted else _cast(wanted) for type in types)


def _shape(type: Decimal) -> tuple[int, int]:
    return type.precision, type.scale


# dates, times and intervals ------------------------------------------------------------------------------------------


def _instants(key: Date | PrecisionTimestamp | PrecisionTimestampTZ, offsets: Sequence[Type]) -> Distances:
    precision = max(FINEST, *(_precision(type) for type in (key, *offsets)))
    months = any(isinstance(offset, IntervalYear) for offset in offsets)
    if precision > FINEST:
        if months:
            raise UnsupportedPlanError(f"months cannot be added to {key} on Spark yet", hint="Use an interval of days")
        return Distances(_fine(key, precision), tuple(_fine(offset, precision) for offset in offsets))
    if isinstance(key, Date):
        return Distances(_cast("TIMESTAMP_NTZ"), tuple(map(_same, offsets)))
    if isinstance(key, PrecisionTimestamp):
        return Distances(_same(key), tuple(map(_same, offsets)))
    if months:
        return Distances(Measure(local_of_instant, "TIMESTAMP_NTZ"), tuple(map(_same, offsets)))
    micros = Measure(micros_of_interval, "BIGINT", 10**FINEST)
    return Distances(Measure(lambda text: f"unix_micros({text})", "BIGINT"), (micros,) * len(offsets))


def _precision(type: Type) -> int:
    return type.precision if isinstance(type, PrecisionTimestamp | PrecisionTimestampTZ | IntervalDay) else 0


def _intervals(key: IntervalDay, offsets: Sequence[Type]) -> Distances:
    precision = max(_precision(type) for type in (key, *offsets))
    measures = [_same(type) if precision <= FINEST else _fine(type, precision) for type in (key, *offsets)]
    return Distances(measures[0], tuple(measures[1:]))


def _fine(type: Type, precision: int) -> Measure:
    """A value in units of ``10**-precision`` seconds."""
    units: Text
    match type:
        case Date():
            units, finest = (lambda text: f"(CAST(unix_date({text}) AS BIGINT) * {MICROS_OF_DAY}L)"), FINEST
        case PrecisionTimestamp(precision=own) if own <= FINEST:
            units, finest = micros_of_local, FINEST
        case PrecisionTimestampTZ(precision=own) if own <= FINEST:
            units, finest = (lambda text: f"unix_micros({text})"), FINEST
        case IntervalDay(precision=own) if own <= FINEST:
            units, finest = micros_of_interval, FINEST
        case PrecisionTimestamp(precision=own) | PrecisionTimestampTZ(precision=own) | IntervalDay(precision=own):
            units, finest = (lambda text: text), own
        case _:
            raise AssertionError(f"{type} has no units")
    factor = 10 ** (precision - finest)

    def text(value: str) -> str:
        exact = f"CAST({units(value)} AS DECIMAL(37, 0))"
        return exact if factor == 1 else f"CAST({exact} * {factor}BD AS DECIMAL(37, 0))"

    return Measure(text, "DECIMAL(37, 0)", int(10**precision))
