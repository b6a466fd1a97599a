"""The relations that write, checked without a session: only their queries and expressions are compiled."""

from __future__ import annotations

from typing_extensions import assert_never

from pyspark_substrait.errors import UnsupportedPlanError, at
from pyspark_substrait.model.relations import (
    Ddl,
    DdlObject,
    DdlOp,
    ExtensionObject,
    Files,
    NamedObjectWrite,
    Update,
    Write,
    WriteOp,
    WriteTarget,
)
from pyspark_substrait.model.walk import writes
from pyspark_substrait.sql.compiler import expressions, relations
from pyspark_substrait.sql.compiler.lifted_columns import Below
from pyspark_substrait.sql.compiler.query import Query, plain
from pyspark_substrait.sql.compiler.refusals import nulls
from pyspark_substrait.sql.compiler.scope import Compilation, Record, Scope

__all__ = ["looked_through", "misplaced", "refuse_change", "refuse_definition", "refuse_view", "unknown_target"]


def misplaced(node: Write | Update | Ddl) -> UnsupportedPlanError:
    """Return the error for a relation that writes where it might run several times, or never."""
    return UnsupportedPlanError(
        f"a {node.info.field} relation stands in a subquery or in the definition of a view",
        hint="Let it be an input of the relations around it, or a plan of its own",
    )


def unknown_target(target: ExtensionObject) -> UnsupportedPlanError:
    """Return the error for a message that is unknown as a target of writes."""
    return UnsupportedPlanError(
        f"{target.detail.type_url or 'a message without a type'} is not known as the target of a write",
        hint="docs/writing.md has those that are",
    )


def refuse_view(node: Ddl) -> None:
    """Refuse a view without a name."""
    if node.object is DdlObject.VIEW:
        raise UnsupportedPlanError("only a name can be that of a view", path="extension_object")


def refuse_definition(node: Ddl, target: WriteTarget) -> None:
    """Refuse a definition that a target can't have, whatever exists now."""
    drops = node.op in (DdlOp.DROP, DdlOp.DROP_IF_EXIST)
    if drops:
        return
    if isinstance(target, Files):
        raise UnsupportedPlanError(
            "files at a path have no columns but those of their records", path="op", hint="Write them by a CTAS"
        )
    if node.op is DdlOp.ALTER:
        raise UnsupportedPlanError(
            "a table in memory cannot be altered", path="op", hint="Replace it by a CTAS that reads it"
        )
    if any(default.value is not None for default in node.table_defaults or ()):
        raise UnsupportedPlanError("the columns of a table in memory have no defaults", path="table_defaults")
    if node.table_schema is None:
        raise UnsupportedPlanError("the columns of the table are missing", path="table_schema")


def refuse_change(node: Write, target: WriteTarget) -> None:
    """Refuse a change that a target can't have, whatever exists now."""
    if isinstance(target, Files) and node.op not in (WriteOp.CTAS, WriteOp.INSERT):
        raise UnsupportedPlanError(
            "files at a path are no table whose records could be found again",
            path="op",
            hint="Read them, and write what shall stay with REPLACE_IF_EXISTS",
        )


def looked_through(node: Write | Update | Ddl, outer: tuple[Record, ...], compilation: Compilation) -> Query:
    """Check a relation that writes and compile its query and expressions; return nulls in place of its output.

    Raises:
        UnsupportedPlanError: it can't run in its place, or its target is unknown.
    """
    if any(not record.lateral for record in outer):
        raise misplaced(node)
    match node:
        case Write():
            target = _known(node.write_type, "extension_table")
            with at("input"):
                relations.relation(node.input, outer, compilation)
            if target is not None:
                refuse_change(node, target)
        case Ddl():
            target = _known(node.write_type, "extension_object")
            if target is not None:
                refuse_view(node)
                refuse_definition(node, target)
            if node.view_definition is not None:
                if writes(node.view_definition):
                    raise UnsupportedPlanError(
                        "the definition of a view writes to a table",
                        path="view_definition",
                        hint="Let a plan of its own write, before the view is made",
                    )
                with at("view_definition"):
                    relations.relation(node.view_definition, outer, compilation)
        case Update():
            relations.refuse_enhancement(node.update_type.advanced_extension, "named_table.advanced_extension")
            _changed(node, outer, compilation)
        case _:
            assert_never(node)
    return nulls(node.direct_schema, compilation)


def _known(write_type: NamedObjectWrite | ExtensionObject, field: str) -> WriteTarget | None:
    """Return the target of a write if it isn't a table known by name."""
    if not isinstance(write_type, ExtensionObject):
        return None
    if write_type.target is None:
        with at(field, "detail"):
            raise unknown_target(write_type)
    return write_type.target


def _changed(node: Update, outer: tuple[Record, ...], compilation: Compilation) -> None:
    """Compile the condition and the new values of an update."""
    columns = tuple(compilation.column() for _ in node.table_schema.struct.types)
    query = Query(source="t", items=plain(columns))
    if node.condition is not None:
        with at("condition"):
            expressions.conditions(node.condition, _scope(node, query, outer), compilation)
    for position, item in enumerate(node.transformations):
        with at("transformations", position, "transformation"):
            expressions.expression(item.transformation, _scope(node, query, outer), compilation)


def _scope(node: Update, query: Query, outer: tuple[Record, ...]) -> Scope:
    return Scope(Record(query.columns, node.common.rel_anchor), outer, below=Below())
