"""Other engines in this process, with tables: each runs a plan in the form that it takes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

import pyarrow as pa
from pyarrow import feather

from pyspark_substrait.binding.schemas import dataset_of
from pyspark_substrait.errors import TableError, UnsupportedPlanError

__all__ = ["EngineSession", "is_installed", "release", "session"]


class EngineSession(ABC):
    """An engine with tables."""

    @abstractmethod
    def prepared(self, plan: Any) -> Callable[[], pa.Table]:
        """Load a plan, and return a function that runs it and returns the rows.

        Args:
            plan: its bytes, or a text in Spark's SQL for an engine without Substrait.
        """

    def run(self, plan: Any) -> pa.Table:
        """Return the rows of a plan."""
        return self.prepared(plan)()


class _DataFusion(EngineSession):
    def __init__(self, tables: Mapping[str, Any]) -> None:
        from datafusion import SessionContext

        self._context = SessionContext()
        for name, source in tables.items():
            if isinstance(source, str | os.PathLike):
                _readers(self._context, os.fspath(source))(_quoted(name), os.fspath(source))
            else:
                table = _arrow(name, source)
                batches = table.to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]
                self._context.register_record_batches(_quoted(name), [batches])

    def prepared(self, plan: bytes) -> Callable[[], pa.Table]:
        from datafusion.substrait import Consumer, Serde

        logical = Consumer.from_substrait_plan(self._context, Serde.deserialize_bytes(plan))
        frame = self._context.create_dataframe_from_logical_plan(logical)
        frame.execution_plan()  # what it can't run fails here
        return lambda: frame.to_arrow_table()


def _readers(context: Any, path: str) -> Callable[[str, str], None]:
    suffix = os.path.splitext(path)[1].lower()
    found: Callable[[str, str], None] = {
        ".csv": context.register_csv,
        ".arrow": context.register_arrow,
        ".feather": context.register_arrow,
        ".ipc": context.register_arrow,
    }.get(suffix, context.register_parquet)
    return found


class _DuckDB(EngineSession):
    """DuckDB through SQL: it has no Substrait of its own any more."""

    def __init__(self, tables: Mapping[str, Any]) -> None:
        import duckdb

        self._connection = duckdb.connect()
        paths: list[str] = []
        folders: list[str] = []
        for name, source in tables.items():
            if isinstance(source, str | os.PathLike):
                path = os.fspath(source)
                (folders if os.path.isdir(path) else paths).append(path)
                path = os.path.join(path, "*.parquet") if os.path.isdir(path) else path
                self._connection.execute(f"CREATE VIEW {_quoted(name)} AS FROM {_text(path)}")
            else:
                self._connection.register(name, _arrow(name, source))
        # a plan may name what is a file to DuckDB
        self._connection.execute(f"SET allowed_paths = [{', '.join(map(_text, paths))}]")
        self._connection.execute(f"SET allowed_directories = [{', '.join(map(_text, folders))}]")
        self._connection.execute("SET enable_external_access = false")

    def prepared(self, plan: str) -> Callable[[], pa.Table]:
        relation = self._connection.sql(plan)
        return lambda: relation.to_arrow_table()


class _Acero(EngineSession):
    """Acero, in pyarrow; not every build of it has Substrait."""

    def __init__(self, tables: Mapping[str, Any]) -> None:
        self._tables = {name: _without_views(_arrow(name, source)) for name, source in tables.items()}

    def prepared(self, plan: bytes) -> Callable[[], pa.Table]:
        from pyarrow import substrait

        reader = substrait.run_query(pa.py_buffer(plan), table_provider=lambda names, _: self._tables[".".join(names)])
        return lambda: reader.read_all()


class _IsolatedAcero(EngineSession):
    """Acero in a process of its own, because some plans end its process."""

    def __init__(self, tables: Mapping[str, Any]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="acero-")
        for number, (name, source) in enumerate(tables.items()):
            table = _arrow(name, source).replace_schema_metadata({"name": name})
            feather.write_feather(table, os.path.join(self._folder.name, f"{number}.arrow"), "uncompressed")

    def prepared(self, plan: bytes) -> Callable[[], pa.Table]:
        return lambda: self._rows(plan)

    def _rows(self, plan: bytes) -> pa.Table:
        program = [sys.executable, "-m", __name__, self._folder.name]
        done = subprocess.run(program, input=plan, capture_output=True, check=False)
        if done.returncode < 0:
            raise UnsupportedPlanError(f"Acero's process ended with {signal.Signals(-done.returncode).name}")
        if done.returncode > 0:
            raise UnsupportedPlanError(_fault(done.stderr.decode(errors="replace")))
        return pa.ipc.open_stream(done.stdout).read_all()


def _without_views(table: pa.Table) -> pa.Table:
    """Return a table without the types of texts and binary values that Acero has few functions for."""
    plain = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}
    return table.cast(pa.schema([column.with_type(plain.get(column.type, column.type)) for column in table.schema]))


def _fault(trace: str) -> str:
    """Return the first line of the error that ended a program, which stands after the lines of the trace."""
    lines = trace.strip().splitlines()
    last = max((number for number, line in enumerate(lines) if line.startswith("  File ")), default=-1)
    return next((line for line in lines[last + 1 :] if not line.startswith(" ")), lines[-1] if lines else "")


def _arrow(name: str, source: Any) -> pa.Table:
    """Return a table as Arrow data."""
    if isinstance(source, pa.Table):
        return source
    if isinstance(source, str | os.PathLike):
        return dataset_of(name, source).to_table()
    if hasattr(source, "to_table"):
        return source.to_table()
    if hasattr(source, "__arrow_c_stream__"):
        return pa.table(source)
    raise TableError(
        f"the table {name} is given as a {type(source).__name__}", hint="Give Arrow data or a path of files"
    )


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _quoted(name: str) -> str:
    return ".".join('"' + part.replace('"', '""') + '"' for part in name.split("."))


#: the engines by name: their class, the package that has them, and those that are needed besides
_ENGINES: Final[Mapping[str, tuple[Callable[[Mapping[str, Any]], EngineSession], str, tuple[str, ...]]]] = {
    "datafusion": (_DataFusion, "datafusion", ()),
    "duckdb": (_DuckDB, "duckdb", ("sqlglot",)),
    "acero": (_IsolatedAcero, "pyarrow", ()),
}


def release(engine: str) -> str:
    """Return the release of an engine that is installed; empty if it isn't.

    Raises:
        UnsupportedPlanError: there is no such engine here.
    """
    if engine not in _ENGINES:
        raise UnsupportedPlanError(f"there is no engine `{engine}`", hint=f"There are spark, {', '.join(_ENGINES)}")
    try:
        return version(_ENGINES[engine][1])
    except PackageNotFoundError:
        return ""


def is_installed(engine: str) -> bool:
    """Whether an engine, and what it takes to give it plans, is installed."""
    return not _missing(engine)


def _missing(engine: str) -> list[str]:
    missing = []
    for package in (_ENGINES[engine][1], *_ENGINES[engine][2]):
        try:
            version(package)
        except PackageNotFoundError:
            missing.append(package)
    return missing


def session(engine: str, tables: Mapping[str, Any], *, isolated: bool = True) -> EngineSession:
    """Return an engine with tables: Arrow data, DataFrames, or paths of files, by name.

    Args:
        engine: its name.
        tables: the tables.
        isolated: whether an engine whose process may be ended by a plan gets one of its own.

    Raises:
        UnsupportedPlanError: it isn't installed.
        TableError: a table is none of these.
    """
    missing = _missing(engine)
    if missing:
        raise UnsupportedPlanError(
            f"{' and '.join(missing)} is not installed"
            if len(missing) == 1
            else f"{', '.join(missing)} are not installed",
            hint="pip install 'pyspark-substrait[compare]'",
        )
    if engine == "acero" and not isolated:
        return _Acero(tables)
    return _ENGINES[engine][0](tables)


def _main() -> None:
    """Run a plan, read from standard input, on Acero with the tables in a folder, and write the rows."""
    tables = {}
    for file in os.scandir(sys.argv[1]):
        table = feather.read_table(file.path)
        tables[table.schema.metadata[b"name"].decode()] = table.replace_schema_metadata(None)
    found = _Acero(tables).run(sys.stdin.buffer.read())
    with pa.ipc.new_stream(sys.stdout.buffer, found.schema) as stream:
        stream.write_table(found)


if __name__ == "__main__":
    _main()
