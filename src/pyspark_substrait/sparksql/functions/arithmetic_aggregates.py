"""The aggregates of ``functions_arithmetic.yaml``: sums, averages, products, extremes and statistics.

Nulls are left out of all of them. What is computed in several phases has intermediate values of the types that the
extension states, so a partial sum that doesn't fit there is an error, whatever the option ``overflow`` says: a bound
in its place would make the result wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from pyspark_substrait.model.types import FP64, I64, Struct, concrete
from pyspark_substrait.sparksql.compiler.types import INTEGERS, field_name, spark_type
from pyspark_substrait.sparksql.functions.fragments import (
    as_double,
    bound,
    constant,
    infinity,
    largest,
    narrowed,
    raised,
    smallest,
)
from pyspark_substrait.sparksql.functions.quantiles import median_of_floats, median_of_integers, quantile
from pyspark_substrait.sparksql.functions.table import Call, Row, in_steps, row

__all__ = ["ROWS", "counted", "packed", "total_of_counts"]

Text = Callable[[Call], str]

_INTEGER = tuple(type.short_name for type in INTEGERS)
_FLOAT = ("fp32", "fp64")
_NO_ERROR = ("SATURATE", "SILENT")
_EVEN = "TIE_TO_EVEN"
_ROUNDINGS = ("TIE_TO_EVEN", "TIE_AWAY_FROM_ZERO", "TRUNCATE", "CEILING", "FLOOR")

# sums ----------------------------------------------------------------------------------------------------------------


def native_sum(call: Call) -> str:
    return call.aggregate("sum", call.sql(0))


def wide_sum(call: Call, x: str) -> str:
    """A sum of integers that no number of records makes overflow."""
    return call.aggregate("sum", f"CAST({x} AS DECIMAL(20, 0))")


def fitting_sum(call: Call) -> str:
    """A sum that is an error only if it doesn't fit itself, whatever the order of the numbers."""
    return f"CAST({wide_sum(call, call.sql(0))} AS BIGINT)"


def saturating_sum(call: Call) -> str:
    total = wide_sum(call, call.sql(0))
    low, high = smallest(call.output), largest(call.output)
    return f"CASE WHEN {total} > {high} THEN {high} WHEN {total} < {low} THEN {low} ELSE CAST({total} AS BIGINT) END"


def bounded_sum(on_overflow: Text) -> Text:
    """A floating-point sum; ``on_overflow`` stands for an infinite one of finite numbers."""

    def body(call: Call) -> str:
        total, top = native_sum(call), call.aggregate("max", f"abs({call.sql(0)})")
        overflow = f"abs({total}) = {infinity(FP64())} AND {top} < {infinity(call.type(0))}"
        return f"if({overflow}, {on_overflow(call)}, {total})"

    return body


def overflow(call: Call) -> str:
    return raised(call, "overflow")


def largest_float(call: Call) -> str:
    top = sys.float_info.max
    return f"if({native_sum(call)} > 0, {constant(top, call.output)}, {constant(-top, call.output)})"


def or_zero(total: Text) -> Text:
    return lambda call: f"coalesce({total(call)}, {constant(0, call.output)})"


def _sums() -> tuple[Row, ...]:
    raising, bounded = bounded_sum(overflow), bounded_sum(largest_float)
    made: list[Row] = []
    for name, given in (("sum", _same), ("sum0", or_zero)):
        exact, fitting, saturated = given(native_sum), given(fitting_sum), given(saturating_sum)
        made += [
            row(name, exact, signatures=_INTEGER, steps=in_steps(exact), overflow="ERROR"),
            row(
                name,
                saturated,
                signatures=_INTEGER,
                steps=in_steps(fitting, fitting, saturated),
                overflow=_NO_ERROR,
            ),
            row(name, exact, signatures=_FLOAT, steps=in_steps(exact), overflow="SILENT"),
            row(name, given(raising), signatures=_FLOAT, steps=in_steps(given(raising)), overflow="ERROR"),
            row(
                name,
                given(bounded),
                signatures=_FLOAT,
                steps=in_steps(given(raising), given(raising), given(bounded)),
                overflow="SATURATE",
            ),
        ]
    return tuple(made)


def _same(text: Text) -> Text:
    return text


# averages ------------------------------------------------------------------------------------------------------------


def packed(*texts: str) -> str:
    """A struct of these fields, as the intermediate values of aggregates are."""
    fields = [f"'{field_name(position)}', {text}" for position, text in enumerate(texts)]
    return f"named_struct({', '.join(fields)})"


def counted(call: Call) -> str:
    return call.aggregate("count", call.sql(0))


def total_of_counts(call: Call, count: str) -> str:
    return f"coalesce({call.aggregate('sum', count)}, 0L)"


def _total_type(call: Call) -> str:
    """The Spark type of the sum in the intermediate value of an average."""
    packed_type = concrete(call.output)
    assert isinstance(packed_type, Struct)
    return spark_type(packed_type.types[0])


def integer_average(call: Call) -> str:
    x, count = call.sql(0), counted(call)
    if isinstance(concrete(call.output), I64):
        return f"{wide_sum(call, x)} div CAST({count} AS DECIMAL(20, 0))"
    return f"CAST({native_sum(call)} div {count} AS {spark_type(call.output)})"


def partial_average(call: Call) -> str:
    total = fitting_sum(call) if isinstance(concrete(call.type(0)), I64) else native_sum(call)
    return packed(f"coalesce({total}, CAST(0 AS {_total_type(call)}))", counted(call))


def merged_average(call: Call) -> str:
    total, count = f"{call.sql(0)}.f0", f"{call.sql(0)}.f1"
    text = call.aggregate("sum", total)
    if _total_type(call) == "BIGINT":
        text = f"CAST({wide_sum(call, total)} AS BIGINT)"
    return packed(f"coalesce({text}, CAST(0 AS {_total_type(call)}))", total_of_counts(call, count))


def final_integer_average(call: Call) -> str:
    count = f"CAST(nullif({call.aggregate('sum', f'{call.sql(0)}.f1')}, 0L) AS DECIMAL(20, 0))"
    return f"CAST({wide_sum(call, f'{call.sql(0)}.f0')} div {count} AS {spark_type(call.output)})"


def average(call: Call) -> str:
    return narrowed(call.aggregate("avg", call.sql(0)), call.output)


def finite_average(call: Call) -> str:
    """An average that is an error where the sum in it overflows."""
    mean, top = call.aggregate("avg", call.sql(0)), call.aggregate("max", f"abs({call.sql(0)})")
    overflows = f"abs({mean}) = {infinity(FP64())} AND {top} < {infinity(call.type(0))}"
    return f"if({overflows}, {overflow(call)}, {narrowed(mean, call.output)})"


def final_average(call: Call) -> str:
    count = f"CAST(nullif({call.aggregate('sum', f'{call.sql(0)}.f1')}, 0L) AS DOUBLE)"
    return narrowed(f"({call.aggregate('sum', f'{call.sql(0)}.f0')} / {count})", call.output)


# products ------------------------------------------------------------------------------------------------------------

_BEYOND = "9223372036854775808BD"  # the magnitude of the smallest i64


def integer_product(saturate: bool) -> Text:
    """A product of integers, 1 of none.

    It overflows only if it doesn't fit itself: once it is beyond every integer, only a zero brings it back, and the
    sign still counts.
    """

    def body(call: Call) -> str:
        one = "CAST(1 AS DECIMAL(38, 0))"
        factor = "CAST(e AS DECIMAL(19, 0))"
        beyond = "CAST(if(e < 0, negative(p), p) AS DECIMAL(38, 0))"
        step = f"CASE WHEN e = 0 THEN CAST(0 AS DECIMAL(38, 0)) WHEN abs(p) > {_BEYOND} THEN {beyond}"
        step = f"{step} ELSE CAST(p * {factor} AS DECIMAL(38, 0)) END"
        values = call.aggregate("collect_list", call.sql(0))
        total = f"aggregate({values}, {one}, (p, e) -> {step})"
        if not saturate:
            return f"CAST({total} AS {spark_type(call.output)})"
        low, high = smallest(call.output), largest(call.output)
        inside = f"CAST(p AS {spark_type(call.output)})"
        return bound(total, "p", f"CASE WHEN p > {high} THEN {high} WHEN p < {low} THEN {low} ELSE {inside} END")

    return body


def float_product(call: Call) -> str:
    total = f"aggregate({call.aggregate('collect_list', as_double(call, 0))}, 1D, (p, e) -> p * e)"
    return narrowed(total, call.output)


# statistics ----------------------------------------------------------------------------------------------------------


def mode(call: Call) -> str:
    """The most frequent value; the two zeros of floating-point numbers are one."""
    x = call.sql(0)
    if call.distinct:
        return call.aggregate("any_value", x, ignore_nulls=True)
    if call.function.signature in _FLOAT:
        x = f"{x} + {constant(0, call.type(0))}"
    return call.aggregate("mode", x)


def statistic(name: str, *arguments: int) -> Text:
    """An aggregate that Spark computes with DOUBLE numbers, of the arguments at these positions."""

    def body(call: Call) -> str:
        return narrowed(call.aggregate(name, *(as_double(call, position) for position in arguments)), call.output)

    return body


def distributed(name: str, sample: str, population: str) -> tuple[Row, ...]:
    """The rows of a statistic with SAMPLE or POPULATION, as an enumeration argument or as the option it used to be."""
    enumerated = tuple(f"req_{type}" for type in _FLOAT)
    return (
        row(name, statistic(sample, 1), signatures=enumerated, enums={"distribution": "SAMPLE"}, rounding=_EVEN),
        row(
            name, statistic(population, 1), signatures=enumerated, enums={"distribution": "POPULATION"}, rounding=_EVEN
        ),
        row(name, statistic(sample, 0), signatures=_FLOAT, distribution="SAMPLE", rounding=_EVEN),
        row(name, statistic(population, 0), signatures=_FLOAT, distribution="POPULATION", rounding=_EVEN),
    )


_ALL = ("ERROR", "SATURATE", "SILENT")

ROWS: tuple[Row, ...] = (
    *_sums(),
    row(
        "avg",
        integer_average,
        signatures=_INTEGER,
        steps=in_steps(partial_average, merged_average, final_integer_average),
        overflow=_ALL,
    ),
    row(
        "avg",
        average,
        signatures=_FLOAT,
        steps=in_steps(partial_average, merged_average, final_average),
        overflow="SILENT",
    ),
    row("avg", finite_average, signatures=_FLOAT, overflow="ERROR"),
    row("min", "[min({x})]", steps=in_steps("[min({0})]")),
    row("max", "[max({x})]", steps=in_steps("[max({0})]")),
    row(
        "product",
        integer_product(False),
        signatures=_INTEGER,
        steps=in_steps(integer_product(False)),
        overflow="ERROR",
    ),
    row(
        "product",
        integer_product(True),
        signatures=_INTEGER,
        steps=in_steps(integer_product(False), integer_product(False), integer_product(True)),
        overflow=_NO_ERROR,
    ),
    row("product", float_product, signatures=_FLOAT, steps=in_steps(float_product), rounding=_EVEN),
    row("mode", mode),
    row("corr", statistic("corr", 0, 1), rounding=_EVEN),
    *distributed("std_dev", "stddev_samp", "stddev_pop"),
    *distributed("variance", "var_samp", "var_pop"),
    *(
        row(
            "median",
            median_of_integers(rounding),
            signatures=tuple(f"req_{type}" for type in _INTEGER),
            rounding=rounding,
        )
        for rounding in _ROUNDINGS
    ),
    row("median", median_of_floats, signatures=tuple(f"req_{type}" for type in _FLOAT), rounding=_EVEN),
    *(row("quantile", quantile(rounding), rounding=rounding) for rounding in _ROUNDINGS),
)
