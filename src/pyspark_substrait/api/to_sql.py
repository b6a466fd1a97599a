"""The SQL statement of a plan, for Spark or another engine."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping

from pyspark_substrait.api.loading import PlanSource, extensions_of, loaded_plan, on_deep_stack
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.sql import formatting
from pyspark_substrait.sql.compiler.statement import Statement, statement
from pyspark_substrait.sql.spark_version import parsed_version

__all__ = ["to_sql"]


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
        dialect: the engine: ``spark``, ``duckdb``, ``postgres``, ``datafusion`` or ``sqlite``. All but Spark need the
            extra ``sql``.
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
    if dialect != "spark":
        return _of_dialect(plan, dialect, parameters, registry, root, version, formatted)
    loaded = loaded_plan(plan, registry)
    known = extensions_of(loaded, registry)
    spark = parsed_version(version)

    def made() -> Statement:
        return statement(loaded, known, parameters=parameters, chosen=root, spark=spark)

    text = on_deep_stack(loaded, made).readable()
    return formatting.formatted(text) if formatted else text


def _of_dialect(
    plan: PlanSource,
    name: str,
    parameters: Mapping[int, object] | None,
    registry: Registry | None,
    root: int | None,
    version: str | None,
    formatted: bool,
) -> str:
    if version is not None:
        raise UnsupportedPlanError(f"the version {version} is one of Spark, and the text is for {name}")
    if importlib.util.find_spec("sqlglot") is None:
        raise UnsupportedPlanError(
            f"SQL for {name} needs sqlglot, which is not installed", hint="pip install 'pyspark-substrait[sql]'"
        )
    from pyspark_substrait.engines import dialects

    chosen = dialects.dialect(name)
    loaded = loaded_plan(plan, registry)
    return on_deep_stack(
        loaded,
        lambda: dialects.statement(loaded, chosen, parameters=parameters, chosen=root, formatted=formatted),
    )
