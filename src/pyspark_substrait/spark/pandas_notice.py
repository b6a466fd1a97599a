"""Leave out pandas, and the warning about pandas 3, where PySpark looks for it but doesn't use it."""

from __future__ import annotations

import sys
import warnings

__all__ = ["leave_out_pandas", "leave_out_pandas_notice"]


def leave_out_pandas_notice() -> None:
    """Suppress the warning of PySpark's modules, except where they convert from and to pandas.

    This package doesn't use pandas: some modules of PySpark only check its version, when they are imported or register
    a function. If a caller's own code uses pandas (``toPandas``, ``createDataFrame``), the warning is shown.
    """
    warnings.filterwarnings(
        "ignore",
        message="PySpark does not yet fully support pandas >= 3",
        category=FutureWarning,
        module=r"pyspark\.(?!sql\.pandas\.conversion\Z)",
    )


def leave_out_pandas() -> None:
    """Import PySpark's helpers for tests, which its bridge to Java asks whether NumPy is there, without pandas.

    They import pandas, which takes a large part of the time of a short command. For a process of this package's own:
    in it, those helpers compare no DataFrames of pandas.
    """
    from pyspark.version import __version__ as version

    # the bridge of 3.5 doesn't ask, and its helpers need pandas
    if version.startswith("3.") or "pandas" in sys.modules or "pyspark.testing.utils" in sys.modules:
        return
    sys.modules["pandas"] = None  # type: ignore[assignment]
    try:
        import pyspark.testing.utils  # noqa: F401
    except ImportError:
        pass
    finally:
        del sys.modules["pandas"]
