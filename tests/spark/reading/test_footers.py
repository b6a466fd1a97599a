"""Metadata of files that Arrow reads before Spark does."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyspark_substrait.errors import TableError
from pyspark_substrait.spark.reading.footers import footer


def test_a_file_that_vanishes_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": [1]}), path)
    assert footer(str(path), "parquet").schema == pa.schema({"a": pa.int64()})
    path.unlink()
    with pytest.raises(TableError, match=r"the file .*a\.parquet has vanished during the run"):
        footer(str(path), "parquet")
