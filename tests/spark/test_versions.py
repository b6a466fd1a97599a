"""What the tables say of the versions of Spark, against the Spark that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark_substrait.spark.compatibility import session_version
from pyspark_substrait.sql.functions.builtins_since import BUILTINS, has_builtin

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_spark_has_the_built_in_functions_that_the_table_says(spark: SparkSession) -> None:
    version = session_version(spark)
    there = {row[0].rpartition(".")[2].lower() for row in spark.sql("SHOW ALL FUNCTIONS").collect()}
    said = {name for name in BUILTINS if has_builtin(name, version)}
    assert said == BUILTINS & there
