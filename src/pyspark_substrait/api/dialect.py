"""The dialect file of Spark: everything that runs there."""

from __future__ import annotations

from typing import Any

from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.sql.dialect import dialect as described
from pyspark_substrait.sql.spark_version import parsed_version

__all__ = ["dialect"]


def dialect(*, registry: Registry | None = None, version: str | None = None) -> dict[str, Any]:
    """Return everything that runs on Spark as a dialect file of the specification: its content, for YAML or JSON.

    Args:
        registry: the extensions; by default those of the specification and those that this package ships.
        version: the version of Spark, ``3.5`` to the newest; the newest when None.

    Raises:
        SubstraitError: there is no such version.

    Examples:
        >>> sorted(substrait.dialect())[:3]
        ['dependencies', 'name', 'supported_aggregate_functions']
    """
    return described(registry or Registry.default(), parsed_version(version))
