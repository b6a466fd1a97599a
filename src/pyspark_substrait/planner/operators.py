"""The operators of Spark SQL: what they do with operands of any types."""

from __future__ import annotations

import decimal
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions.calls import scalar
from pyspark_substrait.extensions.registry import OFFICIAL, Registry
from pyspark_substrait.model.expressions import (
    Cast,
    Expression,
    FailureBehavior,
    IfClause,
    IfThen,
)
from pyspark_substrait.model.literals import DayTime, Literal
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
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Type,
    concrete,
    same_type,
    with_nullability,
)
from pyspark_substrait.planner import coercion
from pyspark_substrait.planner.carriers import TYPED
from pyspark_substrait.planner.catalyst import Translation, json_of, node
from pyspark_substrait.planner.coercion import INTEGERS, NUMBERS, is_null
from pyspark_substrait.planner.literals import (
    TIMESTAMP,
    folded,
    is_castable,
    may_be_null,
    spark_type,
    typed_literal,
)

__all__ = ["Operators"]

_COMPARISONS: Final = {
    "equal": "EqualTo",
    "not_equal": "EqualTo",
    "lt": "LessThan",
    "lte": "LessThanOrEqual",
    "gt": "GreaterThan",
    "gte": "GreaterThanOrEqual",
    "is_not_distinct_from": "EqualNullSafe",
    "is_distinct_from": "EqualNullSafe",
}
_ARITHMETIC: Final = {"add": "Add", "subtract": "Subtract", "multiply": "Multiply", "modulus": "Remainder"}
_BITS: Final = {"bitwise_and": "BitwiseAnd", "bitwise_or": "BitwiseOr", "bitwise_xor": "BitwiseXor"}
#: tests of booleans: whether null passes, and the value that does
_TESTS: Final = {
    "is_true": (True, False),
    "is_not_true": (True, True),
    "is_false": (False, False),
    "is_not_false": (False, True),
}
#: functions that DataFusion's parser makes of a syntax of their own, with their arguments as Spark's function has them
_UNITS: Final = {
    "year": "Year",
    "quarter": "Quarter",
    "month": "Month",
    "week": "WeekOfYear",
    "day": "DayOfMonth",
    "doy": "DayOfYear",
    "dow": "DayOfWeek",
    "dayofweek": "DayOfWeek",
    "hour": "Hour",
    "minute": "Minute",
}
_TIMES: Final = (Date, PrecisionTimestamp, PrecisionTimestampTZ, IntervalDay, IntervalYear, IntervalCompound)


class Operators:
    """Operators, casts and conditions, with Spark's default settings, in UTC.

    Args:
        registry: the extensions.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._translation = Translation(registry)

    # literals and casts -----------------------------------------------------------------------------------------------

    def literal(self, value: Literal) -> Literal:
        """Return a literal with its type in Spark."""
        return typed_literal(value)

    def cast(self, value: Expression, type: Type, *, or_null: bool) -> Expression:
        """Return a cast, in ANSI mode or as ``try_cast``."""
        target = spark_type(type)
        if is_null(value):
            return Literal(type=with_nullability(target, True), value=None)
        if isinstance(value, Literal) and not or_null and target.__class__ in INTEGERS:
            if isinstance(value.value, str) and value.value.startswith(TYPED):
                return Literal(type=target, value=int(value.value[1:]))
            if is_castable(concrete(value.type), target):
                # no literal: beside a decimal, Spark takes the digits of its type
                nullable = may_be_null(concrete(value.type), target)
                failing = FailureBehavior.THROW_EXCEPTION
                return Cast(type=with_nullability(target, nullable), input=value, failure_behavior=failing)
        known = None if or_null else folded(value, target)
        return self._cast(value, target, or_null) if known is None else known

    def _cast(self, value: Expression, target: Type, or_null: bool = False) -> Expression:
        if is_null(value):
            return Literal(type=with_nullability(target, True), value=None)
        if same_type(value.type, target):
            return value
        json, source = json_of(target), concrete(value.type)
        if not is_castable(source, target):
            raise UnsupportedPlanError(f"Spark has no cast from {json_of(source)} to {json}")
        nullable = or_null or value.type.nullable or may_be_null(source, target)
        made = node(
            "Cast",
            value,
            dataType=json,
            nullable=nullable,
            evalMode="TRY" if or_null else "ANSI",
            sql=f"CAST(… AS {json})",
        )
        return self._translation.expression(made)

    def _as(self, value: Expression, type: Type) -> Expression:
        """Cast implicitly."""
        known = folded(value, type)
        return self._cast(value, type) if known is None else known

    def _operator(self, name: str, arguments: Sequence[Expression]) -> Expression | None:
        match name, arguments:
            case _, [one, other] if name in _COMPARISONS:
                return self._comparison(name, one, other)
            case (("and" | "or"), [*conditions]):
                return self._called(OFFICIAL + "functions_boolean", name, list(map(self._boolean, conditions)))
            case "not", [one]:
                return self._not(self._boolean(one))
            case (("is_null" | "is_not_null"), [one]):
                return self._made("IsNull" if name == "is_null" else "IsNotNull", one)
            case (("is_unknown" | "is_not_unknown"), [one]):
                return self._made("IsNull" if name == "is_unknown" else "IsNotNull", self._boolean(one))
            case _, [one] if name in _TESTS:
                wanted, negated = _TESTS[name]
                same = self._made("EqualNullSafe", self._boolean(one), Literal(type=Boolean(), value=wanted))
                return self._not(same) if negated else same
            case _, [one, other] if name in _ARITHMETIC:
                return self._arithmetic(_ARITHMETIC[name], one, other)
            case "divide", [one, other]:
                return self._division(one, other)
            case _, [one, other] if name in _BITS:
                return self._bitwise(_BITS[name], one, other)
            case "negate", [one]:
                return self._negated(one)
            case (("like" | "ilike"), [value, pattern, *escape]):
                return self._like(name, value, pattern, *escape)
            case (("regex_match" | "regex_not_match"), [value, pattern]):
                found = self._made("RLike", self._as(value, String()), self._as(pattern, String()))
                return self._not(found) if name == "regex_not_match" else found
            case "str_concat", [one, other]:
                self.refuse_binaries("||", arguments)
                return self._made("Concat", self._as(one, String()), self._as(other, String()))
            case "nullif", [one, other]:
                return self._nullif(one, other)
            case _:
                return None

    def _implicit(self, value: Expression, type: Type, name: str) -> Expression:
        if not is_null(value) and not coercion.can_pass(value.type, type):
            raise UnsupportedPlanError(
                f"`{name}` takes {json_of(type)} in Spark, not {json_of(value.type)}", hint="Add a cast"
            )
        return self._as(value, type)

    @staticmethod
    def refuse_binaries(name: str, arguments: Sequence[Expression]) -> None:
        """Refuse a call whose texts are all binaries: Spark's result is a binary then.

        Raises:
            UnsupportedPlanError: they are.
        """
        texts = [value for value in arguments if concrete(value.type).__class__ in (String, Binary)]
        if any(isinstance(concrete(value.type), Binary) for value in texts) and not any(
            isinstance(concrete(value.type), String) and not is_null(value) for value in texts
        ):
            raise UnsupportedPlanError(f"`{name}` of a BINARY is not planned without Spark", hint="Cast it to STRING")

    def _made(self, name: str, *children: Expression, sql: str = "", **fields: Any) -> Expression:
        return self._translation.expression(node(name, *children, sql=sql or f"{name}(…)", **fields))

    def _called(self, urn: str, name: str, arguments: Sequence[Expression]) -> Expression:
        return scalar(self._registry, urn, name, arguments)

    def _not(self, value: Expression) -> Expression:
        return self._called(OFFICIAL + "functions_boolean", "not", (value,))

    # operators --------------------------------------------------------------------------------------------------------

    def condition(self, value: Expression) -> Expression:
        """Return the condition of a clause; Spark takes nothing but a boolean for one."""
        if is_null(value) and not isinstance(concrete(value.type), Boolean):
            raise UnsupportedPlanError("Spark takes no NULL for a condition", hint="Write CAST(NULL AS BOOLEAN)")
        return self._boolean(value)

    def _boolean(self, value: Expression) -> Expression:
        """Return an operand of AND, OR and NOT."""
        if is_null(value):
            return Literal(type=Boolean(nullable=True), value=None)
        if not isinstance(concrete(value.type), Boolean):
            raise UnsupportedPlanError(f"Spark takes no {json_of(value.type)} for a condition", hint="Compare it")
        return value

    def alternatives(self, values: Sequence[Expression]) -> tuple[Expression, ...]:
        """Return values as ones of the widest of their types."""
        if not values:
            return ()
        wanted = coercion.widest(values)
        if wanted is None:
            listed = ", ".join(dict.fromkeys(str(json_of(value.type)) for value in values))
            raise UnsupportedPlanError(f"Spark has no type in common for {listed}", hint="Add casts")
        return tuple([self._as(value, wanted) for value in values])

    def _comparison(self, name: str, one: Expression, other: Expression) -> Expression:
        type = coercion.compared(one, other)
        if type is None:
            raise UnsupportedPlanError(
                f"Spark does not compare {json_of(one.type)} with {json_of(other.type)}", hint="Add a cast"
            )
        made = self._made(_COMPARISONS[name], self._as(one, type), self._as(other, type))
        return self._not(made) if name in ("not_equal", "is_distinct_from") else made

    def _nullif(self, one: Expression, other: Expression) -> Expression:
        nothing = Literal(type=with_nullability(one.type, True), value=None)
        return IfThen(ifs=(IfClause(self._comparison("equal", one, other), nothing),), else_=one)

    def _arithmetic(self, name: str, one: Expression, other: Expression) -> Expression:
        timed = self._of_times(name, one, other)
        return self._made(name, *self._numbers(one, other, name)) if timed is None else timed

    def _numbers(self, one: Expression, other: Expression, name: str) -> tuple[Expression, Expression]:
        """Return the operands of arithmetic: decimals as they are, others as numbers of one type."""
        if is_null(one) or is_null(other):
            known = concrete(one.type) if is_null(other) else concrete(other.type)
            known = known if known.__class__ in NUMBERS else FP64()
            return self._as(one, known), self._as(other, known)
        kinds = concrete(one.type), concrete(other.type)
        if any(isinstance(kind, String) for kind in kinds):
            wide = coercion.wider(*kinds)
            number = wide if wide is not None and wide.__class__ in NUMBERS else FP64()
            return self._numbers(self._as(one, number), self._as(other, number), name)
        if any(kind.__class__ not in NUMBERS for kind in kinds):
            raise UnsupportedPlanError(
                f"Spark has no {name} of {json_of(kinds[0])} and {json_of(kinds[1])}", hint="Add a cast"
            )
        if not any(isinstance(kind, Decimal) for kind in kinds):
            tight = coercion.tightest(*kinds)
            assert tight is not None, "numbers have a type in common"
            return self._as(one, tight), self._as(other, tight)
        if any(isinstance(kind, FP32 | FP64) for kind in kinds):
            return self._as(one, FP64()), self._as(other, FP64())
        return self._decimal(one), self._decimal(other)

    def _decimal(self, value: Expression) -> Expression:
        """Return an operand of arithmetic with decimals as one: a literal of as many digits as it has."""
        type = coercion.decimal_of_literal(value) or coercion.decimal_of(value.type)
        assert type is not None, "it is an integer or a decimal"
        return self._as(value, type)

    def _division(self, one: Expression, other: Expression) -> Expression:
        """``/``: of decimals, or of DOUBLEs whatever the operands are."""
        left, right = self._numbers(one, other, "Divide")
        if not isinstance(concrete(left.type), Decimal):
            left, right = self._as(left, FP64()), self._as(right, FP64())
        return self._made("Divide", left, right)

    def _integral_division(self, one: Expression, other: Expression) -> Expression:
        left, right = self._numbers(one, other, "IntegralDivide")
        if concrete(left.type).__class__ in INTEGERS:
            left, right = self._as(left, I64()), self._as(right, I64())
        elif not isinstance(concrete(left.type), Decimal):
            raise UnsupportedPlanError("Spark's DIV takes integers and decimals", hint="Cast the operands to BIGINT")
        return self._made("IntegralDivide", left, right)

    def _bitwise(self, name: str, one: Expression, other: Expression) -> Expression:
        type = coercion.tightest(one.type, other.type)
        if type is None or type.__class__ not in INTEGERS:
            raise UnsupportedPlanError(f"Spark's {name} takes integers, not {json_of(one.type)}, {json_of(other.type)}")
        return self._made(name, self._as(one, type), self._as(other, type))

    def _negated(self, value: Expression) -> Expression:
        match value:
            case Literal(type=I32()):
                pass  # -(1): the parser reads -1 as one literal; this is none, beside a decimal
            case Literal(value=int() | float() | decimal.Decimal() as number) if not isinstance(number, bool):
                negative = replace(value, value=-number)
                return self.literal(negative) if isinstance(concrete(value.type), Decimal) else negative
            case _ if isinstance(concrete(value.type), String) or is_null(value):
                value = self._as(value, FP64())
        return self._made("UnaryMinus", value)

    def _like(self, name: str, value: Expression, pattern: Expression, *escape: Expression) -> Expression:
        character = "\\"
        if escape and not is_null(escape[0]):
            assert isinstance(escape[0], Literal), "the parser takes a character"
            character = str(escape[0].value)
        class_name = "Like" if name == "like" else "ILike"
        return self._made(class_name, self._as(value, String()), self._as(pattern, String()), escapeChar=character)

    # dates ------------------------------------------------------------------------------------------------------------

    def _of_times(self, name: str, one: Expression, other: Expression) -> Expression | None:
        """Return arithmetic of dates, timestamps and intervals; None for that of numbers."""
        kinds = concrete(one.type), concrete(other.type)
        match name, *kinds:
            case "Add", (IntervalDay() | IntervalYear()), (Date() | PrecisionTimestamp() | PrecisionTimestampTZ()):
                return self._of_times(name, other, one)
            case "Add", kind, Date() if kind.__class__ in INTEGERS:
                return self._of_times(name, other, one)
            case (("Add" | "Subtract"), Date(), kind) if kind.__class__ in (I8, I16, I32):
                days = self._as(other, I32())
                return self._made("DateAdd" if name == "Add" else "DateSub", one, days)
            case "Subtract", Date(), Date():
                return self._made("SubtractDates", one, other)
            case (("Add" | "Subtract"), Date(), IntervalYear()):
                return self._made("DateAddYMInterval", one, self._signed(name, other))
            case (("Add" | "Subtract"), Date(), IntervalDay()):
                if isinstance(other, Literal) and isinstance(other.value, DayTime):
                    if other.value.days and not other.value.seconds and not other.value.subseconds:
                        days = Literal(type=I32(), value=other.value.days)
                        return self._made("DateAdd" if name == "Add" else "DateSub", one, days)
                    if other.value == DayTime(0, 0, 0):
                        raise UnsupportedPlanError(
                            "a date and an interval of nothing: the plan doesn't say whether in days or in seconds",
                            hint="Leave it out, or cast the date to a timestamp",
                        )
                return self._of_times(name, self._as(one, TIMESTAMP), other)
            case (("Add" | "Subtract"), (PrecisionTimestamp() | PrecisionTimestampTZ()), IntervalYear()):
                return self._made("TimestampAddYMInterval", one, self._signed(name, other))
            case (("Add" | "Subtract"), (PrecisionTimestamp() | PrecisionTimestampTZ()), IntervalDay()):
                return self._made("TimestampAddInterval", one, self._signed(name, other))
            case (
                "Subtract",
                (Date() | PrecisionTimestamp() | PrecisionTimestampTZ()),
                (Date() | PrecisionTimestamp() | PrecisionTimestampTZ()),
            ):
                type = coercion.tightest(*kinds)
                assert type is not None, "both are times"
                return self._made("SubtractTimestamps", self._as(one, type), self._as(other, type))
            case _ if any(isinstance(kind, _TIMES) for kind in kinds):
                raise UnsupportedPlanError(
                    f"{name} of {json_of(kinds[0])} and {json_of(kinds[1])} is not planned without Spark",
                    hint="Use date_add, add_months or an INTERVAL literal",
                )
            case _:
                return None

    def _signed(self, name: str, interval: Expression) -> Expression:
        """Return an interval to add, for a sum or a difference."""
        if name == "Add":
            return interval
        match interval:
            case Literal(value=DayTime(days=days, seconds=seconds, subseconds=subseconds)):
                return replace(interval, value=DayTime(-days, -seconds, -subseconds))
            case Literal(value=int() as months):
                return replace(interval, value=-months)
            case _:
                return self._made("UnaryMinus", interval, dataType=json_of(interval.type))

    def part(self, unit: Expression, value: Expression) -> Expression:
        """``EXTRACT(unit FROM value)``."""
        name = str(unit.value).lower() if isinstance(unit, Literal) else ""
        if name in ("hour", "minute"):
            return self._made(_UNITS[name], self._implicit(value, TIMESTAMP, "extract"))
        if name == "second":
            return self._made("SecondWithFraction", self._implicit(value, TIMESTAMP, "extract"))
        if name not in _UNITS:
            raise UnsupportedPlanError(f"EXTRACT of {name or 'a computed unit'} is not planned without Spark")
        return self._made(_UNITS[name], self._implicit(value, Date(), "extract"))
