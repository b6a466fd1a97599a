"""The functions of functions_arithmetic on integers, and the four operations on floating-point numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from pyspark_substrait.model.types import FP32, concrete
from tests.reference.errors import Failure
from tests.reference.functions.registry import Call, scalar
from tests.reference.values import integer_range, single

__all__ = ["integer_result", "real_result", "truncated_quotient"]

_HERE: Final = "functions_arithmetic"


def integer_result(call: Call, value: int) -> int:
    """The value, or what the option ``overflow`` says if the type has no such integer."""
    limits = integer_range(call.type)
    assert limits is not None
    low, high = limits
    if low <= value <= high:
        return value
    match call.options.get("overflow"):
        case "SATURATE":
            return low if value < low else high
        case "ERROR":
            raise Failure(f"{call.function.name}: {value} is no {call.type}")
        case _:
            raise call.open("an overflow that isn't an error and doesn't saturate")


def real_result(call: Call, value: float, *, overflowed: bool = False) -> float:
    """The value in the call's type. IEEE 754 rounds to even and overflows to infinity; options may say otherwise."""
    if isinstance(concrete(call.type), FP32):
        # exact: a double has more than twice the digits of a single
        small = single(value)
        overflowed = overflowed or (math.isinf(small) and not math.isinf(value))
        value = small
    if call.options.get("rounding", "TIE_TO_EVEN") != "TIE_TO_EVEN":
        raise call.uncovered("a rounding other than TIE_TO_EVEN")
    if overflowed:
        match call.options.get("overflow"):
            case "ERROR":
                raise Failure(f"{call.function.name}: the result is too large")
            case "SATURATE":
                raise call.open("the saturation of a floating-point number")
    return value


def truncated_quotient(left: int, right: int) -> int:
    """The quotient, rounded towards zero."""
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _operation(name: str, of: Callable[[float, float], float]) -> None:
    """Register an operation on two integers or two floating-point numbers."""

    @scalar(_HERE, name)
    def operation(call: Call, left: float, right: float) -> float:
        if isinstance(left, int) and isinstance(right, int):
            return integer_result(call, int(of(left, right)))
        value = of(left, right)
        overflowed = math.isinf(value) and math.isfinite(left) and math.isfinite(right)
        return real_result(call, value, overflowed=overflowed)


_operation("add", lambda left, right: left + right)
_operation("subtract", lambda left, right: left - right)
_operation("multiply", lambda left, right: left * right)


@scalar(_HERE, "divide")
def _divide(call: Call, left: float, right: float) -> float | None:
    if isinstance(left, int) and isinstance(right, int):
        if right != 0:
            return integer_result(call, truncated_quotient(left, right))
        match call.options.get("on_division_by_zero"):
            case "NULL":
                return None
            case "ERROR":
                raise Failure("divide: division by zero")
            case _:
                raise call.open("a division by zero")
    if math.isnan(left) or math.isnan(right) or (math.isinf(left) and math.isinf(right)):
        return _outside_domain(call)
    if right == 0:
        match call.options.get("on_division_by_zero"):
            case "NULL":
                return None
            case "ERROR":
                raise Failure("divide: division by zero")
            case _:
                # the text of IEEE contradicts the standard; LIMIT doesn't say which sign a zero has
                raise call.open("a division by zero")
    try:
        value = left / right
    except OverflowError:
        value = math.inf if (left < 0) == (right < 0) else -math.inf
    return real_result(call, value, overflowed=math.isinf(value) and math.isfinite(left))


def _outside_domain(call: Call) -> float | None:
    """The choice of the option ``on_domain_error``."""
    match call.options.get("on_domain_error"):
        case "NAN":
            return math.nan
        case "NULL":
            return None
        case "ERROR":
            raise Failure(f"{call.function.name}: outside the domain")
        case _:
            raise call.open("an argument outside the domain")


@scalar(_HERE, "modulus")
def _modulus(call: Call, left: int, right: int) -> int | None:
    if right == 0:
        match call.options.get("on_domain_error"):
            case "NULL":
                return None
            case "ERROR":
                raise Failure("modulus: division by zero")
            case _:
                raise call.open("a division by zero")
    # the cases without the option truncate
    floors = call.options.get("division_type") == "FLOOR"
    quotient = left // right if floors else truncated_quotient(left, right)
    return integer_result(call, left - right * quotient)


@scalar(_HERE, "negate")
def _negate(call: Call, value: float) -> float:
    return integer_result(call, -value) if isinstance(value, int) else real_result(call, -value)


@scalar(_HERE, "abs")
def _abs(call: Call, value: float) -> float:
    return integer_result(call, abs(value)) if isinstance(value, int) else real_result(call, abs(value))


@scalar(_HERE, "sign")
def _sign(call: Call, value: float) -> float:
    if isinstance(value, int):
        return (value > 0) - (value < 0)
    return value if math.isnan(value) or value == 0 else math.copysign(1.0, value)


@scalar(_HERE, "factorial")
def _factorial(call: Call, value: int) -> int:
    if value < 0:
        raise Failure("factorial of a negative number")
    # no type holds the factorial of 30, and that of a million takes a while
    return integer_result(call, math.factorial(min(value, 30)))


@scalar(_HERE, "bitwise_not")
def _bitwise_not(call: Call, value: int) -> int:
    return ~value


@scalar(_HERE, "bitwise_and")
def _bitwise_and(call: Call, left: int, right: int) -> int:
    return left & right


@scalar(_HERE, "bitwise_or")
def _bitwise_or(call: Call, left: int, right: int) -> int:
    return left | right


@scalar(_HERE, "bitwise_xor")
def _bitwise_xor(call: Call, left: int, right: int) -> int:
    return left ^ right


def _bits(call: Call, shift: int) -> int:
    """The number of bits of the base; a shift by so many, or by fewer than none, isn't determined."""
    limits = integer_range(call.type)
    assert limits is not None
    bits = limits[1].bit_length() + 1
    if not 0 <= shift < bits:
        raise call.open(f"a shift by {shift} of {bits} bits")
    return bits


def _signed(value: int, bits: int) -> int:
    """The integer whose two's complement is the lowest bits of the value."""
    low = value & (1 << bits) - 1
    return low - (1 << bits) if low >> bits - 1 else low


@scalar(_HERE, "shift_left")
def _shift_left(call: Call, value: int, shift: int) -> int:
    bits = _bits(call, shift)
    return _signed(value << shift, bits)


@scalar(_HERE, "shift_right")
def _shift_right(call: Call, value: int, shift: int) -> int:
    _bits(call, shift)
    return value >> shift


@scalar(_HERE, "shift_right_unsigned")
def _shift_right_unsigned(call: Call, value: int, shift: int) -> int:
    bits = _bits(call, shift)
    return _signed((value & (1 << bits) - 1) >> shift, bits)
