"""The INTERVAL literals of Spark SQL, as ones of DataFusion for the same time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.planner.tokens import Item, Kind, Token, unescaped

__all__ = ["Interval", "interval"]

_MONTHS: Final = {"YEAR": 12, "MONTH": 1}
_MICROS: Final = {
    "WEEK": 7 * 86_400_000_000,
    "DAY": 86_400_000_000,
    "HOUR": 3_600_000_000,
    "MINUTE": 60_000_000,
    "SECOND": 1_000_000,
    "MILLISECOND": 1_000,
    "MICROSECOND": 1,
}
_UNITS: Final = frozenset({*_MONTHS, *_MICROS})
_NUMBER: Final = re.compile(r"\s*([+-]?)\s*(\d+|\d*\.\d{1,6}|\d+\.)\s*")
_LISTED: Final = re.compile(r"\s*([+-]?\s*\d*\.?\d*)\s+([a-zA-Z]+)(?=\s|$)")
_DAY: Final = r"(?P<DAY>\d+)"
_SECOND: Final = r"(?P<SECOND>\d{1,2}(?:\.\d{1,6})?)"
#: the forms of texts from one unit to another; all but the first number are below 24, or below 60
_FORMS: Final = {
    ("YEAR", "MONTH"): r"(?P<YEAR>\d+)-(?P<MONTH>\d{1,2})",
    ("DAY", "HOUR"): rf"{_DAY} (?P<HOUR>\d{{1,2}})",
    ("DAY", "MINUTE"): rf"{_DAY} (?P<HOUR>\d{{1,2}}):(?P<MINUTE>\d{{1,2}})",
    ("DAY", "SECOND"): rf"{_DAY} (?P<HOUR>\d{{1,2}}):(?P<MINUTE>\d{{1,2}}):{_SECOND}",
    ("HOUR", "MINUTE"): r"(?P<HOUR>\d+):(?P<MINUTE>\d{1,2})",
    ("HOUR", "SECOND"): rf"(?P<HOUR>\d+):(?P<MINUTE>\d{{1,2}}):{_SECOND}",
    ("MINUTE", "SECOND"): rf"(?P<MINUTE>\d+):{_SECOND}",
}
_LIMITS: Final = {"MONTH": 12, "HOUR": 24, "MINUTE": 60, "SECOND": 60}


@dataclass(frozen=True, slots=True)
class Interval:
    """A literal.

    Args:
        end: the position behind its last token.
        text: the literal for DataFusion: in months, in days, or, if a unit is below a day, in seconds.
    """

    end: int
    text: str


def interval(words: Sequence[Item], position: int) -> Interval | None:
    """Return the literal that begins with the word INTERVAL at a position; None if there is none.

    Args:
        words: the items of a query, without spaces.
        position: that of the word.

    Raises:
        InvalidPlanError: Spark has no such literal.
    """
    at, sign = _sign(words, position + 1)
    value = _value(words, at)
    if value is None:
        return None
    unit = _word(words, at + 1)
    if unit in _UNITS and _word(words, at + 2) == "TO":
        text = _between(value, unit, _word(words, at + 3), sign)
        return Interval(at + 4, text)
    if unit not in _UNITS and value.kind is Kind.TEXT and re.search(r"[a-zA-Z]", value.text[1:]):
        return Interval(at + 1, _listed(unescaped(value), sign))
    parts = []
    while True:
        if unit not in _UNITS:
            named = words[at + 1].text if at + 1 < len(words) else "no unit"
            raise InvalidPlanError(f"Spark has no INTERVAL in {named}", hint="Use years, months, days or seconds")
        parts.append((unit, sign * _number(_plain(value), unit)))
        end = at + 2
        at, sign = _sign(words, end)
        value, unit = _value(words, at), _word(words, at + 1)
        if value is None or unit not in _UNITS:
            return Interval(end, _written(parts))


def _sign(words: Sequence[Item], at: int) -> tuple[int, int]:
    if at < len(words) and words[at].text in ("+", "-"):
        return at + 1, -1 if words[at].text == "-" else 1
    return at, 1


def _value(words: Sequence[Item], at: int) -> Token | None:
    found = words[at] if at < len(words) else None
    return found if isinstance(found, Token) and found.kind in (Kind.TEXT, Kind.NUMBER) else None


def _word(words: Sequence[Item], at: int) -> str:
    """Return a word, a unit without the s that may follow it; empty for anything else."""
    found = words[at] if at < len(words) else None
    word = found.word if isinstance(found, Token) else ""
    return word.removesuffix("S") if word.removesuffix("S") in _UNITS else word


def _plain(value: Token) -> str:
    return unescaped(value) if value.kind is Kind.TEXT else value.text


def _number(text: str, unit: str) -> Decimal:
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise InvalidPlanError(f"{text!r} is no number of an INTERVAL")
    if "." in text and unit != "SECOND":
        raise InvalidPlanError(f"Spark has no fraction in an INTERVAL of {unit}", hint="Use seconds")
    return Decimal(found[1] + found[2])


def _listed(text: str, sign: int) -> str:
    """Write an INTERVAL whose text has the units: ``1 day 2 hours``."""
    rest = re.sub(r"(?i)^\s*interval\s", "", text)
    parts = []
    while rest.strip():
        found = _LISTED.match(rest)
        unit = "" if found is None else found[2].upper().removesuffix("S")
        if found is None or unit not in _UNITS:
            raise InvalidPlanError(f"INTERVAL {text!r} is not understood", hint="Write it like INTERVAL 1 DAY 2 HOURS")
        parts.append((unit, sign * _number(found[1], unit)))
        rest = rest[found.end() :]
    return _written(parts)


def _between(value: Token, first: str, last: str, sign: int) -> str:
    """Write an INTERVAL from one unit to another: ``'1 02:03:04' DAY TO SECOND``."""
    form, text = _FORMS.get((first, last)), _plain(value).strip()
    if form is None:
        raise InvalidPlanError(f"Spark has no INTERVAL from {first} to {last}")
    if text[:1] in ("+", "-"):
        sign, text = sign * (-1 if text[0] == "-" else 1), text[1:]
    found = re.fullmatch(form, text) if value.kind is Kind.TEXT else None
    if found is None:
        raise InvalidPlanError(f"{value.text} is no INTERVAL from {first} to {last}")
    parts = [(unit, Decimal(number)) for unit, number in found.groupdict().items()]
    for unit, number in parts[1:]:
        if number >= _LIMITS[unit]:
            raise InvalidPlanError(f"{value.text} has {number} {unit}S")
    return _written([(unit, sign * number) for unit, number in parts])


def _written(parts: Sequence[tuple[str, Decimal]]) -> str:
    units = {unit for unit, _ in parts}
    if units & _MONTHS.keys() and units & _MICROS.keys():
        raise InvalidPlanError(
            "an INTERVAL of months and of days or time at once has no type in Spark",
            hint="Add one of months, then one of days and time",
        )
    if units <= _MONTHS.keys():
        return f"INTERVAL '{sum(int(number) * _MONTHS[unit] for unit, number in parts)}' MONTH"
    micros = sum((number * _MICROS[unit] for unit, number in parts), Decimal(0))
    if units <= {"WEEK", "DAY"}:
        return f"INTERVAL '{int(micros) // _MICROS['DAY']}' DAY"
    # a day and no hours is more than days: beside a date, it makes a timestamp
    return f"INTERVAL '{micros / 1_000_000:.6f}' SECOND"
