"""The content of a relation's line: its properties, and the source of each of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from typing_extensions import assert_never

from pyspark_substrait.model.expressions import Expression, FieldReference, Function, RootReference, StructField
from pyspark_substrait.model.relations import (
    Aggregate,
    Broadcast,
    BrokenRelation,
    ComparisonJoinKey,
    ConsistentPartitionWindow,
    Cross,
    Ddl,
    DetachedRel,
    Exchange,
    ExchangeKind,
    Expand,
    ExtensionLeaf,
    ExtensionMulti,
    ExtensionSingle,
    Fetch,
    FetchMode,
    Filter,
    Generate,
    HashJoin,
    Join,
    JoinType,
    LateralJoin,
    MergeJoin,
    MultiBucketExpression,
    NestedLoopJoin,
    OutputMode,
    Project,
    Read,
    Reference,
    Relation,
    RoundRobin,
    ScatterFields,
    Set,
    SimpleComparisonType,
    SingleBucketExpression,
    Sort,
    SwitchingField,
    TopN,
    Update,
    Write,
)
from pyspark_substrait.model.relations.writing import CreateMode, WriteOp
from pyspark_substrait.model.types import OpenStruct
from pyspark_substrait.text.explain.columns import Column, Scope, labels
from pyspark_substrait.text.explain.expressions import (
    aggregate_text,
    expression_text,
    list_text,
    sorts_text,
    window_text,
)
from pyspark_substrait.text.explain.literals import message_text
from pyspark_substrait.text.explain.page_state import Marks
from pyspark_substrait.text.explain.table_text import (
    exchange_targets,
    named_columns,
    object_text,
    read_columns,
    read_text,
    schema_text,
)

__all__ = ["Details", "Item", "Run", "details"]


@dataclass(frozen=True, slots=True)
class Item:
    """A column of the direct output.

    Args:
        column: the column, without its type.
        source: its expression as text.
        origin: its position in the relation's scope if it is one of those columns; None if it is computed.
        expression: whether the source is shown nowhere else on the line, so that it must be shown even if not emitted.
    """

    column: Column
    source: str
    origin: int | None = None
    expression: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """Columns of the scope, from ``start`` to before ``stop``, written as ``label`` if they pass unchanged."""

    label: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """The properties and columns that the line of a relation shows.

    Args:
        properties: the properties, each readable by itself; the first may be the main one.
        items: the columns of the direct output.
        scope: the scope of its expressions.
        runs: the abbreviations for runs of its columns, the longest first.
    """

    properties: tuple[str, ...]
    items: tuple[Item, ...]
    scope: Scope
    runs: tuple[Run, ...] = ()


def details(relation: Relation, inputs: Sequence[tuple[Column, ...]], outer: Scope | None, marks: Marks) -> Details:
    """Describe a relation.

    Args:
        inputs: the columns of each of its inputs.
        outer: the scope around the query that contains it.
        marks: the state of the page, which collects subqueries.
    """
    left = inputs[0] if inputs else ()
    right = inputs[1] if len(inputs) > 1 else ()
    anchor = relation.common.rel_anchor
    scope = _scope((*left, *right), outer, anchor, len(left) if len(inputs) == 2 else None)
    properties: list[str] = []
    items = _passed(scope, 0, len(left))
    runs: tuple[Run, ...] = (Run("*", 0, len(left)),)
    match relation:
        case Read():
            scope = _scope(named_columns(relation.base_schema, relation.read_type), outer, anchor)
            properties.append(read_text(relation.read_type, scope, marks))
            properties.extend(_stated("filter", relation.filter, scope, marks))
            properties.extend(_stated("best-effort filter", relation.best_effort_filter, scope, marks))
            kept, columns = read_columns(relation, scope)
            properties.extend(kept)
            items = tuple(Item(column, label) for column, label in zip(columns, labels(columns), strict=True))
            runs = ()
        case Filter(condition=condition):
            properties.append(expression_text(condition, scope, marks))
        case Sort(sorts=sorts):
            properties.append(sorts_text(sorts, scope, marks))
        case Fetch(offset_expr=offset, count_expr=count):
            properties.extend(_stated("offset", offset, scope, marks))
            properties.extend(_stated("count", count, scope, marks) or ["count all"])
        case TopN(sorts=sorts, offset=offset, count=count, mode=mode):
            properties.append(sorts_text(sorts, scope, marks))
            properties.extend(_stated("offset", offset, scope, marks))
            properties.extend(_stated("count", count, scope, marks) or ["count all"])
            properties.extend([] if mode is FetchMode.UNSPECIFIED else [mode.value])
        case Project(expressions=expressions):
            items += tuple(_computed(expression, scope, marks) for expression in expressions)
        case Aggregate():
            grouped, items = _aggregate(relation, scope, marks)
            properties.append(grouped)
            runs = ()
        case Join() | LateralJoin() | NestedLoopJoin() | HashJoin() | MergeJoin():
            items, runs = _join_output(relation.type, scope, len(left))
            properties.extend(_join(relation, items, len(left), scope, marks))
        case Cross():
            items, runs = _join_output(JoinType.INNER, scope, len(left))
        case Set(op=op):
            properties.append(op.value)
            scope = _scope(left, outer, anchor)
            items = _passed(scope, 0, len(left))
        case Reference(subtree_ordinal=ordinal):
            properties.append(f"relations[{ordinal}]")
            items, runs = _unknown(relation), ()
        case DetachedRel(relation=inner):
            number, shown = marks.detach(inner)
            properties.append(f"#{number}")
            if shown and not inputs:
                properties.append("shown above")
                items, runs = _unknown(relation), ()
        case Generate(generator=generator):
            end = max(len(left) - generator.arguments, 0)
            arguments = ", ".join(scope.label(position) for position in range(end, end + generator.arguments))
            rows = "" if generator.rows is None else f"{generator.rows} rows; "
            properties.append(f"{generator.kind.value}{' outer' if generator.outer else ''}({rows}{arguments})")
            made = len(relation.direct_schema.types) - end
            items = (*_passed(scope, 0, end), *(Item(Column(), generator.kind.value) for _ in range(made)))
            runs = (Run("*", 0, end),)
        case ExtensionLeaf(detail=detail) | ExtensionSingle(detail=detail) | ExtensionMulti(detail=detail):
            properties.append("no detail" if detail is None else message_text(detail))
            columns = () if relation.derived is None else named_columns(relation.derived.output)
            items, runs = tuple(map(Item, columns, labels(columns))), ()
        case Write(write_type=target, table_schema=schema, op=op, create_mode=mode, output=output):
            word = _WRITES.get(op, op.value)
            source = " from the input" if op is WriteOp.CTAS else ""
            properties.append(f"{word} {object_text(target)} {schema_text(schema)}{source}")
            properties.extend([] if mode is CreateMode.UNSPECIFIED else [mode.value])
            properties.extend([] if output is OutputMode.UNSPECIFIED else [_OUTPUTS[output]])
            columns = named_columns(schema) if output is OutputMode.MODIFIED_RECORDS else ()
            items = tuple(Item(column, label) for column, label in zip(columns, labels(columns), strict=True))
            runs = ()
        case Ddl(write_type=target, object=object, op=op, table_schema=table_schema, table_defaults=defaults):
            listed = "" if table_schema is None else f" {schema_text(table_schema)}"
            properties.append(f"{op.value} {object.value} {object_text(target)}{listed}")
            properties.extend([] if defaults is None else [f"defaults ({list_text(defaults, scope, marks)})"])
            items, runs = (), ()
        case Update(update_type=table, table_schema=schema, condition=condition, transformations=transformations):
            scope = _scope(named_columns(schema, table), outer, anchor)
            properties.append(f"{object_text(table)} {schema_text(schema)}")
            for change in transformations:
                new = expression_text(change.transformation, scope, marks)
                properties.append(f"set {scope.label(change.column_target)} = {new}")
            properties.extend(_stated("where", condition, scope, marks))
            items, runs = (Item(Column(), "number of changed records"),), ()
        case ConsistentPartitionWindow(window_functions=functions, partition_expressions=partitions, sorts=sorts):
            properties.extend([f"partition by {list_text(partitions, scope, marks)}"] if partitions else [])
            properties.extend([f"order by {sorts_text(sorts, scope, marks)}"] if sorts else [])
            items += tuple(
                Item(Column(), window_text(function, scope, marks), expression=True) for function in functions
            )
        case Expand(all_fields=fields):
            expanded = [_expanded(field, scope, marks) for field in fields]
            items, runs = (*expanded, Item(Column(), "number of the duplicate")), ()
        case Exchange(exchange_kind=kind, partition_count=count, targets=targets):
            properties.append(_exchange_kind(kind, scope, marks))
            properties.extend([f"{count} partitions"] if count else [])
            properties.extend(exchange_targets(targets))
        case BrokenRelation(record=record, record_names=names):
            columns = () if isinstance(record, OpenStruct) else tuple(Column(name=name) for name in names)
            items, runs = tuple(map(Item, columns, labels(columns))), ()
        case _:
            assert_never(relation)
    return Details(properties=tuple(properties), items=items, scope=scope, runs=runs)


_WRITES = {
    WriteOp.INSERT: "insert into",
    WriteOp.DELETE: "delete from",
    WriteOp.CTAS: "create table",
}
_OUTPUTS = {OutputMode.NO_OUTPUT: "puts out nothing", OutputMode.MODIFIED_RECORDS: "puts out the modified records"}


def _scope(columns: tuple[Column, ...], outer: Scope | None, anchor: int | None, left: int | None = None) -> Scope:
    return Scope(columns=columns, labels=labels(columns, left), outer=outer, anchor=anchor)


def _passed(scope: Scope, start: int, stop: int) -> tuple[Item, ...]:
    """Return columns of the scope unchanged."""
    return tuple(Item(scope.columns[position], scope.labels[position], position) for position in range(start, stop))


def _unknown(relation: DetachedRel | Reference) -> tuple[Item, ...]:
    """The columns of a relation that is shown elsewhere, by the names the model knows."""
    inner = relation.subtree if isinstance(relation, Reference) else relation.relation
    columns = tuple(Column(name=name) for name in inner.names)
    return tuple(Item(column, label) for column, label in zip(columns, labels(columns), strict=True))


def _computed(expression: Expression, scope: Scope, marks: Marks) -> Item:
    """Return the column that an expression computes; a plain reference passes its column on."""
    match expression:
        case FieldReference(root=RootReference(), reference=(StructField(field=position),)):
            if 0 <= position < len(scope.columns):
                return Item(scope.columns[position], scope.labels[position], position)
    return Item(Column(), expression_text(expression, scope, marks), expression=True)


def _stated(word: str, expression: Expression | None, scope: Scope, marks: Marks) -> list[str]:
    """A property that may be absent."""
    return [] if expression is None else [f"{word} {expression_text(expression, scope, marks)}"]


# --- aggregates -------------------------------------------------------------------------------------------------------


def _aggregate(relation: Aggregate, scope: Scope, marks: Marks) -> tuple[str, tuple[Item, ...]]:
    """Return the grouping and the columns. A key is written once: its column only shows the key's number."""
    keys = [_computed(expression, scope, marks) for expression in relation.grouping_expressions]
    items = [Item(Column(), f"key {number}") if key.origin is None else key for number, key in enumerate(keys, start=1)]
    for measure in relation.measures:
        text = aggregate_text(measure.measure, scope, marks)
        if measure.filter is not None:
            text += f" FILTER (WHERE {expression_text(measure.filter, scope, marks)})"
        items.append(Item(Column(), text, expression=True))
    sets = [grouping.expression_references for grouping in relation.groupings]
    if len(sets) > 1:
        items.append(Item(Column(), "number of the grouping set"))
    sources = [key.source for key in keys]
    if not keys and len(sets) <= 1:
        return "one group", tuple(items)
    if len(sets) == 1 and sets[0] == tuple(range(len(keys))):
        return f"by {', '.join(sources)}", tuple(items)
    # keys that aren't plain columns are referred to by number, to keep a set short
    texts = [item.source for item in items]
    shown = [", ".join(texts[key] if 0 <= key < len(keys) else f"key {key + 1}" for key in group) for group in sets]
    grouped = f"sets {', '.join(f'({text})' for text in shown)}" if sets else "no grouping sets"
    return f"by {', '.join(sources)}; {grouped}", tuple(items)


# --- joins ------------------------------------------------------------------------------------------------------------


def _join_output(type: JoinType, scope: Scope, width: int) -> tuple[tuple[Item, ...], tuple[Run, ...]]:
    """Return the columns of a join, and their abbreviations; ``width`` is the number of left columns."""
    total = len(scope.columns)
    lefts, rights = Run("left.*", 0, width), Run("right.*", width, total)
    match type:
        case JoinType.LEFT_SEMI | JoinType.LEFT_ANTI:
            return _passed(scope, 0, width), (lefts,)
        case JoinType.RIGHT_SEMI | JoinType.RIGHT_ANTI:
            return _passed(scope, width, total), (rights,)
        case JoinType.LEFT_MARK:
            return (*_passed(scope, 0, width), Item(Column(), "mark")), (lefts,)
        case JoinType.RIGHT_MARK:
            return (*_passed(scope, width, total), Item(Column(), "mark")), (rights,)
        case _:
            return _passed(scope, 0, total), (Run("*", 0, total), lefts, rights)


def _join(
    relation: Join | LateralJoin | NestedLoopJoin | HashJoin | MergeJoin,
    items: tuple[Item, ...],
    width: int,
    scope: Scope,
    marks: Marks,
) -> list[str]:
    """The properties of a join: its type and condition, then the rest."""
    first, rest = relation.type.value, []
    match relation:
        case Join(expression=condition) | LateralJoin(expression=condition) | NestedLoopJoin(expression=condition):
            first += "" if condition is None else f" on {expression_text(condition, scope, marks)}"
        case HashJoin(keys=keys, residual_expression=residual) | MergeJoin(keys=keys, residual_expression=residual):
            if keys:
                first += " on " + " AND ".join(_key(key, width, scope, marks) for key in keys)
            rest.extend(_stated("residual", residual, scope, marks))
        case _:
            assert_never(relation)
    if not isinstance(relation, NestedLoopJoin):
        both_sides = len(items) == len(scope.columns)
        above = _scope(tuple(item.column for item in items), scope.outer, scope.anchor, width if both_sides else None)
        rest.extend(_stated("post-join filter", relation.post_join_filter, above, marks))
    if isinstance(relation, HashJoin):
        rest.append(f"build {relation.build_input.value}")
    return [first, *rest]


def _key(key: ComparisonJoinKey, width: int, scope: Scope, marks: Marks) -> str:
    """A pair of keys. Each refers to its own input, but is labelled as in the record of both."""
    rights = Scope(columns=scope.columns[width:], labels=scope.labels[width:], outer=scope.outer, lateral=scope.lateral)
    left, right = expression_text(key.left, scope, marks), expression_text(key.right, rights, marks)
    match key.comparison:
        case Function(name=name):
            return f"{name}({left}, {right})"
        case SimpleComparisonType.EQ:
            return f"{left} = {right}"
        case SimpleComparisonType.IS_NOT_DISTINCT_FROM:
            return f"{left} IS NOT DISTINCT FROM {right}"
        case SimpleComparisonType.MIGHT_EQUAL:
            return f"{left} might equal {right}"
        case _:
            assert_never(key.comparison)


# --- physical relations -----------------------------------------------------------------------------------------------


def _expanded(field: SwitchingField | Expression, scope: Scope, marks: Marks) -> Item:
    if isinstance(field, SwitchingField):
        return Item(Column(), f"each of ({list_text(field.duplicates, scope, marks)})", expression=True)
    return _computed(field, scope, marks)


def _exchange_kind(kind: ExchangeKind, scope: Scope, marks: Marks) -> str:
    match kind:
        case ScatterFields(fields=fields):
            return f"scatter by {list_text(fields, scope, marks)}"
        case SingleBucketExpression(expression=expression):
            return f"to bucket {expression_text(expression, scope, marks)}"
        case MultiBucketExpression(expression=expression, constrained_to_count=constrained):
            limit = ", constrained to the partition count" if constrained else ""
            return f"to buckets {expression_text(expression, scope, marks)}{limit}"
        case RoundRobin(exact=exact):
            return "round robin, exact" if exact else "round robin"
        case Broadcast():
            return "broadcast"
        case _:
            assert_never(kind)
