"""Every builtin function of Spark: the examples of its documentation go there and back, or it is on the list below."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.spark.compatibility import session_version
from pyspark_substrait.spark.producer.functions_page import markdown
from pyspark_substrait.spark.producer.refusals import FUNCTIONS
from pyspark_substrait.sql.functions import table
from pyspark_substrait.sql.functions.builtins_since import has_builtin
from pyspark_substrait.sql.functions.catalog import combinations
from tests.spark.producer.surveying import Outcome, examples, functions, surveyed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.sweep(sample=0.02)

PAGE = Path(__file__).parents[3] / "docs" / "spark-functions.md"

#: functions that give something else each time, or in each partition
UNSTABLE: Final = frozenset(
    {
        "aes_encrypt",
        "curdate",
        "current_date",
        "current_time",
        "current_timestamp",
        "localtime",
        "localtimestamp",
        "monotonically_increasing_id",
        "now",
        "rand",
        "randn",
        "random",
        "randstr",
        "shuffle",
        "spark_partition_id",
        "unix_timestamp",
        "uuid",
    }
)

#: examples of functions that go out, which don't themselves: what is in them, and why
EXCEPTIONS: Final[tuple[tuple[str, str, str], ...]] = (
    ("current_time", "(1+1)", "the precision isn't a literal"),
    ("localtime", "(1+1)", "the precision isn't a literal"),
    ("div", "MONTH", "an interval of months is cast to one of years to months, which a plan can't tell apart"),
    ("unix_millis", "TIMESTAMP_NTZ", "a timestamp without a zone is no instant"),
    ("make_timestamp", "DATE", "a date without a time"),
    ("try_make_timestamp", "DATE", "a date without a time"),
    *(
        (f"try_{name}", part, "an error of dates and intervals becomes null")
        for name in ("add", "subtract")
        for part in ("date", "timestamp", "time'", "interval")
    ),
    *((f"try_{name}", "interval", "an error of intervals becomes null") for name in ("divide", "multiply")),
)

#: examples whose plan isn't valid: what is in them, and why
INVALID: Final = (("try_avg", "2147483647 months", "Substrait's intervals have at most 10,000 years"),)

#: how many of the examples go there and back; more is better
AT_LEAST: Final = 1100


def _is_listed(one: Outcome, listed: Sequence[tuple[str, str, str]]) -> bool:
    return any(one.function == function and part in one.query for function, part, _ in listed)


@pytest.fixture(scope="module")
def outcomes(spark: SparkSession) -> list[Outcome]:
    return [
        surveyed(spark, name, query, stable=name not in UNSTABLE)
        for name, text in sorted(functions(spark).items())
        for query in examples(name, text)
    ]


def test_what_goes_out_means_the_same_on_the_way_back(outcomes: list[Outcome]) -> None:
    wrong = [one for one in outcomes if one.kind == "different" and not _is_listed(one, INVALID)]
    assert not wrong, "\n".join(f"{one.function}: {one.query}\n    {one.reason}" for one in wrong)


def test_what_is_refused_is_on_the_list(outcomes: list[Outcome]) -> None:
    refused = [
        one
        for one in outcomes
        if one.kind == "refused" and one.function not in FUNCTIONS and not _is_listed(one, EXCEPTIONS)
    ]
    assert not refused, "\n".join(f"{one.function}: {one.query}\n    {one.reason}" for one in refused)


def test_what_is_on_the_list_is_refused(spark: SparkSession, outcomes: list[Outcome]) -> None:
    unknown = FUNCTIONS.keys() - {one.function for one in outcomes}
    assert not [name for name in unknown if has_builtin(name, session_version(spark))]
    went = {one.function for one in outcomes if one.kind == "same" and one.function in FUNCTIONS}
    assert not went


@pytest.mark.since("4.3", "earlier versions have fewer examples")
def test_most_examples_go_there_and_back(outcomes: list[Outcome]) -> None:
    assert sum(one.kind == "same" for one in outcomes) >= AT_LEAST


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == markdown(), (
        "make it anew: python -m pyspark_substrait.spark.producer.functions_page > docs/spark-functions.md"
    )


@pytest.mark.parametrize("urn", Registry.own_urns())
def test_every_function_of_ours_has_a_meaning(urn: str) -> None:
    registry, known = Registry.default(), table(urn)
    assert known is not None
    assert {row.name for row in known.rows} == set(registry.function_names(urn))
    for name in registry.function_names(urn):
        for definition in registry.overloads(urn, name):
            assert definition.description, f"{definition.key} of {urn} has no description"
            assert all(one.row is not None for one in combinations(definition, known)), definition.key
