"""Aggregate functions that only Spark has (``functions_spark_aggregate.yaml``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.builtins_since import builtin_since
from pyspark_substrait.sql.functions.catalyst import CatalystForms, try_
from pyspark_substrait.sql.functions.ordering import in_order
from pyspark_substrait.sql.functions.table import Call, Table, row

__all__ = ["TABLE"]

_KINDS: Final = ("bigint", "float", "double")

#: functions that Spark has under the same name, with the same arguments, and that ignore nulls
_SAME: Final[Mapping[str, CatalystForms]] = {
    "collect_list": (),
    "collect_set": (),
    "collect_union": (),
    "mode": (),
    "bit_and": "BitAndAgg",
    "bit_or": "BitOrAgg",
    "bit_xor": "BitXorAgg",
    "try_sum": try_("Sum"),
    "try_avg": try_("Average"),
    "kurtosis": "Kurtosis",
    "skewness": "Skewness",
    "covar_pop": "CovPopulation",
    "covar_samp": "CovSample",
    "regr_count": (),
    "regr_avgx": (),
    "regr_avgy": (),
    "regr_slope": "RegrSlope",
    "regr_intercept": "RegrIntercept",
    "regr_r2": "RegrR2",
    "regr_sxx": "RegrSXX",
    "regr_sxy": "RegrSXY",
    "regr_syy": "RegrSYY",
    "percentile": (),
    "median": "Median",
    "percentile_approx": (),
    "approx_count_distinct": (),
    "count_min_sketch": "CountMinSketchAgg",
    "bitmap_construct_agg": "BitmapConstructAgg",
    "bitmap_or_agg": "BitmapOrAgg",
    "bitmap_and_agg": "BitmapAndAgg",
    "hll_sketch_agg": "HllSketchAgg",
    "hll_union_agg": "HllUnionAgg",
    "theta_sketch_agg": "ThetaSketchAgg",
    "theta_union_agg": "ThetaUnionAgg",
    "theta_intersection_agg": "ThetaIntersectionAgg",
    **{f"kll_sketch_agg_{kind}": f"KllSketchAgg{kind.capitalize()}" for kind in _KINDS},
    **{f"kll_merge_agg_{kind}": f"KllMergeAgg{kind.capitalize()}" for kind in _KINDS},
    **{
        f"tuple_{what}_agg_{kind}": f"Tuple{what.capitalize()}Agg{kind.capitalize()}"
        for what in ("sketch", "union", "intersection")
        for kind in ("double", "integer")
    },
    "vector_avg": "VectorAvg",
    "vector_sum": "VectorSum",
}


def _same(name: str) -> Callable[[Call], str]:
    """Return the call of Spark's function of that name with the arguments unchanged."""
    return lambda call: call.aggregate(name, *(operand.sql for operand in call.operands))


def _cast(name: str) -> Callable[[Call], str]:
    """Return :func:`_same` for a function whose result has named struct fields."""
    return lambda call: Atom(f"CAST({_same(name)(call)} AS {spark_type(call.output)})")


def _noticing(name: str, nulls: str = "") -> Callable[[Call], str]:
    """Return :func:`_same` for a function that takes nulls into account, so a null must not drop a record."""

    def body(call: Call) -> str:
        if call.filter is not None and call.over is not None:
            raise UnsupportedPlanError(f"{call.function.key} has no FILTER over a window in Spark")
        text = _same(name)(replace(call, over=None))
        if nulls:
            text = f"{text}{nulls}"
        return text if call.over is None else f"{text} OVER ({call.over.framed})"

    return body


def _within(name: str, order: str, *, value: int = 0) -> Callable[[Call], str]:
    """Return the call of a function that receives its values in an order; ``value`` is the position of the values."""

    def body(call: Call) -> str:
        arguments = ", ".join(operand.sql for number, operand in enumerate(call.operands) if number != value)
        distinct = "DISTINCT " if call.distinct and arguments else ""
        if call.distinct and not distinct:
            raise UnsupportedPlanError(f"{call.function.key} has no DISTINCT in Spark")
        ordered: str = call.sql(value)
        if call.filter is not None and call.over is not None:
            ordered = f"CASE WHEN {call.filter} THEN {ordered} END"
        text = f"{name}({distinct}{arguments}) WITHIN GROUP (ORDER BY {ordered} {order})"
        if call.filter is not None and call.over is None:
            text += f" FILTER (WHERE {call.filter})"
        return text if call.over is None else f"{text} OVER ({call.over.framed})"

    return body


def _joined(call: Call) -> str:
    """Join binary values with a delimiter: Spark's ``listagg`` orders records by single keys only."""
    values, delimiter = in_order(call, call.sql(0)), call.sql(1)
    count = replace(call, distinct=False).aggregate("count", call.sql(0))
    pieces = f"aggregate(slice({values}, 2, {count}), {values}[0], (a, x) -> concat(a, {delimiter}, x))"
    return Atom(f"if({count} = 0L, NULL, {pieces})")


TABLE = Table(
    "extension:pyspark_substrait:functions_spark_aggregate",
    (
        row("mode", _within("mode", "ASC"), of_several="LOWEST", since="4.0"),
        row("mode", _within("mode", "DESC"), of_several="HIGHEST", since="4.0"),
        *(row(name, _same(name), catalyst=forms, since=builtin_since(name)) for name, forms in _SAME.items()),
        row("collect_list_with_nulls", _noticing("collect_list", " RESPECT NULLS")),
        row("collect_set_with_nulls", _noticing("collect_set", " RESPECT NULLS")),
        row("first", _noticing("first"), nulls="RESPECT"),
        row("first", _noticing("first", " IGNORE NULLS"), nulls="IGNORE"),
        row("last", _noticing("last"), nulls="RESPECT"),
        row("last", _noticing("last", " IGNORE NULLS"), nulls="IGNORE"),
        row("max_by", _noticing("max_by"), catalyst=("MaxBy",)),
        row("min_by", _noticing("min_by"), catalyst=("MinBy",)),
        row("percentile_cont", _within("percentile_cont", "ASC"), order="ASC"),
        row("percentile_cont", _within("percentile_cont", "DESC"), order="DESC"),
        row("percentile_disc", _within("percentile_disc", "ASC"), order="ASC"),
        row("percentile_disc", _within("percentile_disc", "DESC"), order="DESC"),
        row("histogram_numeric", _cast("histogram_numeric"), catalyst="HistogramNumeric"),
        row("approx_top_k", _cast("approx_top_k"), catalyst="ApproxTopK", since=builtin_since("approx_top_k")),
        row("listagg", _joined),
    ),
)
