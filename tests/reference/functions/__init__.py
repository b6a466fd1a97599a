"""The scalar functions of the specification's extensions.

Each is a Python function of a :class:`Call` with the values of its arguments, registered under the extension and the
name. Most functions give null if an argument is null, and are called only if none is; ``nulls=True`` says otherwise.
A ``lazy`` function gets functions that compute its arguments.
"""

from __future__ import annotations

from tests.reference.functions import (
    arithmetic,
    boolean,
    comparison,
    datetimes,
    decimals,
    elementary,
    lists,
    rounding,
    strings,
    unsigned,
)
from tests.reference.functions.registry import Call, scalar_function

__all__ = [
    "Call",
    "arithmetic",
    "boolean",
    "comparison",
    "datetimes",
    "decimals",
    "elementary",
    "lists",
    "rounding",
    "scalar_function",
    "strings",
    "unsigned",
]
