"""Plans and extended expressions as users get them: the model, with methods to convert and save it."""

from __future__ import annotations

import os
import threading
import weakref
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.model import plan as model
from pyspark_substrait.model.deep_stack import with_deep_stack, with_enough_stack
from pyspark_substrait.text import lossless
from pyspark_substrait.text.notebook_output import NotebookOutput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from google.protobuf.message import Message

    from pyspark_substrait.extensions.registry import Registry
    from pyspark_substrait.model.findings import Finding, Places
    from pyspark_substrait.model.notes import Note
    from pyspark_substrait.model.variations import Variation
    from pyspark_substrait.proto.portability import Use

__all__ = ["FORMS", "ExtendedExpression", "Plan", "Source", "as_document", "form_of", "keep_source", "source_of"]

FORMS: dict[str, Literal["json", "pb", "text"]] = {".json": "json", ".txt": "text", ".substrait": "text"}
"""The form of a file by its suffix; others are binary."""


class _Document(NotebookOutput):
    """The methods that plans and extended expressions share."""

    def __repr__(self) -> str:
        from pyspark_substrait.text.explain.one_line import brief

        return brief(self._model())

    def _model(self) -> model.Plan | model.ExtendedExpression:
        assert isinstance(self, model.Plan | model.ExtendedExpression)
        return self

    def to_message(self) -> Message:
        """The protobuf message of the current release, ``substrait.Plan`` or ``substrait.ExtendedExpression``.

        Its class is this package's own. For an object of another class of that name, give that one the bytes:
        ``plan_pb2.Plan.FromString(plan.to_bytes())``.
        """
        raise NotImplementedError

    @property
    def portability(self) -> tuple[Use, ...]:
        """The places that need more than the specification and its own extensions; empty for a standard plan.

        That is each use of a function, type or type variation of another extension, of ours or of a user, and each
        custom message: a relation, a table, a target. Optimization hints that an engine may ignore don't count.
        """
        from pyspark_substrait.proto.portability import uses

        return uses(self.to_message())

    def to_bytes(self) -> bytes:
        """The binary protobuf form."""
        from pyspark_substrait.proto import wire

        return wire.to_bytes(self.to_message())

    def to_json(self) -> str:
        """The protobuf JSON form, indented."""
        from pyspark_substrait.proto import wire

        return wire.to_json(self.to_message())

    def to_text(self) -> str:
        """The text form, which people read and write and :func:`load` reads back without loss."""
        from pyspark_substrait.proto.fields import message_fields

        fields, is_plan = message_fields(self.to_message()), isinstance(self, model.Plan)
        return with_enough_stack(lambda: lossless.write(fields, is_plan=is_plan))

    def save(self, path: str | os.PathLike[str], *, format: Literal["json", "pb", "text"] | None = None) -> None:
        """Write the plan to a file, whole or not at all.

        Args:
            path: the file.
            format: ``json``, ``pb`` (binary) or ``text``; by the file's suffix when not given: ``.json``, ``.txt`` or
                ``.substrait`` for text, and binary for any other.

        Raises:
            SubstraitError: the file can't be written.
        """
        target = Path(path)
        content = self._content(format or FORMS.get(target.suffix.lower(), "pb"))
        beside = target.with_name(f".{target.name}.{os.getpid()}.new")
        try:
            beside.write_bytes(content)
            beside.replace(target)
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise SubstraitError(f"{target} cannot be written: {error.strerror or error}") from error

    def _content(self, form: Literal["json", "pb", "text"]) -> bytes:
        match form:
            case "json":
                return self.to_json().encode() + b"\n"
            case "text":
                return self.to_text().encode()
        return self.to_bytes()


@dataclass(frozen=True, kw_only=True, repr=False)
class Plan(_Document, model.Plan):
    """A plan that was read: see :class:`pyspark_substrait.model.plan.Plan` for its parts.

    ``deep``: it is nested so deeply that recursive functions need more stack than usual. ``removed_fields``: it is
    written with fields of earlier releases too, for an engine that looks only there. ``variations``: numbers of
    type variations with which the columns of tables are written, for an engine that doesn't declare them.
    ``registry``: the extensions that it was read with; None for those of the specification.
    """

    deep: bool = field(default=False, compare=False)
    registry: Registry | None = field(default=None, compare=False, repr=False)
    removed_fields: frozenset[str] = field(default=frozenset(), compare=False)
    variations: Mapping[str, Mapping[str, Variation]] | None = field(default=None, compare=False, repr=False)

    def to_message(self) -> Message:
        from pyspark_substrait.proto import write
        from pyspark_substrait.proto.write.removed_fields import with_removed_fields
        from pyspark_substrait.proto.write.variations import with_variations

        message = with_deep_stack(write.plan, self) if self.deep else write.plan(self)
        if self.variations is not None:
            message = with_variations(message, self.variations)
        return with_removed_fields(message, self.removed_fields) if self.removed_fields else message


@dataclass(frozen=True, kw_only=True, repr=False)
class ExtendedExpression(_Document, model.ExtendedExpression):
    """An extended expression that was read: see :class:`pyspark_substrait.model.plan.ExtendedExpression`.

    ``deep``, ``registry``: as for :class:`Plan`.
    """

    deep: bool = field(default=False, compare=False)
    registry: Registry | None = field(default=None, compare=False, repr=False)

    def to_message(self) -> Message:
        from pyspark_substrait.proto import write

        return with_deep_stack(write.extended_expression, self) if self.deep else write.extended_expression(self)


def form_of(content: bytes) -> Literal["json", "pb", "text"]:
    """Return the form of a file's content, judged by how it begins."""
    if content.lstrip()[:1] == b"{":
        return "json"
    return "pb" if lossless.text_of(content) is None else "text"


def as_document(
    document: model.Plan | model.ExtendedExpression, *, deep: bool, registry: Registry | None = None
) -> Plan | ExtendedExpression:
    """Return a document of the model as the class that users get."""
    parts = {part.name: getattr(document, part.name) for part in fields(document)}
    parts.update(deep=deep, registry=registry)
    return Plan(**parts) if isinstance(document, model.Plan) else ExtendedExpression(**parts)


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """The source of a plan, kept for its validation (:class:`~pyspark_substrait.proto.read.Bound`).

    ``content`` is the serialised message; ``places`` has the paths of the plan's nodes in the message that the plan is
    written to; ``again`` has the findings and notes of reading that message.
    """

    content: bytes
    places: Places
    again: tuple[Finding | Note, ...] = ()


_KEPT_SOURCES = 16
_KEPT_NODES = 20_000
#: by the identity of the plan; a changed plan is a new object, which has no source
_sources: dict[int, tuple[weakref.ref[Plan], Source]] = {}
_sources_lock = threading.Lock()


def keep_source(plan: Plan, source: Source) -> None:
    """Remember the source of a plan, for the last few plans and not for large ones."""
    if len(source.places) > _KEPT_NODES:
        return
    with _sources_lock:
        for key in [key for key, (known, _) in _sources.items() if known() is None]:
            del _sources[key]
        while len(_sources) >= _KEPT_SOURCES:
            del _sources[next(iter(_sources))]
        _sources[id(plan)] = (weakref.ref(plan), source)


def source_of(plan: Plan) -> Source | None:
    """Return the source of a plan; None if it isn't kept, or belongs to another plan."""
    known = _sources.get(id(plan))
    return None if known is None or known[0]() is not plan else known[1]
