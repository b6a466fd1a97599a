"""Words of Spark SQL that DataFusion has otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = [
    "AGGREGATES",
    "AGGREGATES_AS_THEY_ARE",
    "CASES",
    "NAMED_TYPES",
    "NATIVE",
    "NO_FUNCTIONS",
    "OTHERS",
    "OWN_SYNTAX",
    "SYMBOLS",
    "TYPES",
    "WITNESSES",
    "WORDS",
]

WORDS: Final = {"MINUS": "EXCEPT", "RLIKE": "~", "REGEXP": "~"}
SYMBOLS: Final = {"==": "=", "!": " NOT "}
#: aggregate functions that have another name in DataFusion
AGGREGATES: Final = {
    "mean": "avg",
    "std": "stddev",
    "stddev_samp": "stddev",
    "variance": "var_samp",
    "every": "bool_and",
    "any": "bool_or",
    "some": "bool_or",
    "first": "first_value",
    "last": "last_value",
    "any_value": "first_value",
    "collect_list": "array_agg",
    "approx_count_distinct": "approx_distinct",
}
AGGREGATES_AS_THEY_ARE: Final = frozenset(
    {"count", "sum", "avg", "min", "max", "stddev", "stddev_pop", "var_samp", "var_pop", "corr", "covar_samp"}
    | {"covar_pop", "bool_and", "bool_or", "bit_and", "bit_or", "bit_xor", "median", "first_value", "last_value"}
    | {"array_agg", "grouping", "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag"}
    | {"lead", "nth_value"}
)
#: functions whose type depends on their arguments, and that DataFusion has, so that it knows it
NATIVE: Final = {
    **{name: name for name in ("coalesce", "nullif", "greatest", "least", "abs", "ceil", "floor", "round")},
    "nvl": "coalesce",
    "ifnull": "coalesce",
    "ceiling": "ceil",
}
#: functions that are a CASE: what is written before, between and behind their arguments
CASES: Final[Mapping[str, tuple[str, ...]]] = {
    "if": ("(CASE WHEN ", " THEN ", " ELSE ", " END)"),
    "nvl2": ("(CASE WHEN (", ") IS NOT NULL THEN ", " ELSE ", " END)"),
    "count_if": ("count(CASE WHEN ", " THEN 1 END)"),
}
#: words before a bracket that are no functions
NO_FUNCTIONS: Final = frozenset(
    {"SELECT", "FROM", "WHERE", "GROUP", "BY", "HAVING", "ORDER", "LIMIT", "OFFSET", "ON", "AND"}
    | {"OR", "NOT", "IN", "EXISTS", "AS", "OVER", "PARTITION", "ROWS", "RANGE", "BETWEEN", "UNION"}
    | {"ALL", "EXCEPT", "INTERSECT", "MINUS", "DISTINCT", "VALUES", "CASE", "WHEN", "THEN", "ELSE", "END"}
    | {"WITH", "JOIN", "ROLLUP", "CUBE", "SETS", "FILTER", "WITHIN", "INTERVAL", "LIKE", "ILIKE", "RLIKE"}
    | {"REGEXP", "IS", "USING", "LATERAL", "CAST", "TRY_CAST", "EXTRACT", "DIV", "DECIMAL", "DEC", "NUMERIC"}
    | {"VARCHAR", "CHAR", "CHARACTER", "TIMESTAMP", "ESCAPE", "SOME", "FETCH", "WINDOW"}
)
#: functions with words between their arguments, which DataFusion's parser reads itself
OWN_SYNTAX: Final = {
    "SUBSTRING": ("FROM",),
    "SUBSTR": ("FROM",),
    "TRIM": ("FROM",),
    "POSITION": ("IN",),
    "OVERLAY": ("PLACING",),
    "CEIL": ("TO",),
    "FLOOR": ("TO",),
}
#: types with another name in DataFusion
TYPES: Final = {
    "BYTE": "TINYINT",
    "SHORT": "SMALLINT",
    "LONG": "BIGINT",
    "INTEGER": "INT",
    "DEC": "DECIMAL",
    "NUMERIC": "DECIMAL",
    "TIMESTAMP_NTZ": "TIMESTAMP(6)",
    "TIMESTAMP_LTZ": "TIMESTAMP",
    "REAL": "FLOAT",
}
#: the types that carriers of functions have for DataFusion, by the type of the function
WITNESSES: Final = {
    "int": "CAST(NULL AS INT)",
    "long": "CAST(NULL AS BIGINT)",
    "double": "CAST(NULL AS DOUBLE)",
    "string": "CAST(NULL AS STRING)",
    "date": "CAST(NULL AS DATE)",
    "timestamp": "CAST(NULL AS TIMESTAMP)",
    "boolean": "CAST(NULL AS BOOLEAN)",
}
NAMED_TYPES: Final = {
    "to_date": "date",
    "to_timestamp": "timestamp",
    "trim": "string",
    "ltrim": "string",
    "rtrim": "string",
}
#: functions that are planned, besides those of the table: those with another meaning for each type of argument
OTHERS: Final = frozenset(
    {"to_date", "to_timestamp", "date_part", "datepart", "negative", "mod", "pmod", "trim", "ltrim", "rtrim"}
    | {"date", "timestamp", "string", "boolean", "tinyint", "smallint", "int", "bigint", "float", "double"}
)
