"""Validation of plans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark_substrait.analysis.report import Report
from pyspark_substrait.analysis.report.report import report
from pyspark_substrait.analysis.validation import notes, rules
from pyspark_substrait.analysis.validation.unread import unread, without_results
from pyspark_substrait.api.loading import PlanSource, extensions_of, file_of, message_of
from pyspark_substrait.codes import Code, Level
from pyspark_substrait.documents import ExtendedExpression, Plan, as_document, source_of
from pyspark_substrait.errors import PlanFormatError, SubstraitError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.collector import paused_collection
from pyspark_substrait.model.deep_stack import with_deep_stack, with_enough_stack
from pyspark_substrait.model.findings import Finding, Places, as_finding
from pyspark_substrait.model.notes import Note
from pyspark_substrait.model.plan import CURRENT_VERSION
from pyspark_substrait.proto import checks, read
from pyspark_substrait.sql.spark_version import SparkVersion, parsed_version

if TYPE_CHECKING:
    from pyspark_substrait.proto.wire import Parsed

__all__ = ["upgrades", "validate", "validation_report"]


def validate(
    plan: PlanSource,
    target: str | None = None,
    *,
    registry: Registry | None = None,
    name: str | None = None,
    version: str | None = None,
) -> Report:
    """Report everything that is wrong or doubtful in a plan or an extended expression.

    No error is raised, however broken the plan is; a part that can't be understood doesn't hide the rest.

    Args:
        plan: anything that :func:`load` takes.
        target: also report what an engine can't run: ``spark``, or the path of a dialect file.
        registry: the extensions; by default those that the plan was loaded with, or those of the specification.
        name: the name of the plan in the report; by default its path, if it has one.
        version: the version of the target ``spark``, ``3.5`` to the newest; the newest when None.

    Raises:
        SubstraitError: there is no such version, or the target has none.
        UnsupportedPlanError: there is no such target.
        PlanFormatError: the target is a file, but not a dialect file.

    Examples:
        >>> report = substrait.validate(substrait.samples.plan_2023(), target="spark", name="plan.2023.json")
        >>> report.ok
        True
        >>> report
        <Report of plan.2023.json: no errors, 8 warnings, 11 info>
    """
    known = extensions_of(plan, registry)
    file = file_of(plan)
    called = name or ("plan" if file is None else str(file))
    if version is not None and target != "spark":
        raise SubstraitError(f"version={version!r} needs the target spark", hint='validate(plan, "spark", version=…)')
    spark = parsed_version(version)
    if target not in (None, "spark"):
        from pyspark_substrait.analysis.validation.dialects import dialect  # YAML, which only dialects need

        dialect(target)
    made = _checked_as_read(plan, target, known, spark)
    if made is not None:
        return replace(made, name=called, target=target, called=with_enough_stack)
    try:
        parsed = message_of(plan, tolerant=True)
    except SubstraitError as error:
        found = [as_finding(error, Code.PROTO_PARSE_FAILED)]
        return report(found, places=Places(), name=called, file=file, target=target)
    try:
        with paused_collection(parsed.content):
            made = (
                with_deep_stack(_checked, parsed, target, known, spark)
                if parsed.deep
                else _checked(parsed, target, known, spark)
            )
    except PlanFormatError as error:
        found = [as_finding(error)]
        return report(found, places=Places(), name=called, file=file, target=target)
    room = with_deep_stack if parsed.deep else with_enough_stack
    return replace(made, name=called, file=file, target=target, called=room)


def validation_report(plan: PlanSource, target: str | None, registry: Registry | None) -> Report:
    """Return the report on a plan. A loaded plan keeps its upgrades and notes, which its message doesn't have."""
    report = validate(plan, target, registry=registry)
    if not isinstance(plan, Plan | ExtendedExpression):
        return report
    if report.document is None:
        return replace(report, document=plan)
    came = replace(report.document, original_version=plan.original_version, upgrades=plan.upgrades, notes=plan.notes)
    return replace(report, document=came)


def upgrades(document: Plan | ExtendedExpression, *, name: str = "plan") -> Report:
    """Return the upgrades of a loaded plan of an earlier release, as findings.

    Args:
        document: the result of :func:`load`.
        name: the name of the plan in the report.
    """
    return Report(findings=tuple(notes.upgraded(document.upgrades)), document=document, places=Places(), name=name)


def _checked(parsed: Parsed, target: str | None, registry: Registry, spark: SparkVersion) -> Report:
    found = read.checked(parsed.message, registry, upgrades=parsed.notes, original_version=parsed.original_version)
    document = as_document(found.document, deep=parsed.deep, registry=registry)

    def of_the_plan() -> Iterator[Finding]:
        yield from notes.upgraded(document.upgrades)
        yield from notes.assumed(document.notes)
        yield from checks.findings(
            parsed.message, document, found.places, registry, stated=parsed.stated, upgrades=parsed.notes
        )
        yield from found.findings
        yield from rules.findings(document, found.places, registry)

    findings = [*unread(parsed.faults), *without_results([*of_the_plan()], parsed.faults)]
    if target is not None:
        findings += _of_the_target(target, document, found.places, registry, findings, spark)
    return report(findings, places=found.places, document=document)


def _checked_as_read(plan: PlanSource, target: str | None, registry: Registry, spark: SparkVersion) -> Report | None:
    """Return the report on a plan that was just loaded, without writing and reading its message; None for any other."""
    source = source_of(plan) if isinstance(plan, Plan) else None
    if source is None or not isinstance(plan, Plan) or registry is not (plan.registry or Registry.default()):
        return None
    version = ".".join(map(str, CURRENT_VERSION))
    document = replace(plan, original_version=version, upgrades=(), notes=(), registry=registry)
    try:
        of_the_message = checks.of_plain(source.content, document, source.places)
        if of_the_message is None:
            return None
        noted = tuple(item for item in source.again if isinstance(item, Note))
        document = replace(document, notes=noted)
        findings = [
            *notes.assumed(noted),
            *of_the_message,
            *(item for item in source.again if isinstance(item, Finding)),
            *rules.findings(document, source.places, registry),
        ]
    except RecursionError:
        return None
    if target is not None:
        findings += _of_the_target(target, document, source.places, registry, findings, spark)
    return report(findings, places=source.places, document=document)


def _of_the_target(
    target: str,
    document: Plan | ExtendedExpression,
    places: Places,
    registry: Registry,
    known: Sequence[Finding],
    spark: SparkVersion,
) -> list[Finding]:
    """Return findings for everything that an engine can't run."""
    errors = [finding for finding in known if finding.level is Level.ERROR]

    def found() -> list[Finding]:
        if target == "spark":
            from pyspark_substrait.sql.unsupported_parts import findings  # the compiler, which only this target needs

            return [*findings(document, places, registry, errors, spark)]
        from pyspark_substrait.analysis.validation import dialect_rules, dialects

        return [*dialect_rules.findings(document, places, dialects.dialect(target))]

    return with_enough_stack(found)
