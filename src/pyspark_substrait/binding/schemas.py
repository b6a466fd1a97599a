"""The schemas of tables, from what describes or holds them: Arrow, files, the sessions of other engines."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from pyspark_substrait.binding.data_files import first_file_below, log_of, refused_table
from pyspark_substrait.binding.tables import Names
from pyspark_substrait.errors import InvalidPlanError, TableError
from pyspark_substrait.extensions import Registry
from pyspark_substrait.extensions.arrow_schemas import named_struct
from pyspark_substrait.model.types import UNSIGNED_INTEGERS, NamedStruct, Struct, Type, UserDefined

if TYPE_CHECKING:
    import pyarrow.dataset

__all__ = [
    "TableSchemas",
    "arrow_schema",
    "datafusion_tables",
    "dataset_of",
    "engine_schemas",
    "of_arrow",
    "of_source",
]

_FORMATS: Final = {".orc": "orc", ".arrow": "ipc", ".feather": "ipc", ".ipc": "ipc", ".csv": "csv"}


class TableSchemas:
    """Tables by name, whose schemas are made when they are asked for.

    Args:
        tables: what describes each table, by its name: dotted, or in parts.
        schema_of: makes a schema of that; its first argument is the name, for errors.

    Raises:
        TableError: a name is given twice.
    """

    def __init__(self, tables: Mapping[Any, Any], schema_of: Callable[[str, Any], NamedStruct]) -> None:
        self._tables: dict[str, tuple[Names, Any]] = {}
        self._schema_of = schema_of
        for name, table in tables.items():
            parts = tuple(name.split(".")) if isinstance(name, str) else tuple(name)
            if ".".join(parts) in self._tables:
                raise TableError(f"the table {'.'.join(parts)} is given twice")
            self._tables[".".join(parts)] = parts, table

    def names(self) -> Sequence[Names]:
        return [name for name, _ in self._tables.values()]

    def table(self, names: Names) -> tuple[Names, NamedStruct] | None:
        dotted = ".".join(names)
        if dotted not in self._tables:
            return None
        own, table = self._tables[dotted]
        return own, self._schema_of(dotted, table)


def of_source(name: str, source: Any) -> NamedStruct:
    """Return the schema of a table given as a schema, as Arrow data, or as a path of files.

    Raises:
        TableError: it is none of these, or the files can't be read.
    """
    if isinstance(source, NamedStruct):
        return source
    if isinstance(source, str | os.PathLike):
        return of_arrow(_schema_of_files(name, source))
    found = arrow_schema(source)
    if found is not None:
        return of_arrow(found)
    raise TableError(
        f"the table {name} is given as a {type(source).__name__}",
        hint="Give a schema (of Arrow, of Spark or a NamedStruct), Arrow data, a DataFrame, or a path of files",
    )


def arrow_schema(source: Any) -> pa.Schema | None:
    """Return the schema of a table given as a schema of Arrow, or as Arrow data; None if it is neither."""
    found = source if isinstance(source, pa.Schema) else getattr(source, "schema", None)
    if callable(found):  # a DataFrame of DataFusion
        found = found()
    if not isinstance(found, pa.Schema) and hasattr(source, "__arrow_c_schema__"):
        found = pa.schema(source)
    if not isinstance(found, pa.Schema) and hasattr(source, "__arrow_c_stream__"):
        found = pa.RecordBatchReader.from_stream(source).schema
    return found if isinstance(found, pa.Schema) else None


def of_arrow(schema: pa.Schema) -> NamedStruct:
    """Return the schema of an Arrow schema, without the columns whose types Substrait doesn't have."""
    names: list[str] = []
    types: list[Type] = []
    for field in schema:
        try:
            found = _of_field(field)
        except InvalidPlanError:
            continue
        names += found.names
        types += found.struct.types
    return NamedStruct(names=tuple(names), struct=Struct(types=tuple(types)))


def _of_field(field: pa.Field) -> NamedStruct:
    """Return the schema of one column."""
    kind = field.type
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return _of_field(field.with_type(kind.value_type))
    if pa.types.is_unsigned_integer(kind):
        definition = Registry.default().type(UNSIGNED_INTEGERS, f"u{kind.bit_width}")
        assert definition is not None, "the specification has it"
        type = UserDefined(
            urn=definition.urn, name=definition.name, structure=definition.structure, nullable=field.nullable
        )
        return NamedStruct(names=(field.name,), struct=Struct(types=(type,)))
    return named_struct(pa.schema([field.with_type(_PLAIN.get(kind, kind))]), "the table")


#: types with the same values as one that plans have
_PLAIN: Final = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}


def dataset_of(name: str, path: str | os.PathLike[str]) -> pyarrow.dataset.Dataset:
    """Return the files of a table, by the suffix of the file or of the first one in the folder; Parquet for any other.

    Raises:
        TableError: they can't be read.
    """
    from pyarrow import dataset  # a quarter of a second, with pandas

    with _as_table_errors(name, path):
        return dataset.dataset(os.fspath(path), format=_format_of(_first_file(name, path)))


def _schema_of_files(name: str, path: str | os.PathLike[str]) -> pa.Schema:
    """Return the schema of the files of a table: that of the first one."""
    with _as_table_errors(name, path):
        first = _first_file(name, path)
    if _format_of(first) != "parquet":
        return dataset_of(name, path).schema
    from pyarrow import parquet

    with _as_table_errors(name, path):
        return parquet.read_schema(os.fspath(path if first == Path(path) else first))


def _first_file(name: str, path: str | os.PathLike[str]) -> Path:
    """Return the first file of a folder, or the file itself."""
    folder = Path(path)
    if not folder.is_dir():
        return folder
    if (found := log_of(folder)) is not None:
        raise refused_table(name, path, found[0], "only Spark reads it", "Give its schema, or let Spark read it")
    return first_file_below(folder)


def _format_of(file: Path) -> str:
    return _FORMATS.get(file.suffix.lower(), "parquet")


@contextmanager
def _as_table_errors(name: str, path: str | os.PathLike[str]) -> Iterator[None]:
    """Raise errors of Arrow as errors of the table."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        fault = str(error).strip().splitlines()[0]
        raise TableError(f"the schema of the table {name} cannot be read from {os.fspath(path)}: {fault}") from error


def engine_schemas(session: Any) -> TableSchemas | None:
    """Return the tables of a DataFusion context or of a DuckDB connection; None for anything else."""
    engine = type(session).__module__.split(".")[0].lstrip("_")
    if engine == "datafusion" and hasattr(session, "catalog"):
        return _of_datafusion(session)
    if engine == "duckdb" and hasattr(session, "execute"):
        return _of_duckdb(session)
    return None


def _of_datafusion(context: Any) -> TableSchemas:
    return TableSchemas(datafusion_tables(context), of_source)


def datafusion_tables(context: Any) -> dict[Names, Any]:
    """Return the tables of the default schema of a context, by name."""
    catalog = context.catalog()
    schema = catalog.schema() if hasattr(catalog, "schema") else catalog.database()
    return {(name,): schema.table(name) for name in schema.names()}


def _of_duckdb(connection: Any) -> TableSchemas:
    """Return the tables and views that a connection finds by their names alone."""
    found = connection.execute("SELECT DISTINCT table_name FROM duckdb_columns() WHERE NOT internal").fetchall()

    def schema_of(name: str, table: str) -> NamedStruct:
        quoted = table.replace('"', '""')
        return of_source(name, connection.sql(f'SELECT * FROM "{quoted}" LIMIT 0').to_arrow_table())

    return TableSchemas({(name,): name for (name,) in found}, schema_of)
