"""A system that refuses to change files: the plan fails with an error of this package, and the table stays."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import NoReturn

import pytest
from pyspark.sql import SparkSession

from pyspark_substrait import write_targets
from pyspark_substrait.errors import ExecutionError
from pyspark_substrait.model.types import Date
from pyspark_substrait.spark.writing import folders
from tests.spark.plans import INT, INT_, TEXT_, run, values
from tests.spark.writing.ddl import carry_out
from tests.spark.writing.records import insert, stored, table
from tests.spark.writing.test_write_targets import pairs
from tests.spark.writing.test_write_targets import write as write_files

REFUSALS = [(errno.ENOSPC, "files cannot be changed: .*No space left"), (errno.ENOENT, "a file has vanished during")]


@pytest.mark.parametrize(("number", "message"), REFUSALS)
def test_a_refusal_of_the_system_is_an_error_of_this_package(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, message: str
) -> None:
    def refused(version: folders.Change) -> NoReturn:
        raise OSError(number, os.strerror(number), str(version.version))

    one, two = (values([INT, TEXT_, INT_], [(id, "x", None)]) for id in (1, 2))
    files = write_files(write_targets.files(str(tmp_path / "out")), pairs((1, "a")))
    with table(spark) as name:
        run(spark, insert(name, one))
        with monkeypatch.context() as patched:
            patched.setattr(folders.Change, "add", refused)
            with pytest.raises(ExecutionError, match=message):
                run(spark, insert(name, two))
            with pytest.raises(ExecutionError, match=message):
                carry_out(spark, files, allowed_paths=[tmp_path])
        assert stored(spark, name) == [(1, "x", None)]
        assert list(tmp_path.iterdir()) == []


def test_a_session_that_writes_no_old_dates_says_the_setting(spark: SparkSession) -> None:
    key = "spark.sql.parquet.datetimeRebaseModeInWrite"
    type, first_day = Date(nullable=True), -719_162  # of the year 1
    with table(spark, "day DATE") as name:
        spark.conf.set(key, "EXCEPTION")
        try:
            with pytest.raises(ExecutionError, match=f"dates before 1582.*Set {key} to CORRECTED"):
                run(spark, insert(name, values([type], [(first_day,)]), {"day": type}))
        finally:
            spark.conf.set(key, "CORRECTED")
        assert stored(spark, name) == []
