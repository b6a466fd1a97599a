"""Plans in the form that an engine takes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark_substrait import engines
from pyspark_substrait.api.loading import PlanSource, loaded_plan, on_deep_stack

if TYPE_CHECKING:
    from pyspark_substrait.documents import Plan
    from pyspark_substrait.extensions.registry import Registry

__all__ = ["for_target"]


def for_target(plan: PlanSource, target: str, *, registry: Registry | None = None) -> Plan:
    """Return a plan in the form that an engine takes: its function names, its style of projections and so on.

    Parts that the engine ignores, like function options, are listed in the result's ``notes``.

    Args:
        plan: the plan, or anything that :func:`load` takes.
        target: the engine: ``datafusion``, ``acero`` or ``duckdb``.
        registry: the extensions; by default those of the specification.

    Raises:
        UnsupportedPlanError: there is no such target, or it has no form for something in the plan.
    """
    loaded, engine = loaded_plan(plan, registry), engines.target(target)
    made = on_deep_stack(loaded, lambda: engines.adapted(loaded, engine))
    return replace(loaded, relations=made.relations, notes=made.notes, removed_fields=engine.removed_fields)
