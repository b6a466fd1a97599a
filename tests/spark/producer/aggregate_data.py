"""Views for the tests of aggregates and windows: nulls, duplicates, NaN, both zeros, empty strings, extremes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["views"]

_ROWS = """
SELECT * FROM VALUES
  (1, 10L, 1Y, 7S, CAST(1.5 AS FLOAT), 2.5D, 1.25BD, 12345678901234567890.123456BD, 'a', true,
    DATE'2020-01-01', TIMESTAMP_NTZ'2020-01-01 00:00:00', TIMESTAMP'2020-01-01 00:00:00Z', X'01', 'x'),
  (1, 20L, 2Y, 8S, CAST('NaN' AS FLOAT), double('NaN'), -1.25BD, -0.000001BD, 'b', false,
    DATE'2020-01-02', TIMESTAMP_NTZ'2020-01-01 12:00:00', TIMESTAMP'2020-01-01 12:00:00Z', X'', 'y'),
  (2, NULL, NULL, NULL, NULL, -0.0D, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'x'),
  (2, -5L, -128Y, -32768S, CAST(0.5 AS FLOAT), 0.0D, 99999.99BD, 1.000000BD, '', true,
    DATE'2020-03-01', TIMESTAMP_NTZ'2021-01-01 00:00:00', TIMESTAMP'2021-01-01 00:00:00Z', X'00', 'y'),
  (NULL, 10L, 127Y, 32767S, CAST(2.0 AS FLOAT), double('Infinity'), 1.25BD, 2.500000BD, 'a', NULL,
    DATE'2020-01-01', TIMESTAMP_NTZ'2020-01-01 00:00:01', TIMESTAMP'2020-01-01 00:00:01Z', X'01', 'x'),
  (NULL, 30L, 5Y, 5S, CAST(2.0 AS FLOAT), NULL, 0.01BD, 0.333333BD, 'c', false,
    DATE'2019-12-31', NULL, NULL, X'FF', NULL),
  (3, 9000000000L, 3Y, 3S, CAST(3.0 AS FLOAT), 1e300D, 7.00BD, 7.000000BD, 'A', true,
    DATE'2020-02-29', TIMESTAMP_NTZ'2020-02-29 00:00:00', TIMESTAMP'2020-02-29 00:00:00Z', X'0102', 'z')
AS t (k, b, y, h, f, d, m, w, s, t, dt, ts, tz, bin, g)
"""


@pytest.fixture(scope="module")
def views(spark: SparkSession) -> dict[str, DataFrame]:
    """``t`` has records, ``e`` has the same columns and none."""
    frames = {"t": spark.sql(_ROWS)}
    frames["e"] = frames["t"].where("false")
    for name, frame in frames.items():
        frame.createOrReplaceTempView(name)
    return frames
