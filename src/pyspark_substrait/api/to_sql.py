"""The Spark SQL statement of a plan."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark_substrait.api.loading import PlanSource, extensions_of, loaded_plan, on_deep_stack
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.sql.compiler.statement import statement

__all__ = ["to_sql"]


def to_sql(
    plan: PlanSource,
    *,
    parameters: Mapping[int, object] | None = None,
    registry: Registry | None = None,
    root: int | None = None,
) -> str:
    """Return the Spark SQL statement for a plan, over tables of the session's catalog. Needs no session.

    Arguments are those of :func:`from_substrait`.

    Raises:
        ParameterError: a dynamic parameter has no value, or one that isn't of its type.
        InvalidPlanError: the plan is wrong.
        UnsupportedPlanError: something in it can't run on Spark with exactly its meaning.
    """
    loaded = loaded_plan(plan, registry)
    known = extensions_of(loaded, registry)
    return on_deep_stack(loaded, lambda: statement(loaded, known, parameters=parameters, chosen=root)).readable()
