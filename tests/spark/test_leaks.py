"""Many different plans in one session leave nothing behind."""

from __future__ import annotations

import gc
import threading
import weakref
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pyspark_substrait as ps
from pyspark_substrait.api.loaded_plans import forget_plans
from pyspark_substrait.builder import extended_expression, parameter, read, sum_, values
from pyspark_substrait.model.relations import RelationBase
from pyspark_substrait.spark import tables
from pyspark_substrait.spark.session import is_connect
from pyspark_substrait.spark.session_cache import cache_value, session_cache
from tests.spark.plans import table_names

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.sweep

SCHEMA = {"a": "i64", "s": "string?"}
DATA = pa.table({"a": [1, 2, 3], "s": ["x", None, "z"]})
ROUNDS = 8

#: what is done with one plan more: of its number, the session and a path of a file
Work = Callable[[int, "SparkSession", str], object]


def virtual(number: int, spark: SparkSession, path: str) -> object:
    plan = values([(n, n) for n in range(3)], {"x": "i64", f"y{number}": "i64"}).filter(lambda t: t.x != number)
    return ps.run_query(plan.to_plan(), spark=spark)


def given(number: int, spark: SparkSession, path: str) -> object:
    plan = read("t", SCHEMA).group_by("s").agg(**{f"n{number}": sum_(lambda t: t.a + number)})
    return ps.run_query(plan.to_plan(), spark=spark, tables={"t": DATA})


def opened(number: int, spark: SparkSession, path: str) -> object:
    plan = read("t", SCHEMA).select("a", **{f"b{number}": lambda t: t.a + parameter(0, "i64")})
    return ps.from_substrait(plan.to_plan(), spark, tables={"t": path}, parameters={0: number}).collect()


def evaluated(number: int, spark: SparkSession, path: str) -> object:
    return ps.evaluate_arrow(extended_expression(SCHEMA, {f"b{number}": lambda t: t.a - number}), DATA, spark=spark)


def profiled(number: int, spark: SparkSession, path: str) -> object:
    plan = read("t", SCHEMA).filter(lambda t: t.a > number).limit(1).to_plan()
    return ps.profile(plan, spark, tables={"t": DATA})


def shown(number: int, spark: SparkSession, path: str) -> object:
    return ps.run_query(values([(number,)], {"x": "i64"}).to_plan(), spark=spark, progress=True)


def deep(number: int, spark: SparkSession, path: str) -> object:
    table = values([(1,)], {"x": "i64"})
    for _ in range(33):
        table = table.filter(lambda t: t.x != number)
    return ps.from_substrait(table.to_plan().to_bytes(), spark)


def refused(number: int, spark: SparkSession, path: str) -> object:
    with pytest.raises(ps.TableError):
        ps.from_substrait(read("t", {f"none{number}": "i64"}).to_plan(), spark, tables={"t": DATA})
    with pytest.raises(ps.ExecutionError):
        ps.run_query(values([(0,)], {"x": "i64"}).select(y=lambda t: number / t.x).to_plan(), spark=spark)
    return None


def produced(number: int, spark: SparkSession, path: str) -> object:
    return None if is_connect(spark) else ps.from_sql(f"SELECT id + {number} AS n{number} FROM range(3)", spark)


WORK: tuple[Work, ...] = (virtual, given, opened, evaluated, profiled, shown, deep, refused, produced)


def there(spark: SparkSession) -> Counter[str]:
    """What there is, on both sides, after everything that isn't needed has gone."""
    forget_plans()  # a limited number of loaded plans is kept
    gc.collect()
    found = Counter(
        {
            "tables and views": len(table_names(spark)),
            "threads": threading.active_count(),
            "relations": sum(isinstance(each, RelationBase) for each in gc.get_objects()),
            "kept": sum(map(len, vars(spark).get("_pyspark_substrait", {}).values())),
        }
    )
    if is_connect(spark):
        found["tags"] = len(spark.getTags())
        return found
    from py4j.finalizer import ThreadSafeFinalizer
    from py4j.java_gateway import JavaObject

    context: Any = spark.sparkContext
    java: Any = spark._jsparkSession
    names = [thread.getName() for thread in context._jvm.java.lang.Thread.getAllStackTraces().keySet()]
    gc.collect()  # the threads that were just looked at are objects in Java too
    found.update(
        {
            "temporary functions": java.sessionState().functionRegistry().listFunction().size(),
            "persisted": context._jsc.getPersistentRDDs().size(),
            "listeners": context._jsc.sc().listenerBus().listeners().size(),
            "query listeners": len(java.listenerManager().listListeners()),
            "tags": len(context.getJobTags()),
            "files": sum(1 for _ in Path(context._temp_dir).rglob("*")),
            # those of Spark's own pools have other names
            "connections": sum(name.startswith("Thread-") for name in names),
            "objects in Java": sum(isinstance(each, JavaObject) for each in gc.get_objects()),
            "references to Java": len(ThreadSafeFinalizer.finalizers),
        }
    )
    return found


def test_nothing_is_left(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t.parquet")
    pq.write_table(DATA, path)

    def rounds(first: int) -> None:
        for number in range(first, first + ROUNDS):
            for work in WORK:
                work(number, spark, path)

    rounds(0)
    before = there(spark)
    rounds(ROUNDS)
    more = there(spark) - before
    # py4j keeps a connection or two ready; one leak a round would be ROUNDS of it
    assert {what: count for what, count in more.items() if count >= ROUNDS // 2} == {}
    assert not {"tables and views", "temporary functions", "persisted", "listeners", "tags", "kept"} & more.keys()


def test_a_session_that_is_gone_is_not_kept(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when plans in it have opened files."""
    if is_connect(spark):
        pytest.skip("a server keeps its sessions itself")
    from pyspark import RDD

    path = str(tmp_path / "t.parquet")
    pq.write_table(DATA, path)
    with monkeypatch.context() as patch:
        patch.setattr(RDD, "toDF", None)  # pyspark's own way to keep the newest session
        other = spark.newSession()
    assert ps.run_query(read("t", SCHEMA).to_plan(), spark=other, tables={"t": path}).num_rows == 3
    assert session_cache(other, "tables") and session_cache(other, "tables") is not session_cache(spark, "tables")
    gone = weakref.ref(other)
    del other
    gc.collect()
    assert gone() is None


def test_the_oldest_goes_first(spark: SparkSession) -> None:
    found: dict[int, str] = {}
    for number in (1, 2, 3, 2, 4):
        cache_value(found, number, str(number), 3)
    assert found == {2: "2", 3: "3", 4: "4"}


def test_opened_tables_are_bounded(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_MOST_OPENED", 2)
    session_cache(spark, "tables").clear()
    for number in range(5):
        pq.write_table(pa.table({"a": [number]}), tmp_path / f"{number}.parquet")
        plan = read("t", {"a": "i64"}).to_plan()
        found = ps.run_query(plan, spark=spark, tables={"t": str(tmp_path / f"{number}.parquet")})
        assert found.to_pylist() == [{"a": number}]
    assert len(session_cache(spark, "tables")) == 2
