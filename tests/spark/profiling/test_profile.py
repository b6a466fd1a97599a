"""The profile of small plans of all kinds of relations, each figure worked out by hand.

A plan is told as its relations in the order of the page, with the rows that each puts out: ``=`` follows from others,
``~`` is an estimate, ``?`` isn't known, and the rest was measured.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

import pyspark_substrait as ps
from pyspark_substrait.analysis.profile import Basis, Figure, Profile
from pyspark_substrait.analysis.profile.text import figure_text
from pyspark_substrait.builder import count, exists, read, row_number, sum_, values
from pyspark_substrait.cli import main
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.relations import Project, RelCommon
from pyspark_substrait.spark.session import is_connect

#: 100 numbers, and what they leave when divided by 7; nothing for the ten that end with a zero
ITEMS = pa.table({"i": range(100), "k": [None if i % 10 == 0 else i % 7 for i in range(100)]})
KEYS = pa.table({"key": range(7), "w": range(7)})

items = read("items", {"i": "i64", "k": "i64?"})
keys = read("keys", {"key": "i64", "w": "i64"})
BY_KEY = lambda item, key: item.k == key.key  # noqa: E731


@dataclass(frozen=True)
class Case:
    """A frame, what its profile tells, and what it tells when every relation is counted, where that is more."""

    frame: Callable[[], Any]
    told: str
    exact: str = ""


CASES = {
    "filter": Case(lambda: items.filter(lambda r: r.i < 30), "Filter 30, Read =100"),
    "columns": Case(lambda: items.select(more=lambda r: r.i + 1).sort("more"), "Sort 100, Project =100, Read =100"),
    "inner join": Case(
        lambda: items.join(keys, BY_KEY).group_by("w").agg(n=count()).select("n"),
        "Project 7, Aggregate =7, Join 90, Read =100, Read =7",
    ),
    "filter over a join": Case(
        lambda: items.join(keys, BY_KEY).filter(lambda r: r.w > 3),
        "Filter 38, Join ?, Read =100, Read =7",
        "Filter 38, Join 90, Read =100, Read =7",
    ),
    "filter over a sum": Case(
        lambda: items.group_by("k").agg(n=count()).filter(lambda r: r.n > 12).sort("n"),
        "Sort 5, Filter =5, Aggregate 8, Read =100",
    ),
    "filter over a key": Case(
        lambda: items.group_by("k").agg(n=count()).filter(lambda r: r.k > 3),
        "Filter 3, Aggregate ?, Read =100",
        "Filter 3, Aggregate 8, Read =100",
    ),
    "two filters": Case(
        lambda: items.filter(lambda r: r.i < 30).filter(lambda r: r.k == 1),
        "Filter 5, Filter ?, Read =100",
        "Filter 5, Filter 30, Read =100",
    ),
    "outer joins": Case(
        lambda: (
            items.join(keys, BY_KEY, "left").join(keys, lambda item, key: item.i == key.key, "outer").agg(n=count())
        ),
        "Aggregate 1, Join 100, Join 100, Read =100, Read =7, Read =7",
    ),
    "anti join": Case(
        lambda: items.join(keys, BY_KEY, "left anti").agg(n=count()), "Aggregate 1, Join 10, Read =100, Read =7"
    ),
    "single and mark joins": Case(
        lambda: (
            items.join(keys, BY_KEY, "left single")
            .join(keys, lambda item, key: item.i == key.key, "left mark")
            .agg(n=count())
        ),
        "Aggregate 1, Join =100, Join =100, Read =100, Read =7, Read =7",
    ),
    "filter over a cross product": Case(
        lambda: items.cross_join(keys).filter(lambda r: (r.k == r.key) & (r.w > 3)).agg(n=count()),
        "Aggregate 1, Filter 38, Cross =700, Read =100, Read =7",
    ),
    "physical joins": Case(
        lambda: items.hash_join(keys, [("k", "key")], "inner").agg(n=count()),
        "Aggregate 1, HashJoin 90, Read =100, Read =7",
    ),
    "sets": Case(
        lambda: items.select("k").union_all(items.select("k")).union(keys.select("key")).agg(n=count()),
        "Aggregate 1, Set 8, Set =200, Project =100, Read =100, Project =100, Read =100, Project =7, Read =7",
    ),
    "grouping sets": Case(
        lambda: items.rollup("k").agg(n=count()).agg(n=count()), "Aggregate 1, Aggregate 9, Read =100"
    ),
    "window": Case(
        lambda: items.select("i", n=lambda r: row_number().over(r.k, r.i)).filter(lambda r: r.n == 1),
        "Filter 8, Project =100, Read =100",
    ),
    "sorted and fetched": Case(
        lambda: items.sort("k").limit(5, offset=97).agg(n=count()), "Aggregate 1, Fetch 3, Sort =100, Read =100"
    ),
    "columns over a sort": Case(
        lambda: items.group_by("k").agg(n=count()).sort("n").select(more=lambda r: r.n + 1),
        "Project 8, Sort =8, Aggregate =8, Read =100",
    ),
    "a filter over a sort": Case(
        lambda: (
            items.join(keys, BY_KEY)
            .group_by("w")
            .agg(n=count())
            .filter(lambda r: r.n > 12)
            .sort("n")
            .filter(lambda r: r.n > 13)
        ),
        "Filter 1, Sort =5, Filter 5, Aggregate 7, Join 90, Read =100, Read =7",
    ),
    "top n": Case(lambda: items.top_n(2, "k", with_ties=True).agg(n=count()), "Aggregate 1, TopN ?, Read =100"),
    "values": Case(lambda: values([(1,), (2,), (3,)], {"x": "i64"}).filter(lambda r: r.x > 1), "Filter 2, Read =3"),
    "a query in a filter": Case(
        lambda: items.filter(lambda r: r.k.isin(keys.filter(lambda s: s.w > 3).select("key"))).agg(n=count()),
        "Aggregate 1, Filter 38, Read =100, Project =3, Filter 3, Read =7",
    ),
    "a correlated query": Case(
        lambda: items.filter(lambda r: exists(keys.filter(lambda s: (s.key == r.k) & (s.w > 3)))).agg(n=count()),
        "Aggregate 1, Filter 38, Read =100, Filter ?, Read =7",
    ),
    "shared": Case(
        lambda: (lambda sums: sums.cross_join(sums).agg(n=count()))(
            items.group_by("k").agg(s=lambda r: sum_(r.i)).shared()
        ),
        "Aggregate 1, Cross =64, Reference =8, Aggregate 8, Read =100, Reference =8",
    ),
    "no columns": Case(
        lambda: items.filter(lambda r: r.i < 30).relation(
            lambda node: Project(input=node, expressions=(), common=RelCommon(emit=())), []
        ),
        "Project 30, Filter =30, Read =100",
    ),
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("profiled")
    pq.write_table(ITEMS, folder / "items.parquet")
    pq.write_table(KEYS, folder / "keys.parquet")
    return {name: str(folder / f"{name}.parquet") for name in ("items", "keys")}


def told(profile: Profile) -> str:
    return ", ".join(f"{relation.name} {figure_text(relation.rows_out)}" for relation in profile.relations)


def in_order(rows: pa.Table) -> list[dict[str, object]]:
    return sorted(rows.to_pylist(), key=str)


@pytest.mark.parametrize("name", CASES)
def test_rows_of_every_relation(name: str, spark: SparkSession, tables: dict[str, str]) -> None:
    case = CASES[name]
    plan = case.frame().to_plan()
    profile = ps.profile(plan, spark, tables=tables)
    assert told(profile) == case.told
    result = ps.run_query(plan, spark=spark, tables=tables)
    assert profile.rows.schema.equals(result.schema) and in_order(profile.rows) == in_order(result)
    if case.exact:
        assert told(ps.profile(plan, spark, tables=tables, exact=True)) == case.exact


def test_a_fetch_stops_what_is_below(spark: SparkSession, tables: dict[str, str]) -> None:
    plan = items.join(keys, BY_KEY).limit(5).to_plan()
    fetch, join, read, _ = ps.profile(plan, spark, tables=tables).relations
    assert fetch.rows_out is not None and (fetch.rows_out.value, fetch.rows_out.basis) == (5, Basis.MEASURED)
    assert join.rows_out is not None and 5 <= join.rows_out.value <= 90
    assert join.note == "as far as what is above asked"
    assert read.rows_out is not None and (read.rows_out.value, read.rows_out.basis) == (100, Basis.CALCULATED)


def test_a_limit_is_a_fetch(spark: SparkSession, tables: dict[str, str]) -> None:
    profile = ps.profile(items.filter(lambda r: r.i < 30).to_plan(), spark, tables=tables, limit=3)
    assert profile.rows.num_rows == 3
    assert [relation.note for relation in profile.relations] == ["as far as what is above asked", ""]


def test_tables_whose_size_nobody_knows_are_counted(spark: SparkSession, tables: dict[str, str]) -> None:
    given = {"items": spark.read.parquet(tables["items"]), "keys": KEYS}
    plan = items.join(keys, BY_KEY).agg(n=count()).to_plan()
    assert told(ps.profile(plan, spark, tables=given)) == "Aggregate 1, Join 90, Read 100, Read =7"


def test_bytes_and_time(spark: SparkSession, tables: dict[str, str]) -> None:
    plan = items.join(keys, BY_KEY).group_by("w").agg(n=count()).to_plan()
    profile = ps.profile(plan, spark, tables=tables)
    sizes = {relation.name: relation.bytes_read for relation in profile.relations if relation.bytes_read is not None}
    reads = [relation for relation in profile.relations if relation.name == "Read"]
    assert set(sizes) == {"Read"} and len(reads) == 2
    files = [Path(tables["items"]).stat().st_size, Path(tables["keys"]).stat().st_size]
    # Spark Connect doesn't tell which file a scan reads
    basis = Basis.ESTIMATED if is_connect(spark) else Basis.MEASURED
    assert [read.bytes_read for read in reads] == [Figure(size, basis) for size in files]
    shares = [relation.time_share.value for relation in profile.relations if relation.time_share is not None]
    assert sum(shares) == pytest.approx(1) and profile.seconds > 0


def test_what_changes_tables_is_refused(spark: SparkSession, tables: dict[str, str]) -> None:
    plan = items.create_table_as("copies").to_plan()
    with pytest.raises(UnsupportedPlanError, match="changes tables"):
        ps.profile(plan, spark, tables=tables)


def test_command(spark: SparkSession, tables: dict[str, str], tmp_path: Path) -> None:
    items.filter(lambda r: r.i < 30).to_plan().save(file := tmp_path / "plan.json")
    arguments = ["explain", str(file), "--profile", "--no-types", "--table", f"items={tables['items']}"]
    page = CliRunner().invoke(main, arguments)
    assert page.exit_code == 0, page.output
    assert "Filter[i < 30 => *]  [=100 rows → 30 (30%)" in page.output
    figures = json.loads(CliRunner().invoke(main, [*arguments, "--json"]).stdout)
    assert [relation["rows_out"]["value"] for relation in figures["relations"]] == [30, 100]
    assert CliRunner().invoke(main, ["explain", str(file), "--table", "a=b"]).exit_code == 2
