"""The schemas of DataFrames and of the session's tables, in few calls to Spark."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.spark.bound_statements import bound
from pyspark_substrait.spark.session import is_connect, spark_errors
from pyspark_substrait.spark.settings import OF_PLANS, Settings
from pyspark_substrait.spark.table_facts import table_facts
from pyspark_substrait.sql.compiler.names import quoted_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = ["Catalog", "schema_of"]

Names: TypeAlias = "tuple[str, ...]"

#: the attribute of a DataFrame that holds its schema; Connect copies its own at each access
_SCHEMA: Final = "_pyspark_substrait_schema"


def schema_of(frame: DataFrame) -> StructType:
    """Return the schema of a DataFrame. It is cached, and must not be changed.

    Raises:
        Exception: one of :func:`spark_errors`: a Connect server rejects the DataFrame.
    """
    known: StructType | None = vars(frame).get(_SCHEMA)
    if known is None:
        known = vars(frame)[_SCHEMA] = frame.schema
    return known


class Catalog:
    """The tables of a session, by their names, as one run sees them.

    Args:
        spark: the session.
        settings: its settings.
    """

    def __init__(self, spark: SparkSession, settings: Settings) -> None:
        self._spark = spark
        self._settings = settings
        self._expected: dict[Names, StructType] = {}
        self._files: dict[Names, Sequence[str]] = {}

    def expect(self, names: Iterable[Names]) -> None:
        """Look up tables that will be needed, all at once if the session supports that."""
        self.forget()
        asked = list(dict.fromkeys(names))
        try:
            paths = [quoted_path(path) for path in asked]
            found = self._of_connect(paths) if is_connect(self._spark) else self._of_classic(asked, paths)
        except SubstraitError:
            return  # each lookup by itself reports its error
        except spark_errors():
            return
        self._expected = {path: schema for path, schema in zip(asked, found, strict=True) if schema is not None}

    def _of_connect(self, paths: Sequence[str]) -> list[StructType | None]:
        """Return the schemas as structs in the result of one query, which fails if one of the tables does."""
        if len(paths) < 2:
            return [None] * len(paths)
        items = ", ".join(f"struct(t{number}.*) AS t{number}" for number in range(len(paths)))
        tables = ", ".join(f"{path} AS t{number}" for number, path in enumerate(paths))
        schema = bound(self._spark, f"SELECT {items} FROM {tables}", {}).schema
        return [field.dataType for field in schema.fields]  # type: ignore[misc]

    def _of_classic(self, names: Sequence[Names], paths: Sequence[str]) -> list[StructType | None]:
        # beyond ASCII, Python's lower case may differ from Java's
        bare = [path[0].lower() if len(path) == 1 and path[0].isascii() else "" for path in names]
        found = table_facts(self._spark, OF_PLANS, list(zip(paths, bare, strict=True)))
        if found is None:
            self._settings.know({})
            return [None] * len(paths)
        self._settings.know(dict(zip(OF_PLANS, found.settings, strict=True)))
        self._files = dict(zip(names, found.files, strict=True))
        return [None if text is None else _read(text) for text in found.schemas]

    def forget(self) -> None:
        """Forget all tables, because something has changed; they are looked up again."""
        self._expected.clear()
        self._files.clear()

    def files(self, names: Names) -> Sequence[str]:
        """The Parquet files, as URIs, that a table is made of and nothing else; empty where that isn't known."""
        return self._files.get(names, ())

    def schema(self, names: Names) -> StructType:
        """The schema of a table.

        Raises:
            Exception: one of :func:`spark_errors`: there is no such table, or Spark can't read it.
        """
        known = self._expected.get(names)
        return schema_of(self._spark.table(quoted_path(names))) if known is None else known


@lru_cache(maxsize=256)
def _read(text: str) -> StructType:
    from pyspark.sql.types import StructType

    return StructType.fromJson(json.loads(text))
