"""A report as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from pyspark_substrait.analysis.report.facts import counts, page_address
from pyspark_substrait.codes import class_of
from pyspark_substrait.message_text import json_text
from pyspark_substrait.model.findings import Finding
from pyspark_substrait.model.plan import ExtendedExpression

if TYPE_CHECKING:
    from pyspark_substrait.analysis.report.report import Report

__all__ = ["as_json", "as_object", "json_schema", "jsons"]


def as_json(report: Report) -> str:
    """The report as an indented JSON object."""
    return json_text(as_object(report), indent=2)


def jsons(reports: Sequence[Report]) -> str:
    """Several reports as an indented JSON array."""
    return json_text([as_object(report) for report in reports], indent=2)


def as_object(report: Report) -> dict[str, Any]:
    """Return the content of the JSON object."""
    return {
        "name": report.name,
        "ok": report.ok,
        "target": report.target,
        "plan": _plan(report),
        "counts": {level.value: number for level, number in counts(report).items()},
        "findings": [_finding(finding) for finding in report.listed],
    }


def _plan(report: Report) -> dict[str, Any] | None:
    document = report.document
    if document is None:
        return None
    return {
        "kind": "extended_expression" if isinstance(document, ExtendedExpression) else "plan",
        "version": str(document.version),
        "original_version": document.original_version,
        "producer": document.version.producer,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    known = class_of(finding.code)
    return {
        "code": int(finding.code),
        "class": finding.code.name,
        "title": known.title,
        "level": finding.level.value,
        "path": finding.path,
        "what": finding.what,
        "why": finding.why,
        "fix": finding.fix,
        "page": page_address(known),
    }


@cache
def json_schema() -> dict[str, Any]:
    """Return the JSON schema of a report in its JSON form."""
    text = files("pyspark_substrait.analysis.report").joinpath("report.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
