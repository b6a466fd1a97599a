"""The Spark SQL types that carry Substrait's types.

A carrier holds every value of the type. Other values that it could hold (more characters than a varchar has,
microseconds in a ``precision_timestamp<3>``) never occur: literals and casts exclude them.

Most carriers are the type itself, under its name in Spark. The others are *foreign* (:func:`is_foreign`): they have the
same equality and order, but no other function of Spark knows their meaning.

- Times and timestamps with more than six digits behind the second are a BIGINT, the count of units of
  ``10**-precision`` seconds that the literals of the specification hold; an interval_day of that kind is the same count
  in total, as a DECIMAL(38, 0).
- An interval_compound is a struct of its months (``f0``) and of its days, seconds and fractions (``f1``).
- A uuid is its 16 bytes, the first one first.
- The unsigned integers of the specification's extension are the next larger type of Spark; any other user-defined type
  is carried by the structure in its extension.

Inside a statement, struct fields are called ``f0``, ``f1``, … by position; the user's names appear only at its edges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from typing_extensions import assert_never

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import InvalidPlanError, NewerSparkError, UnsupportedPlanError
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    UNSIGNED_INTEGERS,
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
from pyspark_substrait.model.unbound import LEAVES
from pyspark_substrait.sql.compiler.names import quoted
from pyspark_substrait.sql.spark_version import SparkVersion

__all__ = [
    "FINEST",
    "INTEGERS",
    "MAP_SETTINGS",
    "MATCH_SETTINGS",
    "PATTERN_SETTINGS",
    "SETTINGS",
    "SIMPLE",
    "TIME_SETTINGS",
    "TIME_SINCE",
    "UNSIGNED",
    "check_version",
    "field_name",
    "handed_type",
    "has_map",
    "has_order",
    "has_time",
    "is_foreign",
    "named_spark_type",
    "settings_of",
    "spark_type",
    "units_per_second",
    "unsigned_bits",
]

#: the finest fraction of a second in Spark's types, in digits
FINEST: Final = 6

#: the integer types, by number of bits
INTEGERS: Final[Mapping[type[Type], int]] = {I8: 8, I16: 16, I32: 32, I64: 64}

#: the unsigned integers: number of bits and carrier
UNSIGNED: Final[Mapping[str, tuple[int, str]]] = {
    "u8": (8, "SMALLINT"),
    "u16": (16, "INT"),
    "u32": (32, "BIGINT"),
    "u64": (64, "DECIMAL(20, 0)"),
}

#: the Spark type of each class of types that has only one
_PLAIN: Final[Mapping[type[Type], str]] = {
    Boolean: "BOOLEAN",
    I8: "TINYINT",
    I16: "SMALLINT",
    I32: "INT",
    I64: "BIGINT",
    FP32: "FLOAT",
    FP64: "DOUBLE",
    String: "STRING",
    VarChar: "STRING",
    FixedChar: "STRING",
    Binary: "BINARY",
    FixedBinary: "BINARY",
    UUID: "BINARY",
    Date: "DATE",
    IntervalYear: "INTERVAL YEAR TO MONTH",
}

#: the classes of types that are never foreign, whatever their parameters
_NATIVE: Final = frozenset((*_PLAIN, Decimal)) - {UUID}

#: the settings of the session under which the texts of this package are correct
SETTINGS: Final[Mapping[str, str]] = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
}
#: additional settings of a statement if :func:`has_time` is true for one of its types
TIME_SETTINGS: Final[Mapping[str, str]] = {"spark.sql.timeType.enabled": "true"}
#: the first version of Spark with a TIME and its functions of microseconds, without which casts have no form
TIME_SINCE: Final = SparkVersion(4, 2)
#: additional settings of a statement that makes maps: two equal keys fail, instead of one of them being lost
MAP_SETTINGS: Final[Mapping[str, str]] = {"spark.sql.mapKeyDedupPolicy": "EXCEPTION"}
#: additional settings of a statement that formats or parses times by a pattern: older patterns mean something else
PATTERN_SETTINGS: Final[Mapping[str, str]] = {"spark.sql.legacy.timeParserPolicy": "CORRECTED"}
#: additional settings of a statement that looks for a matching element of a list: a null may be one
MATCH_SETTINGS: Final[Mapping[str, str]] = {"spark.sql.legacy.followThreeValuedLogicInArrayExists": "true"}

#: the classes of types whose values need no setting of their own
SIMPLE: Final = frozenset((*_PLAIN, Decimal))


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
    return _PLAIN.get(type.__class__) or _spark_type(type, field_name)


def named_spark_type(type: Type, names: Iterator[str]) -> str:
    """Return :func:`spark_type` with the user's names for the fields of structs, taken depth-first from ``names``.

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


def handed_type(type: Type) -> str:
    """The Spark SQL type in which a result leaves Spark for Arrow: the carrier, but months as an INT.

    Raises:
        UnsupportedPlanError: nothing in Spark carries the type.
    """
    return spark_type(type).replace("INTERVAL YEAR TO MONTH", "INT")


def _spark_type(type: Type, name: Callable[[int], str]) -> str:
    match type:
        case AliasedType():
            return _spark_type(concrete(type), name)
        case (Boolean() | I8() | I16() | I32() | I64() | FP32() | FP64()) | (
            String() | VarChar() | FixedChar() | Binary() | FixedBinary() | Date() | IntervalYear() | UUID()
        ):
            return _PLAIN[type.__class__]
        case Decimal(precision=precision, scale=scale):
            return f"DECIMAL({precision}, {scale})"
        case PrecisionTimestamp(precision=precision):
            return "TIMESTAMP_NTZ" if precision <= FINEST else "BIGINT"
        case PrecisionTimestampTZ(precision=precision):
            return "TIMESTAMP" if precision <= FINEST else "BIGINT"
        case PrecisionTime(precision=precision):
            return f"TIME({precision})" if precision <= FINEST else "BIGINT"
        case IntervalDay(precision=precision):
            return "INTERVAL DAY TO SECOND" if precision <= FINEST else "DECIMAL(38, 0)"
        case IntervalCompound(precision=precision):
            # its parts aren't fields of the plan, so they have no names from the user
            parts = (IntervalYear(), IntervalDay(precision=precision))
            return _spark_type(Struct(types=parts), field_name)
        case List(type=element):
            return f"ARRAY<{_spark_type(element, name)}>"
        case Map(key=key, value=value):
            if has_map(key):
                raise UnsupportedPlanError(
                    f"a key of {type} is or holds a map, which Spark's maps cannot have as keys", code=Code.TARGET_TYPE
                )
            key_text = _spark_type(key, name)
            return f"MAP<{key_text}, {_spark_type(value, name)}>"
        case Struct(types=types):
            # in sequence: a field's own name comes before the names inside it
            return f"STRUCT<{', '.join(f'{name(i)}: {_spark_type(field, name)}' for i, field in enumerate(types))}>"
        case UserDefined(urn=urn, name=own) if urn == UNSIGNED_INTEGERS and own in UNSIGNED:
            return UNSIGNED[own][1]
        case UserDefined(structure=structure) if structure is not None:
            return _spark_type(structure, field_name)
        case UserDefined():
            raise UnsupportedPlanError(
                f"Spark has no type for {type}, because no extension defines its structure",
                hint="Load the extension's YAML file, with a `structure` for the type",
                code=Code.TARGET_TYPE,
            )
        case Func():
            raise UnsupportedPlanError(
                f"a {type} is a function, which Spark has no values of",
                hint="Invoke it, or pass it to a function",
                code=Code.TARGET_TYPE,
            )
        case Unbound():
            raise UnsupportedPlanError(
                "a type of the plan is unbound",
                hint="bind(plan, tables) takes it from the tables",
                code=Code.TARGET_TYPE,
            )
        case other:
            assert_never(other)


def settings_of(type: Type) -> Mapping[str, str]:
    """The settings under which values of a type are made."""
    return {**(TIME_SETTINGS if has_time(type) else {}), **(MAP_SETTINGS if has_map(type) else {})}


def check_version(type: Type, spark: SparkVersion) -> None:
    """Refuse a type whose carrier a version of Spark doesn't have.

    Raises:
        NewerSparkError: Spark has it since another version.
    """
    if spark < TIME_SINCE and has_time(type):
        raise NewerSparkError(
            f"{type} needs the type TIME, which Spark {spark} does not have as a whole",
            feature="TIME",
            since=TIME_SINCE,
            hint=f"Spark {TIME_SINCE} and later have it",
            code=Code.TARGET_TYPE,
        )


def has_map(type: Type) -> bool:
    """Whether a type contains a map; Spark has no order and no equality of maps."""
    if type.__class__ in LEAVES:
        return False
    match concrete(type):
        case Map():
            return True
        case List(type=element):
            return has_map(element)
        case Struct(types=types):
            return any(has_map(field) for field in types if field.__class__ not in LEAVES)
        case UserDefined(structure=structure) if structure is not None:
            return has_map(structure)
        case _:
            return False


def units_per_second(precision: int) -> int:
    """The number of units of ``10**-precision`` seconds in a second."""
    return int(10**precision)


def unsigned_bits(type: Type) -> int | None:
    """The number of bits of an unsigned integer; None for any other type."""
    match concrete(type):
        case UserDefined(urn=urn, name=name) if urn == UNSIGNED_INTEGERS and name in UNSIGNED:
            return UNSIGNED[name][0]
        case _:
            return None


def is_foreign(type: Type) -> bool:
    """Whether a type, or one inside it, is carried by a Spark type with another meaning (see the module)."""
    if type.__class__ in _NATIVE:
        return False
    match concrete(type):
        case (
            PrecisionTimestamp(precision=precision)
            | PrecisionTimestampTZ(precision=precision)
            | PrecisionTime(precision=precision)
            | IntervalDay(precision=precision)
        ):
            return precision > FINEST
        case IntervalCompound() | UUID() | UserDefined():
            return True
        case List(type=element):
            return is_foreign(element)
        case Map(key=key, value=value):
            return is_foreign(key) or is_foreign(value)
        case Struct(types=types):
            return any(is_foreign(field) for field in types)
        case _:
            return False


def has_order(type: Type) -> bool:
    """Whether the carriers of a type's values have the order of the values.

    Substrait doesn't specify the number of days in a month, so an interval_compound has no order; nor has a
    user-defined type, except for the unsigned integers.
    """
    match concrete(type):
        case IntervalCompound():
            return False
        case UserDefined() as own:
            return unsigned_bits(own) is not None
        case List(type=element):
            return has_order(element)
        case Struct(types=types):
            return all(has_order(field) for field in types)
        case _:
            return True


def has_time(type: Type) -> bool:
    """Whether a carrier contains a TIME: Spark has it only under :data:`TIME_SETTINGS`."""
    if type.__class__ in LEAVES:
        return False
    match concrete(type):
        case PrecisionTime(precision=precision):
            return precision <= FINEST
        case List(type=element):
            return has_time(element)
        case Map(key=key, value=value):
            return has_time(key) or has_time(value)
        case Struct(types=types):
            return any(has_time(field) for field in types if field.__class__ not in LEAVES)
        case UserDefined(structure=structure) if structure is not None:
            return has_time(structure)
        case _:
            return False
