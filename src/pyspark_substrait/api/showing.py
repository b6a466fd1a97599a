"""The verbs that let people look: at a plan, at where its columns come from, at what happened when it ran."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pyspark_substrait.analysis.lineage import Lineage
    from pyspark_substrait.analysis.profile import Profile
    from pyspark_substrait.analysis.report import Report
    from pyspark_substrait.api.loading import PlanSource
    from pyspark_substrait.documents import Plan
    from pyspark_substrait.extensions.registry import Registry
    from pyspark_substrait.render.view import Sheet, View
    from pyspark_substrait.spark.tables import Given

__all__ = ["lineage", "profile", "view"]


def view(
    plan: PlanSource | Report | Profile,
    other: PlanSource | Report | None = None,
    *,
    profile: Profile | None = None,
    target: str | None = None,
    registry: Registry | None = None,
    name: str | None = None,
) -> View:
    """A plan to look at: a page for the browser, or a drawing. Two plans stand beside each other.

    Nothing is raised for a plan, however broken it is: what can be understood of it is shown, with what is wrong.

    Args:
        plan: anything that :func:`load` takes, what :func:`validate` returned for it, or what :func:`profile` did.
        other: another plan, to be compared with.
        profile: what happened when ``plan`` ran.
        target: also what an engine can't run, as for :func:`validate`.
        registry: the extensions; by default those that the plan was loaded with, or those of the specification.
        name: what the page calls the plan; by default its file, if it has one.

    Raises:
        UnsupportedPlanError: there is no such target.
        PlanFormatError: the target is a file, but no dialect file.
    """
    from pyspark_substrait.analysis.profile import Profile
    from pyspark_substrait.render.view import View

    source: PlanSource | Report
    if isinstance(plan, Profile):
        source, profile = cast("Plan", plan.document), plan
    else:
        source = plan
    sheet = _sheet(source, target, registry, name, profile)
    if other is None:
        return View(sheets=(sheet,))
    return _beside((source, other), (sheet, _sheet(other, target, registry, None, None)), registry)


def _sheet(
    plan: PlanSource | Report,
    target: str | None,
    registry: Registry | None,
    name: str | None,
    profile: Profile | None,
) -> Sheet:
    """A plan with all that a page shows of it."""
    from pyspark_substrait.analysis.lineage import lineage as found
    from pyspark_substrait.analysis.report import Report
    from pyspark_substrait.analysis.report.facts import about
    from pyspark_substrait.api.checking import seen
    from pyspark_substrait.render.view import Sheet
    from pyspark_substrait.text.explain.graph import graph

    report = plan if isinstance(plan, Report) else seen(plan, target, registry)
    document, file = cast("Plan | None", report.document), report.file
    written = document if isinstance(plan, Report) else plan
    called = report.name if file is None or report.name != str(file) else file.name

    def made() -> Sheet:
        drawn = graph(document, places=report.places, findings=report.listed)
        return Sheet(
            name=name or called,
            about=about(report),
            graph=drawn,
            lineage=None if document is None else found(document),
            parts=_json_parts(written, [node.path for node in drawn.nodes]),
            profile=profile,
        )

    sheet: Sheet = report.called(made)
    return sheet


def _beside(
    plans: tuple[PlanSource | Report, PlanSource | Report], sheets: tuple[Sheet, Sheet], registry: Registry | None
) -> View:
    """Two plans beside each other, with how they differ; also where that can't be told."""
    from dataclasses import replace

    from pyspark_substrait.analysis.report import Report
    from pyspark_substrait.api.checking import diff
    from pyspark_substrait.render.comparison import comparison
    from pyspark_substrait.render.view import View

    if sheets[0].name == sheets[1].name:
        sheets = replace(sheets[0], name=f"first {sheets[0].name}"), replace(sheets[1], name=f"second {sheets[1].name}")
    sources: list[Any] = [plan.document if isinstance(plan, Report) else plan for plan in plans]
    mistakes = [_mistake(source, registry) for source in sources]
    obstacle = "; ".join(f"{sheet.name}: {text}" for sheet, text in zip(sheets, mistakes, strict=True) if text)
    difference = None if obstacle else diff(sources[0], sources[1], registry=registry)
    return View(sheets=sheets, comparison=comparison(sheets[0].graph, sheets[1].graph, difference, obstacle=obstacle))


def _mistake(plan: PlanSource | None, registry: Registry | None) -> str:
    """Why what a plan means can't be told; empty when it can."""
    from pyspark_substrait.api.checking import message_of
    from pyspark_substrait.api.loading import load
    from pyspark_substrait.errors import SubstraitError

    if plan is None:
        return "it isn't a plan"
    try:
        load(message_of(plan).message, registry=registry or getattr(plan, "registry", None))
    except SubstraitError as error:
        return str(error)
    return ""


def _json_parts(plan: PlanSource | None, paths: Sequence[str | None]) -> dict[str, str]:
    """The JSON of the messages at some paths, as far as the plan has any."""
    from pyspark_substrait.api.checking import message_of
    from pyspark_substrait.errors import SubstraitError
    from pyspark_substrait.proto.json_parts import json_parts

    if plan is None:
        return {}
    try:
        message = message_of(plan, tolerant=True).message
    except (SubstraitError, TypeError):  # a broken plan may have no message of its own
        return {}
    return json_parts(message, [path for path in paths if path])


def lineage(plan: PlanSource, *, registry: Registry | None = None) -> Lineage:
    """Which columns of a plan are made of which: from the tables, through every relation, to the result.

    Printed, it has a line for each column of the result. See :class:`pyspark_substrait.analysis.lineage.Lineage`.

    Args:
        plan: the plan or the extended expression, or anything that :func:`load` takes.
        registry: the extensions; by default those of the specification.

    Raises:
        PlanFormatError: the source isn't a plan, or has fields that no release has.
        InvalidPlanError: the plan contradicts the specification.
    """
    from pyspark_substrait.analysis.lineage import lineage as found
    from pyspark_substrait.api.loading import load

    return found(load(plan, registry=registry))


def profile(
    plan: PlanSource,
    spark: SparkSession | None = None,
    *,
    tables: Given | None = None,
    parameters: Mapping[int, object] | None = None,
    allowed_paths: Sequence[str | os.PathLike[str]] = (),
    registry: Registry | None = None,
    root: int | None = None,
    limit: int | None = None,
    exact: bool = False,
    progress: bool | None = None,
    refuse_slow_patterns: bool = False,
) -> Profile:
    """Run a plan once, and tell for each relation how many rows went in and out, what was read, and how long it took.

    Printed, it is the page of :func:`explain` with the figures beside the relations. Each figure says whether it was
    measured, follows from others, or is an estimate; what isn't known is None. The result is that of :func:`run_query`.

    Args:
        plan: the plan, or anything that :func:`load` takes.
        spark: a classic or Spark Connect session; by default the running one, or an embedded one that is started.
        exact: whether to count every relation, also where Spark would run several as one. Conditions then stay above
            the relations that they would have been moved into, so the plan may run much longer.

    Other arguments are those of :func:`run_query`.

    Raises:
        UnsupportedPlanError: the plan changes tables, or can't run on Spark.
        PlanFormatError, InvalidPlanError, TableError, ParameterError, ExecutionError: as for :func:`run_query`.
    """
    from pyspark_substrait.api.checking import understood
    from pyspark_substrait.documents import Plan, held
    from pyspark_substrait.errors import InvalidPlanError
    from pyspark_substrait.extensions.registry import Registry
    from pyspark_substrait.proto.depth import with_deep_stack
    from pyspark_substrait.spark.profiling.running import profile as profiled
    from pyspark_substrait.spark.progress import interruptible
    from pyspark_substrait.spark.threads import as_here

    own = registry or (plan.registry if isinstance(plan, Plan) else None)
    known = own or Registry.default()

    def made(deep: bool = False) -> Profile:
        found = understood(plan, known)
        document = held(found.document, deep=deep, registry=own)
        if not isinstance(document, Plan):
            raise InvalidPlanError("this is an extended expression, which has no relations to profile")
        return profiled(
            document,
            found.places,
            spark,
            registry=known,
            tables=tables,
            parameters=parameters,
            allowed_paths=allowed_paths,
            limit=limit,
            chosen=root,
            exact=exact,
            progress=progress,
            refuse_slow_patterns=refuse_slow_patterns,
        )

    with interruptible():
        try:
            return made()
        except RecursionError:
            return with_deep_stack(as_here(spark, lambda: made(True)))
