"""Bitwise operations on whole decimals, as two's complement numbers of any length."""

from __future__ import annotations

from collections.abc import Callable

from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.common_expressions import bound
from pyspark_substrait.sql.functions.decimals.digits import WHOLE, decimal_of
from pyspark_substrait.sql.functions.table import Call

__all__ = ["bitwise"]

#: the digits that always fit into a BIGINT
_BIGINT = 18
_WORD = f"{2**64}BD"
_HALF_WORD = f"{2**63}BD"
#: the upper and the lower 64 bits of ``n``, which isn't negative, each as a BIGINT
_HIGH = f"n div {_WORD}"
_LOW = f"CAST(if(n % {_WORD} < {_HALF_WORD}, n % {_WORD}, n % {_WORD} - {_WORD}) AS BIGINT)"


def bitwise(operator: str) -> Callable[[Call], str]:
    """Return the operation ``&``, ``|`` or ``^``. A result that needs more digits than its type has is an error."""

    def body(call: Call) -> str:
        target = spark_type(call.output)
        if decimal_of(call.output).precision <= _BIGINT:
            x, y = (f"CAST({call.sql(position)} AS BIGINT)" for position in (0, 1))
            return Atom(f"CAST({x} {operator} {y} AS {target})")
        numbers = ", ".join(f"CAST({call.sql(position)} AS {WHOLE})" for position in (0, 1))
        words = f"transform(array({numbers}), v -> {_words()})"
        high, low = (f"w[0].{part} {operator} w[1].{part}" for part in ("high", "low"))
        return bound(words, "w", bound(f"named_struct('high', {high}, 'low', {low})", "w", _number(target)))

    return body


def _words() -> str:
    """Return the bits of ``v``; those of a negative number are a complement."""
    flip = "if(v < 0, -1L, 0L)"
    bits = f"named_struct('high', ({_HIGH}) ^ {flip}, 'low', {_LOW} ^ {flip})"
    return bound("if(v < 0, -1BD - v, v)", "n", bits)


def _number(target: str) -> str:
    """The number whose bits are ``w``."""

    def joined(high: str, low: str) -> str:
        unsigned = f"if({low} < 0, CAST({low} AS {WHOLE}) + {_WORD}, CAST({low} AS {WHOLE}))"
        return f"CAST({high} AS DECIMAL(20, 0)) * {_WORD} + {unsigned}"

    return f"CAST(if(w.high < 0, -1BD - ({joined('~w.high', '~w.low')}), {joined('w.high', 'w.low')}) AS {target})"
