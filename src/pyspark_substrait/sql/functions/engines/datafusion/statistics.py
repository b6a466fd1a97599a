"""DataFusion's statistics: deviations, regressions, medians and percentiles.

DataFusion puts floating-point numbers in the total order of IEEE 754, in which -0.0 is before 0.0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import FP64, Decimal, Type, concrete
from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.common_expressions import any_null, as_double, bound, constant
from pyspark_substrait.sql.functions.decimals.digits import decimal_of, shifted
from pyspark_substrait.sql.functions.engines.datafusion.aggregates import is_float
from pyspark_substrait.sql.functions.table import Call, row

__all__ = ["ROWS"]


def deviation(name: str) -> Callable[[Call], str]:
    return lambda call: _of_finite(call, call.aggregate(name, as_double(call, 0)), (0,))


def of_pairs(name: str, *finite: int) -> Callable[[Call], str]:
    """An aggregate of pairs of numbers, neither of which is null; NaN unless the numbers at these positions are finite.

    With infinite numbers, neither Spark nor DataFusion gives the same result in all orders of the records.
    """

    def body(call: Call) -> str:
        if call.distinct:
            raise UnsupportedPlanError(f"DataFusion's {call.function.name} of different pairs")
        found = call.aggregate(name, as_double(call, 0), as_double(call, 1))
        return _of_finite(call, found, finite)

    return body


def _of_finite(call: Call, found: str, positions: Sequence[int]) -> str:
    floats = [f"abs({call.sql(place)})" for place in positions if is_float(call.type(place))]
    if not floats:
        return found
    sizes = floats[0] if len(floats) == 1 else f"greatest({', '.join(floats)})"
    if len(call.operands) > 1:
        sizes = f"if({any_null(call.sql(0), call.sql(1))}, NULL, {sizes})"
    largest, infinite = call.aggregate("max", sizes), constant(math.inf, FP64())
    return Atom(f"if({largest} < {infinite} OR {found} IS NULL, {found}, {constant(math.nan, FP64())})")


def correlation(call: Call) -> str:
    x, y = as_double(call, 0), as_double(call, 1)
    fixed = [f"{call.aggregate('var_pop', f'if({b} IS NULL, NULL, {a})')} = 0D" for a, b in ((x, y), (y, x))]
    return Atom(f"if({' OR '.join(fixed)}, NULL, {of_pairs('corr')(call)})")


def of_a_line(name: str) -> Callable[[Call], str]:
    """An aggregate of at least two pairs."""
    of_any, count = of_pairs(name, 0, 1), of_pairs("regr_count")
    return lambda call: Atom(f"if({count(call)} < 2L, NULL, {of_any(call)})")


def determination(call: Call) -> str:
    """Return the square of the correlation; for Spark, a constant is determined by anything."""
    return Atom(f"if({of_pairs('regr_syy')(call)} = 0D, NULL, {of_a_line('regr_r2')(call)})")


#: that of decimals whose sums have 38 digits with one more
_MOST_DIGITS = 36
_WHOLE = Decimal(precision=38, scale=0)

# medians and percentiles ---------------------------------------------------------------------------------------------


def value_at(place: str, type: Type) -> str:
    """The value at a position of the sorted array ``a``; null if there is none."""
    found = f"get(a, {place})"
    if isinstance(concrete(type), Decimal):
        return found
    # for Spark, both zeros are equal
    negative = "size(filter(a, e -> startswith(CAST(e AS STRING), '-')))"
    zero = f"if({place} < {negative}, -abs({found}), abs({found}))"
    return f"if({found} = {constant(0, type)}, {zero}, {found})"


def median(call: Call) -> str:
    type = call.output
    if isinstance(concrete(type), Decimal):
        text = _middle_of_decimals(decimal_of(type))
    else:
        lower, upper = (value_at(place, type) for place in ("size(a) div 2 - 1", "size(a) div 2"))
        mean = f"({lower} + {upper}) / 2"
        text = f"if(size(a) % 2 = 1, {upper}, {mean if isinstance(concrete(type), FP64) else _cast(mean, type)})"
    return bound(_sorted(call), "a", text)


def _middle_of_decimals(type: Decimal) -> str:
    """Return half of the sum of the digits, cut off: five times the even part, with one digit more."""
    if type.precision > _MOST_DIGITS:
        raise UnsupportedPlanError(f"DataFusion's median of decimals with more than {_MOST_DIGITS} digits")
    places = ("(size(a) - 1) div 2", "size(a) div 2")
    lower, upper = (shifted(value_at(place, type), type.scale, _WHOLE) for place in places)
    return bound(f"{lower} + {upper}", "s", shifted("((s - s % 2) * 5)", -type.scale - 1, type))


def percentile(call: Call) -> str:
    """Return the value at a part of the way through the ordered values.

    Between two of them, the part of the distance is cut to six digits.
    """
    type = call.output
    part = as_double(call, 1)
    if call.sorts and not call.windowed and call.sorts[0].descending:
        part = f"(1D - {part})"
    lower, upper = (value_at(f"CAST({name}(i) AS INT)", type) for name in ("floor", "ceil"))
    step = f"(u - l) * {_cast('floor((i - floor(i)) * 1000000D)', type)}"
    between = _cast(f"l + {_cast(f'{step} / {constant(1e6, type)}', type)}", type)
    interpolated = bound(lower, "l", bound(upper, "u", between))
    text = f"if(floor(i) = ceil(i), {lower}, {interpolated})"
    return bound(_sorted(call), "a", bound(f"{part} * (size(a) - 1)", "i", text))


def _sorted(call: Call) -> str:
    given = call.sql(0) if isinstance(concrete(call.output), Decimal) else _cast(call.sql(0), call.output)
    return f"sort_array({replace(call, sorts=()).aggregate('collect_list', given)})"


def _cast(text: str, type: Type) -> str:
    return Atom(f"CAST({text} AS {spark_type(type)})")


ROWS = (
    row("corr", correlation),
    row("stddev", deviation("stddev_samp")),
    row("stddev_pop", deviation("stddev_pop")),
    row("var", deviation("var_samp")),
    row("var_pop", deviation("var_pop")),
    row("covar_samp", of_pairs("covar_samp", 0, 1)),
    row("covar_pop", of_pairs("covar_pop", 0, 1)),
    row("regr_count", of_pairs("regr_count")),
    row("regr_avgx", of_pairs("regr_avgx")),
    row("regr_avgy", of_pairs("regr_avgy")),
    row("regr_sxx", of_pairs("regr_sxx", 1)),
    row("regr_syy", of_pairs("regr_syy", 0)),
    row("regr_sxy", of_pairs("regr_sxy", 0, 1)),
    row("regr_slope", of_a_line("regr_slope")),
    row("regr_intercept", of_a_line("regr_intercept")),
    row("regr_r2", determination),
    row("median", median),
    row("approx_median", median),
    row("percentile_cont", percentile),
    row("approx_percentile_cont", percentile),
)
