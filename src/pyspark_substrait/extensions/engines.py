"""The meaning of a function that a plan names without an extension.

Some producers declare functions by a bare name. An engine that looks functions up by their names means its own
functions, which aren't always the specification's of the same name. There are three cases:

- the producer is known (:data:`ENGINES`): functions that differ are those of an extension of this package, functions in
  ``same`` are the specification's;
- the name has the same meaning in every engine that has the function (:data:`SAME_EVERYWHERE`);
- otherwise it is assumed to be the specification's function, which is uncertain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from pyspark_substrait.extensions.producers import Producer

__all__ = ["DATAFUSION", "DIFFERENCES", "ENGINES", "SAME_EVERYWHERE", "Engine"]


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine whose plans name functions without an extension.

    Args:
        name: its display name.
        urn: the extension of this package with its functions that differ from the specification's of the same name.
        same: the names of its functions that don't differ, for the arguments that the specification's take.
    """

    name: str
    urn: str
    same: frozenset[str]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: names whose function is the specification's in every engine that has it, for the arguments that it takes
SAME_EVERYWHERE: Final[frozenset[str]] = _names(
    """
    add subtract multiply negate negative sign
    equal not_equal lt lte gt gte between is_null is_not_null is_distinct_from is_not_distinct_from
    is_true is_not_true is_false is_not_false and or not xor and_not coalesce
    bitwise_and bitwise_or bitwise_xor bitwise_not
    abs exp sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh radians degrees ceil floor is_nan
    lower upper char_length octet_length bit_length starts_with ends_with contains reverse
    count min max sum bool_and bool_or
    row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value
    add_intervals
    """
)

#: the differences between engines, by the name of the function
DIFFERENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "any_value": "whether nulls are skipped",
        "avg": "whether the mean of integers is an integer, and the digits of that of decimals",
        "cardinality": "whether the elements of lists in a list count",
        "concat": "whether a null makes the result null",
        "concat_ws": "what a null separator does",
        "corr": "what the correlation with a constant is",
        "divide": "whether integers have an integer quotient, the digits of decimals, and what division by zero does",
        "extract": "where counting starts",
        "greatest": "whether a null makes the result null",
        "initcap": "what a word is",
        "least": "whether a null makes the result null",
        "left": "what a negative count does",
        "like": "whether the backslash is an escape character",
        "log10": "what zero and negative numbers give",
        "log2": "what zero and negative numbers give",
        "ln": "what zero and negative numbers give",
        "logb": "which argument is the base",
        "median": "whether the median of integers is an integer, and which middle value has decimals",
        "modulus": "the sign of the remainder",
        "power": "whether integers have an integer power",
        "regexp_replace": "the syntax of patterns, and whether all matches are replaced",
        "right": "what a negative count does",
        "round": "how halves are rounded",
        "sqrt": "what that of a negative number is",
        "string_agg": "whether that of no texts is empty, and what a null separator does",
        "substring": "what a start below 1 does",
    }
)

DATAFUSION: Final = Engine(
    name="DataFusion",
    urn="extension:pyspark_substrait:functions_datafusion",
    same=(SAME_EVERYWHERE - {"sum"})
    | _names(
        """
        modulus factorial ln log10 log2 concat_ws lpad rpad ltrim rtrim trim repeat replace strpos
        date_part extract
        """
    ),
)

#: the engines by the producer of their plans
ENGINES: Final[Mapping[Producer, Engine]] = MappingProxyType({Producer.DATAFUSION: DATAFUSION})
