"""The extensions that a plan names, and its declarations from them. Spec: extensions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark_substrait.codes import Code, Level
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.extensions.registry import OFFICIAL, OWN, Registry
from pyspark_substrait.model.findings import Finding
from pyspark_substrait.model.plan import ExtensionKind
from pyspark_substrait.proto.checks.message_search import references

if TYPE_CHECKING:
    from pyspark_substrait.model.plan import ExtendedExpression, Plan

__all__ = ["findings"]

_URN = re.compile(r"extension:[^:\s/]+:[^:\s]+")
_KINDS = {
    "extension_function": (ExtensionKind.FUNCTION, "function_anchor"),
    "extension_type": (ExtensionKind.TYPE, "type_anchor"),
    "extension_type_variation": (ExtensionKind.TYPE_VARIATION, "type_variation_anchor"),
}
_REDUNDANT = {
    ExtensionKind.FUNCTION: Code.REDUNDANT_FUNCTION,
    ExtensionKind.TYPE: Code.REDUNDANT_TYPE,
    ExtensionKind.TYPE_VARIATION: Code.REDUNDANT_TYPE_VARIATION,
}
_LEAVE_OUT = "Leave it out"


@dataclass(frozen=True, slots=True)
class _Declared:
    """A declaration: what it declares, from which extension, and where it stands."""

    kind: ExtensionKind
    anchor: int
    urn: str | None
    name: str
    path: str
    reference: int


def findings(message: Any, document: Plan | ExtendedExpression, registry: Registry) -> Iterator[Finding]:
    """Yield the findings in the declarations of a message: invalid, deprecated, repeated or unused ones."""
    urns = {item.extension_urn_anchor: item.urn for item in message.extension_urns}
    declared = list(_declarations(message, urns))
    used = _used(message, document, declared)
    yield from _extensions(message, {item.urn for item in declared})
    seen: dict[tuple[ExtensionKind, str | None, str], str] = {}
    for item in declared:
        first = seen.setdefault((item.kind, item.urn, item.name), item.path)
        if first != item.path:
            what = f"the {item.kind.value} {item.name} is declared twice, first at {first}"
            fix = "Leave one declaration, and refer to that"
            yield Finding.of(_REDUNDANT[item.kind], item.path, what, fix=fix)
        elif (item.kind, item.anchor) not in used:
            what = f"the {item.kind.value} {item.name} is declared, and nothing uses it"
            yield Finding.of(_REDUNDANT[item.kind], item.path, what, fix=_LEAVE_OUT)
            yield from _unresolved(item, registry)
        if item.urn is None and item.reference:
            what = f"the {item.kind.value} {item.name} is of extension {item.reference}, which is not declared"
            place = f"{item.path}.extension_urn_reference"
            fix = "Add an extension_urn with this anchor"
            yield Finding.of(Code.LINK_MISSING_ANCHOR, place, what, level=Level.WARNING, fix=fix)
        yield from _deprecated(item, registry)


def _declarations(message: Any, urns: dict[int, str]) -> Iterator[_Declared]:
    for index, item in enumerate(message.extensions):
        mapping = item.WhichOneof("mapping_type")
        if mapping is not None:
            kind, anchor = _KINDS[mapping]
            entry = getattr(item, mapping)
            urn = urns.get(entry.extension_urn_reference)
            path, reference = f"extensions[{index}].{mapping}", entry.extension_urn_reference
            yield _Declared(kind, getattr(entry, anchor), urn, entry.name, path, reference)


def _used(
    message: Any, document: Plan | ExtendedExpression, declared: list[_Declared]
) -> set[tuple[ExtensionKind, int]]:
    """The declarations that something refers to.

    Reading knows those that it looked up. If it left some unused, the message itself is searched, because reading may
    have skipped references in broken parts.
    """
    if not document.unused_extensions:
        return {(item.kind, item.anchor) for item in declared}
    return references(message)


def _extensions(message: Any, used: set[str | None]) -> Iterator[Finding]:
    seen: dict[str, int] = {}
    for index, item in enumerate(message.extension_urns):
        path = f"extension_urns[{index}]"
        if not _URN.fullmatch(item.urn):
            level = Level.ERROR if item.urn.startswith("extension:") or not item.urn else Level.WARNING
            yield Finding.of(
                Code.ILLEGAL_URN,
                f"{path}.urn",
                f"{item.urn!r} is not a URN of an extension",
                level=level,
                fix="Write it like extension:io.substrait:functions_arithmetic",
            )
        if item.urn in seen:
            what = f"the extension {item.urn} is declared twice, first at extension_urns[{seen[item.urn]}]"
            yield Finding.of(Code.REDUNDANT_EXTENSION, path, what, fix="Leave one declaration, and refer to that")
            continue
        seen[item.urn] = index
        if item.urn not in used:
            what = f"the extension {item.urn} is declared, but no function or type of it is"
            yield Finding.of(Code.REDUNDANT_EXTENSION, path, what, fix=_LEAVE_OUT)


def _unresolved(item: _Declared, registry: Registry) -> Iterator[Finding]:
    """Report an unused declaration of something that doesn't exist; reading reports the used ones."""
    if item.urn is None or not _known(item.urn, registry) or _defined(item, registry):
        return
    if item.kind is ExtensionKind.FUNCTION and ":" not in item.name and registry.overloads(item.urn, item.name):
        what = f"the function {item.name} is declared without the types of its arguments"
        fix = "Declare the compound name, like add:i32_i32"
        yield Finding.of(Code.LINK_SIMPLE_FUNCTION_NAME, f"{item.path}.name", what, fix=fix)
        return
    what = f"the extension {item.urn} has no {item.kind.value} {item.name}"
    yield Finding.of(Code.LINK_UNRESOLVED_NAME, f"{item.path}.name", what, level=Level.WARNING, fix=_LEAVE_OUT)


def _known(urn: str, registry: Registry) -> bool:
    return urn in registry.urns() or urn in registry.own_urns()


def _defined(item: _Declared, registry: Registry) -> bool:
    urn = item.urn or ""
    try:
        match item.kind:
            case ExtensionKind.FUNCTION:
                return registry.function(urn, item.name) is not None
            case ExtensionKind.TYPE:
                return registry.type(urn, item.name.removeprefix("u!")) is not None
            case ExtensionKind.TYPE_VARIATION:
                return registry.variation(urn, item.name) is not None
    except SubstraitError:
        return True


def _deprecated(item: _Declared, registry: Registry) -> Iterator[Finding]:
    if item.kind is not ExtensionKind.FUNCTION or item.urn is None or not item.urn.startswith((OFFICIAL, OWN)):
        return
    try:
        definition = registry.function(item.urn, item.name)
    except SubstraitError:
        return
    if definition is not None and definition.deprecated is not None:
        what = f"the function {item.name} is deprecated: {definition.deprecated.rstrip('.')}"
        why = "The extension keeps it for plans that have it, and may drop it in a later release"
        yield Finding.of(Code.DEPRECATION, f"{item.path}.name", what, why=why, fix="Use the form that replaces it")
