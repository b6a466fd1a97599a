"""Preparation of an angle or a point for the formulas (see ``formulas``)."""

from __future__ import annotations

import sys
from fractions import Fraction

from pyspark_substrait.sql.functions.common_expressions import bound
from pyspark_substrait.sql.functions.elementary.formulas import PI
from pyspark_substrait.sql.functions.elementary.machine import (
    array_of_doubles,
    constant,
    pair,
    power_of_two,
    times_plus,
    upper_half,
)

__all__ = ["directions", "turned"]

#: the number of digits of 2 / pi needed: 1024 for the largest DOUBLE, 62 for the nearest to a multiple, 106
_PLACES = 1224
_PLACES_OF_PIECE = 24
_SCALE = 2.0**500


def turned(x: str) -> str:
    """Return a finite angle as a struct of ``n``, a number of quarter turns from 0 to 3, and the pair ``r``, the rest.

    The rest is within a quarter of pi, and precise however small it is.
    """
    # x * 2 / pi modulo 4: the pieces of 2 / pi that give multiples of 4 are skipped, the others multiplied exactly with
    # both halves of x and summed from the largest; the multiple n nearly cancels the sum in the end
    halves = bound(f"{x} * {1 / _SCALE!r}D", "o", f"array({upper_half('o')}, o - {upper_half('o')})")
    skipped = f"floor((log2(greatest(abs({x}), 1D)) - 60D) / {_PLACES_OF_PIECE}D)"
    pieces = f"slice({array_of_doubles(_pieces_of_2_over_pi())}, 1 + CAST(greatest(0, {skipped}) AS INT), 12)"
    products = f"flatten(transform({pieces}, p -> transform({halves}, i -> (i * p) % 4D)))"
    total = "aggregate(m, 0D, (a, p) -> a + p)"
    exact = f"aggregate(m, {pair('-n')}, (a, p) -> {times_plus('a', pair(1.0), pair('p'))})"
    quarter = constant(PI / 2).parts
    assert quarter is not None
    rest = times_plus(exact, pair(*quarter), pair(0.0))
    turns = bound(f"rint({total})", "n", f"named_struct('n', pmod(n, 4D), 'r', {rest})")
    return f"if(abs({x}) < 0.78D, named_struct('n', 0D, 'r', {pair(x)}), {bound(products, 'm', turns)})"


def _pieces_of_2_over_pi() -> list[float]:
    """Return the digits of 2 / pi in pieces, each times a scale that keeps the smallest one a normal number."""
    digits = int(2 / PI * 2**_PLACES)
    mask = (1 << _PLACES_OF_PIECE) - 1
    return [
        float(Fraction(digits >> _PLACES - place & mask, 2**place) * Fraction(_SCALE))
        for place in range(_PLACES_OF_PIECE, _PLACES + 1, _PLACES_OF_PIECE)
    ]


def directions(y: str, x: str) -> str:
    """Return a point that isn't (0, 0) as a struct of DOUBLEs whose products neither overflow nor underflow.

    It has ``sign``, that of y; ``right``, whether x is positive; ``a`` and ``b``, the magnitudes of y and x at a common
    scale (if one is infinite, those of a finite point in the same direction); and for finite points off the axes
    ``y`` and ``x``, the magnitudes at separate scales: their quotient has to be multiplied by 2^``k``.
    """
    finite = f"least(abs({{}}), {sys.float_info.max!r}D)"
    exponent = f"CAST(floor(log2({finite})) AS DOUBLE)".format
    scales = f"named_struct('y', {exponent(y)}, 'x', {exponent(x)})"
    fields = {
        "sign": f"if({y} < 0D, -1D, 1D)",
        "right": f"{x} > 0D",
        "a": _leg(f"abs({y})", f"abs({x})"),
        "b": _leg(f"abs({x})", f"abs({y})"),
        "y": power_of_two("-m.y", f"abs({y})"),
        "x": power_of_two("-m.x", f"abs({x})"),
        "k": "greatest(m.y - m.x, -1500D)",  # smaller quotients are beyond the DOUBLEs, like all their powers of two
    }
    struct = ", ".join(f"'{name}', {text}" for name, text in fields.items())
    return bound(scales, "m", f"named_struct({struct})")


def _leg(leg: str, other: str) -> str:
    infinity = "double('infinity')"
    own = power_of_two("-greatest(m.y, m.x)", leg)
    return f"CASE WHEN {leg} = {infinity} THEN 1D WHEN {other} = {infinity} THEN 0D ELSE {own} END"
