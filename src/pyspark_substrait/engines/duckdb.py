"""DuckDB, through its community extension ``substrait``.

Based on the sources of the extension (``substrait-io/duckdb-substrait-extension``); it isn't on PyPI, so nothing here
was run.
"""

from __future__ import annotations

from typing import Final

from pyspark_substrait.engines.description import Spelling, Target, same_names

__all__ = ["DUCKDB"]

DUCKDB: Final = Target(
    name="duckdb",
    engine="DuckDB 1.5 with the extension `substrait`",
    functions={
        **same_names("add", "subtract", "multiply", "divide", "modulus", overflow="ERROR"),
        **same_names("equal", "not_equal", "lt", "lte", "gt", "gte", "is_null", "is_not_null", "between", "coalesce"),
        **same_names("is_not_distinct_from", "and", "or", "not"),
        **same_names("abs", "ceil", "floor", "sqrt", "exp", "ln", "log10", "log2", "power", "sign", "round"),
        **same_names("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "factorial"),
        **same_names("bitwise_and", "bitwise_or", "bitwise_xor"),
        **same_names("lower", "upper", "substring", "like", "starts_with", "ends_with", "contains", "replace"),
        **same_names("char_length", "octet_length", "reverse", "repeat", "left", "right", "lpad", "rpad", "concat"),
        **same_names("ltrim", "rtrim", "trim", "is_nan", "is_finite", "is_infinite"),
        "extract": (Spelling(name="extract", only={0: ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE")}),),
        **same_names("count", "sum", "min", "max", "any_value", "bool_and", "bool_or", "median", "corr"),
        "avg": (Spelling(name="avg", overloads=("fp32", "fp64")),),  # it is a double whatever the argument is
        "std_dev": (
            Spelling(name="stddev_samp", words="left out", only={0: ("SAMPLE",)}),
            Spelling(name="stddev_pop", words="left out", only={0: ("POPULATION",)}),
        ),
        "variance": (
            Spelling(name="var_samp", words="left out", only={0: ("SAMPLE",)}),
            Spelling(name="var_pop", words="left out", only={0: ("POPULATION",)}),
        ),
    },
    references=True,
    emits=False,
    if_needs_else=True,
    measure_filters=False,
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
            "Lambda",
            "LateralJoin",
            "Expand",
            "ConsistentPartitionWindow",
        }
    ),
)
