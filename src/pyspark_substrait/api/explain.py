"""A plan as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark_substrait.analysis.report import Report
from pyspark_substrait.api.loading import PlanSource, loaded_plan, on_deep_stack
from pyspark_substrait.api.validate import validation_report
from pyspark_substrait.codes import Level
from pyspark_substrait.model.deep_stack import with_enough_stack
from pyspark_substrait.text.explain import explain as explained
from pyspark_substrait.text.explain import touches as touched

if TYPE_CHECKING:
    from pyspark_substrait.extensions.registry import Registry
    from pyspark_substrait.text.explain.effects import Touch

__all__ = ["explain", "touches"]


def explain(
    plan: PlanSource | Report,
    *,
    types: bool = True,
    proto_paths: bool = False,
    width: int | None = None,
    findings: bool = True,
    target: str | None = None,
    registry: Registry | None = None,
) -> str:
    """Return a plan as text for people: a line per relation, readable expressions, columns with names and types.

    No error is raised, however broken the plan is: parts that can't be understood start with ``!``.

    Args:
        plan: anything that :func:`load` takes, or the report of :func:`validate` on it.
        types: whether to show the types of columns.
        proto_paths: whether to end each relation's line with its path in the plan.
        width: break lines that are longer than this many characters; None leaves them whole.
        findings: whether to show each error and warning below the line that it belongs to.
        target: also report what an engine can't run, as for :func:`validate`.
        registry: the extensions; by default those that the plan was loaded with, or those of the specification.

    Examples:
        >>> from pyspark_substrait.builder import read
        >>> plan = read("orders", {"id": "i64", "price": "fp64?"}).filter(lambda o: o.price > 10).to_plan()
        >>> print(substrait.explain(plan))
        Plan (0.108.0 by pyspark-substrait)
        Root[id: i64, price: fp64?]
          Filter[price > 10.0 => *]
            Read[orders => id: i64, price: fp64?]
    """
    report = plan if isinstance(plan, Report) else validation_report(plan, target, registry)
    shown = [found for found in report.findings if findings and found.level is not Level.INFO]

    def text() -> str:
        return explained(
            report.document,
            width=width,
            types=types,
            proto_paths=proto_paths,
            places=report.places,
            findings=shown,
            name="" if report.file is None else str(report.file),
        )

    return with_enough_stack(text)


def touches(plan: PlanSource, *, root: int | None = None) -> tuple[Touch, ...]:
    """Return what a plan would read and change, in the order of execution, without running it. Needs no session.

    Args:
        plan: the plan, or anything that :func:`load` takes.
        root: which root of the plan, from 0; None for all of them.

    Raises:
        InvalidPlanError: the plan is wrong, or there is no such root.

    Examples:
        >>> for touch in substrait.touches(substrait.samples.plan()):
        ...     print(touch)
        ...
        read the table orders
        read the table products
    """
    loaded = loaded_plan(plan, None)
    return on_deep_stack(loaded, lambda: touched(loaded, root))
