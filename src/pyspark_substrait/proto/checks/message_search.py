"""Checks that search the whole message: custom messages, anchors, computations, deprecated fields.

Few plans have these. A probe tells at the speed of the protobuf runtime whether a plan does; only then is the message
walked through in Python.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from pyspark_substrait.codes import Code, Level
from pyspark_substrait.model.findings import Finding
from pyspark_substrait.model.paths import Path, render
from pyspark_substrait.model.plan import ExtensionKind
from pyspark_substrait.proto import legacy
from pyspark_substrait.proto.depth import is_repeated
from pyspark_substrait.proto.messages import ANY, current

__all__ = ["findings", "has_none", "references"]

_PREFIX = "substrait."
_ANCHORED = (
    ("RelCommon", "rel_anchor"),
    ("RelCommon.Hint", "saved_computations"),
    ("RelCommon.Hint", "loaded_computations"),
)
_REFERENCES = {
    "function_reference": ExtensionKind.FUNCTION,
    "comparison_function_reference": ExtensionKind.FUNCTION,
    "custom_function_reference": ExtensionKind.FUNCTION,
    "type_reference": ExtensionKind.TYPE,
    "type_anchor_reference": ExtensionKind.TYPE,
    "type_variation_reference": ExtensionKind.TYPE_VARIATION,
}


@dataclass(slots=True)
class _Parts:
    """The parts that a walk found, each with its path."""

    foreign: list[tuple[str, bool, Path]] = field(default_factory=list)
    deprecated: list[tuple[str, Path]] = field(default_factory=list)
    anchors: list[tuple[int, Path]] = field(default_factory=list)
    referred: set[int] = field(default_factory=set)
    saved: list[tuple[Any, Path]] = field(default_factory=list)
    loaded: list[tuple[Any, Path]] = field(default_factory=list)


def findings(message: Any) -> Iterator[Finding]:
    """Yield the findings of a walk through the whole message."""
    found = _Parts()
    if not has_none(message.SerializeToString(), message.DESCRIPTOR.name):
        _collect(message, found)
    yield from _foreign(message, found)
    for name, path in found.deprecated:
        what = f"the field {name} is deprecated"
        fix = "Use rel_reference, which names the relation that is meant" if name == "steps_out" else ""
        yield Finding.of(Code.DEPRECATION, path, what, level=Level.INFO, fix=fix)
    for anchor, path in found.anchors:
        if anchor not in found.referred:
            what = f"the anchor {anchor} names this relation, and nothing refers to it"
            yield Finding.of(Code.REDUNDANT_FIELD, path, what, fix="Leave it out")
    yield from _computations(found)


def has_none(content: bytes, kind: str) -> bool:
    """Whether a serialised message (``Plan`` or ``ExtendedExpression``) surely has none of the parts searched for."""
    return _probe().unknown(content, kind) is False


def references(message: Any) -> set[tuple[ExtensionKind, int]]:
    """The declarations that a message refers to."""
    found: set[tuple[ExtensionKind, int]] = set()
    pending = [message]
    while pending:
        current = pending.pop()
        for each in current.DESCRIPTOR.fields:
            if each.name in _REFERENCES and (not each.has_presence or current.HasField(each.name)):
                found.add((_REFERENCES[each.name], getattr(current, each.name)))
        for each, value in current.ListFields():
            if each.type == FieldDescriptor.TYPE_MESSAGE and not _is_map(each):
                pending.extend(value if is_repeated(each) else (value,))
    return found


def _is_map(each: Any) -> bool:
    return bool(each.message_type.GetOptions().map_entry)


@cache
def _probe() -> legacy.Probe:
    """Return the probe that detects any part that a walk would find."""
    wanted = set(_ANCHORED)
    pending: list[Any] = [current().named(kind).DESCRIPTOR for kind in legacy.KINDS]
    seen = set(pending)
    while pending:
        descriptor = pending.pop()
        for each in descriptor.fields:
            if each.GetOptions().deprecated or (each.message_type is not None and each.message_type.full_name == ANY):
                wanted.add((descriptor.full_name.removeprefix(_PREFIX), each.name))
            inner = each.message_type
            if inner is not None and inner not in seen and inner.full_name.startswith(_PREFIX):
                seen.add(inner)
                pending.append(inner)
    return legacy.probe_without(frozenset(wanted))


def _collect(message: Any, found: _Parts) -> None:
    pending: list[tuple[Any, Path]] = [(message, None)]
    while pending:
        current, path = pending.pop()
        inner: list[tuple[Any, Path]] = []
        for each, value in current.ListFields():
            here: Path = (path, each.name)
            if each.GetOptions().deprecated:
                found.deprecated.append((each.name, here))
            if each.type != FieldDescriptor.TYPE_MESSAGE:
                if each.name == "rel_anchor":
                    found.anchors.append((value, here))
                elif each.name == "rel_reference":
                    found.referred.add(value)
                continue
            if _is_map(each):
                continue
            values = [(one, (here, index)) for index, one in enumerate(value)] if is_repeated(each) else [(value, here)]
            if each.message_type.full_name == ANY:
                found.foreign.extend((one.type_url, each.name == "optimization", where) for one, where in values)
                continue
            if each.name == "saved_computations":
                found.saved.extend(values)
            elif each.name == "loaded_computations":
                found.loaded.extend(values)
            inner.extend(values)
        pending.extend(reversed(inner))


def _bare(url: str) -> str:
    """A type URL without the host that it may start with."""
    return url.rsplit("/", 1)[-1]


def _foreign(message: Any, found: _Parts) -> Iterator[Finding]:
    declared = {_bare(url) for url in message.expected_type_urls}
    for url, ignorable, path in found.foreign:
        name = _bare(url)
        if name not in declared:
            yield Finding.of(
                Code.PROTO_MISSING_ANY_DECLARATION,
                path,
                f"the message type {name} stands in the plan, and expected_type_urls does not list it",
                fix="List it, so that a consumer can tell early whether it knows all messages",
            )
        if ignorable:
            what = f"{name} is an optimization, which consumers may ignore"
        else:
            what = f"only consumers that know this message can interpret the plan: {name}"
        level = Level.INFO if ignorable or name in declared else Level.WARNING
        yield Finding.of(Code.PROTO_ANY, path, what, level=level)
    present = {_bare(url) for url, _, _ in found.foreign}
    seen: set[str] = set()
    for index, url in enumerate(message.expected_type_urls):
        name = _bare(url)
        place = f"expected_type_urls[{index}]"
        if name in seen:
            what = f"the message type {name} is listed twice"
            yield Finding.of(Code.REDUNDANT_ANY_DECLARATION, place, what, fix="Leave it out")
        elif name not in present:
            what = f"the message type {name} is listed, and the plan has no such message"
            yield Finding.of(Code.REDUNDANT_ANY_DECLARATION, place, what, fix="Leave it out")
        seen.add(name)


def _computations(found: _Parts) -> Iterator[Finding]:
    saved = {item.computation_id: item for item, _ in found.saved}
    counted = Counter(item.computation_id for item, _ in found.saved)
    wanted = {item.computation_id_reference for item, _ in found.loaded}
    for item, path in found.saved:
        number = item.computation_id
        if counted[number] > 1:
            what = f"the computation {number} is saved {counted[number]} times"
            why = "A computation may be saved only once, and loaded many times"
            yield _hint(path, what, why, "Give each a number of its own")
        elif number not in wanted:
            what = f"the computation {number} is saved, and nothing loads it"
            yield Finding.of(Code.REDUNDANT_FIELD, path, what, fix="Leave it out")
    for item, path in found.loaded:
        number = item.computation_id_reference
        source = saved.get(number)
        if source is None:
            why = "What is loaded was saved elsewhere in the plan"
            yield _hint(path, f"the computation {number} is loaded, and nothing saves it", why, "Correct the number")
        elif source.type != item.type:
            why = "A consumer ignores a computation whose two types differ"
            yield _hint(
                path,
                f"the computation {number} is saved as another type than it is loaded as",
                why,
                "Make the types agree",
            )


def _hint(path: Path, what: str, why: str, fix: str) -> Finding:
    return Finding.of(Code.ILLEGAL_VALUE_IN_HINT, render(path), what, why=why, fix=fix)
