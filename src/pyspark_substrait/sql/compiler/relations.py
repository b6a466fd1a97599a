"""Relations as Spark SQL: one function per relation, from the queries of its inputs to its own."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from typing_extensions import assert_never

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError, at
from pyspark_substrait.model.orderedness import gathered, in_order
from pyspark_substrait.model.relations import (
    AdvancedExtension,
    Aggregate,
    BrokenRelation,
    ConsistentPartitionWindow,
    Cross,
    Ddl,
    DetachedRel,
    Exchange,
    Expand,
    ExtensionLeaf,
    ExtensionMulti,
    ExtensionSingle,
    Fetch,
    Filter,
    Generate,
    HashJoin,
    Join,
    LateralJoin,
    MergeJoin,
    NestedLoopJoin,
    Project,
    Read,
    Reference,
    Relation,
    RelationBase,
    RelCommon,
    Set,
    Sort,
    TopN,
    Update,
    WindowRelFunction,
    Write,
)
from pyspark_substrait.model.walk import holds_query
from pyspark_substrait.sql.compiler import (
    aggregates,
    exchanges,
    expands,
    expressions,
    extension_relations,
    fetches,
    generates,
    hints,
    joins,
    physical_joins,
    reads,
    sets,
    sharing,
    top_n,
    windows,
    writes,
)
from pyspark_substrait.sql.compiler.column_usage import needed_columns
from pyspark_substrait.sql.compiler.lifted_columns import Below
from pyspark_substrait.sql.compiler.query import Item, Query
from pyspark_substrait.sql.compiler.scope import Compilation, Record, Scope, UnboundOuterReference
from pyspark_substrait.sql.compiler.sorting import sort_keys
from pyspark_substrait.sql.decorrelation.unions import fails_over
from pyspark_substrait.sql.fragment import Name

__all__ = ["refuse_enhancement", "refuse_enhancements", "relation", "sort_keys", "tree", "window_text"]

Outer = tuple[Record, ...]


def tree(node: Relation, compilation: Compilation) -> Query:
    """Return the query of a whole tree, which isn't part of another one."""
    compilation.uses.update(sharing.times_used(node))
    compilation.needed = needed_columns(node)
    if compilation.counting is not None:
        compilation.counted, compilation.sorted_at_once = compilation.counting(node)
    return relation(node, (), compilation)


def relation(node: Relation, outer: Outer, compilation: Compilation) -> Query:
    """The query of a relation.

    Args:
        node: the relation.
        outer: the records of the enclosing queries, the nearest last.
        compilation: the statement in the making.

    Returns:
        a query with one column for each of ``node.schema``, in order, of exactly its type.
    """
    try:
        match node:
            case DetachedRel(relation=inner):
                return relation(inner, outer, compilation)
            case BrokenRelation(kind=kind, fault=fault):
                raise InvalidPlanError(fault, path=kind)
            case Reference():
                with at("reference"):
                    return _reference(node, outer, compilation)
        with at(node.info.field):
            refuse_enhancements(node)
            direct = _direct(node, outer, compilation)
            if id(node) in compilation.sorted_at_once:
                direct = direct.sorted_at_once()
            query = hints.with_names(_emitted(direct, node, compilation), node, compilation)
            return compilation.shallow(compilation.countable(query, node), outer)
    except Exception as error:
        if compilation.refusals is None:
            raise
        return compilation.refusals.relation(error, node, outer, compilation)


#: makes Spark 4 compute an operand, which may have a subquery, as a column below the filter
_SHARED: Final = re.compile(r"\bnullif\(|\bBETWEEN\b")


def _direct(node: Relation, outer: Outer, compilation: Compilation) -> Query:
    """The query of a relation before emit."""
    match node:
        case Read():
            return reads.read(node, outer, compilation)
        case Filter():
            query = _filtered_input(node, outer, compilation).flat()
            below = Below()
            scope = Scope(Record(query.columns, node.common.rel_anchor), outer, below=below)
            with at("condition"):
                conditions = expressions.conditions(node.condition, scope, compilation)
            if any(_SHARED.search(text) for text in conditions) and fails_over(node.input, (node.condition,)):
                query = query.fenced()
            return below.filtered(query, conditions, compilation)
        case Project():
            return _project(node, outer, compilation)
        case Sort():
            return _sort(node, outer, compilation)
        case Fetch():
            return fetches.fetch(node, _input(gathered(node.input), outer, compilation), outer, compilation)
        case Aggregate():
            return aggregates.aggregate(node, _input(node.input, outer, compilation), outer, compilation)
        case Join():
            return joins.join(node, outer, compilation)
        case Cross():
            return joins.cross(node, outer, compilation)
        case ConsistentPartitionWindow():
            return _windows(node, outer, compilation)
        case Set():
            return sets.set_operation(node, outer, compilation)
        case HashJoin() | MergeJoin() | NestedLoopJoin():
            return physical_joins.physical_join(node, outer, compilation)
        case LateralJoin():
            return joins.lateral(node, outer, compilation)
        case Expand():
            return expands.expand(node, _input(node.input, outer, compilation), outer, compilation)
        case Exchange():
            return exchanges.exchange(node, _input(node.input, outer, compilation), outer, compilation)
        case TopN():
            by = Sort(common=RelCommon(rel_anchor=node.common.rel_anchor), input=node.input, sorts=node.sorts)
            return top_n.top_n(node, _sort(by, outer, compilation), outer, compilation)
        case Generate():
            return generates.generate(node, _input(node.input, outer, compilation), compilation)
        case ExtensionLeaf() | ExtensionSingle() | ExtensionMulti():
            return extension_relations.extension_relation(node, outer, compilation)
        case Write() | Ddl() | Update():
            if compilation.refusals is not None:
                return writes.looked_through(node, outer, compilation)
            raise UnsupportedPlanError(
                f"the relation {node.info.field} changes tables, and is not part of a query",
                hint="from_substrait and run_query carry it out before the query that uses its records",
            )
        case Reference() | DetachedRel() | BrokenRelation():
            raise AssertionError("handled by relation()")
        case _:
            assert_never(node)


def _input(node: Relation, outer: Outer, compilation: Compilation) -> Query:
    with at("input"):
        return relation(node, outer, compilation)


def _filtered_input(node: Filter, outer: Outer, compilation: Compilation) -> Query:
    """The input of a filter; an aggregate may be as Spark has it if the filter drops what differs."""
    if compilation.counting is not None or not aggregates.drops_record_of_none(node):
        return _input(node.input, outer, compilation)
    compilation.as_spark.add(id(node.input))
    try:
        return _input(node.input, outer, compilation)
    finally:
        compilation.as_spark.discard(id(node.input))


def _emitted(query: Query, node: Relation, compilation: Compilation) -> Query:
    """The columns that emit picks. A column picked twice gets a second name."""
    emit = node.common.emit
    if emit is None:
        return query
    if not emit:
        # without its last measure, an aggregate would lose its records
        query = query.nested()
    items: list[Item] = []
    taken: set[str] = set()
    for position in emit:
        if not 0 <= position < len(query.items):
            raise InvalidPlanError(
                f"emit names column {position}, but there are {len(query.items)} columns",
                path="common.emit.output_mapping",
            )
        item = query.items[position]
        items.append(Item(item.text, compilation.column()) if item.name in taken else item)
        taken.add(item.name)
    return query.with_items(items)


def _project(node: Project, outer: Outer, compilation: Compilation) -> Query:
    query = _input(node.input, outer, compilation)
    merged = aggregates.projected(node, query, outer, compilation)
    if merged is not None:
        return merged
    query = query.flat()
    if fails_over(node.input, node.expressions):
        query = query.fenced()
    below = Below(inline=True)
    scope = Scope(Record(query.columns, node.common.rel_anchor), outer, below=below)
    wanted = None if node.common.emit is None else set(node.common.emit)
    items = list(query.items)
    taken = {item.name for position, item in enumerate(query.items) if wanted is None or position in wanted}
    columns = frozenset(query.columns)
    for position, expression in enumerate(node.expressions):
        if wanted is not None and len(items) not in wanted:
            # emit drops it; its place is kept so that positions stay correct
            items.append(query.items[0] if query.items else Item("1", Name("1")))
            continue
        with at("expressions", position):
            text = expressions.expression(expression, scope, compilation)
        passes = isinstance(text, Name) and text in columns and text not in taken
        name = Name(text) if passes else compilation.column()
        taken.add(name)
        items.append(Item(text, name))
    return below.under(query, compilation).with_items(items)


def _sort(node: Sort, outer: Outer, compilation: Compilation) -> Query:
    query = _input(node.input, outer, compilation).flat()
    if fails_over(node.input, [field.expr for field in node.sorts]):
        query = query.fenced()
    below, items = Below(), query.items
    scope = Scope(Record(query.columns, node.common.rel_anchor), outer, below=below)
    keys = sort_keys(node.sorts, scope, compilation)
    query = below.under(query, compilation)
    if any(holds_query(field.expr) for field in node.sorts):
        # Spark takes no correlated query as a sort key: the keys become columns, which are dropped afterwards
        computed = [Item(key.text, compilation.column()) for key in keys]
        query = replace(query, items=(*query.items, *computed)).nested()
        keys = [key._replace(text=item.name) for item, key in zip(computed, keys, strict=True)]
    return replace(query, items=items, order=", ".join(map(str, keys)))


def _windows(node: ConsistentPartitionWindow, outer: Outer, compilation: Compilation) -> Query:
    """Return the columns of the input and the window functions; the order of the input is kept."""
    if not node.window_functions:
        raise InvalidPlanError("there are no window functions", path="window_functions")
    query, order = _input(node.input, outer, compilation), ""
    if query.order:
        number = Item(f"row_number() OVER (ORDER BY {query.order})", compilation.column())
        query, order = replace(query, items=(*query.items, number)), number.name
    elif in_order(node.input):
        number = Item("monotonically_increasing_id()", compilation.column())
        query = query.nested()
        query, order = replace(query, items=(*query.items, number)), number.name
    query = query.flat()
    width = len(node.input.schema.types)
    items = list(query.items[:width])
    below = Below(inline=True)
    scope = Scope(Record(query.columns[:width], node.common.rel_anchor), outer, below=below)
    for position, function in enumerate(node.window_functions):
        with at("window_functions", position):
            text = window_text(function, node, scope, compilation)
        items.append(Item(text, compilation.column()))
    return replace(below.under(query, compilation), items=tuple(items), order=order)


def window_text(
    function: WindowRelFunction, node: ConsistentPartitionWindow, scope: Scope, compilation: Compilation
) -> str:
    """The text of a function of a window relation, or of a null where refusals are collected."""
    try:
        return windows.window(windows.standing_alone(function, node), scope, compilation)
    except Exception as error:
        if compilation.refusals is None:
            raise
        return compilation.refusals.call(error, function, scope, compilation)


def _reference(node: Reference, outer: Outer, compilation: Compilation) -> Query:
    """Return a shared subtree: a WITH clause, written once; each use has its own column names.

    A subtree that refers to the records around its uses is inlined at each of them, where these records are known.
    """
    ordinal = node.subtree_ordinal
    if ordinal not in compilation.shared:
        steps = len(compilation.steps)
        try:
            query = relation(node.subtree, (), compilation)
        except UnboundOuterReference:
            if not outer:
                raise
            del compilation.steps[steps:]
            return relation(node.subtree, outer, compilation)
        compilation.shared[ordinal] = sharing.shared(node, query, compilation.uses[ordinal], compilation.names)
    return compilation.shared[ordinal].used(compilation.names)


def refuse_enhancements(node: RelationBase) -> None:
    """Refuse a relation whose meaning an enhancement changes."""
    for path, extension in node.extensions:
        refuse_enhancement(extension, path)


def refuse_enhancement(extension: AdvancedExtension | None, path: str = "advanced_extension") -> None:
    """Refuse an enhancement, which changes the meaning in an unknown way; optimizations may be ignored."""
    if extension is not None and extension.enhancement is not None:
        raise UnsupportedPlanError(
            f"the enhancement {extension.enhancement.type_url} changes what the relation means, and is not known here",
            path=f"{path}.enhancement",
            code=Code.TARGET_FEATURE,
        )
