"""The meaning of a function that a plan names without an extension.

Some producers declare functions by a bare name. An engine that looks functions up by their names means its own by them,
and that isn't always the specification's of the same name. There are three cases:

- the producer is known (:data:`ENGINES`): what differs is a function of an extension of this package, everything in
  ``same`` is the specification's;
- the name means the same wherever there is a function of this name (:data:`SAME_EVERYWHERE`);
- anything else is taken for the specification's function, which is in doubt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

__all__ = ["DATAFUSION", "DIFFERENCES", "ENGINES", "SAME_EVERYWHERE", "Engine", "engine_of"]


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine whose plans name functions without an extension.

    Args:
        name: its name, for people.
        urn: the extension of this package with its functions that aren't the specification's of the same name.
        same: the names of those that are.
    """

    name: str
    urn: str
    same: frozenset[str]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: names under which every engine that has the function has the specification's, for the arguments that it takes
SAME_EVERYWHERE: Final[frozenset[str]] = _names(
    """
    add subtract multiply negate negative sign
    equal not_equal lt lte gt gte between is_null is_not_null is_distinct_from is_not_distinct_from
    is_true is_not_true is_false is_not_false and or not xor and_not coalesce
    bitwise_and bitwise_or bitwise_xor bitwise_not
    abs exp sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh radians degrees ceil floor is_nan
    lower upper char_length octet_length bit_length starts_with ends_with contains reverse
    count min max sum bool_and bool_or any_value
    row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value
    add_intervals
    """
)

#: in what engines differ, by the name
DIFFERENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "avg": "whether the mean of integers is an integer, and the digits of that of decimals",
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
        "modulus": "the sign of the remainder",
        "power": "whether integers have an integer power",
        "regexp_replace": "the syntax of patterns, and whether all matches are replaced",
        "right": "what a negative count does",
        "round": "how halves are rounded",
        "substring": "what a start below 1 does",
    }
)

DATAFUSION: Final = Engine(
    name="DataFusion",
    urn="extension:pyspark_substrait:functions_datafusion",
    same=SAME_EVERYWHERE
    | _names(
        """
        modulus power factorial ln log10 log2 concat_ws lpad rpad ltrim rtrim trim repeat replace strpos string_agg
        cardinality median date_part extract
        """
    ),
)

#: the engines by what their plans say of the producer, in lower case
ENGINES: Final[Mapping[str, Engine]] = MappingProxyType({"datafusion": DATAFUSION})


def engine_of(producer: str) -> Engine | None:
    """The engine that a plan is from; None for one that isn't known here."""
    return ENGINES.get(producer.strip().lower())
