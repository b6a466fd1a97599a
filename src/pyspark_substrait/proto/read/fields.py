"""Nodes from their messages, field by field.

Most fields of a node have the name and the form of a field of its message. How such a field is read follows from the
descriptor of the message and the type of the node's field (:mod:`~pyspark_substrait.model.fields`): whether it may be
left out, over which record its expressions are bound, whether it is a condition. The others are declared
(:mod:`~pyspark_substrait.proto.read.forms`). The reader of a class is generated on first use, as source code, so that
neither is looked up while a plan is read.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from keyword import iskeyword
from typing import Any, Final, TypeAlias, TypeVar, get_args

from pyspark_substrait.codes import Code
from pyspark_substrait.model.fields import FIELD_TYPES, FieldType, Over
from pyspark_substrait.model.function_source import FunctionSource
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import BrokenRelation, Relation
from pyspark_substrait.model.relations.base import joined
from pyspark_substrait.model.types import NamedStruct, OpenStruct, Struct
from pyspark_substrait.proto.depth import is_repeated
from pyspark_substrait.proto.enums import numbers_of
from pyspark_substrait.proto.field_names import message_field
from pyspark_substrait.proto.read import expressions
from pyspark_substrait.proto.read.context import Reading, Scope, invalid
from pyspark_substrait.proto.read.recovery import required_condition, required_schema

__all__ = ["FieldReader", "Fields", "Finish", "ValueReader", "declare", "node", "reader"]

_T = TypeVar("_T")
#: reads a value from its message
ValueReader: TypeAlias = Callable[[Any, Scope, Path], Any]
#: reads a field of a relation, in the scope of the expressions in it
FieldReader: TypeAlias = "Callable[[Fields, Scope], Any]"
#: makes a relation of its fields
Finish: TypeAlias = "Callable[[Fields], Relation]"

_NO_COLUMNS: Final = NamedStruct(names=(), struct=OpenStruct())
_RELATIONS: Final = frozenset(get_args(Relation))
_values: dict[str, ValueReader] = {}
_own: dict[str, FieldReader | None] = {}
_last: dict[type, tuple[str, ...]] = {}
_finished: dict[type, Finish] = {}
_missing: dict[str, tuple[str, str | None]] = {}


def declare(
    *,
    values: Mapping[str, ValueReader],
    own: Mapping[str, FieldReader | None],
    last: Mapping[type, tuple[str, ...]],
    finished: Mapping[type, Finish],
    missing: Mapping[str, tuple[str, str | None]],
) -> None:
    """Register how values, fields and relations are read where it doesn't follow from their types.

    Args:
        values: readers, by the names of messages; the value of another message is a node with the name of the message.
        own: readers, by the names of fields of relations; None for a field that finishing the relation adds.
        last: the fields of a class that are read after the others. The order decides which of two faults is raised.
        finished: functions that make a relation where that takes more than reading its fields.
        missing: the faults that none of several fields is set, each with its hint, by the names of oneofs.
    """
    _values.update(values)
    _own.update(own)
    _last.update(last)
    _finished.update(finished)
    _missing.update(missing)


class Fields(dict[str, Any]):
    """The fields of a relation that have been read: all, except those from the first that is over the output on.

    Args:
        form: how the relation is read.
        message, scope, path: those of the relation.

    Attributes:
        stated: the schema of a read as the plan states it, if that is bound to a table.
    """

    __slots__ = ("form", "message", "path", "scope", "stated")

    def __init__(self, form: _Form, message: Any, scope: Scope, path: Path) -> None:
        self.form = form
        self.message = message
        self.scope = scope
        self.path = path
        self.stated = _NO_COLUMNS

    @property
    def reading(self) -> Reading:
        """The state of reading."""
        return self.scope.reading

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """The inputs of the relation."""
        found: list[Relation] = []
        for value in (self[name] for name in self.form.inputs):
            found += value if isinstance(value, tuple) else () if value is None else (value,)
        return tuple(found)

    def over_output(self) -> Scope:
        """The scope of expressions over the output of the relation."""
        output: Struct = OpenStruct()
        with self.reading.going_on(self.path, Code.RELATION_INVALID):
            output = self.form.kind(**self).direct_schema
        return self.scope.over(output, self["common"].rel_anchor)

    def node(self) -> Relation:
        """Read the other fields, and return the relation; a broken one if a required field has no meaning."""
        for name in self.form.required:
            if self[name] is None:
                return self.broken(f"unknown {name}")
        if self.form.read_late is not None:
            self.form.read_late(self)
        made: Relation = self.form.kind(**self)
        return made

    def broken(self, fault: str, **known: Any) -> BrokenRelation:
        """Return the relation as one that can't be understood, with its inputs and what else is known of it."""
        kind = self.form.kind.info.field
        return BrokenRelation(common=self["common"], kind=kind, fault=fault, members=self.inputs, **known)


class _Form:
    """How a class is read.

    Args:
        kind: the class.
        descriptor: that of its message.
        given: the fields that aren't read from the message.

    Attributes:
        read: reads a node.
        read_late: reads those fields of a relation that :class:`Fields` doesn't have at first.
        inputs: the fields that hold relations; ``table`` is the schema that expressions refer to.
        required: the fields without a default that have no meaning if they are None: enumerations and choices.
    """

    def __init__(self, kind: Any, descriptor: Any, given: Iterable[str]) -> None:
        self.kind, self.descriptor, self.types = kind, descriptor, FIELD_TYPES[kind]
        over_table = any(type.over is Over.TABLE for type in self.types.values())
        self.table = next((name for name, type in self.types.items() if over_table and NamedStruct in type.classes), "")
        self.inputs = [name for name, type in self.types.items() if _holds_relations(type)]
        fields = [item for item in dataclasses.fields(kind) if item.name not in given]
        if kind in _RELATIONS:
            self._of_relation(fields)
        else:
            source = FunctionSource(kind=kind)
            texts = "".join([f"{item.name}={self._field(item, source)}, " for item in fields])
            head, rest = ("message, scope, path, /, **given", "**given") if given else ("message, scope, path", "")
            self.read = source.function(head, f"kind({texts}{rest})")

    def _of_relation(self, fields: list[Any]) -> None:
        places, last = {item.name: self.types[item.name].over for item in fields}, _last.get(self.kind, ())
        fields.sort(key=lambda item: item.name in last)
        start = [*(places[item.name] for item in fields), Over.OUTPUT].index(Over.OUTPUT)
        self.required = [
            item.name
            for item in fields
            if _default(item) is dataclasses.MISSING and not _is_message(message_field(self.descriptor, item.name))
        ]
        finish = _finished.get(self.kind, Fields.node)
        source = FunctionSource(form=self, Fields=Fields, joined=joined, finish=finish)
        source.lines.append("    fields = Fields(form, message, scope, path)")
        self._read(fields[:start], source)
        self.read = source.function("message, scope, path", "finish(fields)")
        late = FunctionSource(joined=joined)
        late.lines.append("    message, scope, path = fields.message, fields.scope, fields.path")
        self._read(sorted(fields[start:], key=lambda item: places[item.name] is Over.OUTPUT), late)
        self.read_late = late.function("fields", "None") if fields[start:] else None

    def _read(self, fields: list[Any], source: FunctionSource) -> None:
        """Add the lines that read fields of a relation."""
        for item in fields:
            if item.name not in _own:
                text = self._field(item, source)
            elif (own := _own[item.name]) is not None:
                text = f"{source.name(own)}(fields, {self._scope(self.types[item.name], source)})"
            else:
                continue
            source.lines.append(f"    fields[{item.name!r}] = {text}")

    def _field(self, item: Any, source: FunctionSource) -> str:
        """Return the text that reads a field; its scope is made in a line before."""
        type, default, field = self.types[item.name], _default(item), message_field(self.descriptor, item.name)
        scope = self._scope(type, source)
        if field is None:
            choice = _one_of(type, default, self.descriptor.oneofs_by_name[item.name])
            return f"{source.name(choice)}(message, {scope}, path)"
        name = field.name
        value = f"getattr(message, {name!r})" if iskeyword(name) else f"message.{name}"
        optional = f" if message.HasField({name!r}) else {source.name(default)}"
        if field.enum_type is not None:
            known = f"{source.name(numbers_of(field))}.known({value}, scope.reading, path, {name!r})"
            return known if default is dataclasses.MISSING else f"{known} or {source.name(default)}"
        if not _is_message(field):
            return f"tuple({value})" if is_repeated(field) else value + optional if type.optional else value
        if default is dataclasses.MISSING and (type.condition or item.name == self.table):
            required = required_condition if type.condition else required_schema
            return f"{source.name(required)}(message, {name!r}, {scope}, path)"
        read = source.name(expressions.condition if type.condition else _value_reader(field, type))
        if is_repeated(field):
            return f"{source.name(_all)}({read}, {value}, {scope}, (path, {name!r}))"
        text = f"{read}({value}, {scope}, (path, {name!r}))"
        return text if default is dataclasses.MISSING else text + optional

    def _scope(self, type: FieldType, source: FunctionSource) -> str:
        """Return the text of the scope of a field, which is made in a line of its own."""
        if type.over is None or self.kind not in _RELATIONS:
            return "scope"
        if type.over is Over.OUTPUT:
            return "fields.over_output()"
        method = "beside" if _holds_relations(type) else "over"
        arguments = f"{self._record(type.over)}, fields['common'].rel_anchor"
        if type.over is Over.INPUT and self.inputs == ["input"]:
            arguments += ", fields['input']"
        line = f"    {method}_{type.over.name} = scope.{method}({arguments})"
        if line not in source.lines:
            source.lines.append(line)
        return f"{method}_{type.over.name}"

    def _record(self, place: Over) -> str:
        """Return the text of the record over which expressions are bound."""
        match place:
            case Over.INPUT:
                schemas = [f"fields[{name!r}].schema" for name in self.inputs]
                return schemas[0] if len(schemas) == 1 else f"joined({', '.join(schemas)})"
            case Over.LEFT | Over.RIGHT:
                return f"fields[{place.name.lower()!r}].schema"
            case Over.TABLE:
                return f"fields[{self.table!r}].struct"
            case _:
                return "None"


def _holds_relations(type: FieldType) -> bool:
    return bool(type.classes) and _RELATIONS.issuperset(type.classes)


def _is_message(field: Any) -> bool:
    return field is not None and field.message_type is not None


def _default(item: Any) -> Any:
    return item.default if item.default_factory is dataclasses.MISSING else item.default_factory()


_readers: dict[tuple[Any, Any], Callable[..., Any]] = {}


def reader(kind: Any, descriptor: Any, given: Iterable[str] = ()) -> Callable[..., Any]:
    """Return the reader of a class from messages of a type; ``given`` are the fields that it takes as arguments."""
    if (kind, descriptor) not in _readers:
        _readers[kind, descriptor] = _Form(kind, descriptor, given).read
    return _readers[kind, descriptor]


def node(kind: type[_T], message: Any, scope: Scope, path: Path, /, **given: Any) -> _T:
    """Read a node that isn't a relation, except for the fields that are given: always the same ones for a class."""
    read = _readers.get((kind, message.DESCRIPTOR)) or reader(kind, message.DESCRIPTOR, given)
    made: _T = read(message, scope, path, **given)
    return made


def _all(read: ValueReader, messages: Any, scope: Scope, path: Path) -> tuple[Any, ...]:
    return tuple([read(message, scope, (path, index)) for index, message in enumerate(messages)])


def _one_of(type: FieldType, default: Any, oneof: Any) -> ValueReader:
    """Return the reader of a field whose value is in one of several fields of the message."""
    values = {field.name: _value_reader(field, type) for field in oneof.fields}
    fault, hint = _missing.get(oneof.full_name, (f"{oneof.name} is missing", None))

    def read(message: Any, scope: Scope, path: Path) -> Any:
        kind = message.WhichOneof(oneof.name)
        if kind is None and default is not dataclasses.MISSING:
            return default
        with scope.reading.going_on():
            if kind is None:
                raise invalid(fault, path, hint, Code.PROTO_MISSING_FIELD)
            return values[kind](getattr(message, kind), scope, (path, kind))
        return None

    return read


def _value_reader(field: Any, type: FieldType) -> ValueReader:
    """Return the reader of the values of a field: that of their message, or of the class that has its name."""
    if not _is_message(field):
        return lambda value, scope, path: value
    known = _values.get(field.message_type.full_name)
    if known is not None:
        return known
    kind = next(kind for kind in type.classes if kind.__name__ == field.message_type.name)
    return reader(kind, field.message_type)
