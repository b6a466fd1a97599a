"""The dialect file of Spark: everything that runs there."""

from __future__ import annotations

from typing import Any

from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.sql.dialect import dialect as described

__all__ = ["dialect"]


def dialect(*, registry: Registry | None = None) -> dict[str, Any]:
    """Return everything that runs on Spark as a dialect file of the specification: its content, for YAML or JSON.

    Args:
        registry: the extensions; by default those of the specification and those that this package ships.
    """
    return described(registry or Registry.default())
