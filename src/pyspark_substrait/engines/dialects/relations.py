"""Relations as queries of SQL: a function for each, from the queries of its inputs to its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sqlglot import exp
from typing_extensions import assert_never

from pyspark_substrait.codes import Code
from pyspark_substrait.engines.dialects import aggregates, expressions, generates, joins, reads, sets
from pyspark_substrait.engines.dialects.query import Item, Query, of_table
from pyspark_substrait.engines.dialects.scope import Compilation, Record, Scope, Shared
from pyspark_substrait.engines.dialects.standard import has_equality, is_float
from pyspark_substrait.engines.dialects.tree import is_longer, operand
from pyspark_substrait.engines.dialects.windows import standing_alone
from pyspark_substrait.engines.expands import without_expand
from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError, at
from pyspark_substrait.model.expressions import (
    Expression,
    FieldReference,
    RootReference,
    SortDirection,
    SortField,
    StructField,
)
from pyspark_substrait.model.relations import (
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
    Set,
    Sort,
    TopN,
    Update,
    Write,
)
from pyspark_substrait.model.types import FP32, FP64, List, Map, String, Struct, Type, VarChar, concrete
from pyspark_substrait.model.walk import holds_query, holds_window, root_fields
from pyspark_substrait.sql.conjuncts import conjuncts

__all__ = ["equality_template", "filtered", "in_order", "order_template", "orders", "relation", "values"]

Outer = tuple[Record, ...]


def relation(node: Relation, outer: Outer, compilation: Compilation) -> Query:
    """Return the query of a relation, with an item for each column of its schema.

    Args:
        node: the relation.
        outer: the records of the enclosing queries, the nearest last.
        compilation: the statement in the making.

    Raises:
        UnsupportedPlanError: the dialect has no exact form for it.
    """
    match node:
        case DetachedRel(relation=inner):
            return relation(inner, outer, compilation)
        case BrokenRelation(kind=kind, fault=fault):
            raise InvalidPlanError(fault, path=kind)
        case Reference():
            with at("reference"):
                return _reference(node, outer, compilation)
    with at(node.info.field):
        for path, extension in node.extensions:
            if extension.enhancement is not None:
                url = extension.enhancement.type_url
                raise UnsupportedPlanError(f"the enhancement {url} changes what the relation means", path=path)
        found = _emitted(_direct(node, outer, compilation), node, compilation)
        names = node.names
        if len(names) != len(found.items):
            return found
        pairs = zip(found.items, names, strict=True)
        return replace(found, items=tuple(Item(item.tree, name or item.name) for item, name in pairs))


def _direct(node: Relation, outer: Outer, compilation: Compilation) -> Query:
    """Return the query of a relation before emit."""
    match node:
        case Read():
            return reads.read(node, outer, compilation)
        case Filter():
            query = _input(node.input, outer, compilation)
            with at("condition"):
                return filtered(query, node.condition, node.common.rel_anchor, outer, compilation)
        case Project():
            return _project(node, outer, compilation)
        case Sort():
            return _sort(node.sorts, _input(node.input, outer, compilation), node.common.rel_anchor, outer, compilation)
        case Fetch():
            return _fetch(node, _input(node.input, outer, compilation), compilation)
        case TopN():
            return _top_n(node, outer, compilation)
        case Aggregate():
            return aggregates.aggregate(node, outer, compilation)
        case Join() | HashJoin() | MergeJoin() | NestedLoopJoin() | LateralJoin() | Cross():
            return joins.join(node, outer, compilation)
        case Set():
            return sets.set_operation(node, outer, compilation)
        case ConsistentPartitionWindow():
            query = _input(node.input, outer, compilation).flat(compilation.names)
            scope = Scope(Record(query.columns, node.common.rel_anchor), outer, windows=True)
            items = list(query.items)
            for position, function in enumerate(node.window_functions):
                with at("window_functions", position):
                    items.append(Item(expressions.expression(standing_alone(function, node), scope, compilation)))
            return replace(query, items=tuple(items))
        case Exchange():
            return _input(node.input, outer, compilation)
        case Expand():
            bare = replace(node, common=replace(node.common, emit=None))
            return relation(without_expand(bare), outer, compilation)
        case Generate():
            return generates.generate(node, outer, compilation)
        case ExtensionLeaf() | ExtensionSingle() | ExtensionMulti():
            raise UnsupportedPlanError(
                f"the relation {node.info.field} has no form in {compilation.dialect.engine} yet",
                code=Code.TARGET_RELATION,
            )
        case Write() | Ddl() | Update():
            raise UnsupportedPlanError(
                f"the relation {node.info.field} changes tables, and is not part of a query", code=Code.TARGET_RELATION
            )
        case Reference() | DetachedRel() | BrokenRelation():
            raise AssertionError("handled by relation()")
        case _:
            assert_never(node)


def _input(node: Relation, outer: Outer, compilation: Compilation) -> Query:
    with at("input"):
        return relation(node, outer, compilation)


def _emitted(query: Query, node: Relation, compilation: Compilation) -> Query:
    """Return the columns that emit picks."""
    emit = node.common.emit
    if emit is None:
        return query
    if _loses_group(query, emit):
        query = query.nested(compilation.names)
    if any(count > 1 and not query.items[place].is_plain for place, count in Counter(emit).items()):
        query = query.nested(compilation.names)
    seen: set[int] = set()
    items = []
    for position in emit:
        item = query.items[position]
        items.append(Item(item.tree.copy() if position in seen else item.tree, item.name))
        seen.add(position)
    return replace(query, items=tuple(items))


def _loses_group(query: Query, kept: Sequence[int]) -> bool:
    """Whether nothing marks a query as an aggregate, of one group, if only some of its items are kept."""
    return query.keys == () and not any(position < len(query.items) for position in kept)


def values(
    query: Query,
    nodes: Sequence[Expression],
    anchor: int | None,
    outer: Outer,
    compilation: Compilation,
    path: str = "",
    *,
    filtering: bool = False,
) -> tuple[Query, list[exp.Expression]]:
    """Return expressions over a query, for places without window functions: these become columns below.

    The query is flat, and may have more items than before, at its end. ``filtering`` says that the expressions are
    conditions, for which null does as false.
    """
    query = query.flat(compilation.names)
    if any(map(holds_window, nodes)):
        width = len(query.items)
        scope = Scope(Record(query.columns, anchor), outer, windows=True)
        windowed = [place for place, node in enumerate(nodes) if holds_window(node)]
        made = [Item(expressions.expression(nodes[place], scope, compilation)) for place in windowed]
        query = replace(query, items=(*query.items, *made)).nested(compilation.names)
        below = {place: query.items[width + number].tree for number, place in enumerate(windowed)}
    else:
        below = {}
    scope = Scope(Record(query.columns, anchor), outer)
    found = []
    for place, node in enumerate(nodes):
        if place in below:
            found.append(below[place].copy())
            continue
        with at(*((path, place) if path else ())):
            inside = replace(scope, filtering=True) if filtering and expressions.is_membership(node) else scope
            found.append(expressions.expression(node, inside, compilation))
    return query, found


def filtered(query: Query, condition: Expression, anchor: int | None, outer: Outer, compilation: Compilation) -> Query:
    """Return the records of a query for which a condition is true."""
    width = len(query.items)
    query, found = values(query, conjuncts(condition), anchor, outer, compilation, filtering=True)
    known = set(query.where)
    new = [one for one in dict.fromkeys(found) if one not in known]
    return replace(query, items=query.items[:width]).filtered(new)


def _project(node: Project, outer: Outer, compilation: Compilation) -> Query:
    query = _input(node.input, outer, compilation)
    width = len(query.items)
    emit = node.common.emit
    wanted = set(range(width + len(node.expressions)) if emit is None else emit)
    if not _inlined(node, query, wanted):
        query = query.flat(compilation.names)
    elif query.keys == () and not wanted.issuperset(range(width)):
        used = [root_fields(one) or set() for place, one in enumerate(node.expressions) if width + place in wanted]
        if not set().union(*used) and not any(place < width for place in wanted):
            query = query.nested(compilation.names)
    scope = Scope(Record(query.columns, node.common.rel_anchor), outer, windows=True)
    items = list(query.items)
    for position, expression in enumerate(node.expressions):
        if width + position not in wanted:
            items.append(Item(exp.null()))  # emit drops it; its place is kept
            continue
        with at("expressions", position):
            items.append(Item(expressions.expression(expression, scope, compilation)))
    return replace(query, items=tuple(items))


def _inlined(node: Project, query: Query, wanted: set[int]) -> bool:
    """Whether the columns of a query may stand in the expressions of a projection: none is computed twice."""
    if query.is_flat:
        return True
    width = len(query.items)
    uses: Counter[int] = Counter(position for position in wanted if position < width)
    for position, expression in enumerate(node.expressions):
        if width + position not in wanted:
            continue
        if holds_window(expression) or holds_query(expression):
            return False
        fields = root_fields(expression)
        if fields is None:
            return False
        for place in expressions.field_uses(expression):
            uses[place] += 1
    return all(query.items[place].is_plain or count <= 1 for place, count in uses.items())


# order ---------------------------------------------------------------------------------------------------------------


def _sort(
    sorts: Sequence[SortField], query: Query, anchor: int | None, outer: Outer, compilation: Compilation
) -> Query:
    width = len(query.items)
    if query.keys is not None and not query.is_limited and not query.order:
        short = _of_items(sorts, query)
        if short is not None:
            return replace(query, order=tuple(orders(sorts, short, compilation)))
    query, found = values(query, [field.expr for field in sorts], anchor, outer, compilation, "sorts")
    return replace(query, items=query.items[:width], order=tuple(orders(sorts, found, compilation)))


#: the most nodes of a value that is repeated as a sort key
_SHORT: Final = 25


def _of_items(sorts: Sequence[SortField], query: Query) -> list[exp.Expression] | None:
    """Return sort keys that are columns of an aggregate as their values; None if they are others, or long."""
    found = []
    for field in sorts:
        match field.expr:
            case FieldReference(root=RootReference(), reference=(StructField(field=place),)) if place < len(
                query.items
            ) and _is_short(query.items[place].tree):
                found.append(query.items[place].tree.copy())
            case _:
                return None
    return found


def _is_short(tree: exp.Expression) -> bool:
    """Whether a value may be repeated as a sort key. A constant may be a position to the engine, and isn't one."""
    return not is_longer(tree, _SHORT) and tree.find(exp.Column, exp.Anonymous) is not None


def orders(sorts: Sequence[SortField], keys: Sequence[exp.Expression], compilation: Compilation) -> list[exp.Ordered]:
    """Return sort keys; constants, which order nothing and may be positions to the engine, are left out."""
    pairs = zip(sorts, keys, strict=True)
    return [_ordered(field, key, compilation) for field, key in pairs if not _is_constant(key)]


def _is_constant(key: exp.Expression) -> bool:
    return all(isinstance(node, _OF_CONSTANTS) for node in key.walk())


#: the nodes of constants, and of casts of them
_OF_CONSTANTS: Final = (
    exp.Literal,
    exp.Boolean,
    exp.Null,
    exp.Neg,
    exp.Sub,
    exp.Paren,
    exp.Cast,
    exp.DataType,
    exp.DataTypeParam,
    exp.HexString,
)


def _ordered(field: SortField, key: exp.Expression, compilation: Compilation) -> exp.Ordered:
    kind = field.sort_kind
    if not isinstance(kind, SortDirection):
        raise UnsupportedPlanError(
            f"{compilation.dialect.engine} cannot sort by the function {kind.key}", code=Code.TARGET_FEATURE
        )
    descending = kind in (SortDirection.DESC_NULLS_FIRST, SortDirection.DESC_NULLS_LAST)
    nulls_first = kind in (SortDirection.ASC_NULLS_FIRST, SortDirection.DESC_NULLS_FIRST, SortDirection.CLUSTERED)
    key = in_order(key, field.expr.type, compilation)
    nan = compilation.dialect.nan_in_order
    if is_float(field.expr.type) and (nan == "smallest" or (nan == "beside nulls" and nulls_first)):
        # the numbers' negatives, backwards: NaN has no sign
        key, descending = exp.Neg(this=operand(key)), not descending
    return exp.Ordered(this=key, desc=descending, nulls_first=nulls_first)


def in_order(value: exp.Expression, type: Type, compilation: Compilation) -> exp.Expression:
    """Return a value as it is written where its order counts."""
    return compilation.dialect.filled(order_template(type, compilation), value)


def order_template(type: Type, compilation: Compilation) -> str:
    """Return the template of a value of a type where its order counts.

    Raises:
        UnsupportedPlanError: values of the type aren't compared there as here.
    """
    match concrete(type):
        case String() | VarChar():
            return compilation.dialect.text_order
        case FP32() | FP64():
            return compilation.dialect.float_equality
        case Struct() | List() as nested if compilation.dialect.nested_order and has_equality(
            nested, compilation.dialect
        ):
            return compilation.dialect.nested_order(nested)
        case Struct() | List() | Map():
            raise UnsupportedPlanError(f"{compilation.dialect.engine} compares {type} in another way")
        case _:
            return "{0}"


def equality_template(type: Type, compilation: Compilation) -> str:
    """Return the template of a value of a type where only its equality counts: in groups, partitions and sets.

    Raises:
        UnsupportedPlanError: values of the type aren't equal there as here.
    """
    return "{0}" if has_equality(type, compilation.dialect) else order_template(type, compilation)


def _fetch(node: Fetch, query: Query, compilation: Compilation) -> Query:
    offset = _bound(node.offset_expr, "offset_expr", compilation)
    count = _bound(node.count_expr, "count_expr", compilation)
    if query.is_limited:
        query = query.nested(compilation.names)
    return replace(query, limit=count, offset=offset or None)


def _bound(node: Expression | None, path: str, compilation: Compilation) -> int | None:
    """Return a number of records; None if it is unset or null."""
    if node is None:
        return None
    found = expressions.known(node, compilation)
    if found is None:
        raise UnsupportedPlanError("a number of records that is not a constant", path=path, code=Code.TARGET_FEATURE)
    if found.value is None:
        return None
    assert isinstance(found.value, int)
    if found.value < 0:
        raise InvalidPlanError(f"a number of records is negative: {found.value}", path=path)
    return found.value


def _top_n(node: TopN, outer: Outer, compilation: Compilation) -> Query:
    anchor = node.common.rel_anchor
    query = _input(node.input, outer, compilation)
    offset, count = _bound(node.offset, "offset", compilation), _bound(node.count, "count", compilation)
    if not node.keeps_ties or count is None:
        found = _sort(node.sorts, query, anchor, outer, compilation)
        return replace(found, limit=count, offset=offset or None)
    if offset:
        raise UnsupportedPlanError("ties behind an offset", path="mode", code=Code.TARGET_FEATURE)
    width = len(query.items)
    query, keys = values(query, [field.expr for field in node.sorts], anchor, outer, compilation, "sorts")
    order = exp.Order(expressions=orders(node.sorts, keys, compilation))
    rank = Item(exp.Window(this=exp.Anonymous(this="rank"), order=order), "place")
    query = replace(query, items=(*query.items[:width], rank)).nested(compilation.names)
    kept = exp.LTE(this=query.items[width].tree, expression=exp.Literal.number(count))
    by = exp.Ordered(this=query.items[width].tree.copy(), desc=False, nulls_first=True)
    return replace(query.filtered([kept]), items=query.items[:width], order=(by,))


# shared subtrees -----------------------------------------------------------------------------------------------------


def _reference(node: Reference, outer: Outer, compilation: Compilation) -> Query:
    """Return a subtree that others refer to as well: a WITH clause, or the subtree where it is used once."""
    ordinal = node.subtree_ordinal
    if compilation.uses.get(ordinal, 0) < 2 or outer:
        return relation(node.subtree, outer, compilation)
    if ordinal not in compilation.shared:
        query = relation(node.subtree, (), compilation)
        columns = query.column_names()
        name = compilation.names.fresh("shared")
        while name.lower() in compilation.tables:
            name = compilation.names.fresh("shared")
        compilation.shared[ordinal] = Shared(name=name, tree=query.select(columns), columns=tuple(columns))
    found = compilation.shared[ordinal]
    table = exp.Table(this=exp.to_identifier(found.name, quoted=True))
    return of_table(table, compilation.names.fresh("t"), found.columns)
