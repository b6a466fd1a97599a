"""Enumerations left unspecified where the specification requires a value, but reading doesn't."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark_substrait.codes import Code, Level
from pyspark_substrait.model.expressions import Cast, FailureBehavior, WindowFunction
from pyspark_substrait.model.findings import Finding, Places
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import FetchMode, TopN
from pyspark_substrait.model.relations.physical import WindowRelFunction

__all__ = ["findings"]


def findings(places: Places) -> Iterator[Finding]:
    """Yield the unspecified enumeration values of a document."""
    for node, path in places:
        match node:
            case WindowFunction(bounds_type=None) | WindowRelFunction(bounds_type=None):
                yield _unspecified(
                    (path, "bounds_type"),
                    f"the window of {node.function.key} does not state whether its bounds are rows or values",
                    "Without bounds on either side both are the same; producers must still set one of them",
                    "Set bounds_type to BOUNDS_TYPE_ROWS",
                )
            case TopN(mode=FetchMode.UNSPECIFIED):
                yield _unspecified(
                    (path, "mode"),
                    "the relation does not state whether it keeps ties; taken as: rows only",
                    "Producers must set one of the defined modes",
                    "Set mode to FETCH_MODE_ROWS_ONLY",
                )
            case Cast(failure_behavior=FailureBehavior.UNSPECIFIED):
                yield _unspecified(
                    (path, "failure_behavior"),
                    f"the cast to {node.type} does not state what happens on failure",
                    "A cast states whether it gives null on failure or throws an exception",
                    "Set failure_behavior",
                    Level.INFO,
                )
            case _:
                pass


def _unspecified(path: Path, what: str, why: str, fix: str, level: Level = Level.WARNING) -> Finding:
    return Finding.of(Code.PROTO_UNSPECIFIED_ENUM, path, what, level=level, why=why, fix=fix)
