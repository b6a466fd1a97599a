"""The Spark SQL forms of functions: a module per extension file, of the same name, with its ``TABLE``.

The extensions of the specification are here, those of this package in ``spark`` (functions that only Spark has) and in
``engines`` (functions of other engines, under names that the specification also has).
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Final

from pyspark_substrait.sql.functions.table import Table
from pyspark_substrait.sql.spark_version import NEWEST, SparkVersion

__all__ = ["table"]

_OFFICIAL: Final = "extension:io.substrait:"
_OWN: Final = "extension:pyspark_substrait:"


@cache
def table(urn: str, spark: SparkVersion = NEWEST) -> Table | None:
    """Return the table of an extension for a version of Spark; None for an extension without one."""
    found = _table(urn)
    return None if found is None else found.for_spark(spark)


@cache
def _table(urn: str) -> Table | None:
    """Return the whole table of an extension, imported on first use."""
    own = urn.startswith(_OWN)
    name = urn.removeprefix(_OWN if own else _OFFICIAL)
    if name == urn or not name.isidentifier() or not name.startswith(("functions_", "unsigned_")):
        return None
    folder = __name__
    if own:
        folder += ".spark" if name.startswith("functions_spark") else ".engines"
    module = f"{folder}.{name}"
    if find_spec(module) is None:
        return None
    found = import_module(module).TABLE
    assert isinstance(found, Table)
    return found
