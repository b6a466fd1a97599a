"""What the rules say and what validation found that is lint's subject too, as one; and what comes with writing anew."""

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

__all__ = ["together", "without_redundant"]

_DECLARATIONS = (
    Code.REDUNDANT_EXTENSION,
    Code.REDUNDANT_FUNCTION,
    Code.REDUNDANT_TYPE,
    Code.REDUNDANT_TYPE_VARIATION,
)
_FIELDS = (Code.REDUNDANT_FIELD, Code.REDUNDANT_ENUM_VARIANT)
_URL = re.compile(r"expected_type_urls\[(\d+)\]")
_Document = TypeVar("_Document", bound=Plan | ExtendedExpression)


def together(
    said: Iterable[LintFinding], seen: Iterable[Finding], wanted: Callable[[Code], bool]
) -> tuple[list[Finding], set[Finding]]:
    """The findings of lint, and those of them that can be mended.

    Args:
        said: what the rules say.
        seen: what validation found.
        wanted: whether a class is asked for; errors always are.
    """
    findings = [item.finding for item in said]
    mended = {item.finding for item in said if item.fixable}
    taken = {(item.code, item.path) for item in findings}
    places = {item.path for item in findings}
    for item in seen:
        if item.level is Level.ERROR:
            findings.append(item)
        elif item.code in SUBJECTS and wanted(item.code):
            if (item.code, item.path.removesuffix(".bounds_type")) in taken:
                continue  # a rule says it, and can mend it
            if item.code in _FIELDS and item.path in places:
                continue  # a rule says it in other words
            if _written_anew(item):
                item = replace(item, mend="; ".join(text for text in (item.mend, FIX) if text))
                mended.add(item)
            findings.append(item)
    return findings, mended


def _written_anew(item: Finding) -> bool:
    """Whether a finding is gone once the plan is written from the model."""
    if item.code is Code.PROTO_UNSPECIFIED_ENUM:
        return "phase" in item.what or item.path.endswith("execution_behavior")
    return item.code in REWRITTEN


def without_redundant(document: _Document, mended: Iterable[Finding]) -> _Document:
    """The document without the declarations that nothing uses, as far as findings say so."""
    codes = {item.code for item in mended}
    urls = {int(match[1]) for item in mended if (match := _URL.fullmatch(item.path))}
    if codes & set(_DECLARATIONS):
        document = replace(document, unused_extensions=(), unused_urns=())
    if urls:
        kept = tuple(url for number, url in enumerate(document.expected_type_urls) if number not in urls)
        document = replace(document, expected_type_urls=kept)
    return document
