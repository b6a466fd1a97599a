"""A plan to look at: a page for the browser, or a drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from pyspark_substrait.analysis.lineage import lineage as found
from pyspark_substrait.analysis.profile import Profile
from pyspark_substrait.analysis.report import Report
from pyspark_substrait.analysis.report.facts import plan_summary
from pyspark_substrait.api.diff import diff
from pyspark_substrait.api.loading import PlanSource, loaded, message_of
from pyspark_substrait.api.validate import validation_report
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.proto.json_parts import json_parts
from pyspark_substrait.render.comparison import comparison
from pyspark_substrait.render.view import Sheet, View
from pyspark_substrait.text.explain.graph import graph

if TYPE_CHECKING:
    from pyspark_substrait.documents import Plan
    from pyspark_substrait.extensions.registry import Registry

__all__ = ["view"]


def view(
    plan: PlanSource | Report | Profile,
    other: PlanSource | Report | None = None,
    *,
    profile: Profile | None = None,
    target: str | None = None,
    registry: Registry | None = None,
    name: str | None = None,
) -> View:
    """Return a view of a plan: a page for the browser, or a drawing. Two plans are shown side by side.

    No error is raised, however broken the plan is: the understood parts are shown, with the findings.

    Args:
        plan: anything that :func:`load` takes, or the report of :func:`validate`, or the profile of :func:`profile`.
        other: another plan, to compare it with.
        profile: the figures of a run of ``plan``.
        target: also report what an engine can't run, as for :func:`validate`.
        registry: the extensions; by default those that the plan was loaded with, or those of the specification.
        name: the name of the plan on the page; by default its file, if it has one.

    Raises:
        UnsupportedPlanError: there is no such target.
        PlanFormatError: the target is a file, but not a dialect file.

    Examples:
        >>> page = substrait.view(substrait.samples.plan()).to_html()
        >>> page[:15]
        '<!DOCTYPE html>'
    """
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
    """Return a plan with everything that a page shows of it."""
    report = plan if isinstance(plan, Report) else validation_report(plan, target, registry)
    document, file = cast("Plan | None", report.document), report.file
    written = document if isinstance(plan, Report) else plan
    called = report.name if file is None or report.name != str(file) else file.name

    def made() -> Sheet:
        drawn = graph(document, places=report.places, findings=report.listed)
        return Sheet(
            name=name or called,
            about=plan_summary(report),
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
    """Return two plans side by side, with their differences, or with the reason why these aren't known."""
    if sheets[0].name == sheets[1].name:
        sheets = replace(sheets[0], name=f"first {sheets[0].name}"), replace(sheets[1], name=f"second {sheets[1].name}")
    sources: list[Any] = [plan.document if isinstance(plan, Report) else plan for plan in plans]
    mistakes = [_mistake(source, registry) for source in sources]
    obstacle = "; ".join(f"{sheet.name}: {text}" for sheet, text in zip(sheets, mistakes, strict=True) if text)
    difference = None if obstacle else diff(sources[0], sources[1], registry=registry)
    return View(sheets=sheets, comparison=comparison(sheets[0].graph, sheets[1].graph, difference, obstacle=obstacle))


def _mistake(plan: PlanSource | None, registry: Registry | None) -> str:
    """Return the reason why the meaning of a plan isn't known; empty if it is."""
    if plan is None:
        return "it is not a plan"
    try:
        loaded(message_of(plan).message, registry=registry or getattr(plan, "registry", None))
    except SubstraitError as error:
        return str(error)
    return ""


def _json_parts(plan: PlanSource | None, paths: Sequence[str | None]) -> dict[str, str]:
    """Return the JSON of the messages at some paths, as far as the plan has them."""
    if plan is None:
        return {}
    try:
        message = message_of(plan, tolerant=True).message
    except (SubstraitError, TypeError):  # a broken plan may have no message
        return {}
    return json_parts(message, [path for path in paths if path])
