"""The Spark SQL statement of a plan."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark_substrait.api.loading import PlanSource, extensions_of, loaded_plan, on_deep_stack
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
    formatted: bool = True,
) -> str:
    """Return the Spark SQL statement for a plan, over tables of the session's catalog. Needs no session.

    Args:
        plan, parameters, registry, root: as in :func:`from_substrait`.
        version: the version of Spark that the text is for, ``3.5`` to the newest; the newest when None.
        formatted: whether the statement is indented, with a clause a line; otherwise it is one line. Only the white
            space differs.

    Raises:
        ParameterError: a dynamic parameter has no value, or one that isn't of its type.
        InvalidPlanError: the plan is wrong.
        UnsupportedPlanError: something in it can't run on that Spark with exactly its meaning.
        SubstraitError: there is no such version.

    Examples:
        >>> from pyspark_substrait.builder import read
        >>> plan = read("orders", {"id": "i64", "price": "fp64?"}).filter(lambda o: o.price > 10).to_plan()
        >>> print(substrait.to_sql(plan))
        SELECT c1 AS `id`, c2 AS `price`
        FROM (SELECT `id` AS c1, `price` AS c2 FROM `orders`)
        WHERE (c2 > 10.0D)
    """
    loaded = loaded_plan(plan, registry)
    known = extensions_of(loaded, registry)
    spark = parsed_version(version)

    def made() -> Statement:
        return statement(loaded, known, parameters=parameters, chosen=root, spark=spark)

    text = on_deep_stack(loaded, made).readable()
    return formatting.formatted(text) if formatted else text
