"""The periods of daylight saving time of a time zone, from Python's time zone database.

Spark gives the local time in a zone, but not whether that is its daylight saving time. The database has a flag for
it, in the files of the system or of the package ``tzdata`` (TZif, RFC 9636). From 1970 on, only the zone's standard
times, which Spark can't give, are written into a statement: daylight saving time is when the local time differs from
the standard one. Databases differ in what they keep of the years before, so for these every change is written.
"""

from __future__ import annotations

import functools
import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["ALWAYS", "Era", "eras", "names"]

#: in place of a standard time: no local time is equal to it
ALWAYS: Final = 999_999

_LONG_AGO: Final = -(1 << 60)
_TIME_TYPE: Final = struct.Struct(">lbb")


@dataclass(frozen=True)
class Era:
    """A period in which daylight saving time is when the local time differs from the standard time.

    Args:
        start: its first second, since 1970-01-01 00:00:00 in UTC; None for the first era.
        standard: the offset of the standard time in seconds east of UTC, or ``ALWAYS``; None if daylight saving time
            isn't observed at all.
    """

    start: int | None
    standard: int | None


@dataclass(frozen=True)
class _Period:
    """The time between two changes: the offset in seconds east of UTC, and the flag for daylight saving time."""

    start: int
    offset: int
    daylight: bool


def names() -> tuple[str, ...]:
    """Return the zones of the database, in order; empty without a database."""
    import zoneinfo  # takes longer than the rest of this module, and few plans need it

    return tuple(sorted(name for name in zoneinfo.available_timezones() if name not in ("localtime", "Factory")))


@functools.cache
def eras(zone: str) -> tuple[Era, ...] | None:
    """Return the eras of a zone, as few as possible, the earliest first; None if the database doesn't have the zone."""
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
            # a zone may change to daylight saving time and another standard time at once
            found.append(Era(period.start, before if before != period.offset else period.offset - 3600))
    if alternating and found[-1].standard != standard:
        # beyond the list of a file, its rule applies
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
    """Return the periods of a file, the standard time after them, and whether daylight saving time recurs."""
    start = _size(data, 0, 4)  # the first part has the times that fit into 32 bits; the second part repeats them
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
    """Return the length of one part of a file, whose times have ``width`` bytes."""
    flags, universals, leaps, transitions, types, characters = struct.unpack_from(">6l", data, start + 20)
    times = transitions * (width + 1) + types * _TIME_TYPE.size + characters
    return int(44 + times + leaps * (width + 4) + flags + universals)
