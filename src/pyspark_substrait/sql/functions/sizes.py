"""Limits on the size of a value, for functions whose result may be far larger than their arguments.

Spark computes calls of constants while it plans, in the driver and outside of any job, and also calls on the rows of a
small table in the plan. So a count that would make a value beyond the limit fails before the value is computed.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import I64, concrete
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.compiler.types import INTEGERS, spark_type
from pyspark_substrait.sql.functions.table import Body, Call

__all__ = ["MOST_BYTES", "MOST_ELEMENTS", "bounded_format", "bounded_length", "bounded_range", "bounded_times"]

#: the maximum number of characters to pad to, and of bytes of a repeated text
MOST_BYTES = 64 * 1024 * 1024
#: the maximum number of elements of a list made from a count
MOST_ELEMENTS = 4 * 1024 * 1024


def _too_large(call: Call, most: int, what: str) -> str:
    return string_literal(f"{call.function.name}: more than {most:,} {what}")


def bounded_length(call: Call, position: int, most: int = MOST_BYTES, what: str = "characters") -> str:
    """Return the argument that determines the size of the result; it fails beyond ``most``.

    Raises:
        UnsupportedPlanError: it is a literal beyond it.
    """
    operand = call.operands[position]
    if isinstance(operand.literal, int):
        if operand.literal > most:
            raise UnsupportedPlanError(
                f"{call.function.name} makes a value of {operand.literal:,} {what}, more than {most:,}",
                hint="Spark may compute it in the driver, before any job",
                path=f"arguments[{position}]",
            )
        return operand.sql
    type = call.type(position)
    limit = f"{most}L" if isinstance(concrete(type), I64) else str(most)
    failure = f"CAST(raise_error({_too_large(call, most, what)}) AS {spark_type(type)})"
    return f"if({operand.sql} > {limit}, {failure}, {operand.sql})"


def bounded_times(call: Call, text: str, times: str, count: str) -> str:
    """Return ``times``, an INT, by which a text is repeated; it fails if the result exceeds :data:`MOST_BYTES`.

    Args:
        call: the call.
        text: the argument that is repeated.
        times: the number of repetitions, as an INT.
        count: the original number, as a BIGINT.
    """
    known = call.operands[1].literal
    if isinstance(known, int):
        if known <= 1:
            return times
        most = str(MOST_BYTES // known)
        size = f"octet_length({text})"
    else:
        most = f"{MOST_BYTES}L div greatest({count}, 1L)"
        size = f"CAST(octet_length({text}) AS BIGINT)"
    failure = f"CAST(raise_error({_too_large(call, MOST_BYTES, 'bytes')}) AS INT)"
    return f"if({size} > {most}, {failure}, {times})"


def bounded_range(call: Call) -> str:
    """The first argument of a range of integers, which fails if there are too many of them."""
    start, stop = call.sql(0), call.sql(1)
    if concrete(call.type(0)).__class__ not in INTEGERS:
        return start
    step = f" / greatest(abs(CAST({call.sql(2)} AS DOUBLE)), 1D)" if len(call.operands) > 2 else ""
    size = f"abs(CAST({stop} AS DOUBLE) - CAST({start} AS DOUBLE)){step}"
    failure = f"raise_error({_too_large(call, MOST_ELEMENTS, 'elements')})"
    return f"if({size} >= {MOST_ELEMENTS}D, CAST({failure} AS {spark_type(call.type(0))}), {start})"


def bounded_format(body: Callable[[Call], str]) -> Body:
    """Return a body for texts made by a format, which may contain the width of a value."""

    def made(call: Call) -> str:
        form = call.operands[0].literal
        if isinstance(form, str) and _is_too_wide(form):
            raise UnsupportedPlanError(
                f"{call.function.name} pads a value to more than {MOST_BYTES:,} characters", path="arguments[0]"
            )
        return body(call)

    return made


#: a percent sign, or the flags, positions, width and precision of a conversion of Java's Formatter
_CONVERSION = re.compile(r"%(?:%|[-#+ 0,(<$.\d]*)")
_NUMBER = re.compile(r"[1-9]\d*")


def _is_too_wide(form: str) -> bool:
    """Whether a width or a precision in a format is above :data:`MOST_BYTES`."""
    numbers = (number for conversion in _CONVERSION.findall(form) for number in _NUMBER.findall(conversion))
    # Python refuses to parse numbers of thousands of digits
    return any(len(number) > len(str(MOST_BYTES)) or int(number) > MOST_BYTES for number in numbers)
