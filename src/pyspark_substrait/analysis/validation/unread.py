"""Findings for parts of a plan that couldn't be read and were left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.model.findings import Finding, as_finding

__all__ = ["unread", "without_results"]

_SAYS_MISSING = frozenset(
    {Code.PROTO_MISSING_FIELD, Code.PROTO_UNSPECIFIED_ENUM, Code.RELATION_MISSING, Code.RELATION_ROOT_MISSING}
)


def unread(faults: Sequence[SubstraitError]) -> Iterator[Finding]:
    """Return a finding for each part that was left out."""
    for fault in faults:
        yield as_finding(fault, Code.PROTO_PARSE_FAILED)


def without_results(findings: Sequence[Finding], faults: Sequence[SubstraitError]) -> list[Finding]:
    """Return the findings, without those that report something as missing only because it was left out."""
    if not faults:
        return list(findings)
    places = {fault.path for fault in faults}
    places |= {_message(path) for path in places}
    return [finding for finding in findings if finding.code not in _SAYS_MISSING or finding.path not in places]


def _message(path: str) -> str:
    """Return the path of the message that holds a field, or an element of it."""
    field = path[: path.rfind("[")] if path.endswith("]") else path
    return field.rpartition(".")[0]
