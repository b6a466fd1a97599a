"""The functions of functions_boolean: Kleene logic."""

from __future__ import annotations

from tests.reference.errors import Failure
from tests.reference.functions.registry import Call, Thunk, scalar
from tests.reference.values import Value


def _decided(call: Call, arguments: tuple[Thunk, ...], deciding: bool) -> bool | None:
    """The deciding value if an argument has it, else null if one is null, else the other value.

    Nothing says whether arguments behind the deciding one are computed: if one of them fails, the call may.
    """
    found: list[bool | None] = []
    failed: Failure | None = None
    for argument in arguments:
        try:
            found.append(argument())
        except Failure as failure:
            failed = failure
    if failed is not None:
        if deciding in found:
            raise call.open("an argument fails that another one makes needless")
        raise failed
    return deciding if deciding in found else None if None in found else not deciding


@scalar("functions_boolean", "or", lazy=True)
def _or(call: Call, *arguments: Thunk) -> bool | None:
    return _decided(call, arguments, True)


@scalar("functions_boolean", "and", lazy=True)
def _and(call: Call, *arguments: Thunk) -> bool | None:
    return _decided(call, arguments, False)


@scalar("functions_boolean", "and_not", lazy=True)
def _and_not(call: Call, left: Thunk, right: Thunk) -> bool | None:
    def negated() -> bool | None:
        value = right()
        return None if value is None else not value

    return _decided(call, (left, negated), False)


@scalar("functions_boolean", "xor")
def _xor(call: Call, left: bool, right: bool) -> bool:
    return left != right


@scalar("functions_boolean", "not")
def _not(call: Call, value: Value) -> bool:
    return not value
