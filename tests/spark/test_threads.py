"""One session, many threads: each gets what it would get alone."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pyspark_substrait as ps
from pyspark_substrait import documents
from pyspark_substrait.builder import call, count, extended_expression, parameter, read, read_extension, sum_, values
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.spark import tables
from pyspark_substrait.spark.arrow_transfer import collected, frame_of_arrow
from pyspark_substrait.spark.session import is_connect
from pyspark_substrait.spark.session_cache import session_cache
from tests.agreement import assert_same_rows
from tests.spark.plans import table_names

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.sweep

THREADS = 16
SCHEMA = {"a": "i64", "s": "string?"}
OURS = "extension:org.example:threads"
YAML = f"""%YAML 1.2
---
urn: {OURS}
scalar_functions:
  - name: moved
    impls:
      - args: [{{name: x, value: i64}}]
        return: i64
"""
KIND = "type.googleapis.com/org.example.Threads"

Rows = list[dict[str, Any]]
#: what is done in a thread: of its number, the session and a folder; what comes out, and what has to
Work = Callable[[int, "SparkSession", Path], tuple[object, object]]


@pytest.fixture(autouse=True)
def switching() -> Iterator[None]:
    """Threads of Python take turns as often as they can."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(usual)


def at_once(work: Callable[[int], object], threads: int = THREADS) -> list[object]:
    """What the work gives in each of several threads that begin together."""
    barrier = threading.Barrier(threads)

    def begin(number: int) -> object:
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(begin, range(threads)))


def given(number: int) -> pa.Table:
    return pa.table({"a": [number, number + 1, 7], "s": ["x", "y", None]})


def rows(plan: documents.Plan, spark: SparkSession, **more: Any) -> Rows:
    """The rows of a plan that went through its bytes, like one that was sent."""
    loaded = ps.load(plan.to_bytes(), registry=more.get("registry"))
    assert not ps.validate(loaded, registry=more.get("registry")).errors
    found: Rows = ps.run_query(loaded, spark=spark, **more).to_pylist()
    return found


# what threads do -----------------------------------------------------------------------------------------------------


def same_name_other_data(number: int, spark: SparkSession, folder: Path) -> tuple[object, object]:
    plan = read("t", SCHEMA).group_by("s").agg(n=sum_(lambda t: t.a)).to_plan()
    found = rows(plan, spark, tables={"t": given(number)})
    return sorted(row["n"] for row in found), sorted([number, number + 1, 7])


def same_path_other_data(number: int, spark: SparkSession, folder: Path) -> tuple[object, object]:
    path = folder / f"{number}.parquet"
    pq.write_table(given(number), path)
    found = ps.from_substrait(read("t", SCHEMA).select("a").to_plan(), spark, tables={"t": str(path)})
    return sorted(row["a"] for row in found.collect()), sorted([number, number + 1, 7])


def virtual_table(number: int, spark: SparkSession, folder: Path) -> tuple[object, object]:
    table = values([(n, f"{number}") for n in range(number, number + 50)], {f"n{number}": "i64", "s": "string"})
    found = rows(table.filter(lambda t: t[0] > number + 47).to_plan(), spark)
    return found, [{f"n{number}": n, "s": f"{number}"} for n in (number + 48, number + 49)]


def parameters(number: int, spark: SparkSession, folder: Path) -> tuple[object, object]:
    plan = values([(1,)], {"x": "i64"}).select(y=lambda t: t.x + parameter(0, "i64")).to_plan()
    return rows(plan, spark, parameters={0: number}), [{"y": number + 1}]


def own_functions(number: int, spark: SparkSession, folder: Path) -> tuple[object, object]:
    """Functions of one name that differ by registry: in Python, and in SQL."""
    bare = ps.Registry.default().with_yaml(YAML)

    def moved(array: pa.Array) -> pa.Array:
        import pyarrow.compute as pc

        return pc.add(array, number)

    found = []
    for registry in (bare.with_function(OURS, "moved", arrow=moved), bare.with_function(OURS, "moved", sql="{x} + 1")):
        table = values([(1,), (2,)], {"x": "i64"}, registry=registry)
        plan = table.select(y=lambda t: call("moved", t.x, urn=OURS)).to_plan()
        found.append([row["y"] for row in rows(plan, spark, registry=registry)])
    return found, [[1 + number, 2 + number], [2, 3]]


def extension_table(number: int, spark: SparkSession, folder: Path) -> tuple[object, object]:
    """Tables of one kind that differ by registry."""
    registry = ps.Registry.default().with_table(KIND, rows=lambda detail, session: pa.table({"a": [number]}))
    plan = read_extension(AnyMessage(KIND, b""), {"a": "i64"}, registry=registry).to_plan()
    return rows(plan, spark, registry=registry), [{"a": number}]


def writes(number: int, spark: SparkSession, folder: Path) -> tuple[object, object]:
    """Each thread makes a table of its own and adds to it."""
    name = f"made_by_thread_{number}"
    records = values([(number,)], {"a": "i64"})
    try:
        ps.run_query(records.create_table_as(name).to_plan(), spark=spark)
        ps.run_query(records.insert_into(name).to_plan(), spark=spark)
        return rows(read(name, {"a": "i64?"}).to_plan(), spark), [{"a": number}] * 2
    finally:
        spark.sql(f"DROP TABLE IF EXISTS {name}")


def expressions(number: int, spark: SparkSession, folder: Path) -> tuple[object, object]:
    made = extended_expression(SCHEMA, {"b": lambda t: t.a + number})
    found = ps.evaluate_arrow(made, given(number), spark=spark)
    return found.column("b").to_pylist(), [2 * number, 2 * number + 1, number + 7]


def profiles(number: int, spark: SparkSession, folder: Path) -> tuple[object, object]:
    plan = read("t", SCHEMA).limit(1 + number % 3).to_plan()
    found = ps.profile(plan, spark, tables={"t": given(number)})
    return [each.rows_out.value for each in found.relations if each.name == "Fetch" and each.rows_out], [1 + number % 3]


def produced(number: int, spark: SparkSession, folder: Path) -> tuple[object, object]:
    if is_connect(spark):
        return None, None
    frame = spark.sql(f"SELECT id + {number} AS n FROM range({number}, {number + 2})")
    return rows(ps.to_substrait(frame), spark), [{"n": 2 * number}, {"n": 2 * number + 1}]


def faults(number: int, spark: SparkSession, folder: Path) -> tuple[object, object]:
    """The errors of a thread say what is wrong there, and where."""
    said: list[object] = []
    for plan in (
        read(f"none{number}", SCHEMA).to_plan(),
        read("t", {f"b{number}": "i64"}).filter(lambda t: t[0] > 0).to_plan(),
    ):
        with pytest.raises(ps.TableError) as caught:
            ps.from_substrait(plan, spark, tables={"t": given(number)})
        said.append((str(number) in caught.value.message, caught.value.path))
    with pytest.raises(ps.ExecutionError):
        rows(values([(0,)], {"x": "i64"}).select(y=lambda t: number / t.x).to_plan(), spark)
    root = "relations[0].root.input"
    return said, [(True, f"{root}.read.named_table"), (True, f"{root}.filter.input.read.named_table")]


def deep(number: int, spark: SparkSession, folder: Path) -> tuple[object, object]:
    """A plan that needs a larger stack runs in a thread that Python starts for it."""
    table = values([(n,) for n in range(40)], {"x": "i64"})
    for n in range(number, number + 33):
        table = table.filter(lambda t, n=n: t.x != n)
    plan = table.agg(n=count()).to_plan()
    assert ps.load(plan.to_bytes()).deep
    return rows(plan, spark), [{"n": 40 - min(33, 40 - number)}]


def marks(number: int, spark: SparkSession, folder: Path) -> tuple[object, object]:
    """The tags that a user has set for a thread are there when it is shown and cancelled as when it isn't."""
    spark.addTag(f"tag{number}")
    try:
        rows(values([(1,)], {"x": "i64"}).to_plan(), spark, progress=True)
        return set(spark.getTags()), {f"tag{number}"}
    finally:
        spark.removeTag(f"tag{number}")


WORK: tuple[Work, ...] = (
    same_name_other_data,
    same_path_other_data,
    virtual_table,
    parameters,
    own_functions,
    extension_table,
    writes,
    expressions,
    profiles,
    produced,
    faults,
    deep,
    marks,
)


@pytest.mark.parametrize("work", WORK, ids=lambda work: work.__name__)
def test_the_same_in_all_threads(work: Work, spark: SparkSession, tmp_path: Path) -> None:
    # processes of Python, and writing, take their time
    found = at_once(lambda number: work(number, spark, tmp_path), 6 if work in (own_functions, writes) else THREADS)
    for number, each in enumerate(found):
        assert isinstance(each, tuple)
        assert each[0] == each[1], number


def test_another_thing_in_each_thread(spark: SparkSession, tmp_path: Path) -> None:
    before = table_names(spark)

    def all_of_it(number: int) -> object:
        folder = tmp_path / str(number)
        folder.mkdir()
        turned = (*WORK[number % len(WORK) :], *WORK[: number % len(WORK)])
        return [(work.__name__, *work(number, spark, folder)) for work in turned[:3]]

    for number, each in enumerate(at_once(all_of_it)):
        assert isinstance(each, list)
        for name, got, wanted in each:
            assert got == wanted, (number, name)
    assert table_names(spark) == before


def test_tables_that_are_opened_and_forgotten(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More files than the session keeps open: what one thread forgets is no loss to the others."""
    monkeypatch.setattr(tables, "_MOST_OPENED", 2)
    session_cache(spark, "tables").clear()
    for number in range(6):
        pq.write_table(given(number), tmp_path / f"{number}.parquet")

    def opened(thread: int) -> object:
        numbers = [(thread + turn) % 6 for turn in range(6)]
        frames = [tables.file_table("t", [str(tmp_path / f"{number}.parquet")], spark).frame for number in numbers]
        return [
            (number, frame.inputFiles()[0].endswith(f"/{number}.parquet"))
            for number, frame in zip(numbers, frames, strict=True)
        ]

    for each in at_once(opened, 8):
        assert isinstance(each, list) and all(right for _, right in each)
    assert len(session_cache(spark, "tables")) <= 2
    session_cache(spark, "tables").clear()


@pytest.mark.parametrize("nested", [3, 40])
def test_jobs_belong_to_the_group_of_their_thread(nested: int, spark: SparkSession) -> None:
    """Also where a plan is so deep that another thread runs it."""
    if is_connect(spark):
        pytest.skip("job groups are a classic session's")
    table = values([(1,)], {"x": "i64"})
    for _ in range(nested):
        table = table.filter(lambda t: t.x > 0)
    content = table.agg(n=count()).to_plan().to_bytes()
    context = spark.sparkContext

    def grouped(number: int) -> object:
        group = f"group {nested} {number}"
        context.setJobGroup(group, f"of thread {number}")
        context.setLocalProperty("spark.scheduler.pool", f"pool{number}")
        ps.run_query(content, spark=spark)
        left = [context.getLocalProperty(f"spark.{name}") for name in ("jobGroup.id", "scheduler.pool")]
        return len(context.statusTracker().getJobIdsForGroup(group)) > 0, left

    found = at_once(grouped, 4)
    assert found == [(True, [f"group {nested} {number}", f"pool{number}"]) for number in range(4)]


def plain(batch: pa.RecordBatch) -> pa.Table:
    """The records with types that ``createDataFrame`` takes."""
    views = [field.with_type(pa.string()) if field.type == pa.string_view() else field for field in batch.schema]
    return pa.Table.from_batches([batch]).cast(pa.schema(views))


def test_tpch(spark: SparkSession, shared: Path, tpch: dict[str, Path]) -> None:
    """The plans of DataFusion, run by eight threads in different orders, give what spark.sql gives one thread."""
    bound = {name: plain(next(pq.ParquetFile(path).iter_batches(200))) for name, path in tpch.items()}
    for name, table in bound.items():
        frame_of_arrow(spark, table).createOrReplaceTempView(name)
    # averages of decimals (q01, q08) have other types in plans than in Spark
    names = ("q02", "q03", "q04", "q05", "q06", "q07", "q09", "q10")
    plans = [shared / "plans" / "tpch" / "datafusion" / f"{name}.pb" for name in names]
    wanted = {
        path.stem: collected(
            spark.sql((shared / "plans" / "tpch" / "sql" / f"{path.stem}.sql").read_text().strip(" \n;"))
        )
        for path in plans
    }

    def each(number: int) -> object:
        turned = plans[number % 8 :] + plans[: number % 8]
        return [(path.stem, ps.run_query(path.read_bytes(), spark=spark, tables=bound)) for path in turned[:4]]

    try:
        for found in at_once(each, 8):
            assert isinstance(found, list)
            for name, table in found:
                assert_same_rows(table, wanted[name])
    finally:
        for name in bound:
            spark.catalog.dropTempView(name)
