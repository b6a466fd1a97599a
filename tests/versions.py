"""The tests of a run on an older Spark: those that need a newer one are skipped, with the version that they need.

A test is skipped if the package says so (``NewerSparkError``), or if the Spark that runs is older than its mark:
``@pytest.mark.since("4.0", "why")``. What is skipped for the package's sake is compared with :data:`LACKING`: a refusal
that isn't there, or of a version that has what is refused, fails the test.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Final

import pytest

from pyspark_substrait.errors import NewerSparkError
from pyspark_substrait.spark.compatibility import session_version
from pyspark_substrait.sql.spark_version import SparkVersion, parsed_version, version_of_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["LACKING", "expected", "knows_times"]

LACKING: Final[Mapping[str, SparkVersion]] = {
    "TIME": SparkVersion(4, 2),
    "NOT NULL": SparkVersion(4, 2),
    "IN (SELECT ...) as a value in the condition of a join": SparkVersion(4, 0),
    "writing to tables with Spark Connect": SparkVersion(4, 0),
    "plans of queries over tables of catalog plugins that have earlier versions": SparkVersion(4, 1),
    "plans of optimised queries over cached data": SparkVersion(4, 0),
    "ORC files with timestamps with a time zone": SparkVersion(4, 2),
    "parts of files with a column _metadata, with Spark Connect": SparkVersion(4, 0),
    "parameters of queries that become plans": SparkVersion(4, 1),
    "encode and decode, which fail where a character set lacks a character": SparkVersion(4, 0),
}
"""The first version with each feature that older ones lack; those of functions are in the tables of functions."""


def expected(error: NewerSparkError, running: SparkVersion) -> bool:
    """Whether a refusal is one of those that the tables have for the version that runs."""
    is_function = ":" in error.feature
    since = error.since if is_function else LACKING.get(error.feature)
    return since == error.since and running < error.since


def knows_times(spark: SparkSession) -> bool:
    """Whether the Spark of a session has the type TIME."""
    return session_version(spark) >= LACKING["TIME"]


def _running() -> SparkVersion:
    import pyspark

    return version_of_session(pyspark.__version__)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("since"):
        version, reason = marker.args
        if _running() < parsed_version(version):
            pytest.skip(f"needs Spark {version}: {reason}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    try:
        return (yield)
    except NewerSparkError as error:
        if not expected(error, _running()):
            raise
        pytest.skip(f"needs a newer Spark, for {error.feature}: {error}")
