"""DataFusion's aggregates: sums, extremes, bits, the values of records in order, and approximations."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from dataclasses import replace

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import FP32, FP64, Decimal, List, Map, Struct, Type, UserDefined, concrete
from pyspark_substrait.sql.compiler.types import field_name, has_map, spark_type
from pyspark_substrait.sql.fragment import Atom, Constant
from pyspark_substrait.sql.functions.arithmetic.float_rounding import let
from pyspark_substrait.sql.functions.common_expressions import as_double
from pyspark_substrait.sql.functions.decimals.digits import WHOLE, as_decimal, decimal_of, shifted
from pyspark_substrait.sql.functions.functions_aggregate_generic import any_known_value
from pyspark_substrait.sql.functions.functions_string import string_agg
from pyspark_substrait.sql.functions.ordering import in_order
from pyspark_substrait.sql.functions.over import SortKey
from pyspark_substrait.sql.functions.table import Call, Foreign, refuse, row

__all__ = ["ROWS", "cut_quotient", "is_float"]


def is_float(type: Type) -> bool:
    return isinstance(concrete(type), FP32 | FP64)


# sums and counts -----------------------------------------------------------------------------------------------------


def cut_quotient(dividend: str, divisor: str, output: Decimal) -> str:
    """Return the quotient of two whole decimals, as the digits of another decimal, truncated.

    Both have 38 digits at most; a result that needs more is an error, in DataFusion as well.
    """
    exact = f"CAST((v.x - v.x % v.y) / v.y AS {WHOLE})"
    return let("v", {"x": dividend, "y": divisor}, as_decimal(exact, output))


def total(call: Call) -> str:
    if isinstance(concrete(call.output), Decimal):
        # Spark's own sum has ten digits more than its argument, too
        return call.aggregate("sum", call.sql(0))
    if isinstance(concrete(call.output), UserDefined):
        digits = call.aggregate("sum", f"CAST({call.sql(0)} AS DECIMAL(20, 0))")
        return Atom(f"CAST({digits} % {1 << 64}BD AS DECIMAL(20, 0))")
    return call.aggregate("sum", as_double(call, 0) if is_float(call.output) else f"CAST({call.sql(0)} AS BIGINT)")


def average(call: Call) -> str:
    if is_float(call.output):
        return call.aggregate("avg", as_double(call, 0))
    x, output, whole = call.sql(0), decimal_of(call.output), Decimal(precision=38, scale=0)
    total, count = call.aggregate("sum", x), call.aggregate("count", x)
    if x.cheap and _is_exact(decimal_of(call.type(0)), output):
        rest = f"{total} % ({count} * {decimal.Decimal(1).scaleb(-output.scale):f}BD)"
        return Atom(f"CAST(({total} - {rest}) / {count} AS {spark_type(output)})")
    return cut_quotient(shifted(total, output.scale, whole), f"CAST(nullif({count}, 0L) AS {WHOLE})", output)


def _is_exact(argument: Decimal, output: Decimal) -> bool:
    """Whether Spark computes a sum without its remainder by the count, both with the digits of the result, exactly."""
    before_the_point = argument.precision + 10 - argument.scale + 1
    of_a_count = 20 + 1
    return output.scale > 0 and max(before_the_point, of_a_count) + max(argument.scale, output.scale) <= 38


def count_together(call: Call) -> str:
    if call.distinct:
        raise UnsupportedPlanError("DataFusion's count of distinct combinations, which it doesn't have itself")
    return call.aggregate("count", *(operand.sql for operand in call.operands))


def approximate_count(call: Call) -> str:
    """Return an estimate by as many registers as DataFusion has, 2**14."""
    if has_map(call.type(0)):
        raise UnsupportedPlanError(f"approx_distinct of {call.type(0)}: Spark can't compare maps")
    return call.aggregate("approx_count_distinct", call.sql(0), "0.01D")


# extremes ------------------------------------------------------------------------------------------------------------


def extreme(name: str) -> Callable[[Call], str]:
    """Return ``min`` or ``max``; nulls in lists and structs are the largest values."""

    def body(call: Call) -> str:
        type, x = concrete(call.type(0)), call.sql(0)
        call = replace(call, distinct=False)
        parts = [type.type] if isinstance(type, List) else list(type.types) if isinstance(type, Struct) else []
        if not parts:
            return call.aggregate(name, x)
        if any(isinstance(concrete(part), List | Struct | Map | UserDefined) for part in parts):
            raise UnsupportedPlanError(f"DataFusion's {name} of {call.type(0)}, which it can't compare itself")
        if isinstance(type, List):
            key = f"transform({x}, e -> struct(e IS NULL, e))"
        else:
            fields = [f"{x}.{field_name(place)}" for place in range(len(parts))]
            key = f"struct({', '.join(f'{field} IS NULL, {field}' for field in fields)})"
            key = f"if({x} IS NULL, NULL, {key})"
        return call.aggregate(f"{name}_by", x, key)

    return body


# values of records in order ------------------------------------------------------------------------------------------


def in_plain_order(call: Call) -> str:
    """An array of a struct with the field ``x`` for each record, in the order of the sorts, nulls included."""
    # an array of a window's records is in the order of the window
    given = replace(call, distinct=False, sorts=() if call.over is not None else call.sorts)
    return in_order(given, Atom(f"struct({call.sql(0)} AS x)"))


def distinct_values(call: Call) -> str:
    """An array of a struct with the field ``x`` for each value, in the order of the sort."""
    x = call.sql(0)
    if has_map(call.type(0)):
        raise UnsupportedPlanError(f"distinct values of {call.type(0)}: Spark can't compare maps")
    if call.sorts and not call.windowed and call.sorts[0].text != x:
        raise UnsupportedPlanError("DataFusion sorts distinct values by themselves only", path="sorts")
    key = call.sorts[0] if call.sorts and not call.windowed else None
    fields = f"{x} AS x" if key is None else f"{_null_mark(key, x)} AS n, {x} AS x"
    values = f"array_distinct({replace(call, distinct=False).aggregate('collect_list', f'struct({fields})')})"
    return values if key is None else f"sort_array({values}, {'false' if key.descending else 'true'})"


def array_agg(call: Call) -> str:
    records = distinct_values(call) if call.distinct else in_plain_order(call)
    count = replace(call, distinct=False).aggregate("count", "1")
    return Atom(f"if({count} = 0L, NULL, transform({records}, e -> e.x))")


def _null_mark(key: SortKey, text: str) -> str:
    """A condition, by which nulls are where the key has them if it is sorted in the key's direction."""
    return f"{text} IS {'NOT NULL' if key.nulls_first is not key.descending else 'NULL'}"


def joined(call: Call) -> str:
    text, separator = call.operands[:2]
    if separator.is_null:
        separator = separator._replace(sql=Constant("''", ""))
    return string_agg(replace(call, operands=(text, separator)))


def at_end(first: bool) -> Callable[[Call], str]:
    """The value of the first or the last record."""

    def body(call: Call) -> str:
        call = replace(call, distinct=False)
        if not call.sorts:
            return call.aggregate("first" if first else "last", call.sql(0))
        descending = call.sorts[0].descending
        if any(key.descending is not descending for key in call.sorts):
            return f"try_element_at({in_plain_order(call)}, {1 if first else -1}).x"
        keys = [text for key in call.sorts for text in (_null_mark(key, f"({key.text})"), key.text)]
        name = "min_by" if first is not descending else "max_by"
        return call.aggregate(name, call.sql(0), f"struct({', '.join(keys)})")

    return body


def nth_value(call: Call) -> str:
    """The value of a record, counted from one, or from the end if the number is negative; null if there is none."""
    position = call.operands[1].literal
    if call.operands[1].is_null:
        return call.aggregate("max", f"CAST(NULL AS {spark_type(call.output)})")
    if not isinstance(position, int) or not 0 < abs(position) < 1 << 31:
        raise UnsupportedPlanError(f"DataFusion's nth_value at {call.sql(1)}", path="arguments[1]")
    return f"try_element_at({in_plain_order(call)}, {position}).x"


ROWS = (
    refuse(
        "grouping", "DataFusion's grouping function is one of several grouping sets, which this aggregate doesn't have"
    ),
    row("sum", total, foreign=Foreign.MOVED),
    row("avg", average, foreign=Foreign.MOVED),
    row("count", count_together, foreign=Foreign.MOVED),
    row("min", extreme("min")),
    row("max", extreme("max")),
    *(row(name, f"[{name}({{x}})]") for name in ("bit_and", "bit_or", "bit_xor")),
    row("array_agg", array_agg, foreign=Foreign.MOVED),
    row("any_value", any_known_value, foreign=Foreign.MOVED),
    row("string_agg", joined),
    row("first_value", at_end(True), foreign=Foreign.MOVED),
    row("last_value", at_end(False), foreign=Foreign.MOVED),
    row("nth_value", nth_value, foreign=Foreign.MOVED),
    row("approx_distinct", approximate_count, foreign=Foreign.COMPARED),
)
