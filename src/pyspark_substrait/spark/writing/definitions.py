"""Create, alter and drop tables and views (``DdlRel``). Spec: relations/logical_relations, "DDL"."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import assert_never

from pyspark_substrait.errors import InvalidPlanError, TableError, UnsupportedPlanError, at
from pyspark_substrait.model.relations import Ddl, DdlObject, DdlOp, ExtensionObject
from pyspark_substrait.spark.writing import table_definitions, targets, views
from pyspark_substrait.spark.writing.catalog import CatalogEntry, carry_out, catalog_entry, dotted
from pyspark_substrait.spark.writing.replacing import exclusive
from pyspark_substrait.spark.writing.write_context import WriteContext
from pyspark_substrait.sql.compiler.relations import refuse_enhancement

__all__ = ["define"]

_DROPS = (DdlOp.DROP, DdlOp.DROP_IF_EXIST)


def define(node: Ddl, session: WriteContext) -> None:
    """Carry out a change of the schema of a database.

    Raises:
        InvalidPlanError: the plan contradicts itself.
        TableError: the object to create exists, or the one to change doesn't, or is of another kind.
        UnsupportedPlanError: Spark, or the catalog, can't do it.
        ExecutionError: the records of the table don't fit its new columns.
    """
    _check(node)
    if isinstance(node.write_type, ExtensionObject):
        targets.define(node, session)
        return
    refuse_enhancement(node.write_type.advanced_extension, "named_object.advanced_extension")
    names = node.write_type.names
    with at("named_object"):
        found = catalog_entry(session.spark, names)
        if session.tables.find(names) is not None:
            raise UnsupportedPlanError(
                f"{dotted(names)} is a table passed to this run in `tables`, which no plan changes"
            )
        _agree(node, names, found)
    if node.op in _DROPS:
        if found is not None:
            _drop(names, found, session)
    elif node.object is DdlObject.VIEW:
        views.define(node, names, found, session)
    else:
        table_definitions.define(node, names, found, session)


def _check(node: Ddl) -> None:
    """Refuse fields that contradict the kind of a DDL relation."""
    match node.object:
        case DdlObject.TABLE:
            if node.view_definition is not None:
                raise InvalidPlanError("a table has no definition", path="view_definition")
        case DdlObject.VIEW:
            if node.table_defaults:
                raise InvalidPlanError("the columns of a view have no defaults", path="table_defaults")
            if node.op not in _DROPS and node.view_definition is None:
                raise InvalidPlanError("the definition of the view is missing", path="view_definition")
        case _:
            assert_never(node.object)


def _agree(node: Ddl, names: Sequence[str], found: CatalogEntry | None) -> None:
    """Check that the existing object, or its absence, fits the operation."""
    kind, name = node.object.value, dotted(names)
    if found is None:
        if node.op in (DdlOp.DROP, DdlOp.ALTER):
            raise TableError(f"there is no {kind} {name}")
        return
    if node.op is DdlOp.CREATE:
        raise TableError(f"there is a {found.kind} {name} already")
    if (found.kind == "table") != (node.object is DdlObject.TABLE):
        raise TableError(f"{name} is a {found.kind}, not a {kind}")


def _drop(names: Sequence[str], found: CatalogEntry, session: WriteContext) -> None:
    kind = "TABLE" if found.kind == "table" else "VIEW"
    with exclusive(found if found.kind == "table" else None, names):
        carry_out(session.spark, f"DROP {kind} IF EXISTS {found.path}", names, "drop")
