"""A small table of texts, dates, times and instants, with nulls, extremes and changes of clocks in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["texts_and_times"]

_TEXTS = """VALUES
  ('a,b', X'612C62', 5), (NULL, NULL, NULL), ('', X'', -3), ('Hello\\tWörld aXbXc 😀', X'00FF80', 31),
  ('a%b_c\\\\%', X'61', 1), ('  padded ', X'2020', 0), ('AbAbab', X'4162', 2), ('line\\nline two\\r\\n', X'0A', 12),
  ('İstanbul ß ǆ', X'C4B0', 7), ('a,b', X'612C62', 5)
  AS t (s, b, i)"""
_TIMES = """VALUES
  (DATE'2020-02-29', TIMESTAMP'2020-02-29 01:02:03.5Z', TIMESTAMP_NTZ'2020-02-29 01:02:03.5', TIME'10:11:12', 5),
  (NULL, NULL, NULL, NULL, NULL),
  (DATE'1999-12-31', TIMESTAMP'1969-12-31 23:59:59.999Z', TIMESTAMP_NTZ'1900-01-01 23:00:00', TIME'00:00:00', -3),
  (DATE'2021-03-14', TIMESTAMP'2021-03-14 06:30:00Z', TIMESTAMP_NTZ'2021-03-14 02:30:00', TIME'23:59:59.999999', 31),
  (DATE'2021-11-07', TIMESTAMP'2021-11-07 05:30:00.123456Z', TIMESTAMP_NTZ'2021-11-07 01:30:00', TIME'12:00:00', 1),
  (DATE'2021-11-07', TIMESTAMP'2021-11-07 06:30:00.123456Z', TIMESTAMP_NTZ'2021-11-07 01:30:00', TIME'12:00:00', 0),
  (DATE'2024-12-30', TIMESTAMP'2024-12-30 23:59:59.999999Z', TIMESTAMP_NTZ'2024-12-31 00:00:00', TIME'00:00:00.01', 12)
  AS t (d, ts, n, tm, i)"""


def texts_and_times(spark: SparkSession) -> dict[str, DataFrame]:
    """The views ``texts`` (``s``, ``b`` for binary, ``i``) and ``times`` (``d``, ``ts``, ``n``, ``tm``, ``i``).

    Before Spark 4.2, which has no TIME, ``tm`` is a text.
    """
    times = _TIMES if spark.version >= "4.2" else re.sub(r"\bTIME'[^']*'", "CAST(NULL AS STRING)", _TIMES)
    spark.sql(f"SELECT * FROM {_TEXTS}").createOrReplaceTempView("texts")
    spark.sql(f"SELECT * FROM {times}").createOrReplaceTempView("times")
    return {"texts": spark.table("texts"), "times": spark.table("times")}
