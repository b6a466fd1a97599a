"""Views of Spark, made of plans."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace as with_fields
from typing import TYPE_CHECKING

from pyspark_substrait.api.bind import lacks_types, with_types
from pyspark_substrait.api.loading import PlanSource, extensions_of, loaded_plan, on_deep_stack
from pyspark_substrait.api.run import from_substrait
from pyspark_substrait.api.to_sql import view_sql
from pyspark_substrait.errors import TableError
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.model.relations import Ddl, DdlObject, DdlOp, NamedObjectWrite
from pyspark_substrait.spark.compatibility import session_version
from pyspark_substrait.spark.views import make_view
from pyspark_substrait.spark.writing.catalog import catalog_entry
from pyspark_substrait.sql.compiler.statement import root as root_of
from pyspark_substrait.sql.compiler.statement import root_schema
from pyspark_substrait.sql.view_statement import ViewName, parts_of, view_columns

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pyspark_substrait.documents import Plan
    from pyspark_substrait.extensions.registry import Registry
    from pyspark_substrait.spark.tables import Given

__all__ = ["create_view"]


def create_view(
    plan: PlanSource,
    spark: SparkSession,
    name: ViewName,
    *,
    temporary: bool = True,
    replace: bool = False,
    tables: Given | None = None,
    parameters: Mapping[int, object] | None = None,
    allowed_paths: Sequence[str | os.PathLike[str]] = (),
    registry: Registry | None = None,
    root: int | None = None,
) -> None:
    """Create a view of Spark whose rows are the result of a plan.

    A temporary view is one of the session. A view in the catalog is stored as Spark SQL with the settings that its text
    needs, so that it means the same to every client of the catalog: it reads only tables of the catalog and the records
    that the plan itself has. Nothing runs until the view is read.

    Args:
        plan: the plan, or anything that :func:`load` takes.
        spark: a classic or Spark Connect session.
        name: the name of the view, with dots between its parts, or a tuple of the parts. That of a temporary view has
            one part, and hides a table of that name; one of one part in the catalog is in the current database.
        temporary: whether the view is one of the session only.
        replace: whether an existing view is replaced; a table never is.
        tables, parameters, allowed_paths, registry, root: as in :func:`from_substrait`. The values of parameters become
            part of the view.

    Raises:
        TableError: there is such a view or table already, or no such database; the name is empty, or has several parts
            for a temporary view; or a table is missing, or doesn't match its schema in the plan.
        InvalidPlanError: the plan is wrong, or changes a table.
        UnsupportedPlanError: something in it can't run on Spark with exactly its meaning, or, in the catalog, can't be
            stored; the session lacks a setting that a view in the catalog needs; the plan has no columns, or two
            columns of one name, or reads a table of the view's own name.
        ParameterError: a dynamic parameter has no value, or one that isn't of its type.

    Examples:
        >>> session = substrait.session()
        >>> tables = substrait.samples.tables()
        >>> substrait.create_view(substrait.samples.plan(), session, "sales", tables=tables, replace=True)
        >>> session.sql("SELECT count(*) AS n FROM sales WHERE sales > 1000").first()
        Row(n=2)
    """
    names = parts_of(name)
    loaded = loaded_plan(plan, registry)
    known = extensions_of(loaded, registry)
    case_sensitive = str(spark.conf.get("spark.sql.caseSensitive", "false")).lower() == "true"
    on_deep_stack(loaded, lambda: view_columns(loaded, root, names, case_sensitive=case_sensitive))
    if temporary:
        if len(names) > 1:
            raise TableError(
                f"the name of a temporary view has one part, and {'.'.join(names)} has {len(names)}",
                hint="Give a name of one part; or temporary=False, for a view in the catalog",
            )
        frame = from_substrait(
            loaded,
            spark,
            tables=tables,
            parameters=parameters,
            allowed_paths=allowed_paths,
            registry=registry,
            root=root,
        )
        make_view(spark, names[0], frame, replace=replace)
        return
    if lacks_types(loaded):
        loaded = with_types(loaded, tables, spark, known)
    if len(names) == 1:
        names = _in_current_database(spark, names[0])
    # refuses, with the place in this plan, what no text can have
    version = ".".join(str(session_version(spark)).split(".")[:2])
    view_sql(loaded, names, parameters=parameters, registry=registry, root=root, version=version, formatted=False)
    from_substrait(
        on_deep_stack(loaded, lambda: _defining(loaded, names, root, replace=replace)),
        spark,
        tables=tables,
        parameters=parameters,
        registry=registry,
        root=root,
    )


def _in_current_database(spark: SparkSession, name: str) -> tuple[str, ...]:
    found = catalog_entry(spark, (name,))
    if found is not None and found.kind == "session view":
        raise TableError(
            f"the session has a temporary view {name}, which would hide the view in the catalog",
            hint=f"Drop it first: spark.catalog.dropTempView({name!r})",
        )
    return (spark.catalog.currentCatalog(), spark.catalog.currentDatabase(), name)


def _defining(plan: Plan, names: tuple[str, ...], chosen: int | None, *, replace: bool) -> Plan:
    """Return the plan that creates a view in the catalog, whose definition is a root of a plan."""
    position, definition, _ = root_of(plan, chosen)
    node = Ddl(
        write_type=NamedObjectWrite(names=names),
        object=DdlObject.VIEW,
        op=DdlOp.CREATE_OR_REPLACE if replace else DdlOp.CREATE,
        table_schema=root_schema(plan, chosen),
        view_definition=definition,
    )
    relations = list(plan.relations)
    relations[position] = RelRoot(input=node, names=())
    return with_fields(plan, relations=tuple(relations))
