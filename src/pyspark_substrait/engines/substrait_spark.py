"""substrait-spark, the consumer of substrait-java for Spark.

It makes Spark's own expressions of the functions that it knows. Their types are Spark's, so that decimals are cast to
those of the plan. It looks neither at the schema of a read nor at its filter: the columns are those of the table.

Based on release 0.100 of substrait-java: on its sources, and on runs of plans with Spark 4.0.
"""

from __future__ import annotations

from typing import Final

from pyspark_substrait.engines.compositions import COMPOSITIONS
from pyspark_substrait.engines.description import Spelling, Target, is_bit, same_names
from pyspark_substrait.engines.isthmus import JAVA_COMPOSED, JAVA_JOINS
from pyspark_substrait.model.expressions import Function
from pyspark_substrait.model.relations import SetOp
from pyspark_substrait.model.types import FP64, I32

__all__ = ["SUBSTRAIT_SPARK"]

_DECIMALS: Final = "extension:io.substrait:functions_arithmetic_decimal"
_ROUNDING: Final = "extension:io.substrait:functions_rounding_decimal"
_OWN: Final = {
    "extension:pyspark_substrait:functions_spark_arithmetic": {
        "divide": (Spelling(name="divide", urn=_DECIMALS, overloads=("dec_dec",), cast=("dec_dec",)),),
        "round": (Spelling(name="round", urn=_ROUNDING, overloads=("dec_i32",)),),
    }
}


_SHIFTS: Final = ("shift_left", "shift_right", "shift_right_unsigned")
_NUMBERS: Final = ("i8_i8", "i16_i16", "i32_i32", "i64_i64", "fp32_fp32", "fp64_fp64", "dec_dec")


def _decimals(*names: str, overloads: tuple[str, ...] = ()) -> dict[str, tuple[Spelling, ...]]:
    """Functions whose decimals are cast to the type of the plan."""
    delivers = {"overflow": ("ERROR",)}
    return {
        name: (Spelling(name=name, overloads=overloads, delivers=delivers, cast=("dec_dec", "dec")),) for name in names
    }


SUBSTRAIT_SPARK: Final = Target(
    name="substrait-spark",
    engine="substrait-spark 0.100",
    functions={
        **_decimals("add", "subtract", overloads=_NUMBERS),
        **_decimals("multiply", "modulus"),
        "sum": (
            Spelling(name="sum", overloads=("fp32", "fp64")),
            Spelling(name="sum", delivers={"overflow": ("ERROR",)}, cast=("dec",)),
        ),
        **_decimals("divide", overloads=("fp32_fp32", "fp64_fp64", "dec_dec")),
        "avg": (
            Spelling(name="avg", overloads=("fp32", "fp64"), result=FP64()),
            Spelling(name="avg", overloads=("dec",), cast=("dec",)),
        ),
        # those of floats are whole numbers, which have no infinity
        **{name: (Spelling(name=name, overloads=("dec",), cast=("dec",)),) for name in ("floor", "ceil")},
        "round": (Spelling(name="round", cast=("dec_i32",)),),
        **same_names("abs", "power", "exp", "sqrt", "sin", "cos", "tan", "asin", "acos"),
        **same_names("atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "ln", "log10"),
        **same_names("and", "or", "not", "lt", "lte", "gt", "gte", "equal", "is_not_distinct_from"),
        **same_names("is_null", "is_not_null", "coalesce"),
        **same_names("starts_with", "ends_with", "contains", case_sensitivity="CASE_SENSITIVE"),
        "like": (Spelling(name="like", delivers={"case_sensitivity": ("CASE_SENSITIVE",)}, patterns=(1,)),),
        **same_names("substring", "upper", "lower", "lpad", "rpad", "trim", "ltrim", "rtrim"),
        "concat": (Spelling(name="concat", delivers={"null_handling": ("ACCEPT_NULLS",)}),),
        **{name: (Spelling(name=name, constants={1: is_bit}),) for name in _SHIFTS},
        **same_names("bitwise_and", "bitwise_or", "bitwise_xor"),
        "extract": (
            Spelling(name="extract", only={0: ("YEAR",)}, overloads=("req_date",), result=I32()),
            Spelling(
                name="extract",
                only={0: ("MONTH", "DAY", "QUARTER"), 1: ("ONE",)},
                overloads=("req_req_date",),
                result=I32(),
            ),
        ),
        **same_names("count", "min", "max", "any_value", "approx_count_distinct"),
        **{name: (Spelling(name=name, result=I32()),) for name in ("row_number", "rank", "dense_rank", "ntile")},
        **same_names("percent_rank", "cume_dist", "lead", "lag"),
        "nth_value": (Spelling(name="nth_value"),),
    },
    whole_projections=True,
    if_needs_else=True,
    one_grouping=True,
    multiplicities=False,
    masks=False,
    switches=False,
    composed=COMPOSITIONS,
    others=_OWN,
    read_filters=False,
    sets_of_groupings=True,
    aggregate_emits=True,
    joins=JAVA_JOINS,
    composed_relations=JAVA_COMPOSED,
    removed_fields=frozenset({"Preceding", "Following"}),
    column_in=False,
    set_operations=frozenset({SetOp.UNION_ALL}),
    window_relations=True,
    outer_references=False,
    null_casts=False,
    date_days=Function("extension:substrait:spark", "add", "date_i32"),
    own_columns=True,
    lacks=frozenset(
        {
            "ExecutionContextVariable",
            "SetPredicate",
            "SetComparison",
            "MultiOrList",
            "NestedStruct",
            "NestedList",
            "NestedMap",
            "Lambda",
            "LateralJoin",
        }
    ),
)
