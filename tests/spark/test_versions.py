"""The versions of Spark in the tables, against the Spark that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.spark.compatibility import require_distutils, session_version
from pyspark_substrait.spark.jvm import compiled_object, source
from pyspark_substrait.spark.session import is_connect
from pyspark_substrait.sql.functions.builtins_since import BUILTINS, has_builtin
from pyspark_substrait.sql.spark_version import NEWEST, OLDEST

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_spark_has_the_built_in_functions_that_the_table_says(spark: SparkSession) -> None:
    version = session_version(spark)
    there = {row[0].rpartition(".")[2].lower() for row in spark.sql("SHOW ALL FUNCTIONS").collect()}
    said = {name for name in BUILTINS if has_builtin(name, version)}
    assert said == BUILTINS & there


@pytest.mark.parametrize("name", ["PlanJson", "TableFacts", "GuardedScans"])
def test_java_sources_fit_the_classes_of_this_spark(spark: SparkSession, name: str) -> None:
    if is_connect(spark):
        pytest.skip("nothing of Java is compiled for Spark Connect")
    assert compiled_object(spark, name) is not None


def test_lines_of_java_sources_are_for_versions() -> None:
    older, newest = (source("TableFacts", version) for version in (OLDEST, NEWEST))
    assert "import org.apache.spark.sql.SparkSession;" in older and "sql.classic" not in older
    assert "import org.apache.spark.sql.classic.SparkSession;" in newest and "sql.SparkSession;" not in newest
    assert older.count("\n") == newest.count("\n")  # so that a compiler's line is the file's


def test_a_module_that_python_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("pyspark.__version__", "4.0.1")
    require_distutils()
    monkeypatch.setattr("pyspark.__version__", "3.5.7")
    with pytest.raises(SubstraitError, match=r"PySpark 3\.5\.7 needs the module distutils.*pip install setuptools"):
        require_distutils()
