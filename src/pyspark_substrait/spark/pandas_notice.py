"""Suppress the warning about pandas 3 that PySpark issues on import, where pandas isn't used."""

from __future__ import annotations

import warnings

__all__ = ["leave_out_pandas_notice"]


def leave_out_pandas_notice() -> None:
    """Suppress the warning that PySpark's modules issue when they are imported.

    This package doesn't use pandas. If a caller's own code does (``toPandas``, ``pyspark.pandas``, functions of
    pandas), other modules of PySpark issue the warning, and it is shown.
    """
    warnings.filterwarnings(
        "ignore",
        message="PySpark does not yet fully support pandas >= 3",
        category=FutureWarning,
        module=r"pyspark\.(testing|sql\.connect)\.utils\Z",
    )
