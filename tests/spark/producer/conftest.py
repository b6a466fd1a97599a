"""The producer needs a classic session: its tests stand aside where the run is one of Spark Connect."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("TEST_REMOTE"):
        for item in items:
            if "/spark/producer/" in item.nodeid.replace(os.sep, "/"):
                item.add_marker(pytest.mark.skip(reason="plans are made in classic sessions only"))


@pytest.fixture(autouse=True, scope="module")
def no_views_left(spark: SparkSession) -> Iterator[None]:
    """Drop the temporary views of a module's tests, which would hide tables of others from them."""
    yield
    for row in spark.sql("SHOW TABLES").collect():
        if row.isTemporary:
            spark.catalog.dropTempView(row.tableName)
