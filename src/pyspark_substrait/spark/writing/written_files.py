"""Write Parquet files to a folder, or to a folder for each value of some columns.

A local folder is replaced by a new version in one step (``folders``). Elsewhere, Spark writes the files as usual.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote
from uuid import uuid4

from pyspark_substrait.errors import InvalidPlanError, TableError, UnsupportedPlanError, at
from pyspark_substrait.model.relations import CreateMode, Ddl, DdlOp, Files, OutputMode, Write, WriteOp
from pyspark_substrait.model.types import (
    Binary,
    FixedBinary,
    List,
    Map,
    NamedStruct,
    Struct,
    Type,
    concrete,
    name_count,
)
from pyspark_substrait.spark.session import spark_errors
from pyspark_substrait.spark.tables import first_line
from pyspark_substrait.spark.writing.catalog import dotted
from pyspark_substrait.spark.writing.folders import changing, data_files
from pyspark_substrait.spark.writing.path_templates import Template, folder_text, parsed
from pyspark_substrait.spark.writing.stored_tables import depth_first
from pyspark_substrait.spark.writing.unexpected_files import (
    FolderEntry,
    entries_below,
    first_unexpected,
    hadoop_entries,
    is_parquet,
)
from pyspark_substrait.spark.writing.write_context import WriteContext
from pyspark_substrait.sql.compiler.names import quoted
from pyspark_substrait.sql.compiler.types import is_foreign, named_spark_type
from pyspark_substrait.sql.compiler.writes import refuse_change, refuse_definition

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["checked", "define", "write"]

_MODES = {
    CreateMode.APPEND_IF_EXISTS: "append",
    CreateMode.REPLACE_IF_EXISTS: "overwrite",
    CreateMode.IGNORE_IF_EXISTS: "ignore",
}


def checked(node: Write, target: Files, session: WriteContext) -> None:
    """Check a write of files; like ``targets.checked``."""
    refuse_change(node, target)
    with at("extension_table", "detail"):
        template, root = _place(target, session)
        _references(template, node.table_schema)
        if isinstance(root, Path):
            _check_folder(root, node)
        elif template.parts:
            raise UnsupportedPlanError(
                "a folder for each value is possible only in the file system of this machine", path="path"
            )
        elif node.create_mode is CreateMode.REPLACE_IF_EXISTS:
            _only_parquet_elsewhere(root, session)
    with at("input"):
        session.frame(node.input, depth_first(node.table_schema.struct))


def _place(target: Files, session: WriteContext) -> tuple[Template, Path | str]:
    """Return the parsed path, and its fixed folder: a local path or a URI."""
    template = parsed(target.path)
    with at("path"):
        if "\x00" in target.path:
            raise InvalidPlanError("a path cannot contain NUL")
        place = session.access.writable(template.root)
    return template, place if isinstance(place, Path) else str(place)


def _check_folder(root: Path, node: Write) -> None:
    if not root.exists():
        return
    if not root.is_dir():
        raise TableError(f"{root} is a file, not a folder", path="path")
    if any(found.is_symlink() for found in root.rglob("*")):
        raise TableError(f"{root} contains links, which may lead anywhere", path="path")
    if node.op is WriteOp.CTAS and node.create_mode not in _MODES and data_files(root):
        raise TableError(
            f"{root} already has files",
            path="path",
            hint="Set a create_mode that appends to, replaces or keeps them",
        )
    if node.create_mode is CreateMode.REPLACE_IF_EXISTS:
        _only_parquet(root)


def _only_parquet(root: Path) -> None:
    """Refuse to replace or remove a folder that contains other files than Parquet."""
    _refuse_unexpected(str(root), entries_below(root))


def _refuse_unexpected(root: str, entries: Iterable[FolderEntry]) -> None:
    other = first_unexpected(entries, is_parquet)
    if other is not None:
        raise TableError(
            f"{root} has files other than Parquet, such as {dotted([str(other)])}",
            path="path",
            hint="Such a folder is neither replaced nor removed. Name another one",
        )


def _only_parquet_elsewhere(root: str, session: WriteContext) -> None:
    """Like :func:`_only_parquet`, in another file system, where Spark removes the whole contents."""
    try:
        entries = hadoop_entries(session.spark, root)
    except spark_errors() as error:
        raise UnsupportedPlanError(f"{root} cannot be inspected: {first_line(error)}", path="path") from error
    if entries is None:
        raise UnsupportedPlanError(
            f"a Spark Connect session cannot see which files replacing {root} would lose",
            path="path",
            hint="Name a folder that does not exist yet, without a create_mode that replaces",
        )
    _refuse_unexpected(root, entries)


def write(node: Write, target: Files, session: WriteContext) -> DataFrame | None:
    """Write the records of a write to files; like ``targets.write``."""
    template, root = _place(target, session)
    if (
        isinstance(root, Path)
        and node.create_mode is CreateMode.IGNORE_IF_EXISTS
        and root.exists()
        and data_files(root)
    ):
        return None
    returning = node.output is OutputMode.MODIFIED_RECORDS
    try:
        records = session.frame(node.input, depth_first(node.table_schema.struct))
        if returning:
            records = records.localCheckpoint()
        if isinstance(root, Path):
            _write_here(records, node, template, root, session)
        else:
            if node.create_mode is CreateMode.REPLACE_IF_EXISTS:
                _only_parquet_elsewhere(root, session)
            mode = "append" if node.op is WriteOp.INSERT else _MODES.get(node.create_mode, "error")
            records.selectExpr(*_named(node.table_schema)).write.mode(mode).parquet(root)
    except spark_errors() as error:
        raise session.failed(error) from error
    return records if returning else None


def _write_here(records: DataFrame, node: Write, template: Template, root: Path, session: WriteContext) -> None:
    session.access.make_folder(root.parent)
    folders = [f"{text} AS {_folder(number)}" for number, text in enumerate(_folders(template, node.table_schema))]
    with changing(root) as change:
        if node.create_mode is CreateMode.REPLACE_IF_EXISTS and root.exists():
            _only_parquet(root)  # once more, under the lock of this package; changes by others are detected
        written = records.selectExpr(*_named(node.table_schema), *folders).write
        written.partitionBy(*map(_folder, range(len(folders)))).parquet(str(change.written))
        if not change.written.is_dir():
            raise UnsupportedPlanError(f"this machine does not see what Spark's executors write to {root}")
        if folders:
            _rename(change.written, len(folders))
        if root.exists() and node.create_mode is not CreateMode.REPLACE_IF_EXISTS:
            change.keep()
        change.add()
        session.access.check_written(root)
        change.take_effect()


def _named(schema: NamedStruct) -> Iterator[str]:
    """Yield the columns under their own names."""
    names = iter(schema.names)
    position = 0
    for type in schema.struct.types:
        column = f"c{position}"
        name = quoted(next(names))
        if name_count(type):
            column = f"CAST({column} AS {named_spark_type(type, names)})"
        yield f"{column} AS {name}"
        position += 1 + name_count(type)


# folders --------------------------------------------------------------------------------------------------------------

#: part of the names of the columns for the folders of records, which no table has
_MARK = uuid4().hex


def _folder(number: int) -> str:
    return f"folder_{_MARK}_{number}"


def _references(template: Template, schema: NamedStruct) -> dict[str, tuple[int, Type]]:
    """Return the columns that a path refers to: their positions among all names, and their types."""
    found: dict[str, tuple[int, Type]] = {}
    columns: list[tuple[str, int, Type]] = []
    position = 0
    for type in schema.struct.types:
        columns.append((schema.names[position], position, type))
        position += 1 + name_count(type)
    for name in template.columns:
        matches = [(place, type) for other, place, type in columns if other == name]
        if len(matches) != 1:
            raise InvalidPlanError(
                f"the path refers to {dotted([name])}, of which there are {len(matches)}", path="path"
            )
        found[name] = matches[0]
        if isinstance(concrete(matches[0][1]), (Struct, List, Map, Binary, FixedBinary)) or is_foreign(matches[0][1]):
            raise UnsupportedPlanError(f"a {matches[0][1]} has no text form for a folder name", path="path")
    return found


def _folders(template: Template, schema: NamedStruct) -> Iterator[str]:
    places = _references(template, schema)
    for part in template.parts:
        yield folder_text(part, [f"CAST(c{places[name][0]} AS STRING)" for name in part[1::2]])


def _rename(written: Path, depth: int) -> None:
    """Rename the partition folders that Spark created to their values."""
    if depth == 0:
        return
    for entry in sorted(os.scandir(written), key=lambda found: found.name):
        if entry.is_dir():
            _rename(Path(entry.path), depth - 1)
            os.rename(entry.path, written / unquote(entry.name.partition("=")[2]))


def define(node: Ddl, target: Files, session: WriteContext) -> None:
    """Remove the files of a folder; like ``targets.define``."""
    refuse_definition(node, target)
    with at("extension_object", "detail"):
        _, root = _place(target, session)
        if not isinstance(root, Path):
            raise UnsupportedPlanError("only files of this machine can be removed", path="path")
        if not root.is_dir():
            if node.op is DdlOp.DROP:
                raise TableError(f"there are no files in {root}", path="path")
            if root.parent.is_dir():
                with changing(root):
                    pass  # this removes the remains of a crash beside it
            return
        with changing(root) as change:
            _only_parquet(root)
            session.access.check_written(root)
            change.remove()
