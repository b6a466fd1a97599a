"""Plans in the form that an engine takes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark_substrait import engines
from pyspark_substrait.api.bind import TablesToBind, bind
from pyspark_substrait.api.loading import PlanSource, loaded_plan, on_deep_stack
from pyspark_substrait.api.validate import validate
from pyspark_substrait.binding.arrow_variations import as_written, variations
from pyspark_substrait.binding.tables import Names
from pyspark_substrait.errors import UnsupportedPlanError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark_substrait.documents import Plan
    from pyspark_substrait.extensions.registry import Registry
    from pyspark_substrait.model.variations import Variation

__all__ = ["for_target"]


def for_target(
    plan: PlanSource,
    target: str,
    *,
    tables: TablesToBind | None = None,
    rename: Mapping[str, str | Names] | None = None,
    registry: Registry | None = None,
) -> Plan:
    """Return a plan in the form that an engine takes: its function names, its style of projections and so on.

    Parts that the engine ignores, like function options, are listed in the result's ``notes``. So are reads of files
    for an engine that takes tables by name only: each becomes a read of a table with the name of its file.

    Args:
        plan: the plan, or anything that :func:`load` takes.
        target: the engine: ``datafusion``, ``acero``, ``duckdb``, ``isthmus`` or ``substrait-spark``.
        tables: the tables that the plan will meet, such as the engine's session; it is fitted to them (:func:`bind`).
        rename: the names of tables there by the names that the plan has for them.
        registry: the extensions; by default those of the specification.

    Raises:
        UnsupportedPlanError: there is no such target, or it has no form for something in the plan.
        TableError: the plan doesn't fit the tables.

    Examples:
        >>> from pyspark_substrait.builder import call, read
        >>> plan = read("t", {"x": "i64"}).select(y=lambda t: call("add", t.x, 1, overflow="ERROR")).to_plan()
        >>> made = substrait.for_target(plan, "datafusion")
        >>> print(made.notes[0])
        target-option at plan: add:i64_i64 with overflow=ERROR → DataFusion 55 does not guarantee this behaviour
    """
    engine = engines.target(target)
    if tables is None and rename:
        raise UnsupportedPlanError("tables can be renamed only where they are given", hint="Pass tables=…")
    if tables is None or not engine.files:
        loaded = loaded_plan(plan, registry)
        named = loaded if engine.files else on_deep_stack(loaded, lambda: engines.with_named_files(loaded, engine))
        if tables is None or named is not loaded:  # else as it came: its producer's habits count
            plan = named
    known: dict[str, dict[str, Variation]] = {}
    if tables is None:
        fitted = loaded_plan(plan, registry)
    elif engine.variations:
        fitted, known = bind(plan, as_written(tables), rename=rename, registry=registry), variations(tables)
    else:
        fitted = bind(plan, tables, rename=rename, registry=registry)
    try:
        made = on_deep_stack(fitted, lambda: engines.adapted(fitted, engine))
    except UnsupportedPlanError as error:
        raise (error if error.path else _located(error, fitted, engine)) from None
    return replace(
        fitted,
        relations=made.relations,
        notes=made.notes,
        removed_fields=engine.removed_fields,
        variations=known if engine.variations else None,
    )


def _located(error: UnsupportedPlanError, plan: Plan, engine: engines.Target) -> UnsupportedPlanError:
    """Return an error with its place in the plan. Only then the paths of all parts are found, by reading it again."""
    report = validate(plan)
    document = report.document
    if isinstance(document, type(plan)):
        try:
            on_deep_stack(document, lambda: engines.adapted(document, engine, report.places))
        except UnsupportedPlanError as found:
            return found if found.message == error.message else error
    return error
