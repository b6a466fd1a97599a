"""Frames of pyspark.pandas, whose index is left out."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

import pytest

import pyspark_substrait as ps
from tests.spark.producer.round_trips import assert_same, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def pandas_on_spark(spark: SparkSession) -> Iterator[Any]:
    pytest.importorskip("pandas")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pyspark.pandas
    except (ImportError, AttributeError) as error:
        pytest.skip(f"pyspark.pandas doesn't work with this release of pandas: {error}")
    with ExitStack() as options:
        with suppress(pyspark.pandas.config.OptionError):  # Spark 4.0 wants to be told that ANSI mode is meant
            options.enter_context(pyspark.pandas.option_context("compute.fail_on_ansi_mode", False))
        yield pyspark.pandas


def test_frames(spark: SparkSession, pandas_on_spark: Any) -> None:
    source = spark.sql("SELECT * FROM VALUES (1, 'a'), (2, NULL), (3, 'a') AS t (i, s)")
    frame = source.pandas_api(index_col="i")
    for one in (frame, frame[["s"]], source.pandas_api(index_col="s")[["i"]] + 1, frame["s"]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plan = ps.to_substrait(one)
            expected = (one if hasattr(one, "to_spark") else one.to_frame()).to_spark()
        assert_same(rows(ps.from_substrait(plan, spark)), rows(expected))
