"""PySpark's notice on pandas 3 isn't shown by what needs no pandas; all other warnings are."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys, types, warnings
import pandas
pandas.__version__ = "3.0.0"  # all that PySpark looks at
import pyspark_substrait.spark.session
import pyspark.testing.utils, pyspark.sql.connect.utils
pyspark.sql.connect.utils.check_dependencies()
print("imported", file=sys.stderr)
warnings.warn("another one", FutureWarning)
from pyspark.sql.pandas.utils import require_minimum_pandas_version
exec(compile("require_minimum_pandas_version()", "own.py", "exec"), {**globals(), "__name__": "own"})
"""


def test_pyspark_says_nothing_on_pandas_when_it_is_imported() -> None:
    made = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    before, _, after = made.stderr.partition("imported")
    assert before == ""
    assert "another one" in after
    assert "PySpark does not yet fully support pandas" in after  # where the caller's own code needs it
