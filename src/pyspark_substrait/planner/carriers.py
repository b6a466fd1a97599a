"""Calls that carry something through DataFusion's planner that it doesn't have, in functions that it has.

``get_field(named_struct('v', witness, kind, key, '0', first, '1', second …), 'v')`` has the type of the witness, and
its arguments are resolved as others are. No text of a user makes one: in texts, these functions are unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

__all__ = [
    "CALL",
    "FIRST",
    "INTEGRAL_DIVISION",
    "LAST",
    "MEMBER",
    "OUTER",
    "POSITIONS",
    "QUERY",
    "SCALAR",
    "TYPED",
    "beginning",
    "carried",
    "carrier",
]

#: a call of one of Spark's functions; the key is its name
CALL: Final = "call"
#: a reference to a column of the query around a subquery; the key is its number
OUTER: Final = "outer"
#: subqueries, which are planned apart; the key is their number, the arguments are the columns that they refer to
QUERY: Final = "exists"
SCALAR: Final = "scalar"
MEMBER: Final = "member"
#: the operator DIV, as the divisor of a remainder between its operands
INTEGRAL_DIVISION: Final = "div"
#: functions of one record that ignore nulls, as positions of ``nth_value``, which are above zero in Spark
FIRST: Final = -(1 << 62) - 1
LAST: Final = -(1 << 62) - 2
POSITIONS: Final = {"first": FIRST, "first_value": FIRST, "any_value": FIRST, "last": LAST, "last_value": LAST}
#: the character, of private use, before the digits of a number with a suffix, in the text that is cast to its type
TYPED: Final = "\ue000"


def beginning(kind: str, key: str, witness: str = "NULL") -> str:
    """Return the SQL text of a carrier up to its arguments."""
    return f"get_field(named_struct('v', {witness}, '{kind}', '{key}'"


def carrier(kind: str, key: str, witness: str = "NULL", arguments: Sequence[str] = ()) -> str:
    """Return the SQL text of a carrier.

    Args:
        kind: what it carries.
        key: which one.
        witness: an expression of the type that DataFusion's planner takes it for.
        arguments: the texts of its arguments.
    """
    listed = "".join(f", '{number}', {argument}" for number, argument in enumerate(arguments))
    return f"{beginning(kind, key, witness)}{listed}), 'v')"


def carried(message: Any, names: dict[int, str]) -> tuple[str, str, list[Any]] | None:
    """Return what a call carries: the kind, the key, and its arguments as messages; None for another call.

    Args:
        message: a call of a scalar function.
        names: the names of functions by their anchors.
    """
    if names.get(message.function_reference) != "get_field" or not message.arguments:
        return None
    inner = message.arguments[0].value.scalar_function
    if names.get(inner.function_reference) != "named_struct" or len(inner.arguments) < 4:
        return None
    values = [argument.value for argument in inner.arguments]
    return values[2].literal.string, values[3].literal.string, values[5::2]
