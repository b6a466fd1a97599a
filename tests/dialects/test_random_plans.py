"""Random plans through dialects: the rows are those of the reference evaluator, or the plan is refused."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from fuzz.plans import OF_RELATIONS, plan
from fuzz.tables import SCHEMAS, TABLES
from pyspark_substrait.engines import dialects
from pyspark_substrait.errors import SubstraitError, UnsupportedPlanError
from pyspark_substrait.model.types import Binary, IntervalDay, IntervalYear, List, Map, Struct, Type, concrete
from tests.dialects.engines import DataFusion, DuckDB, Engine, EngineFault, Postgres, SQLite, Trino
from tests.dialects.function_cases import OF_TEXTS
from tests.reference import STRICT, Failure, NotCovered, Result, Undetermined, evaluate

_PARTS = 20
_SEEDS = 50
#: the meanings that the engines have where the specification has none
CHOICES = replace(STRICT, nearest=True, nan_is_largest=True)

Tables = Mapping[str, pa.Table]


def _without_nan(table: pa.Table) -> pa.Table:
    """Return a table with 0.25 for each NaN, which SQLite would make null."""
    for place, column in enumerate(table.columns):
        if pa.types.is_float64(column.type):
            cells = [0.25 if cell is not None and math.isnan(cell) else cell for cell in column.to_pylist()]
            table = table.set_column(place, table.schema.field(place), pa.array(cells, column.type))
    return table


def _types(name: str, table: str) -> list[str | None]:
    """Return the types of a table's columns in a dialect; None for one that it hasn't got."""
    return [dialects.dialect(name).types(type) for type in SCHEMAS[table].struct.types]


def _in_sqlite() -> tuple[Engine, Tables]:
    found, tables = SQLite(), {name: _without_nan(table) for name, table in TABLES.items()}
    for name, table in tables.items():
        types = _types("sqlite", name)
        columns = ", ".join(f'"{column}" {type or ""}' for column, type in zip(table.column_names, types, strict=True))
        found.connection.execute(f'CREATE TABLE "{name}" ({columns})')
        kept = zip(table.columns, types, strict=True)
        cells = [column.to_pylist() if type else [None] * table.num_rows for column, type in kept]
        rows = zip(*cells, strict=True)
        found.connection.executemany(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(types))})', rows)
    return found, tables


def _text(cell: Any) -> str | None:
    """Return a list or a binary value as PostgreSQL reads it."""
    if cell is None or isinstance(cell, bytes):
        return None if cell is None else f"\\x{cell.hex()}"
    return "{" + ", ".join("NULL" if item is None else str(item) for item in cell) + "}"


def _in_postgres(found: Postgres) -> tuple[Engine, Tables]:
    for name, table in TABLES.items():
        columns: dict[str, Any] = {}
        types = []
        for type, own in zip(SCHEMAS[name].struct.types, _types("postgres", name), strict=True):
            column = table.column_names[len(columns)]
            if isinstance(concrete(type), List | Binary):
                columns[column] = pa.array([_text(cell) for cell in table[column].to_pylist()], pa.string())
            else:
                columns[column] = table[column] if own else pa.nulls(table.num_rows, pa.int32())
            types.append(own or "INTEGER")
        found.load(name, pa.table(columns), types)
    return found, TABLES


def _in_trino(found: Trino) -> tuple[Engine, Tables]:
    for name, table in TABLES.items():
        types = _types("trino", name)
        none = pa.nulls(table.num_rows, pa.int32())
        columns = [column if type else none for column, type in zip(table.columns, types, strict=True)]
        found.load(name, pa.table(columns, names=table.column_names), [type or "INTEGER" for type in types])
    return found, TABLES


def _in_duckdb() -> tuple[Engine, Tables]:
    found = DuckDB()
    for name, table in TABLES.items():
        found.connection.register(name, table)
    return found, TABLES


def _in_datafusion() -> tuple[Engine, Tables]:
    found = DataFusion()
    for name, table in TABLES.items():
        batches = table.to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]
        found.context.register_record_batches(name, [batches])
    return found, TABLES


_LOADED: Mapping[str, Callable[[], tuple[Engine, Tables]]] = {
    "duckdb": _in_duckdb,
    "datafusion": _in_datafusion,
    "sqlite": _in_sqlite,
}


@pytest.fixture(scope="module", params=[*_LOADED, "postgres", "trino"])
def loaded(request: pytest.FixtureRequest) -> tuple[Engine, Tables]:
    """An engine with the tables of random plans, and these as the evaluator gets them."""
    if request.param == "postgres":
        return _in_postgres(request.getfixturevalue("postgres"))
    if request.param == "trino":
        return _in_trino(request.getfixturevalue("trino"))
    if request.param != "sqlite":
        pytest.importorskip(request.param)
    return _LOADED[request.param]()


def _expected(seed: int, tables: Tables) -> Result | None | str:
    """Return the result of a plan, None if it has to fail, or why nothing is known."""
    try:
        return evaluate(plan(seed), tables, choices=CHOICES)
    except (NotCovered, Undetermined):
        return "unknown"
    except Failure:
        return None


def _has_rows(types: Iterable[Type], engine: Engine) -> bool:
    """Whether the rows of an engine have the values of the evaluator."""
    for type in map(concrete, types):
        inner = type.types if isinstance(type, Struct) else (type.type,) if isinstance(type, List) else ()
        unlike = isinstance(type, IntervalYear | IntervalDay | Map)
        if unlike or (inner and not isinstance(engine, DuckDB)) or not _has_rows(inner, engine):
            return False
    return True


def _frozen(cell: Any) -> Any:
    """Return a value of an engine with tuples for lists, as the evaluator has them."""
    return tuple(map(_frozen, cell)) if isinstance(cell, list | tuple) else cell


@pytest.mark.sweep
@pytest.mark.parametrize("part", range(_PARTS))
def test_rows_are_those_of_the_evaluator(loaded: tuple[Engine, Tables], part: int) -> None:
    engine, tables = loaded
    found: Counter[str] = Counter()
    asked: list[tuple[int, Result | None, str, tuple[Type, ...]]] = []
    first = part // 2 * _SEEDS + part % 2 * OF_RELATIONS
    for seed in range(first, first + _SEEDS):
        made = plan(seed)
        try:
            text = dialects.statement(made, dialects.dialect(engine.name))
        except UnsupportedPlanError:
            found["refused"] += 1
            continue
        except SubstraitError as error:
            raise AssertionError(f"{seed}: {error}") from error
        expected = _expected(seed, tables)
        types = made.relations[-1].input.schema.types  # type: ignore[union-attr]
        if isinstance(expected, str) or not _has_rows(types, engine):
            found["unknown"] += 1
        else:
            asked.append((seed, expected, text, types))
    wrong = []
    answers = engine.answers([(text, types) for _, _, text, types in asked])
    for (seed, expected, text, _), answer in zip(asked, answers, strict=True):
        if isinstance(answer, EngineFault):
            if any(fault in str(answer) for fault in OF_TEXTS):
                wrong.append(f"{seed}: {answer}\n{text}")
            found["fails" if expected is not None else "same"] += 1
        elif expected is None:
            found["does not fail"] += 1
        else:
            difference = expected.difference_of_rows(list(map(_frozen, answer)), tolerance=1e-9)
            if difference is not None:
                wrong.append(f"{seed}: {difference}\n{text}")
            found["differs" if difference is not None else "same"] += 1
    print(f"\n{engine.name}: {dict(found)}")
    assert not wrong, "\n".join(wrong)
    assert found["same"]
