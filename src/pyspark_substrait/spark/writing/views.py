"""Create and alter views: in the catalog if their definition is SQL over its tables, else in the session.

A catalog view is stored as Spark SQL, with the settings that the text needs, so that it means the same to every client
of the catalog. It can't refer to what only this session has: a table that the caller gave, a file, a Python function.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from pyspark_substrait.errors import InvalidPlanError, SubstraitWarning, TableError, UnsupportedPlanError, at
from pyspark_substrait.model.relations import Ddl, DdlOp, NamedTable, Read, Relation, VirtualTable
from pyspark_substrait.model.types import List, Map, NamedStruct, Struct, Type, concrete, name_count, same_type
from pyspark_substrait.model.walk import writes
from pyspark_substrait.spark.columns import columns
from pyspark_substrait.spark.session import require_settings, spark_errors
from pyspark_substrait.spark.writing.catalog import CatalogEntry, carry_out, catalog_entry, dotted
from pyspark_substrait.spark.writing.write_context import WriteContext
from pyspark_substrait.sql.compiler.names import quoted, quoted_path
from pyspark_substrait.sql.compiler.scope import Source
from pyspark_substrait.sql.compiler.statement_steps import SqlStep

__all__ = ["define"]


def define(node: Ddl, names: Sequence[str], found: CatalogEntry | None, session: WriteContext) -> None:
    """Create, replace or alter a view.

    Args:
        node: the relation, which has a definition.
        names: the name of the view.
        found: the existing view, if any.
        session: the session.
    """
    definition = node.view_definition
    assert definition is not None
    if writes(definition):
        raise InvalidPlanError("the definition of a view changes a table", path="view_definition")
    schema = _schema(node, definition)
    of_session = found is not None and found.kind == "session view"
    if node.op is DdlOp.ALTER and of_session:
        _session_view(definition, names, schema, session)
        return
    with at("view_definition"):
        text, reason = _catalog_text(definition, schema, session)
    if text is not None:
        _catalog_view(node, text, names, found, session)
        return
    if len(names) > 1:
        raise UnsupportedPlanError(
            f"the view {dotted(names)} cannot be stored in a catalog, because {reason}",
            hint="A name of one part makes it a view of this session; so does create_view(…, temporary=True)",
            path="named_object.names",
        )
    if found is not None and not of_session:
        raise UnsupportedPlanError(
            f"the view {dotted(names)} is a view of the catalog and cannot be replaced by this one, because {reason}",
            hint="Choose a new name, which makes it a view of this session",
            path="named_object.names",
        )
    _session_view(definition, names, schema, session)
    warnings.warn(
        f"the view {dotted(names)} is one of this session only, because {reason}", SubstraitWarning, stacklevel=2
    )


def _catalog_view(
    node: Ddl, text: str, names: Sequence[str], found: CatalogEntry | None, session: WriteContext
) -> None:
    spark, path = session.spark, quoted_path(names)
    if node.op is DdlOp.ALTER:
        assert found is not None
        carry_out(spark, f"ALTER VIEW {found.path} AS {text}", names, "alter the view")
        return
    verb = "CREATE OR REPLACE VIEW" if node.op is DdlOp.CREATE_OR_REPLACE else "CREATE VIEW"
    carry_out(spark, f"{verb} {path} AS {text}", names, "create the view")
    if found is not None and found.kind == "session view":
        # it would shadow the new one
        carry_out(spark, f"DROP VIEW IF EXISTS {found.path}", names, "drop")


def _session_view(definition: Relation, names: Sequence[str], schema: NamedStruct, session: WriteContext) -> None:
    with at("view_definition"):
        frame = session.frame(definition, schema.names)
    try:
        frame.createOrReplaceTempView(quoted(names[0]))
    except spark_errors() as error:
        reason = str(error).strip().split("\n", 1)[0]
        raise UnsupportedPlanError(f"Spark cannot create the view {dotted(names)}: {reason}") from error


# columns --------------------------------------------------------------------------------------------------------------


def _schema(node: Ddl, definition: Relation) -> NamedStruct:
    """Return the schema of a view, which must fit its definition."""
    schema = node.table_schema
    if schema is None:
        raise InvalidPlanError("the columns of the view are missing", path="table_schema")
    made = definition.schema.types
    if len(made) != len(schema.struct.types):
        raise InvalidPlanError(
            f"the view has {len(schema.struct.types)} columns, and its definition {len(made)}", path="table_schema"
        )
    position = 0
    for number, (type, found) in enumerate(zip(schema.struct.types, made, strict=True)):
        if not (same_type(type, found) and _holds(type, found)):
            raise InvalidPlanError(
                f"the view's column {dotted([schema.names[position]])} is a {type}, and its definition gives a {found}",
                path=f"table_schema.struct.types[{number}]",
            )
        position += 1 + name_count(type)
    return schema


def _holds(type: Type, found: Type) -> bool:
    """Whether a type is nullable, at any depth, wherever the same type, ``found``, is."""
    type, found = concrete(type), concrete(found)
    if found.nullable and not type.nullable:
        return False
    match type, found:
        case Struct(types=types), Struct(types=others):
            return all(map(_holds, types, others))
        case List(type=element), List(type=other):
            return _holds(element, other)
        case Map(key=key, value=value), Map(key=other_key, value=other_value):
            return _holds(key, other_key) and _holds(value, other_value)
        case _:
            return True


# text -----------------------------------------------------------------------------------------------------------------


class _OfSession(Exception):
    """A view refers to something that no catalog can store; the message states what."""


def _catalog_text(definition: Relation, schema: NamedStruct, session: WriteContext) -> tuple[str | None, str]:
    """Return the definition as SQL over tables of the catalog; None if that isn't possible, with the reason."""
    try:
        made = session.statement(definition, schema.names, _CatalogSources(session))
    except _OfSession as error:
        return None, str(error)
    except UnsupportedPlanError as error:
        # without a text, it may still be a DataFrame; if not, that reports the reason
        return None, error.message
    if made.functions:
        return None, "it calls a Python function"
    if not all(isinstance(step, SqlStep) for step in made.steps):
        return None, "it has an extension relation"
    require_settings(session.spark, made.settings)
    return made.readable(), ""


class _CatalogSources:
    """Finds the tables that a view reads in the catalog, by names that mean the same to every client."""

    def __init__(self, session: WriteContext) -> None:
        self._session = session
        self._case_sensitive = str(session.spark.conf.get("spark.sql.caseSensitive", "false")).lower() == "true"

    def __call__(self, node: Read) -> Source | None:
        if isinstance(node.read_type, VirtualTable):
            return None  # its records are in the text
        if not isinstance(node.read_type, NamedTable):
            raise _OfSession("it reads files, or another source without a name in a catalog")
        names = node.read_type.names
        with at("named_table"):
            if self._session.tables.find(names) is not None:
                raise _OfSession(f"it reads {dotted(names)}, a table passed to this run")
            found = catalog_entry(self._session.spark, names)
            if found is None:
                raise TableError(f"there is no table {dotted(names)}")
            if found.kind == "session view":
                raise _OfSession(f"it reads {dotted(names)}, a view of this session")
            matched = columns(
                dotted(names), found.schema, node.base_schema, frozenset(), case_sensitive=self._case_sensitive
            )
        return Source(found.path, matched.texts, matched.required)
