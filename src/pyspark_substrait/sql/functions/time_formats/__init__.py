"""``strftime`` and the ``strptime`` functions, whose formats are those of C (``docs/time-formats.md``).

A format that is a literal is read while the plan is compiled (``conversions``). What comes of it is SQL for that
format alone: for ``strftime`` a call of Spark's ``printf``, for the others a regular expression and what is computed
of its groups. The rows of the table are in ``strftime`` and ``strptime``.
"""

from __future__ import annotations

from pyspark_substrait.sql.functions.time_formats import strftime, strptime

__all__ = ["ROWS"]

ROWS = (*strptime.ROWS, *strftime.ROWS)
