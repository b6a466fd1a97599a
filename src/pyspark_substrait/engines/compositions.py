"""Functions in terms of others, for engines that lack them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from pyspark_substrait.engines.constructors import (
    BOOLEAN,
    boolean_call,
    called,
    compared,
    equal,
    is_known,
    is_nested,
    is_null,
)
from pyspark_substrait.engines.inner_joins import conjunction, disjunction
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions import engines
from pyspark_substrait.model.expressions import (
    Cast,
    Expression,
    FailureBehavior,
    Function,
    IfClause,
    IfThen,
    ScalarFunction,
)
from pyspark_substrait.model.literals import DayTime, Literal
from pyspark_substrait.model.types import (
    I8,
    I16,
    I32,
    I64,
    Date,
    IntervalDay,
    List,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    concrete,
    with_nullability,
)
from pyspark_substrait.model.walk import expressions_within

__all__ = [
    "COMPOSITIONS",
    "Composition",
    "and_not",
    "bits_turned",
    "composed",
    "duration_cast",
    "exclusive_or",
    "greatest",
    "is_finite",
    "is_infinite",
    "is_long",
    "least",
    "moment_text",
    "refuse_long",
    "sorted_list",
    "split_text",
    "with_days",
    "with_durations",
]

#: Makes an expression of other functions from the arguments of a call.
Composition: TypeAlias = Callable[[ScalarFunction, tuple[Expression, ...]], Expression]


def _not(value: Expression) -> Expression:
    return boolean_call(Function(BOOLEAN, "not", "bool"), (value,), value.type.nullable)


def _not_equal(_: ScalarFunction, values: tuple[Expression, ...]) -> Expression:
    return _not(compared("equal", *values))


def _distinct(_: ScalarFunction, values: tuple[Expression, ...]) -> Expression:
    return _not(compared("is_not_distinct_from", *values))


def _between(_: ScalarFunction, values: tuple[Expression, ...]) -> Expression:
    value, low, high = values
    return conjunction([compared("gte", value, low), compared("lte", value, high)])


def _null_if(call: ScalarFunction, values: tuple[Expression, ...]) -> Expression:
    type = with_nullability(call.output_type, True)
    return IfThen(ifs=(IfClause(compared("equal", *values), Literal(type=type, value=None)),), else_=values[0])


def _is_true(_: ScalarFunction, values: tuple[Expression, ...]) -> Expression:
    return conjunction([is_known(values[0]), values[0]])


def _is_false(_: ScalarFunction, values: tuple[Expression, ...]) -> Expression:
    return conjunction([is_known(values[0]), _not(values[0])])


def _is_not_true(call: ScalarFunction, values: tuple[Expression, ...]) -> Expression:
    return _not(_is_true(call, values))


def _is_not_false(call: ScalarFunction, values: tuple[Expression, ...]) -> Expression:
    return _not(_is_false(call, values))


#: By the simple name of the function. Each has the same value for all arguments, nulls included.
COMPOSITIONS: Final[dict[str, Composition]] = {
    "not_equal": _not_equal,
    "is_distinct_from": _distinct,
    "between": _between,
    "nullif": _null_if,
    "is_true": _is_true,
    "is_not_true": _is_not_true,
    "is_false": _is_false,
    "is_not_false": _is_not_false,
}


def and_not(_: ScalarFunction, values: tuple[Expression, ...]) -> Expression:
    """Return the conjunction of one value and the negation of another."""
    return conjunction([values[0], _not(values[1])])


def exclusive_or(call: ScalarFunction, values: tuple[Expression, ...]) -> Expression:
    """Return the bits that are in one of two integers as a difference: DataFusion takes those of x and x for 0, also
    where x is null."""
    if call.function.signature == "dec_dec":
        raise UnsupportedPlanError(f"DataFusion has no form for {call.function.key}")

    def made(name: str, *arguments: Expression) -> ScalarFunction:
        function = Function(call.function.urn, name, call.function.signature)
        return replace(call, function=function, arguments=arguments, options=())

    return made("subtract", made("bitwise_or", *values), made("bitwise_and", *values))


def bits_turned(call: ScalarFunction, values: tuple[Expression, ...]) -> Expression:
    """Return the other bits of an integer: -1 less the integer.

    Raises:
        UnsupportedPlanError: it has no sign.
    """
    if not isinstance(concrete(values[0].type), I8 | I16 | I32 | I64):
        raise UnsupportedPlanError(f"DataFusion has no form for {call.function.key}")
    function = Function(call.function.urn, "subtract", f"{call.function.signature}_{call.function.signature}")
    all_bits = Literal(type=with_nullability(values[0].type, False), value=-1)
    return replace(call, function=function, arguments=(all_bits, values[0]), options=())


def is_finite(call: ScalarFunction, values: tuple[Expression, ...]) -> Expression:
    """Return whether a number is below infinity without its sign; NaN is larger in DataFusion."""
    return compared("lt", *_size_and_infinity(call, values[0]))


def is_infinite(call: ScalarFunction, values: tuple[Expression, ...]) -> Expression:
    """Return whether a number without its sign is infinity."""
    return compared("equal", *_size_and_infinity(call, values[0]))


def _size_and_infinity(call: ScalarFunction, value: Expression) -> tuple[Expression, Expression]:
    function = Function("extension:io.substrait:functions_arithmetic", "abs", call.function.signature)
    return called(function, value.type, value), Literal(type=with_nullability(value.type, False), value=math.inf)


def split_text(call: ScalarFunction, values: tuple[Expression, ...]) -> Expression:
    """Return the parts of a text by DataFusion's function, which gives no parts for an empty text.

    Raises:
        UnsupportedPlanError: the separator isn't a literal: its function splits at none where it is empty, and between
            all characters where it is null.
    """
    text, separator = values
    if not isinstance(separator, Literal) or not separator.value:
        raise UnsupportedPlanError(f"DataFusion has a form for {call.function.key} with a literal separator only")
    function = Function("", "string_to_array", "str_str")
    parts = replace(call, function=function, arguments=(text, separator), options=())
    empty = Literal(type=with_nullability(text.type, False), value="")
    alone = Literal(type=with_nullability(call.output_type, False), value=(empty,))
    return IfThen(ifs=(IfClause(equal(text, empty), alone),), else_=parts)


def _null_if_any(name: str) -> Composition:
    """Return the form of an extreme of values that is null if one of them is, by a function that skips nulls."""

    def made(call: ScalarFunction, values: tuple[Expression, ...]) -> Expression:
        if call.function.urn == engines.DATAFUSION.urn:  # its own of this name
            return call
        if is_nested(call.output_type):
            raise UnsupportedPlanError(f"DataFusion has no form for {call.function.key} of {call.output_type}")
        extreme = replace(call, function=Function("", name, call.function.signature), options=())
        unknown = [is_null(value) for value in values if value.type.nullable]
        if not unknown:
            return extreme
        null = Literal(type=with_nullability(call.output_type, True), value=None)
        return IfThen(ifs=(IfClause(disjunction(unknown), null),), else_=extreme)

    return made


greatest = _null_if_any("greatest")
least = _null_if_any("least")


def sorted_list(call: ScalarFunction, values: tuple[Expression, ...]) -> Expression:
    """Return a sorted list by DataFusion's function.

    Raises:
        UnsupportedPlanError: its elements are structs, lists or maps, in which nulls are larger there than here.
    """
    type = concrete(values[0].type)
    wanted = next((name for option in call.options for name in option.preference), "")
    order, _, nulls = wanted.partition("_")
    if not nulls or not isinstance(type, List) or is_nested(type.type):
        raise UnsupportedPlanError(f"DataFusion has no form for {call.function.key} of {type} in the order {wanted!r}")
    words = [Literal(type=String(), value=word) for word in (order, nulls.replace("_", " "))]
    function = Function(engines.DATAFUSION.urn, "array_sort", "list_str_str")
    return replace(call, function=function, arguments=(values[0], *words), options=())


#: those that have an argument several times
_REPEATING: Final = frozenset(
    {_between, _null_if, _is_true, _is_false, _is_not_true, _is_not_false, exclusive_or, split_text, greatest, least}
)
#: the most expressions in a value that is repeated; 1024 characters of a literal count as one more
_MOST_REPEATED: Final = 1000


def is_long(values: Sequence[Expression]) -> bool:
    """Whether values are too long to be repeated: with each such call around them, they would grow by a factor."""
    size = 0
    for one in expressions_within(values):
        size += 1 + (len(one.value) // 1024 if isinstance(one, Literal) and isinstance(one.value, str | bytes) else 0)
        if size > _MOST_REPEATED:
            return True
    return False


def composed(composition: Composition, call: ScalarFunction, values: tuple[Expression, ...], engine: str) -> Expression:
    """Return a call in terms of other functions.

    Raises:
        UnsupportedPlanError: it would have a long argument several times.
    """
    if composition in _REPEATING:
        refuse_long(call, values, engine)
    return composition(call, values)


def refuse_long(call: ScalarFunction, values: Sequence[Expression], engine: str) -> None:
    """Refuse arguments that are too long to be written several times.

    Raises:
        UnsupportedPlanError: they are.
    """
    if is_long(values):
        raise UnsupportedPlanError(
            f"the form of {call.function.key} in {engine} would have a long argument several times",
            hint="Compute the argument in a projection below this relation",
        )


_DURATIONS: Final = {0: "Second", 3: "Millisecond", 6: "Microsecond", 9: "Nanosecond"}


def duration_cast(value: Expression, type: IntervalDay) -> Expression:
    """Return the cast of a value to a duration by DataFusion's function: a cast to an interval_day makes none there."""
    name = Literal(type=String(), value=f"Duration({_DURATIONS[type.precision]})")
    function = Function(engines.DATAFUSION.urn, "arrow_cast", "any_str")
    return called(function, type, value, name)


def with_durations(node: Expression) -> Expression:
    """Return the cast of a duration to other units as DataFusion's function; any other expression unchanged."""
    match node:
        case Cast(type=IntervalDay() as type, failure_behavior=FailureBehavior.THROW_EXCEPTION):
            if isinstance(node.input.type, IntervalDay) and type.precision in _DURATIONS:
                return duration_cast(node.input, type)
        case _:
            pass
    return node


_STRINGS: Final = "extension:io.substrait:functions_string"


def moment_text(value: Expression) -> Expression | None:
    """Return the text of a time or a timestamp, with as many digits as needed; None for another value.

    DataFusion's own casts write a T between day and time, and three, six or nine digits.
    """
    match concrete(value.type):
        case PrecisionTime():
            form, end = "%H:%M:%S%.9f", ""
        case PrecisionTimestamp():
            form, end = "%Y-%m-%d %H:%M:%S%.9f", ""
        case PrecisionTimestampTZ(precision=precision):
            form, end = "%Y-%m-%d %H:%M:%S%.9f", "+00:00"
            local = PrecisionTimestamp(precision=precision, nullable=value.type.nullable)
            value = Cast(type=local, input=value, failure_behavior=FailureBehavior.THROW_EXCEPTION)
        case _:
            return None
    type = String(nullable=value.type.nullable)

    def called(urn: str, name: str, signature: str, first: Expression, second: str) -> Expression:
        return ScalarFunction(
            function=Function(urn, name, signature),
            arguments=(first, Literal(type=String(), value=second)),
            output_type=type,
            derived_type=type,
        )

    text = called(engines.DATAFUSION.urn, "to_char", "any_str", value, form)
    for needless in ("0", "."):
        text = called(_STRINGS, "rtrim", "str_str", text, needless)
    return called("", "str_concat", "str_str", text, end) if end else text


def with_days(node: Expression, function: Function) -> Expression:
    """Return the date some whole days after another by a function of its own; other expressions as they are."""
    match node:
        case Cast(
            type=Date() as type,
            input=ScalarFunction(
                function=Function(name="add", signature="date_iday"),
                arguments=(start, Literal(value=DayTime(days=days, seconds=0, subseconds=0))),
            ),
        ):
            arguments = (start, Literal(type=I32(), value=days))
            return called(function, type, *arguments)
        case _:
            return node
