"""The SQL statement of a plan, or of a view of it, for Spark or another engine."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyspark_substrait.api.loading import PlanSource, extensions_of, loaded_plan, on_deep_stack
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.sql import formatting
from pyspark_substrait.sql.compiler.names import quoted
from pyspark_substrait.sql.compiler.statement import Statement, statement
from pyspark_substrait.sql.spark_version import parsed_version
from pyspark_substrait.sql.view_statement import ViewName, parts_of, view_columns, view_statement

if TYPE_CHECKING:
    from pyspark_substrait.documents import Plan
    from pyspark_substrait.engines.dialects import Dialect

__all__ = ["to_sql", "view_sql"]


def to_sql(
    plan: PlanSource,
    *,
    parameters: Mapping[int, object] | None = None,
    registry: Registry | None = None,
    root: int | None = None,
    version: str | None = None,
    dialect: str = "spark",
    formatted: bool = True,
) -> str:
    """Return the SQL statement for a plan, over tables that the engine knows by name. Needs no session.

    Args:
        plan, parameters, registry, root: as in :func:`from_substrait`.
        version: the version of Spark that the text is for, ``3.5`` to the newest; the newest when None.
        dialect: the engine: ``spark``, ``duckdb``, ``postgres``, ``trino``, ``datafusion`` or ``sqlite``; or
            ``snowflake`` or ``bigquery``, whose texts were never run there, and begin with a comment that says so. All
            but Spark need the extra ``sql``.
        formatted: whether the statement is indented, with a clause a line; otherwise it is one line. Only the white
            space differs.

    Raises:
        ParameterError: a dynamic parameter has no value, or one that isn't of its type.
        InvalidPlanError: the plan is wrong.
        UnsupportedPlanError: something in it can't run there with exactly its meaning, or there is no such dialect.
        SubstraitError: there is no such version.

    Examples:
        >>> from pyspark_substrait.builder import read
        >>> plan = read("orders", {"id": "i64", "price": "fp64?"}).filter(lambda o: o.price > 10).to_plan()
        >>> print(substrait.to_sql(plan))
        SELECT c1 AS `id`, c2 AS `price`
        FROM (SELECT `id` AS c1, `price` AS c2 FROM `orders`)
        WHERE (c2 > 10.0D)
        >>> print(substrait.to_sql(plan, dialect="duckdb"))
        SELECT
          "orders"."id" AS "id",
          "orders"."price" AS "price"
        FROM "orders"
        WHERE
          "orders"."price" > 10.0e0
    """
    loaded = loaded_plan(plan, registry)
    if dialect != "spark":
        chosen = _dialect(dialect, version)
        from pyspark_substrait.engines import dialects

        return on_deep_stack(
            loaded,
            lambda: dialects.statement(loaded, chosen, parameters=parameters, chosen=root, formatted=formatted),
        )
    found = _of_spark(loaded, registry, parameters, root, version)
    text = found.readable()
    return formatting.formatted(text) if formatted else text


def view_sql(
    plan: PlanSource,
    name: ViewName,
    *,
    replace: bool = False,
    parameters: Mapping[int, object] | None = None,
    registry: Registry | None = None,
    root: int | None = None,
    version: str | None = None,
    dialect: str = "spark",
    formatted: bool = True,
) -> str:
    """Return the CREATE VIEW statement for a plan, over tables that the engine knows by name. Needs no session.

    The columns of the view are listed by name. Values of dynamic parameters are written into it. A view has no order
    for those who read it, even if its plan sorts.

    Spark stores the settings of the session that creates a view with it. Its text needs those of the plan, above all
    ``spark.sql.ansi.enabled=true``; :func:`create_view` checks them.

    Args:
        name: the name of the view, with dots between its parts, or a tuple of the parts.
        replace: whether an existing view is replaced (``CREATE OR REPLACE VIEW``); SQLite can't.
        plan, parameters, registry, root, version, dialect, formatted: as in :func:`to_sql`.

    Raises:
        TableError: the name is empty, or a part of it is.
        ParameterError: a dynamic parameter has no value, or one that isn't of its type.
        InvalidPlanError: the plan is wrong, or changes a table.
        UnsupportedPlanError: something in it can't run there with exactly its meaning, in a view; it has no columns, or
            two columns of one name; it reads a table of the view's own name; or there is no such dialect.
        SubstraitError: there is no such version.

    Examples:
        >>> from pyspark_substrait.builder import read
        >>> plan = read("orders", {"id": "i64", "price": "fp64?"}).filter(lambda o: o.price > 10).to_plan()
        >>> print(substrait.view_sql(plan, "reports.large", dialect="duckdb", replace=True))
        CREATE OR REPLACE VIEW "reports"."large" ("id", "price") AS
        SELECT
          "orders"."id" AS "id",
          "orders"."price" AS "price"
        FROM "orders"
        WHERE
          "orders"."price" > 10.0e0
    """
    names = parts_of(name)
    loaded = loaded_plan(plan, registry)
    if dialect != "spark":
        chosen = _dialect(dialect, version)
        from pyspark_substrait.engines import dialects

        return on_deep_stack(
            loaded,
            lambda: dialects.view_statement(
                loaded, chosen, names, replace=replace, parameters=parameters, chosen=root, formatted=formatted
            ),
        )
    columns = on_deep_stack(loaded, lambda: view_columns(loaded, root, names))
    found = _of_spark(loaded, registry, parameters, root, version)
    if found.functions:
        raise UnsupportedPlanError("a view that others can read cannot call a Python function")
    text = found.readable()
    query = formatting.formatted(text) if formatted else text
    return view_statement(names, columns, query, quoted, replace=replace, lines=formatted)


def _of_spark(
    loaded: Plan,
    registry: Registry | None,
    parameters: Mapping[int, object] | None,
    root: int | None,
    version: str | None,
) -> Statement:
    known = extensions_of(loaded, registry)
    spark = parsed_version(version)

    def made() -> Statement:
        return statement(loaded, known, parameters=parameters, chosen=root, spark=spark)

    return on_deep_stack(loaded, made)


def _dialect(name: str, version: str | None) -> Dialect:
    """Return a dialect by its name.

    Raises:
        UnsupportedPlanError: a version of Spark is given, sqlglot isn't installed, or there is no such dialect.
    """
    if version is not None:
        raise UnsupportedPlanError(f"the version {version} is one of Spark, and the text is for {name}")
    if importlib.util.find_spec("sqlglot") is None:
        raise UnsupportedPlanError(
            f"SQL for {name} needs sqlglot, which is not installed", hint="pip install 'pyspark-substrait[sql]'"
        )
    from pyspark_substrait.engines import dialects

    return dialects.dialect(name)
