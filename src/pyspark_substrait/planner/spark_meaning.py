"""The meaning of Spark SQL for what DataFusion's planner made of a text."""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions.calls import scalar
from pyspark_substrait.extensions.registry import OFFICIAL, Registry
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    Bound,
    BoundsType,
    Cast,
    Expression,
    FailureBehavior,
    FieldReference,
    IfClause,
    IfThen,
    InPredicate,
    PredicateOp,
    RootReference,
    ScalarSubquery,
    SetPredicate,
    SortField,
    StructField,
    WindowFunction,
)
from pyspark_substrait.model.literals import Compound, DayTime, Literal
from pyspark_substrait.model.relations import Project, Relation
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
from pyspark_substrait.planner import carriers, coercion
from pyspark_substrait.planner.carriers import INTEGRAL_DIVISION, MEMBER, carried
from pyspark_substrait.planner.catalyst import Translation, json_of, node
from pyspark_substrait.planner.coercion import INTEGERS, NUMBERS, is_null
from pyspark_substrait.planner.correlation import Queries
from pyspark_substrait.planner.functions import Signature, signatures
from pyspark_substrait.spark.producer.expressions.aggregate_forms import Aggregated

__all__ = ["SparkMeaning"]

_EPOCH: Final = datetime.date(1970, 1, 1)
_DATE: Final = re.compile(r"\s*(\d{4})-(\d{1,2})-(\d{1,2})\s*")
_TIMESTAMP: Final = PrecisionTimestampTZ(precision=6)
_TYPES: Final[Mapping[str, Type]] = {
    "date": Date(),
    "timestamp": _TIMESTAMP,
    "timestamp_ntz": PrecisionTimestamp(precision=6),
    "string": String(),
    "boolean": Boolean(),
    "tinyint": I8(),
    "smallint": I16(),
    "int": I32(),
    "long": I64(),
    "bigint": I64(),
    "float": FP32(),
    "double": FP64(),
}
#: comparisons: their names in DataFusion's plans and in Catalyst
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
_SYNTAX: Final[Mapping[str, tuple[str, tuple[int, ...]]]] = {
    "btrim": ("StringTrim", (0, 1)),
    "ltrim": ("StringTrimLeft", (0, 1)),
    "rtrim": ("StringTrimRight", (0, 1)),
}
#: aggregate functions: their classes in Catalyst, and the type of their arguments, if that isn't free
_AGGREGATES: Final[Mapping[str, tuple[str, str]]] = {
    "count": ("Count", "any"),
    "sum": ("Sum", "sum"),
    "avg": ("Average", "sum"),
    "min": ("Min", "any"),
    "max": ("Max", "any"),
    "stddev": ("StddevSamp", "double"),
    "stddev_pop": ("StddevPop", "double"),
    "var": ("VarianceSamp", "double"),
    "var_pop": ("VariancePop", "double"),
    "corr": ("Corr", "double"),
    "covar_samp": ("CovSample", "double"),
    "covar_pop": ("CovPopulation", "double"),
    "bool_and": ("BoolAnd", "boolean"),
    "bool_or": ("BoolOr", "boolean"),
    "bit_and": ("BitAndAgg", "any"),
    "bit_or": ("BitOrAgg", "any"),
    "bit_xor": ("BitXorAgg", "any"),
    "median": ("Median", "any"),
    "first_value": ("First", "any"),
    "last_value": ("Last", "any"),
    "array_agg": ("CollectList", "any"),
    "approx_distinct": ("HyperLogLogPlusPlus", "any"),
}
#: functions that are only defined over windows, and whether the frame counts
_WINDOWS: Final = {
    "row_number": "RowNumber",
    "rank": "Rank",
    "dense_rank": "DenseRank",
    "percent_rank": "PercentRank",
    "cume_dist": "CumeDist",
    "ntile": "NTile",
    "lag": "Lag",
    "lead": "Lead",
    "nth_value": "NthValue",
}
_UNITS: Final = {
    "year": "Year",
    "quarter": "Quarter",
    "month": "Month",
    "week": "WeekOfYear",
    "day": "DayOfMonth",
    "doy": "DayOfYear",
    "hour": "Hour",
    "minute": "Minute",
}


class SparkMeaning:
    """Spark SQL with its default settings, in UTC.

    Args:
        registry: the extensions.
        queries: the correlated subqueries of the text.
    """

    def __init__(self, registry: Registry, queries: Queries) -> None:
        self._registry = registry
        self._queries = queries
        self._translation = Translation(registry)
        #: the aggregate functions whose results Spark has with another type, by the identity of the call
        self._results: dict[int, tuple[AggregateFunction, Callable[[Expression], Expression]]] = {}

    # literals and casts -----------------------------------------------------------------------------------------------

    def literal(self, value: Literal) -> Literal:
        """Return a literal with its type in Spark: an INT if it fits, decimals of the digits that they have."""
        match concrete(value.type), value.value:
            case I64(), int() as number if -(1 << 31) <= number < 1 << 31:
                return Literal(type=I32(), value=number)
            case Decimal(), decimal.Decimal() as number:
                scale = max(0, -int(number.as_tuple().exponent))
                digits = len(str(abs(int(number.scaleb(scale)))))
                return Literal(type=Decimal(precision=max(digits, scale), scale=scale), value=number)
            case IntervalCompound(precision=precision), Compound() as parts:
                return _interval(parts, precision)
            case _:
                return value

    def cast(self, value: Expression, type: Type, *, or_null: bool) -> Expression:
        """Return a cast, in ANSI mode or as ``try_cast``."""
        target = _spark_type(type)
        if is_null(value):
            return Literal(type=with_nullability(target, True), value=None)
        folded = None if or_null else _folded(value, target)
        return self._cast(value, target, or_null) if folded is None else folded

    def _cast(self, value: Expression, target: Type, or_null: bool = False) -> Expression:
        if is_null(value):
            return Literal(type=with_nullability(target, True), value=None)
        if same_type(value.type, target):
            return value
        json, source = json_of(target), concrete(value.type)
        if not _is_castable(source, target):
            raise UnsupportedPlanError(f"Spark has no cast from {json_of(source)} to {json}")
        nullable = or_null or value.type.nullable or _may_be_null(source, target)
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
        folded = _folded(value, type)
        return self._cast(value, type) if folded is None else folded

    # calls ------------------------------------------------------------------------------------------------------------

    def special(self, name: str, message: Any, read: Callable[[Any], Expression], scope: Any) -> Expression | None:
        """Return what a call stands for that carries something through DataFusion's planner."""
        names = {anchor: declared.name for anchor, declared in scope.reading.functions.items()}
        if name in ("modulus", "equal", "not_equal"):
            return self._infix(name, message, read, scope, names)
        found = carried(message, names)
        if found is None:
            return None
        kind, key, parts = found
        match kind:
            case carriers.CALL:
                return self.called(key, [read(part) for part in parts])
            case carriers.OUTER:
                return self._queries.outer(int(key), scope)
            case carriers.QUERY:
                return SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=self._query(key, parts, read, scope))
            case carriers.SCALAR:
                return ScalarSubquery(input=self._query(key, parts, read, scope))
            case _:
                raise AssertionError(f"a carrier of {kind} is the operand of an operator")

    def _query(self, key: str, parts: Sequence[Any], read: Callable[[Any], Expression], scope: Any) -> Relation:
        return self._queries.relation(int(key), [read(part) for part in parts], scope)

    def _infix(
        self, name: str, message: Any, read: Callable[[Any], Expression], scope: Any, names: dict[int, str]
    ) -> Expression | None:
        """Return ``DIV``, which is written as two remainders, or ``IN`` of a correlated subquery, as a comparison."""
        left, right = (argument.value for argument in message.arguments)
        if name == "modulus":
            inner = left.scalar_function
            if not left.HasField("scalar_function") or names.get(inner.function_reference) != "modulus":
                return None
            mark = carried(inner.arguments[1].value.scalar_function, names)
            if mark is None or mark[0] != INTEGRAL_DIVISION:
                return None
            return self._integral_division(read(inner.arguments[0].value), read(right))
        found = carried(right.scalar_function, names) if right.HasField("scalar_function") else None
        if found is None or found[0] != MEMBER:
            return None
        haystack = self._query(found[1], found[2], read, scope)
        column = FieldReference(root=RootReference(), reference=(StructField(0),), type=haystack.schema.types[0])
        needle, compared = self.alternatives((read(left), column))
        if compared is not column:
            haystack = Project.only(haystack, [compared])
        member = InPredicate(needles=(needle,), haystack=haystack)
        return self._not(member) if name == "not_equal" else member

    def scalar(self, name: str, arguments: Sequence[Expression]) -> Expression:
        """Return a call of an operator, or of a function that the parser makes of a syntax."""
        made = self._operator(name, arguments)
        if made is not None:
            return made
        if name in _SYNTAX:
            class_name, order = _SYNTAX[name]
            texts = [self._as(arguments[position], String()) for position in order[: len(arguments)]]
            return self._made(class_name, *texts)
        if name == "date_part":
            return self._part(*arguments)
        if name == "strpos":
            text, part = (self._as(value, String()) for value in arguments)
            return self._made("StringLocate", part, text, Literal(type=I32(), value=1))
        return self.called(name, arguments)

    def _operator(self, name: str, arguments: Sequence[Expression]) -> Expression | None:
        match name, arguments:
            case _, [one, other] if name in _COMPARISONS:
                return self._comparison(name, one, other)
            case (("and" | "or"), [*conditions]):
                return self._called(OFFICIAL + "functions_boolean", name, list(map(self.condition, conditions)))
            case "not", [one]:
                return self._not(self.condition(one))
            case (("is_null" | "is_not_null"), [one]):
                return self._made("IsNull" if name == "is_null" else "IsNotNull", one)
            case (("is_unknown" | "is_not_unknown"), [one]):
                return self._made("IsNull" if name == "is_unknown" else "IsNotNull", self.condition(one))
            case _, [one] if name in _TESTS:
                wanted, negated = _TESTS[name]
                same = self._made("EqualNullSafe", self.condition(one), Literal(type=Boolean(), value=wanted))
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
                return self._made("Concat", self._as(one, String()), self._as(other, String()))
            case "nullif", [one, other]:
                return self._nullif(one, other)
            case _:
                return None

    def called(self, name: str, arguments: Sequence[Expression]) -> Expression:
        """Return a call of a function of Spark, by its name in the text."""
        special = _SPECIAL.get(name)
        if special is not None:
            return special(self, arguments)
        signature = signatures().get(name)
        if signature is None:
            raise UnsupportedPlanError(f"the function `{name}` is not one of those that are planned without Spark")
        if not signature.takes(len(arguments)):
            raise UnsupportedPlanError(f"`{name}` doesn't take {len(arguments)} arguments in Spark")
        taken = self._arguments(signature, arguments)
        return self._made(signature.node, *taken, sql=f"{name}(…)")

    def _arguments(self, signature: Signature, arguments: Sequence[Expression]) -> list[Expression]:
        positions = range(len(arguments))
        same = [arguments[at] for at in positions if signature.parameter(at).type == "same"]
        common = iter(self.alternatives(same)) if same else iter(())
        made: list[Expression] = []
        for at in positions:
            parameter = signature.parameter(at).type
            if parameter == "same":
                made.append(next(common))
            else:
                made.append(self._passed(arguments[at], parameter, signature.name))
        for parameter in signature.parameters[len(arguments) :]:
            if parameter.default is not None:
                made.append(_constant(parameter.default, parameter.type))
        return made

    def _passed(self, value: Expression, parameter: str, name: str) -> Expression:
        """Return an argument as one of a parameter's type."""
        kind = concrete(value.type)
        match parameter:
            case "any":
                return value
            case "number" | "whole":
                if is_null(value) or isinstance(kind, String):
                    return self._as(value, FP64())
                if kind.__class__ not in NUMBERS:
                    break_type = json_of(kind)
                    raise UnsupportedPlanError(f"`{name}` takes a number in Spark, not {break_type}")
                wide = isinstance(kind, FP32) and parameter == "whole"
                return self._as(value, FP64()) if wide else value
            case "binary":
                return self._implicit(value, Binary(), name)
            case _:
                return self._implicit(value, _TYPES[parameter], name)

    def _implicit(self, value: Expression, type: Type, name: str) -> Expression:
        if not is_null(value) and not coercion.can_pass(value.type, type):
            raise UnsupportedPlanError(
                f"`{name}` takes {json_of(type)} in Spark, not {json_of(value.type)}", hint="Add a cast"
            )
        return self._as(value, type)

    def _made(self, name: str, *children: Expression, sql: str = "", **fields: Any) -> Expression:
        return self._translation.expression(node(name, *children, sql=sql or f"{name}(…)", **fields))

    def _called(self, urn: str, name: str, arguments: Sequence[Expression]) -> Expression:
        return scalar(self._registry, urn, name, arguments)

    def _not(self, value: Expression) -> Expression:
        return self._called(OFFICIAL + "functions_boolean", "not", (value,))

    # operators --------------------------------------------------------------------------------------------------------

    def condition(self, value: Expression) -> Expression:
        """Return a condition; Spark takes nothing but a boolean for one."""
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
            case Literal(value=int() | float() | decimal.Decimal() as number) if not isinstance(number, bool):
                return self.literal(replace(value, value=-number)) if _keeps(value) else replace(value, value=-number)
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
                return self._of_times(name, self._as(one, _TIMESTAMP), other)
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

    def _part(self, unit: Expression, value: Expression) -> Expression:
        """``EXTRACT(unit FROM value)``."""
        name = str(unit.value).lower() if isinstance(unit, Literal) else ""
        if name in ("hour", "minute"):
            return self._made(_UNITS[name], self._implicit(value, _TIMESTAMP, "extract"))
        if name == "second":
            return self._made("SecondWithFraction", self._implicit(value, _TIMESTAMP, "extract"))
        if name not in _UNITS:
            raise UnsupportedPlanError(f"EXTRACT of {name or 'a computed unit'} is not planned without Spark")
        return self._made(_UNITS[name], self._implicit(value, Date(), "extract"))

    def to_date(self, arguments: Sequence[Expression]) -> Expression:
        """``to_date(value[, pattern])``."""
        if len(arguments) == 1:
            return self._as(arguments[0], Date())
        return self._as(self.to_timestamp(arguments), Date())

    def to_timestamp(self, arguments: Sequence[Expression]) -> Expression:
        """``to_timestamp(value[, pattern])``."""
        if len(arguments) == 1:
            return self._as(arguments[0], _TIMESTAMP)
        return self._made("GetTimestamp", *arguments, dataType="timestamp", sql="to_timestamp(…)")

    def trimmed(self, name: str) -> Callable[[Sequence[Expression]], Expression]:
        """Return ``trim`` and similar functions: Spark's functions of two arguments have the characters first."""

        def call(arguments: Sequence[Expression]) -> Expression:
            texts = [self._as(value, String()) for value in reversed(arguments)]
            return self._made(name, *texts)

        return call

    def cast_by_name(self, type: Type, arguments: Sequence[Expression]) -> Expression:
        """``date(x)``, ``int(x)``: a cast."""
        (value,) = arguments
        return self.cast(value, type, or_null=False)

    def remainder(self, arguments: Sequence[Expression], name: str) -> Expression:
        """``mod`` and ``pmod``."""
        one, other = arguments
        return self._made(name, *self._numbers(one, other, name))

    def negative(self, arguments: Sequence[Expression]) -> Expression:
        """``negative``."""
        return self._negated(*arguments)

    # aggregates and windows -------------------------------------------------------------------------------------------

    def aggregate(
        self, name: str, arguments: Sequence[Expression], *, distinct: bool, is_sorted: bool
    ) -> AggregateFunction | None:
        """Return an aggregate function; ``grouping`` is left to what reads DataFusion's grouping sets."""
        if name == "grouping":
            return None
        found = self._aggregated(name, arguments, distinct, is_sorted)
        self._results[id(found.call)] = found.call, found.result
        return found.call

    def _aggregated(self, name: str, arguments: Sequence[Expression], distinct: bool, is_sorted: bool) -> Aggregated:
        if is_sorted:
            raise UnsupportedPlanError(f"`{name}` has no ORDER BY of its own in Spark")
        return self._translation.aggregate(self._function(name, arguments), distinct=distinct)

    def _function(self, name: str, arguments: Sequence[Expression]) -> Any:
        if name not in _AGGREGATES:
            raise UnsupportedPlanError(f"the aggregate function `{name}` is not one of those planned without Spark")
        class_name, parameter = _AGGREGATES[name]
        if parameter == "sum":
            taken = [self._summed(value, name) for value in arguments]
        elif parameter == "any":
            taken = [*arguments]
        else:
            taken = [self._implicit(value, _TYPES[parameter], name) for value in arguments]
        return node(class_name, *taken, sql=f"{name}(…)", nullOnDivideByZero=True, relativeSD=0.05)

    def _summed(self, value: Expression, name: str) -> Expression:
        if is_null(value) or isinstance(concrete(value.type), String):
            return self._as(value, FP64())
        if not isinstance(concrete(value.type), (*NUMBERS, IntervalDay, IntervalYear)):
            raise UnsupportedPlanError(f"Spark has no {name} of {json_of(value.type)}")
        return value

    def aggregated(self, relation: Relation, measures: Sequence[AggregateFunction]) -> Relation:
        """Return an aggregate with its measures in Spark's types."""
        schema = relation.schema
        first = len(schema.types) - len(measures)
        columns: list[Expression] = [
            FieldReference(root=RootReference(), reference=(StructField(position),), type=type)
            for position, type in enumerate(schema.types)
        ]
        changed = False
        for number, call in enumerate(measures):
            column = columns[first + number]
            if call.function.name == "grouping":
                made = Cast(
                    type=I8(nullable=column.type.nullable),
                    input=column,
                    failure_behavior=FailureBehavior.THROW_EXCEPTION,
                )
            else:
                made = self._results[id(call)][1](column)  # type: ignore[assignment]
            if made is not column:
                columns[first + number], changed = made, True
        return Project.only(relation, columns) if changed else relation

    def window(
        self,
        name: str,
        arguments: Sequence[Expression],
        *,
        sorts: tuple[SortField, ...],
        partitions: tuple[Expression, ...],
        frame: tuple[BoundsType | None, Bound, Bound],
    ) -> Expression:
        """Return a function over a window."""
        over = node("WindowSpecDefinition", _FRAME, frameSpecification=0, orderSpec=[], partitionSpec=[])
        if name in _WINDOWS:
            function = self._window_function(name, arguments)
        else:
            called = self._function(name, arguments)
            function = node("AggregateExpression", called, aggregateFunction=0, isDistinct=False, sql=f"{name}(…)")
        made = self._translation.expression(node("WindowExpression", function, over, windowFunction=0, windowSpec=1))
        whole = name in _WINDOWS and name != "nth_value"
        return _over(made, sorts, partitions, None if whole else frame)

    def _window_function(self, name: str, arguments: Sequence[Expression]) -> Any:
        taken = [*arguments]
        if name in ("lag", "lead"):
            taken = [taken[0], *(taken[1:2] or [Literal(type=I32(), value=1)]), *taken[2:]]
            if len(taken) < 3:
                taken.append(Literal(type=with_nullability(taken[0].type, True), value=None))
        return node(_WINDOWS[name], *taken, sql=f"{name}(…)")


_FRAME: Final = node(
    "SpecifiedWindowFrame",
    node("UnboundedPreceding$"),
    node("UnboundedFollowing$"),
    frameType={"object": "RowFrame$"},
    lower=0,
    upper=1,
)
_TIMES: Final = (Date, PrecisionTimestamp, PrecisionTimestampTZ, IntervalDay, IntervalYear, IntervalCompound)


def _over(
    made: Expression,
    sorts: tuple[SortField, ...],
    partitions: tuple[Expression, ...],
    frame: tuple[BoundsType | None, Bound, Bound] | None,
) -> Expression:
    """Return a window function, which may be in a cast, over a window."""
    match made:
        case WindowFunction():
            made = replace(made, sorts=sorts, partitions=partitions)
            if frame is None:
                return made
            return replace(made, bounds_type=frame[0] or BoundsType.ROWS, lower_bound=frame[1], upper_bound=frame[2])
        case Cast():
            return replace(made, input=_over(made.input, sorts, partitions, frame))
        case _:
            raise AssertionError("a window function, or a cast of one")


def _keeps(value: Literal) -> bool:
    """Whether the type of the negative of a literal is that of a literal without a type of its own."""
    return concrete(value.type).__class__ in (I32, I64, Decimal)


def _interval(parts: Compound, precision: int) -> Literal:
    months, days, seconds, rest = parts.months, parts.days, parts.seconds, parts.subseconds
    if months and (days or seconds or rest):
        raise UnsupportedPlanError(
            "an INTERVAL of months and of days or time at once has no Substrait form",
            hint="Add one of months, then one of days and time",
        )
    if months:
        return Literal(type=IntervalYear(), value=months)
    micros = rest // 10 ** (precision - 6) if precision > 6 else rest * 10 ** (6 - precision)
    whole = seconds * 1_000_000 + micros
    return Literal(type=IntervalDay(precision=6), value=DayTime(days, *_split(whole)))


def _split(micros: int) -> tuple[int, int]:
    sign = -1 if micros < 0 else 1
    seconds, rest = divmod(abs(micros), 1_000_000)
    return sign * seconds, sign * rest


def _spark_type(type: Type) -> Type:
    """Return the type of Spark that a type of a cast stands for.

    DataFusion's TIMESTAMP has nanoseconds and no zone; in Spark it is an instant. The text says TIMESTAMP(6) for a
    TIMESTAMP_NTZ.
    """
    match concrete(type):
        case PrecisionTimestamp(precision=6):
            return PrecisionTimestamp(precision=6)
        case PrecisionTimestamp() | PrecisionTimestampTZ():
            return _TIMESTAMP
        case IntervalCompound() | IntervalDay() | IntervalYear():
            raise UnsupportedPlanError("a cast to an interval is not planned without Spark", hint="Write a literal")
        case kind:
            return kind


def _folded(value: Expression, target: Type) -> Literal | None:
    """Return a literal as one of another type, where the result is plain; None to compute it when the plan runs."""
    if not isinstance(value, Literal) or not isinstance(value.value, str):
        return None
    match concrete(target):
        case Date() if found := _DATE.fullmatch(value.value):
            try:
                date = datetime.date(*map(int, found.groups()))
            except ValueError:
                return None
            return Literal(type=Date(), value=(date - _EPOCH).days)
        case FP64() if _NUMBER.fullmatch(value.value):
            return Literal(type=FP64(), value=float(value.value))
        case (I32() | I64()) as kind if _INTEGER.fullmatch(value.value):
            bits = 31 if isinstance(kind, I32) else 63
            number = int(value.value)
            return Literal(type=kind, value=number) if -(1 << bits) <= number < 1 << bits else None
        case _:
            return None


_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_INTEGER: Final = re.compile(r"[+-]?\d+")


def _may_be_null(source: Type, target: Type) -> bool:
    """Whether Spark declares a cast nullable whatever the value is (``Cast.forceNullable``)."""
    match source, target:
        case String(), _:
            return json_of(target) != "binary"
        case _, Decimal(precision=precision, scale=scale):
            held = coercion.decimal_of(source)
            return held is None or held.precision - held.scale > precision - scale or held.scale > scale
        case ((FP32() | FP64() | Decimal()), _):
            return target.__class__ in INTEGERS
        case _:
            return False


def _is_castable(source: Type, target: Type) -> bool:
    """Whether Spark has a cast between two types in ANSI mode."""
    numbers, times = NUMBERS, (Date, PrecisionTimestamp, PrecisionTimestampTZ)
    kind, wanted = source.__class__, target.__class__
    if kind is String or wanted is String:
        return True
    if kind in numbers and wanted in (*numbers, Boolean):
        return True
    if kind is Boolean:
        return wanted in numbers
    if kind in times and wanted in times:
        return True
    if kind in numbers:
        return wanted is PrecisionTimestampTZ
    return kind is PrecisionTimestampTZ and wanted in numbers


def _constant(text: str, parameter: str) -> Literal:
    match parameter:
        case "int":
            return Literal(type=I32(), value=int(text))
        case "boolean":
            return Literal(type=Boolean(), value=text == "true")
        case _:
            return Literal(type=String(), value=text)


_SPECIAL: Final[Mapping[str, Callable[[SparkMeaning, Sequence[Expression]], Expression]]] = {
    "to_date": SparkMeaning.to_date,
    "to_timestamp": SparkMeaning.to_timestamp,
    "negative": SparkMeaning.negative,
    "mod": lambda meaning, arguments: meaning.remainder(arguments, "Remainder"),
    "pmod": lambda meaning, arguments: meaning.remainder(arguments, "Pmod"),
    "trim": lambda meaning, arguments: meaning.trimmed("StringTrim")(arguments),
    "ltrim": lambda meaning, arguments: meaning.trimmed("StringTrimLeft")(arguments),
    "rtrim": lambda meaning, arguments: meaning.trimmed("StringTrimRight")(arguments),
    **{
        name: lambda meaning, arguments, type=type: meaning.cast_by_name(type, arguments)  # type: ignore[misc]
        for name, type in _TYPES.items()
        if name != "long"
    },
}
