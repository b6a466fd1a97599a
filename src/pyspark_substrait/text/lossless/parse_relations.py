"""Conversion of a relation's line, and of the lines below it, to the message of the relation."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from typing import Any

from pyspark_substrait.text.lossless.declared import Fault
from pyspark_substrait.text.lossless.meaning import enum_value, integer
from pyspark_substrait.text.lossless.neutral import Call, ExpressionValue, Name, Number, Object, Tuple, Value
from pyspark_substrait.text.lossless.parse_values import Values
from pyspark_substrait.text.lossless.shapes import PROPERTIES, Kind, Shape, shape_of, titles

__all__ = ["Line", "Pair", "relation"]

_Message = dict[str, Any]
Pair = tuple[str, Value]
_PROPERTIES = {text: field for field, text in PROPERTIES.items()}

MISSING: _Message = {}
"""A missing input that is followed by another input."""


@dataclass(slots=True)
class Line:
    """A line: its title, the items in its brackets, emit and properties, and the relations below it."""

    title: str
    items: list[Value | Pair]
    emit: list[Value] | None
    properties: Object | None
    place: tuple[int, int] = (1, 1)
    inputs: list[_Message] = field(default_factory=list)

    @property
    def positional(self) -> list[Value]:
        """The items without a name."""
        return [item for item in self.items if not isinstance(item, tuple)]

    @property
    def pairs(self) -> list[Pair]:
        """The items with a name."""
        return [item for item in self.items if isinstance(item, tuple)]


def relation(line: Line, values: Values) -> _Message:
    """Return the ``Rel`` of a line.

    Raises:
        Fault: there is no such relation, or the line has an item that the relation doesn't take.
    """
    if line.title == "Detached" and len(line.items) == 1 and isinstance(line.items[0], Number):
        return {"detached_rel_ordinal": integer(line.items[0].text)}
    if line.title in ("Nothing", "Missing"):
        return {} if line.title == "Nothing" else MISSING
    if line.title not in titles():
        near = difflib.get_close_matches(line.title, titles(), n=1)
        known = f"did you mean {near[0]}?" if near else f"there are {', '.join(sorted(titles()))}"
        raise Fault(f"there is no relation {line.title}; {known}")
    shape = shape_of(titles()[line.title])
    parts: _Message = {}
    if "common" in shape.fields:
        parts["common"] = _common(line, values)
    elif line.emit is not None or line.properties is not None:
        raise Fault(f"a {shape.title} has neither columns of its own nor properties")
    positional, pairs = line.positional, line.pairs
    if shape.first is not None and positional and isinstance(positional[0], Name | Number):
        parts[shape.first] = enum_value(positional.pop(0), shape.fields[shape.first].prefix)
    if shape.key == "read":
        _read_head(positional, pairs, parts, values)
    _rest(shape, positional, parts, values)
    _named(shape, pairs, parts, values)
    _inputs(shape, line, parts)
    return {shape.key: parts}


def _common(line: Line, values: Values) -> _Message:
    common: _Message = {"direct": {}}
    if line.emit is not None:
        common = {"emit": {"output_mapping": [_position(each) for each in line.emit]}}
    if line.properties is not None:
        pairs = [(_PROPERTIES.get(key, key), value) for key, value in line.properties.pairs]
        fields = values.object(Object(pairs))
        common = fields if "emit" in fields else common | fields
    return common


def _position(value: Value) -> int:
    match value:
        case ExpressionValue(
            message={"selection": {"root_reference": {}, "direct_reference": {"struct_field": dict(found)}}}
        ) if found.keys() <= {"field"}:
            return int(found.get("field", 0))
    raise Fault("behind => stand the columns that are put out: $0, $1")


def _read_head(positional: list[Value], pairs: list[Pair], parts: _Message, values: Values) -> None:
    if positional and isinstance(positional[0], Call):
        table = positional.pop(0)
        assert isinstance(table, Call)
        parts["base_schema"] = values.schema([*table.items, *table.pairs])
        if table.function.quoted or table.function.text != "schema":
            parts["named_table"] = {"names": list(table.function.parts)}
    for at, (key, rows) in enumerate(pairs):
        if key == "rows":
            if not isinstance(rows, list) or not all(isinstance(each, Tuple) for each in rows):
                raise Fault("rows are written rows: [(1:i32, 'a'), (2:i32, 'b')]")
            parts["virtual_table"] = {"expressions": [values.of_kind(Kind.ROW, each) for each in rows]}
            del pairs[at]
            break


def _rest(shape: Shape, positional: list[Value], parts: _Message, values: Values) -> None:
    if not positional:
        return
    if shape.rest is None:
        raise Fault(f"what stands in {shape.title}[…] has a name: key: value")
    form = shape.fields[shape.rest]
    found = [values.of_kind(form.kind, each) for each in positional]
    if form.repeated:
        parts[shape.rest] = found
    elif len(found) == 1:
        parts[shape.rest] = found[0]
    else:
        raise Fault(f"{shape.title}[…] takes one {shape.rest}, there are {len(found)}")


def _named(shape: Shape, pairs: list[Pair], parts: _Message, values: Values) -> None:
    fields = {text: field for field, text in shape.renamed.items()}
    for key, value in pairs:
        field_name = fields.get(key, key)
        if field_name in parts:
            raise Fault(f"{key} stands twice")
        if field_name == "groupings":
            parts[field_name] = [_grouping(each) for each in value] if isinstance(value, list) else _grouping(value)
        else:
            parts[field_name] = values.field(field_name, value, shape)
    if "grouping_expressions" in parts and "groupings" not in parts:
        count = len(parts["grouping_expressions"])
        parts["groupings"] = [{"expression_references": list(range(count))}]


def _grouping(value: Value) -> _Message:
    if isinstance(value, list) and all(isinstance(each, Number) and each.text.isdigit() for each in value):
        return {"expression_references": [int(each.text) for each in value]}
    raise Fault("sets are written sets: [[0, 1], [0], []], with the positions of what stands in by")


def _inputs(shape: Shape, line: Line, parts: _Message) -> None:
    if any(shape.fields[name].repeated for name in shape.inputs):
        parts.update((name, line.inputs) for name in shape.inputs if line.inputs)
        return
    if len(line.inputs) > len(shape.inputs):
        most = ("no relation", "one relation", "two relations")[len(shape.inputs)]
        raise Fault(f"below {shape.title} stands {most}, not {len(line.inputs)}")
    found = zip(shape.inputs, line.inputs, strict=False)
    parts.update((key, input) for key, input in found if input is not MISSING)
