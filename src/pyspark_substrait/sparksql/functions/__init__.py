"""What each standard function is in Spark SQL: a module per extension file, of the same name, with its ``TABLE``."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Final

from pyspark_substrait.sparksql.functions.table import Table

__all__ = ["table"]

_OFFICIAL: Final = "extension:io.substrait:"


@cache
def table(urn: str) -> Table | None:
    """The table of an extension, imported when it is first asked for; None for an extension without one."""
    name = urn.removeprefix(_OFFICIAL)
    if name == urn or not name.isidentifier() or not name.startswith(("functions_", "unsigned_")):
        return None
    module = f"{__name__}.{name}"
    if find_spec(module) is None:
        return None
    found = import_module(module).TABLE
    assert isinstance(found, Table)
    return found
