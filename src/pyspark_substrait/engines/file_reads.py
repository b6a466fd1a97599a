"""Reads of files in plans for engines that take tables by name only."""

from __future__ import annotations

from dataclasses import replace
from posixpath import basename
from typing import TypeVar
from urllib.parse import unquote, urlsplit

from pyspark_substrait.engines.description import Target
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.notes import Note
from pyspark_substrait.model.plan import Plan, RelRoot
from pyspark_substrait.model.relations import LocalFiles, NamedTable, Read, Relation
from pyspark_substrait.model.walk import mapped

__all__ = ["with_named_files"]

_P = TypeVar("_P", bound=Plan)


def with_named_files(plan: _P, target: Target) -> _P:
    """Return a plan whose reads of files are reads of tables, each named as its file is, without the folders before it.

    Raises:
        UnsupportedPlanError: a read is one of several files, of a part of one, or of a pattern.
    """
    notes: dict[str, Note] = {}

    def change(node: Relation) -> Relation:
        if not isinstance(node, Read) or not isinstance(node.read_type, LocalFiles):
            return node
        path = _path(node.read_type, target)
        name = basename(unquote(urlsplit(path).path).rstrip("/"))
        after = f"the table {name}: register the file under this name in {target.engine}, or give tables and rename it"
        notes.setdefault(path, Note(rule="target-files", path="", before=f"a read of {path}", after=after))
        return replace(node, read_type=NamedTable(names=(name,)))

    trees = mapped(*(tree.input if isinstance(tree, RelRoot) else tree for tree in plan.relations), change=change)
    relations = tuple(
        replace(old, input=new) if isinstance(old, RelRoot) else new
        for old, new in zip(plan.relations, trees, strict=True)
    )
    return replace(plan, relations=relations, notes=(*plan.notes, *notes.values())) if notes else plan


def _path(files: LocalFiles, target: Target) -> str:
    """Return the path of the one file or folder that a read is of."""
    if len(files.items) == 1:
        (item,) = files.items
        if item.path_type != "uri_path_glob" and not item.start and not item.length:
            return item.path
    raise UnsupportedPlanError(
        f"{target.engine} takes tables by name, and a read of several files, or of a part of one, has none",
        hint="Read a table instead, and register the files as that table there",
    )
