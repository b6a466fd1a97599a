"""Reports as a log of SARIF 2.1.0, the format of code scanning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pyspark_substrait.analysis.report.facts import page_address, release
from pyspark_substrait.analysis.report.json_places import Place, places_in
from pyspark_substrait.codes import Class, Code, Level, class_of
from pyspark_substrait.message_text import json_text
from pyspark_substrait.model.findings import Finding
from pyspark_substrait.text.explain.columns import escaped

if TYPE_CHECKING:
    from pyspark_substrait.analysis.report.report import Report

__all__ = ["sarif"]

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFO: "note"}


def sarif(reports: Sequence[Report]) -> str:
    """Return a SARIF log with one run, whose artifacts are the files of the reports. A result names the path in the
    plan as its logical location, and the line in the file if that is JSON.
    """
    codes = sorted({finding.code for report in reports for finding in report.listed})
    rules = {code: number for number, code in enumerate(codes)}
    run = {
        "tool": {"driver": _driver(codes)},
        "columnKind": "unicodeCodePoints",
        "artifacts": [{"location": {"uri": _uri(report)}, "roles": ["analysisTarget"]} for report in reports],
        "results": [result for number, report in enumerate(reports) for result in _results(report, number, rules)],
    }
    return json_text({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _driver(codes: Sequence[Code]) -> dict[str, Any]:
    known = release()
    stated = {"version": known} if known else {}
    return {"name": "pyspark-substrait", **stated, "rules": [_rule(class_of(code)) for code in codes]}


def _rule(item: Class) -> dict[str, Any]:
    address = page_address(item)
    return {
        "id": _id(item.code),
        "name": "".join(word.capitalize() for word in item.code.name.split("_")),
        "shortDescription": {"text": item.title},
        "fullDescription": {"text": item.why},
        "defaultConfiguration": {"level": _LEVELS[item.level]},
        "help": {"text": f"{item.why} {address}".rstrip()},
        **({"helpUri": address} if address else {}),
    }


def _id(code: Code) -> str:
    return f"{code:04d}"


def _uri(report: Report) -> str:
    """Return the file as a URI reference; a relative path stays relative to the root of the repository."""
    path = Path(report.name)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix(), errors="replace")


def _results(report: Report, artifact: int, rules: Mapping[Code, int]) -> list[dict[str, Any]]:
    places = _places(report)
    return [_result(finding, report, artifact, rules, places) for finding in report.listed]


def _result(
    finding: Finding, report: Report, artifact: int, rules: Mapping[Code, int], places: Mapping[str, Place]
) -> dict[str, Any]:
    advice = f". {escaped(finding.fix)}" if finding.fix else ""
    place = places.get(finding.path, Place(1, 1))
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(report), "index": artifact},
            "region": {"startLine": place.line, "startColumn": place.column},
        }
    }
    if finding.path:
        location["logicalLocations"] = [{"fullyQualifiedName": finding.path, "kind": "element"}]
    from hashlib import sha256  # OpenSSL, which takes long to import

    # a fingerprint by which code scanning recognizes a finding after lines have moved
    mark = sha256(f"{finding.code}\0{finding.path}\0{finding.what}".encode(errors="replace")).hexdigest()
    return {
        "ruleId": _id(finding.code),
        "ruleIndex": rules[finding.code],
        "level": _LEVELS[finding.level],
        "message": {"text": f"{escaped(finding.what)}{advice}"},
        "locations": [location],
        "partialFingerprints": {"finding/v1": mark},
    }


def _places(report: Report) -> Mapping[str, Place]:
    """Return the positions of the findings in the file, if it exists and is JSON."""
    if report.file is None:
        return {}
    try:
        text = report.file.read_text(encoding="utf-8-sig")
    except (OSError, ValueError):  # not UTF-8, or no name of a file
        return {}
    return places_in(text, {finding.path for finding in report.listed}) if text.lstrip()[:1] == "{" else {}
