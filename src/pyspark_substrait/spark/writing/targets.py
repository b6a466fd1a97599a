"""Writes to targets other than catalog tables: tables in memory and files (``ExtensionObject``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import assert_never

from pyspark_substrait.errors import InvalidPlanError, at
from pyspark_substrait.model.relations import (
    CreateMode,
    Ddl,
    ExtensionObject,
    Files,
    InMemoryTable,
    NamedObjectWrite,
    Write,
    WriteOp,
    WriteTarget,
)
from pyspark_substrait.spark.writing import in_memory, written_files
from pyspark_substrait.spark.writing.stored_tables import matching_input
from pyspark_substrait.spark.writing.write_context import WriteContext
from pyspark_substrait.sql.compiler.writes import refuse_view, unknown_target

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["checked", "define", "write"]


def checked(node: Write, session: WriteContext) -> None:
    """Check a write, as far as possible without carrying it out.

    Raises:
        InvalidPlanError: the plan contradicts itself.
        TableError: the object to create exists, or doesn't fit the plan.
        UnsupportedPlanError: the target isn't known, or can't be changed like that.
    """
    target = _target(node.write_type)
    if node.op is not WriteOp.CTAS and node.create_mode is not CreateMode.UNSPECIFIED:
        raise InvalidPlanError(f"only a CTAS has a create_mode, this is a {node.op.name}", path="create_mode")
    if node.op in (WriteOp.CTAS, WriteOp.INSERT):
        matching_input(node)
    match target:
        case InMemoryTable():
            in_memory.checked(node, target, session)
        case Files():
            written_files.checked(node, target, session)
        case _:
            assert_never(target)


def write(node: Write, session: WriteContext) -> DataFrame | None:
    """Carry out a write whose target is an ``ExtensionObject``.

    Returns:
        the output records, with a column for each of ``node.direct_schema``; None if it has no output.

    Raises:
        ExecutionError: it fails on its data, or somebody else changes the files at the same time; nothing is changed.
        InvalidPlanError, TableError, UnsupportedPlanError: as :func:`checked`.
    """
    checked(node, session)
    target = _target(node.write_type)
    return (
        in_memory.write(node, target, session)
        if isinstance(target, InMemoryTable)
        else written_files.write(node, target, session)
    )


def define(node: Ddl, session: WriteContext) -> None:
    """Carry out a definition whose target is an ``ExtensionObject``.

    Raises:
        TableError: the object to drop doesn't exist, or the one to create does.
        UnsupportedPlanError: the target isn't known, or can't be defined like that.
    """
    target = _target(node.write_type, "extension_object")
    refuse_view(node)
    if isinstance(target, InMemoryTable):
        in_memory.define(node, target, session)
    else:
        written_files.define(node, target, session)


def _target(write_type: NamedObjectWrite | ExtensionObject, field: str = "extension_table") -> WriteTarget:
    assert isinstance(write_type, ExtensionObject)
    if write_type.target is None:
        with at(field, "detail"):
            raise unknown_target(write_type)
    return write_type.target
