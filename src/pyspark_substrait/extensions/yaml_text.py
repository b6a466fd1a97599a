"""Read YAML from untrusted sources: without recursion, with limits on size, depth and expanded aliases.

Every scalar is read as text, and mappings have texts as keys: extension files and dialect files need no more. YAML's
tags are for other types, so a tag is an error, and no object that a tag names is ever created.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.message_text import shortened

__all__ = ["MAX_DEPTH", "MAX_SIZE", "load_yaml"]

MAX_SIZE: Final = 4_000_000
"""The maximum number of characters of a file, and of its values with each alias expanded."""

MAX_DEPTH: Final = 100
"""The maximum nesting depth of lists and mappings."""

#: the tags that have no effect here
_PLAIN_TAGS: Final = frozenset(
    {"!", *(f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "seq", "map"))}
)
_ITEM: Final = 16
"""The size of an item in addition to its characters, so that empty items count too."""


@dataclass(slots=True)
class _Open:
    """A list or mapping whose end hasn't been read yet."""

    value: list[Any] | dict[str, Any]
    anchor: str | None
    before: int  # the size of everything before it
    key: str | None = None  # of the next value


def load_yaml(text: str) -> Any:
    """Return the value of a YAML text; every scalar is a str. An empty text is None.

    Raises:
        InvalidPlanError: it isn't YAML; it has tags, a key that isn't text or is repeated; it is too large or too
            deep.
    """
    import yaml

    if len(text) > MAX_SIZE:
        raise InvalidPlanError(f"the YAML text has {len(text):,} characters, more than {MAX_SIZE:,}")
    loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        return _Composed(yaml).value(yaml.parse(text, Loader=loader))
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        raise InvalidPlanError(f"the text is not valid YAML: {' '.join(str(error).split())}") from error


class _Composed:
    """The value built from the parser's events, with an explicit stack."""

    def __init__(self, yaml: Any) -> None:
        self._yaml = yaml
        self._open: list[_Open] = []
        self._anchored: dict[str, tuple[Any, int, int]] = {}  # value, its size, how deep it is nested
        self._size = 0
        self._result: Any = None

    def value(self, events: Any) -> Any:
        """The value of the only document."""
        yaml, documents = self._yaml, 0
        for event in events:
            match event:
                case yaml.ScalarEvent():
                    self._check_tag(event)
                    self._grow(len(event.value), event)
                    if event.anchor is not None:
                        self._anchored[event.anchor] = event.value, len(event.value) + _ITEM, 0
                    self._put(event.value, event)
                case yaml.AliasEvent():
                    self._put(self._of_alias(event), event)
                case yaml.SequenceStartEvent() | yaml.MappingStartEvent():
                    self._begin([] if isinstance(event, yaml.SequenceStartEvent) else {}, event)
                case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                    self._end(event)
                case yaml.DocumentStartEvent():
                    documents += 1
                    if documents > 1:
                        raise _fault("a second document begins", event)
        return self._result

    def _begin(self, value: list[Any] | dict[str, Any], event: Any) -> None:
        self._check_tag(event)
        self._grow(0, event)
        if len(self._open) >= MAX_DEPTH:
            raise _fault(f"lists and mappings are nested more than {MAX_DEPTH} deep", event)
        if self._open and isinstance(self._open[-1].value, dict) and self._open[-1].key is None:
            raise _fault("a key is a list or a mapping, not text", event)
        if event.anchor is not None:
            self._anchored.pop(event.anchor, None)  # so that nothing contains itself
        self._open.append(_Open(value, event.anchor, self._size))

    def _end(self, event: Any) -> None:
        made = self._open.pop()
        if made.anchor is not None:
            self._anchored[made.anchor] = made.value, self._size - made.before, _depth(made.value)
        self._put(made.value, event)

    def _of_alias(self, event: Any) -> Any:
        if event.anchor not in self._anchored:
            raise _fault(f"nothing that ended before has the anchor {shortened(event.anchor)!r}", event)
        value, size, depth = self._anchored[event.anchor]
        self._grow(size, event)
        if len(self._open) + depth > MAX_DEPTH:
            raise _fault(f"lists and mappings are nested more than {MAX_DEPTH} deep", event)
        return value

    def _put(self, value: Any, event: Any) -> None:
        """Store a complete value in its place."""
        if not self._open:
            self._result = value
            return
        parent = self._open[-1]
        if isinstance(parent.value, list):
            parent.value.append(value)
        elif parent.key is not None:
            parent.value[parent.key] = value
            parent.key = None
        elif not isinstance(value, str):
            raise _fault("a key is a list or a mapping, not text", event)
        elif value in parent.value:
            raise _fault(f"the key {shortened(value)!r} stands twice in one mapping", event)
        else:
            parent.key = value

    def _grow(self, characters: int, event: Any) -> None:
        self._size += characters + _ITEM
        if self._size > MAX_SIZE:
            raise _fault(f"it is larger than {MAX_SIZE:,} characters with each alias written out", event)

    def _check_tag(self, event: Any) -> None:
        if event.tag is not None and event.tag not in _PLAIN_TAGS:
            raise _fault(f"it has the tag {shortened(event.tag)!r}", event, "Values are text, lists and mappings")


def _depth(value: Any) -> int:
    """The nesting depth of lists and mappings; at most :data:`MAX_DEPTH`."""
    deepest, todo = 0, [(value, 1)]
    while todo:
        part, depth = todo.pop()
        if isinstance(part, (list, dict)):
            deepest = max(deepest, depth)
            todo.extend((each, depth + 1) for each in (part if isinstance(part, list) else part.values()))
    return deepest


def _fault(what: str, event: Any, hint: str | None = None) -> InvalidPlanError:
    return InvalidPlanError(f"the YAML text cannot be read, in line {event.start_mark.line + 1}: {what}", hint=hint)
