"""Meanings that the specification leaves open, and that one engine or another documents."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["STRICT", "Choices"]


@dataclass(frozen=True, kw_only=True)
class Choices:
    """Meanings to take where the specification has none. By default :class:`Undetermined` is raised there.

    Args:
        nearest: whether floating-point results whose last digits depend on the algorithm (sums in any order, sines,
            logarithms) are the exact ones, rounded once. They have to be compared with a tolerance then.
        nan_is_largest: whether NaN is equal to itself and greater than any other number, in comparisons, orders and
            groups.
        decimal_rounding: the mode, of the module ``decimal``, by which a decimal result is cut to its scale.
    """

    nearest: bool = False
    nan_is_largest: bool = False
    decimal_rounding: str | None = None


STRICT = Choices()
