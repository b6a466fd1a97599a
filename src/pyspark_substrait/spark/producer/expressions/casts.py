"""Translate casts, in Spark's three modes.

A cast with the same results as the specification's is translated to that; one that differs for a few values is composed
of it and other functions, if that is short; any other is a function of our own (``functions_spark_cast``).
"""

from __future__ import annotations

import decimal
import json
import re
from dataclasses import dataclass, replace
from typing import Any, Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import Cast, Expression, FailureBehavior, IfClause, IfThen
from pyspark_substrait.model.literals import Literal
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
    List,
    Map,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Struct,
    Type,
    concrete,
    same_type,
    with_nullability,
)
from pyspark_substrait.spark.compatibility import session_version
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import expression, zones
from pyspark_substrait.spark.producer.expressions.arithmetic import is_no_nan, is_simple
from pyspark_substrait.spark.producer.expressions.cast_rules import (
    Exactness,
    contains,
    exactness,
    has_zone,
    is_interval,
)
from pyspark_substrait.spark.producer.expressions.collections import empty_as
from pyspark_substrait.spark.producer.expressions.literals import of_java
from pyspark_substrait.spark.producer.expressions.own import raised
from pyspark_substrait.spark.producer.refusals import written
from pyspark_substrait.spark.producer.scope import Production, Scope
from pyspark_substrait.spark.producer.types import type_of
from pyspark_substrait.sql.compiler.types import INTEGERS
from pyspark_substrait.sql.spark_version import SparkVersion

__all__ = ["FORMS"]

_OWN: Final = "extension:pyspark_substrait:functions_spark_cast"
_FULL_INTERVALS: Final = frozenset({"interval year to month", "interval day to second"})
_UNITS: Final = ("year", "month", "day", "hour", "minute", "second")
#: the last unit of an interval, by its type in Spark's JSON
_END: Final = {
    f"interval {first}" + (f" to {last}" if first != last else ""): _UNITS.index(last)
    for first in _UNITS
    for last in _UNITS
}
_LENGTH: Final = re.compile(r"(?:var)?char\(\d+\)")
#: text that may be a time of the day, and depend on the day of the query
_TIME_OF_DAY: Final = re.compile(r"\s*T?\d*:")
_PLAIN_SCALE: Final = 6
_NULL_SECONDS_SINCE: Final = SparkVersion(4, 0)


@dataclass(frozen=True)
class _Conversion:
    """A cast of Spark: its node, its time zone, and the translation that it belongs to."""

    node: Node
    zone: Literal
    production: Production

    @property
    def mode(self) -> str:
        """Its evaluation mode."""
        return self.node.mode

    @property
    def utc(self) -> bool:
        return self.zone.value == "UTC"

    @property
    def wraps_seconds(self) -> bool:
        """Whether the seconds of a timestamp wrap around in smaller integers with ANSI mode off; since 4.0, null."""
        return session_version(self.production.session) < _NULL_SECONDS_SINCE

    def refused(self, why: str, hint: str | None = None) -> UnsupportedPlanError:
        return UnsupportedPlanError(f"`{written(self.node)}` has no Substrait form: {why}", hint=hint)


def cast(node: Node, scope: Scope) -> Expression:
    """Translate a cast; if the value has the type already, return the value.

    Raises:
        UnsupportedPlanError: no plan can express it.
    """
    child, json_type = node.children[0], node.value("dataType")
    if isinstance(json_type, str) and _LENGTH.fullmatch(json_type):
        raise UnsupportedPlanError(f"`{written(node)}` has no Substrait form: it keeps to the length of a {json_type}")
    void = child.name == "AttributeReference" and child.value("dataType") == "void"  # a column of nulls
    if void or (child.name == "Literal" and child.value("value") is None):
        return Literal(type=type_of(json_type, True), value=None)
    if child.name == "RaiseError":
        return raised(child, type_of(json_type, True), scope)
    untyped = empty_as(child, json_type, scope)
    if untyped is not None:
        return untyped
    value = expression(child, scope)
    target = type_of(json_type, value.type.nullable)
    conversion = _Conversion(node, zones.of(node), scope.production)
    if contains(value.type, is_interval) or contains(target, is_interval):
        _refuse_narrow_intervals(conversion, child, json_type)
    if same_type(value.type, target):
        return value
    if isinstance(value, Literal) and isinstance(concrete(value.type), String):
        folded = _folded(node, target)
        if folded is not None:
            return folded
    return _nullable(_converted(value, target, conversion), value, node)


def _nullable(result: Expression, value: Expression, node: Node) -> Expression:
    """Make the result nullable if Spark declares the cast nullable, even if it raises errors instead."""
    if not isinstance(result, Cast) or result.type.nullable:
        return result
    source, target = concrete(value.type), concrete(result.type)
    certain = exactness(source, target, utc=True) is Exactness.CERTAIN
    if certain and not isinstance(target, Date) and not (isinstance(source, Decimal) and target.__class__ in INTEGERS):
        return result
    return replace(result, type=with_nullability(target, True)) if node.value("nullable") else result


def _refuse_narrow_intervals(conversion: _Conversion, child: Node, target: Any) -> None:
    """Refuse casts that truncate intervals by their last unit, which the types of plans don't have."""
    source = json.loads(child.java.dataType().json())
    match source, target:
        case str(), str() if source in _END and target in _END:
            allowed = _END[source] <= _END[target]
        case _:
            ends = {name for one in (source, target) for name in re.findall(r'interval[^"]*', json.dumps(one))}
            allowed = source == target or ends <= _FULL_INTERVALS
    if not allowed:
        raise conversion.refused(
            "Substrait's intervals are all of years to months, or of days to seconds",
            "Use intervals YEAR TO MONTH and DAY TO SECOND",
        )


def _folded(node: Node, target: Type) -> Literal | None:
    """Evaluate the cast of a literal text; None if it fails, or depends on the day of the run."""
    if isinstance(concrete(target), String) or _TIME_OF_DAY.match(str(node.children[0].value("value"))):
        return None
    type = with_nullability(target, True)
    if "folded" in node.fields:
        found = node.value("folded")
        return Literal(type=type, value=None if found is None else of_java(found, None, concrete(target)))
    try:
        found = node.java.eval(None)
    except Exception:  # any error of the JVM: the plan raises it when it runs
        return None
    return Literal(type=type, value=None if found is None else of_java(found, node.java.dataType(), concrete(target)))


def _converted(value: Expression, target: Type, conversion: _Conversion) -> Expression:
    kind = exactness(value.type, target, conversion.utc)
    source = concrete(value.type)
    if kind is Exactness.CERTAIN and (not _has_exponent(source, target) or conversion.mode != "LEGACY"):
        return _cast(value, target)
    match conversion.mode, kind:
        case "ANSI", Exactness.SAME:
            return _cast(value, target)
        case "TRY", Exactness.SAME if not isinstance(source, List | Map | Struct):
            return _cast(value, target, null=True)
        case "LEGACY", _:
            found = _with_ansi_off(value, target, conversion)
        case _:
            found = _composed(value, target, conversion)
    return _of_spark(value, target, conversion) if found is None else found


def _cast(value: Expression, target: Type, null: bool = False) -> Expression:
    known = _number(value, target)
    if known is not None:
        return known
    behaviour = FailureBehavior.RETURN_NULL if null else FailureBehavior.THROW_EXCEPTION
    return Cast(type=with_nullability(target, null or value.type.nullable), input=value, failure_behavior=behaviour)


def _number(value: Expression, target: Type) -> Literal | None:
    """Convert an integer or decimal literal to another such type; None if it is something else, or doesn't fit."""
    if not isinstance(value, Literal) or isinstance(value.value, bool):
        return None
    if not isinstance(value.value, int | decimal.Decimal):
        return None
    if not isinstance(concrete(value.type), I8 | I16 | I32 | I64 | Decimal):  # months and days are numbers, too
        return None
    type, number = with_nullability(target, value.type.nullable), value.value
    match concrete(target):
        case Decimal(precision=precision, scale=scale):
            exact = decimal.Context(prec=100)
            digits = exact.quantize(decimal.Decimal(number), decimal.Decimal(1).scaleb(-scale))
            fits = digits == number and abs(digits) < decimal.Decimal(1).scaleb(precision - scale)
            return Literal(type=type, value=digits) if fits else None
        case I8() | I16() | I32() | I64() as integer if isinstance(number, int):
            limit = 1 << (INTEGERS[integer.__class__] - 1)
            return Literal(type=type, value=number) if -limit <= number < limit else None
        case _:
            return None


def _has_exponent(source: Type, target: Type) -> bool:
    """Whether the text of a decimal may have an exponent, as it does with ANSI mode off."""

    def small(type: Type) -> bool:
        return isinstance(type, Decimal) and type.scale > _PLAIN_SCALE

    return contains(target, lambda type: isinstance(type, String)) and contains(source, small)


def _composed(value: Expression, target: Type, conversion: _Conversion) -> Expression | None:
    """Compose a cast of casts and functions of the specification; None if that isn't possible."""
    match concrete(value.type), concrete(target):
        case ((FP32() | FP64()), I64()):
            return _long(value, target, conversion)
        case ((FP32() | FP64()), Decimal()):
            return _decimal_of_real(value, target, conversion)
        case PrecisionTimestampTZ(), (Date() | PrecisionTimestamp() | PrecisionTime() | String()):
            shown = _local(value, conversion)
            return shown if isinstance(concrete(target), PrecisionTimestamp) else _cast(shown, target)
        case (Date() | PrecisionTimestamp()) as source, PrecisionTimestampTZ():
            local = PrecisionTimestamp(precision=6)
            shown = value if isinstance(source, PrecisionTimestamp) else _cast(value, local)
            return _instant(shown, conversion)
        case String(), PrecisionTimestampTZ():
            name = "timestamp_of_text" if conversion.mode == "ANSI" else "try_timestamp_of_text"
            return conversion.production.call(_OWN, name, (value, conversion.zone))
        case _:
            return None


def _local(value: Expression, conversion: _Conversion) -> Expression:
    if conversion.utc:
        return _cast(value, PrecisionTimestamp(precision=6))
    if _has_name(conversion.zone):
        return conversion.production.call("functions_datetime", "local_timestamp", (value, conversion.zone))
    return conversion.production.call(_OWN, "to_local", (value, conversion.zone))


def _instant(value: Expression, conversion: _Conversion) -> Expression:
    if conversion.utc:
        return _cast(value, PrecisionTimestampTZ(precision=6))
    if _has_name(conversion.zone):
        return conversion.production.call("functions_datetime", "assume_timezone", (value, conversion.zone))
    return conversion.production.call(_OWN, "from_local", (value, conversion.zone))


def _has_name(zone: Literal) -> bool:
    """Whether a zone has a name in the IANA database."""
    return "/" in str(zone.value)


def _long(value: Expression, target: Type, conversion: _Conversion) -> Expression | None:
    """Cast a floating-point number to i64: Spark casts 2**63 to the largest i64."""
    if not is_simple(value):
        return None
    type = with_nullability(concrete(value.type), False)
    limit = Literal(type=type, value=2.0**63)
    condition = conversion.production.call("functions_comparison", "equal", (value, limit))
    largest = Literal(type=I64(), value=2**63 - 1)
    return IfThen(ifs=(IfClause(condition, largest),), else_=_cast(value, target, null=conversion.mode == "TRY"))


def _decimal_of_real(value: Expression, target: Type, conversion: _Conversion) -> Expression | None:
    """Cast a floating-point number to a decimal: Spark casts NaN and the infinities to null, without an error."""
    if conversion.mode != "ANSI":
        return _cast(value, target, null=True)
    if is_no_nan(value) and not isinstance(value, Literal) and _holds_finite(value):
        return _cast(value, target)
    if not is_simple(value):
        return None
    finite = conversion.production.call("functions_comparison", "is_finite", (value,))
    return IfThen(ifs=(IfClause(finite, _cast(value, target)),))


def _holds_finite(value: Expression) -> bool:
    """Whether a number is cast to a double, so that it is finite."""
    return isinstance(value, Cast) and isinstance(concrete(value.type), FP64)


def _of_spark(value: Expression, target: Type, conversion: _Conversion) -> Expression:
    """Translate a Spark-specific cast to a function of our own."""
    source = concrete(value.type)
    if contains(source, lambda part: isinstance(part, PrecisionTime)) and contains(target, _is_timestamp):
        raise conversion.refused("it depends on the day on which the query runs", "Add the time to a date")
    if has_zone(source, target):
        raise conversion.refused(
            "timestamps inside lists, maps or structs cannot be cast in a time zone",
            "Cast the parts one by one",
        )
    if any(contains(type, lambda part: isinstance(part, IntervalCompound)) for type in (source, target)):
        raise conversion.refused("Substrait has no cast of calendar intervals")
    return _with_witness("cast" if conversion.mode == "ANSI" else "try_cast", value, target, conversion)


def _is_timestamp(type: Type) -> bool:
    return isinstance(type, PrecisionTimestamp | PrecisionTimestampTZ)


def _with_ansi_off(value: Expression, target: Type, conversion: _Conversion) -> Expression | None:
    """Translate a cast with ANSI mode off that differs from ANSI mode; None if it equals Spark's ``try_cast``."""
    source, wanted = concrete(value.type), concrete(target)
    to_integer = wanted.__class__ in INTEGERS
    match source, wanted:
        case (String(), (Boolean() | FP32() | FP64() | Decimal() | Date() | PrecisionTimestamp() | PrecisionTime())):
            return _cast(value, target, null=True) if isinstance(wanted, Boolean) else None
        case String(), _ if to_integer:
            return _with_witness("integer_of_text", value, target, conversion)
        case ((FP32() | FP64() | Decimal()), _) if to_integer:
            return _with_witness("wrapping_cast", value, target, conversion)
        case _ if source.__class__ in INTEGERS and to_integer:
            return _with_witness("wrapping_cast", value, target, conversion)
        case _, Decimal() if source.__class__ in INTEGERS or isinstance(source, Boolean | FP32 | FP64 | Decimal):
            return _cast(value, target, null=True)
        case (
            (PrecisionTimestampTZ(), (I64() | FP32() | FP64()))
            | ((I8() | I16() | I32()), PrecisionTimestampTZ())
            | (Binary(), String())
        ):
            # these never fail
            return _with_witness("cast", value, target, conversion)
        case PrecisionTimestampTZ(), _ if to_integer and conversion.wraps_seconds:
            seconds = _with_witness("cast", value, I64(), conversion)
            return _with_witness("wrapping_cast", seconds, target, conversion)
        case PrecisionTimestampTZ(), _ if to_integer or isinstance(wanted, Decimal):
            return None
        case _ if has_zone(source, wanted):
            return _composed(value, target, conversion)
        case _:
            raise conversion.refused(
                "it was analysed with ANSI mode off, where it has other results", "Set spark.sql.ansi.enabled"
            )


def _with_witness(name: str, value: Expression, target: Type, conversion: _Conversion) -> Expression:
    """Call a function of our own whose result has the type of its second argument, a null."""
    witness = Literal(type=with_nullability(target, True), value=None)
    return conversion.production.call(_OWN, name, (value, witness))


FORMS: Final = {"Cast": cast}
