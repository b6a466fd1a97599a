"""The functions of unsigned_integers."""

from __future__ import annotations

from tests.reference.errors import Failure
from tests.reference.functions.arithmetic import integer_result
from tests.reference.functions.registry import Call, scalar

_HERE = "unsigned_integers"


@scalar(_HERE, "add")
def _add(call: Call, left: int, right: int) -> int:
    return integer_result(call, left + right)


@scalar(_HERE, "subtract")
def _subtract(call: Call, left: int, right: int) -> int:
    return integer_result(call, left - right)


@scalar(_HERE, "multiply")
def _multiply(call: Call, left: int, right: int) -> int:
    return integer_result(call, left * right)


@scalar(_HERE, "divide")
def _divide(call: Call, left: int, right: int) -> int | None:
    if right != 0:
        return left // right
    match call.options.get("on_division_by_zero"):
        case "NULL":
            return None
        case "ERROR":
            raise Failure("divide: division by zero")
        case _:
            raise call.open("a division by zero")
