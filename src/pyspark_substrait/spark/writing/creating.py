"""Create tables from records (CTAS)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark_substrait.errors import TableError
from pyspark_substrait.model.relations import (
    CreateMode,
    Ddl,
    DdlObject,
    DdlOp,
    NamedObjectWrite,
    OutputMode,
    Write,
)
from pyspark_substrait.spark.session import spark_errors
from pyspark_substrait.spark.writing import statements, table_definitions
from pyspark_substrait.spark.writing.catalog import in_session_catalog
from pyspark_substrait.spark.writing.changes import Change, Inserted, Replaced
from pyspark_substrait.spark.writing.fitting import sql_type
from pyspark_substrait.spark.writing.replacing import replacing
from pyspark_substrait.spark.writing.stored_tables import FILE_FORMATS, StoredTable, existing_table
from pyspark_substrait.spark.writing.table_columns import defined
from pyspark_substrait.spark.writing.write_context import WriteContext
from pyspark_substrait.sql.compiler.names import quoted_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["creation"]


def creation(
    node: Write, names: tuple[str, ...], table: StoredTable | None, session: WriteContext
) -> Created | Change | None:
    """Return the change that a CTAS makes.

    Args:
        node: the CTAS.
        names: the table's name.
        table: the existing table, if any.
        session: the session.

    Returns:
        The change; None if nothing is to be done, because the table exists.

    Raises:
        TableError: the table exists, and its create_mode doesn't allow that.
    """
    returning = node.output is OutputMode.MODIFIED_RECORDS
    if table is None:
        return Created(node, names, None, session)
    match node.create_mode:
        case CreateMode.IGNORE_IF_EXISTS:
            return None
        case CreateMode.APPEND_IF_EXISTS:
            return Inserted(node, table, session, returning=returning)
        case CreateMode.REPLACE_IF_EXISTS if _same_columns(node, table):
            return Replaced(node, table, session, returning=returning)
        case CreateMode.REPLACE_IF_EXISTS:
            table.check_replaceable()
            return Created(node, names, table, session)
        case _:
            raise TableError(
                f"there is a table {table.name} already", hint="Set a create_mode that appends to, replaces or keeps it"
            )


def _definition(node: Write, names: Sequence[str], old: StoredTable | None = None) -> Ddl:
    return Ddl(
        write_type=NamedObjectWrite(names=tuple(names)),
        object=DdlObject.TABLE,
        op=DdlOp.CREATE if old is None else DdlOp.CREATE_OR_REPLACE,
        table_schema=node.table_schema,
    )


def _same_columns(node: Write, table: StoredTable) -> bool:
    """Whether the new table would have the columns of the old one."""
    wanted = defined(_definition(node, table.names))
    fields = table.stored.fields
    return len(fields) == len(wanted) and all(
        field.name == column.name
        and field.nullable == (not column.required)
        and column.type.replace(", ", ",") == sql_type(field.dataType).replace(", ", ",")
        for field, column in zip(fields, wanted, strict=True)
    )


class Created:
    """Creates or replaces a table with the records of a write's input.

    In Spark's own catalog it is created and filled under another name, and renamed when it is complete.

    Args:
        node: the CTAS.
        names: the table's name.
        old: the table to be replaced, if any.
        session: the session.
    """

    def __init__(self, node: Write, names: tuple[str, ...], old: StoredTable | None, session: WriteContext) -> None:
        self._node = node
        self._names = names
        self._old = old
        self._session = session

    def check(self) -> None:
        """Check the creation without carrying it out; like :meth:`Change.check`."""
        defined(_definition(self._node, self._names))
        statements.input_frame(self._node, self._session)

    def carried_out(self) -> DataFrame | None:
        """Create the table, and return its records, if requested. Like :meth:`Change.carried_out`."""
        try:
            return self._beside() if self._of_files() else self._at_once()
        except spark_errors() as error:
            raise self._session.failed(error) from error

    def _of_files(self) -> bool:
        """Whether the table is one of plain files in Spark's own catalog."""
        spark = self._session.spark
        usual = str(spark.conf.get("spark.sql.sources.default", "parquet")).lower()
        own = in_session_catalog(spark, self._names) and usual in FILE_FORMATS
        return own and (self._old is None or self._old.of_files)

    def _beside(self) -> DataFrame | None:
        old = None if self._old is None else self._old.entry
        spark = self._session.spark
        with replacing(spark, self._names, old) as made:
            table_definitions.create(spark, made.beside, defined(_definition(self._node, self._names)), made.properties)
            records = self._filled(existing_table(made.beside, self._session))
            made.put_in_place()
        return records

    def _at_once(self) -> DataFrame | None:
        """Create the table by a statement of its own catalog."""
        names, node = self._names, self._node
        required = any(column.has_required for column in defined(_definition(node, names)))
        if not required:
            records = self._records()
            columns = statements.named_columns(node.table_schema)
            statements.create_as(quoted_path(names), self._old, records.selectExpr(*columns), self._session)
            return records if node.output is OutputMode.MODIFIED_RECORDS else None
        # a SELECT has no required columns: the table is created first, and then filled
        found = None if self._old is None else self._old.entry
        table_definitions.define(_definition(node, names, self._old), names, found, self._session)
        return self._filled(existing_table(names, self._session))

    def _filled(self, table: StoredTable) -> DataFrame | None:
        records = self._records()
        statements.insert(table, self._session, records.selectExpr(*table.columns(self._node.table_schema)))
        return records if self._node.output is OutputMode.MODIFIED_RECORDS else None

    def _records(self) -> DataFrame:
        records = statements.input_frame(self._node, self._session)
        return records.localCheckpoint() if self._node.output is OutputMode.MODIFIED_RECORDS else records
