"""What only a message shows, once it is current: declarations that nobody uses, fields that say nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark_substrait.model.findings import Finding

__all__ = ["findings"]


def findings(message: Any) -> Iterator[Finding]:
    """What is found in a ``Plan`` or ``ExtendedExpression`` message."""
    yield from ()
