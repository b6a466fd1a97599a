"""A plan as a page of text: a line for each relation, its inputs indented below it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from pyspark_substrait.display.columns import Column, Scope, escaped, labels, quoted, type_text
from pyspark_substrait.display.expressions import Marks, aggregate_text, expression_text
from pyspark_substrait.display.literals import counted, limited, literal_text
from pyspark_substrait.display.relations import Details, Item, details
from pyspark_substrait.display.targets import extension_texts, margin_text, named_columns, schema_text
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.model.expressions import AggregateFunction
from pyspark_substrait.model.plan import (
    ExpressionReference,
    ExtendedExpression,
    Plan,
    PlanRel,
    RelRoot,
    VariableEvaluationMode,
)
from pyspark_substrait.model.relations import (
    Aggregate,
    Ddl,
    DetachedRel,
    Expand,
    ExtensionMulti,
    ExtensionSingle,
    LateralJoin,
    Relation,
    Update,
    Write,
)
from pyspark_substrait.model.types import OpenStruct, Type, name_count

__all__ = ["explain"]

#: relations whose columns don't depend on those of their inputs
_OWN_SCHEMA = (Aggregate, Expand, ExtensionMulti, ExtensionSingle, Write)
_INDENT = "  "
_DEEPEST = 30


def explain(plan: Plan | ExtendedExpression, *, width: int | None = None, types: bool = True) -> str:
    """Write a plan as text for people.

    A relation is one line: its name, its properties, and behind ``=>`` the columns it puts out, each with its name, its
    type and, where it is new here, what it is made of. ``*`` stands for all columns of the input, unchanged.

    Columns are written by name where that is clear, otherwise as ``table.name``, ``left.name``, ``name$3`` or ``$3``,
    the position counted from 0. Subqueries are numbered and stand below the line that uses them; ``outer.x`` is a
    column of the query around. A part that contradicts the specification has a line starting with ``!`` below it.

    Args:
        plan: what to show; however wrong it is, it can be shown.
        width: break lines that are longer than this many characters; None leaves them whole.
        types: whether to show the types of columns.
    """
    page = _Page(types=types)
    blocks = page.expressions(plan) if isinstance(plan, ExtendedExpression) else page.plan(plan)
    lines: list[str] = []
    stack = [(0, block) for block in reversed(blocks)]
    while stack:
        depth, block = stack.pop()
        indent = _INDENT * depth if depth <= _DEEPEST else f"{_INDENT * _DEEPEST}({depth}) "
        for line in block.lines:
            lines.extend(_wrapped(indent, escaped(line), width))
        stack.extend((depth + 1, child) for child in reversed(block.children))
    return "\n".join(lines)


@dataclass(slots=True)
class _Block:
    """Lines, and what is indented below them.

    ``columns`` are those that the relation puts out; ``left_open``: only its makers know them; ``broken``: it has a
    fault, or is built on one, that hides their types.
    """

    lines: list[str]
    children: list[_Block] = field(default_factory=list)
    columns: tuple[Column, ...] = ()
    broken: bool = False
    left_open: bool = False


@dataclass(frozen=True, slots=True)
class _Page:
    """How to show, and what has been shown."""

    types: bool
    marks: Marks = field(default_factory=Marks)

    # --- top level ----------------------------------------------------------------------------------------------------

    def plan(self, plan: Plan) -> list[_Block]:
        page = replace(self, marks=Marks(named_lambdas=plan.named_lambdas))
        blocks = [_Block([_title("Plan", plan)])]
        if plan.execution_behavior is not VariableEvaluationMode.PER_PLAN:
            blocks.append(_Block([f"Variables are evaluated: {plan.execution_behavior.value}"]))
        for binding in plan.parameter_bindings:
            blocks.append(_Block([f"Parameter {binding.parameter_anchor} = {literal_text(binding.value)}"]))
        blank = Scope(columns=(), labels=())
        for named in plan.named_lambdas:
            text = expression_text(named.lambda_, blank, page.marks)
            blocks.append(page._with_subqueries(_Block([f"Lambda {page.marks.lambda_name(named)} = {text}"])))
        for number, type in enumerate(plan.type_aliases):
            blocks.append(_Block([f"Type alias {number} = {type_text(type)}"]))
        for number, tree in enumerate(plan.relations):
            block = page._tree(tree)
            if len(plan.relations) > 1:
                block.lines[0] = f"relations[{number}]: {block.lines[0]}"
            blocks.append(block)
        return blocks + _footer(plan)

    def expressions(self, plan: ExtendedExpression) -> list[_Block]:
        columns = named_columns(plan.base_schema)
        scope = Scope(columns=columns, labels=labels(columns))
        top = _Block([_title("Expressions", plan)])
        top.children.append(_Block([f"over {schema_text(plan.base_schema) if self.types else _listed(scope.labels)}"]))
        for reference in plan.referred_expr:
            top.children.append(self._with_subqueries(_Block([self._named_expression(reference, scope)])))
        return [top, *_footer(plan)]

    def _named_expression(self, reference: ExpressionReference, scope: Scope) -> str:
        node = reference.expr
        if isinstance(node, AggregateFunction):
            text = aggregate_text(node, scope, self.marks)
        else:
            text = expression_text(node, scope, self.marks)
        name = quoted(reference.output_names[0]) if reference.output_names else "unnamed"
        try:
            type = node.type
        except Exception as error:
            return f"{name} = {text}  ! {_message(error)}"
        return f"{name}{self._typed(Column(type=type, inner=reference.output_names[1:]))} = {text}"

    def _tree(self, tree: PlanRel) -> _Block:
        if not isinstance(tree, RelRoot):
            return self._relation(tree, None)
        inner = self._relation(tree.input, None)
        if inner.left_open:
            return _Block([f"Root[{', '.join(quoted(name) for name in tree.names)}]"], [inner])
        sources, position, columns = labels(inner.columns), 0, []
        for column in inner.columns:
            name = tree.names[position] if position < len(tree.names) else None
            position += 1
            below: tuple[str, ...] = ()
            if column.type is not None:
                below = tree.names[position : position + name_count(column.type)]
                position += name_count(column.type)
            columns.append(replace(column, name=name, inner=below))
        shown = [
            self._column(label, column, source)
            for label, column, source in zip(labels(tuple(columns)), columns, sources, strict=True)
        ]
        lines = [f"Root[{', '.join(shown) or 'no columns'}]"]
        if position != len(tree.names) and not inner.broken:
            lines.append(
                f"! the root has {counted(len(tree.names), 'name')}, its columns and their fields take {position}"
            )
        return _Block(lines, [inner])

    # --- relations ----------------------------------------------------------------------------------------------------

    def _relation(self, relation: Relation, outer: Scope | None) -> _Block:
        """A relation and all below it; ``outer`` is the scope around the query it is part of."""
        shown = isinstance(relation, DetachedRel) and id(relation.relation) in self.marks.detached
        inputs: list[_Block] = []
        for child in () if shown else relation.inputs:
            around = outer
            if inputs and isinstance(relation, LateralJoin):
                columns = inputs[0].columns
                anchor = relation.common.rel_anchor
                around = Scope(columns=columns, labels=labels(columns), outer=outer, lateral=True, anchor=anchor)
            inputs.append(self._relation(child, around))
        # the columns behind an input whose number of columns nobody knows have no position
        known = [block.columns for block in inputs]
        if inputs and inputs[0].left_open:
            known[1:] = [() for _ in known[1:]]
        problems = []
        try:
            about = details(relation, known, outer, self.marks)
        except RecursionError:
            raise
        except Exception as error:  # a plan that contradicts itself is shown as far as it goes
            about = Details(properties=("…",), items=(), scope=Scope(columns=(), labels=()))
            problems.append(error)
        block = self._line(relation, about, any(child.broken for child in inputs), problems)
        self._with_subqueries(block)
        block.children.extend(inputs)
        return block

    def _with_subqueries(self, block: _Block) -> _Block:
        """Put the subqueries that the line of a block has named below it."""
        found = self.marks.subqueries[:]
        self.marks.subqueries.clear()
        for number, relation, scope in found:
            block.children.append(_Block([f"subquery #{number}:"], [self._relation(relation, scope)]))
        return block

    def _line(self, relation: Relation, about: Details, broken: bool, problems: list[Exception]) -> _Block:
        types: tuple[Type, ...] | None = None
        left_open = False
        if not broken or isinstance(relation, _OWN_SCHEMA):
            try:
                schema = relation.schema
                left_open = isinstance(schema, OpenStruct)
                types = None if left_open else schema.types
                broken = False
            except RecursionError:
                raise
            except Exception as error:
                problems.extend([] if broken else [error])
                broken = True
        emit = relation.common.emit
        positions = range(len(about.items)) if emit is None else emit
        items = [
            about.items[position] if 0 <= position < len(about.items) else Item(Column(), f"${position}")
            for position in positions
        ]
        if types is not None:
            items = [*items[: len(types)], *(Item(Column(), "") for _ in types[len(items) :])]
        columns = _columns(relation, items, types)
        properties = list(about.properties)
        unused = [item.source for number, item in enumerate(about.items) if item.expression and number not in positions]
        properties.extend([f"not emitted: {', '.join(unused)}"] if unused else [])
        listed = "columns left open" if left_open else ", ".join(self._listed(columns, items, about))
        if not listed and not isinstance(relation, (Write, Ddl, Update)):
            listed = "no columns" if not broken else ""
        anchor = "" if relation.common.rel_anchor is None else f"@{relation.common.rel_anchor}"
        name = relation.__class__.__name__.replace("DetachedRel", "Detached")
        content = " => ".join(part for part in ("; ".join(properties), listed) if part)
        lines = [
            f"{name}{anchor}[{content}]{margin_text(relation)}",
            *(f"! {_message(problem)}" for problem in problems),
        ]
        return _Block(lines, columns=() if left_open else columns, broken=broken, left_open=left_open)

    def _listed(self, columns: tuple[Column, ...], items: list[Item], about: Details) -> list[str]:
        """The columns that a relation puts out; runs of columns that pass unchanged are abbreviated."""
        names = labels(columns)
        unchanged = [
            item.origin if item.origin is not None and column == about.scope.columns[item.origin] else None
            for column, item in zip(columns, items, strict=True)
        ]
        listed, position = [], 0
        while position < len(columns):
            for run in about.runs:
                size = run.stop - run.start
                if size and unchanged[position : position + size] == list(range(run.start, run.stop)):
                    listed.append(run.label)
                    position += size
                    break
            else:
                listed.append(self._column(names[position], columns[position], items[position].source))
                position += 1
        return listed

    def _column(self, label: str, column: Column, source: str) -> str:
        return f"{label}{self._typed(column)}" + (f" = {source}" if source and source != label else "")

    def _typed(self, column: Column) -> str:
        return f": {type_text(column.type, column.inner)}" if self.types and column.type is not None else ""


def _columns(relation: Relation, items: list[Item], types: tuple[Type, ...] | None) -> tuple[Column, ...]:
    """The columns that a relation puts out: what they come from, their types, and the names that a hint gives them."""
    hint = relation.common.hint
    hinted = hint.output_names if hint is not None else ()
    columns, position = [], 0
    for number, item in enumerate(items):
        column = replace(item.column, type=None if types is None else types[number])
        if hint is not None and hint.alias:
            column = replace(column, table=hint.alias)
        if hinted:
            count = 0 if column.type is None else name_count(column.type)
            name = hinted[position] if position < len(hinted) else None
            column = replace(column, name=name, inner=hinted[position + 1 : position + 1 + count])
            position += 1 + count
        columns.append(column)
    return tuple(columns)


def _message(error: Exception) -> str:
    if isinstance(error, SubstraitError):
        return f"{error.path}: {error.message}" if error.path else error.message
    return f"this can't be derived ({error.__class__.__name__}: {error})"


# --- header, footer, lines --------------------------------------------------------------------------------------------


def _title(word: str, plan: Plan | ExtendedExpression) -> str:
    version, written = plan.version, plan.original_version
    producer = f" by {escaped(version.producer)}" if version.producer else ""
    commit = f", commit {escaped(version.git_hash)}" if version.git_hash else ""
    older = f", written as {escaped(written)}" if written is not None and written != str(version) else ""
    return f"{word} ({version}{producer}{commit}{older})"


def _footer(plan: Plan | ExtendedExpression) -> list[_Block]:
    lines = extension_texts(plan.advanced_extensions)
    if plan.expected_type_urls:
        lines.append(f"messages of others: {limited([escaped(url) for url in plan.expected_type_urls])}")
    unused = [f"{declared.kind.value} {declared.name}" for declared in plan.unused_extensions]
    unused.extend(plan.unused_urns)
    if unused:
        lines.append(f"declared, but unused: {limited([escaped(text) for text in unused])}")
    numbers = [(len(plan.upgrades), "upgrade"), (len(plan.notes), "note")]
    lines.extend([text] if (text := ", ".join(counted(count, noun) for count, noun in numbers if count)) else [])
    return [_Block(lines)] if lines else []


def _listed(names: tuple[str, ...]) -> str:
    return f"({', '.join(names)})"


#: What is never broken: quoted text and the word before it, the parameters of a decimal, a name and its type, a name
#: and the equals sign behind it.
_TOKEN = re.compile(
    r"""(?:(?:DATE|TIME|TIMESTAMP|INTERVAL|UUID)\ ' # goes on as a quoted text
        (?:[^'\\]|\\.)*'
    | '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*"
    | \d+,\ \d+> | :\ (?=\S) | \ =(?=\ ) | \S)+""",
    re.VERBOSE,
)


def _wrapped(indent: str, line: str, width: int | None) -> list[str]:
    """A line, broken at spaces where it is too long; what follows is indented by four more."""
    if width is None or len(indent) + len(line) <= width:
        return [indent + line]
    lines, current, hanging = [], indent, indent + _INDENT * 2
    limit = max(width, len(hanging) + 30)
    for token in _TOKEN.findall(line):
        blank = current in (indent, hanging)
        if not blank and len(current) + 1 + len(token) > limit:
            lines.append(current)
            current, blank = hanging, True
        current += token if blank else f" {token}"
    return [*lines, current]
