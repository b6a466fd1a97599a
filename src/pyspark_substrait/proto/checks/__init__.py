"""Checks that need the current message itself, not the model: unused declarations, redundant fields.

* ``versions``: the release that the plan states
* ``declarations``: the extensions, and the functions and types that the plan declares from them
* ``parts``: custom messages, anchors, computations and deprecated fields, by a walk that most plans don't need
* ``enumerations``: values left unspecified where the specification wants one
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from pyspark_substrait.codes import Code
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.findings import Finding, Places
from pyspark_substrait.model.notes import Note
from pyspark_substrait.model.plan import Version
from pyspark_substrait.proto.checks import declarations, enumerations, message_search, versions

if TYPE_CHECKING:
    from pyspark_substrait.model.plan import ExtendedExpression, Plan

__all__ = ["findings", "of_plain"]


def findings(
    message: Any,
    document: Plan | ExtendedExpression,
    places: Places,
    registry: Registry,
    *,
    stated: Version | None,
    upgrades: Sequence[Note] = (),
) -> Iterator[Finding]:
    """Yield the findings in a ``Plan`` or ``ExtendedExpression`` message.

    Args:
        message: the current message.
        document: the document that was read from it.
        places: where the nodes of the document stand.
        registry: the extensions.
        stated: the version that the message stated before it was upgraded; None when it stated none.
        upgrades: what was rewritten.
    """
    yield from versions.findings(stated, upgrades)
    if message.DESCRIPTOR.name == "Plan" and not message.relations:
        what = "the plan has no relations, so it does nothing"
        yield Finding.of(Code.RELATION_ROOT_MISSING, "relations", what, fix="Add a root relation")
    yield from declarations.findings(message, document, registry)
    yield from message_search.findings(message)
    yield from enumerations.findings(places)


def of_plain(content: bytes, document: Plan, places: Places) -> Iterator[Finding] | None:
    """Return the findings in the message of a plain plan (:class:`~pyspark_substrait.proto.read.Bound`).

    None if the message has parts that :func:`findings` has to look for.

    Args:
        content: the message that the plan was read from.
        document: the plan.
        places: where its nodes stand.
    """
    if not message_search.has_none(content, "Plan"):
        return None
    return chain(versions.findings(document.version, ()), enumerations.findings(places))
