"""The verbs that look at a plan before it runs. They need no Spark."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyspark_substrait.errors import PlanFormatError, SubstraitError

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark_substrait.analysis.diff import Difference, Record, Shown
    from pyspark_substrait.analysis.report import Report
    from pyspark_substrait.api.loading import PlanSource
    from pyspark_substrait.documents import ExtendedExpression, Plan
    from pyspark_substrait.extensions.registry import Registry
    from pyspark_substrait.model.findings import Finding, Places
    from pyspark_substrait.proto.read.plan import Checked
    from pyspark_substrait.proto.wire import Parsed
    from pyspark_substrait.sql.capabilities import Capabilities
    from pyspark_substrait.text.explain.effects import Touch

__all__ = ["capabilities", "dialect", "diff", "explain", "fixed", "lint", "message_of", "touches", "validate"]


def validate(
    plan: PlanSource, target: str | None = None, *, registry: Registry | None = None, name: str | None = None
) -> Report:
    """All that is wrong or doubtful in a plan or an extended expression.

    Nothing is raised for a plan, however broken it is; a part that can't be understood doesn't hide the rest.

    Args:
        plan: anything that :func:`load` takes.
        target: also what an engine can't run: ``spark``, or the path of a dialect file that says what it can.
        registry: the extensions; by default those that the plan was loaded with, or those of the specification.
        name: what the report calls the plan; by default its path, if it has one.

    Raises:
        UnsupportedPlanError: there is no such target.
        PlanFormatError: the target is a file, but no dialect file.
    """
    from dataclasses import replace

    from pyspark_substrait.analysis.report.report import report
    from pyspark_substrait.codes import Code
    from pyspark_substrait.model.findings import Places, as_finding
    from pyspark_substrait.proto.depth import with_deep_stack

    known = _extensions(plan, registry)
    file = _file(plan)
    called = name or ("plan" if file is None else str(file))
    if target not in (None, "spark"):
        from pyspark_substrait.analysis.validation.dialects import dialect

        dialect(target)
    made = _checked_as_read(plan, target, known)
    if made is not None:
        return replace(made, name=called, target=target, called=_with_room)
    try:
        parsed = message_of(plan, tolerant=True)
    except SubstraitError as error:
        found = [as_finding(error, Code.PROTO_PARSE_FAILED)]
        return report(found, places=Places(), name=called, file=file, target=target)
    try:
        made = with_deep_stack(_checked, parsed, target, known) if parsed.deep else _checked(parsed, target, known)
    except PlanFormatError as error:
        found = [as_finding(error)]
        return report(found, places=Places(), name=called, file=file, target=target)
    room = with_deep_stack if parsed.deep else _with_room
    return replace(made, name=called, file=file, target=target, called=room)


def _extensions(plan: PlanSource, registry: Registry | None) -> Registry:
    """The extensions to check a plan with: those given, or else those that it was read with."""
    from pyspark_substrait.documents import ExtendedExpression, Plan
    from pyspark_substrait.extensions.registry import Registry

    own = plan.registry if isinstance(plan, Plan | ExtendedExpression) else None
    return registry or own or Registry.default()


def message_of(plan: PlanSource, *, tolerant: bool = False) -> Parsed:
    """The current message of a plan or an extended expression, from whatever :func:`load` takes.

    Args:
        plan: the source.
        tolerant: leave out fields that no release has, and JSON values that their fields can't take; the result says
            which.

    Raises:
        PlanFormatError: the source isn't a plan, or has fields that no release has.
        InvalidPlanError: the plan contradicts itself in a way that leaves its upgrade open.
    """
    from dataclasses import replace

    from pyspark_substrait.documents import ExtendedExpression, Plan
    from pyspark_substrait.proto import wire
    from pyspark_substrait.text.lossless.sources import without_text

    source = _written(plan) if isinstance(plan, Plan | ExtendedExpression) else without_text(plan)
    if not tolerant:
        return wire.parse(source)
    faults: wire.Faults = []
    return replace(wire.parse(source, faults), faults=tuple(faults))


def _written(plan: Plan | ExtendedExpression) -> Any:
    """The message of a plan, which one made by hand may not have: a number in it is too large for its field, say."""
    from pyspark_substrait.errors import InvalidPlanError

    try:
        return plan.to_message()
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidPlanError(f"the plan has no protobuf form: {error}") from error


def _with_room(function: Callable[[], Any]) -> Any:
    """What a function that goes through a plan returns, which may need more of the stack than there usually is."""
    from pyspark_substrait.proto.depth import with_deep_stack

    try:
        return function()
    except RecursionError:
        return with_deep_stack(function)


def dialect(*, registry: Registry | None = None) -> dict[str, Any]:
    """What runs on Spark, as a dialect file of the specification: its content, for YAML or JSON.

    Args:
        registry: the extensions; by default those of the specification and those that this package ships.
    """
    from pyspark_substrait.extensions.registry import Registry
    from pyspark_substrait.sql.dialect import dialect as described

    return described(registry or Registry.default())


def capabilities(*, registry: Registry | None = None) -> Capabilities:
    """Which releases are read and written, and what of each extension runs.

    Args:
        registry: the extensions; by default those of the specification and those that this package ships.
    """
    from pyspark_substrait.extensions.registry import Registry
    from pyspark_substrait.model.relations.generate import GENERATE
    from pyspark_substrait.proto.upgrade import CURRENT_VERSION, FIRST_VERSION
    from pyspark_substrait.proto.write_targets import TYPE_URLS
    from pyspark_substrait.sql.capabilities import capabilities as described

    return described(registry or Registry.default(), FIRST_VERSION, CURRENT_VERSION, (GENERATE, *TYPE_URLS))


def _file(plan: PlanSource) -> Path | None:
    """The file that a plan is to be read from, if it is one."""
    from pathlib import Path

    if isinstance(plan, str):
        from pyspark_substrait.text.lossless import text_of

        return None if plan.lstrip()[:1] in ("{", "[", "") or text_of(plan) else Path(plan)
    return Path(plan) if isinstance(plan, os.PathLike) else None


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
    """A plan as text for people: a line per relation, readable expressions, columns with names and types.

    Nothing is raised for a plan, however broken it is: what can't be understood starts with ``!``.

    Args:
        plan: anything that :func:`load` takes, or what :func:`validate` returned for it.
        types: whether to show the types of columns.
        proto_paths: whether to end each relation's line with its path in the plan.
        width: break lines that are longer than this many characters; None leaves them whole.
        findings: whether to show each error and warning below the line that it belongs to.
        target: also what an engine can't run, as for :func:`validate`.
        registry: the extensions; by default those that the plan was loaded with, or those of the specification.
    """
    from pyspark_substrait.analysis.report import Report
    from pyspark_substrait.codes import Level
    from pyspark_substrait.proto.depth import with_deep_stack
    from pyspark_substrait.text.explain import explain as explained

    report = plan if isinstance(plan, Report) else seen(plan, target, registry)
    shown = [found for found in report.findings if findings and found.level is not Level.INFO]

    def text() -> str:
        return explained(
            report.document, width=width, types=types, proto_paths=proto_paths, places=report.places, findings=shown
        )

    try:
        return text()
    except RecursionError:
        return with_deep_stack(text)


def seen(plan: PlanSource, target: str | None, registry: Registry | None) -> Report:
    """The report on a plan; on one that was loaded before, it keeps how that came here, which no message says."""
    from dataclasses import replace

    from pyspark_substrait.documents import ExtendedExpression, Plan

    report = validate(plan, target, registry=registry)
    if not isinstance(plan, Plan | ExtendedExpression):
        return report
    if report.document is None:
        return replace(report, document=plan)
    came = replace(report.document, original_version=plan.original_version, upgrades=plan.upgrades, notes=plan.notes)
    return replace(report, document=came)


def lint(
    plan: PlanSource,
    *,
    registry: Registry | None = None,
    select: Sequence[str | int] = (),
    ignore: Sequence[str | int] = (),
    name: str | None = None,
) -> Report:
    """What could be written better in a plan. Errors come along; what else is wrong, :func:`validate` says.

    Args:
        plan: anything that :func:`load` takes.
        registry: the extensions; by default those that the plan was loaded with, or those of the specification.
        select: only these, by the numbers of their classes or the names of rules, like ``9001``, ``double-negation``.
        ignore: not these.
        name: what the report calls the plan; by default its path, if it has one.

    Raises:
        ValueError: there is no such class or rule.
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
    """A plan with all done that :func:`lint` finds and that is provably the same; and the findings so mended.

    Arguments are those of :func:`lint`.

    Raises:
        SubstraitError: the plan can't be read, or has errors.
        ValueError: there is no such class or rule.
    """
    from dataclasses import replace

    from pyspark_substrait.analysis.lint import linter, merge_findings, selection

    found, mended = _linted(plan, registry, select, ignore, name)
    found.raise_for_errors()
    document, wanted = found.document, selection.chosen(select, ignore)
    if document is None:
        raise SubstraitError("the plan can't be read")
    known = _extensions(plan, registry)
    made = found.called(lambda: linter.fixed(document, known, lambda rule: wanted(rule.code)))
    return merge_findings.without_redundant(made, mended), replace(found, findings=mended)


def lint_page() -> str:
    """The page of the documentation that lists the rules of :func:`lint`."""
    from pyspark_substrait.analysis.lint.page import markdown

    return markdown()


def upgrades(document: Plan | ExtendedExpression, *, name: str = "plan") -> Report:
    """What was rewritten when a plan was loaded, because it is of an earlier release, as findings.

    Args:
        document: what :func:`load` gave.
        name: what the report calls it.
    """
    from pyspark_substrait.analysis.report import Report
    from pyspark_substrait.analysis.validation.notes import upgraded
    from pyspark_substrait.model.findings import Places

    return Report(findings=tuple(upgraded(document.upgrades)), document=document, places=Places(), name=name)


def _linted(
    plan: PlanSource,
    registry: Registry | None,
    select: Sequence[str | int],
    ignore: Sequence[str | int],
    name: str | None,
) -> tuple[Report, tuple[Finding, ...]]:
    """The report of :func:`lint`, and those of its findings that can be mended."""
    from pyspark_substrait.analysis.lint import linter, merge_findings, selection
    from pyspark_substrait.analysis.report.report import report

    wanted = selection.chosen(select, ignore)
    known = _extensions(plan, registry)
    seen = validate(plan, registry=known, name=name)
    document, said = seen.document, list[linter.LintFinding]()
    if document is not None and seen.ok:  # the rules are about plans that are right
        said = seen.called(lambda: linter.lint(document, seen.places, known, lambda rule: wanted(rule.code)))
    findings, mended = merge_findings.together(said, seen, wanted)
    parts = {"places": seen.places, "document": document, "name": seen.name, "file": seen.file}
    made = report(findings, called=seen.called, **parts)  # type: ignore[arg-type]
    return made, tuple(item for item in made if item in mended)


def _checked(parsed: Parsed, target: str | None, registry: Registry) -> Report:
    from pyspark_substrait.analysis.report.report import report
    from pyspark_substrait.analysis.validation import notes, rules
    from pyspark_substrait.analysis.validation.unread import unread, without_results
    from pyspark_substrait.documents import held
    from pyspark_substrait.proto import checks, read

    found = read.checked(parsed.message, registry, upgrades=parsed.notes, original_version=parsed.original_version)
    document = held(found.document, deep=parsed.deep, registry=registry)

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
        findings += _of_the_target(target, document, found.places, registry, findings)
    return report(findings, places=found.places, document=document)


def _checked_as_read(plan: PlanSource, target: str | None, registry: Registry) -> Report | None:
    """The report on a plan that was just loaded, whose message needn't be written and read; None for any other."""
    from dataclasses import replace

    from pyspark_substrait.analysis.report.report import report
    from pyspark_substrait.analysis.validation import notes, rules
    from pyspark_substrait.documents import Plan, source_of
    from pyspark_substrait.extensions.registry import Registry
    from pyspark_substrait.model.findings import Finding
    from pyspark_substrait.model.notes import Note
    from pyspark_substrait.proto import checks
    from pyspark_substrait.proto.upgrade import CURRENT_VERSION

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
        findings += _of_the_target(target, document, source.places, registry, findings)
    return report(findings, places=source.places, document=document)


def _of_the_target(
    target: str, document: Plan | ExtendedExpression, places: Places, registry: Registry, known: Sequence[Finding]
) -> list[Finding]:
    """What an engine can't run, beside what is wrong with the plan itself."""
    from pyspark_substrait.codes import Level
    from pyspark_substrait.proto.depth import with_deep_stack

    errors = [finding for finding in known if finding.level is Level.ERROR]

    def found() -> list[Finding]:
        if target == "spark":
            from pyspark_substrait.sql import checks

            return [*checks.findings(document, places, registry, errors)]
        from pyspark_substrait.analysis.validation import dialect_rules, dialects

        return [*dialect_rules.findings(document, places, dialects.dialect(target))]

    try:
        return found()
    except RecursionError:
        return with_deep_stack(found)


def diff(a: PlanSource, b: PlanSource, *, registry: Registry | None = None) -> Difference:
    """How two plans, or two extended expressions, differ in what they mean.

    Not compared: anchors, the order of declarations, what nothing uses, positions of columns (each is compared by what
    it is), hints, statistics, optimizations that may be ignored, and whether a part stands in place or elsewhere.

    Args:
        a, b: anything that :func:`load` takes.
        registry: the extensions; by default those that the plan was loaded with, or those of the specification.

    Raises:
        PlanFormatError: one of them isn't a plan, or has fields that no release has.
        InvalidPlanError: one of them contradicts the specification, so that what it means can't be told.
    """
    from pyspark_substrait.analysis.diff import compared
    from pyspark_substrait.proto.depth import with_deep_stack

    known = _extensions(a, registry)
    first, second = understood(a, known), understood(b, _extensions(b, registry))
    places = first.places, second.places

    def found() -> Difference:
        return compared(first.document, second.document, places, registry=known, words=_shown, called=_with_room)

    try:
        return found()
    except RecursionError:
        return with_deep_stack(found)


def understood(plan: PlanSource, registry: Registry) -> Checked:
    """A plan with the places of its nodes; one that has errors is refused."""
    from pyspark_substrait.codes import Level
    from pyspark_substrait.proto import read

    parsed = message_of(plan)
    found = read.checked(parsed.message, registry, upgrades=parsed.notes, original_version=parsed.original_version)
    if any(finding.level is Level.ERROR for finding in found.findings):
        of_kind = read.plan if parsed.message.DESCRIPTOR.name == "Plan" else read.extended_expression
        of_kind(parsed.message, registry)
    return found


def _shown(node: Shown, record: Record) -> str:
    """An expression as text, in the record that it sees."""
    from pyspark_substrait.model.expressions import AggregateFunction
    from pyspark_substrait.model.relations import WindowRelFunction
    from pyspark_substrait.text.explain.columns import Column, Scope, labels
    from pyspark_substrait.text.explain.expressions import aggregate_text, expression_text, window_text
    from pyspark_substrait.text.explain.page_state import Marks

    def scope(seen: Record) -> Scope:
        columns = tuple(Column(name=name, type=type) for name, type in zip(seen.names, seen.types, strict=False))
        outer = None if seen.outer is None else scope(seen.outer)
        lateral = seen.outer is not None and seen.outer.lateral
        listed = labels(columns, seen.left)
        return Scope(columns=columns, labels=listed, outer=outer, lateral=lateral, anchor=seen.anchor)

    match node:
        case AggregateFunction():
            return aggregate_text(node, scope(record), Marks())
        case WindowRelFunction():
            return window_text(node, scope(record), Marks())
        case _:
            return expression_text(node, scope(record), Marks())


def touches(plan: PlanSource, *, root: int | None = None) -> tuple[Touch, ...]:
    """What a plan would read and change, in the order in which it would do so, without running it. Needs no session.

    Args:
        plan: the plan, or anything that :func:`load` takes.
        root: which root of the plan, from 0; None for all of them.

    Raises:
        InvalidPlanError: the plan is wrong, or there is no such root.
    """
    from pyspark_substrait.api.loading import loaded_plan, on_deep_stack
    from pyspark_substrait.text.explain import touches as touched

    loaded = loaded_plan(plan, None)
    return on_deep_stack(loaded, lambda: touched(loaded, root))
