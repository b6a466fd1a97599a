"""The tests of a run on an older Spark: those that need a newer one are skipped, with the version that they need.

A test is skipped if the compiler says so (``NewerSparkError``), or if the Spark that runs is older than its mark:
``@pytest.mark.since("4.0", "why")``.
"""

from __future__ import annotations

from collections.abc import Generator

import pytest

from pyspark_substrait.errors import NewerSparkError
from pyspark_substrait.sql.spark_version import parsed_version, version_of_session

__all__: list[str] = []


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("since"):
        import pyspark

        version, reason = marker.args
        if version_of_session(pyspark.__version__) < parsed_version(version):
            pytest.skip(f"needs Spark {version}: {reason}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    try:
        return (yield)
    except NewerSparkError as error:
        pytest.skip(f"needs a newer Spark: {error}")
