"""Reading plans: the verb that all others begin with."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from pyspark_substrait.api.checking import message_of
from pyspark_substrait.errors import InvalidPlanError

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from pyspark_substrait.documents import ExtendedExpression, Plan
    from pyspark_substrait.extensions.registry import Registry

    #: Anything that :func:`load` takes.
    PlanSource: TypeAlias = bytes | str | os.PathLike[str] | Mapping[str, Any] | Message | Plan | ExtendedExpression

__all__ = ["load", "loaded_expressions", "loaded_plan", "on_deep_stack"]

_T = TypeVar("_T")


def load(source: PlanSource, *, strict: bool = False, registry: Registry | None = None) -> Plan | ExtendedExpression:
    """Read a plan or an extended expression of any release since 0.10, bring it up to date and bind it.

    What was rewritten stands in ``upgrades`` of the result, what was assumed where the plan is looser than the
    specification in ``notes``.

    Args:
        source: binary protobuf; JSON text; the text form (``to_text``); a path of a file with one of these; a dict of
            the JSON form; a message.
        strict: refuse what is looser than the specification instead of noting it.
        registry: the extensions; by default those of the specification.

    Raises:
        PlanFormatError: the source isn't a plan, or has fields that no release has.
        InvalidPlanError: the plan contradicts the specification.
    """
    from pyspark_substrait.documents import ExtendedExpression, Plan, Source, held, keep_source

    if isinstance(source, Plan | ExtendedExpression):
        return source
    from pyspark_substrait.extensions.registry import Registry
    from pyspark_substrait.proto import read
    from pyspark_substrait.proto.depth import with_deep_stack

    parsed = message_of(source)

    def bound() -> read.Bound:
        return read.bound(
            parsed.message,
            registry or Registry.default(),
            strict=strict,
            upgrades=parsed.notes,
            original_version=parsed.original_version,
        )

    found = with_deep_stack(bound) if parsed.deep else bound()
    document = held(found.document, deep=parsed.deep, registry=registry)
    if found.places is not None and parsed.content is not None and not parsed.deep and isinstance(document, Plan):
        keep_source(document, Source(parsed.content, found.places, found.again))
    return document


def on_deep_stack(document: Plan | ExtendedExpression, function: Callable[[], _T]) -> _T:
    """What a function that walks the document returns; it gets the stack that the document's depth needs."""
    if not document.deep:
        return function()
    from pyspark_substrait.proto.depth import with_deep_stack

    return with_deep_stack(function)


def loaded_plan(source: PlanSource, registry: Registry | None) -> Plan:
    from pyspark_substrait.documents import Plan

    document = load(source, registry=registry)
    if not isinstance(document, Plan):
        raise InvalidPlanError(
            "this is an extended expression, which has no rows of its own", hint="evaluate(...) runs it over data"
        )
    return document


def loaded_expressions(source: PlanSource, registry: Registry | None) -> ExtendedExpression:
    from pyspark_substrait.documents import ExtendedExpression

    document = load(source, registry=registry)
    if not isinstance(document, ExtendedExpression):
        raise InvalidPlanError("this is a plan, not an extended expression", hint="from_substrait(...) runs plans")
    return document
