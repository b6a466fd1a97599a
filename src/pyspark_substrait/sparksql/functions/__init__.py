"""What each function is in Spark SQL: a module per extension file, of the same name, with its ``TABLE``.

The extensions of the specification stand here, those that this package ships in ``spark``.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Final

from pyspark_substrait.sparksql.functions.table import Table

__all__ = ["table"]

_OFFICIAL: Final = "extension:io.substrait:"
_OWN: Final = "extension:pyspark_substrait:"


@cache
def table(urn: str) -> Table | None:
    """The table of an extension, imported when it is first asked for; None for an extension without one."""
    prefix, folder = (_OWN, f"{__name__}.spark") if urn.startswith(_OWN) else (_OFFICIAL, __name__)
    name = urn.removeprefix(prefix)
    if name == urn or not name.isidentifier() or not name.startswith(("functions_", "unsigned_")):
        return None
    module = f"{folder}.{name}"
    if find_spec(module) is None:
        return None
    found = import_module(module).TABLE
    assert isinstance(found, Table)
    return found
