"""The aggregates of ``functions_arithmetic.yaml``: sums, averages, products, extremes and statistics.

All of them ignore nulls. Aggregates in several phases have intermediate values of the types that the extension states,
so a partial sum that doesn't fit is an error, whatever the option ``overflow`` says: a bound in its place would make
the result wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from pyspark_substrait.model.types import FP64, I64, Struct, concrete
from pyspark_substrait.sql.compiler.types import INTEGERS, field_name, spark_type
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.arithmetic.float_rounding import (
    DIRECTED,
    EVEN,
    ROUNDINGS,
    rounded_product,
    rounded_to_float,
)
from pyspark_substrait.sql.functions.arithmetic.quantiles import (
    NEAREST,
    median_of_floats,
    median_of_integers,
    plain_median,
    quantile,
)
from pyspark_substrait.sql.functions.catalyst import ansi
from pyspark_substrait.sql.functions.common_expressions import (
    LAMBDAS_SINCE,
    as_double,
    bound,
    constant,
    infinity,
    largest,
    narrowed,
    raised,
    smallest,
)
from pyspark_substrait.sql.functions.table import Call, Foreign, Row, in_steps, refuse, row
from pyspark_substrait.sql.spark_version import parsed_version

__all__ = ["ROWS", "counted", "float_product", "packed", "total_of_counts"]

Text = Callable[[Call], str]

_INTEGER = tuple(type.short_name for type in INTEGERS)
_FLOAT = ("fp32", "fp64")
_NO_ERROR = ("SATURATE", "SILENT")
_ALL = ("ERROR", *_NO_ERROR)
_UNSTATED: tuple[str, ...] = ()
_PRECISE_FLOAT = tuple(f"req_{type}" for type in _FLOAT)
_PRECISE_INTEGER = tuple(f"req_{type}" for type in _INTEGER)

# sums ----------------------------------------------------------------------------------------------------------------


def native_sum(call: Call) -> str:
    return call.aggregate("sum", call.sql(0))


def wide_sum(call: Call, x: str) -> str:
    """Return a sum of integers that can't overflow for any number of records."""
    return call.aggregate("sum", f"CAST({x} AS DECIMAL(20, 0))")


def halves(call: Call) -> tuple[str, str]:
    """Return the upper and the lower 32 bits of a sum of BIGINTs, which may exceed a BIGINT.

    The sums of the halves are far from overflow for 2**31 records and fast: a sum of decimals takes several times as
    long.
    """
    x = call.sql(0)
    upper, lower = call.aggregate("sum", f"shiftright({x}, 32)"), call.aggregate("sum", f"({x} & 4294967295L)")
    return f"({upper} + shiftright({lower}, 32))", f"({lower} & 4294967295L)"


def fitting_sum(call: Call) -> str:
    """A sum that is an error only if it doesn't fit itself, whatever the order of the numbers."""
    if not isinstance(concrete(call.type(0)), I64):  # 2**32 records don't make it overflow
        return native_sum(call)
    if call.distinct:  # different numbers may share a half
        return Atom(f"CAST({wide_sum(call, call.sql(0))} AS BIGINT)")
    upper, lower = halves(call)
    return f"{upper} * 4294967296L + {lower}"


def saturating_sum(call: Call) -> str:
    if not isinstance(concrete(call.type(0)), I64):
        return native_sum(call)
    low, high = smallest(call.output), largest(call.output)
    if call.distinct:
        total = wide_sum(call, call.sql(0))
        above, below = f"{total} > {high}", f"{total} < {low}"
    else:
        upper, _ = halves(call)
        above, below = f"{upper} > 2147483647L", f"{upper} < -2147483648L"
    return f"CASE WHEN {above} THEN {high} WHEN {below} THEN {low} ELSE {fitting_sum(call)} END"


_SMALLER, _LARGER = f"{2.0**-64!r}D", f"{2.0**64!r}D"


def scaled_sum(call: Call, x: str) -> str:
    """Return a sum of DOUBLEs without overflow in partial sums."""
    return Atom(f"({call.aggregate('sum', f'{x} * {_SMALLER}')} * {_LARGER})")


def overflowed(call: Call, total: str, x: str) -> str:
    """Return the condition that a sum of finite DOUBLEs is infinite, or NaN because two partial sums are."""
    return f"NOT (abs({total}) < {infinity(FP64())}) AND {call.aggregate('max', f'abs({x})')} < {infinity(FP64())}"


def bounded_sum(call: Call, x: str, saturate: bool) -> str:
    """Return a sum of DOUBLEs that is an error or the largest number only if the sum itself overflows."""
    total, again = call.aggregate("sum", x), scaled_sum(call, x)
    limit = raised(replace(call, output=FP64()), "overflow")
    if saturate:
        limit = f"if({again} > 0D, {constant(sys.float_info.max, FP64())}, {constant(-sys.float_info.max, FP64())})"
    within = f"if(abs({again}) < {infinity(FP64())}, {again}, {limit})"
    return Atom(f"if({overflowed(call, total, x)}, {within}, {total})")


def or_zero(total: Text) -> Text:
    return lambda call: Atom(f"coalesce({total(call)}, {constant(0, call.output)})")


def _sums() -> tuple[Row, ...]:
    made: list[Row] = []
    for name, given in (("sum", _same), ("sum0", or_zero)):
        plain, fitting, saturated = given(native_sum), given(fitting_sum), given(saturating_sum)
        raising, bounded = (given(_bounded(saturate)) for saturate in (False, True))
        made += [
            row(name, plain, signatures=_INTEGER, steps=in_steps(plain), overflow=_UNSTATED),
            row(
                name,
                fitting,
                signatures=_INTEGER,
                steps=in_steps(fitting),
                overflow="ERROR",
                catalyst=ansi("Sum") if name == "sum" else (),
            ),
            row(
                name,
                saturated,
                signatures=_INTEGER,
                steps=in_steps(fitting, fitting, saturated),
                overflow=_NO_ERROR,
            ),
            row(
                name,
                plain,
                signatures=_FLOAT,
                steps=in_steps(plain),
                overflow=_UNSTATED,
                catalyst="Sum" if name == "sum" else (),
            ),
            # the sum of FLOATs is a DOUBLE
            row(name, plain, signatures=("fp32",), steps=in_steps(plain), overflow=_ALL),
            row(name, plain, signatures=("fp64",), steps=in_steps(plain), overflow="SILENT"),
            row(name, raising, signatures=("fp64",), steps=in_steps(raising), overflow="ERROR"),
            row(
                name,
                bounded,
                signatures=("fp64",),
                steps=in_steps(raising, raising, bounded),
                overflow="SATURATE",
            ),
        ]
    return tuple(made)


def _same(text: Text) -> Text:
    return text


def _bounded(saturate: bool) -> Text:
    return lambda call: bounded_sum(call, call.sql(0), saturate)


# averages ------------------------------------------------------------------------------------------------------------


def packed(*texts: str) -> str:
    """Return a struct of these fields, like the intermediate values of aggregates."""
    fields = [f"'{field_name(position)}', {text}" for position, text in enumerate(texts)]
    return Atom(f"named_struct({', '.join(fields)})")


def counted(call: Call) -> str:
    return call.aggregate("count", call.sql(0))


def total_of_counts(call: Call, count: str) -> str:
    return Atom(f"coalesce({call.aggregate('sum', count)}, 0L)")


def _total_type(call: Call) -> str:
    """The Spark type of the sum in the intermediate value of an average."""
    packed_type = concrete(call.output)
    assert isinstance(packed_type, Struct)
    return spark_type(packed_type.types[0])


def integer_average(call: Call) -> str:
    x, count = call.sql(0), counted(call)
    if isinstance(concrete(call.output), I64):
        return f"{wide_sum(call, x)} div CAST({count} AS DECIMAL(20, 0))"
    return Atom(f"CAST({native_sum(call)} div {count} AS {spark_type(call.output)})")


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
    return Atom(f"CAST({wide_sum(call, f'{call.sql(0)}.f0')} div {count} AS {spark_type(call.output)})")


def average(call: Call) -> str:
    return narrowed(call.aggregate("avg", call.sql(0)), call.output)


def fitting_average(call: Call) -> str:
    """Return an average of DOUBLEs whose sum may overflow; the average itself can't, so no option for that applies."""
    x = call.sql(0)
    mean, again = call.aggregate("avg", x), f"{call.aggregate('avg', f'{x} * {_SMALLER}')} * {_LARGER}"
    return Atom(f"if({overflowed(call, mean, x)}, {_no_larger(call, again, x)}, {mean})")


def _no_larger(call: Call, mean: str, x: str) -> str:
    """Return an average, limited to the largest of the numbers in spite of rounding."""
    top = call.aggregate("max", f"abs({x})")
    return Atom(f"greatest(least({mean}, {top}), negative({top}))")


def partial_fitting_average(call: Call) -> str:
    return packed(f"coalesce({bounded_sum(call, call.sql(0), False)}, 0D)", counted(call))


def merged_fitting_average(call: Call) -> str:
    total, count = f"{call.sql(0)}.f0", f"{call.sql(0)}.f1"
    return packed(f"coalesce({bounded_sum(call, total, False)}, 0D)", total_of_counts(call, count))


def final_average(call: Call) -> str:
    return narrowed(f"({call.aggregate('sum', f'{call.sql(0)}.f0')} / {_count(call)})", call.output)


def final_fitting_average(call: Call) -> str:
    part = f"{call.sql(0)}.f0"
    total, again = call.aggregate("sum", part), call.aggregate("sum", f"{part} * {_SMALLER}")
    return Atom(f"if({overflowed(call, total, part)}, {again} / {_count(call)} * {_LARGER}, {total} / {_count(call)})")


def _count(call: Call) -> str:
    """The number of records in intermediate values, null instead of 0."""
    return Atom(f"CAST(nullif({call.aggregate('sum', f'{call.sql(0)}.f1')}, 0L) AS DOUBLE)")


# products ------------------------------------------------------------------------------------------------------------

_BEYOND = "9223372036854775808BD"  # the magnitude of the smallest i64


def integer_product(saturate: bool) -> Text:
    """Return a product of integers; 1 if there are none.

    It overflows only if it doesn't fit itself: once it exceeds every integer, only a zero brings it back, and the sign
    still matters.
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
            return Atom(f"CAST({total} AS {spark_type(call.output)})")
        low, high = smallest(call.output), largest(call.output)
        inside = f"CAST(p AS {spark_type(call.output)})"
        return bound(total, "p", f"CASE WHEN p > {high} THEN {high} WHEN p < {low} THEN {low} ELSE {inside} END")

    return body


def float_product(call: Call) -> str:
    """Return a product of floating-point numbers, 1 if there are none; each multiplication is rounded as stated."""
    rounding = call.options.get("rounding", EVEN)
    values, step = call.aggregate("collect_list", as_double(call, 0)), rounded_product("p", "e", FP64(), rounding)
    total = Atom(f"aggregate({values}, 1D, (p, e) -> {step})")
    return total if isinstance(concrete(call.output), FP64) else rounded_to_float(total, rounding)


# statistics ----------------------------------------------------------------------------------------------------------


def mode(call: Call) -> str:
    """Return the most frequent value; the two zeros of floating-point numbers count as one."""
    x = call.sql(0)
    if call.distinct:
        return call.aggregate("any_value", x, ignore_nulls=True)
    return call.aggregate("mode", f"{x} + {constant(0, call.type(0))}" if call.function.signature in _FLOAT else x)


def statistic(name: str, *arguments: int) -> Text:
    """An aggregate that Spark computes with DOUBLE numbers, of the arguments at these positions."""

    def body(call: Call) -> str:
        return narrowed(call.aggregate(name, *(as_double(call, position) for position in arguments)), call.output)

    return body


_TO_ONE_SIDE: Final = tuple(rounding for rounding in ROUNDINGS if rounding not in NEAREST)
#: the first version of Spark whose `corr` is null, and no error, where all values of one argument are equal
_CORR_SINCE: Final = "4.3"


def correlation_of_sums(call: Call) -> str:
    """The correlation by its definition, which is null where the values of an argument don't vary."""
    if call.distinct:
        call.require_spark(parsed_version(_CORR_SINCE), "its sums of squares merge equal numbers, not equal pairs")
    x, y = as_double(call, 0), as_double(call, 1)
    both, of_x, of_y = (call.aggregate(f"regr_{name}", y, x) for name in ("sxy", "sxx", "syy"))
    return narrowed(f"{both} / nullif(sqrt({of_x} * {of_y}), 0D)", call.output)


def distributed(name: str, sample: str, population: str, sample_class: str, class_: str) -> tuple[Row, ...]:
    """Return the rows of a statistic with SAMPLE or POPULATION, as an enumeration argument or as the former option."""
    enumerated = tuple(f"req_{type}" for type in _FLOAT)
    return (
        *(
            row(
                name,
                statistic(given, 1),
                signatures=enumerated,
                enums={"distribution": which},
                rounding=rounding,
                catalyst=() if rounding else form,
            )
            for rounding in (_UNSTATED, (EVEN,))
            for which, given, form in (("SAMPLE", sample, sample_class), ("POPULATION", population, class_))
        ),
        *(
            row(name, statistic(given, 0), signatures=_FLOAT, distribution=which, rounding=EVEN)
            for which, given in (("SAMPLE", sample), ("POPULATION", population))
        ),
        refuse(name, _STEPS, signatures=enumerated, rounding=DIRECTED),
        refuse(name, _STEPS, signatures=_FLOAT, rounding=DIRECTED, distribution=("SAMPLE", "POPULATION")),
    )


_STEPS = (
    "it takes many steps over all records, each of which Spark rounds to the nearest number, "
    "and what they leave over is lost, so the result cannot be rounded in a direction"
)

ROWS: tuple[Row, ...] = (
    *_sums(),
    row(
        "avg",
        integer_average,
        signatures=_INTEGER,
        steps=in_steps(partial_average, merged_average, final_integer_average),
        overflow=_ALL,
    ),
    *(
        row(
            "avg",
            average,
            signatures=(type,),
            steps=in_steps(partial_average, merged_average, final_average),
            overflow=options,
        )
        for type, options in (("fp32", _ALL), ("fp64", ("SILENT",)))
    ),
    row(
        "avg",
        fitting_average,
        signatures=("fp64",),
        steps=in_steps(partial_fitting_average, merged_fitting_average, final_fitting_average),
        overflow=("ERROR", "SATURATE"),
    ),
    row("min", "[min({x})]", steps=in_steps("[min({0})]"), catalyst="Min"),
    row("max", "[max({x})]", steps=in_steps("[max({0})]"), catalyst="Max"),
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
    row("product", float_product, signatures=_FLOAT, steps=in_steps(float_product), rounding=ROUNDINGS),
    row("mode", mode),
    row(
        "corr",
        statistic("corr", 0, 1),
        rounding=_UNSTATED,
        catalyst="Corr",
        since=_CORR_SINCE,
        before=correlation_of_sums,
    ),
    row("corr", statistic("corr", 0, 1), rounding=EVEN, since=_CORR_SINCE, before=correlation_of_sums),
    refuse("corr", _STEPS, rounding=DIRECTED),
    *distributed("std_dev", "stddev_samp", "stddev_pop", "StddevSamp", "StddevPop"),
    *distributed("variance", "var_samp", "var_pop", "VarianceSamp", "VariancePop"),
    row("median", median_of_integers, signatures=_PRECISE_INTEGER, rounding=ROUNDINGS),
    row("median", plain_median, signatures=_PRECISE_FLOAT, rounding=_UNSTATED),
    row("median", median_of_floats, signatures=_PRECISE_FLOAT, rounding=NEAREST, since=LAMBDAS_SINCE),
    row("median", median_of_floats, signatures=_PRECISE_FLOAT, rounding=_TO_ONE_SIDE),
    row("quantile", quantile, rounding=ROUNDINGS, foreign=Foreign.MOVED),
)
