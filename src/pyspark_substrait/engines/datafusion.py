"""DataFusion. It finds functions by their names alone and ignores options.

If its function of a name isn't the one of the specification, only calls that mean the same in both are converted. Its
own functions (``functions_datafusion.yaml``), which occur in plans of its own, stay as they are.

Based on runs of plans with release 55, and on the sources of its consumer (``datafusion/substrait``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from pyspark_substrait.engines.compositions import (
    and_not,
    bits_turned,
    duration_cast,
    exclusive_or,
    greatest,
    is_finite,
    is_infinite,
    least,
    moment_text,
    sorted_list,
    split_text,
)
from pyspark_substrait.engines.description import Spelling, Target, is_bit, same_names
from pyspark_substrait.engines.elements import element_from_one, element_from_zero, map_value
from pyspark_substrait.engines.moments import is_utc, rounded_down, variable_call
from pyspark_substrait.engines.native_queries import DataFusionQueries
from pyspark_substrait.extensions import engines
from pyspark_substrait.model.expressions import Cast, Expression, FailureBehavior, ScalarFunction
from pyspark_substrait.model.relations import JoinType
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I32,
    I64,
    IntervalCompound,
    IntervalDay,
    IntervalYear,
    List,
    Map,
    Struct,
    Type,
)

__all__ = ["DATAFUSION"]

_EVEN: Final = "TIE_TO_EVEN"
_TEXTS: Final = {
    "ISO_YEAR": "isoyear",
    "ISO_WEEK": "week",
    "DAY_OF_YEAR": "doy",
    "SUNDAY_DAY_OF_WEEK": "dow",
    "MONDAY_DAY_OF_WEEK": "isodow",
}


#: of structs and lists, a null in them is the largest value there, and the smallest one here
_EXTREMES: Final[dict[str, tuple[Spelling, ...]]] = {
    name: (Spelling(name=name, lacks=(Struct, List)),) for name in ("min", "max")
}
_GREATEST: Final[dict[str, tuple[Spelling, ...]]] = {
    f"{name}_skip_null": (Spelling(name=name, lacks=(Struct, List, Map)),) for name in ("greatest", "least")
}


def _not_negative(value: int) -> bool:
    return value >= 0


def _whole(value: object) -> bool:
    return isinstance(value, int)


def _positive(value: int) -> bool:
    return value > 0


def _not_zero(value: int) -> bool:
    return value != 0


def _any(value: int) -> bool:
    return True


def _as(type: Type, *names: str, overloads: tuple[str, ...] = (), **delivers: str) -> dict[str, tuple[Spelling, ...]]:
    """Functions of the same name whose result has this type there, whatever the overload."""
    values = {option: (value,) for option, value in delivers.items()}
    return {name: (Spelling(name=name, result=type, overloads=overloads, delivers=values),) for name in names}


_INTEGERS: Final = ("i8", "i16", "i32", "i64", "u!u8", "u!u16", "u!u32", "u!u64")
#: the overloads of arithmetic between two numbers of one type
_NUMBERS: Final = tuple(f"{one}_{one}" for one in (*_INTEGERS, "fp32", "fp64"))
#: a date plus a part of a day is a date there, so a timestamp is added to; months are added in UTC
_WITH_INTERVALS: Final = {
    name: (
        Spelling(name=name, overloads=("pts_iyear", "date_iyear", "pts_iday", "ptstz_iday")),
        Spelling(name=name, overloads=("date_iday",), as_result=(0,)),
        Spelling(name=name, overloads=("ptstz_iyear_str",), arguments=(0, 1), literals=(2,), constants={2: is_utc}),
    )
    for name in ("add", "subtract")
}


def _extracted(*parts: str, counted_from: str = "") -> Iterator[Spelling]:
    """The parts of dates and times. Those of a timestamp with a zone are the ones in UTC there."""
    value, more = (2, "req_") if counted_from else (1, "")
    plain = Spelling(
        name="date_part",
        words="texts",
        only={0: parts, 1: (counted_from,)} if counted_from else {0: parts},
        overloads=(f"req_{more}pts", f"req_{more}date", "req_pt"),
        arguments=(0, value),
        texts=_TEXTS,
        result=I32(),
    )
    yield plain
    zone = value + 1
    yield replace(plain, overloads=(f"req_{more}ptstz_str",), literals=(zone,), constants={zone: is_utc})


_SHIFTS: Final = {
    "shift_left": (Spelling(name="bitwise_shift_left", constants={1: is_bit}),),
    "shift_right": (Spelling(name="bitwise_shift_right", constants={1: is_bit}),),
}
_ROUND: Final = Spelling(
    name="round", overloads=("dec_i32",), delivers={"rounding": ("TIE_AWAY_FROM_ZERO",)}, cast=("dec_i32",)
)
_QUOTIENT: Final = Spelling(name="divide", overloads=("dec_dec",), cast=("dec_dec",), quotient_digits={"dec_dec": 4})
#: the functions that only Spark has, where DataFusion's mean the same; noted where they don't for some values
_SPARK: Final[dict[str, dict[str, tuple[Spelling, ...]]]] = {
    "extension:pyspark_substrait:functions_spark_arithmetic": {
        **_SHIFTS,
        "divide": (_QUOTIENT, Spelling(name="divide", overloads=("fp64_fp64",), constants={1: _not_zero})),
        "modulus": (Spelling(name="modulus", constants={1: _not_zero}),),
        "negate": (Spelling(name="negate", constants={0: _any}),),
        "abs": (Spelling(name="abs", constants={0: _any}),),
        "round": (_ROUND,),
    },
    "extension:pyspark_substrait:functions_spark_statistics": {
        **_EXTREMES,
        "avg": (Spelling(name="avg", overloads=("dec",), cast=("dec",), quotient_digits={"dec": 4}),),
    },
    "extension:pyspark_substrait:functions_spark_aggregate": same_names("bit_and", "bit_or", "bit_xor"),
    "extension:pyspark_substrait:functions_spark_collection": {
        "reverse": (Spelling(name="array_reverse"),),
    },
    "extension:pyspark_substrait:functions_spark_datetime": same_names("make_date"),
    "extension:pyspark_substrait:functions_spark_window": same_names(
        "first_value", "last_value", "nth_value", "lead", "lag", ignore_nulls="FALSE"
    ),
}


def _as_duration(call: ScalarFunction, values: tuple[Expression, ...]) -> Expression:
    """Return the cast that a call is: there is no function of its name in DataFusion."""
    assert isinstance(call.output_type, IntervalDay)
    return duration_cast(values[0], call.output_type)


def _as_cast(call: ScalarFunction, values: tuple[Expression, ...]) -> Expression:
    """Return the cast whose result a call is."""
    assert call.output_type is not None
    return Cast(type=call.output_type, input=values[0], failure_behavior=FailureBehavior.THROW_EXCEPTION)


DATAFUSION: Final = Target(
    name="datafusion",
    engine="DataFusion 55",
    extension=engines.DATAFUSION.urn,
    functions={
        # of decimals with all digits behind the point, also where the result has not got so many
        **{
            name: (
                Spelling(name=name, overloads=("dec_dec",), cast=("dec_dec",)),
                Spelling(name=name, overloads=_NUMBERS, delivers={"rounding": (_EVEN,)}),
                *_WITH_INTERVALS[name],
            )
            for name in _WITH_INTERVALS
        },
        "multiply": (
            Spelling(name="multiply", overloads=("dec_dec",), cast=("dec_dec",)),
            Spelling(name="multiply", overloads=_NUMBERS, delivers={"rounding": (_EVEN,)}),
        ),
        "divide": (
            _QUOTIENT,
            Spelling(name="divide", delivers={"rounding": (_EVEN,)}),
        ),
        **same_names("modulus", division_type="TRUNCATE", on_domain_error="ERROR"),
        **same_names("negate", "bitwise_and", "bitwise_or"),
        **same_names("equal", "not_equal", "lt", "lte", "gt", "gte", "between", "nullif", "coalesce"),
        **same_names("is_null", "is_not_null", "is_true", "is_not_true", "is_false", "is_not_false"),
        **same_names("is_distinct_from", "is_not_distinct_from", "not", "xor"),
        **{name: (Spelling(name=name, operator=True),) for name in ("and", "or")},
        **same_names("abs", "exp", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh"),
        **same_names("tanh", "asinh", "acosh", "atanh", "radians", "degrees"),
        **{name: (Spelling(name=name, cast=("dec",)),) for name in ("ceil", "floor")},
        **_as(FP64(), "power", overloads=("fp32_fp32", "fp64_fp64", "dec_dec")),
        **_as(I64(), "factorial", overloads=("i32", "i64")),
        **same_names("ln", "log10", "log2", "logb"),
        **same_names("lower", "upper", char_set="UTF8"),
        **same_names("reverse", "repeat", "concat_ws"),
        **_as(I32(), "char_length", "octet_length", "bit_length"),
        **_as(I32(), "strpos", case_sensitivity="CASE_SENSITIVE"),
        **same_names("starts_with", "ends_with", "contains", "replace", case_sensitivity="CASE_SENSITIVE"),
        **same_names("lpad", "rpad", "ltrim", "rtrim", "trim"),
        **_EXTREMES,
        **_GREATEST,
        **same_names("bool_and", "bool_or"),
        "sum": (Spelling(name="sum", cast=("dec",)),),
        **_as(I64(), "count"),
        "cardinality": (Spelling(name="array_length", overloads=("list",), cast=("list",)),),
        **_as(FP64(), "corr"),
        "median": (Spelling(name="median", words="left out", overloads=("req_fp32", "req_fp64")),),
        **same_names("percent_rank", "cume_dist", "first_value", "last_value"),
        **{name: (Spelling(name=name, cast=("",)),) for name in ("row_number", "rank", "dense_rank")},
        "ntile": (Spelling(name="ntile", literals=(0,), constants={0: _positive}, cast=("i32", "i64")),),
        **{name: (Spelling(name=name, literals=(1, 2), constants={1: _whole}),) for name in ("lag", "lead")},
        "nth_value": (Spelling(name="nth_value", literals=(1,), constants={1: _positive}),),
        "add_intervals": (Spelling(name="add"),),
        "round": (_ROUND,),
        "any_value": (Spelling(name="first_value", delivers={"ignore_nulls": ("FALSE",)}),),
        "approx_count_distinct": (Spelling(name="approx_distinct", cast=("any",), lacks=(FP32, FP64)),),
        # its own function of this name skips nulls
        "concat": (Spelling(name="str_concat", delivers={"null_handling": ("ACCEPT_NULLS",)}, operator=True),),
        "avg": (Spelling(name="avg", overloads=("fp32", "fp64", "dec"), cast=("fp32", "dec")),),
        "left": (Spelling(name="left", constants={1: _not_negative}),),
        "right": (Spelling(name="right", constants={1: _not_negative}),),
        "like": (Spelling(name="like", delivers={"case_sensitivity": ("CASE_SENSITIVE",)}, patterns=(1,)),),
        "substring": (
            Spelling(
                name="substr",
                delivers={"negative_start": ("LEFT_OF_BEGINNING", "WRAP_FROM_END", "ERROR")},
                constants={1: _positive, 2: _not_negative},
                at_least={2: 0},
            ),
        ),
        **_SHIFTS,
        "filter": (Spelling(name="array_filter"),),
        "transform": (Spelling(name="array_transform"),),
        "any_match": (Spelling(name="array_any_match"),),
        "sign": (
            Spelling(name="signum", overloads=("fp32", "fp64")),
            Spelling(name="signum", result=FP64()),
        ),
        "is_nan": (Spelling(name="isnan"),),
        "std_dev": (
            Spelling(name="stddev_samp", words="left out", only={0: ("SAMPLE",)}, result=FP64()),
            Spelling(name="stddev_pop", words="left out", only={0: ("POPULATION",)}, result=FP64()),
        ),
        "variance": (
            Spelling(name="var_samp", words="left out", only={0: ("SAMPLE",)}, result=FP64()),
            Spelling(name="var_pop", words="left out", only={0: ("POPULATION",)}, result=FP64()),
        ),
        "extract": (
            *_extracted("YEAR", "HOUR", "MINUTE", "SECOND", "ISO_YEAR"),
            *_extracted("MONTH", "DAY", "QUARTER", "DAY_OF_YEAR", "ISO_WEEK", "MONDAY_DAY_OF_WEEK", counted_from="ONE"),
            *_extracted("SUNDAY_DAY_OF_WEEK", counted_from="ZERO"),
        ),
    },
    files=False,
    lacks=frozenset({"UUID", "Generate", "Write", "Update", "Ddl"}),
    composed_relations=frozenset(
        {"TopN", "Expand", "ConsistentPartitionWindow", "HashJoin", "MergeJoin", "NestedLoopJoin"}
        | {"post_join_filter", "MINUS_MULTISET", "Set of structs", "Filter of a sort"}
    ),
    joins=frozenset(JoinType) - {JoinType.LEFT_SINGLE, JoinType.RIGHT_SINGLE},
    one_sided_keys=False,
    null_keys=False,
    record_lists=False,
    computed_lists=False,
    padded_casts=False,
    varchar_literals=False,
    map_function="map",
    seconds_digits=frozenset({0, 3, 6, 9}),
    interval_digits=3,
    clustered_sorts=False,
    range_frames=False,
    # others can't be computed over frames that lose records
    over_windows={
        "bool_and": "min",
        "bool_or": "max",
        **dict.fromkeys(("approx_count_distinct", "bit_and", "bit_or"), ""),
    },
    others=_SPARK,
    whole_projections=True,
    inner_joins=True,
    one_grouping=True,
    ordered_measures=True,
    multiplicities=False,
    read_filters=False,
    queries=DataFusionQueries(),
    outer_columns_by_name=True,
    removed_fields=frozenset({"Preceding", "Following"}),
    variations=True,
    nested_references=False,
    null_marks=False,
    keeps_conditions=False,
    keeps_offsets=False,
    two_zeros=True,
    switches=False,
    struct_function="struct",
    composed={
        "and_not": and_not,
        "bitwise_xor": exclusive_or,
        "bitwise_not": bits_turned,
        "is_finite": is_finite,
        "is_infinite": is_infinite,
        "string_split": split_text,
        **{f"to_duration_{unit}": _as_duration for unit in ("seconds", "millis", "micros", "nanos")},
        "to_text": _as_cast,
        "round_calendar": rounded_down,
        "greatest": greatest,
        "least": least,
        "sort": sorted_list,
        "get": element_from_zero(fails=False),
        "element": element_from_zero(fails=True),
        "element_at": element_from_one(fails=True),
        "try_element_at": element_from_one(fails=False),
        "map_value": map_value,
    },
    variable=variable_call,
    texts={
        **dict.fromkeys((FP32, FP64), "1e16 for 1.0E16"),
        **dict.fromkeys((IntervalYear, IntervalDay, IntervalCompound), "1 days 2 hours for P1DT2H"),
    },
    text_form=moment_text,
    durations=True,
    parts={"epoch": "epoch", "nanoseconds": "nanosecond"},
)
