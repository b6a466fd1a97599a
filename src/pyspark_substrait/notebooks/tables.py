"""The tables of the magics' ``--tables`` option: variables of the notebook, and files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark_substrait.errors import TableError
from pyspark_substrait.spark.compatibility import is_frame

if TYPE_CHECKING:
    from pyspark_substrait.spark.tables import TableSource

__all__ = ["given_tables", "is_table", "session_in"]


def given_tables(texts: Sequence[str], variables: Mapping[str, Any]) -> dict[str, TableSource]:
    """Return the tables by their names.

    Args:
        texts: ``NAME`` is the variable of that name; ``NAME=VALUE`` a variable or a path of Parquet, ORC or Arrow
            files. A name may have dots.
        variables: the variables of the notebook.

    Raises:
        TableError: there is no such variable or file, it is no table, or a name is given twice.
    """
    tables: dict[str, TableSource] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or (equals and not value):
            raise TableError(f"{text!r} is not a table", hint="Write NAME, a variable, or NAME=PATH")
        if name in tables:
            raise TableError(f"the table {name} is given twice")
        tables[name] = _table(name, value if equals else name, variables, path_too=bool(equals))
    return tables


def is_table(value: object) -> bool:
    """Whether a value is a DataFrame of Spark, Arrow data, or a frame of another library that Arrow can read."""
    return is_frame(value) or hasattr(value, "__arrow_c_stream__") or hasattr(value, "to_batches")


def session_in(variables: Mapping[str, Any]) -> Any:
    """Return the session in the notebook's variable ``spark``; None if there is none."""
    value = variables.get("spark")
    kind = type(value)
    return value if kind.__name__ == "SparkSession" and kind.__module__.startswith("pyspark.sql.") else None


def _table(name: str, value: str, variables: Mapping[str, Any], *, path_too: bool) -> TableSource:
    found = variables.get(value)
    if is_table(found):
        return _as_arrow(found)
    if isinstance(found, str | os.PathLike):
        return found
    if path_too and (found is None or os.path.exists(value)):
        return value
    if found is None:
        raise TableError(f"there is no variable {value!r} for the table {name}", hint="A file: --tables NAME=PATH")
    raise TableError(
        f"the variable {value} is a {type(found).__name__}, which is not a table",
        hint="A table is a DataFrame of Spark, Arrow data, a frame of pandas or Polars, or a path",
    )


def _as_arrow(found: Any) -> TableSource:
    """Return data that can be read only once as Arrow data; a pandas frame without its index."""
    import pyarrow as pa

    if isinstance(found, pa.Table) or not hasattr(found, "__arrow_c_stream__"):
        source: TableSource = found
        return source
    if type(found).__module__.split(".")[0] == "pandas":
        return pa.Table.from_pandas(found, preserve_index=False)
    return pa.table(found)
