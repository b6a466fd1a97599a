"""PySpark's notice on pandas 3 isn't shown by what needs no pandas; all other warnings are."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys, types, warnings
import pandas
pandas.__version__ = "3.0.0"  # all that PySpark looks at
import pyspark_substrait.spark.session_start
import pyspark.testing.utils, pyspark.sql.connect.utils
pyspark.sql.connect.utils.check_dependencies()
print("imported", file=sys.stderr)
warnings.warn("another one", FutureWarning)
from pyspark.sql.pandas.utils import require_minimum_pandas_version
def in_module(name):
    names = {"require_minimum_pandas_version": require_minimum_pandas_version, "__name__": name}
    exec(compile("require_minimum_pandas_version()", name, "exec"), names)
in_module("pyspark.sql.udf")
print("registered", file=sys.stderr)
in_module("pyspark.sql.pandas.conversion")
print("converted", file=sys.stderr)
in_module("own")
"""


@pytest.mark.since("4.2", "earlier releases say nothing of pandas 3")
def test_pyspark_says_nothing_on_pandas_when_it_is_imported() -> None:
    made = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    before, _, after = made.stderr.partition("imported")
    assert before == ""
    registered, _, after = after.partition("registered")
    converted, _, own = after.partition("converted")
    assert "another one" in registered
    notice = "PySpark does not yet fully support pandas"
    assert notice not in registered
    assert notice in converted and notice in own  # where the caller's own code needs pandas
