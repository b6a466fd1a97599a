"""The verbs that look at a plan before it runs. They need no Spark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyspark_substrait.errors import SubstraitError

if TYPE_CHECKING:
    from pyspark_substrait import PlanSource
    from pyspark_substrait.extensions.registry import Registry
    from pyspark_substrait.model.findings import Finding
    from pyspark_substrait.proto.wire import Parsed
    from pyspark_substrait.reporting import Report

__all__ = ["validate"]


def validate(plan: PlanSource, target: str | None = None, *, registry: Registry | None = None) -> Report:
    """All that is wrong or doubtful in a plan or an extended expression.

    Nothing is raised for a plan, however broken it is; a part that can't be understood doesn't hide the rest.

    Args:
        plan: anything that :func:`load` takes.
        target: also what an engine can't run: ``spark``.
        registry: the extensions; by default those of the specification.
    """
    from pyspark_substrait.codes import Code
    from pyspark_substrait.documents import ExtendedExpression, Plan
    from pyspark_substrait.extensions.registry import Registry
    from pyspark_substrait.model.findings import Places, as_finding
    from pyspark_substrait.proto import wire
    from pyspark_substrait.proto.depth import with_deep_stack
    from pyspark_substrait.reporting.report import report

    known = registry or Registry.default()
    try:
        parsed = wire.parse(plan.to_message() if isinstance(plan, Plan | ExtendedExpression) else plan)
    except SubstraitError as error:
        return report([as_finding(error, Code.PROTO_PARSE_FAILED)], places=Places())
    if parsed.deep:
        return with_deep_stack(_checked, parsed, target, known)
    return _checked(parsed, target, known)


def _checked(parsed: Parsed, target: str | None, registry: Registry) -> Report:
    from pyspark_substrait.documents import held
    from pyspark_substrait.proto import checks, read
    from pyspark_substrait.reporting.report import report
    from pyspark_substrait.validation import notes, rules

    found = read.checked(parsed.message, registry, upgrades=parsed.notes, original_version=parsed.original_version)
    document = held(found.document, deep=parsed.deep)

    def findings() -> Iterator[Finding]:
        yield from notes.upgraded(document.upgrades)
        yield from notes.assumed(document.notes)
        yield from checks.findings(parsed.message)
        yield from found.findings
        yield from rules.findings(document, found.places, registry)

    return report(findings(), places=found.places, document=document)
