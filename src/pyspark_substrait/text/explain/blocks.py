"""A plan as blocks: one for each relation, with its inputs below it. Pages and graphs are made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.message_text import shortened_name
from pyspark_substrait.model.expressions import AggregateFunction
from pyspark_substrait.model.findings import Places
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
    BrokenRelation,
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
from pyspark_substrait.model.types import OpenStruct, Type, name_count, with_nullability
from pyspark_substrait.text.explain.columns import Column, Scope, escaped, labels, name_text, quoted, type_text
from pyspark_substrait.text.explain.expressions import aggregate_text, expression_text, options_text
from pyspark_substrait.text.explain.lines import LineKind
from pyspark_substrait.text.explain.literals import counted, limited, literal_text
from pyspark_substrait.text.explain.page_state import Options, PageState
from pyspark_substrait.text.explain.relations import Details, Item, details
from pyspark_substrait.text.explain.table_text import extension_texts, margin_text, named_columns, schema_text

__all__ = ["MOST_COLUMNS", "Block", "OutputColumn", "RelationText", "blocks"]

#: how many columns, or runs of them, the line of a relation lists
MOST_COLUMNS = 200

#: relations whose columns don't depend on those of their inputs
_OWN_SCHEMA = (Aggregate, Expand, ExtensionMulti, ExtensionSingle, Write)


def blocks(document: Plan | ExtendedExpression, places: Places, types: bool = True) -> list[Block]:
    """Return the blocks that show a document, from the header to the footer.

    Options that are the same in all calls of a function are shown once, at the end.

    Args:
        document: the document to show, however faulty.
        places: the paths from which its nodes were read.
        types: whether the texts show the types of columns.
    """
    common: dict[str, Options] = {}
    while True:
        marks = PageState(
            named_lambdas=document.named_lambdas if isinstance(document, Plan) else (), common=frozenset(common)
        )
        shown = _Page(types=types, places=places, marks=marks)
        found = shown.expressions(document) if isinstance(document, ExtendedExpression) else shown.plan(document)
        if common or not marks.uniform():
            return [*found, *_common_options(common)]
        common = marks.uniform()


def _common_options(common: dict[str, Options]) -> list[Block]:
    """Return the blocks of the options that functions have throughout the plan."""
    groups: dict[Options, list[str]] = {}
    for name, options in common.items():
        groups.setdefault(options, []).append(name)
    listed = [f"{', '.join(sorted(names))} {options_text(options)}" for options, names in groups.items()]
    return [Block(f"with options throughout: {'; '.join(listed)}", LineKind.FOOTER)] if listed else []


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputColumn:
    """An output column of a relation, computed or passed on.

    Args:
        label: its label; no two columns of a relation have the same.
        column: its name, type and table.
        source: its expression as text; the label of the column that is passed on.
        new: whether the relation computes it, and shows that in ``source`` only.
    """

    label: str
    column: Column
    source: str
    new: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationText:
    """The description of a relation in a block, part by part.

    Args:
        relation: the relation; None for the root of a plan and for a part of an extended expression.
        title: its kind and its ``rel_anchor``.
        properties: each readable by itself.
        margin: the other texts after the line: hints, advice.
        columns: its output columns.
        direct: its columns before emit; ``columns`` if it has no emit.
    """

    relation: Relation | None
    title: str
    properties: tuple[str, ...]
    margin: str
    columns: tuple[OutputColumn, ...]
    direct: tuple[OutputColumn, ...]


@dataclass(slots=True)
class Block:
    """A line, and the blocks indented below it.

    ``faults`` are contradictions in it. ``columns`` are the output columns of the relation; ``left_open``: they depend
    on an unknown extension; ``broken``: a fault in the relation or below it hides their types. ``about``: the parts of
    ``text``, for a block that has columns.
    """

    text: str
    kind: LineKind
    path: str | None = None
    faults: list[str] = field(default_factory=list)
    children: list[Block] = field(default_factory=list)
    columns: tuple[Column, ...] = ()
    broken: bool = False
    left_open: bool = False
    about: RelationText | None = None


@dataclass(frozen=True, slots=True)
class _Page:
    """The display settings, and the state of the page."""

    types: bool
    places: Places
    marks: PageState

    # --- top level ----------------------------------------------------------------------------------------------------

    def plan(self, plan: Plan) -> list[Block]:
        blocks = [Block(_title("Plan", plan), LineKind.HEADER, "")]
        blocks.extend(self._definitions(plan))
        for number, tree in enumerate(plan.relations):
            block = self._tree(tree, f"relations[{number}]")
            if len(plan.relations) > 1:
                block.text = f"relations[{number}]: {block.text}"
            blocks.append(block)
        return blocks + _footer(plan)

    def _definitions(self, plan: Plan) -> list[Block]:
        """Return the blocks of definitions: the evaluation mode, parameters, named lambdas and type aliases."""
        blocks = []
        if plan.execution_behavior is not VariableEvaluationMode.PER_PLAN:
            text = f"Variables are evaluated: {plan.execution_behavior.value}"
            blocks.append(Block(text, LineKind.DEFINITION, "execution_behavior"))
        for number, binding in enumerate(plan.parameter_bindings):
            text = f"Parameter {binding.parameter_anchor} = {literal_text(binding.value)}"
            blocks.append(Block(text, LineKind.DEFINITION, f"parameter_bindings[{number}]"))
        blank = Scope(columns=(), labels=())
        for number, named in enumerate(plan.named_lambdas):
            text = f"Lambda {self.marks.lambda_name(named)} = {expression_text(named.lambda_, blank, self.marks)}"
            blocks.append(self._with_subqueries(Block(text, LineKind.DEFINITION, f"named_lambdas[{number}]")))
        for number, type in enumerate(plan.type_aliases):
            text = f"Type alias {number} = {type_text(type)}"
            blocks.append(Block(text, LineKind.DEFINITION, f"type_aliases[{number}]"))
        return blocks

    def expressions(self, plan: ExtendedExpression) -> list[Block]:
        columns = named_columns(plan.base_schema)
        scope = Scope(columns=columns, labels=labels(columns))
        top = Block(_title("Expressions", plan), LineKind.HEADER, "")
        over = schema_text(plan.base_schema) if self.types else _listed(scope.labels)
        given = tuple(
            OutputColumn(label=label, column=column, source=label)
            for label, column in zip(scope.labels, columns, strict=True)
        )
        about = _about("Base schema", given)
        top.children.append(Block(f"over {over}", LineKind.SCHEMA, "base_schema", about=about))
        for number, reference in enumerate(plan.referred_expr):
            block = self._named_expression(reference, scope)
            block.path = f"referred_expr[{number}]"
            top.children.append(self._with_subqueries(block))
        return [top, *_footer(plan)]

    def _named_expression(self, reference: ExpressionReference, scope: Scope) -> Block:
        node = reference.expr
        if isinstance(node, AggregateFunction):
            text = aggregate_text(node, scope, self.marks)
        else:
            text = expression_text(node, scope, self.marks)
        name = quoted(reference.output_names[0]) if reference.output_names else "unnamed"
        type, fault = None, ""
        try:
            type = node.type
        except RecursionError:
            raise
        except Exception as error:
            fault = f"  ! {_message(error)}"
        column = Column(type=type, inner=reference.output_names[1:])
        made = OutputColumn(label=name, column=column, source=text, new=True)
        line = f"{name}{self._typed(column)} = {text}{fault}"
        return Block(line, LineKind.EXPRESSION, about=_about("Expression", (made,)))

    def _tree(self, tree: PlanRel, path: str) -> Block:
        inner = self._relation(tree.input if isinstance(tree, RelRoot) else tree, None)
        inner.path = path if inner.path is None else inner.path
        if not isinstance(tree, RelRoot):
            return inner
        place = f"{path}.root"
        if inner.left_open:
            names = ", ".join(quoted(name) for name in tree.names)
            text, about = f"Root[{names or 'columns unknown'}]", _about("Root", ())
            return Block(text, LineKind.ROOT, place, children=[inner], about=about)
        sources, position, columns = labels(inner.columns), 0, []
        for column in inner.columns:
            name = tree.names[position] if position < len(tree.names) else None
            position += 1
            below: tuple[str, ...] = ()
            if column.type is not None:
                below = tree.names[position : position + name_count(column.type)]
                position += name_count(column.type)
            columns.append(replace(column, name=name, inner=below))
        made = tuple(
            OutputColumn(label=label, column=column, source=source)
            for label, column, source in zip(labels(tuple(columns)), columns, sources, strict=True)
        )
        shown = ", ".join(self._first(made))
        block = Block(f"Root[{shown or 'no columns'}]", LineKind.ROOT, place, children=[inner])
        block.about = _about("Root", made)
        if position != len(tree.names) and not inner.broken:
            names = counted(len(tree.names), "name")
            block.faults.append(f"the root has {names}, its columns and their fields take {position}")
        return block

    # --- relations ----------------------------------------------------------------------------------------------------

    def _relation(self, relation: Relation, outer: Scope | None) -> Block:
        """Return the block of a relation and all below it; ``outer`` is the scope around the query that contains it."""
        shown = isinstance(relation, DetachedRel) and id(relation.relation) in self.marks.detached
        inputs: list[Block] = []
        for child in () if shown else relation.inputs:
            around = outer
            if inputs and isinstance(relation, LateralJoin):
                columns = inputs[0].columns
                anchor = relation.common.rel_anchor
                around = Scope(columns=columns, labels=labels(columns), outer=outer, lateral=True, anchor=anchor)
            inputs.append(self._relation(child, around))
        # columns after an input with an unknown number of columns have no position
        known = [block.columns for block in inputs]
        if inputs and inputs[0].left_open:
            known[1:] = [() for _ in known[1:]]
        problems: list[str] = [relation.fault] if isinstance(relation, BrokenRelation) else []
        try:
            about = details(relation, known, outer, self.marks)
        except RecursionError:
            raise
        except Exception as error:  # a plan that contradicts itself is shown as far as possible
            about = Details(properties=("…",), items=(), scope=Scope(columns=(), labels=()))
            problems.append(_message(error))
        if inputs and inputs[0].left_open and not isinstance(relation, _OWN_SCHEMA):
            about = _without_positions(about)
        block = self._line(relation, about, any(child.broken for child in inputs), problems)
        self._with_subqueries(block)
        block.children.extend(inputs)
        return block

    def _with_subqueries(self, block: Block) -> Block:
        """Put the subqueries that the line of a block has named below it."""
        found = self.marks.subqueries[:]
        self.marks.subqueries.clear()
        for query in found:
            inner = self._relation(query.relation, query.scope)
            text, path = f"subquery #{query.number}:", self.places.near_path(query.expression)
            block.children.append(Block(text, LineKind.SUBQUERY, path, children=[inner]))
        return block

    def _line(self, relation: Relation, about: Details, broken: bool, problems: list[str]) -> Block:
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
                problems.extend([] if broken else [_message(error)])
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
        made = _made(columns, items)
        properties = list(about.properties)
        unused = [item.source for number, item in enumerate(about.items) if item.expression and number not in positions]
        properties.extend([f"not emitted: {', '.join(unused)}"] if unused else [])
        listed = "columns unknown" if left_open else ", ".join(self._listed(made, items, about))
        if not listed and not isinstance(relation, (Write, Ddl, Update)):
            listed = "no columns" if not broken else ""
        anchor = "" if relation.common.rel_anchor is None else f"@{relation.common.rel_anchor}"
        title, margin = f"{_name(relation)}{anchor}", margin_text(relation)
        content = " => ".join(part for part in ("; ".join(properties), listed) if part)
        return Block(
            f"{title}[{content}]{margin}",
            LineKind.RELATION,
            self.places.near_path(relation),
            problems,
            columns=() if left_open else columns,
            broken=broken,
            left_open=left_open,
            about=RelationText(
                relation=relation,
                title=title,
                properties=tuple(properties),
                margin=margin,
                columns=() if left_open else made,
                direct=() if left_open else self._direct(relation, about, made, broken),
            ),
        )

    def _direct(
        self, relation: Relation, about: Details, made: tuple[OutputColumn, ...], broken: bool
    ) -> tuple[OutputColumn, ...]:
        """Return the columns before emit, as far as they are known."""
        if relation.common.emit is None:
            return made
        types: tuple[Type, ...] = ()
        if not broken:
            schema = relation.direct_schema
            types = () if isinstance(schema, OpenStruct) else schema.types
        known = len(types) == len(about.items)
        columns = tuple(
            replace(item.column, type=types[position] if known else None) for position, item in enumerate(about.items)
        )
        return _made(columns, about.items)

    def _listed(self, made: tuple[OutputColumn, ...], items: list[Item], about: Details) -> list[str]:
        """Return the output columns of a relation; runs of columns that pass unchanged are abbreviated.

        So are runs that only become nullable, as in an outer join: ``right.*?``.
        """
        passed, looser = [], []
        for column, item in zip((item.column for item in made), items, strict=True):
            source = None if item.origin is None else about.scope.columns[item.origin]
            same = column == source
            passed.append(item.origin if same else None)
            may_be_null = same and column.type is not None and column.type.nullable
            if may_be_null or (not same and source is not None and column == _nullable(source)):
                looser.append(item.origin)
            else:
                looser.append(None)
        listed: list[str] = []
        position = 0
        while position < len(made):
            if len(listed) == MOST_COLUMNS and len(made) - position > 1:
                listed.append(f"… and {len(made) - position:,} more columns")
                break
            for run in about.runs:
                size = run.stop - run.start
                if not size or items[position].origin != run.start:
                    continue
                expected = list(range(run.start, run.stop))
                unchanged = passed[position : position + size] == expected
                if unchanged or looser[position : position + size] == expected:
                    listed.append(run.label if unchanged or not self.types else f"{run.label}?")
                    position += size
                    break
            else:
                listed.append(self._column(made[position]))
                position += 1
        return listed

    def _first(self, made: tuple[OutputColumn, ...]) -> list[str]:
        """Return the columns of a root; only the first ones if there are many."""
        shown = made if len(made) <= MOST_COLUMNS + 1 else made[:MOST_COLUMNS]
        more = [f"… and {len(made) - len(shown):,} more columns"] if len(shown) < len(made) else []
        return [*map(self._column, shown), *more]

    def _column(self, made: OutputColumn) -> str:
        source = f" = {made.source}" if made.source and made.source != made.label else ""
        return f"{made.label}{self._typed(made.column)}{source}"

    def _typed(self, column: Column) -> str:
        return f": {type_text(column.type, column.inner)}" if self.types and column.type is not None else ""


def _without_positions(about: Details) -> Details:
    """Describe a relation without column positions, where the number of columns before its new ones is unknown."""
    made = [item.source for item in about.items if item.expression]
    properties = (*about.properties, f"makes {', '.join(made)}") if made else about.properties
    return replace(about, properties=properties, items=())


def _name(relation: Relation) -> str:
    """Return the first word of a line: the class of the relation, or ``!`` and the kind of a broken one."""
    if isinstance(relation, BrokenRelation):
        return "!" + ("".join(part.capitalize() for part in relation.kind.split("_")) or "Missing")
    return "Detached" if isinstance(relation, DetachedRel) else relation.__class__.__name__


def _columns(relation: Relation, items: list[Item], types: tuple[Type, ...] | None) -> tuple[Column, ...]:
    """Return the output columns of a relation: their sources, their types, and the names that a hint gives them."""
    hint = relation.common.hint
    hinted = hint.output_names if hint is not None else ()
    columns, position = [], 0
    for number, item in enumerate(items):
        column, type = item.column, None if types is None else types[number]
        if column.type is not type:
            column = Column(name=column.name, type=type, inner=column.inner, table=column.table)
        if hint is not None and hint.alias:
            column = replace(column, table=hint.alias)
        if hinted:
            count = 0 if column.type is None else name_count(column.type)
            name = hinted[position] if position < len(hinted) else None
            column = replace(column, name=name, inner=hinted[position + 1 : position + 1 + count])
            position += 1 + count
        columns.append(column)
    return tuple(columns)


def _made(columns: tuple[Column, ...], items: Sequence[Item]) -> tuple[OutputColumn, ...]:
    return tuple(
        OutputColumn(label=label, column=column, source=item.source, new=item.expression)
        for label, column, item in zip(labels(columns), columns, items, strict=True)
    )


def _about(title: str, columns: tuple[OutputColumn, ...]) -> RelationText:
    return RelationText(relation=None, title=title, properties=(), margin="", columns=columns, direct=columns)


def _nullable(column: Column) -> Column:
    """Return a column with a nullable type."""
    return column if column.type is None else replace(column, type=with_nullability(column.type, True))


def _message(error: Exception) -> str:
    if isinstance(error, SubstraitError):
        return f"{error.path}: {error.message}" if error.path else error.message
    return f"this cannot be derived ({error.__class__.__name__}: {error})"


# --- header, footer, lines --------------------------------------------------------------------------------------------


def _title(word: str, plan: Plan | ExtendedExpression) -> str:
    version, written = plan.version, plan.original_version
    number = str(version) if version.major_number or version.minor_number or version.patch_number else "no version"
    producer = f" by {shortened_name(version.producer)}" if version.producer else ""
    commit = f", commit {version.git_hash}" if version.git_hash else ""
    older = f", written as {written}" if written is not None and written != str(version) else ""
    return f"{word} ({number}{producer}{commit}{older})"


def _footer(plan: Plan | ExtendedExpression) -> list[Block]:
    lines = extension_texts(plan.advanced_extensions)
    if plan.expected_type_urls:
        lines.append(f"messages of others: {limited([name_text(url) for url in plan.expected_type_urls])}")
    unused = [f"{declared.kind.value} {shortened_name(declared.name)}" for declared in plan.unused_extensions]
    unused.extend(plan.unused_urns)
    if unused:
        lines.append(f"declared, but unused: {limited([escaped(text) for text in unused])}")
    came = [f"{counted(len(plan.upgrades), 'old form')} upgraded"] if plan.upgrades else []
    came.extend([f"{counted(len(plan.notes), 'assumption')} made"] if plan.notes else [])
    lines.extend([", ".join(came)] if came else [])
    return [Block(line, LineKind.FOOTER) for line in lines]


def _listed(names: tuple[str, ...]) -> str:
    return f"({', '.join(names)})"
