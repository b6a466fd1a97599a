"""Time zones in function tables: the valid names, and conversions between an instant and its local time.

A zone is a name of the IANA time zone database, as the specification requires. Its rules are those of the Java runtime
that Spark runs on. Clocks put forward leave a gap: a local time in it is moved forward by the length of the gap, as if
the clocks had not been changed. Clocks put back make an overlap: a local time in it is the earlier of the two instants.
Java, Spark and Python (``fold=0``) do so; the specification is silent.

No text here depends on the session's time zone, and operands appear in them once unless stated otherwise.
"""

from __future__ import annotations

import re
from typing import Final

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.compiler.temporal import local_of_instant
from pyspark_substrait.sql.fragment import Atom, Constant
from pyspark_substrait.sql.functions.table import Call

__all__ = [
    "instant",
    "instant_of_utc",
    "local",
    "micros_between",
    "micros_of",
    "micros_of_interval",
    "shown",
    "zone",
]

_EPOCH: Final = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"

#: names that Java accepts as a zone although the database doesn't have them: offsets, and abbreviations, of which some
#: mean another zone to most people
_NO_NAME: Final = (
    r"(UTC?|GMT)?[+-](?!0$).*|(UTC?)?[+-]0|Z|UT"
    "|ACT|AET|AGT|ART|AST|BET|BST|CAT|CNT|CST|CTT|EAT|ECT|IET|IST|JST|MIT|NET|NST|PLT|PNT|PRT|PST|SST|VST"
)


#: a name of the database that Java doesn't have, and the other name of that zone
_MISSING: Final = ("ROC", "Asia/Taipei")


def zone(call: Call, name: str = "timezone") -> Atom:
    """Return the argument with the zone, as an operand that is an error if it isn't the name of a zone.

    A literal appears once. Any other text is checked for each record, and appears four times.

    Raises:
        InvalidPlanError: it is a literal and has the form of an offset or of an abbreviation.
    """
    position = call.names.index(name)
    operand, known = call.sql(position), call.operands[position].literal
    if isinstance(known, str):
        if re.fullmatch(_NO_NAME, known):
            raise InvalidPlanError(
                f"{known!r} isn't the name of a time zone in the IANA database",
                hint="A name is like 'Europe/Paris', or 'Etc/GMT-2' for two hours east of UTC",
            )
        return Constant(string_literal(_MISSING[1]), _MISSING[1]) if known == _MISSING[0] else operand
    error = f"{call.function.name}: the IANA database has no time zone with the name "
    failed = f"CAST(raise_error(concat({string_literal(error)}, {operand})) AS STRING)"
    missing, other = map(string_literal, _MISSING)
    return Atom(
        f"(CASE WHEN {operand} RLIKE {string_literal(f'^({_NO_NAME})$')} THEN {failed}"
        f" WHEN {operand} = {missing} THEN {other} ELSE {operand} END)"
    )


def shown(sql: str, zone: str) -> str:
    """Return a TIMESTAMP as the one whose local time in UTC is the first one's local time in a zone."""
    return Atom(f"from_utc_timestamp({sql}, {zone})")


def local(sql: str, zone: str) -> str:
    """Return a TIMESTAMP as a TIMESTAMP_NTZ, its local time in a zone."""
    return local_of_instant(shown(sql, zone))


def instant(sql: str, zone: str) -> str:
    """Return a TIMESTAMP_NTZ, a local time in a zone, as a TIMESTAMP (see the module for gaps and overlaps)."""
    return Atom(f"to_utc_timestamp({instant_of_utc(sql)}, {zone})")


def instant_of_utc(sql: str) -> str:
    """Return a TIMESTAMP_NTZ in UTC as a TIMESTAMP."""
    return Atom(f"timestamp_micros({micros_of(sql)})")


def micros_of(sql: str) -> str:
    """The microseconds since 1970-01-01 of a TIMESTAMP_NTZ, as a BIGINT."""
    return micros_between(_EPOCH, sql)


def micros_between(start: str, end: str) -> str:
    """The microseconds from one TIMESTAMP_NTZ to another, as a BIGINT."""
    return micros_of_interval(f"({end} - {start})")


def micros_of_interval(sql: str) -> str:
    """An INTERVAL DAY TO SECOND as a BIGINT."""
    return Atom(f"({sql} DIV INTERVAL '0.000001' SECOND)")
