"""Suppress PySpark's warning about pandas 3 where no pandas is used; PySpark gives it on import."""

from __future__ import annotations

import warnings

__all__ = ["leave_out_pandas_notice"]


def leave_out_pandas_notice() -> None:
    """Leave out the notice that PySpark's modules give when they are imported.

    Nothing here goes through pandas. Where a caller's own code does (``toPandas``, ``pyspark.pandas``, functions of
    pandas), other modules of PySpark give the notice, and it stays.
    """
    warnings.filterwarnings(
        "ignore",
        message="PySpark does not yet fully support pandas >= 3",
        category=FutureWarning,
        module=r"pyspark\.(testing|sql\.connect)\.utils\Z",
    )
