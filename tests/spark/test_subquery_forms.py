"""Correlated subqueries of every form, on whichever Spark runs: those that it takes as they are, and the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import pytest

from tests.spark.correlated import TABLES
from tests.spark.plans import answers, ordered
from tests.spark.subquery_forms import FORMS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.sweep
def test_the_records_of_every_form(spark: SparkSession) -> None:
    with duckdb.connect() as duck:
        for name, records in TABLES.items():
            duck.execute(f"CREATE TABLE {name} (a INT, b INT)")
            duck.executemany(f"INSERT INTO {name} VALUES (?, ?)", records)
        wanted = {name: ordered(duck.execute(form.sql).fetchall()) for name, form in FORMS.items()}
    found = answers(spark, [form.node for form in FORMS.values()])
    assert {name: ordered(rows) for name, rows in zip(FORMS, found, strict=True)} == wanted
