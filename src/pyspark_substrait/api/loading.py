"""Loading plans, the first step of every other function."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

from google.protobuf.message import Message

from pyspark_substrait.api.loaded_plans import kept_plan
from pyspark_substrait.codes import Level
from pyspark_substrait.documents import ExtendedExpression, Plan, Source, as_document, keep_source
from pyspark_substrait.errors import InvalidPlanError, SubstraitError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.collector import paused_collection
from pyspark_substrait.model.deep_stack import with_deep_stack
from pyspark_substrait.model.limits import current_limits
from pyspark_substrait.proto import read, wire
from pyspark_substrait.text.lossless import text_of
from pyspark_substrait.text.lossless.sources import without_text

if TYPE_CHECKING:
    from pyspark_substrait.binding import Tables
    from pyspark_substrait.proto.read.plan import Checked
    from pyspark_substrait.proto.wire import Parsed

__all__ = [
    "PlanSource",
    "bound_message",
    "extensions_of",
    "file_of",
    "load",
    "load_expressions",
    "loaded",
    "loaded_plan",
    "message_of",
    "on_deep_stack",
    "understood",
]

_Written: TypeAlias = bytes | str | os.PathLike[str] | Mapping[str, Any] | Message
#: The sources that :func:`load` takes.
PlanSource: TypeAlias = _Written | Plan | ExtendedExpression

_T = TypeVar("_T")


@overload
def load(source: ExtendedExpression, *, strict: bool = ..., registry: Registry | None = ...) -> ExtendedExpression: ...


@overload
def load(source: _Written | Plan, *, strict: bool = ..., registry: Registry | None = ...) -> Plan: ...


def load(source: PlanSource, *, strict: bool = False, registry: Registry | None = None) -> Plan | ExtendedExpression:
    """Read a plan of any release since 0.10, upgrade it and bind it.

    Upgrades are listed in ``upgrades`` of the result; assumptions, where the plan is looser than the specification, in
    ``notes``.

    Args:
        source: binary protobuf; JSON text; the text form (``to_text``); a path of a file with one of these; a dict of
            the JSON form; a message of any class of a ``Plan``, whatever its release. A source that holds an extended
            expression gives an ``ExtendedExpression``; :func:`load_expressions` tells editors and type checkers so.
        strict: raise an error where the plan is looser than the specification, instead of adding a note.
        registry: the extensions; by default those of the specification.

    Raises:
        PlanFormatError: the source isn't a plan, or has fields that no release has.
        InvalidPlanError: the plan contradicts the specification.

    Examples:
        >>> plan = substrait.load(substrait.samples.plan_2023())
        >>> plan
        <Plan 0.108.0: 5 relations, result (product_name, product_id, sales)>
        >>> len(plan.upgrades)
        9
    """
    return loaded(source, strict=strict, registry=registry)


def load_expressions(
    source: PlanSource, *, strict: bool = False, registry: Registry | None = None
) -> ExtendedExpression:
    """Read an extended expression of any release since 0.10, upgrade it and bind it.

    Args:
        source: an extended expression, in any of the forms that :func:`load` takes.
        strict, registry: as for :func:`load`.

    Raises:
        PlanFormatError: the source isn't an extended expression, or has fields that no release has.
        InvalidPlanError: it contradicts the specification, or is a plan.

    Examples:
        >>> expression = substrait.load_expressions(substrait.samples.expression())
        >>> expression
        <ExtendedExpression 0.108.0: 2 expressions (total, large)>
    """
    document = loaded(source, strict=strict, registry=registry)
    if not isinstance(document, ExtendedExpression):
        raise InvalidPlanError(
            "this is a plan, not an extended expression", hint="Run it with from_substrait(...), or the command `run`"
        )
    return document


def loaded(source: PlanSource, *, strict: bool = False, registry: Registry | None = None) -> Plan | ExtendedExpression:
    """Return a plan or an extended expression: :func:`load`, where both may come."""
    if isinstance(source, Plan | ExtendedExpression):
        return source
    if isinstance(source, bytes) or (isinstance(source, str) and source.startswith("{")):
        options = (strict, registry, current_limits())
        return kept_plan(source, options, lambda: _loaded(source, strict, registry))
    return _loaded(source, strict, registry)


def _loaded(source: PlanSource, strict: bool, registry: Registry | None) -> Plan | ExtendedExpression:
    parsed = message_of(source)
    with naming_file(source):
        found = bound_message(parsed, registry or Registry.default(), strict=strict)
    document = as_document(found.document, deep=parsed.deep, registry=registry)
    if found.places is not None and parsed.content is not None and not parsed.deep and isinstance(document, Plan):
        keep_source(document, Source(parsed.content, found.places, found.again))
    return document


def bound_message(
    parsed: Parsed, registry: Registry, *, strict: bool = False, tables: Tables | None = None
) -> read.Bound:
    """Read a message, on a stack that is large enough for its depth; ``tables`` are what its reads are bound to."""

    def bound() -> read.Bound:
        return read.bound(
            parsed.message,
            registry,
            strict=strict,
            upgrades=parsed.notes,
            original_version=parsed.original_version,
            tables=tables,
        )

    with paused_collection(parsed.content):
        return with_deep_stack(bound) if parsed.deep else bound()


def message_of(plan: PlanSource, *, tolerant: bool = False) -> Parsed:
    """Return the current message of a plan or an extended expression, from anything that :func:`load` takes.

    Args:
        plan: the source.
        tolerant: leave out fields that no release has, and JSON values that their fields can't take; the result lists
            them.

    Raises:
        PlanFormatError: the source isn't a plan, or has fields that no release has.
        InvalidPlanError: the plan contradicts itself, so that its upgrade is ambiguous.
    """
    if isinstance(plan, Plan | ExtendedExpression):
        return _parsed(_written(plan), tolerant)
    with naming_file(plan):
        return _parsed(without_text(plan), tolerant)


def _parsed(source: Any, tolerant: bool) -> Parsed:
    if not tolerant:
        return wire.parse(source)
    faults: wire.Faults = []
    return replace(wire.parse(source, faults), faults=tuple(faults))


@contextmanager
def naming_file(source: PlanSource) -> Iterator[None]:
    """Name the file that a plan is read from in the errors raised inside, unless they name it already."""
    try:
        yield
    except SubstraitError as error:
        file = file_of(source)
        with suppress(OSError):  # of a name that is too long, for one
            if file is not None and file.is_file():
                error.file = error.file or str(file)
        raise


def _written(plan: Plan | ExtendedExpression) -> Any:
    """Return the message of a plan. A plan made by hand may have none, because a number is too large for its field."""
    try:
        return plan.to_message()
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidPlanError(f"the plan has no protobuf form: {error}") from error


def loaded_plan(source: PlanSource, registry: Registry | None) -> Plan:
    document = loaded(source, registry=registry)
    if not isinstance(document, Plan):
        raise InvalidPlanError(
            "this is an extended expression, which has no rows of its own",
            hint="Run it over data: evaluate(...), or the command `evaluate`",
        )
    return document


def understood(plan: PlanSource, registry: Registry) -> Checked:
    """Return a plan with the paths of its nodes, or raise its first error."""
    parsed = message_of(plan)
    found = read.checked(parsed.message, registry, upgrades=parsed.notes, original_version=parsed.original_version)
    if any(finding.level is Level.ERROR for finding in found.findings):
        of_kind = read.plan if parsed.message.DESCRIPTOR.name == "Plan" else read.extended_expression
        with naming_file(plan):
            of_kind(parsed.message, registry)
    return found


def extensions_of(plan: PlanSource, registry: Registry | None) -> Registry:
    """Return the extensions to check a plan with: those given, or else those that it was read with."""
    own = plan.registry if isinstance(plan, Plan | ExtendedExpression) else None
    return registry or own or Registry.default()


def file_of(plan: PlanSource) -> Path | None:
    """Return the file that a plan would be read from, if it is one."""
    if isinstance(plan, str):
        return None if plan.lstrip()[:1] in ("{", "[", "") or text_of(plan) else Path(plan)
    return Path(plan) if isinstance(plan, os.PathLike) else None


def on_deep_stack(document: Plan | ExtendedExpression, function: Callable[[], _T]) -> _T:
    """Call a function that walks the document, on a stack that is large enough for the document's depth."""
    return with_deep_stack(function) if document.deep else function()
