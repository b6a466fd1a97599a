"""The formats of files that Spark reads."""

from __future__ import annotations

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.relations import DwrfReadOptions, FileFormat

__all__ = ["readable"]


def readable(format: FileFormat | None) -> FileFormat:
    """The format of an item, if there is a reader for it.

    Raises:
        UnsupportedPlanError: there is none.
    """
    match format:
        case None:
            raise UnsupportedPlanError(
                "the item does not state the format of its files", hint="Give one of file_format: parquet, orc, …"
            )
        case DwrfReadOptions():
            raise UnsupportedPlanError(
                "Spark has no reader for DWRF files", path="dwrf", hint="Give ORC or Parquet files"
            )
        case AnyMessage(type_url=url):
            raise UnsupportedPlanError(f"the file format {url} is not known here", path="extension")
        case known:
            return known
