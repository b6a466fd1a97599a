"""Short ways to write down reads of files, and files to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq

from pyspark_substrait.model.relations import (
    FileFormat,
    FileOrFiles,
    LocalFiles,
    OrcReadOptions,
    ParquetReadOptions,
    Read,
)
from pyspark_substrait.model.types import NamedStruct, Type
from tests.spark.plans import schema

PARQUET, ORC = ParquetReadOptions(), OrcReadOptions()
FORMATS: Mapping[str, FileFormat] = {"parquet": PARQUET, "orc": ORC}


def item(path: str | Path, format: FileFormat | None = PARQUET, kind: str = "uri_path", **more: Any) -> FileOrFiles:
    return FileOrFiles(path_type=kind, path=str(path), file_format=format, **more)  # type: ignore[arg-type]


def read(columns: Mapping[str, Type] | NamedStruct, *items: FileOrFiles, **more: Any) -> Read:
    wanted = columns if isinstance(columns, NamedStruct) else schema(tuple(columns.values()), tuple(columns))
    return Read(base_schema=wanted, read_type=LocalFiles(items=items), **more)


def write(path: Path, table: pa.Table | Mapping[str, Sequence[Any]], **more: Any) -> Path:
    """A file of the format that its name ends with."""
    table = table if isinstance(table, pa.Table) else pa.table(dict(table))
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".orc":
        orc.write_table(table, path, **more)
    else:
        pq.write_table(table, path, **more)
    return path
