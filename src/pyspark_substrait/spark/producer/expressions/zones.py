"""The time zones of Spark expressions."""

from __future__ import annotations

import re
from typing import Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import String
from pyspark_substrait.spark.producer.catalyst import Node

__all__ = ["iana", "is_fixed", "named", "of"]

_OFFSET: Final = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?00)?(?::?00)?")
_UTC: Final = frozenset({"Z", "UT", "GMT0", "UTC+0", "UTC-0"})
#: names that Java accepts and the IANA database doesn't have: offsets, and old abbreviations
_NO_NAME: Final = re.compile(
    r"(UTC?|GMT)?[+-].*|ACT|AET|AGT|ART|AST|BET|BST|CAT|CNT|CST|CTT|EAT|ECT|IET|IST|JST|MIT|NET|NST|PLT|PNT|PRT|PST"
    r"|SST|VST"
)


def of(node: Node) -> Literal:
    """Return the time zone of an expression that has one: that of the session in which it was analysed."""
    return Literal(type=String(), value=iana(str(node.value("timeZoneId"))))


def named(node: Node) -> Literal:
    """Return the time zone of an expression whose result depends on it.

    Raises:
        UnsupportedPlanError: the IANA database has no name for it.
    """
    zone = of(node)
    if _NO_NAME.fullmatch(str(zone.value)):
        raise UnsupportedPlanError(
            f"an expression uses the time zone {zone.value!r}, which has no name in the IANA database",
            hint="Set spark.sql.session.timeZone to a name like 'Europe/Paris' before making the query",
        )
    return zone


def iana(zone: str) -> str:
    """Return the IANA name of a time zone of Spark; the zone itself if there is none.

    >>> iana("+02:00"), iana("Europe/Paris"), iana("Z"), iana("+05:30")
    ('Etc/GMT-2', 'Europe/Paris', 'UTC', '+05:30')
    """
    if zone in _UTC:
        return "UTC"
    offset = _OFFSET.fullmatch(zone)
    if offset is None or int(offset[2]) > (14 if offset[1] == "+" else 12):
        return zone
    hours = int(offset[2])
    # in the database, offsets count westwards
    return f"Etc/GMT{'-' if offset[1] == '+' else '+'}{hours}" if hours else "UTC"


def is_fixed(zone: str) -> bool:
    """Whether a zone has a fixed offset."""
    return zone in ("UTC", "GMT") or zone.startswith("Etc/") or zone[:1] in "+-"
