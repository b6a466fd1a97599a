"""The supported releases, and the functions of each extension that run."""

from __future__ import annotations

from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.plan import CURRENT_VERSION
from pyspark_substrait.model.relations.generate import GENERATE
from pyspark_substrait.proto.upgrade import FIRST_VERSION
from pyspark_substrait.proto.write_targets import TYPE_URLS
from pyspark_substrait.sql.capabilities import Capabilities
from pyspark_substrait.sql.capabilities import capabilities as described

__all__ = ["capabilities"]


def capabilities(*, registry: Registry | None = None) -> Capabilities:
    """Return the releases that are read and written, and the parts of each extension that run.

    Args:
        registry: the extensions; by default those of the specification and those that this package ships.

    Examples:
        >>> substrait.capabilities().substrait_versions[0]
        '0.10.0'
    """
    return described(registry or Registry.default(), FIRST_VERSION, CURRENT_VERSION, (GENERATE, *TYPE_URLS))
