"""docs/spark-versions.md has the table of what was measured."""

from __future__ import annotations

from pyspark_substrait.sql.spark_version import VERSIONS, version_of_session
from tests.spark_versions import PAGE, measured, table


def test_the_page_is_up_to_date() -> None:
    assert table() in PAGE.read_text(encoding="utf-8")


def test_versions_are_supported() -> None:
    assert {version_of_session(version) for version in measured()} <= set(VERSIONS)
