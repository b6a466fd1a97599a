"""A machine in Spark SQL that computes with about 104 binary digits.

A number is a *pair*: a struct of the DOUBLEs ``h`` and ``l`` whose sum it is, where ``h`` is the rounded sum. The
algorithms of Dekker and Knuth recover the rounding error of a product or sum; they need numbers between 2^-900 and
2^990, so callers scale their numbers.

A formula is written with :class:`Number` in Python and becomes a program: a list of instructions, each of which appends
a number to a list of registers. The text of the machine is one ``aggregate`` over the instructions. It doesn't grow
with the program and isn't deeply nested, as formulas of the same length in SQL would be: Spark's analyzer needs an
iteration for each level of lambda functions, with a maximum of 100.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from pyspark_substrait.sql.functions.common_expressions import bound

__all__ = [
    "ONE",
    "ZERO",
    "Number",
    "Value",
    "array_of_doubles",
    "constant",
    "given",
    "machine",
    "pair",
    "power_of_two",
    "times_plus",
    "upper_half",
]


def pair(high: str | float, low: str | float = 0.0) -> str:
    """The text of a pair, from texts or numbers."""
    return f"named_struct('h', {_text(high)}, 'l', {_text(low)})"


def _text(part: str | float) -> str:
    return part if isinstance(part, str) else f"{part!r}D"


def power_of_two(exponent: str, times: str) -> str:
    """Return a DOUBLE times a power of two with a whole DOUBLE as exponent; the power may exceed the DOUBLEs."""
    half = f"floor({exponent} / 2D)"
    return f"({times} * pow(2D, {half}) * pow(2D, {exponent} - {half}))"


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """A number in a formula.

    Args:
        source: the text of the pair, for an argument.
        parts: the pair itself, for a constant.
        operation: the operation that computes it from others: one of ``_OPERATIONS``.
        operands: the operands of that.
    """

    source: str = ""
    parts: tuple[float, float] | None = None
    operation: str = ""
    operands: tuple[Number, ...] = ()

    def __add__(self, other: Number) -> Number:
        return self.times(ONE, plus=other)

    def __sub__(self, other: Number) -> Number:
        return other.times(_MINUS_ONE, plus=self)

    def __mul__(self, other: Number) -> Number:
        return self.times(other, plus=ZERO)

    def __neg__(self) -> Number:
        return self * _MINUS_ONE

    def __truediv__(self, other: Number) -> Number:
        first = self.ratio(other)
        return first + (self - first * other).ratio(other)

    def times(self, factor: Number, plus: Number) -> Number:
        """Return ``self * factor + plus``, with an error of at most 2^-102 of the larger part."""
        return Number(operation="times", operands=(self, factor, plus))

    def ratio(self, divisor: Number) -> Number:
        """The quotient as a DOUBLE, 0 for zero divisors."""
        return Number(operation="ratio", operands=(self, divisor))

    def first_root(self) -> tuple[Number, Number]:
        """Return the square root of a nonnegative number as a DOUBLE, and the number minus the square of that."""
        first = Number(operation="root", operands=(self,))
        return first, self - first * first

    def root(self) -> Number:
        """Return the square root of a nonnegative number."""
        first, rest = self.first_root()
        return first + rest.ratio(first + first)

    def scaled(self, exponent: Number) -> Number:
        """``self * 2^exponent``."""
        return Number(operation="scaled", operands=(self, exponent))

    def whole(self) -> Number:
        """The nearest whole number."""
        return Number(operation="whole", operands=(self,))

    def native(self, name: str) -> Number:
        """Return the result of a Spark function as a DOUBLE: ``ln``, ``log1p`` or ``atan``."""
        return Number(operation=name, operands=(self,))

    def choose(self, positive: Number, otherwise: Number) -> Number:
        """One of two numbers, by the sign of this one."""
        return Number(operation="choose", operands=(self, positive, otherwise))

    def polynomial(self, coefficients: Sequence[Fraction]) -> Number:
        """Return the polynomial with these coefficients, the constant one first."""
        *others, total = (constant(coefficient) for coefficient in coefficients)
        for coefficient in reversed(others):
            total = total.times(self, plus=coefficient)
        return total


def constant(value: Fraction | float) -> Number:
    """A constant, to 106 binary digits."""
    high = float(value)
    return Number(parts=(high, float(Fraction(value) - Fraction(high))))


def given(high: str, low: str | float = 0.0) -> Number:
    """Return the number with these texts as its pair."""
    return Number(pair(high, low))


ZERO: Final = constant(0.0)
ONE: Final = constant(1.0)
_MINUS_ONE: Final = constant(-1.0)


@dataclass(frozen=True, slots=True)
class Value:
    """A result to round: ``number * 2^exponent``.

    Args:
        number: its error must be within 2^-99 of ``uncertain`` times itself.
        exponent: a whole number; the value may exceed the DOUBLEs.
        uncertain: the part that isn't exact, relative to the number.
    """

    number: Number
    exponent: Number = ZERO
    uncertain: Number = ONE


def upper_half(x: str) -> str:
    """Return the leading 26 digits of a DOUBLE; ``x`` minus this has no more than 26 digits, either."""
    return f"(134217729D * {x} - (134217729D * {x} - {x}))"


def _times() -> str:
    halves = f"named_struct('p', o.a.h * o.b.h, 'a', {upper_half('o.a.h')}, 'b', {upper_half('o.b.h')})"
    lost = "((t.a * t.b - t.p) + t.a * (o.b.h - t.b) + (o.a.h - t.a) * t.b) + (o.a.h - t.a) * (o.b.h - t.b)"
    product = f"named_struct('h', t.p, 'l', ({lost}) + (o.a.h * o.b.l + o.a.l * o.b.h), 's', t.p + o.c.h)"
    low = "((t.h - (t.s - (t.s - t.h))) + (o.c.h - (t.s - t.h))) + (t.l + o.c.l)"
    total = bound(bound(halves, "t", product), "t", pair("t.s", low))
    return bound(total, "t", pair("t.h + t.l", "t.l - ((t.h + t.l) - t.h)"))


#: the operations of the machine on the operands a, b and c
_OPERATIONS: Final = {
    "times": _times(),
    "ratio": pair("if(o.b.h = 0D, 0D, o.a.h / o.b.h)"),
    "root": pair("sqrt(o.a.h)"),
    "scaled": pair(power_of_two("o.b.h", "o.a.h"), power_of_two("o.b.h", "o.a.l")),
    "whole": pair("rint(o.a.h)"),
    "ln": pair("ln(o.a.h)"),
    "log1p": pair("log1p(o.a.h)"),
    "atan": pair("atan(o.a.h)"),
    "choose": "if(o.a.h > 0D, o.b, o.c)",
}


def times_plus(a: str, b: str, c: str) -> str:
    """The text of ``a * b + c`` for the texts of three pairs."""
    return bound(f"named_struct('a', {a}, 'b', {b}, 'c', {c})", "o", _OPERATIONS["times"])


def machine(cases: Sequence[tuple[str, Value]]) -> str:
    """Return results as a struct of the pair ``p`` and the DOUBLEs ``k`` and ``d``, its exponent and its uncertainty.

    Args:
        cases: the values with their conditions; the first match applies, and the condition of the last one is ignored.
    """
    *others, (_, last) = cases
    program = _program(last)
    if others:
        choices = " ".join(f"WHEN {condition} THEN {_program(value)}" for condition, value in others)
        program = f"CASE {choices} ELSE {program} END"
    operands = ", ".join(
        f"'{name}', r[shiftright(i, {place}) & 255]" for name, place in zip("abc", (16, 8, 0), strict=True)
    )
    codes = " ".join(f"WHEN {code} THEN {text}" for code, text in enumerate(_OPERATIONS.values()))
    step = bound(f"named_struct('o', shiftright(i, 24), {operands})", "o", f"CASE o.o {codes} END")
    run = f"aggregate(m.code, m.registers, (r, i) -> array_append(r, {step}))"
    results = "named_struct('p', element_at(m, -3), 'k', element_at(m, -2).h, 'd', element_at(m, -1).h)"
    return bound(bound(program, "m", run), "m", results)


def _program(value: Value) -> str:
    """Return the text of the initial registers, and of the instructions; the last three are the result."""
    results = (value.number, value.exponent, value.uncertain)
    order: dict[Number, None] = {}  # every number after its operands
    for number in results:
        _visit(number, order)
    constants = list(dict.fromkeys(number.parts for number in (*order, ONE, ZERO) if number.parts is not None))
    sources = list(dict.fromkeys(number.source for number in order if number.source))
    made = [number for number in order if number.operation]
    made += [number.times(ONE, plus=ZERO) for number in results]
    assert len(constants) + len(sources) + len(made) <= 256, "a register has an address of 8 bits"

    def address(number: Number) -> int:
        if number.parts is not None:
            return constants.index(number.parts)
        if number.source:
            return len(constants) + sources.index(number.source)
        return len(constants) + len(sources) + places[number]

    places = {number: place for place, number in enumerate(made)}
    code = [_instruction(number, [address(operand) for operand in number.operands]) for number in made]
    highs, lows = (array_of_doubles([parts[side] for parts in constants]) for side in (0, 1))
    registers = f"zip_with({highs}, {lows}, (h, l) -> {pair('h', 'l')})"
    if sources:
        registers = f"concat({registers}, array({', '.join(sources)}))"
    return f"named_struct('registers', {registers}, 'code', {_array(map(str, code), 'INT')})"


def array_of_doubles(values: Sequence[float]) -> str:
    """An array of constants."""
    return _array(map(repr, values), "DOUBLE")


def _array(items: Iterable[str], type: str) -> str:
    """Return an array of constants: as one string, because Spark's analysis visits every literal many times."""
    return f"CAST(split('{' '.join(items)}', ' ') AS ARRAY<{type}>)"


def _visit(number: Number, order: dict[Number, None]) -> None:
    if number not in order:
        for operand in number.operands:
            _visit(operand, order)
        order[number] = None


def _instruction(number: Number, operands: list[int]) -> int:
    a, b, c = (*operands, 0, 0)[:3]
    return list(_OPERATIONS).index(number.operation) << 24 | a << 16 | b << 8 | c
