"""Rewriting of a relation that depends on an outer record into one with its records for many outer records at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from typing_extensions import assert_never

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.model.expressions import Function, WindowFunction
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.masks import StructItem, StructSelect
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
    Project,
    Read,
    Reference,
    Relation,
    RelCommon,
    Set,
    SetOp,
    Sort,
    SortBase,
    TopN,
    Update,
    VirtualTable,
    Write,
)
from pyspark_substrait.model.types import I64, Boolean
from pyspark_substrait.model.walk import with_expressions
from pyspark_substrait.sql.decorrelation.constructors import (
    FETCHED,
    NOT_NEGATIVE,
    column,
    internal,
    null,
    selected_columns,
    truth,
    with_columns,
)
from pyspark_substrait.sql.decorrelation.domain_pushdown_aggregates import aggregate
from pyspark_substrait.sql.decorrelation.domain_pushdown_joins import join, lateral_join
from pyspark_substrait.sql.decorrelation.keys import (
    Carried,
    Domain,
    inside,
    over,
    put_out,
    width_of,
    without_order,
)
from pyspark_substrait.sql.decorrelation.outer import is_closed, references
from pyspark_substrait.sql.decorrelation.physical_joins import logical

__all__ = ["carried", "carry", "in_order"]


def carried(node: Relation, domain: Domain) -> Relation:
    """Return the relation with the keys after its columns."""
    found = carry(node, domain, ordered=False)
    return selected_columns(found.relation, range(found.width + found.keys))


def in_order(node: Relation) -> Carried | None:
    """Return an ordered relation with columns that represent the order; None for one without order."""
    if not _bears_order(node):
        return None
    found = carry(node, Domain(), ordered=True)
    return found if found.order else None


def _bears_order(node: Relation) -> bool:
    match node:
        case SortBase():
            return True
        case (
            Filter(input=input)
            | Expand(input=input)
            | Project(input=input)
            | Fetch(input=input)
            | ConsistentPartitionWindow(input=input)
            | DetachedRel(relation=input)
        ):
            return _bears_order(input)
        case Reference(subtree=subtree):
            return _bears_order(subtree)
        case _:
            return False


def carry(node: Relation, domain: Domain, *, ordered: bool) -> Carried:
    width = len(node.schema.types)
    if not (ordered and _bears_order(node)) and is_closed(node):
        if domain.relation is None:
            return Carried(relation=node, width=width, keys=0)
        return Carried(relation=Cross(left=node, right=domain.relation), width=width, keys=domain.width)
    match node:
        case DetachedRel(relation=inner) | Reference(subtree=inner):
            return carry(inner, domain, ordered=ordered)
        case Read():
            return _read(node, domain)
        case Filter():
            return _filter(node, domain, ordered)
        case Project():
            return _project(node, domain, ordered)
        case Sort():
            return _sort(node, domain, ordered)
        case Fetch():
            return _fetch(node, domain)
        case Aggregate():
            return aggregate(node, domain)
        case Join():
            return join(node, domain)
        case Cross():
            crossed = Join(left=node.left, right=node.right, type=JoinType.INNER, expression=truth(True))
            return join(replace(crossed, common=node.common), domain)
        case LateralJoin():
            return lateral_join(node, domain)
        case Set():
            members = tuple(without_order(carry(member, domain, ordered=False)) for member in node.members)
            whole = Set(members=members, op=node.op)
            return put_out(node, whole, range(width_of(node)), range(width_of(node), width_of(node) + domain.width))
        case ConsistentPartitionWindow():
            return _windows(node, domain, ordered)
        case Exchange() if not isinstance(node.exchange_kind, MultiBucketExpression):
            found = carry(node.input, domain, ordered=False)
            return put_out(node, found.relation, range(found.width), found.behind)
        case Expand():
            return _expand(node, domain, ordered)
        case TopN() if node.mode is not FetchMode.WITH_TIES:
            by = Sort(input=node.input, sorts=node.sorts)
            fetch = Fetch(common=node.common, input=by, offset_expr=node.offset, count_expr=node.count)
            return carry(fetch, domain, ordered=ordered)
        case HashJoin() | MergeJoin() | NestedLoopJoin():
            return join(logical(node), domain)
        case Exchange() | TopN() | Write() | Ddl() | Update():
            raise UnsupportedPlanError(f"a {type(node).__name__} relation that refers to an outer query is unsupported")
        case Generate():
            return _generate(node, domain)
        case ExtensionLeaf() | ExtensionSingle() | ExtensionMulti():
            raise UnsupportedPlanError(
                "an outer reference leads out of an extension relation, whose handler runs only once"
            )
        case BrokenRelation(fault=fault):
            raise InvalidPlanError(fault)
        case _:
            assert_never(node)


# the relations, one by one --------------------------------------------------------------------------------------------


def _read(node: Read, domain: Domain) -> Carried:
    assert domain.relation is not None, "a read without outer references is closed"
    bare = replace(node, filter=None, best_effort_filter=None, projection=None, common=RelCommon())
    width = len(node.base_schema.struct.types)
    places: Sequence[int] = range(width)
    if node.projection is not None:
        places = [item.field for item in node.projection.select.struct_items]
        if any(item.child is not None for item in node.projection.select.struct_items):
            # the filters see unmasked columns: both are read
            plain = tuple(StructItem(position) for position in range(width))
            select = StructSelect((*plain, *node.projection.select.struct_items))
            bare = replace(bare, projection=replace(node.projection, select=select))
            places = range(width, width + len(places))
    if isinstance(node.read_type, VirtualTable) and bare.projection is None:
        table: Relation = _virtual(bare, node.read_type, domain, domain.relation)
    elif is_closed(bare):
        table = Cross(left=bare, right=domain.relation)
    else:
        raise UnsupportedPlanError("a mask inside of columns that depend on an outer query cannot run on Spark")
    keys_at = width_of(bare)
    for condition in (node.filter, node.best_effort_filter):
        if condition is not None:
            table = Filter(input=table, condition=inside(condition, domain, keys_at))
    return put_out(node, table, places, range(keys_at, keys_at + domain.width))


def _virtual(bare: Read, table: VirtualTable, domain: Domain, values: Relation) -> Relation:
    """The records of a virtual table for each record of the domain."""
    width = len(bare.base_schema.struct.types)
    plain = []
    parts: list[Relation] = []
    for record in table.expressions:
        if all(next(references(cell, 1), None) is None for cell in record.fields):
            plain.append(record)
            continue
        cells = [inside(cell, domain, 0) for cell in record.fields]
        project = Project(input=values, expressions=tuple(cells))
        places = (*range(domain.width, domain.width + width), *range(domain.width))
        parts.append(selected_columns(project, places))
    if plain:
        rest = replace(bare, read_type=VirtualTable(expressions=tuple(plain)))
        parts.insert(0, Cross(left=rest, right=values))
    return parts[0] if len(parts) == 1 else Set(members=tuple(parts), op=SetOp.UNION_ALL)


def _generate(node: Generate, domain: Domain) -> Carried:
    """Return a generator whose arguments stay the last columns: the keys are inserted before them."""
    found = carry(node.input, domain, ordered=False)
    kept = node.generator.kept(found.width)
    behind = range(kept, kept + found.keys)
    input = selected_columns(found.relation, (*range(kept), *found.behind, *range(kept, found.width)))
    made = range(behind.stop, behind.stop + width_of(node) - kept)
    return put_out(node, Generate(input=input, generator=node.generator), (*range(kept), *made), behind)


def _filter(node: Filter, domain: Domain, ordered: bool) -> Carried:
    found = carry(node.input, domain, ordered=ordered)
    whole = Filter(input=found.relation, condition=over(node.condition, found, domain))
    return put_out(node, whole, range(found.width), found.behind, found.keys, found.order)


def _project(node: Project, domain: Domain, ordered: bool) -> Carried:
    found = carry(node.input, domain, ordered=ordered)
    expressions = tuple(over(expression, found, domain) for expression in node.expressions)
    end = found.behind.stop
    columns = (*range(found.width), *range(end, end + len(expressions)))
    whole = Project(input=found.relation, expressions=expressions)
    return put_out(node, whole, columns, found.behind, found.keys, found.order)


def _windows(node: ConsistentPartitionWindow, domain: Domain, ordered: bool) -> Carried:
    found = carry(node.input, domain, ordered=ordered)
    changed = with_expressions(node, partial(over, found=found, domain=domain))
    assert isinstance(changed, ConsistentPartitionWindow)
    keys = (column(found.relation.schema, found.width + number) for number in range(found.keys))
    partitions = (*changed.partition_expressions, *keys)
    whole = replace(changed, input=found.relation, partition_expressions=partitions, common=RelCommon())
    end = found.behind.stop
    columns = (*range(found.width), *range(end, end + len(node.window_functions)))
    return put_out(node, whole, columns, found.behind, found.keys, found.order)


def _expand(node: Expand, domain: Domain, ordered: bool) -> Carried:
    """Return an expand with the same keys and order columns in each duplicate."""
    width = len(node.all_fields)
    found = carry(node.input, domain, ordered=ordered)
    changed = with_expressions(replace(node, fields=node.all_fields), partial(over, found=found, domain=domain))
    assert isinstance(changed, Expand)
    carried = tuple(column(found.relation.schema, position) for position in found.behind)
    whole = Expand(input=found.relation, fields=(*changed.fields, *carried))
    end = width + len(carried)
    return put_out(node, whole, (*range(width), end), range(width, end), found.keys, found.order)


def _sort(node: Sort, domain: Domain, ordered: bool) -> Carried:
    """Return the input, not sorted, with the values of the sort keys as additional columns."""
    found = carry(node.input, domain, ordered=ordered)
    if not ordered:
        return put_out(node, found.relation, range(found.width), found.behind, found.keys, found.order)
    keys = [over(sort.expr, found, domain) for sort in node.sorts]
    end = found.behind.stop
    # for equal sort keys, the previous order of the records remains
    places = (*range(found.width, found.width + found.keys), *range(end, end + len(keys)))
    places = (*places, *range(found.width + found.keys, end))
    whole = with_columns(found.relation, keys)
    if not found.keys:
        sorts = tuple(replace(sort, expr=column(whole.schema, end + number)) for number, sort in enumerate(node.sorts))
        whole = Sort(input=whole, sorts=sorts) if sorts else whole
    return put_out(node, whole, range(found.width), places, found.keys, (*node.sorts, *found.order))


def _fetch(node: Fetch, domain: Domain) -> Carried:
    """Number the records for each value of the keys, and filter them by number."""
    if domain.relation is None:
        found = carry(node.input, domain, ordered=True)
        whole: Relation = replace(node, input=found.relation, common=RelCommon())
        return put_out(node, whole, range(found.width), found.behind, found.keys, found.order)
    bounds = [bound for bound in (node.offset_expr, node.count_expr) if bound is not None]
    computed = [inside(bound, domain, 0) for bound in bounds if not isinstance(bound, Literal)]
    if computed:
        # a negative bound is an error even if the fetch has no records
        checked = internal(NOT_NEGATIVE, computed, Boolean())
        domain = replace(domain, relation=Filter(input=domain.relation, condition=checked))
    found = carry(node.input, domain, ordered=True)
    schema, end = found.relation.schema, found.behind.stop
    first = found.width + found.keys
    number = WindowFunction(
        function=Function("extension:io.substrait:functions_arithmetic", "row_number", ""),
        arguments=(),
        output_type=I64(nullable=True),
        derived_type=I64(nullable=True),
        partitions=tuple(column(schema, found.width + key) for key in range(found.keys)),
        sorts=tuple(replace(sort, expr=column(schema, first + place)) for place, sort in enumerate(found.order)),
    )
    numbered = with_columns(found.relation, [number])
    offset, count = (
        null(I64()) if bound is None else inside(bound, domain, found.width)
        for bound in (node.offset_expr, node.count_expr)
    )
    kept = internal(FETCHED, [column(numbered.schema, end), offset, count], Boolean())
    whole = Filter(input=numbered, condition=kept)
    return put_out(node, whole, range(found.width), found.behind, found.keys, found.order)
