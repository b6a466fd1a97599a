"""DataFusion. It finds functions by their names alone and ignores options.

If its function of a name isn't the one of the specification, only calls that mean the same in both are converted. Its
own functions (``functions_datafusion.yaml``), which occur in plans of its own, stay as they are.

Based on runs of plans with release 55, and on the sources of its consumer (``datafusion/substrait``).
"""

from __future__ import annotations

from typing import Final

from pyspark_substrait.engines.compositions import duration_cast
from pyspark_substrait.engines.description import Spelling, Target, same_names
from pyspark_substrait.extensions import engines
from pyspark_substrait.model.expressions import Expression, ScalarFunction
from pyspark_substrait.model.types import IntervalDay

__all__ = ["DATAFUSION"]

_EVEN: Final = "TIE_TO_EVEN"
_TEXTS: Final = {
    "ISO_YEAR": "isoyear",
    "ISO_WEEK": "week",
    "DAY_OF_YEAR": "doy",
    "SUNDAY_DAY_OF_WEEK": "dow",
    "MONDAY_DAY_OF_WEEK": "isodow",
}


def _parts(*parts: str) -> tuple[str, ...]:
    return parts


def _not_negative(value: int) -> bool:
    return value >= 0


def _positive(value: int) -> bool:
    return value > 0


def _bits(value: int) -> bool:
    return 0 <= value < 32


def _not_zero(value: int) -> bool:
    return value != 0


def _any(value: int) -> bool:
    return True


_SHIFTS: Final = {
    "shift_left": (Spelling(name="bitwise_shift_left", constants={1: _bits}),),
    "shift_right": (Spelling(name="bitwise_shift_right", constants={1: _bits}),),
}
_ROUND: Final = Spelling(
    name="round", overloads=("dec_i32",), delivers={"rounding": ("TIE_AWAY_FROM_ZERO",)}, cast=("dec_i32",)
)
_QUOTIENT: Final = Spelling(name="divide", overloads=("dec_dec",), cast=("dec_dec",), quotient_digits={"dec_dec": 4})
#: the functions that only Spark has, where DataFusion's mean the same; noted where they don't for some values
_SPARK: Final = {
    "extension:pyspark_substrait:functions_spark_arithmetic": {
        **_SHIFTS,
        "divide": (_QUOTIENT, Spelling(name="divide", overloads=("fp64_fp64",), constants={1: _not_zero})),
        "modulus": (Spelling(name="modulus", constants={1: _not_zero}),),
        "negate": (Spelling(name="negate", constants={0: _any}),),
        "abs": (Spelling(name="abs", constants={0: _any}),),
        "round": (_ROUND,),
    },
    "extension:pyspark_substrait:functions_spark_statistics": {
        **same_names("min", "max"),
        "avg": (Spelling(name="avg", overloads=("dec",), cast=("dec",), quotient_digits={"dec": 4}),),
    },
    "extension:pyspark_substrait:functions_spark_window": same_names(
        "first_value", "last_value", "nth_value", "lead", "lag", ignore_nulls="FALSE"
    ),
}


def _as_duration(call: ScalarFunction, values: tuple[Expression, ...]) -> Expression:
    """Return the cast that a call is: there is no function of its name in DataFusion."""
    assert isinstance(call.output_type, IntervalDay)
    return duration_cast(values[0], call.output_type)


DATAFUSION: Final = Target(
    name="datafusion",
    engine="DataFusion 55",
    extension=engines.DATAFUSION.urn,
    functions={
        # of decimals with all digits behind the point, also where the result has not got so many
        **{
            name: (
                Spelling(name=name, overloads=("dec_dec",), cast=("dec_dec",)),
                Spelling(name=name, delivers={"rounding": (_EVEN,)}),
            )
            for name in ("add", "subtract", "multiply")
        },
        "divide": (
            _QUOTIENT,
            Spelling(name="divide", delivers={"rounding": (_EVEN,)}),
        ),
        **same_names("modulus", division_type="TRUNCATE", on_domain_error="ERROR"),
        **same_names("negate", "bitwise_and", "bitwise_or", "bitwise_xor"),
        **same_names("equal", "not_equal", "lt", "lte", "gt", "gte", "between", "nullif", "coalesce"),
        **same_names("is_null", "is_not_null", "is_true", "is_not_true", "is_false", "is_not_false"),
        **same_names("is_distinct_from", "is_not_distinct_from", "and", "or", "not", "xor", "and_not"),
        **same_names(
            "abs", "exp", "power", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh"
        ),
        **same_names("tanh", "asinh", "acosh", "atanh", "radians", "degrees", "ceil", "floor", "factorial"),
        **same_names("ln", "log10", "log2", "logb"),
        **same_names("lower", "upper", char_set="UTF8"),
        **same_names("char_length", "octet_length", "bit_length", "reverse", "repeat", "concat_ws"),
        **same_names("starts_with", "ends_with", "contains", "strpos", "replace", case_sensitivity="CASE_SENSITIVE"),
        **same_names("lpad", "rpad", "ltrim", "rtrim", "trim"),
        **same_names("count", "sum", "min", "max", "bool_and", "bool_or", "median", "corr"),
        **same_names("row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead"),
        **same_names("first_value", "last_value", "nth_value"),
        "add_intervals": (Spelling(name="add"),),
        "round": (_ROUND,),
        "any_value": (Spelling(name="first_value", delivers={"ignore_nulls": ("FALSE",)}),),
        "approx_count_distinct": (Spelling(name="approx_distinct"),),
        # its own function of this name skips nulls
        "concat": (Spelling(name="str_concat", delivers={"null_handling": ("ACCEPT_NULLS",)}),),
        "avg": (Spelling(name="avg", overloads=("fp32", "fp64", "dec"), cast=("dec",)),),
        "left": (Spelling(name="left", constants={1: _not_negative}),),
        "right": (Spelling(name="right", constants={1: _not_negative}),),
        "like": (Spelling(name="like", delivers={"case_sensitivity": ("CASE_SENSITIVE",)}, patterns=(1,)),),
        "substring": (
            Spelling(
                name="substr",
                delivers={"negative_start": ("LEFT_OF_BEGINNING", "WRAP_FROM_END", "ERROR")},
                constants={1: _positive, 2: _not_negative},
            ),
        ),
        **_SHIFTS,
        "filter": (Spelling(name="array_filter"),),
        "transform": (Spelling(name="array_transform"),),
        "any_match": (Spelling(name="array_any_match"),),
        "string_split": (Spelling(name="string_to_array"),),
        "sign": (Spelling(name="signum"),),
        "is_nan": (Spelling(name="isnan"),),
        "std_dev": (
            Spelling(name="stddev_samp", words="left out", only={0: ("SAMPLE",)}),
            Spelling(name="stddev_pop", words="left out", only={0: ("POPULATION",)}),
        ),
        "variance": (
            Spelling(name="var_samp", words="left out", only={0: ("SAMPLE",)}),
            Spelling(name="var_pop", words="left out", only={0: ("POPULATION",)}),
        ),
        "extract": (
            Spelling(
                name="date_part",
                words="texts",
                only={0: _parts("YEAR", "HOUR", "MINUTE", "SECOND", "ISO_YEAR")},
                arguments=(0, 1),
                texts=_TEXTS,
            ),
            Spelling(
                name="date_part",
                words="texts",
                only={
                    0: _parts("MONTH", "DAY", "QUARTER", "DAY_OF_YEAR", "ISO_WEEK", "MONDAY_DAY_OF_WEEK"),
                    1: ("ONE",),
                },
                arguments=(0, 2),
                texts=_TEXTS,
            ),
            Spelling(
                name="date_part",
                words="texts",
                only={0: _parts("SUNDAY_DAY_OF_WEEK"), 1: ("ZERO",)},
                arguments=(0, 2),
                texts=_TEXTS,
            ),
        ),
    },
    files=False,
    others=_SPARK,
    whole_projections=True,
    inner_joins=True,
    one_grouping=True,
    post_join_filters=False,
    multiplicities=False,
    read_filters=False,
    outer_columns_by_name=True,
    removed_fields=frozenset({"Preceding", "Following"}),
    variations=True,
    nested_references=False,
    null_marks=False,
    switches=False,
    struct_function="struct",
    composed={f"to_duration_{unit}": _as_duration for unit in ("seconds", "millis", "micros", "nanos")},
    durations=True,
    parts={"epoch": "epoch", "nanoseconds": "nanosecond"},
)
