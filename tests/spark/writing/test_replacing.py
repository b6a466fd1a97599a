"""A table replaced by one with other columns: whenever the command dies, the next one finds the old or the new table,
and leaves nothing beside it.

``tests/faults`` kills Java as well; here one session serves many crashes.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from pyspark_substrait import write_targets
from pyspark_substrait.errors import ExecutionError, TableError
from pyspark_substrait.model.relations import CreateMode, DdlOp, RelationBase, WriteOp
from pyspark_substrait.spark.writing import catalog, folders, replacing
from pyspark_substrait.spark.writing.replacing import REPLACED_BY, REPLACES
from tests.spark.plans import INT, LONG, TEXT_, rows, run, table_names, values
from tests.spark.plans import stored as read
from tests.spark.writing.crash_injection import crashed
from tests.spark.writing.ddl import carry_out, table
from tests.spark.writing.records import catalog_says, folder, insert, stored, write
from tests.spark.writing.test_write_targets import REPLACE, define, pairs, read_all
from tests.spark.writing.test_write_targets import write as write_files

pytestmark = pytest.mark.sweep(sample=0.15)

#: two forms of a table, with the records of each
FORWARDS, BACKWARDS = {"id": INT, "name": TEXT_}, {"name": TEXT_, "id": INT}
PAIRS = [(1, "a"), (2, None)]
OTHER = {"n": LONG}
NUMBERS = [(7,), (8,)]
IGNORE = CreateMode.IGNORE_IF_EXISTS

State = tuple[list[str], list[tuple[Any, ...]]]


def ctas(name: str, columns: dict[str, Any], mode: CreateMode) -> RelationBase:
    found: list[tuple[Any, ...]] = PAIRS if columns is FORWARDS else NUMBERS
    return write(WriteOp.CTAS, name, values(tuple(columns.values()), found), columns, create_mode=mode)


class Kind:
    """A command that makes one form of a table out of the other, and back."""

    def __init__(self, name: str) -> None:
        self.name = name

    def command(self, to_second: bool) -> RelationBase:
        raise NotImplementedError

    first: State = (["id", "name"], PAIRS)
    second: State = (["n"], NUMBERS)


class Altered(Kind):
    second = (["name", "id"], [("a", 1), (None, 2)])

    def command(self, to_second: bool) -> RelationBase:
        return table(DdlOp.ALTER, self.name, BACKWARDS if to_second else FORWARDS)


class CreatedAs(Kind):
    def command(self, to_second: bool) -> RelationBase:
        return ctas(self.name, OTHER if to_second else FORWARDS, REPLACE)


class Defined(Kind):
    first = (["id", "name"], [])
    second = (["n"], [])

    def command(self, to_second: bool) -> RelationBase:
        return table(DdlOp.CREATE_OR_REPLACE, self.name, OTHER if to_second else FORWARDS)


@pytest.fixture
def database(spark: SparkSession, tmp_path: Path) -> Iterator[str]:
    """A database with a folder of its own."""
    name = f"replacing_{tmp_path.name.replace('-', '_').lower()}"
    spark.sql(f"CREATE DATABASE {name} LOCATION '{tmp_path}/db'")
    spark.catalog.dropTempView("t")  # what other tests have left would hide the table
    before = spark.catalog.currentDatabase()
    spark.sql(f"USE {name}")
    yield name
    spark.sql(f"USE {before}")
    spark.sql(f"DROP DATABASE {name} CASCADE")


def state(spark: SparkSession, name: str) -> State:
    return spark.table(name).columns, stored(spark, name)


def there(spark: SparkSession, name: str) -> bool:
    return name in table_names(spark)


def only(spark: SparkSession, name: str, place: Path) -> None:
    """Check that nothing stands beside a table, nor in its properties."""
    assert table_names(spark, views=False) == {name}
    assert os.listdir(place) == [name]
    assert not {REPLACES, REPLACED_BY} & set(catalog_says(spark, name).get("table_properties", {}))


@pytest.mark.parametrize("steps", ["some", pytest.param("all", marks=pytest.mark.sweep)])
@pytest.mark.parametrize("kind", [Altered, CreatedAs, Defined])
def test_whenever_it_dies_the_next_command_finds_the_old_or_the_new_table(
    spark: SparkSession, database: str, tmp_path: Path, kind: type[Kind], steps: str
) -> None:
    if steps == "some" and kind is Defined:
        pytest.skip("the steps are those of the others")
    name, place = "t", tmp_path / "db"
    change = kind(name)
    run(spark, ctas(name, FORWARDS, CreateMode.UNSPECIFIED) if kind is not Defined else change.command(False))
    outcomes: list[bool] = []
    numbers = _steps(spark, change, steps)
    found, changed = state(spark, name), True  # the run that counted has made the second form of the first
    for step in numbers:
        old, new = (change.second, change.first) if changed else (change.first, change.second)
        assert found == old
        with crashed(spark, step) as crash:
            carry_out(spark, change.command(not changed))
        assert crash.came
        if not there(spark, name):
            columns = dict(zip(new[0], [{"id": INT, "name": TEXT_, "n": LONG}[each] for each in new[0]], strict=True))
            assert sorted(rows(spark, read(name, columns)), key=repr) == sorted(new[1], key=repr), "a read finishes it"
        carry_out(spark, ctas(name, FORWARDS, IGNORE))
        only(spark, name, place)
        found = state(spark, name)
        assert found in (old, new), (step, crash.effects)
        outcomes.append(found == new)
        changed = changed == (found == old)
    # from one step on it is the new one, and before that the old one
    assert outcomes == sorted(outcomes) and not outcomes[0] and outcomes[-1]


def _steps(spark: SparkSession, change: Kind, which: str) -> list[int]:
    """The steps of a command, or those that tell most; the command is carried out once."""
    with crashed(spark, -1) as crash:
        carry_out(spark, change.command(True))
    assert not crash.came and len(crash.effects) > 8
    if which == "all":
        return list(range(len(crash.effects)))
    return [step for step, text in enumerate(crash.effects) if text.split()[0] in ("INSERT", "ALTER", "DROP")]


@pytest.mark.sweep
def test_a_new_table_is_there_or_not(spark: SparkSession, database: str, tmp_path: Path) -> None:
    step, name = 0, "t"
    while True:
        with crashed(spark, step) as crash:
            run(spark, ctas(name, FORWARDS, CreateMode.UNSPECIFIED))
        if not crash.came:
            break
        run(spark, ctas(name, FORWARDS, IGNORE))
        only(spark, name, tmp_path / "db")
        assert state(spark, name) == Kind.first
        spark.sql(f"DROP TABLE {name}")
        step += 1
    assert step > 6


@pytest.fixture
def dead(spark: SparkSession, database: str) -> Callable[[str], None]:
    """Makes a table ``t`` whose replacement by a CTAS died before a statement."""

    def died(before: str) -> None:
        run(spark, ctas("t", FORWARDS, CreateMode.UNSPECIFIED))
        with crashed(spark, before) as crash:
            run(spark, ctas("t", OTHER, REPLACE))
        assert crash.came

    return died


def beside(place: Path) -> Path:
    (found,) = place.glob("substrait_*")
    return found


DROP, RENAME = "DROP TABLE", "ALTER TABLE `spark_catalog`.`replacing"


def test_a_crash_inside_a_statement_of_the_metastore(
    spark: SparkSession, dead: Callable[[str], None], tmp_path: Path
) -> None:
    """Hive's metastore moves a folder before it changes the name, and removes the files of a table that is gone."""
    place = tmp_path / "db"
    # the old table is gone, its files aren't yet
    dead(DROP)
    os.rename(place / "t", tmp_path / "aside")
    spark.sql("DROP TABLE t")
    os.rename(tmp_path / "aside", place / "t")
    # what is somebody else's there isn't removed with them
    (place / "t" / ".env").write_text("mine")
    with pytest.raises(TableError, match="which exists already"):
        run(spark, ctas("t", FORWARDS, IGNORE))
    assert (place / "t" / ".env").read_text() == "mine" and beside(place).is_dir()
    (place / "t" / ".env").unlink()
    gone = next((place / "t").glob("*.parquet"))
    gone.unlink()
    assert (place / "t" / f".{gone.name}.crc").exists()
    run(spark, ctas("t", FORWARDS, IGNORE))
    only(spark, "t", place)
    assert state(spark, "t") == Kind.second
    spark.sql("DROP TABLE t")
    # the folder is moved, and the name isn't changed yet
    dead(DROP)
    spark.sql("DROP TABLE t")
    os.rename(beside(place), place / "t")
    run(spark, ctas("t", FORWARDS, IGNORE))
    only(spark, "t", place)
    assert state(spark, "t") == Kind.second
    # nothing but the locks
    spark.sql("DROP TABLE t")
    dead("CREATE TABLE")
    (place / ".t.lock").touch()
    run(spark, ctas("t", FORWARDS, IGNORE))
    only(spark, "t", place)
    (place / ".t.lock").touch()
    run(spark, ctas("t", FORWARDS, IGNORE))
    only(spark, "t", place)
    # a folder that the catalog doesn't know
    spark.sql("DROP TABLE t")
    dead("INSERT")
    made = beside(place)
    spark.sql(f"DROP TABLE {made.name}")
    (made / "_temporary" / "0").mkdir(parents=True)
    run(spark, ctas("t", FORWARDS, IGNORE))
    only(spark, "t", place)
    assert state(spark, "t") == Kind.first


def test_spark_that_outlives_a_process_may_still_drop_the_old_table(
    spark: SparkSession, dead: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead(DROP)
    monkeypatch.setattr(replacing, "time", SimpleNamespace(sleep=lambda seconds: spark.sql("DROP TABLE t")))
    run(spark, ctas("t", FORWARDS, IGNORE))
    only(spark, "t", tmp_path / "db")
    assert state(spark, "t") == Kind.second


def test_what_others_do_after_a_crash_is_not_lost(
    spark: SparkSession, dead: Callable[[str], None], tmp_path: Path
) -> None:
    place = tmp_path / "db"
    # records added to the old table, which was to be dropped
    dead(DROP)
    spark.sql("INSERT INTO t VALUES (3, 'c')")
    run(spark, ctas("t", FORWARDS, IGNORE))
    only(spark, "t", place)
    assert state(spark, "t") == (["id", "name"], [*PAIRS, (3, "c")])
    spark.sql("DROP TABLE t")
    # a folder in the way, which isn't the table's
    dead(DROP)
    spark.sql("DROP TABLE t")
    (place / "t").mkdir()
    (place / "t" / "x.parquet").write_text("mine")
    with pytest.raises(TableError, match="which exists already"):
        run(spark, ctas("t", FORWARDS, IGNORE))
    assert os.listdir(place / "t") == ["x.parquet"] and (place / "t" / "x.parquet").read_text() == "mine"
    shutil.rmtree(place / "t")
    # a new table of the name
    name = beside(place).name
    spark.sql("CREATE TABLE t (own INT) USING parquet")
    spark.sql("INSERT INTO t VALUES (5)")
    with pytest.raises(TableError, match=f"t was created again after a crash, and {name} has the records"):
        run(spark, insert("t", values((INT,), [(6,)]), {"own": INT}))
    assert state(spark, "t") == (["own"], [(5,)]) and state(spark, name) == Kind.second
    spark.sql("DROP TABLE t")
    assert sorted(rows(spark, read("t", OTHER))) == NUMBERS
    only(spark, "t", place)


def test_while_somebody_replaces_a_table_nobody_finishes_it(
    spark: SparkSession, dead: Callable[[str], None], tmp_path: Path
) -> None:
    place = tmp_path / "db"
    dead(DROP)
    name = beside(place).name
    with folders.locked(place / name[:-8]):
        with pytest.raises(ExecutionError, match="another process is changing the table"):
            run(spark, ctas("t", FORWARDS, IGNORE))
        assert state(spark, name) == Kind.second
    with folders.changing(place / "t"), pytest.raises(ExecutionError, match="another process is changing the table"):
        run(spark, ctas("t", OTHER, REPLACE))
    only(spark, "t", place)


@pytest.mark.parametrize(
    "record",
    ["", "{}", '{"version": 2}', '{"version": 1, "table": "other", "database": "x"}', "[1]", "nonsense", "same"],
)
def test_tables_of_others_stay_whatever_they_are_called(
    spark: SparkSession, dead: Callable[[str], None], tmp_path: Path, record: str
) -> None:
    dead("INSERT")
    made = beside(tmp_path / "db").name
    other = f"{made[:-8]}00000000"
    if record == "same":
        other = f"{made[:-8]}0000000x"
    text = {"same": "x"}.get(record, record)
    spark.sql(f"CREATE TABLE {other} (id INT) USING parquet TBLPROPERTIES ('{REPLACES}' = '{text}')")
    run(spark, ctas("t", FORWARDS, IGNORE))
    assert table_names(spark, views=False) == {"t", other}
    assert (tmp_path / "db" / other).is_dir()


def test_a_replacement_that_fails_leaves_the_old_table(
    spark: SparkSession, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, done = tmp_path / "db", catalog.carry_out
    run(spark, ctas("t", FORWARDS, CreateMode.UNSPECIFIED))
    for failing in ("SET TBLPROPERTIES", "DROP TABLE `spark_catalog`.`replacing", "RENAME"):
        failed: list[str] = []

        def fails(
            spark: SparkSession, text: str, *more: Any, failing: str = failing, failed: list[str] = failed
        ) -> None:
            if failing in text and not failed:
                failed.append(text)
                raise ExecutionError("no")
            done(spark, text, *more)

        old = state(spark, "t")
        with monkeypatch.context() as patched:
            patched.setattr(replacing, "carry_out", fails)
            with pytest.raises(ExecutionError, match="no"):
                run(spark, ctas("t", OTHER, REPLACE))
        only(spark, "t", place)
        # behind the drop, there is nothing to go back to
        assert state(spark, "t") == (Kind.second if failing == "RENAME" else old)


FIRST, SECOND = [(1, "a"), (2, None)], [(3, "c")]


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["new", "replaced", "added", "dropped"])
def test_whenever_a_write_of_files_dies_the_next_command_finds_the_old_or_the_new_files(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    place = tmp_path / "files"
    detail = write_targets.files(str(place / "out"))
    initial = write_files(detail, pairs(*FIRST), mode=REPLACE)
    gone = define(detail, DdlOp.DROP_IF_EXIST)
    replacing = write_files(detail, pairs(*SECOND), mode=REPLACE)
    node, old, new = {
        "new": (replacing, [], SECOND),
        "replaced": (replacing, FIRST, SECOND),
        "added": (write_files(detail, pairs(*SECOND), WriteOp.INSERT), FIRST, [*FIRST, *SECOND]),
        "dropped": (define(detail, DdlOp.DROP), FIRST, []),
    }[kind]
    place.mkdir()
    step, outcomes, came = 0, [], True
    while came:
        if old:
            carry_out(spark, initial, allowed_paths=[tmp_path])
        with crashed(spark, step) as crash:
            carry_out(spark, node, allowed_paths=[tmp_path])
        found = read_all(place / "out") if (place / "out").is_dir() else []
        assert found in (old, new), crash.effects
        outcomes.append(found == new)
        carry_out(spark, gone if step % 2 else initial, allowed_paths=[tmp_path])
        assert os.listdir(place) == ([] if step % 2 else ["out"]), crash.effects
        carry_out(spark, gone, allowed_paths=[tmp_path])
        came = crash.came
        step += 1
    # from one step on it is the new one, and before that the old one
    assert outcomes == sorted(outcomes) and step > 4


def test_a_table_is_dropped_with_what_a_crash_left_beside_it(
    spark: SparkSession, dead: Callable[[str], None], tmp_path: Path
) -> None:
    place = tmp_path / "db"
    dead(DROP)
    (place / ".t.lock").touch()
    (place / f".t.{'0' * 32}.version").mkdir()
    assert folder(spark, "t") == place / "t"
    carry_out(spark, table(DdlOp.DROP, "t"))
    assert os.listdir(place) == []
