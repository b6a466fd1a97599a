"""Conversion of the parts of a line to the fields of messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pyspark_substrait.text.lossless.declared import Declarations, Fault
from pyspark_substrait.text.lossless.meaning import enum_value, integer, is_word, value_text, without_names
from pyspark_substrait.text.lossless.neutral import (
    Call,
    Equated,
    ExpressionValue,
    Hex,
    LiteralValue,
    MessageValue,
    Name,
    Number,
    Object,
    Ordered,
    RelationValue,
    Tuple,
    TypeValue,
    Value,
)
from pyspark_substrait.text.lossless.parse_forms import FORMS_IN
from pyspark_substrait.text.lossless.parse_literals import bare_number, interval_literal
from pyspark_substrait.text.lossless.parse_types import NamedParameter, make_struct
from pyspark_substrait.text.lossless.shapes import AGGREGATE, DEFAULTS, WINDOW, Kind, Shape, field_of, prefix_of
from pyspark_substrait.text.lossless.type_forms import REQUIRED
from pyspark_substrait.text.lossless.words import FORMS, INTERVALS

__all__ = ["Values"]

_Message = dict[str, Any]
_INTEGER = re.compile(r"-?[0-9]+")
_LITERALS = {"list", "struct", "map", *INTERVALS}


class Values:
    """Converts values to message fields, by the meaning that their position gives them.

    Raises:
        Fault: a value isn't allowed at its position; raised by every method.
    """

    def __init__(self, known: Declarations) -> None:
        self.known = known

    def expression(self, value: Value) -> _Message:
        """An ``Expression``."""
        match value:
            case ExpressionValue():
                return value.message
            case Call():
                return self._call_expression(value)
            case MessageValue():
                return value.message
        return {"literal": self.literal(value)}

    def literal(self, value: Value) -> _Message:
        """A ``Literal``."""
        match value:
            case LiteralValue():
                return value.message
            case Number():
                return bare_number(value.text)
            case Hex():
                return {"binary": value.value}
            case str():
                return {"string": value}
            case Name() if is_word(value, "true", "false"):
                return {"boolean": value.text == "true"}
            case Call() if is_word(value.function, "list", "struct", "map"):
                return self._compound_literal(value)
            case Call() if value.function.text in INTERVALS and not value.function.quoted:
                return self._interval(value)
            case MessageValue():
                return value.message
        raise Fault(f"{value_text(value)} is not an expression")

    def _compound_literal(self, call: Call) -> _Message:
        without_names(call)
        message: _Message
        match call.function.text:
            case "list":
                message = {"list": {"values": [self.literal(each) for each in call.items]}}
            case "struct":
                message = {"struct": {"fields": [self.literal(each) for each in call.items]}}
            case _:
                message = {"map": {"key_values": self.entries(call, self.literal)}}
        return {**message, "nullable": True} if call.nullable else message

    def _interval(self, call: Call) -> _Message:
        if call.items or call.options is not None or call.output is not None:
            raise Fault(f"an interval is written with the names of its parts: {call.function.text}(months: 1)")
        found = {key: self._plain(value) for key, value in call.pairs}
        message = interval_literal(call.function.text, found)
        return {**message, "nullable": True} if call.nullable else message

    def entries(self, call: Call, part: Callable[[Value], _Message]) -> list[_Message]:
        """The entries of a map."""
        found = []
        for each in call.items:
            if not isinstance(each, Equated):
                raise Fault(f"the entries of a {call.function.text} are written key = value")
            found.append({"key": part(each.left), "value": part(each.right)})
        return found

    def settled(self, value: Value) -> Value:
        """Resolve a call whose meaning doesn't depend on its position, so that deep nesting needs no deep recursion."""
        if not isinstance(value, Call):
            return value
        form = None if value.function.quoted or value.function.text not in FORMS else value.function.text
        if form is None:
            return value if value.pairs else ExpressionValue(self.expression(value))
        if form in _LITERALS:
            return LiteralValue(self.literal(value))
        return ExpressionValue(self.expression(value)) if form in FORMS_IN else value

    # calls

    def _call_expression(self, call: Call) -> _Message:
        if call.function.quoted or call.function.text not in FORMS:
            return {"scalar_function": self.call(call)}
        form = FORMS_IN.get(call.function.text)
        if form is None:
            return {"literal": self.literal(call)}
        if call.options is not None or call.output is not None:
            raise Fault(f"{call.function.text} is not a function and has neither options nor a type of its own")
        if call.nullable and not call.function.text.startswith("nested_"):
            raise Fault(f"{call.function.text}(…) cannot have a ?")
        return form(self, call)

    def call(self, call: Value, fields: Sequence[str] = ()) -> _Message:
        """A call of a function, with the fields that it may have beside its arguments."""
        if not isinstance(call, Call):
            raise Fault(f"{value_text(call)} is not a call of a function")
        if not call.function.quoted and call.function.text in FORMS:
            raise Fault(f"{call.function.text} is not a function here; a function of that name stands in backticks")
        if call.nullable:
            raise Fault("a call has no ? behind it; its type stands behind ->")
        message: _Message = {"function_reference": self.known.anchor("functions", call.function.text)}
        if call.items:
            message["arguments"] = [self._argument(each) for each in call.items]
        if call.options is not None:
            message["options"] = [self._option(key, value) for key, value in call.options.pairs]
        if call.output is not None:
            message["output_type"] = call.output.message
        return message | self.parts(call.pairs, fields, call.function.text)

    def parts(self, pairs: Iterable[tuple[str, Value]], fields: Sequence[str], what: str) -> _Message:
        """Return the named parts of a call; absent fields that have a default get it."""
        message: _Message = {key: DEFAULTS[key] for key in fields if key in DEFAULTS}
        given: set[str] = set()
        for key, value in pairs:
            if key in given:
                raise Fault(f"{key} stands twice")
            given.add(key)
            if key not in fields:
                takes = f"it takes {', '.join(fields)}" if fields else "a scalar function has none such"
                raise Fault(f"{what} has no {key}: {takes}")
            message[key] = self.field(key, value)
        return message

    def _argument(self, value: Value) -> _Message:
        match value:
            case TypeValue():
                return {"type": value.message}
            case Name() if not is_word(value, "true", "false"):
                return {"enum": value.text}
            case MessageValue():
                return value.message
        return {"value": self.expression(value)}

    def _option(self, key: str, value: Value) -> _Message:
        return {
            "name": key,
            "preference": [self._name(each) for each in (value if isinstance(value, list) else [value])],
        }

    def _measure(self, value: Value) -> _Message:
        call = self.call(value, (*AGGREGATE, "filter"))
        filter = call.pop("filter", None)
        return {"measure": call} if filter is None else {"measure": call, "filter": filter}

    def window_call(self, value: Value) -> _Message:
        """A ``WindowFunction``, or a ``WindowRelFunction`` of a window relation."""
        if not isinstance(value, Call) or not is_word(value.function, "over") or len(value.items) != 1:
            raise Fault("a window function is written over(sum:i64($0) -> i64?, partitions: [$1])")
        return self.call(value.items[0]) | self.parts(value.pairs, WINDOW, "over")

    # fields

    def row(self, value: Value) -> list[_Message]:
        """The fields of a row."""
        if not isinstance(value, Tuple):
            raise Fault(f"{value_text(value)} is not a row; rows are written (1:i32, 'a')")
        return [self.expression(each) for each in value.items]

    def object(self, value: Object, shape: Shape | None = None) -> _Message:
        """A message that is written field by field."""
        found: _Message = {}
        for key, part in value.pairs:
            if key in found:
                raise Fault(f"{key} stands twice")
            found[key] = self.field(key, part, shape)
        return found

    def field(self, key: str, value: Value, shape: Shape | None = None) -> Any:
        """Return the value of a field."""
        kind, prefix, _ = field_of(key, shape)
        if prefix and isinstance(value, Name):
            return enum_value(value, prefix)
        if kind is Kind.MASK and isinstance(value, list):
            return {"select": {"struct_items": [{"field": self._plain(each)} for each in value]}}
        return [self.of_kind(kind, each) for each in value] if isinstance(value, list) else self.of_kind(kind, value)

    def of_kind(self, kind: Kind, value: Value) -> Any:
        """A single value of a field."""
        if isinstance(value, MessageValue):
            return value.message
        match kind:
            case Kind.EXPRESSION:
                return self.expression(value)
            case Kind.SCHEMA if isinstance(value, Call):
                return self.schema([*value.items, *value.pairs])
            case Kind.FIELD_REFERENCE if isinstance(value, ExpressionValue) and "selection" in value.message:
                return value.message["selection"]
            case Kind.SORT:
                return self._sort(value)
            case Kind.CALL:
                return self.call(value, AGGREGATE)
            case Kind.MEASURE:
                return self._measure(value)
            case Kind.WINDOW_CALL:
                return self.window_call(value)
            case Kind.BOUND:
                return self._bound(value)
            case Kind.ROW:
                return {"fields": self.row(value)}
            case Kind.LITERAL_ROW if isinstance(value, Tuple):
                return {"fields": [self.literal(each) for each in value.items]}
            case Kind.JOIN_KEY if isinstance(value, Equated):
                return {
                    "left": self.of_kind(Kind.FIELD_REFERENCE, value.left),
                    "right": self.of_kind(Kind.FIELD_REFERENCE, value.right),
                    "comparison": {"simple": "SIMPLE_COMPARISON_TYPE_EQ"},
                }
            case Kind.EXPAND_FIELD:
                if isinstance(value, list):
                    return {"switching_field": {"duplicates": [self.expression(each) for each in value]}}
                return {"consistent_field": self.expression(value)}
            case Kind.NAME:
                return self._name(value)
            case Kind.FUNCTION | Kind.USER_TYPE | Kind.VARIATION if isinstance(value, Name):
                return self.known.anchor(kind.value, value.text)
        return self._plain(value)

    def _name(self, value: Value) -> str:
        match value:
            case Name():
                return value.text
            case str():
                return value
            case LiteralValue(message={"string": str(text)}):
                return text
        raise Fault(f"{value_text(value)} is not a name; names that are not plain words stand in backticks")

    def schema(self, items: Iterable[Any]) -> _Message:
        """Return the ``NamedStruct`` with these columns."""
        columns: list[NamedParameter] = []
        for item in items:
            if isinstance(item, tuple) and isinstance(item[1], Name):
                raise Fault(f"{item[1].text} is not a type; one of a user is written u!{item[1].text}")
            if not isinstance(item, tuple) or not isinstance(item[1], TypeValue):
                raise Fault("columns are written with their names and types: orders(id: i64, price: decimal<10, 2>?)")
            columns.append(NamedParameter(*item))
        struct = make_struct(columns, dict(REQUIRED))
        return {"names": struct.names, **struct.message}

    def _plain(self, value: Value) -> Any:
        match value:
            case list():
                return [self._plain(each) for each in value]
            case Name() if is_word(value, "true", "false"):
                return value.text == "true"
            case Name():
                return value.text
            case Number():
                return integer(value.text) if _INTEGER.fullmatch(value.text) else float(value.text)
            case Hex():
                return value.value
            case str():
                return value
            case LiteralValue(message={"string": str(text)}):
                return text
            case LiteralValue(message={"fp64": float() | str() as number}):
                return number
            case TypeValue() | RelationValue():
                return value.message
            case Call(function=Name(parts=("any",), quoted=False), items=[str(url), Hex(content)]):
                return {"@type": url, "value": content}
            case MessageValue():
                return value.message
        return self.expression(value)

    def _sort(self, value: Value) -> _Message:
        if not isinstance(value, Ordered):
            raise Fault("a sort key states its direction: $0 asc_nulls_last")
        message: _Message = {"expr": self.expression(value.value)}
        if value.function is not None:
            message["comparison_function_reference"] = self.known.anchor("functions", value.function.text)
        elif value.direction is not None:
            message["direction"] = enum_value(value.direction, prefix_of("direction"))
        return message

    def _bound(self, value: Value) -> _Message:
        match value:
            case Name() if value.text in ("unbounded", "current_row"):
                return {value.text: {}}
            case Call(items=[offset]) if value.function.text in ("preceding", "following"):
                return {value.function.text: {"offset_expr": self.expression(offset)}}
        raise Fault("a bound is unbounded, current_row, preceding(1) or following(1)")
