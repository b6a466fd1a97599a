"""The Spark SQL types that carry Substrait's types.

A carrier holds every value of the type. What it could hold besides (more characters than a varchar has, microseconds in
a ``precision_timestamp<3>``) never comes to be: literals and casts see to that.

Inside a statement, struct fields are called ``f0``, ``f1``, … by position; the user's names appear only at its edges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from typing_extensions import assert_never

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
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
    Func,
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
    Unbound,
    UserDefined,
    VarChar,
    concrete,
)
from pyspark_substrait.sparksql.compiler.names import quoted

__all__ = [
    "FINEST",
    "INTEGERS",
    "SETTINGS",
    "TIME_SETTINGS",
    "field_name",
    "has_time",
    "named_spark_type",
    "spark_type",
]

#: the finest fraction of a second that Spark's types have: digits behind the point
FINEST: Final = 6

#: the integer types, by number of bits
INTEGERS: Final[Mapping[type[Type], int]] = {I8: 8, I16: 16, I32: 32, I64: 64}

#: the settings of the session under which the texts of this package mean what they say
SETTINGS: Final[Mapping[str, str]] = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
}
#: what a statement needs besides when :func:`has_time` is true of one of its types
TIME_SETTINGS: Final[Mapping[str, str]] = {"spark.sql.timeType.enabled": "true"}


def field_name(position: int) -> str:
    """The name of a struct's field inside a statement."""
    return f"f{position}"


def spark_type(type: Type) -> str:
    """The Spark SQL type that carries a type, with positional names for the fields of structs.

    Raises:
        UnsupportedPlanError: nothing in Spark carries the type.

    >>> print(spark_type(List(type=Struct(types=(I32(), VarChar(length=3))))))
    ARRAY<STRUCT<f0: INT, f1: STRING>>
    """
    return _spark_type(type, field_name)


def named_spark_type(type: Type, names: Iterator[str]) -> str:
    """As :func:`spark_type`, with the user's names for the fields of structs, taken depth-first from ``names``.

    Only nested fields take a name, the type itself takes none; a map's key comes before its value.

    Raises:
        InvalidPlanError: there are fewer names than fields.
        UnsupportedPlanError: nothing in Spark carries the type.
    """

    def name(position: int) -> str:
        given = next(names, None)
        if given is None:
            raise InvalidPlanError(f"a field of {type} has no name", hint="A schema names nested fields too")
        return quoted(given)

    return _spark_type(type, name)


def _spark_type(type: Type, name: Callable[[int], str]) -> str:
    match type:
        case AliasedType():
            return _spark_type(concrete(type), name)
        case Boolean():
            return "BOOLEAN"
        case I8():
            return "TINYINT"
        case I16():
            return "SMALLINT"
        case I32():
            return "INT"
        case I64():
            return "BIGINT"
        case FP32():
            return "FLOAT"
        case FP64():
            return "DOUBLE"
        case String() | VarChar() | FixedChar():
            return "STRING"
        case Binary() | FixedBinary():
            return "BINARY"
        case Date():
            return "DATE"
        case Decimal(precision=precision, scale=scale):
            return f"DECIMAL({precision}, {scale})"
        case PrecisionTimestamp(precision=precision) if precision <= FINEST:
            return "TIMESTAMP_NTZ"
        case PrecisionTimestampTZ(precision=precision) if precision <= FINEST:
            return "TIMESTAMP"
        case PrecisionTime(precision=precision) if precision <= FINEST:
            return f"TIME({precision})"
        case IntervalYear():
            return "INTERVAL YEAR TO MONTH"
        case IntervalDay(precision=precision) if precision <= FINEST:
            return "INTERVAL DAY TO SECOND"
        case List(type=element):
            return f"ARRAY<{_spark_type(element, name)}>"
        case Map(key=key, value=value):
            key_text = _spark_type(key, name)
            return f"MAP<{key_text}, {_spark_type(value, name)}>"
        case Struct(types=types):
            # one after the other: a field's own name comes before the names inside it
            return f"STRUCT<{', '.join(f'{name(i)}: {_spark_type(field, name)}' for i, field in enumerate(types))}>"
        case UserDefined(structure=structure) if structure is not None:
            return _spark_type(structure, name)
        case PrecisionTimestamp() | PrecisionTimestampTZ() | PrecisionTime() | IntervalDay() as fine:
            raise UnsupportedPlanError(
                f"{fine} has finer fractions of a second than Spark can hold yet", hint="Use a precision of at most 6"
            )
        case IntervalCompound() | UUID() | Func() | Unbound() | UserDefined() as other:
            raise UnsupportedPlanError(f"Spark has no type that can carry {other} yet")
        case other:
            assert_never(other)


def has_time(type: Type) -> bool:
    """Whether a time of day is in the type: Spark has them only under :data:`TIME_SETTINGS`."""
    match concrete(type):
        case PrecisionTime():
            return True
        case List(type=element):
            return has_time(element)
        case Map(key=key, value=value):
            return has_time(key) or has_time(value)
        case Struct(types=types):
            return any(has_time(field) for field in types)
        case UserDefined(structure=structure) if structure is not None:
            return has_time(structure)
        case _:
            return False
