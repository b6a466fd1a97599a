"""DataFusion's functions that differ from the specification's of the same name (``functions_datafusion.yaml``).

Their meaning was determined by running DataFusion 55; ``tests/spark/test_datafusion_functions.py`` compares the two.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from pyspark_substrait.model.types import (
    FP64,
    UNSIGNED_INTEGERS,
    Decimal,
    Type,
    UserDefined,
    concrete,
)
from pyspark_substrait.sql.fragment import Atom, Constant
from pyspark_substrait.sql.functions.arithmetic.float_rounding import let
from pyspark_substrait.sql.functions.common_expressions import (
    as_double,
    constant,
    narrowed,
)
from pyspark_substrait.sql.functions.decimals.digits import decimal_of, shifted
from pyspark_substrait.sql.functions.engines.datafusion import (
    aggregates,
    arrays,
    intervals,
    lists,
    numbers,
    regexps,
    series,
    statistics,
    strings,
    temporal,
    texts,
    time_texts,
)
from pyspark_substrait.sql.functions.engines.datafusion.aggregates import cut_quotient, is_float
from pyspark_substrait.sql.functions.engines.datafusion.calls import as_specified
from pyspark_substrait.sql.functions.table import Call, Foreign, Table, row

__all__ = ["TABLE"]


# comparisons ---------------------------------------------------------------------------------------------------------


def extreme(name: str) -> Callable[[Call], str]:
    """``greatest`` or ``least``, which ignore nulls in Spark, too; for Spark, both zeros are equal."""

    def body(call: Call) -> str:
        operands = [operand.sql for operand in call.operands]
        if len(operands) == 1:
            return operands[0]
        found = f"{name}({', '.join(operands)})"
        if not is_float(call.output):
            return found
        # a sum of zeros is -0.0 if all of them are
        zero, sign = constant(-0.0, call.output), "" if name == "greatest" else "-"
        zeros = [f"if({one} = {constant(0, call.output)}, {sign}{one}, {zero})" for one in operands]
        fields = {"found": found, "zero": f"{sign}({' + '.join(zeros)})"}
        return let("v", fields, f"if(v.found = {constant(0, call.output)}, v.zero, v.found)")

    return body


def nullif(call: Call) -> str:
    x, y = call.sql(0), call.sql(1)
    equal = f"{x} = {y}"
    if is_float(call.type(0)):
        equal += f" AND CAST({x} AS STRING) = CAST({y} AS STRING)"
    return Atom(f"if({equal}, NULL, {x})")


# numbers -------------------------------------------------------------------------------------------------------------


def quotient(x: str, y: str, type: Type) -> str:
    """The quotient of two floating-point numbers by IEEE 754."""
    usual = narrowed(f"{x} / {y}", type)
    if isinstance(y, Constant) and re.search("[1-9]", y):  # neither zero nor null
        return usual
    # by a zero, Spark fails; the power is an infinity of its sign, and null for a null
    return f"CASE WHEN {y} <> {constant(0, type)} THEN {usual} ELSE {narrowed(f'{x} * power({y}, -1.0D)', type)} END"


def divide(call: Call) -> str:
    if is_float(call.output):
        return quotient(call.sql(0), call.sql(1), call.output)
    if isinstance(concrete(call.output), Decimal):
        left, right, output = decimal_of(call.type(0)), decimal_of(call.type(1)), decimal_of(call.output)
        whole = Decimal(precision=38, scale=0)
        dividend = shifted(call.sql(0), output.scale + right.scale, whole)
        assert output.scale >= left.scale
        return cut_quotient(dividend, shifted(call.sql(1), right.scale, whole), output)
    if isinstance(concrete(call.output), UserDefined):
        return as_specified(UNSIGNED_INTEGERS, on_division_by_zero="ERROR")(call)
    return as_specified("functions_arithmetic", overflow="ERROR")(call)


def atan2(call: Call) -> str:
    """Return ``atan2`` with signed zeros: Spark's own treats -0.0 as 0.0."""
    y, x = (as_double(call, position) for position in (0, 1))
    half_turn = f"if(v.x < 0D OR CAST(v.x AS STRING) = '-0.0', {math.pi!r}D, 0D)"
    signed = f"if(CAST(v.y AS STRING) = '-0.0', -{half_turn}, {half_turn})"
    known = "v.y IS NULL OR v.x IS NULL OR v.y <> 0D OR isnan(v.x)"
    return narrowed(let("v", {"y": y, "x": x}, f"if({known}, atan2(v.y, v.x), {signed})"), call.output)


def logarithm(call: Call) -> str:
    """Return a logarithm, to base 10 by default."""
    infinite, nothing = constant(-math.inf, FP64()), constant(math.nan, FP64())

    def natural(position: int) -> str:
        x = as_double(call, position)
        return f"CASE WHEN {x} > 0D THEN ln({x}) WHEN {x} = 0D THEN {infinite} WHEN {x} < 0D THEN {nothing} END"

    base = natural(1) if len(call.operands) > 1 else f"{math.log(10)!r}D"
    found = let("v", {"x": natural(0), "y": base}, quotient("v.x", "v.y", FP64()))
    type = concrete(call.type(0))
    if isinstance(type, Decimal) and type.scale == 0:
        return _exact_logarithm(call, found)
    return narrowed(found, call.output)


def _exact_logarithm(call: Call, found: str) -> str:
    """Return the logarithm of a whole decimal: the power to which it is of a whole base, if it is one."""
    whole = "DECIMAL(38, 0)"
    base = as_double(call, 1) if len(call.operands) > 1 else "10D"
    power = f"aggregate(sequence(1, CAST(rint(v.r) AS INT)), CAST(1BD AS {whole}), (a, i) -> CAST(a * v.b AS {whole}))"
    near = "v.r > 0.5D AND v.r < 127D AND abs(v.r - rint(v.r)) < 1E-9D"
    exact = f"CASE WHEN {near} THEN if({power} = v.x, rint(v.r), v.r) ELSE v.r END"
    whole_base = f"if({base} = rint({base}) AND {base} BETWEEN 2D AND 4294967295D, CAST({base} AS {whole}), NULL)"
    fields = {"r": found, "x": call.sql(0), "b": whole_base}
    return let("v", fields, f"if(v.b IS NULL, v.r, {exact})")


TABLE = Table(
    "extension:pyspark_substrait:functions_datafusion",
    (
        *strings.ROWS,
        *regexps.ROWS,
        *numbers.ROWS,
        row("greatest", extreme("greatest"), foreign=Foreign.ORDERED),
        row("least", extreme("least"), foreign=Foreign.ORDERED),
        row("nullif", nullif, foreign=Foreign.COMPARED),
        row("divide", divide, foreign=Foreign.MOVED),
        row("atan2", atan2),
        row("logb", logarithm),
        # other signatures of the functions behind them
        *intervals.ROWS,
        *aggregates.ROWS,
        *statistics.ROWS,
        *lists.ROWS,
        *arrays.ROWS,
        *series.ROWS,
        # a row of texts and formats is one of these names that has other signatures, too
        *texts.ROWS,
        *time_texts.ROWS,
        *temporal.ROWS,
    ),
)
