"""``strftime``: dates, times and timestamps as text.

A format becomes one call of ``printf`` (whose locale is always en_US): its text with ``%02d`` and similar conversions,
and the numbers and names for those. They are computed from the local date and time, a DATE, a TIME or a TIMESTAMP_NTZ,
which is ``{t}`` in the texts here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import Date, PrecisionTime, PrecisionTimestamp, PrecisionTimestampTZ, concrete
from pyspark_substrait.sql.compiler import temporal
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.compiler.types import FINEST, units_per_second
from pyspark_substrait.sql.functions.common_expressions import bound
from pyspark_substrait.sql.functions.datetimes import zones
from pyspark_substrait.sql.functions.table import Call, Foreign, row
from pyspark_substrait.sql.functions.time_formats.conversions import (
    COMPOSITES,
    MODIFIED,
    MONTHS,
    SINGLE,
    WEEKDAYS,
    Conversion,
    Piece,
    parts,
    pieces,
    refusal,
)

__all__ = ["ROWS"]

#: more than needed, and small enough that a plan can't exhaust the memory
_WIDEST: Final = 1000


@dataclass(frozen=True, slots=True)
class _Number:
    """An integer to write: its value, its width, and its fill character."""

    sql: str
    width: int = 1
    filler: str = "0"


@dataclass(frozen=True, slots=True)
class _Text:
    """A text to write, and the function that the flag # applies to it."""

    sql: str
    swapped: str = "upper"


_Value: TypeAlias = "_Number | _Text"


def _one_of(index: str, names: tuple[str, ...], length: int | None = None) -> _Text:
    return _Text(f"elt({index}, {', '.join(string_literal(name[:length]) for name in names)})")


_HOUR_OF_TWELVE: Final = "(hour({t}) + 11) % 12 + 1"

_OF_DATES: Final[dict[str, _Value]] = {
    "a": _one_of("dayofweek({t})", WEEKDAYS, 3),
    "A": _one_of("dayofweek({t})", WEEKDAYS),
    "b": _one_of("month({t})", MONTHS, 3),
    "B": _one_of("month({t})", MONTHS),
    "h": _one_of("month({t})", MONTHS, 3),
    "C": _Number("(year({t}) - pmod(year({t}), 100)) DIV 100", 2),
    "d": _Number("day({t})", 2),
    "e": _Number("day({t})", 2, " "),
    "g": _Number("pmod(extract(YEAROFWEEK FROM {t}), 100)", 2),
    "G": _Number("extract(YEAROFWEEK FROM {t})", 4),
    "j": _Number("dayofyear({t})", 3),
    "m": _Number("month({t})", 2),
    "u": _Number("weekday({t}) + 1"),
    "U": _Number("(dayofyear({t}) + 7 - dayofweek({t})) DIV 7", 2),
    "V": _Number("weekofyear({t})", 2),
    "w": _Number("dayofweek({t}) - 1"),
    "W": _Number("(dayofyear({t}) + 6 - weekday({t})) DIV 7", 2),
    "y": _Number("pmod(year({t}), 100)", 2),
    "Y": _Number("year({t})", 4),
}
_OF_TIMES: Final[dict[str, _Value]] = {
    "H": _Number("hour({t})", 2),
    "I": _Number(_HOUR_OF_TWELVE, 2),
    "k": _Number("hour({t})", 2, " "),
    "l": _Number(_HOUR_OF_TWELVE, 2, " "),
    "M": _Number("minute({t})", 2),
    "p": _Text("if(hour({t}) < 12, 'AM', 'PM')", "lower"),
    "P": _Text("if(hour({t}) < 12, 'am', 'pm')", "lower"),
    "S": _Number("second({t})", 2),
}
_CONSTANT: Final = {"%": "%", "n": "\n", "t": "\t"}
#: conversions with several parts, for which a format can't change the form
_FIXED: Final = "fz"


@dataclass(frozen=True, slots=True)
class _Moment:
    """The value to write.

    Args:
        local: the local date and time.
        fraction: the fraction of the second.
        seconds: the whole seconds since 1970-01-01 in UTC; None for a time of day.
        offset: the offset of the local time from UTC in microseconds; None without a zone.
        zone: the name of the zone.
        cheap: whether the local date and time is cheap to repeat.
    """

    local: str
    fraction: _Number
    seconds: str | None = None
    offset: str | None = None
    zone: str | None = None
    cheap: bool = False

    def value(self, call: Call, conversion: Conversion) -> _Value:
        """Return the output of a conversion that isn't composite."""
        letter = conversion.letter
        if letter in _FIXED and (conversion.flags or conversion.width):
            raise refusal(call.function, conversion, "has a flag or a width, which only other numbers and names have")
        match letter:
            case "%" | "n" | "t":
                return _Text(string_literal(_CONSTANT[letter]))
            case "f":
                return self.fraction
            case "Z":
                # the manual: name or abbreviation. Spark has the latter, like CEST, only for the session's zone
                return _Text(self.zone or "''", "lower")
            case "z" if self.offset is None:
                return _Text("''")  # the C standard: no characters if no time zone is determinable
            case "z":
                minutes = f"abs({self.offset}) DIV 60000000"
                sign = f"if({self.offset} < 0, '-', '+')"
                return _Text(f"printf('%s%02d%02d', {sign}, {minutes} DIV 60, {minutes} % 60)")
            case _ if letter in _OF_TIMES:
                return _OF_TIMES[letter]
            case _ if self.seconds is None:
                raise refusal(call.function, conversion, "is about a date, and a time of day has none")
            case "s":
                return _Number(self.seconds, filler=" ")
            case _:
                return _OF_DATES[letter]


def _moment(call: Call, letters: set[str]) -> _Moment:
    """Return the first argument, for a format with these conversions."""
    x = call.sql(0)
    micros = _Number("CAST(extract(SECOND FROM {t}) % 1 * 1000000 AS INT)", FINEST)
    match concrete(call.type(0)):
        case Date():
            # Spark would cast a date to a TIMESTAMP to get its hour
            timed = letters & {*_OF_TIMES, "f"}
            local = f"CAST({x} AS TIMESTAMP_NTZ)" if timed else x
            return _Moment(local, micros, f"CAST(unix_date({x}) AS BIGINT) * 86400L", cheap=x.cheap)
        case PrecisionTime(precision=precision) if precision <= FINEST:
            return _Moment(x, micros, cheap=x.cheap)
        case PrecisionTimestamp(precision=precision) if precision <= FINEST:
            return _Moment(x, micros, f"unix_seconds({zones.instant_of_utc('{t}')})", cheap=x.cheap)
        case PrecisionTimestampTZ(precision=precision) if precision <= FINEST:
            zone = zones.zone(call)
            offset = f"({zones.micros_of('{t}')} - unix_micros({x}))"
            return _Moment(zones.local(x, zone), micros, f"unix_seconds({x})", offset, call.sql(2))
        case PrecisionTime(precision=precision) | PrecisionTimestamp(precision=precision) as type:
            seconds, fraction = _halves(x, precision)
            local = temporal.local_of_micros(f"({seconds} * 1000000L)")
            return _Moment(local, fraction, seconds if isinstance(type, PrecisionTimestamp) else None)
        case PrecisionTimestampTZ(precision=precision):
            seconds, fraction = _halves(x, precision)
            zone = zones.zone(call)
            local = zones.local(f"timestamp_seconds({seconds})", zone)
            offset = f"({zones.micros_of('{t}')} - {seconds} * 1000000L)"
            return _Moment(local, fraction, seconds, offset, call.sql(2))
        case type:
            raise UnsupportedPlanError(f"{call.function.key} of a {type}")


def _halves(x: str, precision: int) -> tuple[str, _Number]:
    """The whole seconds and the fraction of a count of units."""
    unit = units_per_second(precision)
    return temporal.floored(x, unit), _Number(f"pmod({x}, {unit}L)", precision)


# writing -------------------------------------------------------------------------------------------------------------


def _written(call: Call, moment: _Moment, items: tuple[Piece, ...]) -> str:
    """The text of pieces."""
    written = list(_parts(call, moment, items))
    pattern = "".join(part for part, _ in written)
    values = [value for _, value in written if value]
    if not values:
        return string_literal(pattern.replace("%%", "%"))
    return values[0] if pattern == "%s" else f"printf({string_literal(pattern)}, {', '.join(values)})"


def _parts(call: Call, moment: _Moment, items: tuple[Piece, ...]) -> Iterator[tuple[str, str]]:
    """Yield the printf pattern of each piece, and the value for it; an empty string if it needs none."""
    for item in items:
        if isinstance(item, str):
            yield item.replace("%", "%%"), ""
            continue
        plain = not (item.flags or item.width)
        if item.width > _WIDEST:
            raise refusal(call.function, item, f"is wider than {_WIDEST} characters")
        if item.letter in COMPOSITES:
            inner = parts(call.function, item)
            if plain:
                yield from _parts(call, moment, inner)
            else:
                yield _text(item, _Text(_written(call, moment, inner)))
        elif item.letter in _CONSTANT and plain:
            yield _CONSTANT[item.letter].replace("%", "%%"), ""
        else:
            value = moment.value(call, item)
            yield _number(item, value) if isinstance(value, _Number) else _text(item, value)


def _number(conversion: Conversion, value: _Number) -> tuple[str, str]:
    width = max(conversion.width, value.width)
    filler = value.filler
    for flag in conversion.flags:
        if flag == "0":
            filler = "0"
        elif flag in "_-":
            filler = " "
            width = conversion.width if flag == "-" else max(conversion.width, value.width)
    if width <= 1:
        return "%d", value.sql
    return f"%{'0' if filler == '0' else ''}{width}d", value.sql


def _text(conversion: Conversion, value: _Text) -> tuple[str, str]:
    sql = value.sql
    if "^" in conversion.flags:
        sql = f"upper({sql})"
    elif "#" in conversion.flags:
        sql = f"{value.swapped}({sql})"
    if not conversion.width:
        return "%s", sql
    if "0" in conversion.flags:
        return "%s", f"lpad({sql}, greatest({conversion.width}, char_length({sql})), '0')"
    return f"%{conversion.width}s", sql


# formats -------------------------------------------------------------------------------------------------------------


def _strftime(call: Call) -> str:
    format = call.operands[1].literal
    if not isinstance(format, str):
        return _by_column(call)
    items = pieces(call.function, format)
    moment = _moment(call, _letters(items))
    return _of(moment, f"CASE WHEN {{t}} IS NOT NULL THEN {_written(call, moment, items)} END")


def _letters(items: tuple[Piece, ...]) -> set[str]:
    """Return the conversions of a format, including the parts of composite ones."""
    single = {item.letter for item in items if isinstance(item, Conversion)}
    return single.union(*(COMPOSITES.get(letter, "") for letter in single))


def _by_column(call: Call) -> str:
    """Return the text for a format that isn't constant: each of its pieces is looked up at run time.

    Flags and widths aren't supported: with them, there would be too many pieces to look up.
    """
    every = {*SINGLE, *COMPOSITES, "f"}
    moment = _moment(call, every)
    cases = []
    for letter in sorted(every):
        forms = [f"%{letter}", *(f"%{modifier}{letter}" for modifier, taken in MODIFIED.items() if letter in taken)]
        try:
            written = _written(call, moment, pieces(call.function, forms[0]))
        except UnsupportedPlanError:
            continue  # a conversion for dates, but the value is a time
        cases.append(f"WHEN piece IN ({', '.join(map(string_literal, forms))}) THEN {written}")
    none = string_literal(f"{call.function.name}: no conversion of such a value, in a format that is not a literal: ")
    failed = f"CAST(raise_error(concat({none}, piece)) AS STRING)"
    text = f"CASE WHEN NOT startswith(piece, '%') THEN piece {' '.join(cases)} ELSE {failed} END"
    split = f"regexp_extract_all({call.sql(1)}, {string_literal('(?s)%[_0^#-]*[0-9]*[EO]?.|[^%]+|%')}, 0)"
    return _of(moment, f"CASE WHEN {{t}} IS NOT NULL THEN array_join(transform({split}, piece -> {text}), '') END")


def _of(moment: _Moment, text: str) -> str:
    """Return a text with the local date and time in it, which is computed once."""
    if moment.cheap:
        return text.replace("{t}", moment.local)
    return bound(moment.local, "local", text.replace("{t}", "local"))


ROWS = (
    # the text is also computed for carriers that are counts of units
    row("strftime", _strftime, foreign=Foreign.MOVED),
)
