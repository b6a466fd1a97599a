"""Expressions and all other messages as text; messages without a short form are written field by field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark_substrait.text.lossless.shapes import (
    AGGREGATE,
    CALL,
    DEFAULTS,
    PREDICATES,
    WINDOW,
    Kind,
    Shape,
    field_of,
    prefix_of,
)
from pyspark_substrait.text.lossless.symbols import Symbols
from pyspark_substrait.text.lossless.type_forms import REQUIRED
from pyspark_substrait.text.lossless.words import name, number_text, quoted
from pyspark_substrait.text.lossless.write_literals import literal_text
from pyspark_substrait.text.lossless.write_types import MISFITS, Odd, only, schema_text, type_text

__all__ = ["Expressions"]

_Message = Mapping[str, Any]


@dataclass(slots=True)
class Expressions:
    """Writes the content of a line. Relations in it become numbered blocks below the line."""

    symbols: Symbols
    blocks: list[_Message] = field(default_factory=list)

    def expression(self, message: _Message) -> str:
        """An ``Expression``."""
        before = len(self.blocks)
        try:
            return self._expression(message)
        except MISFITS:
            del self.blocks[before:]
            return f"expression {self.object(message)}"

    def _expression(self, message: _Message) -> str:
        if len(message) != 1:
            raise Odd
        ((kind, value),) = message.items()
        match kind:
            case "literal":
                return self.literal(value)
            case "selection":
                return self.reference(value)
            case "scalar_function":
                return self.call(value)
            case "window_function":
                return self.window_call(value)
            case "cast":
                return self._cast(value)
            case "if_then":
                return self._if_then(value)
            case "switch_expression":
                return self._switch(value)
            case "singular_or_list":
                if set(value) != {"value", "options"}:
                    raise Odd
                return f"in({self._all([value['value'], *value['options']])})"
            case "multi_or_list":
                return self._multi_or_list(value)
            case "nested":
                return self._nested(value)
            case "subquery":
                return self._subquery(value)
            case "dynamic_parameter" if "type" in value:
                type = type_text(value["type"], self.symbols)
                return f"parameter({value.get('parameter_reference', 0)}, {type})"
            case "lambda":
                return self._lambda(value)
            case "lambda_invocation":
                return self._invocation(value)
            case "named_lambda_reference":
                only(value, "lambda_reference")
                return f"named_lambda({value.get('lambda_reference', 0)})"
            case "detached_expression_ordinal":
                return f"detached({value})"
        raise Odd

    def _all(self, messages: Iterable[_Message]) -> str:
        return ", ".join(map(self.expression, messages))

    def literal(self, message: _Message) -> str:
        """A ``Literal``."""
        try:
            return literal_text(message, self.symbols)
        except MISFITS:
            return f"literal {self.object(message)}"

    # references

    def reference(self, message: _Message) -> str:
        """A ``FieldReference`` with a direct reference."""
        roots = set(message) - {"direct_reference"}
        if len(roots) != 1 or "direct_reference" not in message:
            raise Odd
        root = roots.pop()
        path = self._segments(message["direct_reference"])
        value = message[root]
        match root:
            case "root_reference":
                return path
            case "outer_reference" if set(value) == {"steps_out"}:
                return f"outer({value['steps_out']}).{path}"
            case "outer_reference" if set(value) == {"rel_reference"}:
                return f"relation({value['rel_reference']}).{path}"
            case "lambda_parameter_reference":
                return f"argument({value.get('steps_out', 0)}).{path}"
            case "expression":
                return f"({self.expression(value)}).{path}"
        raise Odd

    def _segments(self, segment: _Message | None) -> str:
        parts: list[str] = []
        while segment is not None:
            if len(segment) != 1:
                raise Odd
            ((kind, value),) = segment.items()
            match kind:
                case "struct_field":
                    only(value, "field", "child")
                    number = value.get("field", 0)
                    if number < 0:
                        raise Odd
                    parts.append(f".{number}" if parts else f"${number}")
                case "list_element":
                    only(value, "offset", "child")
                    parts.append(f"{'' if parts else '$'}[{value.get('offset', 0)}]")
                case "map_key" if "map_key" in value:
                    key = literal_text(value["map_key"], self.symbols)
                    if key.endswith((")", ")?")):
                        raise Odd
                    if key in ("true", "false"):
                        key += ":boolean"
                    parts.append(f"{'' if parts else '$'}{{{key}}}")
                case _:
                    raise Odd
            segment = value.get("child")
        return "".join(parts)

    # calls

    def call(self, message: _Message, extra: Iterable[str] = ()) -> str:
        """Return a call of a function; ``extra`` follows the arguments."""
        if not extra:
            only(message, *CALL)
        result = f" -> {type_text(message['output_type'], self.symbols)}" if "output_type" in message else ""
        options = self._options(message.get("options", ()))
        items = [*map(self._argument, message.get("arguments", ())), *extra]
        function = self.symbols.name("functions", message.get("function_reference", 0))
        return f"{function}({', '.join(items)}){options}{result}"

    def _argument(self, message: _Message) -> str:
        if len(message) != 1:
            raise Odd
        ((kind, value),) = message.items()
        match kind:
            case "value":
                return self.expression(value)
            case "type":
                return type_text(value, self.symbols)
        return name(value)

    def _options(self, options: Iterable[_Message]) -> str:
        found = []
        for option in options:
            chosen = [name(each) for each in option.get("preference", ())]
            value = chosen[0] if len(chosen) == 1 else f"[{', '.join(chosen)}]"
            found.append(f"{name(option.get('name', ''))}: {value}")
        return f"{{{', '.join(found)}}}" if found else ""

    def aggregate_call(self, message: _Message) -> str:
        """An ``AggregateFunction``."""
        only(message, *CALL, *AGGREGATE)
        extra = self._parts(message, AGGREGATE)
        return self.call({key: message[key] for key in CALL if key in message}, extra)

    def measure(self, message: _Message) -> str:
        """A ``Measure``."""
        only(message, "measure", "filter")
        call = message["measure"]
        only(call, *CALL, *AGGREGATE)
        extra = self._parts(call, AGGREGATE)
        if "filter" in message:
            extra.append(f"filter: {self.expression(message['filter'])}")
        return self.call({key: call[key] for key in CALL if key in call}, extra)

    def window_call(self, message: _Message) -> str:
        """A ``WindowFunction`` or a ``WindowRelFunction``."""
        only(message, *CALL, *WINDOW)
        call = self.call({key: message[key] for key in CALL if key in message})
        return f"over({', '.join([call, *self._parts(message, WINDOW)])})"

    def _parts(self, message: _Message, fields: Iterable[str]) -> list[str]:
        found = []
        for key in fields:
            default = DEFAULTS.get(key)
            if key not in message:
                if default is not None:
                    found.append(f"{key}: unspecified")
            elif message[key] != default:
                found.append(f"{key}: {self.value(key, message[key])}")
        return found

    # forms

    def _cast(self, message: _Message) -> str:
        if not {"type", "input"} <= set(message):
            raise Odd
        only(message, "type", "input", "failure_behavior")
        type = type_text(message["type"], self.symbols)
        behavior = message.get("failure_behavior")
        more = f", failure_behavior: {self.value('failure_behavior', behavior)}" if behavior is not None else ""
        return f"cast({self.expression(message['input'])} as {type}{more})"

    def _if_then(self, message: _Message) -> str:
        only(message, "ifs", "else")
        items = []
        for clause in message.get("ifs", ()):
            if set(clause) != {"if", "then"}:
                raise Odd
            items += [self.expression(clause["if"]), self.expression(clause["then"])]
        if "else" in message:
            items.append(f"else: {self.expression(message['else'])}")
        return f"if({', '.join(items)})"

    def _switch(self, message: _Message) -> str:
        only(message, "match", "ifs", "else")
        if "match" not in message:
            raise Odd
        items = [self.expression(message["match"])]
        for clause in message.get("ifs", ()):
            if set(clause) != {"if", "then"}:
                raise Odd
            items.append(f"{self.literal(clause['if'])} = {self.expression(clause['then'])}")
        if "else" in message:
            items.append(f"else: {self.expression(message['else'])}")
        return f"switch({', '.join(items)})"

    def _multi_or_list(self, message: _Message) -> str:
        only(message, "value", "options")
        rows = [message.get("value", ()), *(record.get("fields", ()) for record in message.get("options", ()))]
        return f"multi_in({', '.join(f'({self._all(row)})' for row in rows)})"

    def _nested(self, message: _Message) -> str:
        only(message, "nullable", "struct", "list", "map")
        mark = "?" if message.get("nullable") else ""
        if "struct" in message:
            return f"nested_struct({self._all(message['struct'].get('fields', ()))}){mark}"
        if "list" in message:
            return f"nested_list({self._all(message['list'].get('values', ()))}){mark}"
        entries = [
            f"{self.expression(each['key'])} = {self.expression(each['value'])}"
            for each in message["map"].get("key_values", ())
        ]
        return f"nested_map({', '.join(entries)}){mark}"

    def _subquery(self, message: _Message) -> str:
        if len(message) != 1:
            raise Odd
        ((kind, value),) = message.items()
        match kind:
            case "scalar":
                return f"scalar({self.block(value['input'])})"
            case "in_predicate":
                needles = [self.expression(each) for each in value.get("needles", ())]
                return f"in_query({', '.join([*needles, self.block(value['haystack'])])})"
            case "set_predicate" if (word := _word(value["predicate_op"], prefix_of("predicate_op"))) in PREDICATES:
                return f"{word}({self.block(value['tuples'])})"
            case "set_comparison" if len(value) == 4:
                words = [_word(value[key], prefix_of(key)) for key in ("comparison_op", "reduction_op")]
                return f"compare({', '.join([self.expression(value['left']), *words])}, {self.block(value['right'])})"
        raise Odd

    def _lambda(self, message: _Message) -> str:
        only(message, "parameters", "body")
        parameters = message.get("parameters", {})
        only(parameters, "types", "nullability")
        if parameters.get("nullability") != REQUIRED["nullability"] or "body" not in message:
            raise Odd
        types = [type_text(each, self.symbols) for each in parameters.get("types", ())]
        return f"lambda({', '.join([*types, self.expression(message['body'])])})"

    def _invocation(self, message: _Message) -> str:
        only(message, "lambda", "named_lambda", "arguments")
        if "arguments" not in message:
            raise Odd
        if "lambda" in message:
            function = self._lambda(message["lambda"])
        else:
            function = self._expression({"named_lambda_reference": message["named_lambda"]})
        return f"invoke({', '.join([function, *map(self.expression, message['arguments'].get('fields', ()))])})"

    def block(self, relation: _Message) -> str:
        """Return the block number of a relation, which is written below the line."""
        self.blocks.append(relation)
        return f"#{len(self.blocks)}"

    # fields

    def object(self, message: _Message, shape: Shape | None = None) -> str:
        """Return a message, written field by field."""
        return f"{{{', '.join(f'{key}: {self.value(key, value, shape)}' for key, value in message.items())}}}"

    def value(self, key: str, value: Any, shape: Shape | None = None) -> str:
        """Return the value of a field as text."""
        kind, prefix, _ = field_of(key, shape)
        if prefix and isinstance(value, str):
            return _word(value, prefix)
        if isinstance(value, list | tuple):
            return f"[{', '.join(self.of_kind(kind, each) for each in value)}]"
        return self.of_kind(kind, value)

    def of_kind(self, kind: Kind, value: Any) -> str:
        """Return a single value of a field as text."""
        before = len(self.blocks)
        try:
            return self._of_kind(kind, value)
        except MISFITS:
            del self.blocks[before:]
            return self._plain(value)

    def _of_kind(self, kind: Kind, value: Any) -> str:
        match kind:
            case Kind.NAME if isinstance(value, str):
                return name(value)
            case Kind.VARIATION if value == 0:
                return "0"
            case Kind.FUNCTION | Kind.USER_TYPE | Kind.VARIATION if isinstance(value, int):
                return self.symbols.name(kind.value, value)
        if not isinstance(value, Mapping):
            return self._plain(value)
        match kind:
            case Kind.EXPRESSION:
                return self._expression(value)
            case Kind.TYPE:
                return type_text(value, self.symbols)
            case Kind.SCHEMA:
                return f"schema({schema_text(value, self.symbols)})"
            case Kind.FIELD_REFERENCE:
                return self.reference(value)
            case Kind.SORT:
                return self._sort(value)
            case Kind.CALL:
                return self.aggregate_call(value)
            case Kind.MEASURE:
                return self.measure(value)
            case Kind.WINDOW_CALL:
                return self.window_call(value)
            case Kind.BOUND:
                return self._bound(value)
            case Kind.ROW:
                only(value, "fields")
                return f"({self._all(value.get('fields', ()))})"
            case Kind.LITERAL_ROW:
                only(value, "fields")
                return f"({', '.join(map(self.literal, value.get('fields', ())))})"
            case Kind.JOIN_KEY:
                return self._join_key(value)
            case Kind.EXPAND_FIELD:
                return self._expand_field(value)
            case Kind.MASK:
                return _mask(value)
        return self._plain(value)

    def _plain(self, value: Any) -> str:
        match value:
            case bool():
                return "true" if value else "false"
            case int():
                return str(value)
            case float():
                return repr(value) if value - value == 0 else f"{number_text(value, single=False)}:fp64"
            case bytes():
                return f"x'{value.hex()}'"
            case str():
                return name(value) if value.isupper() and name(value) == value else quoted(value)
            case Mapping() if "@type" in value:
                return f"any({quoted(value['@type'])}, x'{value['value'].hex()}')"
            case Mapping():
                return self.object(value)
        return f"[{', '.join(map(self._plain, value))}]"

    def _sort(self, message: _Message) -> str:
        only(message, "expr", "direction", "comparison_function_reference")
        if len(message) != 2 or isinstance(message.get("direction"), int):
            raise Odd
        text = self.expression(message["expr"])
        if "direction" in message:
            return f"{text} {_word(message['direction'], prefix_of('direction'))}"
        return f"{text} by {self.symbols.name('functions', message['comparison_function_reference'])}"

    def _bound(self, message: _Message) -> str:
        ((kind, value),) = message.items()
        if kind in ("unbounded", "current_row"):
            return kind
        if kind in ("preceding", "following") and set(value) == {"offset_expr"}:
            return f"{kind}({self.expression(value['offset_expr'])})"
        raise Odd

    def _join_key(self, message: _Message) -> str:
        if message.get("comparison") != {"simple": "SIMPLE_COMPARISON_TYPE_EQ"} or len(message) != 3:
            raise Odd
        return f"{self.reference(message['left'])} = {self.reference(message['right'])}"

    def _expand_field(self, message: _Message) -> str:
        ((kind, value),) = message.items()
        if kind == "consistent_field":
            return self.expression(value)
        only(value, "duplicates")
        return f"[{self._all(value.get('duplicates', ()))}]"


def _mask(message: _Message) -> str:
    """Return the positions of the columns that a mask keeps; raise ``Odd`` if it selects parts of them."""
    if set(message) != {"select"}:
        raise Odd
    items = message["select"].get("struct_items", ())
    if any("child" in item for item in items):
        raise Odd
    return f"[{', '.join(str(item.get('field', 0)) for item in items)}]"


def _word(value: str | int, prefix: str) -> str:
    if isinstance(value, int):
        return str(value)
    return value.removeprefix(prefix).lower() if value.startswith(prefix) else value
