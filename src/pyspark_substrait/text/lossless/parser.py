"""Conversion of text to the fields of a message."""

from __future__ import annotations

from contextvars import ContextVar
from functools import cache
from importlib.resources import files
from typing import Any

from lark import Lark, Token, Transformer, UnexpectedInput, v_args
from lark.exceptions import LarkError

from pyspark_substrait.errors import PlanFormatError
from pyspark_substrait.text.lossless.declared import Declarations, Fault
from pyspark_substrait.text.lossless.layout import BadIndentation, Layout
from pyspark_substrait.text.lossless.meaning import integer
from pyspark_substrait.text.lossless.messages import fault_error, syntax_error
from pyspark_substrait.text.lossless.neutral import (
    Call,
    Cast,
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
from pyspark_substrait.text.lossless.parse_document import TOP, Document
from pyspark_substrait.text.lossless.parse_forms import column_of
from pyspark_substrait.text.lossless.parse_literals import hex_literal, number_literal, text_literal, word_literal
from pyspark_substrait.text.lossless.parse_relations import Line, relation
from pyspark_substrait.text.lossless.parse_types import FunctionParameter, NamedParameter, Parameter, make_type
from pyspark_substrait.text.lossless.parse_values import Values
from pyspark_substrait.text.lossless.shapes import Kind, field_of
from pyspark_substrait.text.lossless.words import split_name, unquoted

__all__ = ["parse"]


def parse(text: str) -> dict[str, Any]:
    """See :func:`pyspark_substrait.text.lossless.parse`."""
    text = text.removeprefix("\ufeff")
    reading = _Reading()
    token = _READING.set(reading)
    try:
        _parser().parse(text + "\n")
        return reading.document.finished()
    except UnexpectedInput as error:
        raise syntax_error(error, text) from error
    except BadIndentation as error:
        message = "the line is indented like none around it"
        raise fault_error(message, text, error.token.end_line or 1, error.token.end_column or 1) from error
    except (Fault, ValueError) as error:
        raise fault_error(str(error), text, *reading.place) from error
    except LarkError as error:  # pragma: no cover - all that it raises is above
        raise PlanFormatError(f"the text cannot be read: {error}") from error
    finally:
        _READING.reset(token)


class _Reading:
    """The state of one parse: declarations, document, pending blocks and position."""

    def __init__(self) -> None:
        self.known = Declarations()
        self.document = Document(self.known)
        self.values = Values(self.known)
        self.blocks: dict[str, RelationValue] = {}
        self.place = (1, 1)


_READING: ContextVar[_Reading] = ContextVar("reading")


class _Layout(Layout):
    """A layout that tracks the current position, for faults that the grammar doesn't detect."""

    def process(self, stream: Any) -> Any:
        reading = _READING.get()
        for token in super().process(stream):
            if token.type != "_NL" and token.line is not None:
                reading.place = (token.line, token.column or 1)
            yield token


@cache
def _parser() -> Lark:
    grammar = files("pyspark_substrait.text.lossless").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", transformer=_Builder(), postlex=_Layout(), maybe_placeholders=True)


def _name(token: Token) -> Name:
    return Name(split_name(token), "`" in token)


def _key(token: Token) -> str:
    text = token[:-1]
    return unquoted(text) if text.startswith("`") else text


def _field(key: Token, value: Value) -> tuple[str, Value]:
    name = _key(key)
    return name, _READING.get().values.settled(value) if field_of(name).kind is Kind.EXPRESSION else value


_Below = tuple[str, dict[str, Any]]
"""A block below a line: its number and its relation."""


@v_args(inline=True)
class _Builder(Transformer[Token, Any]):
    """A method for each rule of the grammar. Rules are called from the inside out, each once."""

    # statements

    def start(self, *parts: Any) -> None:
        """Do nothing: each statement is processed when it is read."""

    def header(self, kind: Token, version: Token | None, producer: Token | None) -> None:
        maker = unquoted(producer) if producer is not None else None
        _READING.get().document.start(kind, version, maker)

    def top(self, statement: Line | _Below | None) -> None:
        if isinstance(statement, Line):
            _READING.get().place = statement.place
            _READING.get().document.add(statement)
        elif statement is not None:
            raise Fault("a block stands below the line that uses its number")

    def statement(self, line: Any, *below: Any) -> Line | _Below | None:
        if line is None:
            for each in below:
                if each is not None:
                    _READING.get().place = each.place if isinstance(each, Line) else _READING.get().place
                    raise Fault("only what an extension declares stands below it; relations stand at the top")
            return None
        parts: Line | str
        blocks: dict[str, RelationValue]
        parts, blocks = line
        values = _READING.get().values
        relations: list[dict[str, Any]] = []
        for each in below:
            if isinstance(each, Line):
                relations.append(_nested(each, values))
            elif each is not None:
                number, message = each
                waiting = blocks.pop(number, None)
                if waiting is None:
                    raise Fault(f"nothing in the line above refers to {number}")
                waiting.message.update(message)
            elif not isinstance(parts, str):
                raise Fault("declarations stand at the top")
        if blocks:
            _READING.get().place = parts.place if isinstance(parts, Line) else _READING.get().place
            raise Fault(f"the block {min(blocks)} is missing below the line")
        if isinstance(parts, str):
            if len(relations) != 1:
                raise Fault(f"below {parts}: stands one relation, not {len(relations)}")
            return parts, relations[0]
        parts.inputs = relations
        return parts

    def extension(self, urn: Token | None) -> None:
        _READING.get().known.extension(unquoted(urn) if urn is not None else None)

    def declarations(self, kind: Token, *declared: tuple[str, str]) -> None:
        for name, alias in declared:
            _READING.get().known.declare(str(kind), name, alias)

    def declared(self, function: Name, alias: Name | None) -> tuple[str, str]:
        return function.text, (alias or function).text

    def block(self, number: Token) -> tuple[str, dict[str, RelationValue]]:
        return str(number), {}

    def relation(
        self, title: Token, items: list[Any] | None, emit: list[Value] | None, properties: Object | None
    ) -> tuple[Line, dict[str, RelationValue]]:
        reading = _READING.get()
        blocks, reading.blocks = reading.blocks, {}
        place = (title.line or 1, title.column or 1)
        return Line(str(title), items or [], emit, properties, place), blocks

    def emit(self, values: list[Value] | None) -> list[Value]:
        return values or []

    def items(self, *items: Any) -> list[Any]:
        return list(items)

    def item(self, item: Value) -> Value:
        return item

    def pair(self, key: Token, value: Value) -> tuple[str, Value]:
        return _field(key, value)

    def values(self, *values: Value) -> list[Value]:
        return list(values)

    # values

    def value(self, value: Value) -> Value:
        return value

    def operand(self, value: Value) -> Value:
        return value

    def function(self, token: Token) -> Name:
        return _name(token) if token.type == "NAME" else Name((str(token),), False)

    def equated(self, left: Value, right: Value) -> Equated:
        settled = _READING.get().values.settled
        return Equated(settled(left), settled(right))

    def cast(self, value: Value, type: TypeValue) -> Cast:
        return Cast(_READING.get().values.settled(value), type)

    def ordered(self, value: Value, direction: Token) -> Ordered:
        return Ordered(_READING.get().values.settled(value), _name(direction), None)

    def ordered_by(self, value: Value, function: Name) -> Ordered:
        return Ordered(_READING.get().values.settled(value), None, function)

    def string(self, token: Token) -> str:
        return unquoted(token)

    def subquery(self, token: Token) -> RelationValue:
        blocks = _READING.get().blocks
        if token in blocks:
            raise Fault(f"{token} is used twice in the line; each block is used once")
        found = blocks[str(token)] = RelationValue({})
        return found

    def message(self, content: Object) -> MessageValue:
        return MessageValue(_READING.get().values.object(content))

    def tagged(self, tag: Token, content: Object) -> Value:
        message = _READING.get().values.object(content)
        match str(tag):
            case "expression":
                return ExpressionValue(message)
            case "literal":
                return LiteralValue(message)
        raise Fault(f"{tag} {{…}} is unknown; there are expression {{…}} and literal {{…}}")

    def listed(self, values: list[Value] | None) -> list[Value]:
        found = values or []
        for each in found:
            if isinstance(each, list) and any(isinstance(inner, list) for inner in each):
                raise Fault("no field holds lists of lists of lists")
        settled = _READING.get().values.settled
        return [settled(each) for each in found]

    def row(self, values: list[Value] | None) -> Tuple:
        settled = _READING.get().values.settled
        return Tuple([settled(each) for each in values or ()])

    def call(
        self,
        function: Name,
        items: Any,
        options: Object | None,
        nullable: Token | None,
        output: TypeValue | None,
    ) -> Call:
        found = items or ()
        positional = [item for item in found if not isinstance(item, tuple)]
        if function.quoted or function.text != "over":
            settled = _READING.get().values.settled
            positional = [settled(item) for item in positional]
        pairs = [item for item in found if isinstance(item, tuple)]
        return Call(function, positional, pairs, options, nullable is not None, output)

    def object(self, *parts: Any) -> Object:
        if parts == (None, None):
            return Object([])
        return Object([_field(parts[at], parts[at + 1]) for at in range(0, len(parts), 2)])

    # literals

    def literal(self, value: Value) -> Value:
        return value

    def text(self, token: Token, type: TypeValue | None) -> Value:
        text = unquoted(token)
        return LiteralValue({"string": text} if type is None else text_literal(text, type.message))

    def hex(self, token: Token, type: TypeValue | None) -> Value:
        value = bytes.fromhex(token[2:-1])
        return Hex(value) if type is None else LiteralValue(hex_literal(value, type.message))

    def number(self, token: Token, type: TypeValue | None) -> Value:
        return Number(str(token)) if type is None else LiteralValue(number_literal(token, type.message))

    def constant(self, token: Token, type: TypeValue) -> Value:
        return LiteralValue(word_literal(token, type.message))

    # references

    def column(self, token: Token, *segments: Any) -> ExpressionValue:
        return ExpressionValue({"selection": {"direct_reference": _path(token, segments), "root_reference": {}}})

    def column_of(self, container: Value, token: Token, *segments: Any) -> ExpressionValue:
        reference = {"direct_reference": _path(token, segments)}
        return ExpressionValue({"selection": column_of(_READING.get().values, container, reference)})

    def struct_field(self, token: Token) -> tuple[str, dict[str, Any]]:
        return "struct_field", {"field": int(token[1:])}

    def list_element(self, token: Token) -> tuple[str, dict[str, Any]]:
        return "list_element", {"offset": integer(token)}

    def map_key(self, literal: Value) -> tuple[str, dict[str, Any]]:
        return "map_key", {"map_key": _READING.get().values.literal(literal)}

    # types

    def type(self, token: Token, nullable: Token | None, variation: Name | None) -> TypeValue:
        return make_type(str(token), nullable is not None, variation, None, _READING.get().known)

    def type_of(
        self,
        token: Token,
        nullable: Token | None,
        variation: Name | None,
        parameters: list[Parameter] | None,
        behind: Token | None,
    ) -> TypeValue:
        marked = nullable is not None or behind is not None
        return make_type(str(token), marked, variation, parameters or [], _READING.get().known)

    def variation(self, name: Name) -> Name:
        return name

    def parameters(self, *parameters: Parameter) -> list[Parameter]:
        return [*parameters]

    def parameter(self, parameter: Parameter) -> Parameter:
        return parameter

    def named(self, key: Token, type: TypeValue) -> NamedParameter:
        return NamedParameter(_key(key), type)

    def function_of_one(self, taken: TypeValue, returned: TypeValue) -> FunctionParameter:
        return FunctionParameter([taken], returned)

    def function_of(self, taken: Any, returned: TypeValue) -> FunctionParameter:
        return FunctionParameter(taken or [], returned)

    def integer(self, token: Token) -> int:
        return integer(token)

    def word(self, token: Token) -> Name:
        return _name(token)

    def types(self, *types: TypeValue) -> list[TypeValue]:
        return [*types]


def _nested(line: Line, values: Values) -> dict[str, Any]:
    _READING.get().place = line.place
    if line.title in TOP:
        raise Fault(f"{line.title} stands at the top, not below another line")
    return relation(line, values)


def _path(token: Token, segments: Any) -> dict[str, Any]:
    found: list[tuple[str, dict[str, Any]]] = [*segments]
    if len(token) > 1:
        found.insert(0, ("struct_field", {"field": int(token[1:])}))
    if not found:
        raise Fault("$ is not a column; columns are written $0, $1")
    message: dict[str, Any] | None = None
    for kind, parts in reversed(found):
        message = {kind: parts if message is None else {**parts, "child": message}}
    assert message is not None
    return message
