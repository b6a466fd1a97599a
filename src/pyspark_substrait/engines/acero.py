"""Acero, the engine of Apache Arrow C++, through ``pyarrow.substrait``.

Based on runs of plans with release 22, and on its documentation. It supports neither subqueries nor cross products: for
queries with these, take Spark's optimized plan.
"""

from __future__ import annotations

from typing import Final

from pyspark_substrait.engines.description import Spelling, Target, same_names
from pyspark_substrait.engines.set_groups import BY_GROUPING
from pyspark_substrait.extensions import engines
from pyspark_substrait.model.relations import JoinType, SetOp
from pyspark_substrait.model.types import FP32, FP64, I64, PrecisionTimestamp, PrecisionTimestampTZ

__all__ = ["ACERO"]

_EVEN: Final = "TIE_TO_EVEN"
_INTEGERS: Final = ("i8", "i16", "i32", "i64")

ACERO: Final = Target(
    name="acero",
    engine="Acero 22",
    functions={
        **same_names("add", "subtract", "multiply", overflow=("ERROR", "SILENT"), rounding=_EVEN),
        # of decimals it has fewer digits
        "divide": (
            Spelling(
                name="divide",
                overloads=(*(f"{type}_{type}" for type in _INTEGERS), "fp32_fp32", "fp64_fp64"),
                delivers={"overflow": ("ERROR", "SILENT"), "rounding": (_EVEN,)},
            ),
        ),
        **same_names("negate", "abs", "exp", "bitwise_not", "bitwise_and", "bitwise_or", "bitwise_xor"),
        **same_names("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh"),
        **same_names("acosh", "atanh", "power", "sqrt", "ln", "log10", "log2", "logb", "log1p"),
        **{name: (Spelling(name=name, cast=("dec",)),) for name in ("ceil", "floor")},
        "sign": (Spelling(name="sign", cast=_INTEGERS),),
        **same_names("equal", "not_equal", "lt", "lte", "gt", "gte", "is_null", "is_not_null", "is_nan", "is_finite"),
        **same_names("is_not_distinct_from"),  # in the conditions of joins alone
        **same_names("not", "xor", "coalesce"),
        "and": (Spelling(name="and", pairs=True),),
        "or": (Spelling(name="or", pairs=True),),
        "concat": (Spelling(name="concat", delivers={"null_handling": ("ACCEPT_NULLS",)}),),
        "extract": (Spelling(name="extract", only={0: ("YEAR", "MONTH", "DAY")}),),
        **same_names("min", "max"),
        **same_names("sum", overflow="SILENT"),
        "count": (Spelling(name="count", delivers={"overflow": ("ERROR", "SILENT")}, result=I64()),),
        **{
            name: (Spelling(name=name, words="left out", only={0: ("POPULATION",)}, result=FP64()),)
            for name in ("std_dev", "variance")
        },
        # of integers it is a double here
        "avg": (Spelling(name="avg", overloads=("fp32", "fp64", "dec"), cast=("fp32", "dec")),),
    },
    others={
        engines.DATAFUSION.urn: {
            **same_names("sum", "min", "max"),
            "divide": (Spelling(name="divide", overloads=("fp32_fp32", "fp64_fp64")),),  # an error for zero
            "avg": (Spelling(name="avg", overloads=("i8", "i16", "i32", "i64", "fp32", "fp64")),),
        }
    },
    texts={
        **dict.fromkeys((FP32, FP64), "10000000 for 1.0E7"),
        PrecisionTimestamp: "00:00:00.500000 for 00:00:00.5",
        PrecisionTimestampTZ: "00:00:00.500000Z for 00:00:00.5+00:00",
    },
    options=True,
    emits=True,
    if_needs_else=True,
    null_conditions=False,
    inner_joins=True,
    single_key_joins=True,
    both_sides=True,
    sets_by_names=True,
    plain_measures=True,
    composed_relations=frozenset({"post_join_filter", *(op.name for op in BY_GROUPING)}),
    set_operations=frozenset({SetOp.UNION_ALL}),
    joins=frozenset(kind for kind in JoinType if not kind.name.endswith(("MARK", "SINGLE"))),
    measure_filters=False,
    constant_limits=True,
    masks=False,
    read_filters=False,
    switches=False,
    lacks=frozenset(
        {
            "ExecutionContextVariable",
            "ScalarSubquery",
            "InPredicate",
            "SetPredicate",
            "SetComparison",
            "WindowFunction",
            "MultiOrList",
            "NestedStruct",
            "NestedList",
            "NestedMap",
            "Lambda",
            "LateralJoin",
            "Cross",
            "Expand",
            "ConsistentPartitionWindow",
            "TopN",
            "VirtualTable",
            "grouping sets",
            "DISTINCT",
        }
    ),
    removed_fields=frozenset({"AggregateRel", "FetchRel"}),
)
