"""Extension declarations: URIs to URNs, references, function keys."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from pyspark_substrait.model.paths import Path
from pyspark_substrait.proto.upgrade.context import Context, Function
from pyspark_substrait.proto.upgrade.keys import Edit, upgrade_key

__all__ = ["drop_replaced", "upgrade_extensions", "urn_of"]

_STANDARD = "extension:io.substrait:"
_URN = re.compile(r"extension:[^:\s/]+:[^:\s]+")
_FILE = re.compile(r"(?:.*/)?([A-Za-z0-9_]+)\.ya?ml")
_HOSTED = re.compile(
    r"https?://(?:www\.)?(?:github\.com|raw\.githubusercontent\.com)/substrait-io/substrait/|https?://(?:www\.)?substrait\.io/"
)
_REPLACED = ("strptime",)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
# Files in which releases since 0.1 declared functions and types; foreign hosts may use the same names for their own.
_LOCAL = re.compile(r"(?:functions_[a-z_]+|unsigned_integers|unknown|extension_types|type_variations)\Z")


@dataclass(slots=True)
class _Anchors:
    """The URNs that the plan declares, and the new anchors of the old URI list (None for an entry without a URN)."""

    plan: Any
    urns: dict[int, str] = field(default_factory=dict)
    from_uri: dict[int, int | None] = field(default_factory=dict)

    def free(self) -> int:
        """Return an anchor that nothing declares or refers to."""
        taken = {*self.urns, *self.from_uri}
        for declaration in self.plan.extensions:
            which = declaration.WhichOneof("mapping_type")
            if which is not None:
                entry = getattr(declaration, which)
                taken |= {entry.extension_urn_reference, getattr(entry, "extension_uri_reference", 0)}
        return next(anchor for anchor in range(1, len(taken) + 2) if anchor not in taken)


def urn_of(uri: str) -> str | None:
    """Return the URN for an extension's URI; None if the URI names no file (a folder, or nothing).

    The URI of an unknown host, or of a file that isn't a standard one, is used as the URN.
    """
    if _URN.fullmatch(uri):
        return uri
    place = uri.split("#", 1)[0].split("?", 1)[0].strip()
    hosted = _HOSTED.match(place) is not None
    if not place.strip("/.") or (hosted and not _FILE.fullmatch(place) and place.rstrip("/").endswith("/extensions")):
        return None
    file = _FILE.fullmatch(place)
    if file is not None:
        local = not _SCHEME.match(place) or place.startswith("file:")
        if hosted or (local and _LOCAL.match(file[1])):
            return _STANDARD + file[1]
    return uri


def upgrade_extensions(context: Context) -> None:
    """Upgrade the extension lists of a plan, and register its functions in the context."""
    plan = context.plan
    anchors = _Anchors(plan)
    _upgrade_urns(plan, anchors, context)
    if "extension_uris" in plan.DESCRIPTOR.fields_by_name and plan.extension_uris:
        _upgrade_uris(plan, anchors, context)
    removed: list[int] = []
    for index, declaration in enumerate(plan.extensions):
        which = declaration.WhichOneof("mapping_type")
        if which is None:
            continue
        entry = getattr(declaration, which)
        path: Path = (((None, "extensions"), index), which)
        _upgrade_reference(entry, path, anchors, context)
        if which == "extension_function":
            _upgrade_function(entry, path, anchors, context)
        elif (
            which == "extension_type"
            and entry.name.removeprefix("u!") == "unknown"
            and anchors.urns.get(entry.extension_urn_reference) == f"{_STANDARD}unknown"
        ):
            context.unknown_types.add(entry.type_anchor)
            context.note("unknown-type", path, "the extension type 'unknown'", "the type unbound")
            removed.append(index)
    for index in reversed(removed):
        del plan.extensions[index]


def _upgrade_urns(plan: Any, anchors: _Anchors, context: Context) -> None:
    dropped: list[int] = []
    for index, declared in enumerate(plan.extension_urns):
        urn = declared.urn
        if not urn.startswith("extension:"):
            new = _known(urn, ((None, "extension_urns"), index), context, moved=False)
            if new is None:
                dropped.append(index)
                continue
            declared.urn = urn = new
        anchors.urns[declared.extension_urn_anchor] = urn
    for index in reversed(dropped):
        del plan.extension_urns[index]


def _upgrade_uris(plan: Any, anchors: _Anchors, context: Context) -> None:
    for index, declared in enumerate(plan.extension_uris):
        anchor = declared.extension_uri_anchor
        path: Path = ((None, "extension_uris"), index)
        urn = _known(declared.uri, path, context)
        if urn is None:
            anchors.from_uri[anchor] = None
            continue
        if anchors.urns.get(anchor) == urn:
            anchors.from_uri[anchor] = anchor
            continue
        new = anchors.free() if anchor in anchors.urns else anchor
        anchors.from_uri[anchor] = new
        anchors.urns[new] = urn
        plan.extension_urns.add(extension_urn_anchor=new, urn=urn)
    plan.ClearField("extension_uris")


def _known(uri: str, path: Path, context: Context, *, moved: bool = True) -> str | None:
    """Return the URN of a URI, with a note. ``moved``: it comes from the URI list, so keeping it is a rewrite, too."""
    urn = urn_of(uri)
    if urn is None:
        what = f"the folder {uri}" if uri.strip() else "no URN"
        context.note("extension-without-file", path, what, "its functions are looked up by name in all extensions")
    elif urn == uri:
        if moved and not _URN.fullmatch(uri):
            context.note("unknown-extension-uri", path, uri, "kept as it is")
    else:
        context.note("uri-to-urn", path, uri, urn)
    return urn


def _upgrade_reference(entry: Any, path: Path, anchors: _Anchors, context: Context) -> None:
    if "extension_uri_reference" not in entry.DESCRIPTOR.fields_by_name:
        return
    old: int = entry.extension_uri_reference
    entry.ClearField("extension_uri_reference")
    if old == 0 or entry.extension_urn_reference != 0:
        return
    # A URI reference may also mean an anchor of the URN list; one that no list declares stays undeclared.
    target = anchors.from_uri.get(old, old)
    if target is None:
        target = anchors.free() if old in anchors.urns else old
    entry.extension_urn_reference = target
    if target in anchors.urns:
        context.note("uri-reference", path, f"extension_uri_reference {old}", f"extension_urn_reference {target}")


def _upgrade_function(entry: Any, path: Path, anchors: _Anchors, context: Context) -> None:
    urn = anchors.urns.get(entry.extension_urn_reference)
    key: str = entry.name
    edits: tuple[Edit, ...] = ()
    standard = urn is None or urn.startswith(_STANDARD)
    if standard:
        change = upgrade_key(urn.removeprefix(_STANDARD) if urn is not None else None, key)
        if change is not None:
            edits = change.edits
            before, after = key, change.key
            if change.stem is not None:
                entry.extension_urn_reference = _anchor_of(change.stem, anchors, context)
                before = f"{key} of {(urn or '').removeprefix(_STANDARD)}"
                after = f"{change.key} of {change.stem}"
            entry.name = key = change.key
            context.note("function-key", path, before, after)
    context.functions[entry.function_anchor] = Function(
        anchor=entry.function_anchor,
        urn_reference=entry.extension_urn_reference,
        standard=standard,
        key=key,
        edits=edits,
    )


def _anchor_of(stem: str, anchors: _Anchors, context: Context) -> int:
    """Return the anchor of a standard extension; declare it if the plan doesn't."""
    wanted = _STANDARD + stem
    for anchor, urn in anchors.urns.items():
        if urn == wanted:
            return anchor
    anchor = anchors.free()
    anchors.urns[anchor] = wanted
    context.plan.extension_urns.add(extension_urn_anchor=anchor, urn=wanted)
    return anchor


def drop_replaced(context: Context) -> None:
    """Remove the declarations of functions that no call uses after the upgrade."""
    gone = {
        function.anchor for function in context.functions.values() if function.standard and function.name in _REPLACED
    }
    if gone:
        for index in reversed(range(len(context.plan.extensions))):
            declaration = context.plan.extensions[index]
            if declaration.HasField("extension_function") and declaration.extension_function.function_anchor in gone:
                del context.plan.extensions[index]
