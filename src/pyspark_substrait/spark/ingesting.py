"""Put records of a Parquet file into tables of a session's catalog, with the columns matched by name."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet

from pyspark_substrait.errors import TableError
from pyspark_substrait.spark.catalog_listing import current
from pyspark_substrait.spark.compatibility import frame_of_arrow
from pyspark_substrait.spark.session import is_connect
from pyspark_substrait.spark.sql_statements import sql_errors
from pyspark_substrait.sql.compiler.names import quoted_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructField

__all__ = ["IfExists", "IfMissing", "ingest"]


class IfMissing(IntEnum):
    """What to do where there is no such table."""

    CREATE = 1
    FAIL = 2


class IfExists(IntEnum):
    """What to do where there is such a table."""

    FAIL = 1
    APPEND = 2
    REPLACE = 3


#: integers by their bytes
_WIDTHS: Final = {"tinyint": 1, "smallint": 2, "int": 4, "bigint": 8}
_CHAR: Final = "__CHAR_VARCHAR_TYPE_STRING"


def ingest(
    spark: SparkSession,
    place: tuple[str | None, str | None, str],
    file: Path,
    names: Sequence[str],
    if_missing: IfMissing,
    if_exists: IfExists,
) -> None:
    """Put the records of a file into a table.

    Args:
        spark: a classic or a Connect session.
        place: the catalog, the schema and the name of the table; the session's current ones where the first are None.
        file: a Parquet file on this machine, whose columns are in order those of ``names``.
        names: the names of the columns.
        if_missing: what to do where there is no such table.
        if_exists: what to do where there is one.

    Raises:
        TableError: the table exists, or doesn't, and that isn't wanted; or the columns don't fit it.
        SubstraitError: Spark doesn't take the records.
    """
    with sql_errors(spark):
        catalog, schema = current(spark)
        path = quoted_path((place[0] or catalog, place[1] or schema, place[2]))
        exists = spark.catalog.tableExists(path)
        if not exists and if_missing is IfMissing.FAIL:
            raise TableError(f"there is no table {path}", hint="Ask for it to be created")
        if exists and if_exists is IfExists.FAIL:
            raise TableError(
                f"the table {path} exists", hint="Ask for records to be appended, or for it to be replaced"
            )
        frame = _frame(spark, file, names)
        if not exists:
            frame.write.saveAsTable(path, mode="error")
        elif if_exists is IfExists.REPLACE:
            frame.write.saveAsTable(path, mode="overwrite")
        else:
            _fitted(frame, spark, path).write.insertInto(path)


def _frame(spark: SparkSession, file: Path, names: Sequence[str]) -> DataFrame:
    """Return the records of the file, which Spark reads itself where it runs on this machine only."""
    from pyspark.sql.pandas.types import from_arrow_schema

    stored = pa.parquet.read_schema(file)
    schema = from_arrow_schema(stored, prefer_timestamp_ntz=True)
    if not is_connect(spark) and spark.sparkContext.master.startswith("local"):
        reader = spark.read.schema(schema).option("datetimeRebaseMode", "CORRECTED")
        return reader.parquet(file.as_uri()).toDF(*names)
    return frame_of_arrow(spark, pa.parquet.read_table(file), schema).toDF(*names)


def _fitted(frame: DataFrame, spark: SparkSession, path: str) -> DataFrame:
    """Return the records with the columns of a table, in its order, each found by its name.

    Raises:
        TableError: there are more or fewer, or a type doesn't hold every value.
    """
    fold = str if spark.conf.get("spark.sql.caseSensitive", "false") == "true" else str.lower
    given = {fold(field.name): (position, field) for position, field in enumerate(frame.schema.fields)}
    table = spark.table(path).schema
    missing = [field.name for field in table.fields if fold(field.name) not in given]
    more = sorted(set(given) - {fold(field.name) for field in table.fields})
    if len(given) < len(frame.columns):
        raise TableError("two columns of the records have the same name")
    if missing or more:
        faults = [f"lack {', '.join(missing)}"] * bool(missing) + [f"have {', '.join(more)} too many"] * bool(more)
        raise TableError(f"the records do not have the columns of the table {path}: they {' and '.join(faults)}")
    plain = [f"c{position}" for position in range(len(frame.columns))]  # since a name may hold dots and quotes
    renamed = frame.toDF(*plain)
    columns = []
    for field in table.fields:
        position, found = given[fold(field.name)]
        _check_type(found, field, path)
        columns.append(renamed[plain[position]].cast(field.dataType))
    return renamed.select(*columns)


def _check_type(given: StructField, wanted: StructField, path: str) -> None:
    kind = wanted.metadata.get(_CHAR, "") if wanted.metadata else ""
    if not kind.startswith("char") and _holds(wanted.dataType, given.dataType):
        return
    raise TableError(
        f"the column {given.name} is of type {given.dataType.simpleString()}, and in the table {path} of type "
        f"{kind or wanted.dataType.simpleString()}, which does not hold it as it is",
        hint="Cast it before sending it",
    )


def _holds(wanted: Any, given: Any) -> bool:
    """Whether a type of Spark holds every value of another one exactly."""
    from pyspark.sql import types

    new, old = wanted.simpleString(), given.simpleString()
    if new == old:
        return True
    if old in _WIDTHS:
        if isinstance(wanted, types.DecimalType):
            return bool(wanted.precision - wanted.scale >= {1: 3, 2: 5, 4: 10, 8: 19}[_WIDTHS[old]])
        return _WIDTHS[old] < _WIDTHS.get(new, 0) or (new == "double" and _WIDTHS[old] <= 4)
    if isinstance(wanted, types.DecimalType) and isinstance(given, types.DecimalType):
        more = wanted.scale - given.scale
        return bool(more >= 0 and wanted.precision - given.precision >= more)
    return (old, new) == ("float", "double")
