"""Suppress the warning about pandas 3 that PySpark issues where pandas isn't used."""

from __future__ import annotations

import warnings

__all__ = ["leave_out_pandas_notice"]


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
