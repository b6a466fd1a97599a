"""The engines that run texts of dialects: each returns the values of a statement's records as Python has them."""

from __future__ import annotations

import base64
import datetime
import decimal
import os
import re
import sqlite3
import struct
import tempfile
import time
import uuid
from collections.abc import Sequence
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from pyspark_substrait.model.literals import DayTime, Literal
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    UUID,
    Binary,
    Boolean,
    Date,
    Decimal,
    IntervalDay,
    IntervalYear,
    List,
    Map,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    Struct,
    Type,
    concrete,
)
from tests.integration import postgresql, trino_server

__all__ = ["DataFusion", "DuckDB", "Engine", "EngineFault", "Postgres", "SQLite", "Trino", "plain"]


class EngineFault(Exception):
    """A statement that an engine doesn't run, or whose data it has an error for."""


class Engine(Protocol):
    """An engine of a dialect."""

    #: the name of the dialect
    name: str

    def rows(self, text: str, types: Sequence[Type]) -> list[tuple[Any, ...]]:
        """Run a statement, and return its records.

        Args:
            text: the statement.
            types: the types of its columns in the plan.

        Raises:
            EngineFault: the engine doesn't run it.
        """
        ...

    def run(self, text: str) -> object:
        """Run a statement that has no records."""
        ...

    def load_parquet(self, name: str, path: str) -> None:
        """Make a table of a Parquet file."""
        ...

    def answers(self, asked: Sequence[tuple[str, Sequence[Type]]]) -> list[list[tuple[Any, ...]] | EngineFault]:
        """Run statements, each with the types of its columns; return the records or the error of each."""
        return [_tried(self, text, types) for text, types in asked]


def _tried(engine: Engine, text: str, types: Sequence[Type]) -> list[tuple[Any, ...]] | EngineFault:
    try:
        return engine.rows(text, types)
    except EngineFault as fault:
        return fault


_EPOCH = datetime.datetime(1970, 1, 1)


def plain(node: Literal) -> Any:
    """Return the value of a literal as the engines here return values: moments are counted, intervals are pairs."""
    match concrete(node.type), node.value:
        case IntervalDay(precision=precision), DayTime(days, seconds, fraction):
            return (0, (days * 86400 + seconds) * 10**6 + fraction * 10**6 // 10**precision)
        case IntervalYear(), int(months):
            return (months, 0)
        case (
            (
                PrecisionTime(precision=precision)
                | PrecisionTimestamp(precision=precision)
                | PrecisionTimestampTZ(precision=precision)
            ),
            int(units),
        ):
            return units * 10**6 // 10**precision
        case List(), tuple(elements):
            return [plain(element) for element in elements if isinstance(element, Literal)]
        case _, value:
            return value


def counted(value: Any, type: Type) -> Any:
    """Return a value of Arrow in the form of :func:`plain`."""
    if value is None:
        return None
    match concrete(type), value:
        case Date(), datetime.datetime():
            return (value - _EPOCH).days
        case Date(), datetime.date():
            return (value - _EPOCH.date()).days
        case _, datetime.datetime():
            zoned = value.tzinfo is not None
            since = _EPOCH.replace(tzinfo=datetime.timezone.utc) if zoned else _EPOCH
            return (value - since) // datetime.timedelta(microseconds=1)
        case _, datetime.time():
            return ((value.hour * 60 + value.minute) * 60 + value.second) * 10**6 + value.microsecond
        case _, pa.MonthDayNano() as found:
            return (found.months, found.days * 86_400_000_000 + found.nanoseconds // 1000)
        case List(type=element), list():
            return [counted(one, element) for one in value]
        case UUID(), str():
            return uuid.UUID(value)
        case Struct(types=types), dict():
            return tuple(counted(one, type) for one, type in zip(value.values(), types, strict=True))
        case Map(key=key, value=type), list():
            return [(counted(one, key), counted(other, type)) for one, other in value]
        case FP32(), float():
            return struct.unpack("f", struct.pack("f", value))[0]
        case _, str() | bytes() | int() | float() | bool() | decimal.Decimal() | uuid.UUID():
            return value
        case _:
            return value


class DuckDB(Engine):
    """DuckDB in this process."""

    name = "duckdb"

    def __init__(self) -> None:
        import duckdb

        self._faults = duckdb.Error
        self.connection = duckdb.connect()
        self.connection.execute("SET TimeZone = 'UTC'")

    def run(self, text: str) -> object:
        return self.connection.execute(text)

    def load_parquet(self, name: str, path: str) -> None:
        self.connection.execute(f"CREATE VIEW {name} AS FROM '{path}'")

    def table(self, text: str) -> pa.Table:
        """Return the records of a statement as Arrow data."""
        try:
            return self.connection.sql(text).to_arrow_table()
        except self._faults as error:
            raise EngineFault(str(error)) from error

    def rows(self, text: str, types: Sequence[Type]) -> list[tuple[Any, ...]]:
        table = self.table(text)
        columns = [column.to_pylist() for column in table.columns]
        return [tuple(counted(v, t) for v, t in zip(row, types, strict=True)) for row in zip(*columns, strict=True)]


class Postgres(Engine):
    """A PostgreSQL server, whose values are texts."""

    name = "postgres"

    def __init__(self, server: postgresql.Server) -> None:
        self._server = server

    def run(self, text: str) -> object:
        return self._server.run(text)

    def load_parquet(self, name: str, path: str) -> None:
        table = with_plain_texts(pq.read_table(path))
        self.load(name, table, [_POSTGRES_TYPES.get(type, str(type).replace("128", "")) for type in table.schema.types])
        self.index(name, [field.name for field in table.schema if pa.types.is_integer(field.type)])

    def rows(self, text: str, types: Sequence[Type]) -> list[tuple[Any, ...]]:
        (found,) = self.answers([(text, types)])
        if isinstance(found, EngineFault):
            raise found
        return found

    def answers(self, asked: Sequence[tuple[str, Sequence[Type]]]) -> list[list[tuple[Any, ...]] | EngineFault]:
        settings = ["SET TimeZone = 'UTC'", "SET IntervalStyle = 'postgres_verbose'"]
        answers = self._server.answers([*settings, *(text for text, _ in asked)])[len(settings) :]
        found: list[list[tuple[Any, ...]] | EngineFault] = []
        for answer, (_, types) in zip(answers, asked, strict=True):
            if isinstance(answer, str):
                found.append(EngineFault(answer))
                continue
            rows = [row or ("",) for row in answer]  # one empty text is an empty line
            found.append([tuple(_read(c, concrete(t)) for c, t in zip(row, types, strict=True)) for row in rows])
        return found

    def load(self, name: str, table: pa.Table, types: Sequence[str]) -> None:
        """Make a table of Arrow data, with these types of PostgreSQL, in place of any of that name."""
        import pyarrow.csv

        columns = ", ".join(f'"{column}" {type}' for column, type in zip(table.column_names, types, strict=True))
        with tempfile.NamedTemporaryFile(suffix=".csv") as file:
            pyarrow.csv.write_csv(table, file.name, pyarrow.csv.WriteOptions(include_header=False))
            os.chmod(file.name, 0o644)
            made = f'DROP TABLE IF EXISTS "{name}"; CREATE TABLE "{name}" ({columns})'
            self._server.run(f"{made}; COPY \"{name}\" FROM '{file.name}' CSV")

    def index(self, name: str, columns: Sequence[str]) -> None:
        """Make an index of each of some columns, which correlated subqueries look up."""
        made = "; ".join(f'CREATE INDEX ON "{name}" ("{column}")' for column in columns)
        self._server.run(f'{made}; ANALYZE "{name}"')


_POSTGRES_TYPES = {
    pa.int64(): "BIGINT",
    pa.int32(): "INTEGER",
    pa.date32(): "DATE",
    pa.string(): "TEXT",
    pa.float64(): "FLOAT8",
}
_PARTS = re.compile(r"(-?[\d.]+) (year|mon|day|hour|min|sec)s?")
_MICROS = {"day": 86_400_000_000, "hour": 3_600_000_000, "min": 60_000_000, "sec": 1_000_000}


def _read(cell: str | None, type: Type) -> Any:
    """Return a value of PostgreSQL's text."""
    if cell is None:
        return None
    match type:
        case Boolean():
            return cell == "t"
        case I8() | I16() | I32() | I64():
            return int(cell)
        case FP32() | FP64():
            number = float(cell)
            return struct.unpack("f", struct.pack("f", number))[0] if isinstance(type, FP32) else number
        case Decimal():
            return decimal.Decimal(cell)
        case Date():
            return (datetime.date.fromisoformat(cell) - _EPOCH.date()).days
        case PrecisionTime():
            return counted(datetime.time.fromisoformat(cell.ljust(15, "0") if "." in cell else cell), type)
        case PrecisionTimestamp() | PrecisionTimestampTZ():
            moment, _, fraction = cell.removesuffix("+00").partition(".")
            return counted(datetime.datetime.fromisoformat(moment), type) + int(fraction.ljust(6, "0"))
        case IntervalYear() | IntervalDay():
            months = micros = 0
            for number_text, unit in _PARTS.findall(cell):
                if unit in _MICROS:
                    micros += round(decimal.Decimal(number_text) * _MICROS[unit])
                else:
                    months += int(number_text) * (12 if unit == "year" else 1)
            sign = -1 if cell.endswith(" ago") else 1
            return (sign * months, sign * micros)
        case Binary():
            return bytes.fromhex(cell.removeprefix("\\x"))
        case UUID():
            return uuid.UUID(cell)
        case _:
            return cell


class SQLite(Engine):
    """SQLite in this process, whose values have no types but their own."""

    name = "sqlite"

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:")

    def run(self, text: str) -> object:
        return self.connection.execute(text)

    def load_parquet(self, name: str, path: str) -> None:
        self.load(name, with_plain_texts(pq.read_table(path)))

    def rows(self, text: str, types: Sequence[Type]) -> list[tuple[Any, ...]]:
        try:
            found = self.connection.execute(text).fetchall()
        except (sqlite3.Error, OverflowError) as error:
            raise EngineFault(str(error)) from error
        return [tuple(_typed(cell, concrete(type)) for cell, type in zip(row, types, strict=True)) for row in found]

    def load(self, name: str, table: pa.Table) -> None:
        """Make a table of the columns of Arrow data whose values SQLite has."""
        kept = [field.name for field in table.schema if field.type in (pa.int32(), pa.int64(), pa.string())]
        columns = table.select(kept)
        self.connection.execute(f"CREATE TABLE {name} ({', '.join(kept)})")
        places = ", ".join("?" for _ in kept)
        rows = zip(*(column.to_pylist() for column in columns.columns), strict=True)
        self.connection.executemany(f"INSERT INTO {name} VALUES ({places})", rows)


def _typed(cell: Any, type: Type) -> Any:
    """Return a value as one of a type, if it is stored as such values are."""
    match cell, type:
        case int(), Boolean():
            return cell != 0
        case float(), I8() | I16() | I32() | I64():
            return repr(cell)
        case int(), FP64():
            return repr(cell)
        case _:
            return cell


class DataFusion(Engine):
    """DataFusion in this process."""

    name = "datafusion"

    def __init__(self) -> None:
        import datafusion

        self.context = datafusion.SessionContext()

    def run(self, text: str) -> object:
        return self.context.sql(text).collect()

    def load_parquet(self, name: str, path: str) -> None:
        self.context.register_parquet(name, path)

    def table(self, text: str) -> pa.Table:
        """Return the records of a statement as Arrow data."""
        try:
            return self.context.sql(text).to_arrow_table()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # its faults may be panics
            raise EngineFault(str(error)) from error

    def rows(self, text: str, types: Sequence[Type]) -> list[tuple[Any, ...]]:
        table = self.table(text)
        columns = [column.to_pylist() for column in table.columns]
        return [tuple(counted(v, t) for v, t in zip(row, types, strict=True)) for row in zip(*columns, strict=True)]


class Trino(Engine):
    """A Trino server."""

    name = "trino"

    def __init__(self, server: trino_server.Server) -> None:
        import trino

        self._data = server.folder / "data"
        self._faults = trino.exceptions.Error
        self._connection = trino.dbapi.connect(  # type: ignore[no-untyped-call]
            host="127.0.0.1",
            port=server.port,
            user="test",
            catalog="files",
            schema="default",
            timezone="UTC",
            legacy_primitive_types=True,
        )
        self.run(f"CREATE SCHEMA IF NOT EXISTS {self._connection.schema}")

    def run(self, text: str) -> list[list[Any]]:
        """Run a statement, and return the values as the server writes them."""
        for seconds in (0.5,) * 60 + (0.0,):
            cursor = self._connection.cursor()
            try:
                cursor.execute(text)
                return [list(row) for row in cursor.fetchall()]
            except self._faults as error:
                # for a while after its start, the server doesn't know itself as a node with some catalogs
                if not seconds or getattr(error, "error_name", "") != "NO_NODES_AVAILABLE":
                    raise EngineFault(str(error)) from error
            time.sleep(seconds)
        raise AssertionError("the last attempt returns or raises")

    def rows(self, text: str, types: Sequence[Type]) -> list[tuple[Any, ...]]:
        return [tuple(_of_trino(c, concrete(t)) for c, t in zip(row, types, strict=True)) for row in self.run(text)]

    def load_parquet(self, name: str, path: str) -> None:
        table = with_plain_texts(pq.read_table(path))
        self.load(name, table, [_TRINO_TYPES.get(type, str(type).replace("128", "")) for type in table.schema.types])

    def load(self, name: str, table: pa.Table, types: Sequence[str]) -> None:
        """Make a table of Arrow data, with these types of Trino, in place of any of that name."""
        zoned = " WITH TIME ZONE"  # Parquet files have none: a view adds it
        stored = f"{name}_stored" if any(type.endswith(zoned) for type in types) else name
        folder = self._data / stored
        folder.mkdir(exist_ok=True)
        pq.write_table(table, folder / "one.parquet")
        pairs = list(zip(table.column_names, types, strict=True))
        columns = ", ".join(f'"{column}" {type.removesuffix(zoned)}' for column, type in pairs)
        place = f"external_location = 'local:///data/{stored}', format = 'PARQUET'"
        self.run(f'DROP TABLE IF EXISTS "{stored}"')
        self.run(f'CREATE TABLE "{stored}" ({columns}) WITH ({place})')
        if stored != name:
            items = (f'WITH_TIMEZONE("{c}", \'UTC\') AS "{c}"' if t.endswith(zoned) else f'"{c}"' for c, t in pairs)
            self.run(f'CREATE OR REPLACE VIEW "{name}" AS SELECT {", ".join(items)} FROM "{stored}"')


_TRINO_TYPES = {
    **_POSTGRES_TYPES,
    pa.string(): "VARCHAR",
    pa.float64(): "DOUBLE",
    pa.float32(): "REAL",
    pa.bool_(): "BOOLEAN",
    pa.binary(): "VARBINARY",
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    pa.timestamp("us"): "TIMESTAMP(6)",
}


def _of_trino(cell: Any, type: Type) -> Any:
    """Return a value of Trino's JSON, in which most are texts."""
    match type, cell:
        case _, None | bool():
            return cell
        case IntervalYear(), str():
            years, _, months = cell.removeprefix("-").partition("-")
            return ((-1 if cell.startswith("-") else 1) * (int(years) * 12 + int(months)), 0)
        case IntervalDay(), str():
            days, hours, minutes, seconds, millis = map(int, re.findall(r"\d+", cell))
            found = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000 + millis
            return (0, (-1000 if cell.startswith("-") else 1000) * found)
        case Binary(), str():
            return base64.b64decode(cell)
        case PrecisionTimestamp() | PrecisionTimestampTZ() | PrecisionTime(), str():
            whole, _, fraction = cell.removesuffix(" UTC").partition(".")
            text = f"{whole}.{fraction[:6].ljust(6, '0')}"
            if isinstance(type, PrecisionTime):
                return counted(datetime.time.fromisoformat(text), type)
            return counted(datetime.datetime.fromisoformat(text), type)
        case _:
            return _read(str(cell), type)


def with_plain_texts(table: pa.Table) -> pa.Table:
    """Return a table whose texts have one type."""
    fields = [field.with_type(pa.string()) if pa.types.is_string_view(field.type) else field for field in table.schema]
    return table.cast(pa.schema(fields))
