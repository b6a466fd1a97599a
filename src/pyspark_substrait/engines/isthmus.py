"""Isthmus, which turns plans into relations and SQL of Apache Calcite.

Based on release 0.100 of substrait-java: on its function mappings and its converters, and on runs of plans.
"""

from __future__ import annotations

from typing import Final

from pyspark_substrait.engines.description import Spelling, Target, same_names
from pyspark_substrait.model.relations import JoinType, SetOp

__all__ = ["ISTHMUS", "JAVA_COMPOSED", "JAVA_JOINS"]

_DECIMALS: Final = "extension:io.substrait:functions_arithmetic_decimal"

#: The relations and fields that neither consumer of substrait-java reads.
JAVA_COMPOSED: Final = frozenset({"TopN", "HashJoin", "MergeJoin", "NestedLoopJoin", "post_join_filter"})

#: The joins that both consumers of substrait-java have.
JAVA_JOINS: Final = frozenset(
    {
        JoinType.INNER,
        JoinType.LEFT,
        JoinType.RIGHT,
        JoinType.OUTER,
        JoinType.LEFT_SEMI,
        JoinType.LEFT_ANTI,
    }
)

ISTHMUS: Final = Target(
    name="isthmus",
    engine="Isthmus 0.100",
    functions={
        **same_names("add", "subtract", "multiply", "negate", "abs", "modulus", "power", "exp", "sign", "sqrt"),
        **same_names("divide"),
        **same_names("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh"),
        **same_names("asinh", "acosh", "atanh", "radians", "degrees", "log10", "log2", "ln", "factorial"),
        **same_names("ceil", "floor", "round", "least", "greatest"),
        **same_names("bitwise_not", "bitwise_and", "bitwise_or", "bitwise_xor", "shift_left", "shift_right"),
        **same_names("and", "or", "not"),
        **same_names("equal", "not_equal", "lt", "lte", "gt", "gte", "coalesce", "is_null", "is_not_null"),
        **same_names("is_true", "is_not_true", "is_false", "is_not_false"),
        **same_names("is_distinct_from", "is_not_distinct_from"),
        **same_names("lower", "upper", "like", "substring", "concat", "char_length", "replace", "left", "right"),
        **same_names("starts_with", "ends_with", "trim", "ltrim", "rtrim", "lpad", "rpad", "strpos"),
        "extract": (
            Spelling(name="extract", only={0: ("YEAR",)}),
            Spelling(name="extract", only={0: ("MONTH", "DAY", "QUARTER"), 1: ("ONE",)}),
        ),
        **same_names("count", "sum", "sum0", "min", "max", "avg", "std_dev", "variance", "approx_count_distinct"),
        **same_names("row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead"),
        **same_names("first_value", "last_value", "nth_value"),
    },
    options=True,
    whole_projections=True,
    if_needs_else=True,
    one_grouping=True,
    masks=False,
    others={
        "extension:pyspark_substrait:functions_spark_arithmetic": {
            "divide": (Spelling(name="divide", urn=_DECIMALS, overloads=("dec_dec",)),)
        }
    },
    read_filters=False,
    joins=JAVA_JOINS,
    composed_relations=JAVA_COMPOSED,
    removed_fields=frozenset({"Preceding", "Following"}),
    set_operations=frozenset(
        {
            SetOp.UNION_ALL,
            SetOp.UNION_DISTINCT,
            SetOp.MINUS_PRIMARY,
            SetOp.MINUS_PRIMARY_ALL,
            SetOp.INTERSECTION_MULTISET,
            SetOp.INTERSECTION_MULTISET_ALL,
        }
    ),
    lacks=frozenset(
        {
            "LateralJoin",
            "ConsistentPartitionWindow",
            "MultiOrList",
            "SetComparison",
        }
    ),
)
