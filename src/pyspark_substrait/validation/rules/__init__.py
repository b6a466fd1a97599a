"""The rules over the model. A rule is a function of a node and its path that yields findings."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.findings import Finding, Places
from pyspark_substrait.model.plan import ExtendedExpression, Plan

__all__ = ["findings"]


def findings(document: Plan | ExtendedExpression, places: Places, registry: Registry) -> Iterator[Finding]:
    """What the rules find in a document."""
    yield from ()
