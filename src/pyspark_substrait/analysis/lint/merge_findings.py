"""Merge the remarks of the rules with findings of validation that lint reports too; fix what saving a plan fixes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from pyspark_substrait.analysis.lint.linter import FIX, LintFinding
from pyspark_substrait.analysis.lint.selection import REWRITTEN, SUBJECTS
from pyspark_substrait.codes import Code, Level
from pyspark_substrait.model.findings import Finding
from pyspark_substrait.model.plan import ExtendedExpression, Plan

__all__ = ["merged_findings", "without_redundant"]

_DECLARATIONS = (
    Code.REDUNDANT_EXTENSION,
    Code.REDUNDANT_FUNCTION,
    Code.REDUNDANT_TYPE,
    Code.REDUNDANT_TYPE_VARIATION,
)
_FIELDS = (Code.REDUNDANT_FIELD, Code.REDUNDANT_ENUM_VARIANT)
_URL = re.compile(r"expected_type_urls\[(\d+)\]")
_Document = TypeVar("_Document", bound=Plan | ExtendedExpression)


def merged_findings(
    found: Iterable[LintFinding], seen: Iterable[Finding], wanted: Callable[[Code], bool]
) -> tuple[list[Finding], set[Finding]]:
    """Return the findings of lint, and those of them that can be fixed.

    Args:
        found: the findings of the rules.
        seen: the findings of validation.
        wanted: whether a class is selected; errors always are.
    """
    findings = [item.finding for item in found]
    fixable = {item.finding for item in found if item.fixable}
    taken = {(item.code, item.path) for item in findings}
    places = {item.path for item in findings}
    for item in seen:
        if item.level is Level.ERROR:
            findings.append(item)
        elif item.code in SUBJECTS and wanted(item.code):
            if (item.code, item.path.removesuffix(".bounds_type")) in taken:
                continue  # reported by a rule, which can fix it
            if item.code in _FIELDS and item.path in places:
                continue  # reported by a rule in other words
            if _written_anew(item):
                item = replace(item, fix="; ".join(text for text in (item.fix, FIX) if text))
                fixable.add(item)
            findings.append(item)
    return findings, fixable


def _written_anew(item: Finding) -> bool:
    """Whether writing the plan from the model is enough to fix a finding."""
    if item.code is Code.PROTO_UNSPECIFIED_ENUM:
        return "phase" in item.what or item.path.endswith("execution_behavior")
    return item.code in REWRITTEN


def without_redundant(document: _Document, fixable: Iterable[Finding]) -> _Document:
    """Return the document without the unused declarations that the findings name."""
    codes = {item.code for item in fixable}
    urls = {int(match[1]) for item in fixable if (match := _URL.fullmatch(item.path))}
    if codes & set(_DECLARATIONS):
        document = replace(document, unused_extensions=(), unused_urns=())
    if urls:
        kept = tuple(url for number, url in enumerate(document.expected_type_urls) if number not in urls)
        document = replace(document, expected_type_urls=kept)
    return document
