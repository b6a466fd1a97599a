"""``strftime`` and the ``strptime`` functions, whose formats are those of C (``docs/time-formats.md``).

A literal format is read while the plan is compiled (``conversions``). The result is SQL for that format only: for
``strftime`` a call of Spark's ``printf``, for the others a regular expression and computations on its groups. The rows
of the table are in ``strftime`` and ``strptime``.
"""

from __future__ import annotations

from pyspark_substrait.sql.functions.time_formats import strftime, strptime

__all__ = ["ROWS"]

ROWS = (*strptime.ROWS, *strftime.ROWS)
