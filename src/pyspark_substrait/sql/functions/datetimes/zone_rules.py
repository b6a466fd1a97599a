"""When a time zone observes daylight saving time, from the time zone database that Python has.

Spark says what clocks show in a zone, but not whether that is its daylight saving time. The database has a flag for
it, in the files that the system or the package ``tzdata`` brings (TZif, RFC 9636). From 1970 on, what is written into
a statement is only what Spark can't say, the zone's standard times: daylight saving time is when clocks show another
time than the standard one. Databases differ in what they keep of the years before, so that those have every change.
"""

from __future__ import annotations

import functools
import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["ALWAYS", "Era", "eras", "names"]

#: in place of a standard time: no clock shows it
ALWAYS: Final = 999_999

_LONG_AGO: Final = -(1 << 60)
_TIME_TYPE: Final = struct.Struct(">lbb")


@dataclass(frozen=True)
class Era:
    """A time in which daylight saving time is when clocks show another time than the standard one.

    Args:
        start: its first second, since 1970-01-01 00:00:00 in UTC; of the first era, None.
        standard: the standard time's seconds east of UTC, or ``ALWAYS``; None where daylight saving time isn't
            observed at all.
    """

    start: int | None
    standard: int | None


@dataclass(frozen=True)
class _Period:
    """A time between two changes: seconds east of UTC, and the flag for daylight saving time."""

    start: int
    offset: int
    daylight: bool


def names() -> tuple[str, ...]:
    """The zones that the database has, in order; none where there is no database."""
    import zoneinfo  # takes longer than all of this module, and few plans need it

    return tuple(sorted(name for name in zoneinfo.available_timezones() if name not in ("localtime", "Factory")))


@functools.cache
def eras(zone: str) -> tuple[Era, ...] | None:
    """The eras of a zone, as few as can be, the earliest first; None where the database doesn't have the zone."""
    data = _file(zone)
    if data is None or data[:4] != b"TZif" or data[4] < ord("2"):
        return None
    periods, standard, alternating = _read(data)
    found = [Era(None, None)]
    before = 0
    for period in periods:
        known = found[-1].standard
        if not period.daylight:
            before = period.offset
            if known not in (None, period.offset):
                found.append(Era(period.start, None))
        elif period.start < 0:
            if known != ALWAYS:
                found.append(Era(period.start, ALWAYS))
        elif known in (None, ALWAYS, period.offset):
            # a zone may go to daylight saving time and another standard time at once
            found.append(Era(period.start, before if before != period.offset else period.offset - 3600))
    if alternating and found[-1].standard != standard:
        # what a file doesn't list goes on by its rule
        found.append(Era(periods[-1].start if periods else _LONG_AGO, standard))
    return tuple(found)


def _file(zone: str) -> bytes | None:
    if not re.fullmatch(r"[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*", zone):
        return None
    import importlib.resources
    import zoneinfo

    for folder in zoneinfo.TZPATH:
        path = Path(folder, zone)
        if path.is_file():
            return path.read_bytes()
    try:
        return importlib.resources.files("tzdata").joinpath("zoneinfo", *zone.split("/")).read_bytes()
    except (ModuleNotFoundError, OSError):
        return None


def _read(data: bytes) -> tuple[list[_Period], int, bool]:
    """The periods of a file; the standard time behind them, and whether daylight saving time comes again and again."""
    start = _size(data, 0, 4)  # the first part has the times that fit into 32 bits, and those once more
    transitions, types = struct.unpack_from(">2l", data, start + 32)
    position = start + 44
    moments = struct.unpack_from(f">{transitions}q", data, position)
    position += 8 * transitions
    indexes = data[position : position + transitions]
    position += transitions
    kinds = [_TIME_TYPE.unpack_from(data, position + _TIME_TYPE.size * index) for index in range(types)]
    periods = [
        _Period(moment, kinds[index][0], bool(kinds[index][1])) for moment, index in zip(moments, indexes, strict=True)
    ]
    rule = data[start + _size(data, start, 8) :].strip(b"\n").decode("ascii")
    found = re.match(r"(?:<[^>]+>|[A-Za-z]+)([+-]?)([\d:]+)(.*)", rule)
    if found is None:
        return periods, 0, False
    west = sum(int(part) * 60**power for part, power in zip(found[2].split(":"), (2, 1, 0), strict=False))
    return periods, west if found[1] == "-" else -west, bool(found[3])


def _size(data: bytes, start: int, width: int) -> int:
    """The length of one part of a file, whose times have so many bytes."""
    flags, universals, leaps, transitions, types, characters = struct.unpack_from(">6l", data, start + 20)
    times = transitions * (width + 1) + types * _TIME_TYPE.size + characters
    return int(44 + times + leaps * (width + 4) + flags + universals)
