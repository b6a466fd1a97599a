r"""Texts as dates, times and timestamps by the formats of chrono, in which DataFusion reads them.

A format is read from left to right without going back: white space of the format is any amount of it, or none, there
may be some before a number, and a number takes as many digits as it can have. A day without an hour and a minute is
taken at midnight. Of several formats, the first that fits counts; nulls are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import concrete
from pyspark_substrait.sql.compiler import temporal
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.compiler.types import spark_type, units_per_second
from pyspark_substrait.sql.fragment import Atom, Constant
from pyspark_substrait.sql.functions.common_expressions import bound, raised
from pyspark_substrait.sql.functions.engines.datafusion.calls import text_operand
from pyspark_substrait.sql.functions.engines.datafusion.counts import (
    DAY,
    NANOS,
    NANOS_OF_DAY,
    digits_of,
    of_count,
    units_of,
)
from pyspark_substrait.sql.functions.table import Call, Foreign, row
from pyspark_substrait.sql.functions.time_formats.conversions import MONTHS, WEEKDAYS

__all__ = ["ROWS"]

#: what Rust calls white space
_BLANK: Final = r"[\t-\r \x85\xA0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]"
_BLANKS: Final = f"{_BLANK}*+"
_MINUS: Final = "\u2212"
_OFFSET: Final = rf"[+{_MINUS}-]\d\d[:{_BLANK[1:]}*+[0-5]\d"
#: a month, and an hour of twelve
_OF_TWELVE: Final = r"0[1-9]|1[0-2]|[1-9](?!\d)"
_DAY: Final = r"0[1-9]|[12]\d|3[01]|[1-9](?!\d)"
_HOUR: Final = r"[01]\d|2[0-3]|\d(?!\d)"


def _names(names: tuple[str, ...], *, whole: bool) -> str:
    endings = [f"(?:{name[3:]})?+" if whole and name[3:] else "" for name in names]
    return "(?i:" + "|".join(name[:3] + ending for name, ending in zip(names, endings, strict=True)) + ")"


@dataclass(frozen=True, slots=True)
class _Conversion:
    """A conversion of a format.

    Args:
        value: the letter of the value that it reads.
        pattern: its regular expression; with a group, if not the whole is the value.
        is_number: whether there may be white space before it.
    """

    value: str
    pattern: str
    is_number: bool = True

    @property
    def expression(self) -> str:
        group = self.pattern if re.search(r"(?<!\\)\((?!\?)", self.pattern) else f"({self.pattern})"
        return _BLANKS + group if self.is_number else group


_NUMBERS: Final[Mapping[str, _Conversion]] = {
    "Y": _Conversion("Y", r"[+-]\d{1,18}+(?!\d)|\d{1,4}+"),
    "y": _Conversion("y", r"\d{1,2}+"),
    "q": _Conversion("q", "[1-4]"),
    "m": _Conversion("m", _OF_TWELVE),
    "d": _Conversion("d", _DAY),
    "e": _Conversion("d", _DAY),
    "j": _Conversion("j", r"00[1-9]|0[1-9]\d|[12]\d\d|3[0-5]\d|36[0-6]|(?:0[1-9]|[1-9]\d)(?!\d)|[1-9](?!\d)"),
    "H": _Conversion("H", _HOUR),
    "k": _Conversion("H", _HOUR),
    "I": _Conversion("I", _OF_TWELVE),
    "l": _Conversion("I", _OF_TWELVE),
    "M": _Conversion("M", r"[0-5]\d|\d(?!\d)"),
    "S": _Conversion("S", r"[0-5]\d|60|\d(?!\d)"),
    "f": _Conversion("n", r"\d{1,9}+"),
    "s": _Conversion("s", r"\d{1,18}+(?!\d)"),
}
_CONVERSIONS: Final[Mapping[str, _Conversion]] = {
    **_NUMBERS,
    "b": _Conversion("b", _names(MONTHS, whole=False), is_number=False),
    "h": _Conversion("b", _names(MONTHS, whole=False), is_number=False),
    "B": _Conversion("b", _names(MONTHS, whole=True), is_number=False),
    "a": _Conversion("a", _names(WEEKDAYS, whole=False), is_number=False),
    "A": _Conversion("a", _names(WEEKDAYS, whole=True), is_number=False),
    "p": _Conversion("p", "(?i:[AP]M)", is_number=False),
    "P": _Conversion("p", "(?i:[AP]M)", is_number=False),
    ".f": _Conversion("f", r"(?:\.(\d{1,9})\d*+|(?!\.))", is_number=False),
    **{f".{digits}f": _Conversion("f", rf"(?:\.(\d{{{digits}}})|(?!\.))", is_number=False) for digits in (3, 6, 9)},
    **{f"{digits}f": _Conversion("f", rf"\d{{{digits}}}", is_number=False) for digits in (3, 6, 9)},
    "z": _Conversion("z", _OFFSET),
    ":z": _Conversion("z", _OFFSET),
    "::z": _Conversion("z", _OFFSET),
    "#z": _Conversion("z", rf"[Zz]|[+{_MINUS}-]\d\d[:{_BLANK[1:]}*+(?:[0-5]\d)?+"),
}
#: conversions that are equivalent to several others
_COMPOSITES: Final[Mapping[str, str]] = {
    "c": "%a %b %e %H:%M:%S %Y",
    "D": "%m/%d/%y",
    "x": "%m/%d/%y",
    "F": "%Y-%m-%d",
    "v": "%e-%b-%Y",
    "R": "%H:%M",
    "T": "%H:%M:%S",
    "X": "%H:%M:%S",
    "r": "%I:%M:%S %p",
}
#: the offset at the end of %+
_OF_INSTANT: Final = _Conversion("z", rf"(?i:UTC)|[Zz]|{_OFFSET}")
#: conversions of chrono whose meaning depends on more than is read here
_OTHERS: Final = frozenset({"C", "G", "g", "V", "w", "u", "U", "W", "Z", ":::z"})
_FORMAT: Final = re.compile(r"%([-_0]?)(:{1,3}z|#z|\.[369]?f|[369]f|.|$)|(\s+)|([^%\s]+)", re.DOTALL)


class _Unfit(Exception):
    """A format that fits no text."""


def _pieces(format: str, refuse: Callable[[str], UnsupportedPlanError]) -> Iterator[str | _Conversion]:
    """Yield the conversions of a format, and regular expressions of what is between them.

    Raises:
        _Unfit: it isn't a format, so that it fits no text.
        UnsupportedPlanError: it has a conversion that isn't read here.
    """
    for found in _FORMAT.finditer(format):
        flag, name, blanks, text = found.groups()
        if blanks or name in ("n", "t"):
            yield _BLANKS
        elif text:
            yield re.escape(text)
        elif name == "%":
            yield "%"
        elif name == "+":
            yield from _pieces("%Y-%m-%d", refuse)
            yield "[Tt ]"
            yield from _pieces("%H:%M:%S%.f ", refuse)
            yield _OF_INSTANT
        elif name in _COMPOSITES and not flag:
            yield from _pieces(_COMPOSITES[name], refuse)
        elif (name in _CONVERSIONS and not flag) or name in _NUMBERS:
            if name == "#z" and found.end() < len(format):
                raise refuse("%#z before other text")
            yield _CONVERSIONS[name]
        elif name in _OTHERS or flag:
            raise refuse(f"%{flag}{name}")
        else:
            raise _Unfit


class _Format:
    """A format, and the values that it finds in a text.

    Args:
        format: the format.
        refuse: makes the error for what isn't read here.

    Raises:
        _Unfit: it fits no text.
        UnsupportedPlanError: it isn't read here.
    """

    def __init__(self, format: str, refuse: Callable[[str], UnsupportedPlanError]) -> None:
        items = [*_pieces(format, refuse)]
        self._values = [item.value for item in items if isinstance(item, _Conversion)]
        self._pattern = "".join(item if isinstance(item, str) else item.expression for item in items)
        found = {*self._values}
        if len(found) < len(self._values) or any(pair <= found for pair in _SAME):
            raise refuse("a part that is there twice")
        self.has_day = bool({"Y", "y"} & found) and ("j" in found or ("d" in found and bool({"m", "b"} & found)))
        self.has_time = "M" in found and ("H" in found or {"I", "p"} <= found)
        if {"f", "n"} & found and not {"S", "s"} & found and self.has_time:
            raise refuse("a fraction without its second")
        if self.has_day and ("q" in found or ("s" in found and not self.has_time)):
            raise refuse("a day in two ways")
        if "s" in found and not self.has_day and found - {"s", "f", "n", "z"}:
            raise refuse("%s beside other parts")

    def __contains__(self, value: str) -> bool:
        return value in self._values

    def _text(self, value: str) -> str:
        return f"p[{self._values.index(value)}]"

    def _number(self, value: str) -> str:
        return f"CAST({self._text(value)} AS INT)"

    def over(self, operand: str, value: str) -> str:
        """Return ``value`` for a text that fits, else null."""
        # the second alternative fits every other text, and leaves the groups empty
        pattern = string_literal(rf"^(?:{self._pattern}\z|[\s\S]*+)")
        groups = string_literal(",".join(f"${place + 1}" for place in range(len(self._values))))
        mark = self._text(next(one for one in self._values if one != "f"))
        split = f"split(regexp_replace({operand}, {pattern}, {groups}), ',')"
        return bound(split, "p", f"CASE WHEN {mark} <> '' THEN {value} END")

    # values ----------------------------------------------------------------------------------------------------------

    def day(self) -> str:
        """The DATE, null if there is none."""
        year = self._number("Y") if "Y" in self else f"pmod({self._number('y')} - 70, 100) + 1970"
        if "j" in self:
            fits = f"{self._number('j')} <= dayofyear(make_date({year}, 12, 31))"
            date = f"date_add(make_date({year}, 1, 1), {self._number('j')} - 1)"
        else:
            month = _place(self._text("b"), MONTHS) if "b" in self else self._number("m")
            fits = f"{self._number('d')} <= day(last_day(make_date({year}, {month}, 1)))"
            date = f"make_date({year}, {month}, {self._number('d')})"
        if "Y" in self:
            # the years that chrono has
            fits = f"CAST({self._text('Y')} AS BIGINT) BETWEEN -262143 AND 262142 THEN CASE WHEN {fits}"
        date = f"CASE WHEN {fits} THEN {date} END{' END' if 'Y' in self else ''}"
        if "a" in self:
            return bound(date, "d", f"if(dayofweek(d) = {_place(self._text('a'), WEEKDAYS)}, d, NULL)")
        return date

    def clock(self) -> str:
        """The seconds since midnight, as a BIGINT."""
        hours = self._number("H") if "H" in self else f"{self._number('I')} % 12"
        seconds = f"{hours} * 3600L + {self._number('M')} * 60L"
        if "H" not in self:
            seconds += f" + if(lower({self._text('p')}) = 'pm', 43200L, 0L)"
        return f"{seconds} + {self._number('S')}" if "S" in self else seconds

    def nanos(self) -> str:
        """The nanoseconds of the second, as a BIGINT."""
        if "n" in self:
            return f"CAST({self._text('n')} AS BIGINT)"
        return f"CAST(rpad({self._text('f')}, 9, '0') AS BIGINT)" if "f" in self else "0L"

    def offset(self) -> str:
        """The seconds by which the text is ahead of UTC; an offset of a day or more means nothing."""
        if "z" not in self:
            return "0L"
        digits = f"regexp_replace({self._text('z')}, '[^0-9]', '')"
        sign = f"if(startswith({self._text('z')}, '+'), 1L, -1L)"
        minutes = "CAST(rpad(substring(z, 3), 2, '0') AS BIGINT) * 60L"
        size = f"if(z = '' OR left(z, 2) > '23', 0L, CAST(left(z, 2) AS BIGINT) * 3600L + {minutes})"
        return Atom(f"({bound(digits, 'z', size)} * {sign})")

    def seconds(self) -> str | None:
        """The seconds since 1970, as a BIGINT; None if the format doesn't have them."""
        stamp = f"CAST({self._text('s')} AS BIGINT)" if "s" in self else None
        if not self.has_day:
            return stamp
        midnight = f"CAST(unix_date({self.day()}) AS BIGINT) * {DAY}L"
        if not self.has_time:
            return midnight
        if stamp is None:
            return f"{midnight} + {self.clock()} - {self.offset()}"
        # the instant counts where it is that of the day and the time
        local = f"m + {self.clock()}"
        chosen = f"CASE {stamp} WHEN {local} - {self.offset()} THEN {stamp} WHEN {local} THEN {stamp} ELSE m END"
        return bound(midnight, "m", chosen)

    def nanos_of_seconds(self) -> str:
        """The nanoseconds that are added to :meth:`seconds`: none at midnight, if there is no time."""
        return self.nanos() if self.has_time or not self.has_day else "0L"


#: values of which a format may have one only
_SAME: Final = tuple({*pair} for pair in ("HI", "Hp", "mb", "mj", "bj", "dj", "Yy", "fn"))


def _place(text: str, names: tuple[str, ...]) -> str:
    """Return the position of a name by its first three letters, counted from one."""
    letters = string_literal("".join(name[:3].lower() for name in names))
    return f"CAST(locate(lower(left({text}, 3)), {letters}) DIV 3 + 1 AS INT)"


# functions -----------------------------------------------------------------------------------------------------------


def _formats(call: Call) -> Iterator[_Format]:
    """Yield the formats that can fit a text."""

    def refuse(what: str) -> UnsupportedPlanError:
        return UnsupportedPlanError(f"DataFusion's {call.function.name} with {what} in a format", path="arguments")

    for position, operand in enumerate(call.operands[1:], start=1):
        if operand.is_null:
            continue
        if not isinstance(operand.literal, str):
            raise UnsupportedPlanError(
                f"DataFusion's {call.function.name} with a format that isn't a literal", path=f"arguments[{position}]"
            )
        with suppress(_Unfit):
            yield _Format(operand.literal, refuse)


def _first(call: Call, values: list[str]) -> str:
    """Return the first value that isn't null; an error if a text has none."""
    if all(operand.is_null for operand in call.operands[1:]) and len(call.operands) > 1:
        return Constant(f"CAST(NULL AS {spark_type(call.output)})", None)
    failure = raised(call, "the text has none of the forms of the formats")
    return Atom(f"if({call.sql(0)} IS NULL, NULL, coalesce({', '.join([*values, failure])}))")


def _units(format: _Format, digits: int) -> str | None:
    """The units since 1970, cut towards it; None if the format doesn't have them."""
    if (seconds := format.seconds()) is None:
        return None
    nanos = f"(({seconds}) * {units_per_second(NANOS)}L + {format.nanos_of_seconds()})"
    return nanos if digits == NANOS else f"({nanos} DIV {10 ** (NANOS - digits)}L)"


def to_timestamp(call: Call) -> str:
    """Return the timestamp of a text."""
    digits: int = getattr(concrete(call.output), "precision", 0)
    finer = digits_of(call.output) - digits
    found = []
    for format in _formats(call):
        if (units := _units(format, digits)) is not None:
            count = Atom(f"({units} * {10**finer}L)" if finer else units)
            found.append(format.over(call.sql(0), of_count(count, call.output)))
    return _first(call, found)


def to_unixtime(call: Call) -> str:
    units = [(format, _units(format, 0)) for format in _formats(call)]
    return _first(call, [format.over(call.sql(0), count) for format, count in units if count is not None])


def to_date(call: Call) -> str:
    found = []
    for format in _formats(call):
        if (seconds := format.seconds()) is not None:
            date = f"date_from_unix_date(CAST({temporal.floored('t', DAY)} AS INT))"
            found.append(format.over(call.sql(0), bound(seconds, "t", date)))
    return _first(call, found)


_TIMES: Final = ("%H:%M:%S%.f", "%H:%M:%S", "%H:%M")


def to_time(call: Call) -> str:
    """Return the time of a text; only the hour, the minute and the second are looked at."""
    if len(call.operands) == 1:
        call = replace(call, operands=(*call.operands, *map(text_operand, _TIMES)))
    found = [
        format.over(call.sql(0), f"(({format.clock()}) * {units_per_second(NANOS)}L + {format.nanos()})")
        for format in _formats(call)
        if format.has_time
    ]
    late = raised(call, "a time isn't before 24:00:00")
    units = bound(_first(call, found), "n", f"if(n >= {NANOS_OF_DAY}L, {late}, n)")
    return of_count(units, call.output)


def time_of(call: Call) -> str:
    """Return the time of a timestamp."""
    type = call.type(0)
    day = DAY * units_per_second(digits_of(type))
    more = 10 ** (digits_of(call.output) - digits_of(type))
    return of_count(Atom(f"(pmod({units_of(type, call.sql(0))}, {day}L) * {more}L)"), call.output)


ROWS = (
    row("to_date", to_date, signatures=("str_str",)),
    row("to_unixtime", to_unixtime, signatures=("str_str",)),
    row("to_time", to_time, signatures=("str", "str_str"), foreign=Foreign.MOVED),
    row("to_time", time_of, signatures=("pts", "ptstz"), foreign=Foreign.MOVED),
    *(
        row(name, to_timestamp, signatures=("str_str",), foreign=Foreign.MOVED)
        for name in ("to_timestamp", *(f"to_timestamp_{unit}" for unit in ("seconds", "millis", "micros", "nanos")))
    ),
)
