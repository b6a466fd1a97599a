"""Documents as text: a line for each relation, its inputs indented below it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from pyspark_substrait.text.lossless.shapes import BEHAVIOR, PROPERTIES, VERSION, Kind, Shape, shape_of
from pyspark_substrait.text.lossless.symbols import Symbols
from pyspark_substrait.text.lossless.words import FORMS, name, quoted
from pyspark_substrait.text.lossless.write_expressions import Expressions
from pyspark_substrait.text.lossless.write_types import Odd, only, schema_text

__all__ = ["write"]

_Message: TypeAlias = Mapping[str, Any]
_Below: TypeAlias = "tuple[str, _Message | None]"
"""An entry below a line: a block number or an empty string, and a relation; None for a missing input."""

_INDENT = "  "
DEEPEST = 30
"""From this depth on, a line states its depth instead of being indented further."""

_WIDE = 100
_AT_THE_TOP = (
    "version",
    "extension_urns",
    "extensions",
    "relations",
    "parameter_bindings",
    "type_aliases",
    "named_lambdas",
    "referred_expr",
    "base_schema",
    "detached_expressions",
    "detached_rels",
)


def write(document: _Message, *, is_plan: bool) -> str:
    """See :func:`pyspark_substrait.text.lossless.write`."""
    return _Writer(document, is_plan).text()


class _Writer:
    def __init__(self, document: _Message, is_plan: bool) -> None:
        self.document = document
        self.symbols = Symbols.of(document)
        self.is_plan = is_plan

    def text(self) -> str:
        body = [*self._top()]
        header = [f"{_INDENT * depth}{line}" for depth, line in self.symbols.lines()]
        parts = [[self._first()], header, body]
        return "\n\n".join("\n".join(part) for part in parts if part) + "\n"

    def _first(self) -> str:
        version = self.document.get("version", {})
        number = ".".join(str(version.get(key, 0)) for key in VERSION)
        kind = "plan" if self.is_plan else "expressions"
        stated = f" {number}" if any(version.get(key) for key in VERSION) else ""
        producer = f" by {quoted(version['producer'])}" if "producer" in version else ""
        return f"substrait {kind}{stated}{producer}"

    def _top(self) -> Iterator[str]:
        yield from self._statement(*self._general())
        for alias in self.document.get("type_aliases", ()):
            yield from self._line("Alias", lambda out, alias=alias: _alias(out, alias))
        for binding in self.document.get("parameter_bindings", ()):
            yield from self._line("Parameter", lambda out, binding=binding: _binding(out, binding))
        for item in self.document.get("named_lambdas", ()):
            yield from self._line("Lambda", lambda out, item=item: _named_lambda(out, item))
        for item in self.document.get("relations", ()):
            yield from self._plan_rel(item)
        if not self.is_plan:
            yield from self._line("Schema", lambda out: _schema(out, self.document.get("base_schema", {})))
        for item in self.document.get("referred_expr", ()):
            yield from self._line(
                "Measure" if "measure" in item else "Expression", lambda out, item=item: _referred(out, item)
            )
        yield from self._detached(self.document)

    def _general(self) -> tuple[str, list[_Below]]:
        out = Expressions(self.symbols)
        version = self.document.get("version", {})
        items = [f"{key}: {out.value(key, version[key])}" for key in ("git_hash",) if key in version]
        for key, value in self.document.items():
            if key not in _AT_THE_TOP and not (key == "execution_behavior" and value == BEHAVIOR):
                items.append(f"{key}: {out.value(key, value)}")
        if self.is_plan and "execution_behavior" not in self.document:
            items.append("execution_behavior: none")
        return (f"Plan[{', '.join(items)}]" if items else ""), []

    def _line(self, title: str, items: Any) -> Iterator[str]:
        out = Expressions(self.symbols)
        text = f"{title}[{', '.join(items(out))}]"
        yield from self._statement(text, _blocks(out))

    def _plan_rel(self, item: _Message) -> Iterator[str]:
        if "root" in item:
            names = ", ".join(map(name, item["root"].get("names", ())))
            below: list[_Below] = [("", item["root"]["input"])] if "input" in item["root"] else []
            yield from self._statement(f"Root[{names}]", below)
        elif "rel" in item:
            yield from self._relations([("", item["rel"])], 0)
        yield from self._detached(item)

    def _detached(self, item: _Message) -> Iterator[str]:
        for each in item.get("detached_expressions", ()):
            yield from self._line("DetachedExpression", lambda out, each=each: [out.expression(each)])
        for each in item.get("detached_rels", ()):
            yield from self._statement("DetachedRelation[]", [("", each)])

    def _statement(self, text: str, below: list[_Below]) -> Iterator[str]:
        if text:
            yield text
            yield from self._relations(below, 1)

    def _relations(self, relations: list[_Below], depth: int) -> Iterator[str]:
        stack = [(depth, each) for each in reversed(relations)]
        while stack:
            depth, (heading, relation) = stack.pop()
            if heading:
                yield _indented(depth, f"{heading}:")
                stack.append((depth + 1, ("", relation)))
                continue
            text, below = _relation(relation, self.symbols, depth)
            yield _indented(depth, text)
            stack.extend((depth + 1, each) for each in reversed(below))


def _indented(depth: int, text: str) -> str:
    return f"{_INDENT * depth}{text}" if depth <= DEEPEST else f"{_INDENT * DEEPEST}({depth}) {text}"


def _blocks(out: Expressions) -> list[_Below]:
    return [(f"#{number}", relation) for number, relation in enumerate(out.blocks, start=1)]


def _alias(out: Expressions, alias: _Message) -> Iterator[str]:
    yield str(alias.get("type_alias_anchor", 0))
    yield out.of_kind(Kind.TYPE, alias.get("type", {}))


def _binding(out: Expressions, binding: _Message) -> Iterator[str]:
    yield str(binding.get("parameter_anchor", 0))
    yield out.literal(binding.get("value", {}))


def _named_lambda(out: Expressions, item: _Message) -> Iterator[str]:
    yield str(item.get("lambda_anchor", 0))
    yield out.expression({"lambda": item.get("lambda", {})})
    if "name" in item:
        yield f"name: {quoted(item['name'])}"


def _schema(out: Expressions, schema: _Message) -> Iterator[str]:
    try:
        yield schema_text(schema, out.symbols)
    except Odd:
        yield f"base_schema: {out.object(schema)}"


def _referred(out: Expressions, item: _Message) -> Iterator[str]:
    if "measure" in item:
        yield out.of_kind(Kind.CALL, item["measure"])
    else:
        yield out.expression(item.get("expression", {}))
    if "output_names" in item:
        yield f"names: [{', '.join(map(name, item['output_names']))}]"


# relations


def _relation(message: _Message | None, symbols: Symbols, depth: int) -> tuple[str, list[_Below]]:
    """Return the line of a relation, and the entries below it."""
    if message is None:
        return "Missing[]", []
    if not message:
        return "Nothing[]", []
    ((kind, parts),) = message.items()
    if kind == "detached_rel_ordinal":
        return f"Detached[{parts}]", []
    shape = shape_of(kind)
    out = Expressions(symbols)
    items = [*_items(out, parts, shape)]
    common = parts.get("common", {})
    emit = ""
    mapping = common.get("emit", {}).get("output_mapping", ())
    positions = "emit" in common and all(each >= 0 for each in mapping)
    if positions:
        emit = f"=> {', '.join(f'${each}' for each in mapping)}".rstrip()
    properties = {
        PROPERTIES.get(key, key): value
        for key, value in common.items()
        if key != "direct" and not (key == "emit" and positions)
    }
    text = _filled(items, _INDENT * (min(depth, DEEPEST) + 2))
    joint = " " if text and emit else ""
    suffix = f" {out.object(properties)}" if properties else ""
    below = _blocks(out)
    for field in shape.inputs:
        if shape.fields[field].repeated:
            below.extend(("", each) for each in parts.get(field, ()))
        elif field in parts:
            below.append(("", parts[field]))
        elif any(later in parts for later in shape.inputs):
            below.append(("", None))
    return f"{shape.title}[{text}{joint}{emit}]{suffix}", below


def _filled(items: list[str], space: str) -> str:
    """Join items with commas; on several lines if they are long together."""
    text = ", ".join(items)
    if len(text) <= _WIDE or len(items) < 2:
        return text
    lines = [[items[0]]]
    width = len(items[0])
    for item in items[1:]:
        width += len(item) + 2
        if width > _WIDE:
            lines.append([])
            width = len(item)
        lines[-1].append(item)
    return f",\n{space}".join(", ".join(line) for line in lines)


def _items(out: Expressions, parts: _Message, shape: Shape) -> Iterator[str]:
    written = {"common", *shape.inputs}
    if "grouping_expressions" in parts and "groupings" not in parts:
        yield "sets: []"
    if shape.first is not None:
        yield out.value(shape.first, parts.get(shape.first, "unspecified"), shape)
        written.add(shape.first)
    if shape.key == "read":
        head, used = _read_head(out, parts)
        yield from head
        written |= used
    if shape.rest is not None and shape.rest in parts:
        value, form = parts[shape.rest], shape.fields[shape.rest]
        yield from (out.of_kind(form.kind, each) for each in (value if form.repeated else [value]))
        written.add(shape.rest)
    for key, value in parts.items():
        if key == "groupings":
            yield from _sets(parts)
        elif key not in written:
            yield f"{shape.renamed.get(key, key)}: {out.value(key, value, shape)}"


def _read_head(out: Expressions, parts: _Message) -> tuple[list[str], set[str]]:
    """Return the table with its columns or the schema with its rows, and the fields that these texts cover."""
    try:
        columns = schema_text(parts["base_schema"], out.symbols)
    except (Odd, KeyError):
        return [], set()
    table = parts.get("named_table", {})
    if table.get("names") and set(table) == {"names"}:
        path = ".".join(map(name, table["names"]))
        return [f"{quoted(path, '`') if path in FORMS else path}({columns})"], {"base_schema", "named_table"}
    rows = parts.get("virtual_table")
    if rows is not None and set(rows) <= {"expressions"}:
        try:
            texts = [_row(out, row) for row in rows.get("expressions", ())]
        except Odd:
            return [f"schema({columns})"], {"base_schema"}
        return [f"schema({columns})", f"rows: [{', '.join(texts)}]"], {"base_schema", "virtual_table"}
    return [f"schema({columns})"], {"base_schema"}


def _row(out: Expressions, row: _Message) -> str:
    only(row, "fields")
    return f"({', '.join(map(out.expression, row.get('fields', ())))})"


def _sets(parts: _Message) -> Iterator[str]:
    """Yield the grouping sets, unless there is only one, of all grouping expressions in their order."""
    groupings = parts["groupings"]
    count = len(parts.get("grouping_expressions", ()))
    sets = [list(each.get("expression_references", ())) for each in groupings]
    if not count or sets != [list(range(count))]:
        yield f"sets: {sets}"
