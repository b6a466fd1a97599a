"""Random queries tried: they have the same text for everybody, they agree, and a planted fault is found."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from fuzz import spark_sql
from fuzz.queries import QUERIES, TRIALS, QueryEngines, query_outcomes
from pyspark_substrait.model.relations import Join, JoinType

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SEEDS = 6


@pytest.fixture(scope="module")
def there(spark: SparkSession) -> QueryEngines:
    return QueryEngines(lambda: spark)


def test_the_query_of_a_seed() -> None:
    made = [spark_sql.query(seed) for seed in range(300)]
    assert made == [spark_sql.query(seed) for seed in range(300)]
    assert len(set(made)) > 250
    assert not [text for text in made if "{" in text], "each slot is filled"


@pytest.mark.sweep
@pytest.mark.since("4.1", "the queries use what Spark has since then")
@pytest.mark.parametrize("engine", QUERIES)
def test_queries_agree(engine: str, there: QueryEngines) -> None:
    found = [(seed, item) for seed in range(_SEEDS) for item in query_outcomes(engine, QUERIES[engine](seed), there)]
    assert not [(seed, item) for seed, item in found if item.failed]
    agreed = {item.trial for _, item in found if item.outcome == "agrees"}
    assert agreed == {*TRIALS[engine]}


def test_a_planted_fault_is_found(there: QueryEngines, monkeypatch: pytest.MonkeyPatch) -> None:
    def inner(**arguments: Any) -> Join:
        made = Join(**arguments)
        return replace(made, type=JoinType.INNER) if made.type is JoinType.LEFT else made

    monkeypatch.setattr("pyspark_substrait.spark.producer.relations.joins.Join", inner)
    query = "SELECT t.id, u.k FROM t LEFT JOIN u ON t.g = u.g"
    assert [item.trial for item in query_outcomes("Spark", query, there) if item.failed]
