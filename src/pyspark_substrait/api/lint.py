"""Lint: suggestions for plans that could be written better, and their fixes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark_substrait.analysis.lint import linter, merge_findings, selection
from pyspark_substrait.analysis.report import Report
from pyspark_substrait.analysis.report.report import report
from pyspark_substrait.api.loading import PlanSource, extensions_of
from pyspark_substrait.api.validate import validate
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.model.expressions import ScalarFunction
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.sql.functions.regexp import judging

if TYPE_CHECKING:
    from pyspark_substrait.documents import ExtendedExpression, Plan
    from pyspark_substrait.extensions.registry import Registry
    from pyspark_substrait.model.findings import Finding

__all__ = ["fixed", "lint"]


def lint(
    plan: PlanSource,
    *,
    registry: Registry | None = None,
    select: Sequence[str | int] = (),
    ignore: Sequence[str | int] = (),
    name: str | None = None,
) -> Report:
    """Check a plan for parts that could be written better. Errors are included; for the rest, use :func:`validate`.

    Args:
        plan: anything that :func:`load` takes.
        registry: the extensions; by default those that the plan was loaded with, or those of the specification.
        select: only these, by the numbers of their classes or the names of rules, like ``9001``, ``double-negation``.
        ignore: classes or rules to leave out.
        name: the name of the plan in the report; by default its path, if it has one.

    Raises:
        ValueError: there is no such class or rule.

    Examples:
        >>> for finding in substrait.lint(substrait.samples.plan()):
        ...     print(finding.code, finding.what)
        ...
        9053 of orders, order_date is read and never used
        9053 of products, details is read and never used
    """
    return _linted(plan, registry, select, ignore, name)[0]


def fixed(
    plan: PlanSource,
    *,
    registry: Registry | None = None,
    select: Sequence[str | int] = (),
    ignore: Sequence[str | int] = (),
    name: str | None = None,
) -> tuple[Plan | ExtendedExpression, Report]:
    """Apply the safe fixes of :func:`lint` to a plan; return the plan and the findings that were fixed.

    Arguments are those of :func:`lint`.

    Raises:
        SubstraitError: the plan can't be read, or has errors.
        ValueError: there is no such class or rule.

    Examples:
        >>> from pyspark_substrait.builder import read
        >>> plan = read("orders", {"open": "boolean?"}).filter(lambda o: ~~o.open).to_plan()
        >>> better, findings = substrait.fixed(plan)
        >>> print(substrait.explain(better))
        Plan (0.108.0 by pyspark-substrait)
        Root[open: boolean?]
          Filter[open => *]
            Read[orders => open: boolean?]
    """
    found, fixable = _linted(plan, registry, select, ignore, name)
    found.raise_for_errors()
    document, wanted = found.document, selection.chosen(select, ignore)
    if document is None:
        raise SubstraitError("the plan cannot be read")
    known = extensions_of(plan, registry)
    made = found.called(lambda: linter.fixed(document, known, _slow_patterns, lambda rule: wanted(rule.code)))
    return merge_findings.without_redundant(made, fixable), replace(found, findings=fixable)


def _linted(
    plan: PlanSource,
    registry: Registry | None,
    select: Sequence[str | int],
    ignore: Sequence[str | int],
    name: str | None,
) -> tuple[Report, tuple[Finding, ...]]:
    """Return the report of :func:`lint`, and those of its findings that can be fixed."""
    wanted = selection.chosen(select, ignore)
    known = extensions_of(plan, registry)
    seen = validate(plan, registry=known, name=name)
    document, remarks = seen.document, list[linter.LintFinding]()
    if document is not None and seen.ok:  # the rules are for valid plans
        remarks = seen.called(
            lambda: linter.lint(document, seen.places, known, _slow_patterns, lambda rule: wanted(rule.code))
        )
    findings, fixable = merge_findings.merged_findings(remarks, seen, wanted)
    parts = {"places": seen.places, "document": document, "name": seen.name, "file": seen.file}
    made = report(findings, called=seen.called, **parts)  # type: ignore[arg-type]
    return made, tuple(item for item in made if item in fixable)


def _slow_patterns(call: ScalarFunction) -> Iterator[tuple[str, str]]:
    """Yield the literal patterns in a call that take very long on Spark for some texts, each with the reason."""
    for found in judging.slow_patterns(call, lambda item: item if isinstance(item, Literal) else None):
        if found.sure and found.text is not None:
            yield found.text, found.reason
