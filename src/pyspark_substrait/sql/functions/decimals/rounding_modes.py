"""The ten modes of the functions ``round``, on the digits of a number."""

from __future__ import annotations

from pyspark_substrait.sql.functions.common_expressions import bound
from pyspark_substrait.sql.functions.decimals.digits import WHOLE

__all__ = ["MODES", "rounded", "sign"]

# the condition for rounding the magnitude up, by mode: the remainder ``r`` has the sign of the number, {h} is half of
# the last place and {l} the negative of that
_NEARER = "r > {h} OR r < {l}"
_TIE = "(r = {h} OR r = {l})"
_UP = {
    "TIE_AWAY_FROM_ZERO": "r >= {h} OR r <= {l}",
    "TIE_TO_EVEN": f"{_NEARER} OR {_TIE} AND {{odd}} <> 0",
    "TIE_TO_ODD": f"{_NEARER} OR {_TIE} AND {{odd}} = 0",
    "TIE_TOWARDS_ZERO": _NEARER,
    "TIE_UP": "r >= {h} OR r < {l}",
    "TIE_DOWN": "r > {h} OR r <= {l}",
    "TRUNCATE": "false",
    "AWAY_FROM_ZERO": "r <> 0",
    "CEILING": "r > 0",
    "FLOOR": "r < 0",
}
#: the first one is the default, as in SQL
MODES = tuple(_UP)


def rounded(number: str, count: int | str, mode: str) -> str:
    """Return a whole number rounded to a multiple of ``10**count``; more than 38 digits are an error.

    Args:
        number: a DECIMAL(38, 0).
        count: the number of digits to cut, from 1 to 38: a number, or an SQL expression that is used several times.
        mode: a value of the option ``rounding``.
    """
    if isinstance(count, int):
        half, low = (f"{digit * 10 ** (count - 1)}BD" for digit in (5, -5))
        rest = "n" if count == 38 else f"n % {10**count}BD"
        odd = "0" if count == 38 else f"(n - r) % {2 * 10**count}BD"
    else:
        # with 38 digits cut, no last digit is left that could be odd
        half, low = (f"CAST(concat('{digit}E', {count} - 1) AS {WHOLE})" for digit in (5, -5))
        rest = f"if({count} = 38, n, n % CAST(concat('1E', least({count}, 37)) AS {WHOLE}))"
        odd = f"(n - r) % CAST(concat('2E', least({count}, 37)) AS {WHOLE})"
    up = _UP[mode].format(h=half, l=low, odd=odd)
    further = f"if(r > 0, n - r + {half} + {half}, n - r + {low} + {low})"
    return bound(number, "n", bound(rest, "r", "n - r" if up == "false" else f"if({up}, {further}, n - r)"))


def sign(number: str) -> str:
    """Return -1, 0 or 1: it rounds like the number if more digits are cut than it has."""
    return f"CASE WHEN {number} > 0 THEN 1BD WHEN {number} < 0 THEN -1BD ELSE {number} END"
