"""Aggregates that carry the keys of an outer record: one more grouping expression for each."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Aggregate, Grouping, Relation, RelCommon, Set, SetOp
from pyspark_substrait.model.types import I32
from pyspark_substrait.model.walk import with_expressions
from pyspark_substrait.sql.decorrelation import domain_pushdown
from pyspark_substrait.sql.decorrelation.constructors import all_of, column, null, selected_columns, truth, with_columns
from pyspark_substrait.sql.decorrelation.keys import Carried, Domain, over, put_out, width_of, without_order

__all__ = ["aggregate"]


def aggregate(node: Aggregate, domain: Domain) -> Carried:
    found = domain_pushdown.carry(node.input, domain, ordered=False)
    table = without_order(found)
    found = replace(found, relation=table, order=())
    node = _with_expressions(node, partial(over, found=found, domain=domain))
    keys = [column(table.schema, found.width + number) for number in range(found.keys)]
    sets = [grouping.expression_references for grouping in node.groupings] or [()]
    if all(sets):
        count = len(node.grouping_expressions)
        more = tuple(range(count, count + len(keys)))
        whole = replace(
            node,
            input=table,
            grouping_expressions=(*node.grouping_expressions, *keys),
            groupings=tuple(Grouping((*references, *more)) for references in sets),
            common=RelCommon(),
        )
        columns = [*range(count), *range(count + len(keys), width_of(whole))]
        return put_out(node, whole, columns, more)
    parts = [_grouped(node, position, references, found, domain) for position, references in enumerate(sets)]
    whole_set = parts[0] if len(parts) == 1 else Set(members=tuple(parts), op=SetOp.UNION_ALL)
    width = width_of(node)
    return put_out(node, whole_set, range(width), range(width, width + len(keys)))


def _with_expressions(node: Aggregate, change: partial[Expression]) -> Aggregate:
    changed = with_expressions(node, change)
    assert isinstance(changed, Aggregate)
    return changed


def _grouped(node: Aggregate, position: int, references: tuple[int, ...], found: Carried, domain: Domain) -> Relation:
    """Return one grouping set: the columns of the aggregate before emit, and the keys.

    The empty set has a record for each value of the keys, even if there is nothing to aggregate. To get all of them,
    the domain's records are added to the input, marked, and the measures ignore them.
    """
    table, measures = found.relation, node.measures
    if not references:
        assert domain.relation is not None, "without keys nothing is rewritten"
        real = with_columns(table, [truth(True)])
        nulls = [null(type) for type in table.schema.types[: found.width]]
        empty = with_columns(domain.relation, [*nulls, truth(False)])
        places = (*range(found.keys, found.keys + found.width), *range(found.keys), found.keys + found.width)
        table = Set(members=(real, selected_columns(empty, places)), op=SetOp.UNION_ALL)
        mark = column(table.schema, found.width + found.keys)
        measures = tuple(
            replace(item, filter=mark if item.filter is None else all_of([mark, item.filter])) for item in measures
        )
    keys = [column(table.schema, found.width + number) for number in range(found.keys)]
    groups = [node.grouping_expressions[reference] for reference in sorted(set(references))]
    grouped = Aggregate(
        input=table,
        grouping_expressions=(*groups, *keys),
        groupings=(Grouping(tuple(range(len(groups) + len(keys)))),),
        measures=measures,
    )
    places_of = {reference: place for place, reference in enumerate(sorted(set(references)))}
    width = len(grouped.schema.types)
    added: list[Expression] = []
    places_out: list[int] = []
    for reference, expression in enumerate(node.grouping_expressions):
        if reference in places_of:
            places_out.append(places_of[reference])
        else:
            places_out.append(width + len(added))
            added.append(null(expression.type))
    first = len(groups) + len(keys)
    places_out += range(first, first + len(measures))
    if len(node.groupings) > 1:
        places_out.append(width + len(added))
        added.append(Literal(type=I32(), value=position))
    places_out += range(len(groups), first)
    return selected_columns(with_columns(grouped, added), places_out)
