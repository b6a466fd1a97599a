"""Functions that run in Python on Spark's executors, by the names that a statement calls them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["PREFIX", "PythonFunction"]

#: the prefix of their names in SQL
PREFIX: Final = "pyspark_substrait_"


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonFunction:
    """A function of Arrow arrays.

    Args:
        function: takes an array for each argument; returns an array of the same length, an aggregate a value.
        returns: the Spark type of the result.
        aggregate: whether it takes the values of a group.
        deterministic: whether equal arguments give equal results.
    """

    function: Callable[..., Any]
    returns: str
    aggregate: bool = False
    deterministic: bool = True
