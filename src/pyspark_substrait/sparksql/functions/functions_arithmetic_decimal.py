"""Arithmetic of decimals (``functions_arithmetic_decimal.yaml``).

Spark derives the types of ``+ - * %`` as the specification does, and rounds half up where digits don't fit. Quotients
have other types in Spark; operands with more room make it round where the specification does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import Decimal, Struct, Type, concrete
from pyspark_substrait.sparksql.compiler.types import spark_type
from pyspark_substrait.sparksql.functions.arithmetic_aggregates import counted, packed, total_of_counts
from pyspark_substrait.sparksql.functions.fragments import as_double, constant, raised
from pyspark_substrait.sparksql.functions.functions_arithmetic import saturating
from pyspark_substrait.sparksql.functions.table import Call, Table, in_steps, row

__all__ = ["TABLE", "negated"]

_NO_ERROR = ("SATURATE", "SILENT")
_ALL = ("ERROR", "SATURATE", "SILENT")
#: digits beyond which Spark's unary minus and abs round
_EXACT_MINUS = 34


def negated(x: str, type: Type) -> str:
    """The negative of a decimal, in its own type."""
    type = concrete(type)
    assert isinstance(type, Decimal)
    if type.precision <= _EXACT_MINUS:
        return f"negative({x})"
    if type.precision < 38 or type.scale == 0:
        return f"CAST({constant(0, type)} - {x} AS {spark_type(type)})"
    # no decimal operation is exact with 38 digits and some of them behind the point
    digits = f"CAST({x} AS STRING)"
    text = f"if({x} < 0, substring({digits}, 2), concat('-', {digits}))"
    return f"CAST({text} AS {spark_type(type)})"


def negate(call: Call) -> str:
    return negated(call.sql(0), call.type(0))


def absolute(call: Call) -> str:
    x, type = call.sql(0), concrete(call.type(0))
    assert isinstance(type, Decimal)
    return f"abs({x})" if type.precision <= _EXACT_MINUS else f"if({x} < 0, {negated(x, type)}, {x})"


def square_root(call: Call) -> str:
    return f"if({call.sql(0)} < 0, {raised(call, 'the argument is negative')}, sqrt({as_double(call, 0)}))"


def quotient_type(left: Decimal, right: Decimal) -> Decimal:
    """The type that Spark gives a quotient."""
    scale = max(6, left.scale + right.precision + 1)
    whole = left.precision - left.scale + right.scale
    if whole + scale <= 38:
        return Decimal(precision=whole + scale, scale=scale)
    return Decimal(precision=38, scale=max(38 - whole, min(scale, 6)))


def divide(call: Call) -> str:
    """A quotient, rounded once: with a cast to a smaller scale, 0.49 would become 0.5 and then 1.

    Operands of a larger precision make Spark leave more room in front of the point and less behind it.
    """
    left, right, output = (concrete(type) for type in (call.type(0), call.type(1), call.output))
    assert isinstance(left, Decimal) and isinstance(right, Decimal) and isinstance(output, Decimal)
    for more in range(77):
        for more_left in range(max(0, more - (38 - right.precision)), min(more, 38 - left.precision) + 1):
            more_right = more - more_left
            wide_left = replace(left, precision=left.precision + more_left)
            # the same value with more zeros behind the point
            wide_right = replace(right, precision=right.precision + more_right, scale=right.scale + more_right)
            found = quotient_type(wide_left, wide_right)
            if found.scale == output.scale:
                text = f"{widened(call.sql(0), left, wide_left)} / {widened(call.sql(1), right, wide_right)}"
                return text if found.precision == output.precision else f"CAST({text} AS {spark_type(output)})"
    raise UnsupportedPlanError(f"Spark can't round the quotient of {left} and {right} to {output.scale} digits at once")


def widened(x: str, type: Decimal, wider: Decimal) -> str:
    return x if type == wider else f"CAST({x} AS {spark_type(wider)})"


def power(complex_error: bool, overflow_error: bool) -> Callable[[Call], str]:
    def body(call: Call) -> str:
        value = f"pow({as_double(call, 0)}, {as_double(call, 1)})"
        cases = []
        if complex_error:
            cases.append(f"WHEN isnan({value}) THEN {raised(call, 'the result is a complex number')}")
        if overflow_error:
            # the operands are finite, so an infinite result is an overflow, but for zero to a negative power
            infinite = f"abs({value}) = CAST('Infinity' AS DOUBLE)"
            cases.append(f"WHEN {infinite} AND {call.sql(0)} <> 0 THEN {raised(call, 'overflow')}")
        return f"CASE {' '.join(cases)} ELSE {value} END" if cases else value

    return body


def factorial(call: Call) -> str:
    n = call.sql(0)
    values = ", ".join(constant(math.factorial(i), call.output) for i in range(34))
    negative, large = raised(call, "the argument is negative"), raised(call, "overflow")
    value = f"element_at(array({values}), CAST({n} AS INT) + 1)"
    return f"CASE WHEN {n} < 0 THEN {negative} WHEN {n} > 33 THEN {large} ELSE {value} END"


# aggregates ----------------------------------------------------------------------------------------------------------


def total(call: Call) -> str:
    text, type, output = call.aggregate("sum", call.sql(0)), concrete(call.type(0)), concrete(call.output)
    assert isinstance(type, Decimal) and isinstance(output, Decimal)
    # Spark's sum has ten digits more than its argument
    same = min(type.precision + 10, 38) == output.precision and type.scale == output.scale
    return text if same else f"CAST({text} AS {spark_type(output)})"


def total_or_zero(call: Call) -> str:
    return f"coalesce({total(call)}, {constant(0, call.output)})"


def average(call: Call) -> str:
    type = concrete(call.type(0))
    assert isinstance(type, Decimal)
    total, count = call.aggregate("sum", call.sql(0)), counted(call)
    if type.precision <= 16:
        # the quotient has 28 - P digits more, so rounding twice makes no difference below 10**11 values
        return f"CAST({total} / CAST({count} AS DECIMAL(19, 0)) AS {spark_type(call.output)})"
    return quotient_of_total(f"CAST({total} AS {spark_type(call.output)})", count, call.output)


def quotient_of_total(total: str, count: str, output: Type) -> str:
    """A sum of type ``output`` divided by a BIGINT count, rounded to that type; null for the count zero."""
    output = concrete(output)
    assert isinstance(output, Decimal)
    target, scale = spark_type(output), output.scale
    plain = f"CAST({total} / CAST(nullif({count}, 0L) AS DECIMAL(19, 0)) AS {target})"
    if scale >= 6:
        # Spark rounds a quotient of 38 digits to the scale of the sum, and so only once
        return plain
    # it would round to six digits first: a sum of 25 digits leaves room for 13 more, enough for 10**12 values
    limit = f"{10 ** (25 - scale)}BD"
    exact = f"CAST({total} AS DECIMAL(25, {scale})) / CAST({count} AS DECIMAL(12, 0))"
    small = f"abs({total}) < {limit} AND {count} BETWEEN 1L AND {10**12 - 1}L"
    return f"if({small}, CAST({exact} AS {target}), {plain})"


def partial_average(call: Call) -> str:
    return packed(total_as(call, call.sql(0)), counted(call))


def merged_average(call: Call) -> str:
    return packed(total_as(call, f"{call.sql(0)}.f0"), total_of_counts(call, f"{call.sql(0)}.f1"))


def total_as(call: Call, x: str) -> str:
    """The sum in the intermediate value of an average."""
    intermediate = concrete(call.output)
    assert isinstance(intermediate, Struct)
    target = spark_type(intermediate.types[0])
    return f"coalesce(CAST({call.aggregate('sum', x)} AS {target}), CAST(0 AS {target}))"


def final_average(call: Call) -> str:
    total, count = (call.aggregate("sum", f"{call.sql(0)}.f{position}") for position in (0, 1))
    return quotient_of_total(total, count, call.output)


def sum_of_few_digits(total: Callable[[Call], str]) -> Callable[[Call], str]:
    """A sum that has room for 10**10 values of any size, and so needs no bound."""

    def body(call: Call) -> str:
        type = concrete(call.type(0))
        assert isinstance(type, Decimal)
        if type.precision > 28:
            raise UnsupportedPlanError(f"a sum of {type} can't be bounded on Spark: its overflow is an error")
        return total(call)

    return body


TABLE = Table(
    "extension:io.substrait:functions_arithmetic_decimal",
    (
        row("add", "{x} + {y}", overflow="ERROR"),
        row("add", saturating("try_add", "{x} > 0"), overflow=_NO_ERROR),
        row("subtract", "{x} - {y}", overflow="ERROR"),
        row("subtract", saturating("try_subtract", "{x} >= 0"), overflow=_NO_ERROR),
        row("multiply", "{x} * {y}", overflow="ERROR"),
        row("multiply", saturating("try_multiply", "({x} < 0) = ({y} < 0)"), overflow=_NO_ERROR),
        row("divide", divide, overflow="ERROR"),
        row("modulus", "{x} % {y}", overflow=_ALL),  # no remainder overflows
        row("negate", negate),
        row("abs", absolute),
        row("sqrt", square_root),
        row("factorial", factorial),
        row("power", power(False, False), complex_number_result="NAN", overflow="SILENT"),
        row("power", power(True, False), complex_number_result="ERROR", overflow="SILENT"),
        row("power", power(False, True), complex_number_result="NAN", overflow="ERROR"),
        row("power", power(True, True), complex_number_result="ERROR", overflow="ERROR"),
        row("sum", total, steps=in_steps(total), overflow="ERROR"),
        row("sum", sum_of_few_digits(total), overflow=_NO_ERROR),
        row("sum0", total_or_zero, steps=in_steps(total_or_zero), overflow="ERROR"),
        row("sum0", sum_of_few_digits(total_or_zero), overflow=_NO_ERROR),
        # an average is never larger than its largest argument
        row("avg", average, steps=in_steps(partial_average, merged_average, final_average), overflow=_ALL),
        row("min", "[min({x})]", steps=in_steps("[min({0})]")),
        row("max", "[max({x})]", steps=in_steps("[max({0})]")),
    ),
)
