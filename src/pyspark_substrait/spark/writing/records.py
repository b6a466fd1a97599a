"""Add, remove and change records of tables (``WriteRel``)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError, at
from pyspark_substrait.model.relations import NamedObjectWrite, OutputMode, Write, WriteOp
from pyspark_substrait.model.relations.writing import CreateMode
from pyspark_substrait.spark.writing.catalog import catalog_entry
from pyspark_substrait.spark.writing.changes import Change, Inserted, RowsChanged
from pyspark_substrait.spark.writing.creating import Created, creation
from pyspark_substrait.spark.writing.row_images import ListedChanged, ListedRemoved
from pyspark_substrait.spark.writing.row_level import RowChange, row_change
from pyspark_substrait.spark.writing.statements import input_frame
from pyspark_substrait.spark.writing.stored_tables import (
    StoredTable,
    existing_table,
    matching_images,
    matching_input,
    stored_table,
)
from pyspark_substrait.spark.writing.write_context import WriteContext
from pyspark_substrait.sql.compiler.relations import refuse_enhancement

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["checked", "of_existing", "write"]


def checked(node: Write, session: WriteContext) -> None:
    """Check a write, as far as possible without carrying it out.

    Raises:
        InvalidPlanError: the input doesn't fit the schema.
        TableError: the table is missing, exists already, or doesn't fit the plan.
        UnsupportedPlanError: the table can't be changed like that.
    """
    _change(node, session, only_check=True)


def write(node: Write, session: WriteContext) -> DataFrame | None:
    """Carry out a write to a named table.

    Returns:
        the records that were added, removed or changed (with their new values); None if the relation has no output.

    Raises:
        ExecutionError: it fails on its data, or somebody else changes the table at the same time; nothing is changed.
        InvalidPlanError, TableError, UnsupportedPlanError: as :func:`checked`.
    """
    return _change(node, session, only_check=False)


def _change(node: Write, session: WriteContext, *, only_check: bool) -> DataFrame | None:
    target = node.write_type
    assert isinstance(target, NamedObjectWrite)
    refuse_enhancement(target.advanced_extension, "named_table.advanced_extension")
    if node.op is not WriteOp.CTAS and node.create_mode is not CreateMode.UNSPECIFIED:
        raise InvalidPlanError(f"only a CTAS has a create_mode, this is a {node.op.name}", path="create_mode")
    with at("named_table"):
        table = (
            stored_table(target.names, session) if node.op is WriteOp.CTAS else existing_table(target.names, session)
        )
    change: Change | Created | None
    if node.op is WriteOp.CTAS:
        matching_input(node)
        change = creation(node, target.names, table, session)
    else:
        assert table is not None
        change = of_existing(node, table, session)
    if change is None:
        return None
    if only_check:
        if isinstance(change, RowsChanged):
            # the input is decomposed; this reports its faults with their paths
            input_frame(node, session)
        change.check()
        return None
    return change.carried_out()


def of_existing(node: Write, table: StoredTable, session: WriteContext) -> Change:
    """Return the change that a write makes in an existing table."""
    returning = node.output is OutputMode.MODIFIED_RECORDS
    if node.op is WriteOp.INSERT:
        matching_input(node)
        return Inserted(node, table, session, returning=returning)
    table.check_whole(node.table_schema)
    if node.op is WriteOp.DELETE:
        matching_input(node)
        found = _row_change(node, table, session)
        if found is None:
            return ListedRemoved(node, table, session, returning=returning)
        return RowsChanged(replace(found, values={}), table, session, removes=True, returning=returning)
    if len(node.input.schema.types) == 2 * len(node.table_schema.struct.types):
        matching_images(node)
        return ListedChanged(node, table, session, returning=returning)
    matching_input(node)
    found = _row_change(node, table, session)
    if found is None:
        raise UnsupportedPlanError(
            "the input of the update does not identify the records to change",
            path="input",
            hint=f"Let it be {table.name} itself, filtered and projected, or have the columns of the record before "
            "those of the record after the update",
        )
    return RowsChanged(found, table, session, returning=returning)


def _row_change(node: Write, table: StoredTable, session: WriteContext) -> RowChange | None:
    """Return the change if the input is only the table, filtered and, except for a DELETE, computed; else None."""

    def is_table(names: tuple[str, ...]) -> bool:
        if tuple(map(table.fold, names)) == tuple(map(table.fold, table.names)):
            return True
        found = catalog_entry(session.spark, names) if session.tables.find(names) is None else None
        return found is not None and found.kind == "table" and found.path == table.path

    found = row_change(node.input, node.table_schema, is_table, session.registry, table.fold)
    return None if found is None or (found.values and node.op is WriteOp.DELETE) else found
